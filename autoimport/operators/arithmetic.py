"""`x + y`, `x < y` and their kin where a side may be a container -> Python's own, over items read by the observer.

The interpreter reads the items of a list that it joins, repeats or compares out of sight of the trace.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from autoimport.operators import lists, observer
from autoimport.operators.access import item, iterate

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_COMPARISONS = frozenset({"<", "<=", ">", ">="})
_COPIED = frozenset({list, tuple, dict, set, frozenset})
_CONTAINERS = _COPIED | {deque}


def binary(symbol: str, x: Any, y: Any) -> Any:
    """`x symbol y`."""
    if is_container(x) or is_container(y) or isinstance(x, lists.TensorList) or isinstance(y, lists.TensorList):
        if lists.is_unknown(x) or lists.is_unknown(y):
            from autoimport.operators import list_methods  # which compares by way of this module

            return list_methods.combined(symbol, x, y)
        if observer.current() is not None:
            read = whole if symbol in _COMPARISONS else _read
            x, y = read(x), read(y)
    return OPERATORS[symbol](x, y)


def is_container(x: Any) -> bool:
    """Whether the interpreter reads the items of `x` itself: a builtin container or a named tuple."""
    return _kind(x) in _CONTAINERS or (isinstance(x, tuple) and type(x).__lt__ is tuple.__lt__)


def _read(x: Any) -> Any:
    """A container with the items that the observer gives for it."""
    kind = _kind(x)
    if kind is deque:
        iterate(x)  # gives up if it is old
    if kind is dict:
        return {key: item(x, key) for key in iterate(x)}
    return kind(iterate(x)) if kind in _COPIED else x


def _kind(x: Any) -> Any:
    """The class of `x`; lists and dicts that TensorFlow and Keras track are joined and compared as plain ones are."""
    cls = type(x)
    tracks = cls.__module__.partition(".")[0] in ("tensorflow", "keras")
    return next((kind for kind in (list, dict) if tracks and isinstance(x, kind)), cls)


def whole(x: Any) -> Any:
    """A container as `_read` gives it, and so the containers in it: for what compares them, as far down as they go."""
    x = _read(tuple(x) if is_container(x) and isinstance(x, tuple) else x)
    if type(x) is dict:
        return {key: whole(value) for key, value in x.items()}
    return type(x)(map(whole, x)) if type(x) in _COPIED else x
