"""Names without a value, and values that may be missing."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.either import Either
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.undefined import MaybeNone, MaybeUndefined
from tests.operators.ways import Bailed, in_function, in_session, in_trace


def test_reading_a_name_without_value_raises_what_python_raises() -> None:
    def read(free: bool) -> Any:
        def inner() -> Any:
            return missing

        if free:
            return inner()
        if False:
            missing = 1
        return missing

    for free in (False, True):
        with pytest.raises(NameError) as python:
            read(free)
        with pytest.raises(NameError) as ours:
            ops.defined(ops.Undefined("missing"), "missing", free)
        assert (ours.type, str(ours.value)) == (python.type, str(python.value))


def test_a_value_is_itself() -> None:
    thing = object()
    assert ops.defined(thing, "x") is thing
    assert ops.defined(None, "x") is None


@pytest.mark.parametrize("way", [in_function, in_session])
def test_a_value_that_may_be_missing_is_checked_in_the_persons_graph(way: Any) -> None:
    def fn(x):
        return ops.defined(MaybeUndefined("x", (x, Number(int, 3)), x > 0), "x")

    assert way(fn, tf.constant(1.0)) == (1.0, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x"):
        way(fn, tf.constant(-1.0))


def test_none_or_a_tensor_acts_as_the_tensor() -> None:
    def fn(x: Any) -> Any:
        maybe = MaybeNone("x", x, tf.constant(True))
        parts = [maybe + 1, 1 + maybe, -maybe, x * maybe, maybe * maybe, maybe[0], maybe.shape[0], tf.reduce_sum(maybe)]
        return [*parts, tf.cast(maybe < 2.0, tf.int32)]

    results = in_trace(fn, tf.constant([3.0]))
    assert [float(tf.squeeze(result)) for result in results] == [4, 4, -3, 9, 9, 3, 1, 3, 0]


def test_none_or_a_tensor_has_pythons_truth() -> None:
    def fn(x, there):
        return ops.if_exp(MaybeNone("x", x, there), lambda: tf.constant(1), lambda: tf.constant(0))

    cases = [(3.0, True), (0.0, True), (3.0, False)]
    assert [in_trace(fn, *map(tf.constant, case)) for case in cases] == [1, 0, 0]


def test_a_number_or_a_tensor_is_computed_with_as_what_it_is() -> None:
    def use(x: Any, there: Any) -> Any:
        value = Either("v", x, 0.7, there)
        parts = [0.1 * value * x, value + x, x * value, abs(value), -value, value / 3.0, ops.call(tf.square, value)]
        return [tf.convert_to_tensor(part, tf.float32) for part in parts]

    def eager(value: Any, x: Any) -> Any:
        parts = [0.1 * value * x, value + x, x * value, abs(value), -value, value / 3.0, tf.square(value)]
        return [tf.convert_to_tensor(part, tf.float32) for part in parts]

    x = tf.constant(0.1)
    for there, value in ((True, x), (False, 0.7)):
        assert in_trace(use, x, tf.constant(there)) == [float(part) for part in eager(value, x)]


def test_a_number_or_a_tensor_has_the_truth_of_what_it_is() -> None:
    def fn(x, there):
        value = Either("v", x, 0.0, there)
        return ops.not_(value), ops.if_exp(value, lambda: x, lambda: -x), ops.call(isinstance, value, float)

    assert in_trace(fn, tf.constant(2.0), tf.constant(True)) == (False, 2.0, False)
    assert in_trace(fn, tf.constant(2.0), tf.constant(False)) == (True, -2.0, True)


def test_what_only_one_of_two_values_can_do_is_checked() -> None:
    def fn(x, there):
        return Either("v", x, 0.7, there).shape[0] * x

    assert in_trace(fn, tf.constant([3.0]), tf.constant(True)) == [3.0]
    with pytest.raises(Bailed):
        in_trace(fn, tf.constant([3.0]), tf.constant(False))
    with pytest.raises(Unstageable):
        in_trace(lambda x: Either("v", x, 0.7, tf.constant(True)) + tf.constant(1.0, tf.float64), tf.constant(1.0))
