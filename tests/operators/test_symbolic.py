"""What counts as symbolic."""

from __future__ import annotations

import keras
import pytest
import tensorflow as tf

from autoimport.operators.numbers import Number
from autoimport.operators.symbolic import in_graph, is_symbolic


def test_nothing_is_symbolic_in_eager_mode() -> None:
    assert not in_graph()
    assert not is_symbolic(tf.constant(1))
    assert not is_symbolic(tf.Variable(1))


@pytest.mark.parametrize("value", [1, 1.5, "a", None, [1], (tf.constant(1),), {}, object(), len])
def test_python_values_are_not_symbolic(value: object) -> None:
    with tf.Graph().as_default():
        assert not is_symbolic(value)


def test_values_of_tensorflow_and_keras_are_symbolic_in_a_function() -> None:
    constant, variable, weight = tf.constant(1), tf.Variable(1), keras.Variable(1.0)
    seen = []

    @tf.function(autograph=False)
    def fn(x: tf.Tensor) -> tf.Tensor:
        dataset = tf.data.Dataset.range(3)
        ragged = tf.RaggedTensor.from_row_lengths([1, 2], [1, 1])
        values = x, constant, variable, weight, dataset, ragged, tf.TensorArray(tf.int32, 1), Number(int, x)
        seen.extend(map(is_symbolic, values))
        return x

    fn(constant)
    assert seen == [True] * 8


def test_a_v1_graph_cannot_take_in_eager_tensors() -> None:
    value = tf.constant(1)
    with tf.Graph().as_default():
        assert not is_symbolic(value)
        assert is_symbolic(tf.constant(1))


def test_no_graph_is_built_in_an_init_scope() -> None:
    seen = []

    @tf.function(autograph=False)
    def fn() -> None:
        seen.append(in_graph())
        with tf.init_scope():
            seen.append(in_graph())

    fn()
    assert seen == [True, False]
