"""`min`, `max`, `sum`, `any`, `all`, `reduce` over Python or symbolic values -> what Python's steps would give."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import heap, logic, observer, text
from autoimport.operators.access import iterate
from autoimport.operators.arithmetic import binary, whole
from autoimport.operators.checks import fail_if, negation, refuse
from autoimport.operators.comprehensions import Sink, collect, described, has_known_length, push
from autoimport.operators.holders import known_holders
from autoimport.operators.iterators import leave
from autoimport.operators.lists import Leaf, TensorList, stand_in
from autoimport.operators.loops import for_
from autoimport.operators.loops_over import is_stream, stream
from autoimport.operators.numbers import Number, Outranking
from autoimport.operators.ranges import SymbolicZip
from autoimport.operators.selects import one_of
from autoimport.operators.streams import Each, One, When, flat
from autoimport.operators.structures import capture
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone

_MISSING: Any = object()
# A tensor with more rows is reduced by one operation, if that cannot give another result.
_UNROLLED = 64


def min_(*args: Any, key: Any = None, default: Any = _MISSING) -> Any:
    """`min(...)`."""
    return _extreme(min, "min", lambda a, b: b < a, args, key, default)


def max_(*args: Any, key: Any = None, default: Any = _MISSING) -> Any:
    """`max(...)`."""
    return _extreme(max, "max", lambda a, b: b > a, args, key, default)


def _extreme(
    python: Any, name: str, replaces: Callable[[Any, Any], Any], args: tuple[Any, ...], key: Any, default: Any
) -> Any:
    from autoimport.operators.calls import call

    args = tuple(arg.resolve() if isinstance(arg, MaybeNone) else stand_in(arg) for arg in args)
    if len(args) == 1:
        if key is None and _is_reducible(args[0]):
            return _reduced(args[0], tf.reduce_min if name == "min" else tf.reduce_max, name)
        folded = _folded(python, args[0]) if key is None else None
        if folded is not None:
            return folded[0]
        items = stand_in(collect(described(args[0])))
        if isinstance(items, TensorList):
            return _extreme_of_unknown(name, replaces, items, key, default)
    else:
        items = list(args)
    keys = items if key is None else [call(key, item) for item in items]
    if not items or not any(is_symbolic(k) for k in keys):
        if not items:
            return python(items) if default is _MISSING else default
        seen = [whole(k) for k in keys]
        return items[python(range(len(items)), key=seen.__getitem__)]
    best, best_key = items[0], keys[0]
    for item, item_key in zip(items[1:], keys[1:], strict=True):
        test = replaces(best_key, item_key)
        best_is_key = best is best_key and item is item_key
        if is_symbolic(test):
            decide = logic.condition(test)
            best, best_key = _choose(decide, item, best), _choose(decide, item_key, best_key)
        elif test:
            best, best_key = item, item_key
        if best_is_key:
            best_key = best
    return best


def _extreme_of_unknown(
    name: str, replaces: Callable[[Any, Any], Any], items: TensorList, key: Any, default: Any
) -> Any:
    from autoimport.operators.calls import call
    from autoimport.operators.conditionals import if_exp

    keys = items if key is None else stand_in(collect(Each(items, lambda item: One(call(key, item)))))

    def found() -> Any:
        best, best_key = items[0], keys[0]

        def body(pair: Any) -> None:
            nonlocal best, best_key
            decide = logic.condition(replaces(best_key, pair[1]))
            best, best_key = _choose(decide, pair[0], best), _choose(decide, pair[1], best_key)

        def put(values: tuple[Any, ...]) -> None:
            nonlocal best, best_key
            best, best_key = values

        for_(SymbolicZip((items, keys)), None, body, lambda: (best, best_key), put, (name, f"key of {name}"), 2)
        return best

    if default is not _MISSING:
        return if_exp(items, found, lambda: default)
    fail_if(tf.equal(items.count(), 0), f"{name}() of an empty sequence", items.count())
    return found()


def _choose(decide: Any, new: Any, old: Any) -> Any:
    """`new if decide else old`, for two values that are there already."""
    from autoimport.operators.conditionals import if_exp

    if new is old:
        return old
    if isinstance(new, Outranking) or isinstance(old, Outranking):
        return if_exp(decide, lambda: new, lambda: old)
    number_types = (Number, int, float, bool)
    if isinstance(new, number_types) and isinstance(old, number_types):
        a, b = Number.of(new), Number.of(old)
        if a.kind is not b.kind:
            if observer.current() is not None:
                refuse("numbers of different types meet in `min` or `max`")
            kind = float if float in (a.kind, b.kind) else int
            a, b = (Number(kind, x.float64() if kind is float else x.int64(), x.low, x.high) for x in (a, b))
        return Number(a.kind, tf.where(decide, a.tensor, b.tensor), min(a.low, b.low), max(a.high, b.high))
    scalars = all(isinstance(x, tf.Tensor) and x.shape.rank == 0 for x in (new, old))
    if scalars and new.dtype == old.dtype:
        return one_of(decide, new, old)
    return if_exp(decide, lambda: new, lambda: old)


def _is_reducible(x: Any) -> bool:
    """Whether `x` is a symbolic vector whose items are many, or nobody knows how many, and one operation tells."""
    if not isinstance(x, (tf.Tensor, tf.Variable)) or not is_symbolic(x) or x.shape.rank != 1:
        return False
    is_exact = observer.current() is None or x.dtype.is_integer  # order and signs of zero matter
    return is_exact and (x.shape[0] is None or x.shape[0] > _UNROLLED)


def _reduced(x: Any, reduce: Callable[..., Any], name: str) -> Any:
    x = tf.convert_to_tensor(x)
    if x.shape[0] is None and (name != "sum" or observer.current() is not None):  # Python's sum of nothing is a number
        x = fail_if(tf.equal(tf.size(x), 0), f"{name}() of an empty sequence", x)
    return reduce(x, axis=0)


def sum_(iterable: Any, /, start: Any = 0) -> Any:
    """`sum(iterable, start)`."""
    iterable = stand_in(iterable)
    if _is_reducible(iterable):
        total = _reduced(iterable, tf.reduce_sum, "sum")
        return total if type(start) is int and start == 0 and not _may_be_empty(iterable) else start + total
    folded = _folded(sum, iterable) if type(start) is int and start == 0 else None
    if folded is not None:
        return folded[0]
    items = stand_in(collect(described(iterable)))
    if isinstance(items, TensorList):
        kinds = [items.structure.kind] if isinstance(items.structure, Leaf) else []
    elif not is_symbolic(start) and not any(is_symbolic(item) for item in items):
        if any(isinstance(item, (list, tuple)) for item in items):
            return functools.reduce(functools.partial(binary, "+"), items, start)
        return sum(items, start)
    else:
        kinds = [item.kind for item in items if isinstance(item, Number)]
    starts = [start.kind] if isinstance(start, Number) else []
    if float in (*kinds, *starts) and sys.version_info >= (3, 12) and observer.current() is not None:
        refuse("`sum` of symbolic floats, which Python sums with a correction")
    total = start

    def body(item: Any) -> None:
        nonlocal total
        total = total + item

    def put(values: tuple[Any, ...]) -> None:
        nonlocal total
        (total,) = values

    for_(items, None, body, lambda: (total,), put, ("the sum",), 1)
    return total


def _folded(python: Callable[[Any], Any], items: Any) -> tuple[Any] | None:
    trace = observer.current()
    return trace.folds(python, items) if trace is not None and type(items) is list else None


def _may_be_empty(x: Any) -> bool:
    return x.shape[0] is None and observer.current() is None


def any_(iterable: Any, /) -> Any:
    """`any(iterable)`: a bool."""
    return _truths(iterable, tf.reduce_any, stops_at=True)


def all_(iterable: Any, /) -> Any:
    """`all(iterable)`: a bool."""
    return _truths(iterable, tf.reduce_all, stops_at=False)


def _truths(iterable: Any, reduce: Callable[[Any], Any], *, stops_at: bool) -> Any:
    iterable = stand_in(iterable)
    if isinstance(iterable, (tf.Tensor, tf.Variable)) and is_symbolic(iterable) and iterable.shape.rank == 1:
        vector = tf.convert_to_tensor(iterable)
        if not vector.dtype.is_bool:
            vector = tf.not_equal(vector, tf.zeros([], vector.dtype))
        return Number(bool, reduce(vector))
    if is_stream(iterable):
        return _truths_of_stream(iterable, stops_at)
    source = described(iterable)
    is_ours = isinstance(source, Each) and source.is_fresh and not source.is_shared
    unknown: list[Any] = []
    built = 0
    items = iter(_candidates(source, reduce, stops_at) if is_ours else iterate(source))
    while (item := _next_without_effects(items) if unknown else next(items, _MISSING)) is not _MISSING:
        item = stand_in(item)
        if unknown and _acted_since(built):
            _has_effects()
        if is_symbolic(item):
            unknown.append(logic.condition(item))
            built = built or _operations()
        elif logic.python_truth(item) is stops_at:
            return stops_at
    if not unknown:
        return not stops_at
    if not _is_of_containers(source):
        leave()  # where Python stops only the graph knows
    return Number(bool, reduce(tf.stack(unknown)))


def _is_of_containers(source: Any) -> bool:
    """Whether nobody else can take items from where these come from."""
    if isinstance(source, Each):
        return not source.is_shared and _is_of_containers(source.source)
    return is_symbolic(source) or isinstance(source, (list, tuple, dict, set, frozenset, range))


def _next_without_effects(items: Iterator[Any]) -> Any:
    """The next item, or `_MISSING`; Python might not have asked for it."""
    if observer.current() is None:
        return next(items, _MISSING)
    with heap.journal() as journal, text.branch() as printed:
        item = next(items, _MISSING)
        changes = journal.changes()
        known = known_holders([capture(item)], changes)
        if printed or not all(heap.is_forgotten(place, known) for place in changes):
            _has_effects()
    return item


def _has_effects() -> NoReturn:
    refuse("what follows a symbolic item of `any` or `all` has effects")


def _candidates(part: Any, reduce: Callable[[Any], Any], stops_at: bool) -> Iterator[Any]:
    """What `any` or `all` asks of a description, one after the other: a symbolic condition is a part of the answer."""
    if type(part) is One:
        yield part.value
    elif type(part) is When:
        condition = stand_in(part.condition)
        if is_symbolic(condition):
            rest = lambda: _truths(Each((None,), lambda _: part.then()), reduce, stops_at=stops_at)  # noqa: E731
            yield logic.and_(condition, rest) if stops_at else logic.or_(logic.not_(condition), rest)
        elif logic.python_truth(condition):
            yield from _candidates(part.then(), reduce, stops_at)
    elif has_known_length((part := flat(part, takes_all=False)).source):
        for item in iterate(part.source):
            yield from _candidates(part.step(item), reduce, stops_at)
    else:
        yield _truths_of_unknown(part, stops_at)


def _truths_of_unknown(part: Each, stops_at: bool) -> Any:
    """Whether an item stops `any` or `all` in a walk of unknown length, which ends there."""
    stopped: Any = False

    def emit(item: Any) -> None:
        nonlocal stopped
        item = stand_in(item)
        truth = Number(bool, logic.condition(item)) if is_symbolic(item) else logic.python_truth(item)
        stopped = truth if stops_at else logic.not_(truth)

    def put(values: tuple[Any, ...]) -> None:
        nonlocal stopped
        (stopped,) = values

    push(part, Sink(emit, lambda: (stopped,), put, ("the answer",), lambda: logic.not_(stopped)))
    return stopped if stops_at else logic.not_(stopped)


def _truths_of_stream(iterable: Any, stops_at: bool) -> Any:
    source = stream(iterable)

    def body(_: Any, *state: Any) -> Any:
        test = logic.condition(source.take(*state))
        stops = test if stops_at else negation(test)
        return stops, *tf.nest.flatten(tf.cond(stops, source.end, lambda: source.move(*state)))

    state = (tf.constant(False), *source.start)
    stopped = tf.while_loop(lambda stops, *state: negation(stops) & source.has(*state), body, state)[0]
    return Number(bool, stopped if stops_at else negation(stopped))


def _operations() -> int:
    return len(tf.compat.v1.get_default_graph().get_operations())


def _acted_since(built: int) -> bool:
    """Whether an operation with effects was built after the first `built` ones: Python might have stopped before."""
    operations = tf.compat.v1.get_default_graph().get_operations()[built:]
    return any(operation.op_def.is_stateful and operation.type != "ReadVariableOp" for operation in operations)


def reduce_(function: Any, iterable: Any, /, *initial: Any) -> Any:
    """`functools.reduce`."""
    from autoimport.operators.calls import call

    return functools.reduce(functools.partial(call, function), iterate(iterable), *initial)
