"""The local variables of a hand-written graph form, and control flow over them as conversion writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autoimport.operators as ops


class Names:
    """Local variables as attributes; all of them are live after every statement."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def get(self) -> tuple[Any, ...]:
        return tuple(vars(self).values())

    def set(self, values: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(vars(self), values, strict=True))

    def if_(self, cond: Any, then: Callable[[], Any], orelse: Callable[[], Any] = lambda: None) -> None:
        ops.if_(cond, then, orelse, self.get, self.set, tuple(vars(self)), len(vars(self)))

    def while_(self, test: Callable[[], Any], body: Callable[[], Any], options: Any = None) -> None:
        ops.while_(test, body, self.get, self.set, tuple(vars(self)), len(vars(self)), options)

    def for_(self, iterable: Any, body: Callable[[Any], Any], test: Any = None, options: Any = None) -> None:
        ops.for_(iterable, test, body, self.get, self.set, tuple(vars(self)), len(vars(self)), options)

    def assign(self, **values: Any) -> None:
        """Assign in a lambda."""
        self.__dict__.update(values)
