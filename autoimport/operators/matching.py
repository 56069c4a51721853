"""The subject of a `match` and the shape of a pattern -> the values at the pattern's leaves, or None.

Values are compared and bound by the form itself. Where an or-pattern binds names the interpreter matches, out of
sight: what its patterns may compare, unpack and bind must be read through the observer beforehand, by `subject`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.access import attr, item, iterate
from autoimport.operators.checks import refuse
from autoimport.operators.comparisons import in_
from autoimport.operators.lists import TensorList, stand_in
from autoimport.operators.python_builtins import isinstance_
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone

# A guard on such an object says all about it.
_WHOLE = (bool, int, float, complex, str, bytes, type(None), type, enum.Enum, FunctionType, BuiltinFunctionType)


def subject(x: Any) -> Any:
    """The value to match instead of `x`.

    In the person's graph that is `x`. In a trace of ours tuples with tensors of old objects come back with the tensors
    of the graph.
    """
    if observer.current() is None:
        return x
    if is_symbolic(stand_in(x)):
        if isinstance(x, tf.Tensor):
            return x  # patterns that compare it fail as the truth of a symbolic tensor does
        refuse(f"`match` on a symbolic {type(x).__name__}")
    if isinstance(x, (*_WHOLE, ModuleType)):
        return x
    if type(x) in {list, tuple}:
        old, new = list(x), [subject(part) for part in iterate(x)]
    elif type(x) is dict:
        old, new = list(x.values()), [subject(item(x, key)) for key in iterate(x)]
    else:
        refuse(f"`match` on a {type(x).__name__}")
    if all(a is b for a, b in zip(old, new, strict=True)):
        return x
    if type(x) is tuple:
        return tuple(new)
    refuse(f"`match` on a {type(x).__name__} of tensors that was made outside")


class Shape:
    """What a pattern asks of a value before it compares: each part is a shape again, None for a leaf."""

    parts: Sequence[Shape | None]

    def take(self, x: Any) -> Sequence[Any] | None:
        """The values for the parts, then those that are leaves of the shape itself; None if `x` has not this shape."""
        raise NotImplementedError


class Whole(Shape):
    """A pattern with parts that is also given a name: `[a, b] as c`."""

    def __init__(self, part: Shape) -> None:
        self.parts = [None, part]

    def take(self, x: Any) -> Sequence[Any] | None:
        return [x, x]


class Items(Shape):
    """A sequence; the part at `rest` takes what the others leave."""

    def __init__(self, *parts: Shape | None, rest: int | None = None) -> None:
        self.parts = parts
        self.rest = rest

    def take(self, x: Any) -> Sequence[Any] | None:
        x = stand_in(x)
        if not isinstance(x, TensorList) and (
            is_symbolic(x) or not isinstance(x, Sequence) or isinstance(x, (str, bytes, bytearray))
        ):
            return None
        items = list(iterate(x))
        if self.rest is None:
            return items if len(items) == len(self.parts) else None
        taken = len(items) - len(self.parts) + 1
        if taken < 0:
            return None
        end = self.rest + taken
        return [*items[: self.rest], items[self.rest : end], *items[end:]]


class Entries(Shape):
    """A mapping with some keys; `rest` asks for a dict of the others."""

    def __init__(self, *entries: tuple[Any, Shape | None], rest: bool = False) -> None:
        self.keys = [key for key, _ in entries]
        self.parts = [part for _, part in entries] + [None] * rest
        self.rest = rest

    def take(self, x: Any) -> Sequence[Any] | None:
        if is_symbolic(x) or not isinstance(x, Mapping):
            return None
        if observer.current() is not None and type(x) is not dict:
            refuse(f"`match` on a {type(x).__name__}")
        if not all(in_(key, x) for key in self.keys):
            return None
        values = [item(x, key) for key in self.keys]
        return [*values, {key: item(x, key) for key in iterate(x) if key not in self.keys}] if self.rest else values


# A positional part of a pattern of one of these is the value itself.
_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class Fields(Shape):
    """An object of a class, with some of its attributes."""

    def __init__(self, cls: Any, /, *positional: Shape | None, **named: Shape | None) -> None:
        self.cls = cls
        self.count = len(positional)
        self.names = list(named)
        self.parts = [*positional, *named.values()]

    def take(self, x: Any) -> Sequence[Any] | None:
        if not isinstance(self.cls, type):
            raise TypeError("called match pattern must be a class")
        if not isinstance_(x, self.cls):
            return None
        itself = issubclass(self.cls, _THEMSELVES) and not hasattr(self.cls, "__match_args__")
        known = [""] if itself else getattr(self.cls, "__match_args__", ())
        if self.count > len(known):
            plural = "" if len(known) == 1 else "s"
            words = f"accepts {len(known)} positional sub-pattern{plural} ({self.count} given)"
            raise TypeError(f"{self.cls.__name__}() {words}")
        try:
            return [attr(x, name) if name else x for name in [*known[: self.count], *self.names]]
        except AttributeError:
            return None


def take_apart(x: Any, shape: Shape | None) -> list[Any] | None:
    """The values at the leaves of a shape in `x`, None if `x` has not this shape."""
    if shape is None:
        return [x]
    parts = (x.value, getattr(x, "other", None)) if isinstance(x, MaybeNone) else ()
    if any(isinstance(part, (Sequence, Mapping)) for part in parts):
        refuse("`match` on a value that only one branch gives this shape")
    values = shape.take(x)
    if values is None:
        return None
    found: list[Any] = []
    for value, part in zip(values, shape.parts, strict=True):
        leaves = take_apart(value, part)
        if leaves is None:
            return None
        found += leaves
    return found
