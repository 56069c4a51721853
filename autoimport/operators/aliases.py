"""Lists, dicts and objects of a graph under construction -> which of them may be one object in Python.

What a condition chooses, or a loop leaves, is a new object here, which has in it what one of several had. Nobody can
tell, as long as there is no way to that one but this: `join` notes, for each new object, the ones that it may be, and
`of` tells them, so that whoever is about to change one of them (see `copies`) can ask whether the others still matter.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from autoimport.operators import observer


class _State(threading.local):
    """What one graph under construction knows.

    Attributes:
      objects: by id, all that may be another one; pairs: with which ids.
      kept: more references of ours, by id of the objects.
    """

    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}
        self.pairs: dict[int, set[int]] = {}
        self.kept: list[Mapping[int, Any]] = []


_state = _State()


def relate(x: Any, y: Any) -> None:
    """`x` and `y` may be one object, in a trace of ours; in graphs that the person asked for it is not looked at."""
    if x is y or observer.current() is None:
        return
    for one, other in ((x, y), (y, x)):
        _state.objects[id(one)] = one
        _state.pairs.setdefault(id(one), set()).add(id(other))


def of(obj: Any) -> list[Any]:
    """The other objects that `obj` may be."""
    return [_state.objects[key] for key in _state.pairs.get(id(obj), ())]


def pairs(objects: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """The places of each two that may be one object; None is no object."""
    places: dict[int, list[int]] = {}
    for k, obj in enumerate(objects):
        if obj is not None:
            for key in (id(obj), *_state.pairs.get(id(obj), ())):
                yield from ((other, k) for other in places.get(key, ()))
            places.setdefault(id(obj), []).append(k)


def join(joints: Sequence[tuple[Any, Any, Any]]) -> None:
    """Note what the last of each triple may be, which stands for one of the first two: all firsts, or all seconds.

    Each of these can be None: there is no such object on that side.
    """
    lefts, rights, made = zip(*joints, strict=True) if joints else ((), (), ())
    found = [(new, each) for *sides, new in joints for side in sides if side is not None for each in (side, *of(side))]
    twins = {*pairs(lefts), *pairs(rights)}
    for new, each in found:
        relate(new, each)
    for one, other in twins:
        relate(made[one], made[other])


def join_permuted(items: Sequence[Any], moved: Sequence[Any]) -> None:
    """Note that each of the new objects may be any of the items, but no two of them the same one."""
    for new in moved:
        for each in items:
            for other in (each, *of(each)):
                relate(new, other)
    if next(pairs(items), None) is not None:
        for one, other in itertools.combinations(moved, 2):
            relate(one, other)


def references(obj: Any) -> int:
    """How many references to an object are ours."""
    return (id(obj) in _state.objects) + sum(id(obj) in each for each in _state.kept)


@contextmanager
def keeping(objects: Mapping[int, Any]) -> Iterator[None]:
    """While the block runs, the caller keeps objects, by their ids, without a use for them."""
    kept = _state.kept
    kept.append(objects)
    try:
        yield
    finally:
        kept.pop()


@contextmanager
def passing() -> Iterator[None]:
    """What is noted in the block is about objects that are gone after it."""
    before = _state.objects.copy(), {key: others.copy() for key, others in _state.pairs.items()}
    try:
        yield
    finally:
        _state.objects, _state.pairs = before


def forget() -> None:
    """Forget the objects that nobody but us has: they will never come back."""
    keys = [*_state.objects]
    while True:
        # Two more are of `sys.getrefcount`'s argument and of the dict, which `references` has counted.
        dead = [key for key in keys if sys.getrefcount(_state.objects[key]) <= references(_state.objects[key]) + 1]
        if not dead:
            return
        for key in dead:
            keys.remove(key)
            for other in _state.pairs.pop(key, set()):
                _state.pairs[other].discard(key)
            del _state.objects[key]


def graph_finished() -> None:
    """The last graph under construction in this thread is done."""
    _state.__init__()  # type: ignore[misc]
