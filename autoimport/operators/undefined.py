"""A name without a value -> an object that stands for it, and the check that reading it needs.

A local that Python may find unbound is an `Undefined` in a graph form. Where only one branch of a symbolic
conditional assigns it, or a symbolic loop may run zero times, nobody knows before the graph runs: it becomes a
`MaybeUndefined`, a value with a flag. `MaybeNone` is the same for a variable that is None or a tensor, and `Either` for
one of two values that no tensor can hold both of.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.numbers import DTYPES, Number
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
class MaybeNone(_Maybe):
    """None, or `value` if the tensor `present` is true.

    `is None` asks the flag; every other use takes the value, with a check that it is there.
    """

    __slots__ = ()

    def complaint(self) -> str:
        return f"{self.name} is None"

    def is_none(self) -> Any:
        """`self is None`, as a symbolic bool."""
        return Number(bool, tf.logical_not(self.present))

    def to_tensor(self, dtype: Any) -> Any:
        """The value as a tensor, of `dtype` if that is not None."""
        return tf.convert_to_tensor(self.resolve(), dtype)

    def with_operand(self, other: Any) -> Any:
        """The value for an operation with `other`."""
        return self.resolve()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.resolve(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.resolve()[key]

    def __bool__(self) -> NoReturn:
        raise TypeError(f"the truth of {self.name} is not known before the graph runs")


def _forward(name: str) -> Any:
    def method(self: MaybeNone, *others: Any) -> Any:
        if isinstance(self, Either):
            result = self.compute(name, others)
            if result is not NotImplemented:
                return result
        others = tuple(other.resolve() if isinstance(other, MaybeNone) else other for other in others)
        value = self.with_operand(others[0] if others else None)
        found = getattr(value, name, None)
        return NotImplemented if found is None else found(*others)

    method.__name__ = name
    return method


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
for _name in (
    *(f"__{name}__" for name in _BINARY),
    *(f"__r{name}__" for name in _BINARY),
    *("__lt__", "__le__", "__gt__", "__ge__", "__neg__", "__pos__", "__abs__", "__invert__"),
):
    setattr(MaybeNone, _name, _forward(_name))


class NumberOrTensor(MaybeNone):
    """A Python number or, if `present` is true, a tensor: `value` is the tensor, or the number as such a tensor.

    Which it is does not matter for its truth, nor where it meets a tensor of the same type. Every other use is checked
    to find the tensor. It exists in traces of our own only; in the person's graphs such a value is simply a tensor.
    """

    __slots__ = ()

    def complaint(self) -> str:
        return f"{self.name} is a Python number, elsewhere a tensor"

    def is_none(self) -> Any:
        return False

    def to_tensor(self, dtype: Any) -> Any:
        if dtype is None and self.value.dtype not in (tf.int32, tf.float32, tf.bool):
            return self.resolve()  # otherwise that is what TensorFlow makes of the number, too
        if dtype not in (None, self.value.dtype):  # an error for the tensor, fine for the number
            refuse(self.complaint())
        return self.value

    def with_operand(self, other: Any) -> Any:
        if not isinstance(other, (tf.Tensor, tf.Variable)):
            return self.resolve()
        return self.to_tensor(other.dtype)


class Either(MaybeNone):
    """`value` if `present` is true, else `other`: values of types that no tensor can hold both of.

    Two Python numbers of different types are computed with, and converted, side by side. Of other values every use is
    checked to find `value`. It exists in traces of our own only.
    """

    __slots__ = ("other",)

    def __init__(self, name: str, value: Any, other: Any, present: tf.Tensor) -> None:
        super().__init__(name, value, present)
        self.other = other

    def complaint(self) -> str:
        return f"{self.name} is of another type"

    def is_none(self) -> Any:
        return False

    def numbers(self) -> tuple[Number, Number] | None:
        """Both values, if they are Python numbers."""
        both = [_number(part) for part in (self.value, self.other)]
        return None if both[0] is None or both[1] is None else (both[0], both[1])

    def to_tensor(self, dtype: Any) -> Any:
        both = self.numbers()
        if both is None or dtype is None:
            return super().to_tensor(dtype)
        return tf.where(self.present, both[0].cast(dtype), both[1].cast(dtype))

    def compute(self, name: str, others: tuple[Any, ...]) -> Any:
        """What the method `name` gives, of each of the two numbers."""
        both = self.numbers()
        if both is None or any(_number(other) is None for other in others):
            return NotImplemented
        left, right = (getattr(Number, name)(part, *others) for part in both)
        if left is NotImplemented or right is NotImplemented:
            return NotImplemented
        if left.kind is right.kind:
            bounds = min(left.low, right.low), max(left.high, right.high)
            return Number(left.kind, tf.where(self.present, left.tensor, right.tensor), *bounds)
        return Either(self.name, left, right, self.present)

    def with_operand(self, other: Any) -> Any:
        if self.numbers() is None or not isinstance(other, (tf.Tensor, tf.Variable)):
            return self.resolve()
        return self.to_tensor(other.dtype)

    def __getattr__(self, name: str) -> Any:
        if self.numbers() is not None and not hasattr(float, name):
            raise AttributeError(name)
        return super().__getattr__(name)


def _number(value: Any) -> Number | None:
    if isinstance(value, Number):
        return value
    return Number.of(value) if type(value) in DTYPES else None


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
