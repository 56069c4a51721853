"""Types and shapes of loop variables: what Python lets change may change; what the person declares is held."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

X = tf.constant(2)
COUNTS = [(n, X) for n in (0, 1, 3)] + [(tf.constant(n), X) for n in (0, 1, 3)]
ITEMS = {
    "tensor": [tf.range(n) for n in (0, 1, 3)],
    "dataset": [tf.data.Dataset.from_tensor_slices(tf.range(n)) for n in (0, 1, 3)],
}


# Dtypes -------------------------------------------------------------------------------------------------------------------


def dtype_changes(n, x):
    while n > 0:
        x = tf.cast(x, tf.float32) / 2
        n = n - 1
    return x


def dtype_changes_before_a_break(n, x):
    while n > 0:
        x = tf.cast(x, tf.float32) / 2
        break
    return x


def dtype_changes_in_a_for(items, x):
    for v in items:
        x = tf.cast(x, tf.float32) / tf.cast(v + 1, tf.float32)
    return x


def dtype_changes_in_a_for_before_a_break(items, x):
    for v in items:
        x = tf.cast(x + v, tf.float32)
        break
    return x


def test_a_dtype_that_an_iteration_changes() -> None:  # TYP-1, TYP-2, T2
    for program in (dtype_changes, dtype_changes_before_a_break):
        check(program, *[(n, X) for n in (0, 1, 3)], session=True)
        check(program, *[(tf.constant(n), X) for n in (1, 3)])
        check(program, *[(tf.constant(n), X) for n in (0, 1, 3)], function=False)


@pytest.mark.parametrize("kind", list(ITEMS))
def test_a_dtype_that_a_for_changes(kind: str) -> None:  # TYP-3, TYP-4
    staged = kind in ("tensor", "dataset")
    check(dtype_changes_in_a_for, *[(items, X) for items in ITEMS[kind][1:]], staged=staged)
    check(dtype_changes_in_a_for, (ITEMS[kind][0], X), staged=staged, function=kind == "tensor")
    # Behind the break there would be an iteration that adds an int to a float.
    check(dtype_changes_in_a_for_before_a_break, *[(items, X) for items in ITEMS[kind]], staged=staged, function=False)


def python_number_changes_its_type(n, x):
    scale = 1
    while n > 0:
        scale = scale / 2
        n = n - 1
    return scale


def python_number_used_afterwards(n, x):
    scale = 1
    while n > 0:
        scale = scale / 2
        n = n - 1
    return tf.cast(x, tf.float32) * scale


def accumulated_from_zero(n, x):
    total = 0
    while n > 0:
        total = total + tf.cast(x, tf.float32) / 3
        n = n - 1
    return total


def half_added(n, x):
    y = 1
    while n > 0:
        y = y + 0.5
        n = n - 1
    return y


def test_a_python_number_changes_its_type() -> None:  # TYP-20, T2, T8
    for program in (python_number_changes_its_type, python_number_used_afterwards, half_added):
        check(program, *COUNTS, session=True)
    check(accumulated_from_zero, *[(n, X) for n in (0, 1, 3)], session=True)
    check(accumulated_from_zero, *[(tf.constant(n), X) for n in (1, 3)], session=True)
    check(accumulated_from_zero, (tf.constant(0), X), session=True)


def python_number_stays(n, x):
    steps, rate, flag = 0, 1.0, False
    while n > 0:
        steps += 1
        rate = rate * 0.5
        flag = steps > 2
        n = n - 1
    return steps, rate, flag


def test_python_numbers_stay_python_numbers() -> None:  # TYP-20, T8
    check(python_number_stays, *COUNTS, session=True)


# Shapes -------------------------------------------------------------------------------------------------------------------


def vector_grows(n, x):
    v = tf.zeros([1])
    while n > 0:
        v = tf.concat([v, [1.0]], 0)
        n = n - 1
    return v


def shape_becomes_unknown(n, x):
    v = tf.constant([1, 2, 3])
    while n > 0:
        v = tf.boolean_mask(v, v > x - 1)
        n = n - 1
    return v


def rank_changes(n, x):
    v = x
    while n > 0:
        v = tf.stack([v, v])
        n = n - 1
    return v


def vector_grows_in_a_for(items, x):
    v = tf.zeros([0], tf.int32)
    for i in items:
        v = tf.concat([v, [i * x]], 0)
    return v


def matrix_grows_in_both(n, x):
    m = tf.ones([1, 1])
    while n > 0:
        m = tf.concat([m, m], 0)
        m = tf.concat([m, m * 2], 1)
        n = n - 1
    return m


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(vector_grows, id="TYP-5,T3"),
        pytest.param(shape_becomes_unknown, id="TYP-8"),
        pytest.param(rank_changes, id="T3-rank"),
        pytest.param(matrix_grows_in_both, id="TYP-12-undeclared"),
    ],
)
def test_a_shape_that_changes(program: Callable[..., Any]) -> None:
    check(program, *COUNTS, session=True)


@pytest.mark.parametrize("kind", list(ITEMS))
def test_a_shape_that_changes_in_a_for(kind: str) -> None:  # TYP-6, TYP-7
    check(vector_grows_in_a_for, *[(items, X) for items in ITEMS[kind]], staged=kind in ("tensor", "dataset"))


# Declared shapes ------------------------------------------------------------------------------------------------------------


def declared_vector(n, x):
    v = tf.zeros([0], tf.int32)
    while n > 0:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [x]], 0)
        n = n - 1
    return v


def declared_matrix(items, x):
    rows, columns, both = tf.ones([1, 2]), tf.ones([2, 1]), tf.ones([1, 1])
    for _ in items:
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[
                (rows, tf.TensorShape([None, 2])),
                (columns, tf.TensorShape([2, None])),
                (both, tf.TensorShape([None, None])),
            ]
        )
        rows = tf.concat([rows, rows], 0)
        columns = tf.concat([columns, columns], 1)
        both = tf.concat([both, both], 0)
        both = tf.concat([both, both], 1)
    return rows, columns, both


def declared_in_a_branch(n, x):
    if x > 1:
        v = tf.zeros([2], tf.int32)
        while n > 0:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
            v = tf.concat([v, [x]], 0)
            n = n - 1
    else:
        v = tf.zeros([1], tf.int32)
    return v


Pair = namedtuple("Pair", ["a", "b"])


def declared_beside_a_namedtuple(n, x):
    v, pair = tf.zeros([0], tf.int32), Pair(x, {"c": x})
    while n > 0:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [pair.a]], 0)
        pair = Pair(pair.a + 1, {"c": pair.b["c"] * 2})
        n = n - 1
    return v, pair


def declared_sparse(n, x):
    s = tf.SparseTensor(indices=[[0]], values=[x], dense_shape=[4])
    while n > 0:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(s, tf.TensorShape([None]))])
        s = tf.SparseTensor(
            indices=tf.concat([s.indices, [[tf.cast(n, tf.int64)]]], 0),
            values=tf.concat([s.values, [x]], 0),
            dense_shape=[4],
        )
        n = n - 1
    return s.values, s.indices


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(declared_vector, id="TYP-11"),
        pytest.param(declared_in_a_branch, id="TYP-13"),
        pytest.param(declared_beside_a_namedtuple, id="TYP-14"),
        pytest.param(declared_sparse, id="TYP-16"),
    ],
)
def test_a_declared_shape(program: Callable[..., Any]) -> None:
    check(program, *COUNTS, session=True)


@pytest.mark.parametrize("kind", list(ITEMS))
def test_a_declared_shape_in_a_for(kind: str) -> None:  # TYP-11, TYP-12, T9
    check(declared_matrix, *[(items, X) for items in ITEMS[kind]], staged=kind in ("tensor", "dataset"))


def declared_for_one_of_two(n):
    v, pair = tf.zeros([0], tf.int64), (tf.constant(0, tf.int64), {"w": tf.zeros([0], tf.int64)})
    for i in iter(tf.data.Dataset.range(n)):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [i]], 0)
        pair = (pair[0] + i, {"w": tf.concat([pair[1]["w"], [i]], 0)})
    return v, pair


def declared_and_first_set_in_the_loop(n, x):
    while n > 0:
        tf.autograph.experimental.set_loop_options(maximum_iterations=5)
        v = tf.fill([n], x)
        n = n - 1
    return v


def declared_but_broken(n, x):
    v = tf.zeros([1])
    while n > 0:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([1]))])
        v = tf.concat([v, [1.0]], 0)
        n = n - 1
    return v


def options_not_at_the_start(n, x):
    v = tf.zeros([0], tf.int32)
    while n > 0:
        v = tf.concat([v, [x]], 0)
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        n = n - 1
    return v


def options_outside(n, x):
    tf.autograph.experimental.set_loop_options(maximum_iterations=3)
    return x * n


def test_a_declared_shape_of_one_variable_in_a_loop_over_an_iterator() -> None:  # TYP-17
    check(declared_for_one_of_two, *[(tf.constant(n, tf.int64),) for n in (0, 3)], staged=False)


def test_options_beside_a_name_first_set_in_the_loop() -> None:  # TYP-18
    check(declared_and_first_set_in_the_loop, (tf.constant(3), X), session=True)


def test_a_declared_shape_is_relaxed_where_the_loop_needs_it() -> None:  # TYP-9
    check(declared_but_broken, *COUNTS, session=True)


def test_options_elsewhere_do_no_harm() -> None:  # TYP-19, O1
    check(options_not_at_the_start, *COUNTS, session=True)
    check(options_outside, *COUNTS, session=True)


# Structures ---------------------------------------------------------------------------------------------------------------


def structure_changes(n, x):
    v = {"a": x}
    while n > 0:
        v = x if n > 100 else x + 1
        n = n - 1
    return v


def list_grows(n, x):
    items = [x]
    while n > 0:
        items.append(items[-1] * 2)
        n = n - 1
    return items[-1], len(items)


def test_a_structure_that_changes() -> None:  # TYP-10, T4
    check(structure_changes, *[(n, X) for n in (0, 1, 3)])
    check(structure_changes, (tf.constant(1), X), (tf.constant(3), X))
    check(structure_changes, (tf.constant(0), X), function=False)
    check(list_grows, *COUNTS, session=True)


# Containers that an iteration makes, changes, and puts into others ----------------------------------------------------------


def same_with(beam, x):
    same = dict(beam)
    same["score"] = same["score"] + x
    return same


def dicts_in_a_list_of_each_iteration(items, x):
    beam = {"score": x, "length": tf.constant([1])}
    counts = {"seen": 0}
    for v in items:
        counts["seen"] += 1
        if v == 1:
            beam["score"] = beam["score"] * 2
            continue
        candidates = [same_with(beam, v)]
        for k in tf.range(v):
            if k == 1:
                continue
            candidates.append(same_with(beam, k))
        beam = {key: tf.concat([c[key] for c in candidates], 0)[:3] for key in beam}
    return beam, counts


def kept_dict_in_a_list_of_each_iteration(items, x):
    kept = {"score": x}
    for v in items:
        holders = [kept]
        for k in tf.range(v):
            holders[0]["score"] = holders[0]["score"] + k
    return kept


def test_dicts_that_an_iteration_makes_and_holds_in_a_list() -> None:
    for program in (dicts_in_a_list_of_each_iteration, kept_dict_in_a_list_of_each_iteration):
        check(program, *[(tf.range(n), tf.constant([2])) for n in (0, 1, 4)])
