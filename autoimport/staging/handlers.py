"""A signal handler that runs between two steps of ours -> it acts, and what it raises arrives, as in plain Python.

What a handler does happens once, now, and is no part of a graph that happened to be under construction; what it raises
is no failure of a guard, a trace or a launch, whatever its class.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.staging import gate


class Interrupted(BaseException):
    """A signal handler has raised `error`: no failure of the launch or trace under way, whatever its class."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def is_called(args: tuple[Any, ...]) -> bool:
    """Whether these are the arguments of a signal handler, in a converted call: it gets the frame it interrupts."""
    return any(_is_frame(arg) for arg in args)


def raised(error: BaseException) -> BaseException | None:
    """What a signal handler has raised, if `error` comes of that."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, Interrupted):
            return found.error
        if isinstance(found, KeyboardInterrupt) or _leads_through_handler(found.__traceback__):
            return found
        found = found.__cause__ or found.__context__
    return None


def _leads_through_handler(traceback: types.TracebackType | None) -> bool:
    while traceback is not None and traceback.tb_next is not None:
        interrupted, traceback = traceback.tb_frame, traceback.tb_next
        if any(_is_frame(value, interrupted) for value in _arguments(traceback.tb_frame)):
            return True
    return False


def _arguments(frame: types.FrameType) -> list[Any]:
    """The arguments of a call, not what it has found itself: many a function looks up the frame that calls it."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return [values[name] for name in code.co_varnames[:count] if name in values]


def _is_frame(value: Any, frame: types.FrameType | None = None) -> bool:
    parts = value if type(value) is tuple else (value,)  # those of `*args` come as one
    return any(type(part) is types.FrameType and (frame is None or part is frame) for part in parts)


def run(frame: types.FrameType, cells: Any, args: tuple[Any, ...]) -> Any:
    """Call the function that `frame` is the call of once more, as written, in eager mode and unseen by the trace.

    Raises:
      Interrupted: it has raised something.
    """
    code = frame.f_code
    by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__, strict=True)) if cells is not None else {}
    closure = tuple(by_name[name] for name in code.co_freevars)
    function = types.FunctionType(code, frame.f_globals, code.co_name, None, closure or None)
    trace = observer.observe(None)
    try:
        with gate.suspended(), tf.init_scope():
            return _call(function, code, list(args))
    except BaseException as error:
        raise Interrupted(error) from None
    finally:
        observer.observe(trace)


def _call(function: types.FunctionType, code: types.CodeType, args: list[Any]) -> Any:
    """A gate hands over all parameters in one row, those of `*args` and `**kwargs` as one each."""
    keywords = args.pop() if code.co_flags & inspect.CO_VARKEYWORDS else {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    by_name = {name: args.pop() for name in reversed(names)}
    rest = args.pop() if code.co_flags & inspect.CO_VARARGS else ()
    return function(*args, *rest, **by_name, **keywords)
