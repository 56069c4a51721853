"""A code object -> whether it is converted code of ours.

Three kinds of code are: eager forms with a gate, functions nested in a graph form, and code that the converter leaves
alone because it can do nothing but compute with its parameters.
"""

from __future__ import annotations

import dis
import functools
import types
import weakref
from typing import Any

# Beginnings of the names of instructions that only compute, on CPython 3.10 to 3.13.
_COMPUTES = (
    "RESUME", "LOAD_FAST", "LOAD_CONST", "STORE_FAST", "RETURN_", "BINARY_", "UNARY_", "COMPARE_OP", "IS_OP",
    "BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "POP_TOP", "NOP", "DUP_", "ROT_", "COPY", "SWAP",
    "CACHE", "EXTENDED_ARG",
)  # fmt: skip
_READS_ITEMS = ("BINARY_SUBSCR", "BINARY_SLICE")
_GENERATOR = 0x20 | 0x80 | 0x100 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR


# By identity, since equal code need not live as long: what is nested in graph forms, while somebody has it.
_nested: dict[int, weakref.ref[types.CodeType]] = {}
# Attributes and globals that converted functions store: counters, most of them.
stored_names: set[str] = set()


def note_form(code: types.CodeType) -> None:
    """`code` is a graph form: what is nested in it is converted, though it has no gate."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _nested[id(constant)] = weakref.ref(constant, functools.partial(_freed, id(constant)))
            note_form(constant)


def _freed(identity: int, _: Any) -> None:
    _nested.pop(identity, None)


def converted(code: types.CodeType) -> bool:
    """Whether code has a graph form, or is part of one."""
    return gated(code) or id(code) in _nested


def harmless(code: types.CodeType) -> bool:
    """Whether a trace sees all that the code does, so that it may be called."""
    return converted(code) or plain(code)


def gated(code: types.CodeType) -> bool:
    """Whether a function's eager form starts with a gate."""
    return "@enter" in code.co_names


@functools.lru_cache(maxsize=1024)
def plain(code: types.CodeType) -> bool:
    """Whether code can do nothing but compute with its parameters: no name, item, jump or change in place.

    Functions that are written in Cython carry a code object without instructions, which tells nothing of what they do.
    """
    if code.co_names or code.co_freevars or code.co_flags & _GENERATOR:
        return False
    instructions = list(dis.get_instructions(code))
    if not any(instruction.opname.startswith("RETURN_") for instruction in instructions):
        return False
    return all(
        instruction.opname.startswith(_COMPUTES)
        and instruction.opname not in _READS_ITEMS
        and not instruction.argrepr.endswith("=")
        for instruction in instructions
    )


def is_ours(entity: Any) -> bool:
    """Whether TensorFlow's AutoGraph is to leave a callable alone, since it converts itself."""
    while isinstance(entity, functools.partial):
        entity = entity.func
    entity = getattr(entity, "__func__", entity)
    if not isinstance(entity, types.FunctionType):
        entity = type(entity).__call__
    code = getattr(entity, "__code__", None)
    return isinstance(code, types.CodeType) and gated(code)
