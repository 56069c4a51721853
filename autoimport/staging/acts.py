"""A call that only tells the world something (logging, warnings, standard output) -> the same after each launch.

In: a callable and its arguments. Out: a function that does what the call would have done at this point of the program,
in the name of the line that made it; or None where the call is no such thing.
"""

from __future__ import annotations

import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from autoimport.operators import text
from autoimport.operators.errors import Unstageable
from autoimport.operators.numpy_values import Later
from autoimport.staging import texts
from autoimport.staging.guarding import class_attribute
from autoimport.staging.ours import gated
from autoimport.staging.reading import Reader
from autoimport.staging.sources import Source

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_OPERATORS = os.path.join(_PACKAGE, "operators") + os.sep
_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
    "critical": logging.CRITICAL,
}  # fmt: skip
_OF_LOGGER = {vars(logging.Logger)[name]: level for name, level in _LEVELS.items()}
_OF_LOGGING = {vars(logging)[name]: level for name, level in _LEVELS.items()}
# What a logger does with a message, if its class does not have it otherwise.
_STEPS = ("_log", "findCaller", "handle", "callHandlers", "isEnabledFor")
NOT_AN_ACT = object()


def make(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], reader: Reader) -> Any:
    """Note the call for after each launch and return its result; `NOT_AN_ACT` if it is nothing of the kind.

    Raises:
      Unstageable: it would not come out as the call itself.
    """
    owner = getattr(fn, "__self__", None)
    function = getattr(fn, "__func__", fn)
    if fn is warnings.warn:
        return _warn(reader, *args, **kwargs)
    if owner is not None and (owner is sys.stdout or owner is sys.stderr):
        return _write(fn, owner, args, kwargs, reader)
    if fn is logging.getLogger:
        return _logger(reader, *args, **kwargs)
    if isinstance(function, types.FunctionType) and function.__module__ == "logging":
        return _log(function, owner, args, kwargs, reader)
    return NOT_AN_ACT


# Standard output and error.


def _write(fn: Any, owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], reader: Reader) -> Any:
    name = fn.__name__
    if kwargs or (name, len(args)) not in (("write", 1), ("flush", 0)):
        return NOT_AN_ACT
    file = texts.stream(owner, reader)
    if not args:
        text.act("flushes a file", _flush, (), {"file": file})
        return None
    (written,) = args
    if not isinstance(written, str):
        raise Unstageable(f"writes a {type(written).__name__} to a file of texts")
    text.act("prints", _write_to, (written,), {"file": file})
    return Later(len, (written,), 0) if text.is_unknown(written) else len(written)


def _write_to(written: str, file: Any) -> None:
    file.write(written)


def _flush(file: Any) -> None:
    file.flush()


# Logging.


def _logger(reader: Reader, name: Any = None) -> Any:
    """`logging.getLogger(name)`, which gives the same object whenever it is called."""
    if name is not None and type(name) is not str:
        return NOT_AN_ACT
    logger = logging.getLogger(name)
    reader.remember(logger, Source(reader.builder.constant(logger), f"the logger {logger.name}"))
    return logger


def _log(function: Any, owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], reader: Reader) -> Any:
    logger = logging.root if owner is None else owner
    if not isinstance(logger, logging.Logger):
        return NOT_AN_ACT
    source = reader.source_of(logger)
    if source is None:
        source = Source(reader.builder.constant(logger), f"the logger {logger.name}")
    if function is logging.Logger.isEnabledFor and len(args) == 1 and type(args[0]) is int:
        answer = logger.isEnabledFor(args[0])
        reader.builder.require(source, f"{{v}}.isEnabledFor({args[0]}) is {answer}", "had another level")
        return answer
    if function in (logging.log, logging.Logger.log):
        level, *rest = args
    elif function in _OF_LOGGER or function in _OF_LOGGING:
        level, rest = {**_OF_LOGGER, **_OF_LOGGING}[function], list(args)
    else:
        return NOT_AN_ACT
    if set(kwargs) - {"extra"} or type(level) is not int or not rest:
        raise Unstageable(f"calls {function.__qualname__} in a way that no graph can hold")
    test = f"{reader.builder.constant(_is_as_usual)}({{v}})"
    if not _is_as_usual(logger):
        raise Unstageable(f"logs by {source.text}, which the program has changed")
    reader.builder.require(source, test, "had no handlers of the program's own")
    prepare = logging.basicConfig if owner is None else None
    file, line, name, _ = caller()
    text.act("logs", _Logged(logger, level, file, line, name, prepare), (kwargs.get("extra"), *rest))
    return None


