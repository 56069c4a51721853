"""A signal handler that runs between two steps of ours -> it acts, and what it raises arrives, as in plain Python.

What a handler does happens once, now, and is no part of a graph that happened to be under construction; what it raises
is no failure of a guard, a trace or a launch, whatever its class.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Sequence
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
    return _interrupted(args) is not None


def has_raised(error: BaseException) -> bool:
    """Whether a signal handler has raised `error`, in something that the caller was doing."""
    if isinstance(error, KeyboardInterrupt):
        return True
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        interrupted, traceback = traceback.tb_frame, traceback.tb_next
        if _interrupted(_positional(traceback.tb_frame)) is interrupted:
            return True
    return False


def raised(error: BaseException, before: BaseException | None) -> BaseException | None:
    """What a signal handler has raised, if `error` comes of that; `before` was being handled at the start."""
    found: BaseException | None = error
    while found is not None and found is not before:
        if isinstance(found, Interrupted):
            return found.error
        if has_raised(found):
            return found
        found = found.__cause__ or found.__context__
    return None


def _interrupted(args: Sequence[Any]) -> types.FrameType | None:
    """The frame among the arguments of a handler: behind the number of a signal, perhaps behind others."""
    flat = [part for arg in args for part in (arg if type(arg) is tuple else (arg,))]  # those of `*args` come as one
    for number, frame in itertools.pairwise(flat):
        if type(frame) is types.FrameType and isinstance(number, int):
            return frame
    return None


def _positional(frame: types.FrameType) -> list[Any]:
    code = frame.f_code
    names = [*code.co_varnames[: code.co_argcount]]
    if code.co_flags & inspect.CO_VARARGS:
        names.append(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
    return [frame.f_locals.get(name) for name in names]


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
