"""What the gates call: `enter` decides whether a call becomes a graph, `take` hands over its result.

In: a site, its function's cells and arguments. Out: True and a result to take, or False and the body runs as written.
TensorFlow is never imported here, only noticed.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from autoimport import config
from autoimport.convert.facts import RETURNS
from autoimport.staging import registry

# Calls without TensorFlow, or without a tensor in sight, after which a function counts as plain Python.
PYTHON_AFTER = 16

Enter = Callable[[registry.Site, FrameType, Any, tuple[Any, ...]], bool]


class _Results(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.suspended = 0
        self.plain = 0  # calls in eager mode run as written, since they are verified
        self.jump = 0
        self.tracing = False


results = _Results()
_enter: Enter | None = None


def enter(key: str, index: int, cells: Any, /, *args: Any) -> bool:
    """Whether this call ran as a graph; its result then waits for `take`."""
    if results.suspended:
        return False
    site = registry.modules[key].sites[index]
    if _enter is None:
        _look_for_tensorflow()
    if _enter is not None:
        return _enter(site, sys._getframe(1), cells, args)
    site.own_calls += 1
    if site.own_calls >= PYTHON_AFTER:
        site.close("python")
    return False


def _look_for_tensorflow() -> None:
    """Connect the gates with TensorFlow, if that has come in the meantime."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and not getattr(tensorflow.__spec__, "_initializing", False):
        attach()


def _makes_strips() -> bool:
    if _enter is None:
        _look_for_tensorflow()
    return _enter not in (None, _never) and not results.suspended


def items(key: str, index: int, iterable: Iterable[Any], /) -> Iterable[Any]:
    """What a loop is to go over, so that `strip` may let it go past some items."""
    if not _makes_strips():
        return iterable
    from autoimport.staging import strips

    return strips.items(sys._getframe(1), registry.modules[key].sites[index], iterable)


def strip(key: str, index: int, cells: Any, stops: Any, given: tuple[Any, ...], /, *args: Any) -> bool:
    """Whether this iteration of a loop, and some that follow, ran as a graph; their results then wait for `take`."""
    if not _makes_strips():
        return False
    from autoimport.staging import strips

    return strips.enter(sys._getframe(1), registry.modules[key].sites[index], cells, stops, given, args)


@contextlib.contextmanager
def suspended() -> Iterator[None]:
    """In this thread every body runs as written."""
    results.suspended += 1
    try:
        yield
    finally:
        results.suspended -= 1


def take() -> Any:
    """The result of the graph that `enter` has just run in this thread."""
    return results.stack.pop()


def land() -> tuple[Any, ...]:
    """The results of a region that jumps may lead out of; how it was left is what `jump` answers next."""
    results.jump, value, *rest = results.stack.pop()
    if results.jump == RETURNS:
        results.stack.append(value)  # for `take`
    return tuple(rest)


def jump() -> int:
    """How the region that has just run as a graph in this thread was left."""
    return results.jump


def _never(site: registry.Site, frame: FrameType, cells: Any, args: tuple[Any, ...]) -> bool:
    site.close("python")
    return False


def expose() -> None:
    """Put the gates' functions where generated code finds them, under names that nobody can write."""
    setattr(builtins, "@enter", enter)
    setattr(builtins, "@region", enter)
    setattr(builtins, "@take", take)
    setattr(builtins, "@land", land)
    setattr(builtins, "@jump", jump)
    setattr(builtins, "@items", items)
    setattr(builtins, "@strip", strip)


def attach() -> None:
    """TensorFlow is there: connect the gates with it, and give functions called before another chance.

    A fault of ours costs speed, never the run: every body runs as written then.
    """
    global _enter
    if _enter is not None:
        return
    try:
        from autoimport.staging import dispatch

        dispatch.connect()
    except Exception as fault:
        _enter = _never
        if config.current().strict:
            raise
        print(
            f"autoimport: the program runs as plain Python, since TensorFlow could not be connected with"
            f" ({type(fault).__name__}: {fault}); please report this",
            file=sys.stderr,
        )
        return
    _enter = dispatch.enter
    for site in registry.all_sites():
        if site.state == "python":
            site.own_calls = 0
            site.reopen()
