"""`==`, `!=`, `in`, `is` and chains."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from tests.operators.ways import Watcher, in_function, in_trace, same


@pytest.mark.parametrize("y", [1, 2])
def test_equality_of_tensors_is_by_value_in_every_graph(y: int) -> None:
    assert same(lambda x, y: (ops.eq(x, y), ops.ne(x, y), ops.eq(x, 1)), tf.constant(1), tf.constant(y)) == (
        y == 1,
        y != 1,
        True,
    )


def test_a_tensor_is_not_equal_to_none() -> None:
    assert same(lambda x: (ops.eq(x, None), ops.ne(None, x)), tf.constant(1)) == (False, True)


def test_equality_is_elementwise_for_tensors_and_one_bool_for_lists() -> None:
    x = tf.constant([1, 2])
    assert same(lambda x: ops.eq(x, [1, 3]), x) == [True, False]
    assert same(lambda x: ops.eq([x[0], 2], [1, 2]), x) is True
    assert same(lambda x: ops.ne((x[0], 3), (1, 2)), x) is True
    assert same(lambda x: ops.eq([x[0]], [1, 2]), x) is False


def test_equality_of_plain_values_is_pythons() -> None:
    assert in_function(lambda x: (ops.eq("a", "a"), ops.ne([1], [2]), ops.eq({1: 2}, {1: 2})), tf.constant(0)) == (
        True,
        True,
        True,
    )


@pytest.mark.parametrize("x", [1, 5])
def test_membership(x: int) -> None:
    def fn(x: Any, values: Any) -> Any:
        one = ops.in_(x, values), ops.in_(x, (1, 2)), ops.in_(x, [values[0], values[1]]), ops.in_(x, range(3))
        return (*one, ops.not_in(x, values), ops.in_(2, values))

    found = x == 1
    assert same(fn, tf.constant(x), tf.constant([1, 2])) == (found, found, found, found, not found, True)


@pytest.mark.parametrize("x", [-7, -4, 0, 3, 10, 11])
def test_a_number_in_a_range(x: int) -> None:
    fn = lambda t: [ops.in_(Number(int, t), r) for r in (range(-7, 11, 3), range(10, -10, -2), range(0))]  # noqa: E731
    assert in_trace(fn, tf.constant(x)) == [x in range(-7, 11, 3), x in range(10, -10, -2), False]


def test_membership_by_identity_comes_first() -> None:
    x = tf.constant([1, 2])
    assert in_function(lambda x: ops.in_(x, [x]), x)


@pytest.mark.parametrize("x", [-1.0, 0.5, 2.0])
def test_chains_stop_at_the_first_that_is_false(x: float) -> None:
    assert same(lambda x: ops.chain(0.0, ("<", lambda: x), ("<=", lambda: 1.0)), tf.constant(x)) == (0.0 < x <= 1.0)


def test_a_chain_evaluates_each_operand_once() -> None:
    calls = []

    def operand(value: Any) -> Any:
        calls.append(1)
        return value

    in_function(lambda x: ops.chain(0, ("<", lambda: operand(x)), ("<", lambda: operand(x + 1))), tf.constant(1))
    assert len(calls) == 2


def test_identity() -> None:
    assert in_function(lambda x: (ops.is_(x, None), ops.is_not(x, None), ops.is_(x, x)), tf.constant(1)) == (
        False,
        True,
        True,
    )
    assert in_function(lambda x: ops.is_(Number(bool, x), True), tf.constant(True))
    with pytest.raises(Unstageable, match="is"):
        in_trace(lambda x: ops.is_(Number(int, x), 3), tf.constant(3))


def test_comparisons_of_plain_objects_need_no_call() -> None:
    watcher = Watcher()
    before = observer.observe(watcher)
    try:
        assert ops.eq(tf.TensorShape([1]), (1,))
        assert ops.ne(tf.float32, tf.int32)
        assert ops.eq(len, len)
        assert not ops.eq(None, object())
        assert ops.eq({1: 2}, {1: 2})
        assert ops.in_(1, {1: 2})
    finally:
        observer.observe(before)
    assert [event[1].__name__ for event in watcher.seen] == ["__eq__", "__contains__"]
