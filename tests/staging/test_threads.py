"""Launches without the runtime's threads: for which graphs, and that they are launches like others."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from autoimport.staging import tf_internals, threads
from autoimport.staging.tf_operations import sums_in_order
from tests.staging import programs


def graph_of(fn: Callable[..., Any], *args: Any) -> Any:
    return tf.function(fn, autograph=False).get_concrete_function(*args)


def chain(x: Any) -> Any:
    for _ in range(20):
        x = tf.tanh(x @ x)
    return x


def side_by_side(x: Any) -> Any:
    parts = [x * k for k in (1.0, 2.0, 3.0, 4.0)]
    for _ in range(10):
        parts = [tf.tanh(part @ x) for part in parts]
    return parts


def in_turn(x: Any) -> Any:
    parts = []
    for k in (1.0, 2.0, 3.0, 4.0):
        with tf.control_dependencies(parts[-1:]):
            parts.append(chain(x * k))
    return parts


def images(x: Any) -> Any:
    filters = tf.ones([3, 3, 4, 4])
    image = tf.broadcast_to(x[None, :, :, None], [8, *x.shape, 4])
    return [tf.nn.conv2d(image * k, filters, 1, "SAME") for k in (1.0, 2.0, 3.0)]


@pytest.fixture
def four_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_threads", lambda: 4)
    monkeypatch.setattr(threads, "_kept", 0)


def in_order(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, with sums as traces and their gradients have them."""

    def made(x: Any) -> Any:
        with sums_in_order():
            return fn(x)

    return made


def idle(x: Any) -> Any:
    tf_internals.run_always(tf.compat.v1.get_default_graph(), [tf.argmax(x[0, 0]).op])
    return x * 2.0


@pytest.mark.parametrize(
    ("fn", "size", "expected"),
    [
        (chain, 4, True),
        (chain, 400, True),  # one after the other, however long they take
        (in_turn, 100, True),
        (side_by_side, 4, True),
        (side_by_side, 100, False),
        (side_by_side, None, True),  # taken for some items
        (images, 4, True),
        (images, 100, False),
        (idle, 4, False),
        (lambda x: tf.identity(tf.shape(x)), None, False),
        (lambda x: tf.shape(x) * 2, None, True),
        (lambda x: tf.add_n([x, -x]), 4, True),
        (lambda x: tf.add_n([x, -x, x * 2.0]), 4, False),
        (in_order(lambda x: tf.add_n([x, -x, x * 2.0])), 4, True),
        (in_order(lambda x: tf.add_n([x * k for k in range(10)])), 4, False),
        (in_order(lambda x: tf.add_n([x, -x, x * 2.0])), None, False),
        (in_order(lambda x: tf.add_n([tf.ones([4]), tf.zeros([4]), x[0], -x[0]])), 4, False),
        (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x), 4, False),
        (lambda x: tf.while_loop(lambda y: tf.reduce_sum(y) < 9, lambda y: [y + 1], [x]), 4, False),
    ],
)
def test_heavy_operations_that_do_not_need_one_another_want_threads(
    four_threads: None, fn: Callable[..., Any], size: int | None, expected: bool
) -> None:
    assert threads.needs_one(graph_of(fn, tf.TensorSpec([size, size])).graph) is expected


