"""`assert` and `raise`: Python's where Python knows, a check in the graph where only the graph does."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from tests.operators.ways import Bailed, in_function, in_trace


def test_python_assertions() -> None:
    ops.assert_(True, lambda: pytest.fail("the message is not needed"))
    with pytest.raises(AssertionError, match="^why$"):
        ops.assert_(0, lambda: "why")
    with pytest.raises(AssertionError) as caught:
        ops.assert_([])
    assert caught.value.args == ()


def test_raise_with_and_without_cause() -> None:
    cause = KeyError("k")
    with pytest.raises(ValueError, match="bad") as caught:
        ops.raise_(lambda: ValueError("bad"), lambda: cause)
    assert caught.value.__cause__ is cause
    with pytest.raises(ValueError, match="bad") as caught:
        ops.raise_(lambda: ValueError("bad"), None)
    assert not caught.value.__suppress_context__


def checked(x: Any) -> Any:
    ops.assert_(x > 0, lambda: "x must be positive")
    return x


def test_a_symbolic_assertion_is_checked_when_the_graph_runs() -> None:
    assert in_function(checked, tf.constant(1)) == in_trace(checked, tf.constant(1)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be positive"):
        in_function(checked, tf.constant(-1))
    with pytest.raises(Bailed):
        in_trace(checked, tf.constant(-1))


def guarded(x: Any) -> Any:
    ops.if_(
        x < 0, lambda: ops.raise_(lambda: ValueError("negative"), None), lambda: None, lambda: (), lambda _: None, (), 0
    )
    return x


def test_a_raise_in_a_symbolic_branch_is_met_only_where_the_branch_is_taken() -> None:
    assert in_function(guarded, tf.constant(1)) == in_trace(guarded, tf.constant(1)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: negative"):
        in_function(guarded, tf.constant(-1))
    with pytest.raises(Bailed):
        in_trace(guarded, tf.constant(-1))
