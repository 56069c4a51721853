"""A function of ours that leaves this process by value -> its code as Python would have made it.

cloudpickle, dill and their like send code objects to processes in which nobody has put our gates into `builtins`. When
one of them is imported, the code that it sends is replaced by the one that CPython compiles from the same source.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from autoimport.staging import registry
from autoimport.staging.ours import gated


def listener(module: str) -> Callable[[ModuleType], None] | None:
    """What is to be done when a module of this name has been imported; several packages bring a cloudpickle along."""
    if module.endswith("cloudpickle.cloudpickle"):
        return _teach_cloudpickle
    return _teach_dill if module == "dill._dill" else None


def _teach_cloudpickle(module: ModuleType) -> None:
    table = module.__dict__["Pickler"].dispatch_table
    reduce_code = table[CodeType]
    table[CodeType] = lambda code: reduce_code(plain_code(code))


def _teach_dill(module: ModuleType) -> None:
    table = module.__dict__["Pickler"].dispatch
    save_code = table[CodeType]

    def save_plain_code(pickler: Any, code: CodeType) -> None:
        save_code(pickler, plain_code(code))

    table[CodeType] = save_plain_code


@cache  # also keeps the code alive: picklers remember objects by their address
def plain_code(code: CodeType) -> CodeType:
    """The code without our gate, from its source; as it is if it has none, or if its source is gone."""
    if not gated(code) or not any(constant in registry.modules for constant in code.co_consts if type(constant) is str):
        return code
    source = "".join(linecache.getlines(code.co_filename))
    try:
        whole = compile(source, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return code
    twins = [other for other in _below(whole) if _is_twin(other, code)]
    return twins[0] if len(twins) == 1 else code


def _is_twin(plain: CodeType, with_gate: CodeType) -> bool:
    same = ("co_name", "co_firstlineno", "co_argcount", "co_kwonlyargcount", "co_varnames", "co_freevars")
    if any(getattr(plain, name) != getattr(with_gate, name) for name in same):
        return False
    constants = [constant for constant in plain.co_consts if not isinstance(constant, CodeType)]
    return set(plain.co_names) <= set(with_gate.co_names) and all(each in with_gate.co_consts for each in constants)


def _below(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _below(constant)