def test_with_one_core_or_several_devices_there_is_nothing_to_choose(
    four_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = graph_of(side_by_side, tf.TensorSpec([100, 100])).graph
    monkeypatch.setattr(threads, "_threads", lambda: 1)
    assert threads.needs_one(wide)
    monkeypatch.setattr(tf_internals, "has_one_device", lambda: False)
    assert not threads.needs_one(wide)


def test_what_the_runtime_keeps_of_dropped_graphs_is_bounded(
    four_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.collect()  # what other tests have left
    monkeypatch.setattr(threads, "_kept", 0)
    monkeypatch.setattr(threads, "_MOST_KEPT", 150)
    answers = []
    for _ in range(8):
        gc.collect()
        answers.append(threads.needs_one(graph_of(chain, tf.ones([2, 2])).graph))
    assert answers[0]
    assert not answers[-1]
    assert answers == sorted(answers, reverse=True)


V = tf.Variable([1.0, 2.0])
COUNT = tf.Variable(3, dtype=tf.int64)
GENERATOR = tf.random.Generator.from_seed(7)
TABLE = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "several types": lambda x: [x, tf.argmax(x), tf.as_string(x), x > 0, tf.cast(x, tf.float16)],
    "changed variables": lambda x: [V.assign_add(x), COUNT.assign_add(1), V * 2.0, tf.identity(COUNT)],
    "random numbers": lambda x: [GENERATOR.normal([3]), tf.random.stateless_uniform([2], [1, 2])],
    "a table": lambda x: [TABLE.lookup(tf.constant(["b", "c"])), x],
    "a list": lambda x: [tf.TensorArray(tf.float32, 2).unstack(tf.stack([x, x])).concat()],
    "nothing": lambda x: [],
    "integers": lambda x: [tf.size(x), tf.shape(x)[0], tf.range(3), tf.cast(x, tf.int32), tf.argmax(x, 0, tf.int32)],
    "its input": lambda x: [x],
}


@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_launch_by_itself_gives_what_one_on_threads_gives(fn: Callable[..., Any]) -> None:
    x = tf.constant([0.5, -1.5])
    function = graph_of(fn, tf.TensorSpec([2]))
    inputs, name = [x, *function.captured_inputs], function.inference_fn.name
    attributes = tf_internals.in_one_thread(
        name, function.graph.inputs, function.graph.outputs, tf_internals.EXACT_CONFIG
    )
    states = [each.value() for each in (V, COUNT, GENERATOR.state)]
    seen = []
    for how in (None, attributes):
        for variable, state in zip((V, COUNT, GENERATOR.state), states, strict=True):
            variable.assign(state)
        count = len(function.graph.outputs)
        seen.append([])
        for _ in range(3):
            outputs = tf_internals.run(name, inputs, count, tf_internals.EXACT_CONFIG, how)
            seen[-1] += [programs.describe(each) for each in [*(outputs or ()), V, COUNT]]
    assert seen[0] == seen[1]


def test_a_launch_that_fails_by_itself_says_why() -> None:
    def fn(x: Any) -> Any:
        with tf.control_dependencies([V.assign_add(x), tf.debugging.assert_positive(x, "not so")]):
            return V * 1.0

    function = graph_of(fn, tf.TensorSpec([2]))
    name = function.inference_fn.name
    attributes = tf_internals.in_one_thread(
        name, function.graph.inputs, function.graph.outputs, tf_internals.EXACT_CONFIG
    )
    inputs = [tf.constant([-1.0, 1.0]), *function.captured_inputs]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not so"):
        tf_internals.run(name, inputs, 1, tf_internals.EXACT_CONFIG, attributes)


@pytest.mark.parametrize("is_slow", (False, True))
def test_calls_and_gradients_are_launched_as_their_graphs_want(monkeypatch: pytest.MonkeyPatch, is_slow: bool) -> None:
    original, seen = tf_internals.run, []

    def run(*args: Any) -> Any:
        seen.append(args[4] is not None)
        return original(*args)

    monkeypatch.setattr(tf_internals, "run", run)
    monkeypatch.setattr(threads, "_kept", 0)
    if is_slow:
        monkeypatch.setattr(threads, "_HAND_OVER", -1.0)
    ours = programs.same(
        """
        w = tf.Variable([1.0, 2.0])
        def f(x): return tf.reduce_sum(tf.sin(x * w) * tf.cos(x) + tf.exp(x) * w), x * 3.0
        def main():
            locals()  # no graph holds what follows
            for i in range(6):
                x = tf.constant([0.1 * i, 0.5])
                with tf.GradientTape() as tape: y, _ = f(x)
                show(y, tape.gradient(y, w), f(x))
        """
    )
    assert ours.sites["f"].state == "graph"
    assert len(seen) >= 12
    assert set(seen) == {not is_slow}
