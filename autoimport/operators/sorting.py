"""`sorted` and `list.sort` over symbolic items -> the same items in Python's order.

Python's sort is stable and only asks `<`, so for scalars without NaN its order is that of a stable sort of the keys;
where NaN is among them it depends on Python's algorithm, and a trace of ours gives up when it runs.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators import aliases, observer
from autoimport.operators.arithmetic import whole
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.comprehensions import collect, described
from autoimport.operators.lists import TensorList, stand_in
from autoimport.operators.logic import python_truth
from autoimport.operators.numbers import Number
from autoimport.operators.selects import may_select
from autoimport.operators.streams import Each, One
from autoimport.operators.symbolic import is_symbolic


def sorted_(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """`sorted(iterable, key=key, reverse=reverse)`."""
    from autoimport.operators.calls import call

    items = collect(described(iterable))
    if stand_in(items) is not items:
        return _sorted_unknown(items[0], key, python_truth(reverse))
    keys = items if key is None else [call(key, item) for item in items]
    if len(items) < 2 or not any(is_symbolic(k) for k in keys):
        order = sorted(range(len(items)), key=[*map(whole, keys)].__getitem__, reverse=reverse)
        return [items[index] for index in order]
    return permuted(items, _order(_vector(keys), descending=python_truth(reverse)))


def _sorted_unknown(items: TensorList, key: Any, reverse: bool) -> list[Any]:
    """`sorted` of a list of symbolic length, whose keys are scalars."""
    from autoimport.operators.calls import call

    keys = items if key is None else stand_in(collect(Each(items, lambda item: One(call(key, item)))))
    vector = keys.column() if isinstance(keys, TensorList) else None
    if vector is None or vector.shape.rank != 1 or not (vector.dtype.is_integer or vector.dtype.is_floating):
        refuse("sorts a list of symbolic length by keys that are no scalars")
    return [items.permuted(_order(vector, descending=reverse))]


def sort_list(items: list[Any], /, *, key: Any = None, reverse: Any = False) -> None:
    """`items.sort(key=key, reverse=reverse)`."""
    items[:] = sorted_(items, key=key, reverse=reverse)


def _vector(keys: list[Any]) -> Any:
    """The keys as one vector in which `<` is Python's."""
    if all(isinstance(k, (Number, int, float)) for k in keys):
        numbers = [Number.of(k) for k in keys]
        if len({number.kind for number in numbers}) == 1:
            vector = tf.stack([number.tensor for number in numbers])
            return tf.cast(vector, tf.int32) if vector.dtype.is_bool else vector
    elif all(isinstance(k, tf.Tensor) and k.shape.rank == 0 for k in keys) and len({k.dtype for k in keys}) == 1:
        vector = tf.stack(keys)
        if vector.dtype.is_integer or vector.dtype.is_floating:
            return vector
    refuse("sorts by symbolic keys of several types, or that are no scalars")


def _order(vector: Any, *, descending: bool) -> Any:
    """The places of the vector's items in Python's order."""
    if vector.dtype.is_floating and observer.current() is not None:
        is_nan = tf.reduce_any(tf.math.is_nan(vector))
        vector = fail_if(is_nan, "NaN is sorted, whose place only Python's algorithm tells", vector)
    return tf.argsort(vector, direction="DESCENDING" if descending else "ASCENDING", stable=True)


def permuted(items: list[Any], order: Any) -> list[Any]:
    """The items at the places that the index vector `order` tells: of one type, or structures of parts of one type."""
    first = items[0]
    if isinstance(first, (tuple, list)) and all(type(x) is type(first) and len(x) == len(first) for x in items):
        columns = [permuted([item[i] for item in items], order) for i in range(len(first))]
        kind: Any = type(first)
        make = kind if kind in (tuple, list) else kind._make
        moved: list[Any] = [make(parts) for parts in zip(*columns, strict=True)]
        if kind is list:
            aliases.join_permuted(items, moved)
        return moved
    if all(type(x) in {Number, int, float, bool} for x in items):
        numbers = [Number.of(x) for x in items]
        if len({number.kind for number in numbers}) == 1:
            low, high = min(number.low for number in numbers), max(number.high for number in numbers)
            moved = tf.unstack(tf.gather(tf.stack([number.tensor for number in numbers]), order), num=order.shape[0])
            return [Number(numbers[0].kind, tensor, low, high) for tensor in moved]
    elif all(isinstance(x, tf.Tensor) and x.shape.rank is not None for x in items):
        types = {(x.dtype, tuple(x.shape.as_list())) for x in items}
        if not may_select(first.dtype):
            refuse("sorts tensors of which a gradient may be taken: those of the others are None, not zeros")
        if len(types) == 1:
            return list(tf.unstack(tf.gather(tf.stack(items), order), num=order.shape[0]))
    refuse("sorts items of several types")
