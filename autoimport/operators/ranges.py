"""`range`, `zip`, `map`, ... whose items only the graph knows -> objects that `for_` turns into graph loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autoimport.operators import symbolic
from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.numbers import Number


@symbolic.register
class SymbolicRange:
    """`range(start, stop, step)` with a symbolic bound; its items are ints, as in Python.

    Attributes:
      start, stop, step: Numbers of kind int.
      has_items: it is known not to be empty.
    """

    __slots__ = ("has_items", "start", "step", "stop")

    def __init__(self, start: Number, stop: Number, step: Number, *, has_items: bool = False) -> None:
        self.has_items = has_items
        self.start = start
        self.stop = stop
        if step.low <= 0 <= step.high:
            tensor = fail_if(tf.equal(step.int64(), 0), "range() arg 3 must not be zero", step.int64())
            step = Number(int, tf.where(tf.equal(tensor, 0), tf.ones([], tf.int64), tensor), step.low, step.high)
        self.step = step

    def length(self) -> Number:
        """The number of items."""
        start, stop, step = self.start.int64(), self.stop.int64(), self.step.int64()
        # Floor division by the step, rounded up: -(-n // step) is exact for both signs.
        count = tf.maximum(-tf.math.floordiv(start - stop, step), 0)
        return Number(int, count, 0)

    def at(self, position: Any) -> Number:
        """The item at an int64 `position` that is known to be inside."""
        low = min(self.start.low, self.stop.low)
        high = max(self.start.high, self.stop.high)
        return Number(int, self.start.int64() + position * self.step.int64(), low, high)

    def contains(self, x: Any) -> Number:
        """`x in range(...)` for an int."""
        if type(x) not in {int, bool} and not (isinstance(x, Number) and x.kind is not float):
            refuse("`in` on a symbolic range")
        value, start, stop, step = Number.of(x).int64(), self.start.int64(), self.stop.int64(), self.step.int64()
        inside = tf.where(step > 0, (start <= value) & (value < stop), (stop < value) & (value <= start))
        return Number(bool, inside & tf.equal(tf.math.floormod(value - start, step), 0))


# No number in a part of a range is farther from 0.
FARTHEST = 2**31


def part(bounds: Any) -> Any:
    """The range from the first to the second of two int64 numbers, by steps of the third if there is one; not empty."""
    if not symbolic.is_symbolic(bounds):
        return range(*map(int, bounds))
    start, stop, step = (*(Number(int, number, -FARTHEST, FARTHEST) for number in tf.unstack(bounds)), Number.of(1))[:3]
    return SymbolicRange(start, stop, step, has_items=True)


class _Iterator:
    """What gives its items once."""

    is_used = False

    def use(self) -> None:
        """The items of a dataset are taken."""
        if self.is_used:
            refuse("an iterator over a dataset is used again", "make another one")
        self.is_used = True


@symbolic.register
@dataclass(eq=False)
class SymbolicEnumerate(_Iterator):
    """`enumerate(iterable, start)` over a symbolic iterable; items are (int, item)."""

    iterable: Any
    start: Any

    def items(self) -> Any:
        """For Python to iterate over, where the number of items is known."""
        return enumerate(iterate(self.iterable), self.start)


@symbolic.register
@dataclass(eq=False)
class SymbolicZip(_Iterator):
    """`zip(*iterables)` of which one at least is symbolic; it ends with the shortest."""

    iterables: tuple[Any, ...]
    strict: bool = False

    def items(self) -> Any:
        """For Python to iterate over, where the number of items is known."""
        return zip(*(iterate(iterable) for iterable in self.iterables), strict=self.strict)


@symbolic.register
@dataclass(frozen=True, eq=False)
class SymbolicReversed:
    """`reversed(iterable)` over a symbolic range or tensor."""

    iterable: Any

    def items(self) -> Any:
        """For Python to iterate over, where the number of items is known."""
        return reversed(list(iterate(self.iterable)))


@symbolic.register
@dataclass(eq=False)
class SymbolicMap(_Iterator):
    """`map(fn, *iterables)` of which one at least is a dataset, an iterator, or made of one."""

    fn: Any
    iterables: tuple[Any, ...]


@symbolic.register
@dataclass(eq=False)
class SymbolicFilter(_Iterator):
    """`filter(fn, iterable)` over a dataset, an iterator, or what is made of one."""

    fn: Any
    iterable: Any
