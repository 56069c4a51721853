"""`assert`: the test and the message of Python, at the call that fails."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check, compiled

VECTOR = tf.constant([1.0, 2.0])
LOG: list[str] = []


def positive(x):
    assert x > 0
    return x * 2


def with_message(x):
    assert x > 0, "must be positive"
    return x * 2


def with_values(x, y):
    assert x > 0, ("not positive", x, y)
    return x * y


def described_failure(x):
    LOG.append("asked")
    return f"{x} is too small"


def message_with_effect(x, limit):
    assert limit > 0, described_failure(limit)
    return x * limit


def nothing_depends_on_it(x):
    assert tf.reduce_sum(x) > 0
    return tf.constant(1.0)


def in_branch(x, c):
    if c:
        assert x > 0, "in the branch taken"
        x = x + 1
    return x


@pytest.mark.parametrize("fn", [positive, with_message])
@pytest.mark.parametrize("x", [3.0, -3.0])
@pytest.mark.parametrize("kind", [float, tf.constant])
def test_an_assertion_fails_at_the_call_that_breaks_it(fn: Any, x: float, kind: Any) -> None:  # ASR-1, ASR-2, ASR-3
    check(fn, (kind(x),), staged=kind is not float, session=x > 0)


def test_a_message_of_several_values() -> None:  # ASR-4
    check(with_values, (tf.constant(2.0), VECTOR), (tf.constant(-2.0), VECTOR))


def test_a_message_is_made_only_when_the_assertion_fails() -> None:  # ASR-5
    check(message_with_effect, (VECTOR, 2.0), (VECTOR, -2.0), state=lambda module: list(module.LOG), session=True)


def test_an_assertion_is_checked_though_nothing_depends_on_it() -> None:  # ASR-6
    check(nothing_depends_on_it, (VECTOR,), (-VECTOR,))


def test_an_assertion_in_a_branch_counts_where_the_branch_is_taken() -> None:
    for x in (3.0, -3.0):
        for c in (True, False):
            check(in_branch, (tf.constant(x), tf.constant(c)), session=x > 0)


def test_the_error_in_the_persons_graph_carries_the_values() -> None:
    _, converted = compiled(__file__).load()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not positive(.|\n)*-2(.|\n)*\[1 2\]"):
        tf.function(converted.with_values)(tf.constant(-2.0), VECTOR)
