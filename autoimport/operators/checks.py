"""A reason or a condition -> the call gives up: what an operator does where it cannot do what Python would.

In a trace of ours giving up is cheap and silent (the call runs eagerly); in a graph that the person asked for it is
an exception, at once or when the graph runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.errors import Unstageable


class CheckNeeded(BaseException):
    """What is built on trial, perhaps without need, would put a check into the graph."""


class _State(threading.local):
    attempts = 0


_state = _State()


@contextmanager
def on_trial() -> Iterator[None]:
    """Build something that may not be needed: checks raise `CheckNeeded` instead of failing when the graph runs."""
    _state.attempts += 1
    try:
        yield
    finally:
        _state.attempts -= 1


def refuse(reason: str, remedy: str = "", error: type[Exception] = TypeError) -> NoReturn:
    """Give up while tracing: `Unstageable` in a trace of ours, `error` in the person's graph."""
    if observer.current() is not None:
        raise Unstageable(reason, remedy)
    raise error(f"{reason}. {remedy}" if remedy else reason)


def negation(condition: Any) -> Any:
    """`not condition`, for a boolean tensor.

    Not by `tf.logical_not`: the graph rewriter (TensorFlow 2.21) makes `a >= b` of `not a < b`, which is wrong for NaN.
    """
    return tf.equal(condition, False)


def fail_if(condition: Any, why: str, value: Any) -> Any:
    """Give up when the graph runs and `condition` is true there.

    Args:
      condition: a scalar boolean tensor.
      why: in words, for the report or the exception.
      value: the tensor that makes no sense then.
    Returns:
      `value`, which in the person's graph depends on the check (a v1 graph would prune the check otherwise).
    """
    if _state.attempts:
        raise CheckNeeded
    trace = observer.current()
    if trace is not None:
        trace.bail_if(condition, why)
        return value
    check = tf.debugging.Assert(negation(condition), [why])
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(value)
