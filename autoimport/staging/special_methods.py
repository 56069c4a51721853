"""A class -> whether Python would run code of it that no trace sees: special methods that are not converted.

Python calls `__add__`, `__len__`, `__iter__` and their kin itself. Those of converted code come to the trace through
their own gates, those of the libraries only compute; any others would run once, while the graph is built.
"""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable
from typing import Any

from autoimport.staging import trust
from autoimport.staging.ours import harmless

_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or",
    "matmul",
)  # fmt: skip
# What an expression may run without asking an operator of ours first.
INFIX = (
    *(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i")),
    "__neg__", "__pos__", "__invert__", "__lt__", "__le__", "__gt__", "__ge__",
)  # fmt: skip
ITERATION = ("__iter__", "__next__")

_OF_FUNCTION: dict[Callable[..., Any], tuple[str, ...]] = {
    builtins.bool: ("__bool__", "__len__"),
    builtins.len: ("__len__",),
    builtins.abs: ("__abs__",),
    builtins.int: ("__int__", "__trunc__", "__index__"),
    builtins.float: ("__float__", "__index__"),
    builtins.complex: ("__complex__", "__float__", "__index__"),
    builtins.hash: ("__hash__",),
    builtins.id: (),
    builtins.reversed: ("__reversed__", "__len__", "__getitem__"),
    builtins.round: ("__round__",),
    operator.eq: ("__eq__", "__ne__"),
    operator.ne: ("__eq__", "__ne__"),
    operator.contains: ("__contains__", "__iter__", "__getitem__", "__eq__"),
}


def of_function(fn: Any) -> tuple[str, ...] | None:
    """The special methods that a function or type of Python's own runs of its arguments; None if they are not known."""
    try:
        return _OF_FUNCTION.get(fn)
    except TypeError:
        return None


def is_looked_at_by_code(cls: type) -> bool:
    """Whether each look at an object, be it `isinstance`, runs code of the person's."""
    for name in ("__getattribute__", "__class__"):
        raw, owner = next((base.__dict__[name], base) for base in cls.__mro__ if name in base.__dict__)
        if isinstance(raw, (types.FunctionType, property)) and not trust.is_library(owner.__module__):
            return True
    return False


def unseen(cls: type, names: tuple[str, ...]) -> str | None:
    """The first of a class's special methods `names` whose code no trace sees."""
    if trust.is_library(cls.__module__):
        return None
    for name in names:
        raw, owner = next(((base.__dict__[name], base) for base in cls.__mro__ if name in base.__dict__), (None, cls))
        if raw is None or owner.__module__ == "builtins" or trust.is_library(owner.__module__):
            continue
        if owner.__module__.partition(".")[0] == "autoimport":
            continue
        if not (isinstance(raw, types.FunctionType) and harmless(raw.__code__)):
            return name
    return None
