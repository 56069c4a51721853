"""What a pass must know about the function that it rewrites, and how it says that it cannot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Context:
    """Where the function of a graph form comes from.

    Attributes:
      parameters: names in gate order.
      free: the free names of the original function (cells, `__class__` included).
      class_name: the class around the function, for the mangling of private names; None outside classes.
      first_parameter: what `super()` without arguments takes as its object; None when there is none.
    """

    parameters: tuple[str, ...] = ()
    free: frozenset[str] = frozenset()
    class_name: str | None = None
    first_parameter: str | None = None


class Unconvertible(Exception):
    """A function cannot have a graph form.

    Attributes:
      reason: the construct that stood in the way, in words for the report.
      line: its line in the person's file.
    """

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class TooDeep(Unconvertible, RecursionError):
    """There was not stack enough for the passes."""


def mangle(name: str, class_name: str | None) -> str:
    """Return `name` as the compiler spells it inside `class_name`.

    >>> mangle("__x", "_Net"), mangle("__x__", "Net"), mangle("x", "Net"), mangle("__x", None)
    ('_Net__x', '__x__', 'x', '__x')
    """
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    owner = class_name.lstrip("_")
    return f"_{owner}{name}" if owner else name
