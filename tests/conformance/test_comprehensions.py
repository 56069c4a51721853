"""Comprehensions, generator expressions, `filter` and `map` whose conditions or lengths depend on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

VECTORS = [(tf.constant(values),) for values in ([1.0, -4.0, 2.0], [3.0, 2.0, 5.0], [-1.0, -2.0, -3.0])]
MATRICES = [(tf.constant([values, values[::-1]]),) for values in ([1.0, -4.0, 2.0], [-1.0, -2.0, -3.0])]


# Lists -------------------------------------------------------------------------------------------------------------------


def positive(v):
    return [x for x in v if x > 0.0]


def of_a_longer_tensor(v):
    return [x for x in tf.concat([v] * 4, 0) if x > 0.0]


def flattened(m):
    return [y for row in m if row[0] > -2.0 for y in row if y > 0.0]


def by_rows(m):
    return [[y for y in row if y > 0.0] for row in m]


def of_python_lists(v):
    return [tf.reduce_max(p) for p in [v, v * 2.0, v - 1.0] if tf.reduce_sum(p) > 1.0]


def with_names_of_its_own(v):
    return [y + z for x in v if (y := x * 2.0) > 1.0 if not (z := y - 4.0) > 3.0]


def of_pairs(v):
    return [(x, i, j) for i, (x, j) in enumerate(zip(v, range(3), strict=True)) if x > 0.0]


def filtered(v):
    return list(filter(lambda x: x > 0.0, v)), list(filter(None, v)), tuple(filter(lambda x: x > 0.0, v))


def used_up(v):
    found = filter(lambda x: x > 0.0, v)
    return list(found), list(found)


def in_order(v):
    found = [(x, i) for i, x in enumerate(v) if x > 0.0]
    return sorted(found, key=lambda pair: pair[0], reverse=True), sorted(x for x in v if x > 0.0)


def or_something_else(v):
    return [x for x in v if x > 0.0] or [tf.constant(0.0)]


def joined(v):
    found = [tf.constant(9.0)]
    found.extend(x for x in v if x > 0.0)
    found += [x for x in v if x < 0.0]
    return found + [x for x in v if x > 1.0], [x for x in v if x > 1.0] + found


def shown(v):
    found = [x for x in v if x > 0.0]
    print(found, len(found))
    return len(found)


def prints_its_items(v):
    return [print("item", x.numpy()) or x for x in v if x > 0.0]


@pytest.mark.parametrize(
    "fn",
    [
        positive,
        of_a_longer_tensor,
        of_python_lists,
        with_names_of_its_own,
        of_pairs,
        filtered,
        used_up,
        in_order,
        or_something_else,
        joined,
        prints_its_items,
    ],
)
def test_a_list_whose_length_depends_on_values_is_a_graphs(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS, function=False)


@pytest.mark.parametrize("fn", [flattened, by_rows])
def test_so_is_a_list_of_nested_walks(fn: Callable[..., Any]) -> None:
    check(fn, *MATRICES, function=False)


def test_a_list_of_symbolic_length_is_printed() -> None:
    check(shown, *VECTORS, function=False)


# What reads the items ----------------------------------------------------------------------------------------------------


def counted(v):
    return len([x for x in v if x > 0.0]), sum(1 for x in v if x > 0.0), len([i for i in range(3) if v[i] > 0.0])


def added(v):
    return sum([x * x for x in v if x > 0.0], tf.constant(1.0)), sum(map(lambda x: x * 2.0, v))


def asked(v):
    return any(x > 1.0 for x in v if x > 0.0), all(x > 1.0 for x in v if x > 0.0), any(x > 4.0 for x in v)


def extremes(v):
    small = [x for x in v if x < 100.0]
    return max(small), min(small, key=lambda x: tf.abs(x - 1.0)), max((x for x in v if x > 0.0), default=v[0])


def the_first(v):
    return next((x for x in v if x > 1.0), tf.constant(-1.0))


def walked_over(v):
    total = 0.0
    for i, x in enumerate([x for x in v if x > 0.0]):
        total += x * i
    for x in (x for x in v if x < 0.0):
        total += x
    for x in filter(lambda x: x > 1.0, v):
        total += x
    return total


def stacked(v):
    found = [x for x in v if x > -100.0]
    return tf.stack(found), found[0] + found[-1], tf.reduce_sum(found)


def in_a_loop_of_the_graph(v):
    n = 0
    for t in v:
        n += len([x for x in v if x > t])
    return n


@pytest.mark.parametrize(
    "fn", [counted, added, asked, extremes, the_first, walked_over, stacked, in_a_loop_of_the_graph]
)
def test_what_reads_the_items_does_so_in_the_graph(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS)


def none_or_a_number(v):
    return sum(x for x in v if x > 0.0), next((x for x in v if x > 1.0), None), tuple(x for x in v if x > 0.0)


def test_a_sum_of_nothing_is_an_int_and_no_first_item_the_default() -> None:
    check(none_or_a_number, *VECTORS, function=False)


def of_all_rows(v):
    return sum(x * x for x in v), max(x for x in v), [x for x in v if x > 0.0][-1], len([x * 2.0 for x in v])


@pytest.mark.parametrize("fn", [asked, of_all_rows])
def test_the_first_dimension_may_be_unknown(fn: Callable[..., Any]) -> None:
    spec = [tf.TensorSpec([None], tf.float32)]
    from autoimport import convert

    traced = tf.function(convert(fn), input_signature=spec)
    for (vector,) in VECTORS[:2]:
        assert [float(x) for x in traced(vector)] == [float(x) for x in fn(vector)]


def first_or_error(v):
    return max(x for x in v if x > 0.0), next(x for x in v if x > 0.0)


def test_no_item_is_pythons_error() -> None:
    check(first_or_error, *VECTORS)


# Python's rules ----------------------------------------------------------------------------------------------------------


def closures(v):
    return [f() for f in [lambda: i for i in range(3)]], [x for x in v if x > 0.0]


def names_stay(v):
    x = v[0]
    found = [x for _, x, _ in zip(range(3), v, range(3), strict=True) if x > 0.0]
    return x, len(found)


def python_conditions(v):
    pairs = {"a": v, "b": None}
    return (
        [k for k in pairs if k != "a"],
        [x * 2.0 for x in pairs.values() if x is not None],
        [i for i in range(3) if i],
    )


@pytest.mark.parametrize("fn", [closures, names_stay, python_conditions])
def test_names_and_conditions_of_python_are_pythons(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS, function=False)


def stops_early(v):
    seen = []
    found = any(seen.append(x) is None for x in v if x > 1.0)
    return found, len(seen)


def prints_while_asked(v):
    def is_large(x):
        print("asked", x.numpy())
        return x > 1.0

    return any(is_large(x) for x in v)


def names_outside(v):
    y = 0.0
    return [y for x in v if (y := x * 2.0) > 1.0], y


def strings(v):
    return ["positive" for x in v if x > 0.0]


def keyed(v):
    return {i: x for i, x in enumerate(v) if x > 0.0}


@pytest.mark.parametrize("fn", [stops_early, prints_while_asked, names_outside, strings, keyed])
def test_what_no_list_of_the_graph_can_hold_is_left_to_python(fn: Callable[..., Any]) -> None:
    check(fn, *VECTORS, staged=False, function=False)


def test_strings_under_a_symbolic_condition_are_an_error_in_a_graph_of_the_person() -> None:
    from autoimport import convert

    with pytest.raises(TypeError, match="a str is put into a list of symbolic length"):
        tf.function(convert(strings))(VECTORS[0][0])
