"""Lists, dicts and objects in lists of symbolic length: each is one object, wherever it is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

COUNTS = [(tf.constant(n),) for n in (2, 4)]


def rows_of(n):
    rows = []
    for i in tf.range(n):
        rows.append([i, i + 1])
    return rows


def stored_in_an_item(n):
    rows = rows_of(n)
    rows[0][1] = n * 10
    return rows[0][1], rows


def appended_to_an_item(n):
    rows = rows_of(n)
    rows[0].append(n * 10)
    return len(rows[0])


def changed_by_another_name(n):
    rows = rows_of(n)
    row = rows[0]
    row[1] = n * 10
    return rows[0][1]


def changed_in_a_loop(n):
    rows = rows_of(n)
    for row in rows:
        row[0] = row[0] + 1
    return rows[0][0]


def changed_behind_a_comprehension(n):
    rows = [[i, i] for i in tf.range(n)]
    for row in rows:
        row.append(n)
    return len(rows[0])


def key_of_an_item(n):
    rows = []
    for i in tf.range(n):
        rows.append({"a": i})
    rows[0]["a"] = n * 10
    return rows[0]["a"]


def changed_behind_the_loop(n):
    rows = []
    last = [n, n]
    for i in tf.range(n):
        last = [i, i]
        rows.append(last)
    last[0] = n * 100
    return rows[-1][0]


def one_in_each_iteration(n):
    rows = []
    only = [n, n]
    for _ in tf.range(n):
        rows.append(only)
    only[0] = n * 100
    return rows[-1][0]


def changed_in_the_iteration(n):
    rows = []
    for i in tf.range(n):
        row = [i, i]
        rows.append(row)
        row[0] = i + 7
    return rows[0][0]


def appended_twice(n):
    rows = []
    for i in tf.range(n):
        row = [i, i]
        rows.append(row)
        rows.append(row)
    rows[0][0] = n * 100
    return rows[1][0]


def changed_behind_a_loop_of_known_length(n):
    rows = []
    last = [n, n]
    for i in tf.range(3):
        last = [i, n]
        rows.append(last)
    rows[2][0] = n * 50
    return last[0]


def changed_behind_a_branch(n):
    row = [n]
    rows = [row]
    if n > 3:
        rows.append([n * 2])
    row[0] = n * 100
    return rows[0][0]


def compared_by_identity(n):
    rows = rows_of(n)
    return rows[0] is rows[0]


@pytest.mark.parametrize(
    "fn",
    [
        stored_in_an_item,
        appended_to_an_item,
        changed_by_another_name,
        changed_in_a_loop,
        changed_behind_a_comprehension,
        key_of_an_item,
        changed_behind_the_loop,
        one_in_each_iteration,
        changed_in_the_iteration,
        appended_twice,
        changed_behind_a_loop_of_known_length,
        changed_behind_a_branch,
        compared_by_identity,
    ],
)
def test_an_item_that_is_changed_is_no_copy(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS, staged=False, function=TypeError)


def list_and_item(n):
    rows = rows_of(n)
    return rows, rows[0]


def one_object_as_all_items(n):
    rows = []
    only = [n, n]
    for _ in tf.range(n):
        rows.append(only)
    return rows


def put_into_a_longer_list(n):
    rows = rows_of(n)
    only = [n, n]
    for _ in tf.range(n):
        rows.append(only)
    return rows


class Holder:
    """What keeps an item."""

    row = None


HOLDER = Holder()


def kept_and_returned(n):
    rows = rows_of(n)
    HOLDER.row = rows[0]
    return rows[0]


@pytest.mark.parametrize("fn", [list_and_item, one_object_as_all_items, put_into_a_longer_list, kept_and_returned])
def test_what_may_be_one_object_is_not_handed_out_as_two(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS, staged=False, function=False)


def last_states(n):
    state = [tf.zeros([2]), tf.ones([2])]
    states = []
    for _ in tf.range(n):
        state = [state[0] + 1.0, state[1] * 2.0]
        states.append(state)
    return state, len(states)


def changed_before_the_append(n):
    rows = []
    if n > 3:
        row = [n]
        row[0] = n * 7
        rows.append(row)
    return len(rows)


def rows_of_known_number(n):
    rows = []
    for i in tf.range(3):
        rows.append([i, n])
    rows[1][0] = n * 50
    return rows


@pytest.mark.parametrize("fn", [last_states, changed_before_the_append, rows_of_known_number])
def test_items_that_nobody_else_changes_are_in_the_graph(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS)


@pytest.mark.parametrize("fn", [rows_of])
def test_a_list_is_handed_out_with_its_items(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS, function=False)


# Lists of symbolic length in lists of symbolic length -------------------------------------------------------------------------


def triangle(n):
    rows = []
    for i in tf.range(n):
        row = []
        for j in tf.range(i + 1):
            row.append(i * 10 + j)
        rows.append(row)
    return rows


def walked(n):
    rows, total, count = triangle(n), n * 0, 0
    for row in rows:
        for x in row:
            total = total * 2 + x
            count += 1
    return total, count, len(rows)


def indexed(n):
    rows = triangle(n + 2)
    return (
        len(rows[0]),
        len(rows[-1]),
        rows[1][0],
        rows[-1][-1],
        rows[0] == [0],
        [0] in rows,
        triangle(n) == triangle(n),
    )


def in_structures(n):
    rows, total = [], 0.0
    for i in tf.range(n):
        row = []
        for j in tf.range(i):
            row.append((j, {"half": tf.cast(j, tf.float32) / 2.0}))
        rows.append((i, row))
    for i, row in rows:
        for _, parts in row:
            total = total * 2 + parts["half"] * tf.cast(i, tf.float32)
    return total


def three_deep(n):
    cubes, total = [], n * 0
    for i in tf.range(n):
        square = []
        for j in tf.range(i):
            row = []
            for k in tf.range(j):
                row.append(k + 1)
            square.append(row)
        cubes.append(square)
    for square in cubes:
        for row in square:
            for x in row:
                total = total * 2 + x
    return total


def gradient(n):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows, total = [], x * 0
        for i in tf.range(n):
            row = []
            for j in tf.range(i + 1):
                row.append(x * tf.cast(j + i, tf.float32))
            rows.append(row)
        for row in rows:
            for y in row:
                total = total + y * y
    return tape.gradient(total, x)


@pytest.mark.parametrize("fn", [walked, indexed, in_structures, three_deep, gradient])
def test_lists_that_grow_are_items_of_lists_that_grow(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS, (tf.constant(0),))


@pytest.mark.parametrize("fn", [triangle])
def test_lists_in_lists_are_handed_out(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS, (tf.constant(0),), function=False)


def row_changed_afterwards(n):
    rows = triangle(n)
    rows[0].append(n)
    return len(rows[0])


def one_row_that_grows(n):
    rows, row = [], []
    for i in tf.range(n):
        row.append(i)
        rows.append(row)
    return len(rows[0])


@pytest.mark.parametrize("fn", [row_changed_afterwards, one_row_that_grows])
def test_a_list_in_a_list_is_no_copy(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS, staged=False, function=TypeError)
