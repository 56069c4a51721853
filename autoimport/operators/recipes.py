"""What numpy makes of one tensor's values after the launch -> the tensor, and how: so that a tensor list can hold it.

`out.append(tuple(x.numpy().tolist()))` in a loop of the graph puts the same made of another tensor into each item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from autoimport.operators.checks import refuse
from autoimport.operators.numpy_values import Later, NumpyValue


@dataclass(frozen=True)
class Sealed:
    """A value that `tf.nest` leaves whole, though it says that it is a tuple, a list, ..."""

    value: Any


def sealed(item: Any) -> Any:
    """A structure with every `Later` in it sealed."""
    if type(item) is Later:
        return Sealed(item)
    if type(item) in {list, tuple}:
        return type(item)(map(sealed, item))
    if type(item) is dict:
        return {key: sealed(part) for key, part in item.items()}
    return type(item)(*map(sealed, item)) if isinstance(item, tuple) and hasattr(item, "_fields") else item


@dataclass(frozen=True)
class _Step:
    """`fn(*args)`."""

    fn: Any
    args: tuple[Any, ...]
    example: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class _Plain:
    """A Python value; equal if it has the same type and reads the same."""

    text: str
    value: Any = field(compare=False, repr=False)


_HOLE = object()


@dataclass(frozen=True)
class Recipe:
    """How a `NumpyValue`, or a `Later` over one, is made of its tensor; equal if the same is done with it."""

    template: Any
    can_be_changed: bool = field(compare=False, repr=False)

    @classmethod
    def of(cls, value: Any) -> tuple[Recipe, Any]:
        """The recipe of a value, and its tensor."""
        tensors: list[Any] = []

        def opened(part: Any) -> Any:
            if type(part) is NumpyValue:
                tensors.append(part.tensor)
                return _HOLE
            if type(part) is Later:
                return _Step(part.fn, tuple(map(opened, part.args)), part.example)
            if type(part) in {list, tuple}:
                return _Step(type(part), (tuple(map(opened, part)),), None)
            return _Plain(f"{type(part).__name__} {part!r}", part)

        template = opened(value)
        if len(tensors) != 1:
            refuse(f"a {type(value).__name__} of several values is put into a list of symbolic length")
        return cls(template, value.can_be_changed()), tensors[0]

    def value(self, tensor: Any) -> Any:
        """The `NumpyValue` or `Later` of another tensor."""
        return _filled(self.template, NumpyValue(tensor), lambda step, args: Later(step.fn, args, step.example))

    def __call__(self, array: Any) -> Any:
        """What is made of an array or scalar after the launch."""
        return _filled(self.template, array, lambda step, args: step.fn(*args))


def _filled(template: Any, hole: Any, make: Callable[[_Step, list[Any]], Any]) -> Any:
    if template is _HOLE:
        return hole
    if type(template) is _Plain:
        return template.value
    if type(template) is tuple:
        return [_filled(part, hole, make) for part in template]
    args = [_filled(part, hole, make) for part in template.args]
    return template.fn(args[0]) if template.fn in (list, tuple) and template.example is None else make(template, args)
