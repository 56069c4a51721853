"""f-strings, `%` and methods of strings -> text, or, in a trace of ours, a `Text` that is made after each launch."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinMethodType, MethodDescriptorType
from typing import Any

from autoimport.operators.text import METHODS, TextMethod, later, percent

_CONVERSIONS: dict[str | None, Callable[[Any], Any]] = {"s": str, "r": repr, "a": ascii}


def fstring(*parts: Any) -> Any:
    """The f-string of these literals and formatted fields."""
    return later(_join, *parts)


def format_(x: Any, conversion: str | None = None, spec: Any = "") -> Any:
    """The text of one field of an f-string: `{x!conversion:spec}`."""
    if conversion:
        x = later(_CONVERSIONS[conversion], x, how=str if conversion == "s" else repr)
    return later(format, x, spec, how=str)


def mod(x: Any, y: Any) -> Any:
    """`x % y`, which formats if `x` is a string."""
    return percent(x, y) if isinstance(x, (str, bytes)) else x % y


def method_of_string(fn: Any, args: tuple[Any, ...]) -> tuple[TextMethod, tuple[Any, ...]] | None:
    """A method of a string that makes another one, with its arguments, if `fn` is one."""
    if type(fn) is TextMethod:
        return fn, args
    if type(fn) is BuiltinMethodType and fn.__name__ in METHODS and isinstance(fn.__self__, str):
        return TextMethod(fn.__self__, fn.__name__), args
    if type(fn) is MethodDescriptorType and fn.__objclass__ is str and fn.__name__ in METHODS:
        return (TextMethod(args[0], fn.__name__), args[1:]) if args and isinstance(args[0], str) else None
    return None


def _join(*parts: str) -> str:
    return "".join(parts)
