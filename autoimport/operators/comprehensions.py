"""What a comprehension describes -> its items given to a function, by Python or in a branch or loop of the graph.

`[f(x) for x in xs if c(x)]` is `listed(each(xs, lambda x: when(c(x), lambda: one(f(x)))))`: the nested walks and
conditions, and the item at the end. What Python can walk over it walks over; symbolic conditions are branches of the
graph, and walks of unknown length its loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autoimport.operators import heap, lists, observer
from autoimport.operators.access import iterate
from autoimport.operators.conditionals import Get, Set, if_
from autoimport.operators.iterators import made
from autoimport.operators.lists import Leaf, TensorList
from autoimport.operators.logic import is_harmless, not_, python_truth
from autoimport.operators.loops import for_
from autoimport.operators.loops_over import is_stream, walk_over
from autoimport.operators.numbers import DTYPES, Number
from autoimport.operators.projections import projected
from autoimport.operators.ranges import SymbolicEnumerate, SymbolicRange, SymbolicReversed, SymbolicZip
from autoimport.operators.streams import Each, One, When, flat
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.unpacking import unpack

# From this many rows on, a walk with symbolic conditions is a loop of the graph rather than a branch a row.
_FEW = 8

one = One
when = When


def each(source: Any, step: Callable[..., Any], parts: int | None = None) -> Each:
    """`step(item)` for each item of `source`, or `step(*item)` where items are taken apart into `parts`."""
    return Each(source, step if parts is None else lambda item: step(*unpack(item, parts, None)), written=step)


def kept(stream: Any) -> Any:
    """A generator expression from which the program may take some items now, others then."""
    if isinstance(stream, Each):
        stream.is_shared = True
        return stream
    return made(stream, heap.body())


def listed(stream: Each) -> list[Any]:
    """A list of the items."""
    return collect(stream)


@dataclass
class Sink:
    """What takes the items.

    Attributes:
      emit: is given each item; it may change the variables.
      get, set, names: the variables.
      test: whether another item is wanted, None if all are.
      branched: whether a condition was symbolic.
    """

    emit: Callable[[Any], None]
    get: Get = lambda: ()
    set: Set = lambda values: None
    names: Sequence[str] = ()
    test: Callable[[], Any] | None = None
    branched: bool = False


def push(part: Any, sink: Sink) -> None:
    """Give the items of a description to `sink`."""
    if type(part) is One:
        sink.emit(part.value)
    elif type(part) is When:
        condition = lists.stand_in(part.condition)
        if is_symbolic(condition):
            sink.branched = True
            then = lambda: push(part.then(), sink)  # noqa: E731
            if_(condition, then, lambda: None, sink.get, sink.set, sink.names, len(sink.names))
        elif python_truth(condition):
            push(part.then(), sink)
    else:
        _walk(part, sink)


def _walk(part: Each, sink: Sink) -> None:
    part.take()
    part = flat(part, takes_all=sink.test is None)

    def body(item: Any) -> None:
        push(part.step(item), sink)

    source = lists.stand_in(part.source)
    if not has_known_length(source):
        _for(source, body, sink)
        return
    items = iterate(source)
    if isinstance(source, tf.Tensor) and source.shape[0] >= _FEW:
        _for(items[:1], body, sink)
        items = source[1:] if sink.branched else items[1:]
    _for(items, body, sink)


def _for(items: Any, body: Callable[[Any], None], sink: Sink) -> None:
    for_(items, sink.test, body, sink.get, sink.set, sink.names, len(sink.names))


def has_known_length(x: Any) -> bool:
    """Whether Python can walk over `x`."""
    x = lists.stand_in(x)
    if not is_symbolic(x):
        return True
    if isinstance(x, SymbolicZip):
        return all(map(has_known_length, x.iterables))
    if isinstance(x, (SymbolicEnumerate, SymbolicReversed)):
        return has_known_length(x.iterable)
    if isinstance(x, (TensorList, SymbolicRange, tf.RaggedTensor)) or _has_rows(x):
        walk = walk_over(x)
        return walk is not None and walk.known_count() is not None
    return not is_stream(x)  # what else has items has them in Python


def _has_rows(x: Any) -> bool:
    return isinstance(x, (tf.Tensor, tf.Variable)) and x.shape.rank != 0


def described(x: Any) -> Any:
    """Anything that has items, as a description if Python cannot walk over it, else as it is."""
    x = lists.stand_in(x)
    return x if isinstance(x, Each) or is_stream(x) or has_known_length(x) else Each(x, One)


def _symbolic(value: Any) -> Any:
    """A leaf of an item that only the graph takes: in the person's graphs what Python stores would be an effect."""
    Leaf.of(value)  # gives up if it cannot be in a list of symbolic length
    return Number.of(value) if type(value) in DTYPES else value


def collect(stream: Any, *, at_most_one: bool = False) -> list[Any]:
    """A new list of the items (or of the first one), of unknown length where conditions are symbolic."""
    from autoimport.operators.calls import call

    if not isinstance(stream, Each) or not stream.is_fresh:
        return list(iterate(stream))
    source = lists.stand_in(stream.source)
    if isinstance(source, TensorList) and stream.written is not None and is_harmless(stream.written):
        parts = projected(source, stream.step)
        if parts is not None:
            stream.take()
            return [parts]
    items: list[Any] = []
    depth = heap.depth()

    def emit(item: Any) -> None:
        if observer.current() is None and heap.depth() > depth:
            item = tf.nest.map_structure(_symbolic, item)
        call(items.append, item)

    wants_more = (lambda: not_(items)) if at_most_one else None
    push(stream, Sink(emit, test=wants_more))
    return items
