"""A loop over a `range`, at a gate of its own -> launches that make many of its iterations at once.

In: the loop's frame, and the conditions that end a launch. Out: whether the iterations from the present one to the last
before a condition is true ran as one graph; the loop goes on behind them.

Such a graph is tried when there is one for each iteration, and the launches that it saves are worth its trace: by
counts only. What the clock decides is how many iterations a launch makes, which nobody can see: what is shown stands
between launches, and does not wait long.
"""

from __future__ import annotations

import builtins
import collections
import itertools
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import tensorflow as tf

from autoimport import config
from autoimport.operators.ranges import FARTHEST
from autoimport.staging import dispatch, learned, policy, registry, tf_internals

# A launch for fewer iterations saves little. After more, a list that they append to is none of Python's any more.
LEAST, MOST = 8, 256
# How many iterations the first launch of a site makes at most.
_FIRST = 64
# Seconds that a launch is to take; and for which it may hold back what eager shows behind its last iteration.
_LONG, _TOO_LONG = 0.25, 1.0
# A launch costs what some eight eager operations cost. A loop is traced twice as a rule.
_LAUNCH, _TRACE = 8, 2 * policy.TRACE_COST
# Places of a loop after which to ask again whether one graph for many iterations would pay.
_ASKED_AGAIN = 16

_NUMBERS = frozenset({int, float, bool})
_most: weakref.WeakKeyDictionary[registry.Site, int] = weakref.WeakKeyDictionary()


class _Walk:
    """One loop that is being run.

    Attributes:
      items: all its items.
      resume: the first place in them at which a launch may be tried.
    """

    def __init__(self, items: range, rest: Iterator[int], forget: Callable[[Any], object]) -> None:
        self.items, self.resume = items, 0
        self._rest = weakref.ref(rest, forget)
        self._numbers: tuple[Any, ...] | None = None
        self._known, self._is_stop = 0, False  # no condition is true in front of this place; one is there

    def ahead(self, place: int, stops: Callable[..., Any], numbers: tuple[Any, ...], outside: tuple[Any, ...]) -> int:
        """How many iterations from a place on no condition is true for."""
        if (numbers, outside) != self._numbers or place > self._known:
            self._numbers, self._known, self._is_stop = (numbers, outside), place, False
        last = min(place + MOST, len(self.items))
        while self._known < last and not self._is_stop:
            self._is_stop = _is_true(stops, self.items[self._known], *numbers)
            self._known += not self._is_stop
        return self._known - place

    def skip(self, count: int) -> None:
        """Let the loop go on behind so many more of its items."""
        collections.deque(itertools.islice(self._rest() or (), count), 0)


def _is_true(stops: Callable[..., Any], *numbers: Any) -> bool:
    try:
        return bool(stops(*numbers))
    except ArithmeticError:  # which that iteration raises
        return True


_walks: dict[tuple[int, registry.Site], _Walk] = {}


def items(frame: FrameType, site: registry.Site, iterable: Iterable[Any]) -> Iterable[Any]:
    """What the loop goes over instead of `iterable`: the same items."""
    if type(iterable) is not range or len(iterable) <= LEAST or not tf_internals.executing_eagerly():
        return iterable
    if max(map(abs, (iterable.start, iterable.stop + iterable.step))) > FARTHEST:
        return iterable
    if frame.f_globals.get("range", range) is not builtins.range:
        return iterable
    # As fast as the range's own iterator, and can be referred to weakly: it lives as long as the loop does.
    (rest,) = itertools.tee(iterable, 1)
    place = id(frame), site

    def forget(_: Any) -> None:
        if _walks.get(place) is walk:
            del _walks[place]

    walk = _walks[place] = _Walk(iterable, rest, forget)
    return rest


def enter(
    frame: FrameType, site: registry.Site, cells: Any, stops: Any, given: tuple[Any, ...], args: tuple[Any, ...]
) -> bool:
    """Whether a launch has made the present iteration and more; the results of the last one wait for `take`.

    Args:
      stops: a function of `given` and of globals: whether the iteration does something that the graph does not hold.
      given: the loop's item, and other locals in the conditions.
      args: what the graph form wants, behind the part of the range to loop over.
    """
    walk = _walks.get((id(frame), site)) if not dispatch.is_debugged() else None
    item, *numbers = given
    if walk is None or type(item) is not int or item not in walk.items or not tf_internals.executing_eagerly():
        return False
    place, step = walk.items.index(item), walk.items.step
    if place < walk.resume:
        return False
    outside = tuple(frame.f_globals.get(name) for name in stops.__code__.co_names)
    if not all(type(number) in _NUMBERS for number in (*numbers, *outside)):
        return False
    count = min(walk.ahead(place, stops, tuple(numbers), outside), _most.get(site) or _first(site))
    if count < LEAST:
        return False
    if not _pays(site, len(walk.items) - place):
        walk.resume = place + _ASKED_AGAIN
        return False
    bails = site.mind.bails if site.mind is not None else 0
    start, traces = time.perf_counter(), site.traces
    part = tf.constant([item, item + count * step, step][: 2 if step == 1 else 3], tf.int64)
    if not dispatch.enter(site, frame, cells, (part, *args)):
        if site.mind is not None and site.mind.bails > bails:  # somewhere among these, as it would again
            walk.resume = place + count
        return False
    seconds = time.perf_counter() - start
    if seconds > _TOO_LONG and traces == site.traces:
        site.close("eager", "a launch takes so long that somebody may be waiting for what comes behind it")
    if traces == site.traces:
        _most[site] = min(MOST, 4 * count, max(LEAST, int(count * _LONG / max(seconds, 1e-6))))
    walk.skip(count - 1)
    return True


def _first(site: registry.Site) -> int:
    """How many iterations to begin with, by what launches for each have taken."""
    parts = _parts(site)
    launches = sum(part.own_graph_calls for part in parts)
    seconds = sum(part.graph_ms for part in parts) / 1e3
    return _FIRST if not launches else min(_FIRST, max(LEAST, int(_LONG * launches / max(seconds, 1e-6))))


def _pays(site: registry.Site, iterations: int) -> bool:
    """Whether to make a graph for many iterations, if there is none: launches for each are there to compare with."""
    if site.mind is not None or config.current().stage_after is not None or learned.lesson_of(site) is not None:
        return True
    parts = _parts(site)
    if parts and all(part.closed for part in parts):
        site.close("eager", *next(((part.reason, part.reason_line) for part in parts if part.reason), (None, None)))
    cost = sum(part.mind.cost for part in parts if part.state == "graph")
    return bool(0 < _TRACE * cost <= _LAUNCH * iterations)


def _parts(site: registry.Site) -> list[registry.Site]:
    """The regions in the loop's body."""
    first, last, name = site.facts.line, site.facts.end_line, site.facts.name
    return [
        part
        for part in site.module.sites
        if part.kind == "region" and part is not site and part.facts.name == name
        if first <= part.facts.line and part.facts.end_line <= last
    ]
