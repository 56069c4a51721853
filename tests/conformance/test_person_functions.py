"""Functions that the person stages: with variables, signatures, XLA, extension types, gradients, and effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check, compiled

X, N = tf.constant(2.0), tf.constant(-2.0)
VECTOR = tf.constant([1.0, -2.0, 3.0])


@pytest.fixture
def module() -> Any:
    """This file, converted."""
    return compiled(__file__).load()[1]


# Variables --------------------------------------------------------------------------------------------------------------


class Lazy:
    def __init__(self):
        self.v = None

    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(tf.ones_like(x))
        if x > 0:
            self.v.assign_add(x)
        return self.v.read_value()


def test_a_variable_is_made_in_the_first_call_of_each_object(module: Any) -> None:  # TFN-1
    first, second = module.Lazy(), module.Lazy()
    assert [first(X).numpy(), first(N).numpy(), first(X).numpy()] == [3.0, 3.0, 5.0]
    assert second(X).numpy() == 3.0
    assert first.v is not second.v


STATE: list[Any] = []


@tf.function
def state_in_list(x):
    if not STATE:
        STATE.append(tf.Variable(0.0))
    STATE[0].assign_add(x if x > 0 else -x)
    return STATE[0] + 1


def test_a_variable_is_made_once_and_kept_in_a_list(module: Any) -> None:  # TFN-1
    assert [module.state_in_list(x).numpy() for x in (X, N, X)] == [3.0, 5.0, 7.0]
    assert len(module.STATE) == 1


V = tf.Variable(1.0)


def effects_in_order(x):
    V.assign(1.0)
    first = V * 2
    if x > 0:
        V.assign_add(x)
    second = V.read_value()
    V.assign(V * 10)
    return first, second, V.read_value()


def test_reads_of_variables_see_earlier_writes() -> None:  # TFN-8
    check(effects_in_order, (X,), (N,), state=lambda module: module.V)


# Types, signatures, XLA -------------------------------------------------------------------------------------------------


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def total(self):
        result = tf.constant(0.0)
        for i in tf.range(tf.size(self.values)):
            if self.mask[i]:
                result += self.values[i]
        return result


@tf.function
def total_of(masked):
    return masked.total()


def test_a_method_of_an_extension_type_has_loops_and_conditions(module: Any) -> None:  # TFN-2
    masked = module.Masked(VECTOR, tf.constant([True, False, True]))
    assert module.total_of(masked).numpy() == 4.0
    assert masked.total().numpy() == 4.0


@tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.bool)])
def with_signature(x, flag=False):
    if flag:
        return x
    return -x


def test_a_default_of_a_function_with_a_signature_is_a_tensor(module: Any) -> None:  # TFN-3
    assert module.with_signature(X, True).numpy() == 2.0
    assert module.with_signature(X, tf.constant(False)).numpy() == -2.0


def unlike_shapes(x, n):
    if n > 0:
        y = tf.reshape(x, [-1])
    else:
        y = x * 2
    return y


def items_in_branches(x):
    pair = [x, x * 2]
    if x[0] > 0:
        pair[0] = pair[1] + 1
    return pair[0], pair[1]


def loop_over_rows(x):
    total = tf.zeros([])
    for row in x:
        if row > 0:
            total += row
    return total


@pytest.mark.parametrize("name", ["unlike_shapes", "items_in_branches", "loop_over_rows"])
def test_conditions_and_loops_compile_under_xla(module: Any, name: str) -> None:  # TFN-4, TFN-5
    fn = getattr(module, name)
    args = (VECTOR, tf.constant(1)) if name == "unlike_shapes" else (VECTOR,)
    found = tf.function(fn, jit_compile=True)(*args)
    tf.nest.map_structure(lambda a, b: tf.debugging.assert_equal(a, b), found, fn(*args))


# Gradients --------------------------------------------------------------------------------------------------------------


def power(x, n):
    if n == 1:
        return x
    return x * power(x, n - 1)


def gradient_of_recursion(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, 4)
    return tape.gradient(y, x)


def second_gradient(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x if x > 0 else x
        slope = inner.gradient(y, x)
    return slope, outer.gradient(slope, x)


def gradient_in_loop(x):
    slopes = []
    for i in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * float(i + 1)
            if y > 0:
                y = y * x
        slopes.append(tape.gradient(y, x))
    return slopes


@pytest.mark.parametrize("fn", [gradient_of_recursion, second_gradient, gradient_in_loop])
def test_gradients_go_through_conditions_and_calls(fn: Callable[..., Any]) -> None:  # TFN-6, TFN-10
    check(fn, (X,))


def steps_by_gradients(x):
    for _ in range(3):
        y = x * x if x > 0 else x
        x = x - 0.25 * tf.gradients(y, x)[0]
    return x


def test_gradients_of_a_graph_in_a_loop_of_python(module: Any) -> None:  # TFN-10
    fn = tf.function(module.steps_by_gradients)
    assert [fn(x).numpy() for x in (X, N)] == [0.25, -2.75]


def test_a_tape_of_the_persons_records_our_graph(module: Any) -> None:
    for fn in (module.power, tf.function(module.power)):
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = fn(X, 3)
        assert tape.gradient(y, X).numpy() == 12.0


def recorded_outside(tape, x):
    y = x * x
    return tape.gradient(y, x)


def test_a_tape_that_is_open_outside_is_used_as_written(module: Any) -> None:
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(X)
            assert module.recorded_outside(tape, X).numpy() == 4.0


# Functions in functions -------------------------------------------------------------------------------------------------

BIAS = tf.Variable(0.5)


@tf.function
def biased(x):
    if x > 0:
        return x + BIAS
    return x


def calls_staged(xs):
    total = tf.constant(0.0)
    for x in xs:
        tf.autograph.experimental.set_loop_options(maximum_iterations=2)
        total += biased(x)
    return total


def calls_attribute(x):
    holder = Holder()
    holder.method = biased
    return holder.method(x)


class Holder:
    def method(self, x):
        return x * 100


def test_functions_of_the_persons_are_called_as_they_are() -> None:  # CAL-22
    check(calls_attribute, (X,), (N,))


def test_loop_options_hold_where_the_body_calls_a_staged_function(module: Any) -> None:  # TFN-7
    assert tf.function(module.calls_staged)(VECTOR).numpy() == -0.5


TRACES: list[str] = []


@tf.function
def noted_trace(x):
    TRACES.append("trace")
    if x > 0:
        return x
    return -x


def test_traces_of_the_persons_functions_keep_their_number(module: Any) -> None:
    for x in (X, N, X, tf.constant(1)):
        module.noted_trace(x)
    assert module.TRACES == ["trace", "trace"]


def prints_once(x):
    print("traced")
    if x > 0:
        return x
    return -x


def test_prints_in_the_persons_functions_happen_once_a_trace(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fn = tf.function(module.prints_once)
    for x in (X, N, X):
        fn(x)
    assert capsys.readouterr().out == "traced\n"


def test_nothing_is_left_open_after_a_graph(module: Any) -> None:  # TFN-9
    tf.function(module.power)(X, 3)
    assert tf.executing_eagerly()
    seen = []

    def callback(x):
        seen.append(tf.executing_eagerly())
        return x

    tf.function(lambda x: tf.py_function(callback, [module.power(x, 2)], tf.float32))(X)
    assert seen == [True]
