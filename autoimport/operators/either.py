"""One of two values of unlike types, and a tensor that says which -> what Python would do with the one that is there.

A Python number in one branch and a tensor in the other cannot be one tensor: `0.1 * number` is computed in double
precision, `0.1 * tensor` in the tensor's. So what is done with such a value is done in the branches of a conditional on
its flag, with each of the two. It exists in traces of our own only; in the person's graphs the number is a tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.lists import stand_in
from autoimport.operators.numbers import Number
from autoimport.operators.selects import one_of
from autoimport.operators.undefined import MaybeNone, require_own_methods

_TENSORS = (tf.Tensor, tf.Variable)


class Either(MaybeNone):
    """`value` if the tensor `present` is true, else `other`."""

    __slots__ = ("other",)

    def __init__(self, name: str, value: Any, other: Any, present: tf.Tensor) -> None:
        super().__init__(name, value, present)
        self.other = other

    def complaint(self) -> str:
        return f"{self.name} is of another type"

    def is_none(self) -> Any:
        return False

    def resolve(self) -> Any:
        """One of the values, the tensor if only one of them is, with a check in the graph that it is there."""
        return self._side(isinstance(self.value, _TENSORS) or not isinstance(self.other, _TENSORS))

    def _side(self, is_first: bool) -> Any:
        absent = tf.logical_not(self.present) if is_first else self.present
        fail_if(absent, self.complaint(), absent)
        return self.value if is_first else self.other

    def each(self, use: Callable[[Any], Any]) -> Any:
        from autoimport.operators.conditionals import (
            if_exp,  # which knows of this class, to join what branches end with
        )

        return if_exp(self.present, lambda: use(self.value), lambda: use(self.other))

    def walk(self) -> Iterator[Any] | None:
        items = self.walked()
        return None if items is None else self.lent(items)

    def walked(self) -> list[Any] | None:
        """The items of a list or a tuple, where the one has as many as the other; None of anything else."""
        from autoimport.operators.access import item  # both know of this class
        from autoimport.operators.conditionals import choose

        sides = [stand_in(part) for part in (self.value, self.other)]
        if any(type(side) not in {list, tuple} for side in sides) or len(sides[0]) != len(sides[1]):
            return None
        names = [f"{self.name}[{index}]" for index in range(len(sides[0]))]

        def items_of(side: Any) -> Callable[[], tuple[Any, ...]]:
            return lambda: tuple(item(side, index) for index in range(len(side)))

        return list(choose(self.present, items_of(sides[0]), items_of(sides[1]), names))

    def lent(self, items: list[Any]) -> Iterator[Any]:
        """`items`, which `walked` has given, for who takes them later: gives up if they are others by then."""
        before = [list(part) for part in (self.value, self.other)]
        for item in items:
            for part, held in zip((self.value, self.other), before, strict=True):
                if len(part) != len(held) or any(now is not then for now, then in zip(part, held, strict=True)):
                    refuse(f"changes {self.name}, a list or a tuple, while walking over it")
            yield item

    def to_tensor(self, dtype: Any) -> Any:
        try:
            sides = [tf.convert_to_tensor(stand_in(part), dtype) for part in (self.value, self.other)]
        except (TypeError, ValueError):
            refuse(self.complaint())  # fine for one of them, an error for the other
        if sides[0].dtype != sides[1].dtype:
            return self.resolve()
        if sides[0].shape.rank == sides[1].shape.rank == 0:
            return one_of(self.present, *sides)
        return tf.cond(self.present, lambda: sides[0], lambda: sides[1])

    def compute(self, name: str, others: Sequence[Any]) -> Any:
        """What the operation of the special method `name` gives."""
        operation = _operation(name)
        if others and isinstance(others[0], _TENSORS):
            return operation(self.to_tensor(others[0].dtype), *others)
        return self.each(lambda part: operation(require_own_methods(part), *others))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        has = [hasattr(_type_of(part), name) for part in (self.value, self.other)]
        return getattr(self.resolve() if has[0] == has[1] else self._side(has[0]), name)


def _operation(name: str) -> Callable[..., Any]:
    """As a function: special methods of Python's own numbers would leave it to the other operand."""
    if name.startswith("__r"):
        reflected = _operation("__" + name[3:])
        return lambda part, other: reflected(other, part)
    found: Callable[..., Any] = getattr(operator, name)
    return found


def _type_of(part: Any) -> type:
    return part.kind if isinstance(part, Number) else type(part)
