"""Launches that tapes watch: the gradients, and what is watched, are those of a `tf.function` of the same code.

But where that has zeros, since another result has a gradient, eager code has None. (Whether it has on the way through a
condition, the graphs of traces check themselves.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from autoimport.staging import tf_internals, tf_recording

EXACT = tf_internals.EXACT_CONFIG


def launcher(fn: Callable[..., Any], *specs: tf.TensorSpec) -> Callable[..., list[Any]]:
    """Launches of `fn` as a specialisation makes them: variables are captured, results are a flat list."""
    function = tf.function(fn, autograph=False).get_concrete_function(*specs)
    captured = list(function.captured_inputs)
    return lambda *inputs: tf_recording.run_recorded(function, [*inputs, *captured], EXACT, None)


V = tf.Variable([[0.5, -1.0], [2.0, 0.25], [1.0, 3.0]])
W = tf.Variable([1.5, -0.5])
FIXED = tf.Variable([2.0, 3.0], trainable=False)
FREE = tf.Variable([0.25, 4.0])
X = tf.constant([0.3, -0.7])
SPEC = tf.TensorSpec([2], tf.float32)
FUNCTIONS: dict[str, Callable[..., list[Any]]] = {
    "one result": lambda x: [tf.reduce_sum(x * W)],
    "several": lambda x: [tf.sin(x * W), tf.reduce_sum(x), tf.exp(W)],
    "rows of a variable": lambda x: [tf.gather(V, [0, 2, 0]) * x],
    "an integer among them": lambda x: [x * W, tf.argmax(x), tf.tanh(x)],
    "an argument": lambda x: [x, x * 2.0, W * 1.0],
    "one result twice": lambda x: [x * W, x * W, tf.identity(x)],
    "what is not to be trained": lambda x: [x * FIXED + W],
    "no gradient": lambda x: [tf.round(x * W), tf.stop_gradient(W)],
    "a loop": lambda x: [tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x + W), (0, x))[1]],
    "a condition": lambda x: [tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * W, lambda: tf.sin(x)), W * W],
    "integers only": lambda x: [tf.argmax(x * W)],
}


def _single(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(X)
        results = call(X)
    return [*results, *tape.gradient(results, [X, V, W, FIXED])]


def _one_of_the_results(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(X)
        results = call(X)
        loss = tf.reduce_sum(tf.cast(results[-1], tf.float32) ** 2)
    return [*results, *tape.gradient(loss, [X, W])]


def _zeros_where_none(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        results = call(X)
    return list(tape.gradient(results[0], [X, V, W], unconnected_gradients=tf.UnconnectedGradients.ZERO))


def _persistent(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape(persistent=True) as tape:
        results = call(X)
    return [tape.gradient(each, W) for each in results for _ in range(2)]


def _two_tapes(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            results = call(X)
        slope = tape.gradient(results, W)
    return [slope, None if slope is None else outer.gradient(slope, W)]


def _a_tape_around_the_gradient(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        results = call(X)
    with tf.GradientTape() as late:
        late.watch(results)
        slope = tape.gradient(results, W)
    return [slope, None if slope is None else late.gradient(slope, [W, *results])]


def _chosen(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(W)
        results = call(X)
    return [*tape.gradient(results, [V, W]), [v.name for v in tape.watched_variables()]]


def _nothing_watched(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        results = call(X)
    return [*results, *tape.gradient(results, [V, W])]


def _watched_variables(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        call(X)
    return sorted(v.shape.as_list() for v in tape.watched_variables())


def _twice(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        first = call(X)
        second = call(tf.reduce_sum(tf.cast(first[0], tf.float32)) * X)
    return [*tape.gradient(second, [V, W])]


def _accumulated(call: Callable[..., Any]) -> list[Any]:
    with tf.autodiff.ForwardAccumulator(X, tf.ones([2])) as accumulator:
        results = call(X)
        forward = [accumulator.jvp(each) for each in results]
    return forward


def _stopped(call: Callable[..., Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            results = call(X)
        later = call(X)
    return [tape.gradient([results[0], later[0]], W)]


WAYS = {
    way.__name__.strip("_"): way
    for way in (
        _single, _one_of_the_results, _zeros_where_none, _persistent, _two_tapes, _a_tape_around_the_gradient, _chosen,
        _nothing_watched, _watched_variables, _twice, _accumulated, _stopped,
    )
}  # fmt: skip


def described(values: Any) -> Any:
    if isinstance(values, tf.IndexedSlices):
        return ["rows", *map(described, (values.values, values.indices))]
    if isinstance(values, (list, tuple)):
        return [described(value) for value in values]
    return [values.dtype.name, values.numpy().tolist()] if isinstance(values, tf.Tensor) else values


def outcome(way: Callable[..., Any], call: Callable[..., Any]) -> Any:
    return described(way(call))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tapes_see_what_they_see_of_tensorflows_own_call(name: str, way: Callable[..., Any]) -> None:
    theirs = tf.function(FUNCTIONS[name], autograph=False, input_signature=[SPEC])
    ours = launcher(FUNCTIONS[name], SPEC)
    if way is _accumulated and name in ("a loop", "a condition"):
        with pytest.raises(tf_recording.Accumulated):
            way(ours)
        return
    for _ in range(2):
        expected, eager = outcome(way, lambda x: list(theirs(x))), outcome(way, FUNCTIONS[name])
        found = outcome(way, ours)
        if way is _accumulated:
            assert found == expected
        elif name == "a condition":
            assert all(each in pair for each, *pair in zip(found, eager, expected, strict=True))
        else:
            assert found == [x and y for x, y in zip(eager, expected, strict=True)]


def test_a_tape_and_an_accumulator_together_are_left_to_eager_code() -> None:
    call = launcher(FUNCTIONS["a loop"], SPEC)
    with tf.GradientTape(), tf.autodiff.ForwardAccumulator(X, tf.ones([2])):
        with pytest.raises(tf_recording.Accumulated):
            call(X)


def test_a_gradient_that_fails_raises_what_it_raises_in_a_function_of_tensorflows() -> None:
    @tf.custom_gradient
    def checked(x):
        def gradient(dy):
            with tf.control_dependencies([tf.debugging.assert_less(dy, 0.5, "too steep")]):
                return tf.identity(dy)

        return tf.identity(x), gradient

    call = launcher(lambda x: [checked(x) * W], SPEC)
    with tf.GradientTape() as tape:
        tape.watch(X)
        (y,) = call(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too steep"):
        tape.gradient(y, X, output_gradients=tf.constant([3.0, 3.0]))


def test_what_the_gradient_does_not_need_is_not_kept() -> None:
    import weakref

    call = launcher(lambda x: [x + 1.0, tf.sin(x)], SPEC)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
    x = tf.constant(np.ones(2, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        plus, sine = call(x)
    gone = weakref.ref(plus)
    del plus
    assert gone() is None
    assert tape.gradient(sine, x) is not None


@pytest.mark.parametrize("wait", [None, lambda launch: launch(tf_internals.Cancellation())])
def test_a_recorded_run_is_seen_by_tapes(wait: Callable[..., object] | None) -> None:
    inputs = []

    def body():
        inputs.append(tf_internals.placeholder(tf_internals.outermost_graph(), tf.float32, ()))
        return [inputs[0] ** 2]

    function = tf_internals.build_function("squares", __file__, body, inputs)
    assert not tf_internals.recording()
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert tf_internals.recording()
        (y,) = tf_recording.run_recorded(function, [x], tf_internals.EXACT_CONFIG, wait)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (9.0, 6.0)


def test_the_gradient_of_a_recorded_run_is_computed_under_its_configuration(monkeypatch) -> None:
    seen = []

    def body():
        inputs.append(tf_internals.placeholder(tf_internals.outermost_graph(), tf.float32, ()))
        return [inputs[0] ** 3]

    call = context.Context.call_function
    monkeypatch.setattr(
        context.Context,
        "call_function",
        lambda self, *args: seen.append(self.function_call_options.config_proto_serialized) or call(self, *args),
    )
    for persistent in (False, True):
        inputs: list = []
        function = tf_internals.build_function("cubes", __file__, body, inputs)
        x = tf.constant(2.0)
        with tf.GradientTape() as outer, tf.GradientTape(persistent=persistent) as tape:
            outer.watch(x)
            tape.watch(x)
            (y,) = tf_recording.run_recorded(function, [x], tf_internals.EXACT_CONFIG, None)
            slope = tape.gradient(y, x)
        assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (12.0, 12.0)
    assert len(seen) >= 6
    assert set(map(_rewriting, seen)) == {_rewriting(tf_internals.EXACT_CONFIG)}


def _rewriting(configuration):
    config = tf.compat.v1.ConfigProto()
    config.ParseFromString(configuration)
    return config.graph_options.rewrite_options.SerializeToString(deterministic=True)


def test_a_gradient_that_has_failed_leaves_nothing_for_the_next_one() -> None:
    """Each result is made of a variable of its own: the tape hears of the two one by one."""

    @tf.custom_gradient
    def fails_once(x):
        def gradient(dy):
            if not failed:
                failed.append(True)
                raise KeyError("once")
            return dy

        return tf.identity(x), gradient

    failed: list[bool] = []
    call = launcher(lambda x: [x * W, x * FREE], SPEC)
    outcomes = []
    for run in (call, lambda x: [x * W, x * FREE]):
        failed.clear()
        with tf.GradientTape(persistent=True) as tape:
            first, second = run(X)
            loss = tf.reduce_sum(first * 2.0)
            both = tf.reduce_sum(fails_once(second)) + loss
        with pytest.raises(KeyError):
            tape.gradient(both, [W, FREE])
        outcomes.append(described([tape.gradient(loss, [W, FREE]), tape.gradient(both, [W, FREE])]))
    assert outcomes[0] == outcomes[1]


def test_gradients_of_a_launch_may_be_taken_in_a_function_of_the_persons() -> None:
    call = launcher(FUNCTIONS["one result"], SPEC)
    with tf.GradientTape() as tape:
        (y,) = call(X)

    @tf.function(autograph=False)
    def slope(scale):
        return tape.gradient(y, W, output_gradients=scale)

    assert slope(tf.constant(2.0)).numpy().tolist() == (2.0 * X).numpy().tolist()


def test_threads_put_back_what_is_tensorflows_own() -> None:
    import threading

    from tensorflow.python.framework import func_graph

    before = func_graph.FuncGraph._create_op_internal

    def work() -> None:
        for _ in range(5):
            call = launcher(lambda x: [tf.add_n([x, x * W, tf.sin(x)])], SPEC)
            with tf.GradientTape(persistent=True) as tape:
                (y,) = call(X)
            tape.gradient(y, W)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert func_graph.FuncGraph._create_op_internal is before
