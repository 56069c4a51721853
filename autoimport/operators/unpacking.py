"""`a, (b, *c) = value` -> a tuple with as many items as there are targets, one level at a time."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.lists import TensorList, stand_in
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone


def unpack(value: Any, before: int, after: int | None) -> tuple[Any, ...]:
    """The items for the targets of one level.

    Args:
      value: what is unpacked.
      before: the number of targets, up to the starred one if there is one.
      after: the number of targets behind the starred one; None if there is none.
    Returns:
      The items; that of a starred target is not yet a list: Python's own unpacking of the result makes it one.
    Raises:
      ValueError, TypeError: as Python does.
    """
    value = stand_in(value)
    if isinstance(value, MaybeNone):
        walk = value.walk()
        value = value.resolve() if walk is None else walk
    if isinstance(value, TensorList):
        return _of_unknown(value, before, after)
    if is_symbolic(value) and after is None:
        return tuple(_rows(value, before))
    if isinstance(value, tuple) and type(value) is not tuple:
        return tuple(value) if after is not None else _exactly(tuple(value), before)
    items = iterate(value)
    if after is not None:
        found = tuple(items)
        if len(found) < before + after:
            raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(found)})")
        return found
    return _exactly(items, before)


def _of_unknown(value: TensorList, before: int, after: int | None) -> tuple[Any, ...]:
    """The items of a list of symbolic length; a starred target gets the one item that stands for all of its own."""
    count, fixed = value.count(), before + (after or 0)
    wrong = tf.not_equal(count, fixed) if after is None else count < fixed
    count = fail_if(wrong, f"wrong number of values to unpack (expected {fixed})", count)
    first = [value.at(tf.constant(i)) for i in range(before)]
    if after is None:
        return tuple(first)
    rest = TensorList(value.structure, value.permuted(tf.range(before, count - after)).handles)
    return *first, rest, *(value.at(count - after + i) for i in range(after))


def _exactly(items: Any, count: int) -> tuple[Any, ...]:
    """`count` items and not one more, taken as Python takes them: an endless iterator is asked for one too many."""
    try:
        iterator = iter(items)
    except TypeError:
        raise TypeError(f"cannot unpack non-iterable {type(items).__name__} object") from None
    found = []
    for _ in range(count):
        try:
            found.append(next(iterator))
        except StopIteration:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(found)})") from None
    for _ in iterator:
        raise ValueError(f"too many values to unpack (expected {count})")
    return tuple(found)


def _rows(value: Any, count: int) -> Any:
    """The rows of a tensor; if their number is unknown, they must be as many as the targets."""
    if isinstance(value, (tf.Tensor, tf.Variable)) and value.shape.rank != 0:
        known = value.shape[0] if value.shape.rank is not None else None
        if known is None:
            tensor = tf.convert_to_tensor(value)
            if tensor.shape.rank is None:
                refuse("a tensor of unknown rank is unpacked")
            tensor = _checked(tensor, count)
            return tf.unstack(tensor, num=count)
    return _exactly(iterate(value), count)


def _checked(tensor: Any, count: int) -> Any:
    size = tf.shape(tensor)[0]
    tensor = fail_if(tf.not_equal(size, count), f"wrong number of values to unpack (expected {count})", tensor)
    shape = tf.concat([[count], tf.shape(tensor)[1:]], 0)
    result = tf.slice(tensor, tf.zeros_like(shape), tf.minimum(shape, tf.shape(tensor)))
    return tf.ensure_shape(result, [count, *tensor.shape[1:]])
