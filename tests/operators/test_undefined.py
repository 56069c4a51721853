"""Names without a value, and values that may be missing."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.undefined import MaybeNone, MaybeUndefined, NumberOrTensor
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


def test_a_number_or_tensor_is_checked_only_where_it_matters() -> None:
    def value(x: Any) -> Any:
        return NumberOrTensor("x", x, tf.constant(False))

    x = tf.constant(2.0)

    def same_type(x):
        return (value(x) + x, x * value(x), ops.not_(value(x)), ops.if_exp(value(x), lambda: x, lambda: -x))

    assert in_trace(same_type, x) == (4.0, 4.0, False, 2.0)
    assert in_trace(lambda x: tf.square(value(x)), x) == 4.0
    with pytest.raises(Bailed):
        in_trace(lambda x: value(x) * 2, x)
    double = tf.constant(2.0, tf.float64)
    for use in (lambda x: value(x) + double, lambda x: double * value(x)):
        with pytest.raises(Unstageable):
            in_trace(use, x)
