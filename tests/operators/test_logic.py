"""`and`, `or`, `not`: operands keep their value, as in Python."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.errors import Unstageable
from autoimport.operators.logic import is_harmless
from autoimport.operators.numbers import Number
from tests.operators.ways import everywhere, in_function, in_trace, same


@pytest.mark.parametrize("x", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("y", [-1.0, 0.0, 2.0])
def test_comparisons_combine_as_in_python(x: float, y: float) -> None:
    def fn(x: Any, y: Any) -> Any:
        return ops.and_(x > 0, lambda: y > 0), ops.or_(x > 0, lambda: y > 0), ops.not_(x > 0)

    assert same(fn, tf.constant(x), tf.constant(y)) == (x > 0 and y > 0, x > 0 or y > 0, not x > 0)


@pytest.mark.parametrize("norm", [0.0, 3.0])
def test_or_gives_the_operand(norm: float) -> None:
    def fn(norm: Any) -> Any:
        return ops.or_(norm, lambda: tf.constant(1.0))

    assert same(fn, tf.constant(norm)) == (norm or 1.0)


@pytest.mark.parametrize("norm", [0.0, 3.0])
def test_and_gives_the_operand(norm: float) -> None:
    assert same(lambda x: ops.and_(x, lambda: x + 1), tf.constant(norm)) == (norm and norm + 1)


def test_python_operands_are_those_of_python() -> None:
    seen: list[Any] = []
    in_function(lambda x: seen.append((ops.or_([], lambda: "b"), ops.and_(0, lambda: x))) or x, tf.constant(1))
    assert seen == [("b", 0)]


def test_not_gives_a_bool() -> None:
    with tf.Graph().as_default():
        result = ops.not_(tf.constant([0.0]))
        assert isinstance(result, Number)
        assert result.kind is bool


def test_the_right_operand_runs_only_where_python_runs_it() -> None:
    v = tf.Variable(0)

    def fn(x: Any) -> Any:
        return ops.and_(x > 0, lambda: ops.call(v.assign_add, 1) > 0)

    for x in (-1, 1, -1):
        in_function(fn, tf.constant(x))
    assert v.numpy() == 1


def test_the_right_operand_may_fail_where_python_would_not_look() -> None:
    def fn(i: Any, values: Any) -> Any:
        return ops.and_(i < 3, lambda: ops.item(values, i) > 0)

    assert not in_function(fn, tf.constant(7), tf.constant([1, 2, 3]))
    assert in_function(fn, tf.constant(2), tf.constant([1, 2, 3]))


def test_comparisons_build_no_branch() -> None:
    graph = tf.function(lambda x: ops.and_(x > 0, lambda: x < 3), autograph=False).get_concrete_function(
        tf.TensorSpec([], tf.float32)
    )
    assert "If" not in {operation.type.removeprefix("Stateless") for operation in graph.graph.get_operations()}


def test_calls_are_not_harmless() -> None:
    assert is_harmless(lambda: 1 < 2)
    assert not is_harmless(lambda: print(1))


@pytest.mark.parametrize("x", [[], [[]], [1.0, 2.0]])
def test_an_ambiguous_truth_raises_as_in_eager(x: list[Any]) -> None:
    with pytest.raises(ValueError, match="truth"):
        in_function(lambda x: ops.not_(x).tensor, tf.constant(x))


def test_a_comprehension_that_branches_on_a_tensor_goes_back_to_eager() -> None:
    with pytest.raises(Unstageable, match="comprehension"):
        in_trace(lambda x: [1 for _ in range(2) if ops.truth(x > 0)], tf.constant(1))


def test_truth_of_integers_and_strings() -> None:
    for value in (0, 3, "", "a", True):
        results = everywhere(lambda x: ops.not_(x), tf.constant(value))
        assert set(results.values()) == {not value}


def test_not_is_true_for_a_comparison_with_nan() -> None:
    assert same(lambda x: (ops.not_(x < 1), ops.not_(x >= 1)), tf.constant(float("nan"))) == (True, True)