class _Logged:
    """A message for a logger, from a line of the program."""

    def __init__(
        self, logger: logging.Logger, level: int, file: str, line: int, name: str, prepare: Callable[[], None] | None
    ) -> None:
        self._logger = logger
        self._level = level
        self._place = file, line
        self._name = name
        self._prepare = prepare

    def __call__(self, extra: Any, message: Any, *args: Any) -> None:
        logger = self._logger
        if self._prepare is not None and not logging.root.handlers:
            self._prepare()
        if logger.isEnabledFor(self._level):
            made = logger.makeRecord(logger.name, self._level, *self._place, message, args, None, self._name, extra)
            logger.handle(made)


def _is_as_usual(logger: Any) -> bool:
    """Whether the logger, its handlers and filters run no code that a trace would have to see."""
    if any(getattr(type(logger), name) is not getattr(logging.Logger, name) for name in _STEPS):
        return False
    while logger is not None:
        for part in (*logger.filters, *logger.handlers, *(f for handler in logger.handlers for f in handler.filters)):
            if isinstance(part, types.FunctionType):
                return False
            for name in ("emit", "filter", "handle", "format"):
                raw, _ = class_attribute(type(part), name)
                if isinstance(raw, types.FunctionType) and gated(raw.__code__):
                    return False
        logger = logger.parent if logger.propagate else None
    return True


# Warnings.


def _warn(reader: Reader, message: Any, category: Any = None, stacklevel: Any = 1, **more: Any) -> None:
    is_text = type(message) in {str, text.Text}
    is_class = category is None or (isinstance(category, type) and issubclass(category, Warning))
    if more or not is_text or not is_class or type(stacklevel) is not int or stacklevel > 1:
        raise Unstageable("calls warnings.warn in a way that no graph can hold")
    category = category or UserWarning
    if not _is_shown(category):
        raise Unstageable("warns, which is an error here")
    constant = reader.builder.constant
    reader.builder.require_that(f"{constant(_is_shown)}({constant(category)})", "a warning was no error")
    file, line, _, namespace = caller()
    text.act("warns", _Warned(category, file, line, namespace), (message,))


class _Warned:
    """A warning from a line of the program."""

    def __init__(self, category: type[Warning], file: str, line: int, namespace: dict[str, Any]) -> None:
        self._category = category
        self._place = file, line
        self._namespace = namespace

    def __call__(self, message: str) -> None:
        registry = self._namespace.setdefault("__warningregistry__", {})
        name = self._namespace.get("__name__") or "<string>"
        warnings.warn_explicit(message, self._category, *self._place, name, registry)


def _is_shown(category: type[Warning]) -> bool:
    """Whether no warning of this category would be raised instead."""
    for action, message, of, module, line in warnings.filters:
        if issubclass(category, of):
            if action == "error":
                return False
            if message is module is None and not line:
                return True
    return warnings.defaultaction != "error"  # type: ignore[attr-defined, no-any-return]


def caller() -> tuple[str, int, str, dict[str, Any]]:
    """File, line, function name and namespace of the line of the program that runs in the trace."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    named = frame
    while frame is not None and named is not None and _is_generated(named):
        is_item, passed = _is_of_comprehension(named), set()
        named = named.f_back
        while named is not None and named.f_code.co_filename != frame.f_code.co_filename:
            passed.add(named.f_code.co_name)
            named = named.f_back
        if is_item and (sys.version_info < (3, 12) or "listed" not in passed):
            name = "<listcomp>" if "listed" in passed else "<genexpr>"  # which Python runs in a frame of its own
            return frame.f_code.co_filename, frame.f_lineno, name, frame.f_globals
    if frame is None or named is None:
        raise Unstageable("logs or warns outside the program")
    return frame.f_code.co_filename, frame.f_lineno, named.f_code.co_name, frame.f_globals


def _is_of_comprehension(frame: types.FrameType) -> bool:
    """Whether a generated frame is that of a part of a comprehension."""
    file = frame.f_back.f_code.co_filename if frame.f_back is not None else ""
    makers = ("comprehensions.py", "streams.py", "folds.py")
    return frame.f_code.co_name == "<lambda>" and os.path.basename(file) in makers


def _is_generated(frame: types.FrameType) -> bool:
    """Whether a frame is that of a branch, body or operand, which only the graph form has as a function."""
    file = frame.f_back.f_code.co_filename if frame.f_back is not None else ""
    return file.startswith(_OPERATORS) and os.path.basename(file) != "calls.py"
