"""An exception that a handler of the person's takes in a trace -> whether eager code would meet it there too.

In: the exception. Out: why not, or None. While a graph is built TensorFlow complains of other things, and in other
words, than it does in eager mode, and Python of symbolic values where it would not of numbers. Numpy raises there what
it would only warn about.
"""

from __future__ import annotations

import types
from collections.abc import Iterator

from autoimport.operators import asserts
from autoimport.staging import trust

# What Python raises for the values themselves, never because a value is symbolic.
_OF_VALUES = (LookupError, ArithmeticError, ValueError, StopIteration, NameError)


def objection(error: BaseException) -> str | None:
    """Why a trace may not go on in the handler that has taken `error`."""
    name = type(error).__name__
    frames = list(_frames(error))
    # A branch or loop of the graph is built in a frame of TensorFlow's: nobody knows whether Python would go there.
    if any(trust.root(_module(frame)) != "autoimport" and trust.is_library(_module(frame)) for frame in frames):
        return f"handles a {name}, which eager code may not meet"
    raised = bool(frames) and frames[-1].f_code in (asserts.raise_.__code__, asserts.assert_.__code__)
    if raised or (isinstance(error, _OF_VALUES) and not isinstance(error, FloatingPointError)):
        return None
    return f"handles a {name}, which a symbolic value may have caused"


def _frames(error: BaseException) -> Iterator[types.FrameType]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _module(frame: types.FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
