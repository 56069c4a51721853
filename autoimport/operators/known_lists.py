"""A Python list that is asked or changed at a place that only the graph knows -> the place, and what is in it then.

The length of the list stays known. Its items have to be of one type where they move, or take each other's place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autoimport.operators import logic, places
from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.comparisons import eq
from autoimport.operators.lists import is_unknown
from autoimport.operators.numbers import Number
from autoimport.operators.sorting import permuted
from autoimport.operators.symbolic import is_symbolic

# Each item is a choice where one of them is stored.
_MOST = 64


def asks(owner: Any, method: str, args: tuple[Any, ...]) -> bool:
    """Whether this is `index` or `count` that Python cannot answer."""
    return method in _QUESTIONS and not is_unknown(owner) and handles(owner, method, args)


def handles(owner: Any, method: str, args: tuple[Any, ...]) -> bool:
    """Whether Python cannot do this by itself."""
    if method in ("index", "count", "remove"):
        return any(map(is_symbolic, args)) or any(map(is_symbolic, owner))
    return method in ("pop", "insert", "__setitem__", "__delitem__") and bool(args) and _is_place(args[0])


def _is_place(x: Any) -> bool:
    return is_symbolic(x) and places.is_index(x)


def ask(owner: Any, method: str, args: tuple[Any, ...]) -> Any:
    """`index` or `count`, of a tuple too."""
    return _QUESTIONS[method](list(iterate(owner)), *args)


def change(owner: list[Any], method: str, args: tuple[Any, ...]) -> Any:
    """A method that changes the list in place."""
    return _CHANGES[method](owner, *args)


def _same(items: list[Any], value: Any) -> list[Any]:
    return [True if item is value else eq(item, value) for item in items]


def _conditions(answers: list[Any]) -> Any:
    return tf.stack([logic.condition(x) if is_symbolic(x) else tf.constant(logic.python_truth(x)) for x in answers])


def _index(items: list[Any], value: Any, start: Any = 0, stop: Any = None) -> Any:
    first = slice(start, stop).indices(len(items))[0]
    answers: list[Any] = []
    for item in items[start:stop]:
        answers += _same([item], value)
        if not is_symbolic(answers[-1]) and logic.python_truth(answers[-1]):
            break  # no later one is the first
    if not any(map(is_symbolic, answers)):
        return first + [bool(answer) for answer in answers].index(True)
    found = tf.concat([_conditions(answers), [True]], 0)
    place = tf.argmax(found)
    place = fail_if(tf.equal(place, len(answers)), "the value is not in the list", place)
    return Number(int, place + first, first, first + len(answers))


def _count(items: list[Any], value: Any) -> Any:
    answers = _same(items, value)
    if not any(map(is_symbolic, answers)):
        return sum(map(bool, answers))
    return Number(int, tf.reduce_sum(tf.cast(_conditions(answers), tf.int64)), 0, len(items))


def _remove(owner: list[Any], value: Any) -> None:
    _delete(owner, _index(list(owner), value))


def _delete(owner: list[Any], key: Any) -> None:
    if is_symbolic(key):
        place = places.inside(key, tf.constant(len(owner)), "list assignment index out of range")
        rest = tf.range(len(owner) - 1)
        owner[:] = permuted(owner, tf.where(rest < place, rest, rest + 1))
    else:
        del owner[key]


def _pop(owner: list[Any], key: Any) -> Any:
    place = places.inside(key, tf.constant(len(owner)), "pop index out of range")
    found = permuted(owner, place[None])[0]
    _delete(owner, place)
    return found


def _insert(owner: list[Any], key: Any, value: Any) -> None:
    count = len(owner)
    place, all_places = places.clamped(key, tf.constant(count)), tf.range(count + 1)
    order = tf.where(all_places < place, all_places, tf.where(tf.equal(all_places, place), count, all_places - 1))
    owner[:] = permuted([*owner, value], order)


def _store(owner: list[Any], key: Any, value: Any) -> None:
    from autoimport.operators.conditionals import if_exp

    if len(owner) > _MOST:
        refuse(f"an item of a list of more than {_MOST} is stored at a symbolic place", "use a tensor or a TensorArray")
    kinds = {Number.kind_of(item) or _type(item) for item in (*owner, value)}
    if len(kinds) > 1 or None in kinds:
        refuse("an item of another type is stored at a symbolic place of a list", "give all items one type")
    place = places.inside(key, tf.constant(len(owner)), "list assignment index out of range")
    owner[:] = [
        if_exp(Number(bool, tf.equal(place, k)), lambda: value, lambda item=item: item)  # type: ignore[misc]
        for k, item in enumerate(owner)
    ]


def _type(item: Any) -> Any:
    return (item.dtype, tuple(item.shape)) if isinstance(item, tf.Tensor) and item.shape.rank is not None else None


_QUESTIONS: dict[str, Callable[..., Any]] = {"index": _index, "count": _count}
_CHANGES: dict[str, Callable[..., Any]] = {
    "remove": _remove,
    "pop": _pop,
    "insert": _insert,
    "__delitem__": _delete,
    "__setitem__": _store,
}
