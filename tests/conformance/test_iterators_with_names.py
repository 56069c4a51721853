"""Iterators that a name holds: generator expressions, `map`, `filter`, `zip` and the like give each item once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

VECTORS = [(tf.constant([1.0, 2.0, 3.0]),), (tf.constant([-1.0, 5.0, 0.5]),)]


def positive(values):
    """A vector whose length only the graph knows."""
    return tf.boolean_mask(values, values > -9.0)


def shown(x):
    print("item", float(x))
    return x + 1


# Items are taken when they are asked for ----------------------------------------------------------------------------------


def one_after_the_other(values):
    items = (x * 2 for x in values)
    first = next(items)
    total = 0.0
    for item in items:
        total = total + item
    return first, total, next(items, None) is None, list(items)


def lazily(values):
    items = (shown(x) for x in values)
    print("before")
    first = next(items)
    print("between")
    return first, list(items)


def with_a_condition(values):
    items = (x for x in values if x > 0)
    return sum(items), sum(items)


def of_unknown_length(values):
    items = (x * 2 for x in positive(values))
    total = 0.0
    for item in items:
        total = total + item
    for item in items:
        total = total + item * 100
    return total


def given_to_a_function(values):
    def largest(items):
        best = values[0]
        for item in items:
            if item > best:
                best = item
        return best

    return largest(x * 2 for x in values if x > 0), largest(x for x in positive(values))


def returned_by_a_function(values):
    def parts():
        return (x for x in values if x > 0)

    return sum(parts())


def kept_in_containers(values):
    holder = {"items": (x for x in values)}
    return next(holder["items"]), list(holder["items"])


def one_from_another(values):
    doubled = (x * 2 for x in values)
    added = (x + 1 for x in doubled)
    first = next(added)
    return first, next(doubled), list(added)


def late_names(values):
    factor = values[0]
    items = (x * factor for x in values)
    factor = values[1]
    return list(items)


def looked_through(values):
    items = (x * 2 for x in values)
    return 2 in [k for k, _ in enumerate(items)], iter(items) is items, hasattr(items, "__next__")


def taken_apart(values):
    first, *rest = (x * 2 for x in values)
    return first, rest, [*(x for x in values), first], dict((k, x) for k, x in enumerate(values))


@pytest.mark.parametrize(
    "fn",
    [
        one_after_the_other,
        lazily,
        with_a_condition,
        of_unknown_length,
        given_to_a_function,
        returned_by_a_function,
        kept_in_containers,
        one_from_another,
        late_names,
        looked_through,
        taken_apart,
    ],
)
def test_a_generator_expression_with_a_name(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS)


# ... and once ---------------------------------------------------------------------------------------------------------


def zipped(values):
    pairs = zip(values, values * 2)
    return list(pairs), list(pairs)


def enumerated(values):
    items = enumerate(values)
    first = next(items)
    return first, list(items), list(items)


def backwards(values):
    items = reversed(values)
    return list(items), list(items)


def zipped_with_a_list(values):
    pairs = zip(values, [1, 2, 3])
    return list(pairs), list(pairs)


def mapped_and_filtered(values):
    doubled, some = map(lambda x: x * 2, values), filter(lambda x: x > 0, values)
    return next(doubled), list(doubled), list(doubled), sum(some), sum(some)


def in_two_loops(values):
    pairs, total = zip(values, values), 0.0
    for a, _ in pairs:
        total = total + a
    for _, b in pairs:
        total = total + b * 100
    return total


def of_unknown_length_in_two_loops(values):
    pairs, items, total = zip(positive(values), values), enumerate(positive(values)), 0.0
    for a, _ in pairs:
        total = total + a
    for _, b in pairs:
        total = total + b * 100
    for _, x in items:
        total = total + x
    for _, x in items:
        total = total + x * 100
    return total, len(list(items))


def range_backwards_in_two_loops(values):
    places, total = reversed(range(tf.size(values))), 0
    for place in places:
        total = total + place
    for place in places:
        total = total + place * 100
    return total


@pytest.mark.parametrize(
    "fn",
    [
        zipped,
        enumerated,
        backwards,
        zipped_with_a_list,
        mapped_and_filtered,
        in_two_loops,
        of_unknown_length_in_two_loops,
        range_backwards_in_two_loops,
    ],
)
def test_an_iterator_gives_its_items_once(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS)


# Where only the graph knows how many were taken -----------------------------------------------------------------------------


def advanced_in_a_branch(values):
    items = (x * 2 for x in values)
    first = values[0]
    if values[0] > 0:
        first = next(items)
    return first, list(items)


def advanced_in_a_loop(values):
    items = iter([values[0], values[1], values[2]])
    total = values[0]
    for _ in tf.range(2):
        total = total + next(items)
    return total


def advanced_by_a_function(values):
    def first_of(items):
        return next(items)

    items = map(lambda x: x + 1, values)
    found = values[0]
    if values[0] > 0:
        found = first_of(items)
    return found, list(items)


def walked_through_in_a_loop(values):
    items, total = enumerate(values), values[0]
    for _ in tf.range(2):
        for _, x in items:
            total = total + x
    return total


def generators():
    yield from range(3)


def advanced_in_the_branch_that_made_it(values):
    total = values[0]
    if values[0] > 0:
        items = (x * 2 for x in values)
        numbers = generators()
        total = next(items) + next(items) + next(numbers) + next(numbers)
    return total


def left_by_any(values):
    items = (x > 0 for x in values)
    return any(items), len(list(items))


def left_by_all_of_an_iterator(values):
    items = iter([values[0] > 0, values[1] > 0, values[2] > 0])
    return all(items), len(list(items))


def left_behind_another(values):
    items = (x for x in values)
    return any(x > 0 for x in items), len(list(items))


def left_by_a_break(values):
    pairs, total = zip(values, values), 0.0
    for x, _ in pairs:
        total = total + x
        if x > 0:
            break
    return total, len(list(pairs))


def left_by_a_function(values):
    def first_of(items):
        for item in items:
            if item > 0:
                return item
        return values[0]

    items = (x for x in values)
    return first_of(items), len(list(items))


def left_by_in(values):
    items = (float(x) for x in values)
    return 2.0 in items, len(list(items))


def left_for_good(values):
    pairs, total = zip(values, values), 0.0
    for x, _ in pairs:
        total = total + x
        if x > 0:
            break
    return total, any(x > 0 for x in values), all(k < 3 for k, _ in enumerate(values))


@pytest.mark.parametrize(
    "fn",
    [
        advanced_in_a_branch,
        advanced_in_a_loop,
        advanced_by_a_function,
        walked_through_in_a_loop,
        left_by_any,
        left_by_all_of_an_iterator,
        left_behind_another,
        left_by_a_break,
        left_by_a_function,
        left_by_in,
    ],
)
def test_how_many_items_are_left_has_to_be_known(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS, staged=False, function=TypeError)


@pytest.mark.parametrize("fn", [advanced_in_the_branch_that_made_it, left_for_good])
def test_an_iterator_that_nobody_uses_any_more(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS)


def returned(values):
    return len(list(handed_on(values)))


def handed_on(values):
    return zip(values, values)


def test_an_iterator_is_not_handed_out() -> None:
    check(returned, *VECTORS)
