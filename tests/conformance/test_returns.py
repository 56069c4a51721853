"""`return`: the value of the first one that is reached, None where there is none, and nothing behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

COUNT = tf.Variable(0)
VALUES = (-3.0, -1.0, 0.0, 3.0, 6.0)


def both_kinds(*values: float) -> list[tuple[Any, ...]]:
    """The inputs (c, x) for c a tensor and for c a Python number."""
    x = tf.constant(2.0)
    return [(tf.constant(value), x) for value in values] + [(value, x) for value in values]


def early(c, x):
    if c > 0:
        return x + 1
    return x - 1


def effect_before_return(c, x):
    COUNT.assign(0)
    if c > 0:
        COUNT.assign_add(5)
        return COUNT.read_value()
    COUNT.assign_add(1)
    return COUNT.read_value() * 10


def of_a_local(c, x):
    y = x * 3
    if c > 0:
        z = y + 1
        return z * y
    y = y - 1
    return y


def in_all_arms(c, x):
    if c > 0:
        if c > 5:
            return x * 2
        else:
            return x * 3
    else:
        if c < -2:
            return x * 5
        else:
            return x * 7


def in_with(c, x):
    with tf.name_scope("a"):
        if c > 0:
            with tf.name_scope("b"):
                if c > 5:
                    return x * 2
                x = x + 1
            return x * 3
        x = x - 1
    return x


def in_with_and_unreachable(c, x):
    with tf.name_scope("a"):
        if c > 0:
            return x * 2
        else:
            return x * 3
    return x  # never


def several_values(c, x):
    if c > 0:
        return x, x + 1, {"a": x}
    if c < -2:
        return x + 5, x, {"a": -x}
    return x - 1, x * 2, {"a": x * x}


def behind_a_return(c, x):
    if c > 0:
        return x
        x = x * 100
    return x + 1
    return no_such_name  # noqa: F821


def in_nested_function(c, x):
    def inner(v):
        if c > 0:
            return v * 2
        return v * 3

    y = inner(x)
    return y + inner(y)


def inner_only(c, x):
    if c > 0:
        if x > 1:
            return x * 10
    return x + 1


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(early, id="RET-1"),
        pytest.param(effect_before_return, id="RET-1-effect"),
        pytest.param(of_a_local, id="RET-2"),
        pytest.param(in_all_arms, id="RET-3"),
        pytest.param(in_with, id="RET-4"),
        pytest.param(in_with_and_unreachable, id="RET-4-unreachable"),
        pytest.param(several_values, id="several"),
        pytest.param(behind_a_return, id="RET-18"),
        pytest.param(in_nested_function, id="RET-20"),
        pytest.param(inner_only, id="RET-7"),
    ],
)
def test_the_first_return_reached_gives_the_value(program: Callable[..., Any]) -> None:
    check(program, *both_kinds(*VALUES), session=program is not effect_before_return)


# None -------------------------------------------------------------------------------------------------------------------


def falls_off_the_end(c, x):
    if c > 0:
        return x * 2


def bare_return(c, x):
    if c > 0:
        return
    return x * 2


def bare_beside_falling_off(c, x):
    COUNT.assign(0)
    if c > 0:
        COUNT.assign_add(1)
        return
    COUNT.assign_add(2)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(falls_off_the_end, id="RET-5,6"),
        pytest.param(bare_return, id="RET-19"),
        pytest.param(bare_beside_falling_off, id="RET-19-none"),
    ],
)
def test_a_path_without_a_value_gives_none(program: Callable[..., Any]) -> None:
    check(program, *both_kinds(-1.0, 1.0), function=program is bare_beside_falling_off)
    check(program, *[(value, tf.constant(2.0)) for value in (-1.0, 1.0)])


def caller_of_none(c, x):
    r = falls_off_the_end(c, x)
    if r is None:
        return x
    return r + 1


def test_a_caller_asks_for_none() -> None:  # U6
    check(caller_of_none, *both_kinds(-1.0, 1.0), session=True)


# Loops --------------------------------------------------------------------------------------------------------------------


def before_a_loop(c, x):
    if c > 0:
        return x
    for k in range(3):
        x = x * 2 + k
    return x


def in_every_path(items, x):
    for v in items:
        if v > 2:
            return x + v
        else:
            return x - v


def in_every_path_and_after(items, x):
    for v in items:
        if v > 2:
            return x + v
        else:
            return x - v
    return x * 100


def in_one_path(items, x):
    for v in items:
        if v > 2:
            return x + v
        x = x * 2
    return x


def in_a_while(items, x):
    i = 0
    while i < 3:
        if x > 4:
            return x, i
        x = x + len(items)
        i += 1
    return x, -1


def in_nested_loops(items, x):
    for v in items:
        for w in items:
            if v * w > 5:
                return v, w
            x = x + 1
    return x, x


def in_loop_with_else(items, x):
    for v in items:
        if v == 3:
            return x + v
    else:
        x = x * 10
    return x


KINDS = {
    "tensor": [tf.constant(items, tf.int32) for items in ([], [1], [1, 3, 2], [5, 1])],
    "list": [[], [1], [1, 3, 2], [5, 1]],
    "dataset": [tf.data.Dataset.from_tensor_slices(tf.range(n)) for n in (0, 1, 5)],
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(in_every_path_and_after, id="RET-13"),
        pytest.param(in_one_path, id="RET-14,15"),
        pytest.param(in_nested_loops, id="nested"),
        pytest.param(in_loop_with_else, id="else"),
    ],
)
def test_a_return_ends_a_loop(program: Callable[..., Any], kind: str) -> None:
    check(program, *[(items, tf.constant(7)) for items in KINDS[kind]], session=kind == "tensor")


def test_a_return_in_every_path_of_a_body() -> None:  # RET-12
    check(in_every_path, *[(items, tf.constant(7)) for items in KINDS["tensor"][1:]], session=True)
    check(in_every_path, *[(items, tf.constant(7)) for items in KINDS["list"]], session=False)
    check(in_every_path, (KINDS["tensor"][0], tf.constant(7)), function=False)


def test_a_return_before_or_in_other_loops() -> None:  # RET-8
    check(before_a_loop, *both_kinds(-1.0, 1.0), session=True)
    check(in_a_while, *[([1, 2], tf.constant(v)) for v in (0, 3, 9)], session=True)


def tensor_leaves_a_python_loop(x):
    for k in range(4):
        x = x + k
        if x > 5:
            return x, k
    return x, -1


def tensor_leaves_in_every_path(x):
    for k in (1, 2):
        if x > 5:
            return x * k
        else:
            return x + k


def over_an_iterator(n):
    it = iter(tf.data.Dataset.range(10))
    for v in it:
        if v >= n:
            return v, next(it)
    return n, n


def test_a_tensor_returns_from_a_python_loop() -> None:  # RET-16
    check(tensor_leaves_a_python_loop, *[(tf.constant(v),) for v in (0, 3, 9, -5)], session=True)
    check(tensor_leaves_in_every_path, (tf.constant(9),), (tf.constant(1),), session=True)


def test_a_return_from_a_loop_over_an_iterator() -> None:  # RET-15, U8
    check(over_an_iterator, (tf.constant(3, tf.int64),), (tf.constant(12, tf.int64),), staged=False)


# try, with --------------------------------------------------------------------------------------------------------------


def finally_after_return(c, x):
    COUNT.assign(0)
    try:
        if c > 0:
            return x + tf.cast(COUNT, tf.float32)
        x = x * 2
    finally:
        COUNT.assign_add(3)
    return x + tf.cast(COUNT, tf.float32)


def finally_overrides(c, x):
    try:
        if c > 0:
            if c > 5:
                return x
            return x + 1
        return x + 2
    finally:
        return x * 10  # noqa: B012


def helper_raises(c, x):
    if c > 0:
        x = x + 1
    try:
        return fails_below_zero(c if isinstance(c, float) else -1.0)
    except ValueError:
        x = x * 2
    return x


def fails_below_zero(n):
    if n < 0:
        raise ValueError("below zero")
    return n


def in_with_and_handler_in_a_loop(items, x):
    for v in items:
        with tf.name_scope("a"):
            try:
                fails_below_zero(v)
                if v > 2:
                    return x + v
            except ValueError:
                return x * 100
        x = x + 1
    return x


def test_finally_runs_after_a_return() -> None:  # RET-9, RET-10
    check(finally_after_return, *both_kinds(-1.0, 1.0)[2:])
    # Whether there is a value to return is checked after `finally` has changed the variable.
    check(finally_after_return, *both_kinds(-1.0, 1.0)[:2], staged=False)
    check(finally_overrides, *both_kinds(-1.0, 1.0, 6.0), staged=False, session=True)


def test_a_handler_goes_on_after_a_return_that_failed() -> None:  # RET-11, RET-17
    check(helper_raises, *both_kinds(-1.0, 1.0), staged=True, session=True)
    check(
        in_with_and_handler_in_a_loop,
        *[(items, tf.constant(7)) for items in ([1, 3], [1, -1], [1, 2], [])],
        session=True,
    )
