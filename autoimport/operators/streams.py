"""A generator expression, `map`, `filter` -> a description of its items, which Python or the graph walks through.

A description has three words. `Each(source, step)` are the items of `step(item)` for each item of `source`, one after
the other; `When(condition, then)` those of `then()` if the condition holds; `One(value)` a single one. What reads all
items, or stops at one, takes them from the description (`comprehensions.push`): there a condition may be symbolic. For
anybody else an `Each` is an iterator, and Python has to know the conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autoimport.operators import heap, observer
from autoimport.operators.checks import refuse


@dataclass(frozen=True)
class One:
    """One item."""

    value: Any


@dataclass(frozen=True)
class When:
    """The items of `then()`, if `condition` holds."""

    condition: Any
    then: Callable[[], Any]


class Each:
    """The items of `step(item)` for each item of `source`.

    Attributes:
      is_shared: the program can take items from it several times, since it has a name.
      written: of a comprehension, the lambda that tells what comes of an item.
    """

    __slots__ = ("_depth", "_items", "is_shared", "source", "step", "written")

    def __init__(
        self,
        source: Any,
        step: Callable[[Any], Any],
        *,
        is_shared: bool = False,
        written: Callable[..., Any] | None = None,
    ) -> None:
        self.source = source
        self.step = step
        self.is_shared = is_shared
        self.written = written
        self._items: Iterator[Any] | None = None
        self._depth = heap.depth()

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has taken an item from the iterator."""
        return self._items is None

    def take(self) -> None:
        """All items are taken from the description."""
        self._check()
        self._items = iter(())

    def _check(self) -> None:
        if observer.current() is not None and heap.depth() != self._depth:
            refuse("an iterator is used up in a branch or loop of the graph that it was not made in")

    def __iter__(self) -> Iterator[Any]:
        if self._items is None:
            self._check()
            self._items = _pulled(self)
        return self._items

    def __next__(self) -> Any:
        return next(iter(self))


def flat(part: Each, *, takes_all: bool) -> Each:
    """The same items, of a description whose source is none itself."""
    while isinstance(part.source, Each) and part.source.is_fresh and (takes_all or not part.source.is_shared):
        part.source.take()
        part = _bound(part.source, part.step)
    return part


def _bound(part: Any, step: Callable[[Any], Any]) -> Any:
    """The items of `step(item)` for each item of `part`."""
    if type(part) is One:
        return step(part.value)
    if type(part) is When:
        return When(part.condition, lambda: _bound(part.then(), step))
    return Each(part.source, lambda item: _bound(part.step(item), step))


def _pulled(part: Any) -> Iterator[Any]:
    """The items, for Python."""
    from autoimport.operators.access import iterate
    from autoimport.operators.logic import truth

    if type(part) is One:
        yield part.value
    elif type(part) is When:
        if truth(part.condition):
            yield from _pulled(part.then())
    else:
        for item in iterate(part.source):
            yield from _pulled(part.step(item))
