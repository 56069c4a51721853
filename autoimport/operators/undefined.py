"""A name without a value -> an object that stands for it, and the check that reading it needs.

A local that Python may find unbound is an `Undefined` in a graph form. Where only one branch of a symbolic
conditional assigns it, or a symbolic loop may run zero times, nobody knows before the graph runs: it becomes a
`MaybeUndefined`, a value with a flag. `MaybeNone` is the same for a variable that is None or a tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.lists import is_unknown, stand_in
from autoimport.operators.numbers import Number, Outranking
from autoimport.operators.symbolic import register


class Undefined:
    """The value of a local that has none."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name} has no value>"


class _Maybe:
    """A value that is there only if a tensor says so."""

    __slots__ = ("name", "present", "value")

    def __init__(self, name: str, value: Any, present: tf.Tensor) -> None:
        self.name = name
        self.value = value
        self.present = present

    def resolve(self) -> Any:
        """The value, with a check in the graph that it is there."""
        absent = tf.logical_not(self.present)
        if observer.current() is not None or isinstance(tf.compat.v1.get_default_graph(), tf.__internal__.FuncGraph):
            fail_if(absent, self.complaint(), absent)
            return self.value
        # A plain v1 graph runs only what a fetched tensor depends on.
        return tf.nest.map_structure(lambda part: fail_if(absent, self.complaint(), part), self.value)

    def complaint(self) -> str:
        """What Python would say where the value is missing."""
        raise NotImplementedError


class MaybeUndefined(_Maybe):
    """A local that has a value only if the tensor `present` is true; `defined` resolves it."""

    __slots__ = ()

    def complaint(self) -> str:
        if not self.name.isidentifier():  # an attribute, a global
            return f"{self.name} is missing"
        return unbound_message(self.name)


@register
class MaybeNone(_Maybe, Outranking):
    """None, or `value` if the tensor `present` is true.

    `is None` asks the flag; every other use takes the value, with a check that it is there.
    """

    __slots__ = ()

    def complaint(self) -> str:
        return f"{self.name} is None"

    def is_none(self) -> Any:
        """`self is None`, as a symbolic bool."""
        return Number(bool, tf.logical_not(self.present))

    def each(self, use: Callable[[Any], Any]) -> Any:
        """`use` of the value that is there."""
        return use(self.resolve())

    def walk(self) -> Iterator[Any] | None:
        """Over the items, where it is either a list or a tuple, which are walked over alike."""
        return None

    def to_tensor(self, dtype: Any) -> Any:
        """The value as a tensor, of `dtype` if that is not None."""
        return tf.convert_to_tensor(stand_in(self.resolve()), dtype)

    def compute(self, name: str, others: Sequence[Any]) -> Any:
        """What the special method `name` gives."""
        others = [other.resolve() if isinstance(other, MaybeNone) else other for other in others]
        found = getattr(require_own_methods(self.resolve()), name, None)
        return NotImplemented if found is None else found(*others)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.resolve(), name)

    def __getitem__(self, key: Any) -> Any:
        return stand_in(self.resolve())[key]

    def __bool__(self) -> NoReturn:
        raise TypeError(f"the truth of {self.name} is not known before the graph runs")

    # Whoever asks for these is no converted code, and has no use for a symbolic answer: a dict or set, a tuple's `==`.

    def __hash__(self) -> int:
        refuse(f"looks for {self.name}, or puts it, where a hash is needed, and only the graph knows what it is")

    def __eq__(self, other: object) -> bool:
        refuse(f"compares {self.name}, of which only the graph knows what it is, as a part of something else")


def require_own_methods(value: Any) -> Any:
    """`value`, unless its special methods are those of a list that only stands for its items."""
    if is_unknown(value):
        refuse("computes with what may be a list of symbolic length")
    return value


def _forward(name: str) -> Any:
    def method(self: MaybeNone, *others: Any) -> Any:
        return self.compute(name, others)

    method.__name__ = name
    return method


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
for _name in (
    *(f"__{name}__" for name in _BINARY),
    *(f"__r{name}__" for name in _BINARY),
    *("__lt__", "__le__", "__gt__", "__ge__", "__neg__", "__pos__", "__abs__", "__invert__"),
):
    setattr(MaybeNone, _name, _forward(_name))


def _to_tensor(value: MaybeNone, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return value.to_tensor(dtype)


tf.register_tensor_conversion_function(MaybeNone, _to_tensor, 0)


def unbound_message(name: str, free: bool = False) -> str:
    """What this Python says when the local `name`, of an enclosing function if `free`, is read without a value."""
    kind, where = ("free", " in enclosing scope") if free else ("local", "")
    if sys.version_info >= (3, 11):
        return f"cannot access {kind} variable '{name}' where it is not associated with a value{where}"
    return f"{kind} variable '{name}' referenced before assignment{where}"


def defined(value: Any, name: str, free: bool = False) -> Any:
    """The value of the local `name`, of an enclosing function if `free`, checked to be there.

    Raises:
      UnboundLocalError, NameError: as Python does, where it is known to be missing. Where only the graph knows, a trace
        of our own is left for the eager run, and a graph of the person's fails with the same words.
    """
    if isinstance(value, Undefined):
        raise (NameError if free else UnboundLocalError)(unbound_message(name, free))
    if isinstance(value, MaybeUndefined):
        return value.resolve()
    return value
