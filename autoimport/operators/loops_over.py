"""Something symbolic to iterate over -> the driver of a graph loop: how many items, which one, what comes next.

Rows of tensors are read from a TensorArray where a gradient may flow (the gradient of a gather in a loop costs the
whole tensor in every iteration) and gathered otherwise. Datasets and iterators are asked for one optional item ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import refuse
from autoimport.operators.loops import Driver
from autoimport.operators.predicates import predicate

Test = Callable[[], Any] | None
Body = Callable[[Any], Any]


@dataclass(frozen=True)
class Walk:
    """Items with a number each: `count` of them (an int or a scalar int tensor), `item(i)` for a scalar int32 `i`."""

    count: Any
    item: Callable[[Any], Any]


def driver_over(iterable: Any, extra_test: Test, body: Body) -> Driver | None:
    """The driver of a loop over `iterable`; None if there is nothing to build (no items; one, which has been run)."""
    if isinstance(iterable, (tf.data.Dataset, tf.data.Iterator)):
        return _stream_driver(_iterator(iterable), extra_test, body)
    walk = walk_over(iterable)
    count = _static(walk.count)
    if count == 0:
        return None
    if count == 1:
        body(walk.item(tf.constant(0)))
        return None
    return _walk_driver(walk, count, extra_test, body)


def walk_over(iterable: Any) -> Walk:
    """The items of anything symbolic that has a length.

    Raises:
      TypeError: as Python does, for what cannot be iterated over.
    """
    if isinstance(iterable, tf.RaggedTensor):
        return Walk(iterable.nrows(out_type=tf.int32), lambda i: iterable[i])
    walk = getattr(iterable, "walk", None)
    if walk is not None and not isinstance(iterable, tf.Tensor):
        return Walk(*walk())
    if isinstance(iterable, (tf.SparseTensor, tf.IndexedSlices, tf.TensorArray)):
        raise TypeError(f"{type(iterable).__name__!r} object is not iterable")
    return _rows(tf.convert_to_tensor(iterable))


def _rows(tensor: Any) -> Walk:
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    count = tensor.shape[0] if tensor.shape.rank is not None else None
    size = tf.shape(tensor)[0] if count is None else count
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        return Walk(size, lambda i: tf.gather(tensor, i))
    shape = tensor.shape[1:] if tensor.shape.rank is not None else None
    # Element reads of one row need no array.
    array = tf.TensorArray(tensor.dtype, size=size, element_shape=shape, clear_after_read=False).unstack(tensor)
    return Walk(size, array.read)


def _static(count: Any) -> int | None:
    if isinstance(count, int):
        return count
    value = tf.get_static_value(count)
    return None if value is None else int(value)


def _truth_of(extra_test: Callable[[], Any]) -> Any:
    return predicate(extra_test())


def _walk_driver(walk: Walk, count: int | None, extra_test: Test, body: Body) -> Driver:
    size = tf.cast(walk.count, tf.int32)
    first = tf.constant(0)
    if extra_test is None:

        def step(i: Any) -> tuple[Any, ...]:
            body(walk.item(i))
            return (i + 1,)

        return Driver((first,), lambda i: i < size, step, lambda i: (size,), count)

    def step_and_test(i: Any, _: Any) -> tuple[Any, ...]:
        body(walk.item(i))
        return i + 1, _truth_of(extra_test)

    start = (first, tf.constant(True))
    return Driver(start, lambda i, go: go & (i < size), step_and_test, lambda i, _: (i, tf.constant(False)), count)


def _iterator(iterable: Any) -> Any:
    if isinstance(iterable, tf.data.Iterator):
        if observer.current() is not None:
            refuse("a loop takes its items from an iterator that others can see")
        return iterable
    if isinstance(tf.compat.v1.get_default_graph(), tf.__internal__.FuncGraph):
        return iter(iterable)
    return tf.compat.v1.data.make_one_shot_iterator(iterable)


def _stream_driver(iterator: Any, extra_test: Test, body: Body) -> Driver:
    """Items that come one after the other. After a jump no item is taken that the loop does not use."""
    spec = iterator.element_spec
    optional_spec = tf.OptionalSpec(spec)

    def take() -> Any:
        return tf.nest.flatten(iterator.get_next_as_optional(), expand_composites=True)[0]

    def nothing() -> Any:
        return tf.nest.flatten(tf.experimental.Optional.empty(spec), expand_composites=True)[0]

    def optional(tensor: Any) -> Any:
        return tf.nest.pack_sequence_as(optional_spec, [tensor], expand_composites=True)

    def step(tensor: Any) -> tuple[Any, ...]:
        body(optional(tensor).get_value())
        if extra_test is None:
            return (take(),)
        return (tf.cond(_truth_of(extra_test), take, nothing),)

    return Driver((take(),), lambda tensor: optional(tensor).has_value(), step, lambda _: (nothing(),))
