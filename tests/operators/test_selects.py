"""Small branches that cannot fail run both, and their outputs are selected; all others stay branches of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import observer
from tests.operators.ways import Watcher, in_trace, same

X = tf.constant([3.0, -2.0])
N = tf.constant(7, tf.int64)


def kinds(fn: Callable[..., Any], *args: Any, watcher: observer.Observer | None = None) -> set[str]:
    """The types of the operations that a trace of `fn(*args)` has, outside branches."""

    def body(*xs: Any) -> Any:
        before = observer.observe(watcher or Watcher())
        try:
            return fn(*xs)
        finally:
            observer.observe(before)

    graph = tf.function(body, autograph=False).get_concrete_function(*args).graph
    return {op.type for op in graph.get_operations()}


def halve_or_triple(n: Any) -> Any:
    return ops.if_exp(tf.equal(n % 2, 0), lambda: n // 2, lambda: ops.if_exp(n > 5, lambda: 3 * n + 1, lambda: n))


def test_branches_in_branches_become_selects() -> None:
    assert {"If", "StatelessIf"}.isdisjoint(kinds(halve_or_triple, N))
    for n in (7, 8, 3):
        assert same(halve_or_triple, tf.constant(n, tf.int64)) == (n // 2 if n % 2 == 0 else 3 * n + 1 if n > 5 else n)


def test_what_both_branches_leave_as_it_is_needs_no_select() -> None:
    assert "Select" not in kinds(lambda x: ops.if_exp(x[0] > 0, lambda: x, lambda: x), X)


@pytest.mark.parametrize("value", [[1.0, -1.0], [-0.0, 0.0], [np.inf, np.nan], [np.nan, -np.inf], [-3.4e38, 1e-45]])
def test_the_bits_of_the_branch_taken_come_out(value: list[float]) -> None:
    def fn(x: Any) -> Any:
        return ops.if_exp(x[0] > 0, lambda: tf.sqrt(x) * x, lambda: -x / tf.reduce_sum(x))

    x = tf.constant(value)
    assert in_trace(fn, x).tobytes() == fn(x).numpy().tobytes()
    assert "Select" in kinds(fn, x)


def test_values_from_around_the_outer_graph_are_found() -> None:
    outside = tf.constant(5, tf.int64)

    def fn(n: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            return i + 1, ops.if_exp(i < n, lambda: total + outside * n, lambda: total - outside)

        return tf.while_loop(lambda i, _: i < 9, body, [tf.constant(0, tf.int64), tf.constant(0, tf.int64)])[1]

    assert in_trace(fn, N) == 7 * 5 * 7 - 2 * 5


def test_reductions_along_known_axes_are_selected() -> None:
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])

    def fn(x: Any) -> Any:
        return ops.if_exp(x[0, 0] > 0, lambda: tf.reduce_max(x, axis=1), lambda: tf.reduce_mean(x, axis=[0]))

    assert "Select" in kinds(fn, x)
    assert [same(fn, x), same(fn, -x)] == [[1.0, 4.0], [-2.0, -1.0]]


KEPT = {
    "an integer division by a tensor": lambda n: ops.if_exp(n > 0, lambda: n // (n - 7), lambda: n),
    "an integer division by a constant 0": lambda n: ops.if_exp(n < 0, lambda: n // 0, lambda: n),
    "an integer mean, perhaps of nothing": lambda n: ops.if_exp(n > 0, lambda: tf.reduce_mean(tf.stack([n, 1])), lambda: n),
    "an axis that is not known": lambda n: ops.if_exp(
        n > 0, lambda: tf.reduce_sum(n, axis=tf.cast(n, tf.int32), keepdims=True), lambda: n
    ),
    "a check": lambda n: ops.if_exp(n > 0, lambda: tf.debugging.check_numerics(tf.cast(n, tf.float32), "no"), lambda: 1.0),
    "an index": lambda n: ops.if_exp(n > 0, lambda: tf.gather(X, n - 6), lambda: X[0]),
    "a random number": lambda n: ops.if_exp(n > 0, lambda: tf.random.uniform([]), lambda: 0.0),
    "a large tensor": lambda n: ops.if_exp(n > 0, lambda: tf.zeros([1000]) + 1.0, lambda: tf.ones([1000])),
    "shapes that differ": lambda n: ops.if_exp(n > 0, lambda: X, lambda: tf.zeros([3])),
    "much to do": lambda n: ops.if_exp(n > 0, lambda: sum([n * k for k in range(20)]), lambda: n),
    "strings": lambda n: ops.if_exp(n > 0, lambda: tf.constant("a"), lambda: tf.constant("b")),
    "another device": lambda n: ops.if_exp(n > 0, lambda: on_cpu(n), lambda: n),
}  # fmt: skip


def on_cpu(n: Any) -> Any:
    with tf.device("/CPU:0"):
        return n + 1


@pytest.mark.parametrize("fn", KEPT.values(), ids=KEPT)
def test_branches_stay_where_their_run_could_be_told(fn: Callable[..., Any]) -> None:
    assert {"If", "StatelessIf"} & kinds(fn, N)


def test_a_variable_is_read_in_the_branch_taken() -> None:
    variable = tf.Variable(1, dtype=tf.int64)
    assert "If" in kinds(lambda n: ops.if_exp(n > 0, lambda: variable + 1, lambda: n), N)


def test_the_trace_may_refuse_selects_of_floats() -> None:
    class Recording(Watcher):
        def selects(self, of_floats: bool) -> bool:
            return not of_floats

    def floats(x: Any) -> Any:
        return ops.if_exp(x[0] > 0, lambda: x, lambda: -x)

    assert "StatelessIf" in kinds(floats, X, watcher=Recording())
    assert "StatelessIf" not in kinds(halve_or_triple, N, watcher=Recording())


def test_graphs_of_the_person_keep_their_branches() -> None:
    graph = tf.function(halve_or_triple, autograph=False).get_concrete_function(N).graph
    assert "StatelessIf" in {op.type for op in graph.get_operations()}
