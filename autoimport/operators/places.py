"""An index, a bound or a slice, symbolic or not -> places in a list whose length only the graph knows, as tensors."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.numbers import Known, Number

# Beyond the end of every list, and sums of a few such fit into an int32.
FAR = 2**28


def is_whole(x: Any) -> bool:
    """Whether `x` is a Python int or bool, symbolic or not."""
    return isinstance(x, (int, Known)) or (isinstance(x, Number) and x.kind is not float)


def is_index(x: Any) -> bool:
    """Whether `x` is the place of an item to Python: an int, or a scalar tensor of ints."""
    return is_whole(x) or (isinstance(x, (tf.Tensor, tf.Variable)) and x.dtype.is_integer and x.shape.rank == 0)


def bound(x: Any) -> Any:
    """An index that need not be inside, as an int32 tensor."""
    if type(x) in {int, bool}:
        return tf.constant(max(min(int(x), FAR), -FAR))
    if is_whole(x):
        value = Number.of(x).int64()
    elif is_index(x):
        value = tf.cast(x, tf.int64)
    else:
        refuse(f"a list of symbolic length is indexed by a {type(x).__name__}")
    return tf.cast(tf.clip_by_value(value, -FAR, FAR), tf.int32)


def clamped(x: Any, count: Any) -> Any:
    """A bound of a slice with step 1, or where to insert: a place from 0 to `count`."""
    value = bound(x)
    return tf.clip_by_value(tf.where(value < 0, value + count, value), 0, count)


def inside(x: Any, count: Any, message: str) -> Any:
    """The place of an item, checked to be there."""
    value = bound(x)
    value = tf.where(value < 0, value + count, value)
    return fail_if((value < 0) | (value >= count), message, value)


def span(part: slice, count: Any) -> tuple[Any, Any]:
    """First place and end of a slice with step 1; the end is not in front of the first place."""
    first = tf.constant(0) if part.start is None else clamped(part.start, count)
    end = count if part.stop is None else clamped(part.stop, count)
    return first, tf.maximum(first, end)


def of_slice(part: slice, count: Any) -> Any:
    """The places that a slice takes, one after the other, as `slice.indices` gives them."""
    if part.step is None:
        return tf.range(*span(part, count))
    step = bound(part.step)
    if type(part.step) is int and part.step == 0:
        raise ValueError("slice step cannot be zero")
    if type(part.step) is not int:
        step = fail_if(tf.equal(step, 0), "slice step cannot be zero", step)
    down = step < 0
    low, high = tf.where(down, -1, 0), tf.where(down, count - 1, count)

    def end(given: Any, missing: Any) -> Any:
        if given is None:
            return missing
        value = bound(given)
        return tf.clip_by_value(tf.where(value < 0, value + count, value), low, high)

    first, last = end(part.start, tf.where(down, high, low)), end(part.stop, tf.where(down, low, high))
    length = tf.maximum((last - first + step - tf.sign(step)) // step, 0)
    return first + step * tf.range(length)
