"""`is` on what a condition, a loop or a list has handed on: to Python it is the object that went in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

INPUTS = [(tf.constant(3.0), tf.constant(n)) for n in (2, 0, 1)]


class Scale:
    """An object from outside."""

    def __init__(self, factor: float) -> None:
        self.factor = factor


ONE, TWO = Scale(1.0), Scale(2.0)
FIRST, SECOND = tf.Variable(1.0), tf.Variable(2.0)


def a_branch(x, n):
    y = x
    if n > 0:
        y = x + 1.0
    return y is x, x + y


def a_conditional_expression(x, n):
    y, z = x * 2.0, x * 3.0
    chosen = y if n > 0 else z
    return x if chosen is y else -x


def an_operator(x, n):
    y = x * 2.0
    chosen = (n > 0) and x
    return chosen is x, (x or y) is x, y


def a_loop(x, n):
    y = x
    for _ in tf.range(n):
        y = y + 1.0
    return x if y is not x else -x


def in_the_body(x, n):
    y, untouched, k = x, 0, tf.constant(0)
    while k < 3:
        if y is x:
            untouched += 1
        if k < n:
            y = y + 1.0
        k += 1
    return untouched, y


def exchanged(x, n):
    a, b = x * 1.5, x * 2.5
    first = a
    while n > 0:
        a, b = b, a
        n -= 1
    return a is first, b is first


def by_a_function(x, n):
    def same(a, b):
        return a is b

    return same(tf.cond(n > 0, lambda: x, lambda: x + 1.0), x), x * 2.0


def the_smallest(x, n):
    y = tf.cast(n, tf.float32)
    return min(x, y) is y, sorted([x, y])[0] is y, x + y


def out_of_a_list(x, n):
    items = [x + 1.0]
    while n > 0:
        items.append(x)
        n -= 1
    return items[-1] is x, items[0] is items[0], [item is x for item in items]


def a_tuple(x, n):
    a, b = (x,), (x * 2.0,)
    chosen = a if n > 0 else b
    return chosen is a, chosen is b, chosen


def a_fresh_list(x, n):
    a, b = [x], [x * 2.0]
    chosen = a if n > 0 else b
    return chosen is a, x * 3.0


def a_ragged_tensor(x, n):
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]]) * x
    chosen = rows
    if n > 0:
        chosen = rows + 1.0
    return chosen is rows, chosen.to_tensor()


def perhaps_none(x, n):
    y = None
    if n > 0:
        y = x
    return y is x, x + 1.0


def a_reference(x, n):
    y = x
    if n > 0:
        y = x + 1.0
    return y.ref() in {x.ref()}, x + y


@pytest.mark.parametrize(
    "fn",
    [
        a_branch,
        a_conditional_expression,
        an_operator,
        a_loop,
        in_the_body,
        exchanged,
        by_a_function,
        the_smallest,
        out_of_a_list,
        a_tuple,
        a_fresh_list,
        a_ragged_tensor,
        perhaps_none,
        a_reference,
    ],
)
def test_what_has_been_handed_on_is_compared_by_eager_code(fn: Callable[..., Any]) -> None:
    check(fn, *INPUTS, staged=False, function=False)


def an_object(x, n):
    scale = ONE if n > 0 else TWO
    return scale is ONE, scale is not TWO, x * scale.factor


def a_variable(x, n):
    v = FIRST if n > 0 else SECOND
    return x if v is FIRST else -x


def a_dtype(x, n):
    dtype = tf.float32 if n > 0 else tf.float64
    return dtype is tf.float32, x + 1.0


def perhaps_an_object(x, n):
    scale = None
    if n > 0:
        scale = ONE
    return scale is ONE, scale is TWO, scale is None, x + 1.0


def what_is_new(x, n):
    y = x + 0.0
    return y is x, x is n, (x * 2.0) is y, x is x, y + x


@pytest.mark.parametrize("fn", [an_object, a_variable, a_dtype, perhaps_an_object, what_is_new])
def test_which_object_it_is_stays_in_the_graph(fn: Callable[..., Any]) -> None:
    check(fn, *INPUTS, function=False)
