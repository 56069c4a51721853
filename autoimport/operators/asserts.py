"""`assert` and `raise` -> Python's own, or a check in the graph where only the graph knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import heap, logic, observer
from autoimport.operators.errors import Diverged
from autoimport.operators.lists import stand_in
from autoimport.operators.symbolic import is_symbolic


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""
    if not __debug__:
        return
    test = stand_in(test)
    if not is_symbolic(test):
        if logic.python_truth(test):
            return
        if not heap.in_symbolic_body():
            raise AssertionError(*([] if message is None else [message()]))
        diverge(lambda: AssertionError() if message is None else AssertionError(message()))
    holds = logic.condition(test)
    trace = observer.current()
    if trace is not None:
        trace.bail_if(tf.logical_not(holds), "assertion failed")
        return
    tf.debugging.Assert(holds, _data(message() if message is not None else "assertion failed"))


def _data(message: Any) -> list[Any]:
    """What a failed check prints: the parts of the message that a graph can hold."""
    parts = message if isinstance(message, (tuple, list)) else [message]
    return [part if isinstance(part, (tf.Tensor, tf.Variable)) else str(part) for part in parts] or [""]


def raise_(error: Callable[[], Any], cause: Callable[[], Any] | None = None) -> None:
    """`raise error() from cause()`.

    In a branch of a symbolic conditional nobody knows yet whether Python would come here: the graph fails if it does.
    """
    if not heap.in_symbolic_body():
        if cause is None:
            raise error()
        raise error() from cause()
    diverge(error)


def diverge(error: Callable[[], Any]) -> NoReturn:
    """Make the branch that is being built fail, or send the call back to eager, when the graph takes it."""
    trace = observer.current()
    if trace is not None:
        trace.bail_if(tf.constant(True), "raises an exception")
        raise Diverged
    exception = error()
    text = exception.__name__ if isinstance(exception, type) else f"{type(exception).__name__}: {exception}"
    tf.debugging.Assert(tf.constant(False), [text])
    raise Diverged from exception if isinstance(exception, BaseException) else exception()
