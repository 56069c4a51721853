"""`break` and `continue`: the rest of an iteration or loop is skipped exactly where Python skips it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

X = tf.constant(1)
LENGTHS = (0, 1, 2, 4)
TENSORS = [tf.range(1, n + 1) for n in LENGTHS]
LISTS = [list(range(1, n + 1)) for n in LENGTHS]
DATASETS = [tf.data.Dataset.from_tensor_slices(tf.range(1, n + 1)) for n in LENGTHS]
ITEMS = {"tensor": TENSORS, "list": LISTS, "dataset": DATASETS}


def continue_in_for(items, x):
    for v in items:
        if v % 2 == 0:
            continue
        x = x * 10 + v
    return x


def break_in_for(items, x):
    for v in items:
        if v % 3 == 0:
            break
        x = x * 10 + v
    return x


def two_breaks(items, x):
    for v in items:
        if v > 3:
            break
        x = x * 2
        if x > 3:
            break
        x = x + v
    return x


def break_then_branch(items, x):
    for v in items:
        if v > 2:
            break
        if x > 1:
            v = v * 10
        x = x + v
    return x


def break_or_continue(items, x):
    for v in items:
        if v > 2:
            if x > 3:
                break
            else:
                continue
        x = x + v
    return x


def break_in_inner(items, x):
    for v in items:
        for w in items:
            if w > v:
                break
            x = x + v * w
        x = x * 2
    return x


def continue_in_inner(items, x):
    for v in items:
        for w in items:
            if w == v:
                continue
            x = x + v * w
        x = x * 2
    return x


@pytest.mark.parametrize("kind", ["tensor", "list", "dataset"])
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(continue_in_for, id="BRK-1"),
        pytest.param(break_in_for, id="BRK-2"),
        pytest.param(two_breaks, id="BRK-4"),
        pytest.param(break_then_branch, id="BRK-5"),
        pytest.param(break_or_continue, id="BRK-7"),
        pytest.param(break_in_inner, id="BRK-6"),
        pytest.param(continue_in_inner, id="BRK-6-continue"),
    ],
)
def test_jumps_in_a_for(program: Callable[..., Any], kind: str) -> None:
    check(program, *[(items, X) for items in ITEMS[kind]], session=kind == "tensor")


def continue_in_while(n, x):
    while n > 0:
        n = n - 1
        if n % 2 == 0:
            continue
        x = x * 10 + n
    return x


def break_in_while(n, x):
    while n > 0:
        n = n - 1
        if n == 1:
            break
        x = x * 10 + n
    return x, n


@pytest.mark.parametrize("program", [continue_in_while, break_in_while])
def test_jumps_in_a_while(program: Callable[..., Any]) -> None:  # BRK-3
    check(program, *[(tf.constant(n), X) for n in range(5)], session=True)
    check(program, *[(n, X) for n in range(5)], session=True)


def jumps_by_two_inputs(a, b, x):
    while a > 0:
        a = a - 1
        if a > b:
            if a % 2 == 0:
                break
        else:
            x = x + 1
            continue
        x = x * 10 + a
    return x, a


def test_jumps_for_many_inputs() -> None:  # BRK-7
    pairs = itertools.product(range(5), repeat=2)
    check(jumps_by_two_inputs, *[(tf.constant(a), tf.constant(b), X) for a, b in pairs], session=True)


# Guards, contexts, handlers -------------------------------------------------------------------------------------------


def several_guards(items, x):
    asked = []
    for v in items:
        if asks(asked, v > 3, "a"):
            continue
        if asks(asked, v > 1, "b"):
            continue
        x = x + v
    return x, "".join(asked)


def asks(asked, answer, name):
    asked.append(name)
    return answer


def valid_after_the_first_branch(items, x):
    for v in items:
        half = None
        if v % 2 == 0:
            half = v // 2
        if half is None:
            break
        if half > 1:
            break
        x = x + half
    return x


def test_a_guard_is_not_asked_after_a_jump() -> None:  # BRK-8, BRK-9
    check(several_guards, *[(items, X) for items in LISTS], session=False)
    check(valid_after_the_first_branch, ([2, 4, 3], X), ([2, 3], X), session=True)
    check(valid_after_the_first_branch, (tf.constant([2, 4, 3]), X), (tf.constant([2, 3]), X), session=True)


def jumps_in_with(items, x):
    for v in items:
        with tf.name_scope("a"), tf.name_scope("b"):
            if v == 2:
                continue
            with tf.name_scope("c"):
                if v == 4:
                    break
                x = x * 10 + v
            x = x + 1
        x = x * 2
    return x


def jumps_in_own_context(items, x):
    events = []
    for v in items:
        with noted(events, v):
            if v == 2:
                continue
            if v == 4:
                break
            x = x * 10 + v
    return x, events


@contextmanager
def noted(events, v):
    events.append(("in", v))
    try:
        yield
    finally:
        events.append(("out", v))


def jumps_in_finally(items, x):
    for v in items:
        try:
            if v == 2:
                continue
            if v == 4:
                break
            x = x * 10 + v
        finally:
            x = x + 1
    return x


def jumps_in_handlers(items, x):
    for v in items:
        try:
            fails_for_two(v)
        except ValueError:
            continue
        x = x * 10 + v
    return x


def fails_for_two(v):
    if v == 2:
        raise ValueError("two")


def break_in_the_else(n, x):
    for i in range(n):
        for j in range(2):
            x = x + i * j
        else:
            if i == 1:
                break
        x = x * 10
    return x


def test_jumps_leave_contexts_properly() -> None:  # BRK-10, BRK-11
    check(jumps_in_with, *[(items, X) for items in LISTS], session=True)
    check(jumps_in_with, *[(items, X) for items in TENSORS], session=True)
    check(jumps_in_own_context, *[(items, X) for items in LISTS], staged=False, session=False)


def test_finally_runs_on_the_way_out() -> None:  # BRK-12
    check(jumps_in_finally, *[(items, X) for items in LISTS], session=True)
    check(jumps_in_finally, *[(items, X) for items in TENSORS], session=True)


def test_continue_in_a_handler() -> None:  # BRK-13
    check(jumps_in_handlers, *[(items, X) for items in LISTS], session=True)


def test_a_break_in_the_else_of_a_loop_is_the_outer_loops() -> None:  # BRK-14
    check(break_in_the_else, *[(n, X) for n in (0, 1, 2, 3)], session=True)
    check(break_in_the_else, *[(tf.constant(n), X) for n in (0, 1, 3)], session=True)


# Python loops that the graph leaves ----------------------------------------------------------------------------------------


def left_for_by_a_tensor(x):
    total = x
    for k in range(5):
        if total > 7:
            break
        total = total + k
    return total, k


def left_while_by_a_tensor(x):
    k = 0
    while k < 5:
        if x > 7:
            break
        x = x + k
        k += 1
    return x, k


def left_list_by_a_tensor(x, items):
    found = -1
    for position, v in enumerate(items):
        if v == x:
            found = position
            break
    else:
        x = x + 100
    return found, x


def continued_by_a_tensor(x):
    total = x
    for k in (1, 2, 3):
        if total % 2 == 0:
            continue
        total = total + k
    return total


def test_a_python_loop_is_left_by_a_tensor() -> None:  # BRK-15, BRK-16, M1
    values = [(tf.constant(v),) for v in (0, 3, 6, 9)]
    check(left_for_by_a_tensor, *values, session=True)
    check(left_while_by_a_tensor, *values, session=True)
    check(left_list_by_a_tensor, *[(v, [3, 6, 1]) for (v,) in values], session=True)
    check(continued_by_a_tensor, *values, session=True)


def endless_until_a_tensor(x):
    steps = 0
    while True:
        x = x * 2
        steps += 1
        if x > 50:
            break
    return x, steps


def test_a_loop_without_end_is_left_by_a_tensor() -> None:
    check(endless_until_a_tensor, *[(tf.constant(v),) for v in (1, 30, 3)], session=True)


def options_beside_a_break(n):
    v = tf.zeros([1])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        if i == 3:
            break
        v = tf.concat([v, [tf.cast(i, tf.float32)]], 0)
    return v


def test_options_hold_for_a_loop_with_a_break() -> None:  # BRK-17, TYP-15
    check(options_beside_a_break, *[(tf.constant(n),) for n in (0, 1, 6)], session=True)


def break_in_a_long_range(n, x):
    before, count = None, 0
    for i in range(n):
        x = x * 0.5 + i % 3
        count += 1
        if before is not None and abs(before - x) < 0.3:
            break
        before = x
    else:
        count = -count
    return x, before, count, i


def return_in_a_long_range(n, x):
    for i in range(2 * n, 0, -2):
        x = x * 0.9
        if x < 0.5:
            return x, i, True
        if i % 7 == 6:
            continue
        x = x + 0.01
    return x, n, False


def changes_in_a_long_range(counter, n, x):
    for _ in range(n):
        x = x * 0.5
        counter["steps"] += 1
        counter["seen"].append(float(x))
        if x < 1.0:
            break
    return x


@pytest.mark.parametrize("program", [break_in_a_long_range, return_in_a_long_range])
def test_a_long_range_that_the_graph_leaves(program: Callable[..., Any]) -> None:
    # Branch in branch, three hundred iterations would be more than a graph may hold.
    check(program, *[(n, tf.constant(x)) for n in (1, 12, 300) for x in (0.1, 3.0, 40.0)], function=False)


def test_a_long_range_changes_what_is_outside() -> None:
    def given() -> tuple[Any, ...]:
        return {"steps": 0, "seen": []}, 40, tf.constant(100.0)

    check(changes_in_a_long_range, given, state=lambda _: None, function=False)


def prints_in_a_long_range(n, x):
    for i in range(n):
        x = x * 0.5
        if x < 1.0:
            print("done after", i)
            break
    return x


def test_a_long_range_with_prints_is_left_to_python() -> None:
    check(prints_in_a_long_range, (30, tf.constant(9.0)), staged=False, function=False)
