"""Something symbolic to iterate over -> the driver of a graph loop: how many items, which one, what comes next.

Rows of tensors are read from a tensor list where a gradient may flow and a row is more than one number, and gathered
otherwise. In every iteration the gradient of a gather adds up the whole tensor, that of a list all its items: 200 rows
of 1024 floats take 78 ms against 8, 1000 single floats 15 against 54 (TensorFlow 2.21, CPU). Datasets and iterators
are asked for one optional item ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from autoimport.operators import indexing, lists, observer
from autoimport.operators.checks import fail_if, negation, refuse
from autoimport.operators.driver import Driver
from autoimport.operators.numbers import Number
from autoimport.operators.predicates import predicate
from autoimport.operators.ranges import (
    SymbolicEnumerate,
    SymbolicFilter,
    SymbolicMap,
    SymbolicRange,
    SymbolicReversed,
    SymbolicZip,
)
from autoimport.operators.symbolic import is_symbolic

_STREAMS = (tf.data.Dataset, tf.distribute.DistributedDataset)
_ITERATORS = (tf.data.Iterator, tf.distribute.DistributedIterator)

Test = Callable[[], Any] | None
Body = Callable[[Any], Any]


@dataclass(frozen=True)
class Source:
    """Items that a loop takes one after the other.

    Attributes:
      start: the tensors that say where the loop is.
      has: whether there is an item there; `take`: the item; `move`: the tensors of the next place.
      end: the tensors of a place without an item.
      most: the number of items, where it is known.
      has_first: it is known that there are some.
      is_stream: whether moving on takes something away from others.
    """

    start: tuple[Any, ...]
    has: Callable[..., Any]
    take: Callable[..., Any]
    move: Callable[..., tuple[Any, ...]]
    end: Callable[[], tuple[Any, ...]]
    most: int | None = None
    has_first: bool = False
    is_stream: bool = False


@dataclass(frozen=True)
class Walk:
    """Items with a number each: `count` of them (an int or a scalar int tensor), `item(i)` for a scalar int tensor.

    That there are some may be known though their number is not.
    """

    count: Any
    item: Callable[[Any], Any]
    has_first: bool = False

    def known_count(self) -> int | None:
        """The number of items, if it is known now."""
        if isinstance(self.count, int):
            return self.count
        value = tf.get_static_value(self.count)
        return None if value is None else int(value)

    def source(self) -> Source:
        """The walk from the first item to the last."""
        size = tf.convert_to_tensor(self.count)
        first = tf.zeros([], size.dtype)
        has, most = lambda i: i < size, self.known_count()
        return Source((first,), has, self.item, lambda i: (i + 1,), lambda: (size,), most, self.has_first)


def driver_over(iterable: Any, extra_test: Test, body: Body) -> Driver | None:
    """The driver of a loop over `iterable`; None if there is nothing to build (no items; one, which has been run)."""
    walk = walk_over(iterable)
    if walk is None:
        return _drive(stream(iterable), extra_test, body)
    count = walk.known_count()
    if count is None or count > 1:
        return _drive(walk.source(), extra_test, body)
    if count == 1:
        body(walk.item(tf.constant(0)))
    return None


def driver_from(rest: range, go: Any, extra_test: Callable[[], Any], body: Body) -> Driver:
    """The driver of the rest of a loop over a Python range; `go` tells whether there is a next iteration."""
    walk = walk_over(SymbolicRange(*map(Number.of, (rest.start, rest.stop, rest.step))))
    assert walk is not None, "a range has a length"
    driver = _drive(walk.source(), extra_test, body)
    return replace(driver, start=(predicate(go), *driver.start[1:]), most=None)  # perhaps there is no iteration


def is_stream(x: Any) -> bool:
    """Whether `x` is a dataset, an iterator, or made of one, in a graph under construction."""
    if isinstance(x, SymbolicEnumerate):
        return is_stream(x.iterable)
    if isinstance(x, SymbolicZip):
        return any(map(is_stream, x.iterables))
    return isinstance(x, (*_STREAMS, *_ITERATORS, SymbolicMap, SymbolicFilter)) and is_symbolic(x)


def is_python_zip(iterable: Any) -> bool:
    """Whether `iterable` zips tensors of known length with Python sequences, whose items the graph may not hold."""
    if not isinstance(iterable, SymbolicZip):
        return False
    symbolic = [walk_over(part) for part in iterable.iterables if is_symbolic(part)]
    return all(walk is not None and walk.known_count() is not None for walk in symbolic) and any(
        type(part) in {list, tuple} and lists.stand_in(part) is part for part in iterable.iterables
    )


def python_items(iterable: SymbolicZip) -> Any:
    """The items of such a zip, for a loop in Python."""
    trace = observer.current()

    def items(part: Any) -> Any:
        if is_symbolic(part):
            walk = walk_over(part)
            count = None if walk is None else walk.known_count()
            assert walk is not None and count is not None, "see is_python_zip"
            return [walk.item(tf.constant(i)) for i in range(count)]
        return part if trace is None else trace.iterate(part)

    return zip(*(items(part) for part in iterable.iterables), strict=iterable.strict)


def walk_over(iterable: Any) -> Walk | None:
    """The items of anything symbolic that has a length; None if it has none.

    Raises:
      TypeError: as Python does, for what cannot be iterated over.
    """
    iterable = lists.stand_in(iterable)
    if isinstance(iterable, (*_STREAMS, *_ITERATORS, SymbolicMap, SymbolicFilter)):
        return None
    if isinstance(iterable, SymbolicRange):
        return Walk(iterable.length().int64(), lambda i: iterable.at(tf.cast(i, tf.int64)), iterable.has_items)
    if isinstance(iterable, SymbolicEnumerate):
        return _enumerated(iterable)
    if isinstance(iterable, SymbolicZip):
        return _zipped(iterable)
    if isinstance(iterable, SymbolicReversed):
        return _reversed(iterable.iterable)
    if isinstance(iterable, lists.TensorList):
        return Walk(iterable.count(), lambda i: iterable.at(tf.cast(i, tf.int32)))
    if isinstance(iterable, (list, tuple, range)):
        bound = len(iterable)
        return Walk(bound, lambda i: indexing.item(iterable, Number(int, i, 0, max(bound - 1, 0))))
    if isinstance(iterable, tf.RaggedTensor):
        return Walk(iterable.nrows(out_type=tf.int32), lambda i: iterable[i])
    if isinstance(iterable, Number):
        raise TypeError(f"{iterable.kind.__name__!r} object is not iterable")
    if not isinstance(iterable, (tf.Tensor, tf.Variable)) and not hasattr(iterable, "__array__"):
        raise TypeError(f"{type(iterable).__name__!r} object is not iterable")
    return _rows(tf.convert_to_tensor(iterable))


def _rows(tensor: Any) -> Walk:
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    count = tensor.shape[0] if tensor.shape.rank is not None else None
    size = tf.shape(tensor)[0] if count is None else count
    if tensor.dtype.is_integer and tf.is_symbolic_tensor(tensor) and tensor.op.type == "Range":
        return Walk(size, _counting(*tensor.op.inputs))
    if tensor.shape.rank == 1 or not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        return Walk(size, lambda i: tf.gather(tensor, i, name=lists.SURE_ITEM))
    shape = tensor.shape[1:] if tensor.shape.rank is not None else tf.TensorShape(None)
    element_shape = -1 if shape.rank is None else [-1 if n is None else n for n in shape.as_list()]
    # What a TensorArray is made of, without its complaint if the loop is given up and never reads it.
    rows = tf.raw_ops.TensorListFromTensor(tensor=tensor, element_shape=tf.constant(element_shape, tf.int32))

    def row(i: Any) -> Any:
        item = tf.raw_ops.TensorListGetItem(
            input_handle=rows,
            index=tf.cast(i, tf.int32),
            element_shape=element_shape,
            element_dtype=tensor.dtype,
            name=lists.SURE_ITEM,
        )
        item.set_shape(shape)
        return item

    return Walk(size, row)


def _counting(start: Any, _: Any, step: Any) -> Callable[[Any], Any]:
    """The items of `tf.range(start, limit, step)` by their places."""
    if tf.get_static_value(start) == 0 and tf.get_static_value(step) == 1:
        return lambda i: tf.cast(i, start.dtype)
    return lambda i: start + tf.cast(i, start.dtype) * step


def _enumerated(iterable: SymbolicEnumerate) -> Walk | None:
    walk = walk_over(iterable.iterable)
    if walk is None:
        return None
    return Walk(walk.count, lambda i: (Number(int, i, 0, 2**31) + iterable.start, walk.item(i)))


def _zipped(iterable: SymbolicZip) -> Walk | None:
    walks = [walk_over(part) for part in iterable.iterables]
    found = [walk for walk in walks if walk is not None]
    if len(found) < len(walks):
        return None
    counts = [walk.known_count() for walk in found]
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        if iterable.strict and len(set(known)) > 1:
            refuse("zip() arguments of different lengths", error=ValueError)
        return Walk(min(known), lambda i: tuple(walk.item(i) for walk in found))
    sizes = [tf.cast(walk.count, tf.int64) for walk in found]
    count = tf.reduce_min(tf.stack(sizes))
    if iterable.strict:
        longest = tf.reduce_max(tf.stack(sizes))
        count = fail_if(tf.not_equal(count, longest), "zip() arguments of different lengths", count)
    return Walk(count, lambda i: tuple(walk.item(i) for walk in found))


def _reversed(iterable: Any) -> Walk:
    walk = walk_over(iterable)
    if walk is None:
        raise TypeError(f"{type(iterable).__name__!r} object is not reversible")
    return Walk(walk.count, lambda i: walk.item(tf.cast(walk.count, i.dtype) - 1 - i))


# Streams: datasets, iterators, and what is made of them.


def stream(iterable: Any) -> Source:
    """The items of anything symbolic."""
    walk = walk_over(iterable)
    if walk is not None:
        return walk.source()
    if isinstance(iterable, (SymbolicEnumerate, SymbolicZip, SymbolicMap, SymbolicFilter)):
        iterable.use()
    if isinstance(iterable, SymbolicEnumerate):
        return _joined([SymbolicRange(*map(Number.of, (0, 2**62, 1))), iterable.iterable], iterable.start)
    if isinstance(iterable, SymbolicZip):
        if iterable.strict:
            refuse("zip(strict=True) of datasets")
        return _joined(iterable.iterables, None)
    if isinstance(iterable, SymbolicMap):
        return _mapped(iterable)
    if isinstance(iterable, SymbolicFilter):
        return _filtered(iterable)
    trace = observer.current()
    if trace is not None and isinstance(iterable, _ITERATORS):
        refuse("a loop takes its items from an iterator that others can see")
    with tf.name_scope("walk" if trace is None else trace.walks(iterable)) as scope:
        return _from_iterator(_iterator(iterable), scope)


def _mapped(iterable: SymbolicMap) -> Source:
    from autoimport.operators.calls import call

    source = _joined(iterable.iterables, None)
    return replace(source, take=lambda *state: call(iterable.fn, *source.take(*state)))


def _filtered(iterable: SymbolicFilter) -> Source:
    from autoimport.operators.calls import call

    source, fn = stream(iterable.iterable), iterable.fn

    def is_out(*state: Any) -> Any:
        item = source.take(*state)
        return negation(predicate(item if fn is None else call(fn, item)))

    def seek(state: tuple[Any, ...]) -> tuple[Any, ...]:
        """The place of the first item from `state` on that stays."""
        skips = lambda *now: tf.cond(source.has(*now), lambda: is_out(*now), lambda: tf.constant(False))  # noqa: E731
        return tuple(tf.while_loop(skips, source.move, state))

    return replace(source, start=seek(source.start), move=lambda *state: seek(source.move(*state)), most=None)


def _joined(parts: Sequence[Any], offset: Any) -> Source:
    """Several sources side by side; with `offset` the first one counts, and starts there."""
    sources = [stream(part) for part in parts]
    widths = [len(source.start) for source in sources]

    def split(state: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        ends = [sum(widths[: k + 1]) for k in range(len(widths))]
        return [tuple(state[end - width : end]) for end, width in zip(ends, widths, strict=True)]

    def each(method: str, state: tuple[Any, ...]) -> list[Any]:
        return [getattr(source, method)(*part) for source, part in zip(sources, split(state), strict=True)]

    def take(*state: Any) -> tuple[Any, ...]:
        items = each("take", state)
        return tuple(items) if offset is None else (items[0] + offset, *items[1:])

    return Source(
        tuple(tensor for source in sources for tensor in source.start),
        lambda *state: tf.reduce_all(tf.stack(each("has", state))),
        take,
        lambda *state: tuple(tensor for part in each("move", state) for tensor in part),
        lambda: tuple(tensor for source in sources for tensor in source.end()),
        is_stream=True,
    )


def _iterator(iterable: Any) -> Any:
    if isinstance(iterable, _ITERATORS):
        return iterable
    if isinstance(tf.compat.v1.get_default_graph(), tf.__internal__.FuncGraph):
        return iter(iterable)
    return tf.compat.v1.data.make_one_shot_iterator(iterable)


def _from_iterator(iterator: Any, scope: str) -> Source:
    spec = iterator.element_spec
    optional_spec = tf.OptionalSpec(spec)

    def ahead(*_: Any) -> tuple[Any, ...]:
        with tf.name_scope(scope):
            return tuple(tf.nest.flatten(iterator.get_next_as_optional(), expand_composites=True))

    def nothing() -> tuple[Any, ...]:
        return tuple(tf.nest.flatten(tf.experimental.Optional.empty(spec), expand_composites=True))

    def optional(tensor: Any) -> Any:
        return tf.nest.pack_sequence_as(optional_spec, [tensor], expand_composites=True)

    return Source(
        ahead(),
        lambda tensor: optional(tensor).has_value(),
        lambda tensor: optional(tensor).get_value(),
        ahead,
        nothing,
        is_stream=True,
    )


def _drive(source: Source, extra_test: Test, body: Body) -> Driver:
    if extra_test is None:

        def step(*state: Any) -> tuple[Any, ...]:
            body(source.take(*state))
            return source.move(*state)

        is_exact = source.most is not None
        end = lambda *_: source.end()  # noqa: E731
        return Driver(source.start, source.has, step, end, source.most, is_exact, source.has_first)
    test: Callable[[], Any] = extra_test
    if source.is_stream:

        def step_stream(*state: Any) -> tuple[Any, ...]:
            body(source.take(*state))
            moved = tf.cond(predicate(test()), lambda: source.move(*state), source.end)
            return tuple(tf.nest.flatten(moved))

        return Driver(source.start, source.has, step_stream, lambda *_: source.end())

    def step_walk(go: Any, *state: Any) -> tuple[Any, ...]:
        body(source.take(*state))
        return predicate(test()), *source.move(*state)

    start = (tf.constant(True), *source.start)
    stop = lambda go, *state: (tf.constant(False), *state)  # noqa: E731
    return Driver(start, lambda go, *state: go & source.has(*state), step_walk, stop, source.most)
