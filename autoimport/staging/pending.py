"""Generators that a trace runs -> none of them is left in the middle when the trace ends.

What stands in `finally` and behind `with` in a generator that is dropped runs when that is freed. In a trace it has to
run as a part of it, seen by the observer: afterwards it would happen for real, once more than in Python.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from typing import Any

from autoimport.operators.errors import Unstageable

AnyGenerator = Generator[Any, Any, Any]


class Pending:
    """The generators of one trace."""

    def __init__(self) -> None:
        self._generators: weakref.WeakSet[_Watched] = weakref.WeakSet()
        self.error: BaseException | None = None

    def watch(self, generator: AnyGenerator) -> AnyGenerator:
        """The same generator, of which is known how it ends."""
        watched = _Watched(generator, self)
        self._generators.add(watched)
        return watched

    def require_none(self) -> None:
        """Give the trace up if a generator is in the middle, or has failed where Python tells nobody but the person."""
        if isinstance(self.error, Unstageable):
            raise self.error
        if self.error is not None:
            raise Unstageable(f"an error in a generator that is left early: {self.error}")
        if any(watched.is_open for watched in self._generators):
            raise Unstageable("leaves a generator in the middle, which something still holds")

    def close(self) -> None:
        """Let those that are in the middle end, in a trace that was given up."""
        for watched in list(self._generators):
            watched.close()


class _Watched(AnyGenerator):
    def __init__(self, generator: Any, pending: Pending) -> None:
        self._generator = generator
        self._pending = pending

    @property
    def is_open(self) -> bool:
        return self._generator.gi_frame is not None

    def send(self, value: Any) -> Any:
        return self._generator.send(value)

    def throw(self, *error: Any) -> Any:
        return self._generator.throw(*error)

    def close(self) -> None:
        """Called, too, where the generator around this one is freed: an error would go nowhere."""
        try:
            self._generator.close()
        except BaseException as error:
            self._pending.error = error
