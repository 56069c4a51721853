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

from autoimport.operators import heap, iterators


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

    __slots__ = ("_is_left", "_items", "_made", "is_shared", "source", "step", "written")

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
        self._made = iterators.now(heap.body())
        self._is_left = False

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has taken an item from the iterator."""
        return self._items is None and not self._is_left

    @property
    def is_plain(self) -> bool:
        """Whether these are the items of `zip`, `enumerate` or `reversed` over something symbolic, as they are."""
        return self.step is One

    def given(self, takes_items: bool) -> Any:
        """What a function is given that takes all items, or else may do anything with them."""
        if takes_items:
            return iter(self)
        self.is_shared = True
        return self

    def take(self, *, all_of_them: bool = True) -> None:
        """The items are taken from the description; how many, only the graph may know."""
        self._check()
        if all_of_them:
            self._items = _nothing()
        else:
            self._is_left = True

    def _check(self) -> None:
        iterators.require_there(self._made, heap.body())
        if self._is_left:
            iterators.refuse_left()

    def __iter__(self) -> Iterator[Any]:
        self._check()
        if self._items is None:
            self._items = _pulled(self)
        return self._items

    def __next__(self) -> Any:
        return next(iter(self))

    def __getattr__(self, name: str) -> Any:
        if name in ("close", "send", "throw"):
            return getattr(iter(self), name)
        raise AttributeError(name)


def flat(part: Each, *, takes_all: bool) -> Each:
    """The same items, of a description whose source is none itself."""
    while isinstance(part.source, Each) and part.source.is_fresh:
        source = part.source
        if not takes_all and source.is_shared and not source.is_plain:
            break
        source.take(all_of_them=takes_all)
        part = _bound(part.source, part.step)
    return part


def _bound(part: Any, step: Callable[[Any], Any]) -> Any:
    """The items of `step(item)` for each item of `part`."""
    if type(part) is One:
        return step(part.value)
    if type(part) is When:
        return When(part.condition, lambda: _bound(part.then(), step))
    return Each(part.source, lambda item: _bound(part.step(item), step))


def _nothing() -> Iterator[Any]:
    yield from ()


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
