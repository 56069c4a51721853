"""The functions of the module `operator` -> the operators of graph forms that stand for the same symbols."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from autoimport.operators import access, comparisons, logic
from autoimport.operators.arithmetic import binary
from autoimport.operators.formatting import mod

# For these an expression in a graph form is Python's own, too.
_AS_WRITTEN = (
    operator.neg, operator.pos, operator.invert, operator.truediv, operator.floordiv, operator.pow, operator.matmul,
    operator.lshift, operator.rshift,
)  # fmt: skip


def _as_written(fn: Callable[..., Any]) -> Callable[..., Any]:
    def operation(*args: Any) -> Any:
        return fn(*args)

    return operation


OPERATORS: dict[Any, Callable[..., Any]] = {
    **{fn: _as_written(fn) for fn in _AS_WRITTEN},
    operator.add: partial(binary, "+"),
    operator.sub: partial(binary, "-"),
    operator.mul: partial(binary, "*"),
    operator.or_: partial(binary, "|"),
    operator.and_: partial(binary, "&"),
    operator.xor: partial(binary, "^"),
    operator.mod: mod,
    operator.lt: partial(binary, "<"),
    operator.le: partial(binary, "<="),
    operator.gt: partial(binary, ">"),
    operator.ge: partial(binary, ">="),
    operator.eq: comparisons.eq,
    operator.ne: comparisons.ne,
    operator.is_: comparisons.is_,
    operator.is_not: comparisons.is_not,
    operator.not_: logic.not_,
    operator.contains: lambda container, x: comparisons.in_(x, container),
    operator.getitem: access.item,
    operator.setitem: access.set_item,
    operator.delitem: access.del_item,
    operator.iadd: partial(access.augment, "+="),
    operator.isub: partial(access.augment, "-="),
    operator.imul: partial(access.augment, "*="),
    operator.itruediv: partial(access.augment, "/="),
}


def _get_items(getter: Any, obj: Any, /) -> Any:
    """`operator.itemgetter(...)(obj)`."""
    keys = getter.__reduce__()[1]
    values = tuple(access.item(obj, key) for key in keys)
    return values if len(keys) > 1 else values[0]


def _get_attributes(getter: Any, obj: Any, /) -> Any:
    """`operator.attrgetter(...)(obj)`."""
    names = getter.__reduce__()[1]
    values = tuple(functools.reduce(access.attr, name.split("."), obj) for name in names)
    return values if len(names) > 1 else values[0]


# By the type of the callable object.
GETTERS: dict[type, Callable[..., Any]] = {operator.itemgetter: _get_items, operator.attrgetter: _get_attributes}
