"""`min`, `max`, `sum`, `any`, `all`, `reduce` over Python or symbolic values -> what Python's steps would give."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autoimport.operators import logic, observer
from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if, negation, refuse
from autoimport.operators.lists import stand_in
from autoimport.operators.loops_over import is_stream, stream
from autoimport.operators.numbers import Number, Outranking
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
        if key is None and _is_long(args[0]):
            return _reduced(args[0], tf.reduce_min if name == "min" else tf.reduce_max, name)
        items = list(iterate(args[0]))
    else:
        items = list(args)
    keys = items if key is None else [call(key, item) for item in items]
    if not items or not any(is_symbolic(k) for k in keys):
        keywords = {} if default is _MISSING else {"default": default}
        if key is None or not items:
            return python(items, **keywords) if len(args) == 1 else python(*items)
        best = python(range(len(items)), key=lambda i: keys[i])
        return items[best]
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
        return tf.where(decide, new, old)
    return if_exp(decide, lambda: new, lambda: old)


def _is_long(x: Any) -> bool:
    """Whether `x` is a symbolic vector whose items are many, or nobody knows how many."""
    if not isinstance(x, (tf.Tensor, tf.Variable)) or not is_symbolic(x) or x.shape.rank != 1:
        return False
    return x.shape[0] is None or x.shape[0] > _UNROLLED


def _reduced(x: Any, reduce: Callable[..., Any], name: str) -> Any:
    x = tf.convert_to_tensor(x)
    if observer.current() is not None and not x.dtype.is_integer:
        refuse(f"`{name}` over a long tensor of floats, where order and signs of zero matter", "use TensorFlow's")
    if name != "sum" and x.shape[0] is None:
        x = fail_if(tf.equal(tf.size(x), 0), f"{name}() of an empty sequence", x)
    return reduce(x, axis=0)


def sum_(iterable: Any, /, start: Any = 0) -> Any:
    """`sum(iterable, start)`."""
    iterable = stand_in(iterable)
    if _is_long(iterable):
        total = _reduced(iterable, tf.reduce_sum, "sum")
        return total if type(start) is int and start == 0 and not _may_be_empty(iterable) else start + total
    items = list(iterate(iterable))
    if not is_symbolic(start) and not any(is_symbolic(item) for item in items):
        return sum(items, start)
    floats = any(isinstance(item, Number) and item.kind is float for item in (start, *items))
    if floats and sys.version_info >= (3, 12) and observer.current() is not None:
        refuse("`sum` of symbolic floats, which Python sums with a correction")
    total = start
    for item in items:
        total = total + item
    return total


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
    unknown: list[Any] = []
    built = 0
    for item in iterate(iterable):
        item = stand_in(item)
        if unknown and _acted_since(built):
            refuse("what follows a symbolic item of `any` or `all` has effects")
        if is_symbolic(item):
            unknown.append(logic.condition(item))
            built = built or _operations()
        elif logic.python_truth(item) is stops_at:
            return stops_at
    return Number(bool, reduce(tf.stack(unknown))) if unknown else not stops_at


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
