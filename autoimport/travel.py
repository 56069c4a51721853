"""A function of ours that leaves this process by value -> its code as Python would have made it.

cloudpickle, dill, Keras (for the functions of saved models) and their like send code objects to processes in which
nobody has put our gates into `builtins`. When one of them is imported, the code that it sends is replaced by the one
that CPython compiles from the same source.
"""

from __future__ import annotations

import linecache
import marshal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from autoimport.convert.key import content_key
from autoimport.staging import registry


def listener(module: str) -> Callable[[ModuleType], None] | None:
    """What is to be done when a module of this name has been imported; several packages bring a cloudpickle along."""
    return next((teach for ending, teach in TRAVELLERS.items() if module.endswith(ending)), None)


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


def _teach_marshal(module: ModuleType) -> None:
    """For modules that marshal the code of functions, under the name `marshal` of their own."""

    def dumps(value: Any, *version: int) -> bytes:
        return marshal.dumps(plain_code(value) if isinstance(value, CodeType) else value, *version)

    module.__dict__["marshal"] = SimpleNamespace(dumps=dumps, loads=marshal.loads)


# Ends of names of modules that send functions elsewhere -> what to do once they are imported.
TRAVELLERS = {
    "cloudpickle.cloudpickle": _teach_cloudpickle,
    "dill._dill": _teach_dill,
    "keras.src.utils.python_utils": _teach_marshal,
    "keras.src.utils.generic_utils": _teach_marshal,  # tf_keras
}


@cache  # also keeps the code alive: picklers remember objects by their address
def plain_code(code: CodeType) -> CodeType:
    """The code without our gates, from its source; as it is if it has none, or if its source is gone."""
    module = registry.module_of(code)
    if module is None:
        return code
    try:
        whole = compile(_source(module), code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return code
    twins = [other for other in _below(whole) if _is_twin(other, code)]
    return twins[0] if twins and all(twin == twins[0] for twin in twins) else code


def _source(module: registry.Module) -> bytes | str:
    """The text that the module was made of; none if it is not to be had any more."""
    source = registry.texts.get(module.file)
    if source is not None:
        return source
    loader: Any = getattr(sys.modules.get(module.name), "__loader__", None)
    try:
        source = loader.get_data(module.file)
    except (AttributeError, OSError):
        return "".join(linecache.getlines(module.file))  # a notebook's cell
    is_same = any(module.key.startswith(content_key(source, is_main=is_main)) for is_main in (False, True))
    return source if is_same else ""


def _is_twin(plain: CodeType, with_gate: CodeType) -> bool:
    same = ("co_name", "co_firstlineno", "co_argcount", "co_kwonlyargcount", "co_varnames", "co_freevars")
    if any(getattr(plain, name) != getattr(with_gate, name) for name in same):
        return False
    if sys.version_info >= (3, 11) and not set(plain.co_positions()) <= set(with_gate.co_positions()):
        return False  # of two lambdas in one line, the other
    constants = [constant for constant in plain.co_consts if not isinstance(constant, CodeType)]
    return set(plain.co_names) <= set(with_gate.co_names) and all(each in with_gate.co_consts for each in constants)


def _below(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _below(constant)
