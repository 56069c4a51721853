"""Lists whose length only the graph knows: every method and operator of Python's lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

COUNTS = [(tf.constant(n),) for n in (4, 0, 1)]


def squares(n):
    items = []
    for i in tf.range(n):
        items.append(i * i)
    return items


def vectors(n):
    """Items without a fixed shape."""
    items = []
    for i in tf.range(n):
        items.append(tf.range(i))
    return items


def seen(items):
    """What can be compared in every kind of graph: the items in one number, and how many there are."""
    total, count = tf.constant(0), 0
    for x in items:
        count += 1
        total = total * 10 + x
    return total, count


def joined(items):
    total = tf.constant([7])
    for x in items:
        total = tf.concat([total, x, [9]], 0)
    return total


# Questions --------------------------------------------------------------------------------------------------------------


def membership(n):
    items = squares(n)
    return 4 in items, n - 1 in items, tf.constant(9) not in items


def equality(n):
    items = squares(n)
    return items == squares(n), items != squares(n), items == squares(n + 1), squares(n + 1) != items


def equality_with_a_list_of_known_length(n):
    items = squares(n)
    return items == [0, 1, 4, 9], [0, 1, 4, 9] != items, items == [], items == [tf.constant(0)]


def equality_with_other_things(n):
    items = squares(n)
    return items == None, items != 3, items == (0, 1, 4, 9), tuple(items) == (0,), tuple(items) == items  # noqa: E711


def order(n):
    items = squares(n)
    return items < squares(n + 1), items <= squares(n), items > [0, 1, 2], items >= [0, 1, 5, 0, 0]


def counts_and_places(n):
    items = squares(n + 1)
    return items.count(1), items.count(n), items.index(n * n), items.index(0), squares(n + 3).index(4, 1)


def truth_and_reductions(n):
    items = squares(n + 1)
    return bool(items), min(items), max(items), sum(items), any(items), all(items), len(items)


@pytest.mark.parametrize(
    "fn",
    [
        membership,
        equality,
        equality_with_a_list_of_known_length,
        equality_with_other_things,
        order,
        counts_and_places,
        truth_and_reductions,
    ],
)
def test_questions_about_a_list(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS)


# Changes ----------------------------------------------------------------------------------------------------------------


def deleted_items(n):
    items, others, more = squares(n + 2), squares(n + 2), squares(n + 2)
    del items[1]
    del others[-1]
    del more[n]
    return seen(items), seen(others), seen(more)


def deleted_slices(n):
    items, others, more, last = squares(n + 2), squares(n + 2), squares(n + 2), squares(n)
    del items[1:3]
    del others[:n]
    del more[::-2]
    del last[:]
    return seen(items), seen(others), seen(more), seen(last)


def popped(n):
    items = squares(n + 2)
    first, middle, last = items.pop(0), items.pop(n), items.pop() if n > 0 else n
    return first, middle, last, seen(items)


def popped_until_empty(n):
    items, total = squares(n), tf.constant(0)
    while items:
        total = total * 3 + items.pop(0)
    return total


def inserted(n):
    items = squares(n)
    items.insert(0, n)
    items.insert(100, n * 2)
    items.insert(-1, n * 3)
    items.insert(n, n * 4)
    return seen(items)


def removed(n):
    items = squares(n + 2)
    items.remove(1)
    return seen(items)


def reversed_and_sorted(n):
    items, others, more = squares(n), squares(n), squares(n)
    items.reverse()
    others.sort(reverse=True)
    more.sort(key=lambda x: -x)
    return seen(items), seen(others), seen(more), seen(sorted(more)), seen(list(reversed(more)))


def cleared_and_copied(n):
    items, others = squares(n), squares(n)
    copied, sliced = others.copy(), others[:]
    items.clear()
    items.append(n)
    copied.append(n)
    sliced.extend(squares(n))
    return seen(items), seen(others), seen(copied), seen(sliced)


def repeated(n):
    items, same = squares(n), squares(n)
    also = same
    same *= 2
    return seen(items * 3), seen(2 * items), seen(items * 0), seen(items * -1), seen(also), same is also


def repeated_by_a_symbolic_number(n):
    items, often = squares(n), 0
    for _ in tf.range(n):
        often += 1
    return seen(items * often)


def slices_by_symbolic_bounds(n):
    items = squares(n + 3)
    return seen(items[n:]), seen(items[:n]), seen(items[n - 1 : n + 1]), seen(items[-n:]), seen(items[n::-1])


def slices_by_numbers(n):
    items = squares(n)
    return seen(items[1:]), seen(items[:-1]), seen(items[::2]), seen(items[::-2]), seen(items[5:1]), seen(items[-3:9])


def stored_slices(n):
    items, others, more = squares(n + 2), squares(n + 2), squares(n + 2)
    items[1:3] = [n, n, n]
    others[n:] = [n]
    more[:1] = squares(n)
    return seen(items), seen(others), seen(more)


def stored_steps(n):
    items = squares(n * 0 + 4)
    items[::2] = [n, n + 1]
    return seen(items)


def augmented_items(n):
    items = squares(n + 1)
    items[0] += n
    items[-1] *= 2
    return seen(items)


def items_of_any_shape(n):
    items = vectors(n + 2)
    del items[0]
    items.insert(1, tf.constant([5]))
    items.reverse()
    return joined(items), joined(items[:-1]), joined(items * 2), items.pop(0), joined(items)


@pytest.mark.parametrize(
    "fn",
    [
        deleted_items,
        deleted_slices,
        popped,
        popped_until_empty,
        inserted,
        removed,
        reversed_and_sorted,
        cleared_and_copied,
        repeated,
        repeated_by_a_symbolic_number,
        slices_by_symbolic_bounds,
        slices_by_numbers,
        stored_slices,
        stored_steps,
        augmented_items,
        items_of_any_shape,
    ],
)
def test_changes_of_a_list(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS)


# Taken apart ------------------------------------------------------------------------------------------------------------


def displays(n):
    items = squares(n)
    return seen([*items, n]), seen([n, *items, *squares(n), *[n, n]]), seen((*items, n)), seen((n, *items))


def unpacked(n):
    a, b = squares(n * 0 + 2)
    first, *rest = squares(n + 1)
    *front, last = squares(n + 1)
    return a, b, first, seen(rest), seen(front), last


def concatenated(n):
    items = squares(n)
    same = items
    items += squares(n)
    items += [n]
    return seen(items), seen(same), seen(items + [n]), seen([n] + items), seen(tuple(items) + (n,))


@pytest.mark.parametrize("fn", [displays, unpacked, concatenated])
def test_lists_are_taken_apart_and_joined(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS)


def doubled_as_a_tensor(n):
    return squares(n) * n, tf.constant(3) + squares(n)


def test_a_tensor_makes_a_tensor_of_a_list() -> None:
    check(doubled_as_a_tensor, COUNTS[0])


# What Python refuses ------------------------------------------------------------------------------------------------------


def deleted_outside(n):
    items = squares(n)
    del items[3]
    return seen(items)


def popped_outside(n):
    items = squares(n)
    return items.pop(3), seen(items)


def removed_in_vain(n):
    items = squares(n)
    items.remove(9)
    return seen(items)


def looked_for_in_vain(n):
    return squares(n).index(9)


def unpacked_into_too_few(n):
    a, b, c, d = squares(n)
    return a + b + c + d


def steps_of_another_length(n):
    items = squares(n)
    items[::2] = [n, n]
    return seen(items)


@pytest.mark.parametrize(
    "fn",
    [
        deleted_outside,
        popped_outside,
        removed_in_vain,
        looked_for_in_vain,
        unpacked_into_too_few,
        steps_of_another_length,
    ],
)
def test_what_python_raises_is_raised(fn: Callable[..., Any]) -> None:
    check(fn, *COUNTS)


def given_to_a_function(n):
    def count(*items):
        return len(items)

    return count(*squares(n))


def test_a_call_wants_to_know_how_many_arguments_there_are() -> None:
    check(given_to_a_function, *COUNTS, staged=False, function=TypeError)
