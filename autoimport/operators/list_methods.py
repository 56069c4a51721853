"""A method or operator of a list of symbolic length -> what Python's list would do, in the graph.

Where items move, an index tensor says which item stands where afterwards: one gather a leaf of the items. Where items
are compared, a loop of the graph compares each as `==` would. What Python would raise (IndexError, ...) is a check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autoimport.operators import copies, logic, observer, places
from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if
from autoimport.operators.comparisons import eq
from autoimport.operators.comprehensions import collect
from autoimport.operators.lists import TensorList, TensorTuple, stand_in
from autoimport.operators.numbers import Number
from autoimport.operators.ranges import SymbolicZip
from autoimport.operators.sorting import sorted_
from autoimport.operators.streams import Each, One
from autoimport.operators.symbolic import is_symbolic

_MOST = 2**31  # no list of the graph has more items


# Methods --------------------------------------------------------------------------------------------------------------


def change(items: list[Any], method: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """A method or in-place operator that changes `items`, which stands for a TensorList."""
    items[0], result = _CHANGES[method](items[0], *args, **kwargs or {})
    return result


def _extend(contents: TensorList, added: Any) -> tuple[TensorList, None]:
    for item in list(iterate(added)):
        contents = contents.append(item)
    return contents, None


def _pop(contents: TensorList, index: Any = -1) -> tuple[TensorList, Any]:
    if type(index) is int and index == -1:
        return contents.pop()
    contents.check(contents.count() < 1, "pop from empty list")
    place = places.inside(index, contents.count(), "pop index out of range")
    return _without(contents, place, place + 1), contents.at(place)


def _insert(contents: TensorList, index: Any, item: Any) -> tuple[TensorList, None]:
    count = contents.count()
    place = places.clamped(index, count)
    order = tf.concat([tf.range(place), count[None], tf.range(place, count)], 0)
    return contents.append(item).permuted(order), None


def _remove(contents: TensorList, value: Any) -> tuple[TensorList, None]:
    place = _first(_matches(contents, value), "list.remove(x): x not in list")
    return _without(contents, place, place + 1), None


def _reverse(contents: TensorList) -> tuple[TensorList, None]:
    return contents.permuted(tf.range(contents.count())[::-1]), None


def _sort(contents: TensorList, *, key: Any = None, reverse: Any = False) -> tuple[TensorList, None]:
    return sorted_([contents], key=key, reverse=reverse)[0], None


def _set_item(contents: TensorList, key: Any, value: Any) -> tuple[TensorList, None]:
    return _set_slice(contents, key, value) if type(key) is slice else contents.set_item(key, value), None


def _delete(contents: TensorList, key: Any) -> tuple[TensorList, None]:
    if type(key) is not slice:
        place = places.inside(key, contents.count(), "list assignment index out of range")
        return _without(contents, place, place + 1), None
    count = contents.count()
    taken = places.of_slice(key, count)
    gone = tf.scatter_nd(taken[:, None], tf.ones_like(taken), count[None])
    return contents.permuted(tf.boolean_mask(tf.range(count), tf.equal(gone, 0))), None


def _index(contents: TensorList, value: Any, start: Any = 0, stop: Any = _MOST) -> Number:
    count = contents.count()
    inside = tf.range(count)
    first, last = places.clamped(start, count), places.clamped(stop, count)
    found = _matches(contents, value) & (inside >= first) & (inside < last)
    return Number(int, _first(found, "the value is not in the list"), 0, _MOST)


def _count(contents: TensorList, value: Any) -> Number:
    return Number(int, tf.reduce_sum(tf.cast(_matches(contents, value), tf.int64)), 0, _MOST)


def _repeated(contents: TensorList, times: Any) -> TensorList:
    if any(True for _ in copies.changeable(contents.structure)):
        copies.share()
    often = tf.maximum(places.bound(times), 0)
    return contents.permuted(tf.tile(tf.range(contents.count()), often[None]))


_CHANGES: dict[str, Callable[..., tuple[TensorList, Any]]] = {
    "append": lambda contents, item: (contents.append(item), None),
    "extend": _extend,
    "pop": _pop,
    "insert": _insert,
    "remove": _remove,
    "reverse": _reverse,
    "sort": _sort,
    "__setitem__": _set_item,
    "__delitem__": _delete,
    "*=": lambda contents, times: (_repeated(contents, times), None),
    "__imul__": lambda contents, times: (_repeated(contents, times), None),
    "__iadd__": _extend,
    "clear": lambda contents: (contents.emptied(), None),
}
# Methods that change nothing.
QUESTIONS: dict[str, Callable[..., Any]] = {
    "index": _index,
    "count": _count,
    "copy": lambda contents: [contents],
}


# Operators ------------------------------------------------------------------------------------------------------------


def contains(contents: TensorList, value: Any) -> Number:
    """`value in list`."""
    return Number(bool, tf.reduce_any(_matches(contents, value)))


def equal(x: Any, y: Any) -> Any:
    """`x == y` of two lists or two tuples, of which one at least has symbolic length."""
    from autoimport.operators.conditionals import if_exp

    a, b = _alike(x, y)
    same_length = tf.equal(a.count(), b.count())
    return if_exp(same_length, lambda: Number(bool, tf.reduce_all(_pairwise(a, b))), lambda: False)


def ordered(symbol: str, x: Any, y: Any) -> Any:
    """`x < y` and its kin: the first items that differ decide, else the lengths."""
    from autoimport.operators.arithmetic import binary
    from autoimport.operators.conditionals import if_exp

    a, b = _alike(x, y)
    differs = tf.equal(_pairwise(a, b), False)
    place = tf.cast(tf.argmax(tf.concat([differs, [True]], 0)), tf.int32)
    return if_exp(
        place < tf.size(differs),
        lambda: binary(symbol, a.at(place), b.at(place)),
        lambda: binary(symbol, a.length(), b.length()),
    )


def combined(symbol: str, x: Any, y: Any) -> Any:
    """`x symbol y` where one side at least is a list of symbolic length."""
    from autoimport.operators.arithmetic import OPERATORS
    from autoimport.operators.calls import call

    for other in (x, y):
        if isinstance(other, (tf.Tensor, tf.Variable)):
            return OPERATORS[symbol](stand_in(x), stand_in(y))  # TensorFlow makes a tensor of the list
    kinds = {kind_of(x), kind_of(y)}
    if symbol in ("<", "<=", ">", ">=") and len(kinds) == 1:
        return ordered(symbol, x, y)
    if symbol == "+" and kinds == {list}:
        joined = list(x)  # holds the symbolic items, as `x` does
        call(joined.extend, y)
        return joined
    if symbol == "+" and kinds == {tuple}:
        return spliced((*spread(x), *spread(y)))
    for contents, times in ((stand_in(x), y), (stand_in(y), x)):
        if symbol == "*" and isinstance(contents, TensorList) and places.is_whole(times):
            made = _repeated(contents, times)
            return made if isinstance(made, TensorTuple) else [made]
    raise TypeError(
        f"unsupported operand type(s) for {symbol}: {_name(x)!r} and {_name(y)!r}"
        if symbol in ("+", "-", "*", "|", "&", "^")
        else f"{symbol!r} not supported between instances of {_name(x)!r} and {_name(y)!r}"
    )


def kind_of(x: Any) -> type:
    """The type that Python sees."""
    return tuple if isinstance(x, TensorTuple) else type(x)


def _name(x: Any) -> str:
    return x.kind.__name__ if isinstance(x, Number) else kind_of(x).__name__


# Displays: `[*a, x]`, `(*a, x)`.


class _Spread:
    """The items of a list of symbolic length, among those of a display."""

    def __init__(self, contents: TensorList) -> None:
        self.contents = contents


def spread(x: Any) -> Any:
    """The items of `x` for a display that `spliced` gets."""
    contents = stand_in(x)
    if isinstance(contents, TensorList) and tf.get_static_value(contents.count()) is None:
        return (_Spread(contents),)
    return iterate(x)


def spliced(display: Any) -> Any:
    """A list or tuple whose items are those of `spread`."""
    if not any(type(item) is _Spread for item in display):
        return display
    from autoimport.operators.calls import call

    made: list[Any] = []
    for item in display:
        if type(item) is _Spread:
            call(made.extend, item.contents)
        else:
            call(made.append, item)
    if type(display) is list:
        return made
    return TensorTuple(made[0].structure, made[0].handles)


# Parts ----------------------------------------------------------------------------------------------------------------


def _set_slice(contents: TensorList, part: slice, values: Any) -> TensorList:
    count = contents.count()
    made = _as_contents(values, contents)
    both, added = _joined(contents, made), made.count()
    if part.step is None or (type(part.step) is int and part.step == 1):
        first, end = places.span(part, count)
        return both.permuted(tf.concat([tf.range(first), tf.range(count, count + added), tf.range(end, count)], 0))
    at = places.of_slice(part, count)
    wrong = tf.not_equal(tf.size(at), added)
    at = fail_if(wrong, "an extended slice is assigned a sequence of another length", at)
    return both.permuted(tf.tensor_scatter_nd_update(tf.range(count), at[:, None], tf.range(count, count + added)))


def _joined(a: TensorList, b: TensorList) -> TensorList:
    """The items of `a`, then those of `b`."""
    from autoimport.operators.calls import call

    items = [a]
    call(items.extend, [b])
    return items[0]


def _without(contents: TensorList, first: Any, end: Any) -> TensorList:
    return contents.permuted(tf.concat([tf.range(first), tf.range(end, contents.count())], 0))


def _as_contents(x: Any, like: TensorList) -> TensorList:
    """The items of `x` as a TensorList; `like` tells the type where there are none."""
    x = stand_in(x)
    if isinstance(x, TensorList):
        return x
    items = collect(x) if isinstance(x, Each) else list(iterate(x))
    found = stand_in(items)
    return found if isinstance(found, TensorList) else TensorList.of(items, items[0] if items else like.structure)


def _alike(x: Any, y: Any) -> tuple[TensorList, TensorList]:
    a, b = stand_in(x), stand_in(y)
    return (a, _as_contents(y, a)) if isinstance(a, TensorList) else (_as_contents(x, b), b)


def _matches(contents: TensorList, value: Any) -> Any:
    """A bool for each item: whether it equals `value`."""
    _require_comparable(value)
    return _bools(Each(contents, lambda item: One(_same(item, value))))


def _pairwise(a: TensorList, b: TensorList) -> Any:
    return _bools(Each(SymbolicZip((a, b)), lambda pair: One(_same(*pair))))


def _same(x: Any, y: Any) -> Number:
    found = eq(x, y)
    return Number(bool, logic.condition(found) if is_symbolic(found) else tf.constant(bool(found)))


def _bools(stream: Each) -> Any:
    found = collect(stream)
    contents = stand_in(found)
    if isinstance(contents, TensorList):
        return contents.column()
    return tf.stack([number.tensor for number in found]) if found else tf.zeros([0], tf.bool)


def _require_comparable(value: Any) -> None:
    """Give a trace up that would compare NaN: Python looks whether it is the same object first."""
    if observer.current() is None:
        return
    for part in tf.nest.flatten(value):
        number = part.tensor if isinstance(part, Number) else part
        if isinstance(number, tf.Tensor) and number.dtype.is_floating:
            fail_if(tf.reduce_any(tf.math.is_nan(number)), "NaN is looked for in a list", number)


def _first(found: Any, missing: str) -> Any:
    place = tf.cast(tf.argmax(tf.concat([found, [True]], 0)), tf.int32)
    return fail_if(tf.equal(place, tf.size(found)), missing, place)
