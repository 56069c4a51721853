"""What staging found out about the sites of a module -> the next run of the same program, through the cache.

In: the verdicts of a run, at its end. Out: a lesson for each site, which the site's mind takes at its first call. A
lesson only says when to try what: a call runs as a graph under the same guards as without it, so a wrong one costs
time. One that says "eager" is forgotten after some runs, or when any module of the program is another, since the
reason may stand in a function that is called; all are when settings or versions are.
"""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import astuple, dataclass, replace
from typing import Any

from autoimport import config
from autoimport.staging import registry

# Raised whenever a lesson has other fields, or staging can do a good deal more.
_FORMAT = 3
# A verdict "eager" is tried again after it was believed for so many runs.
TRIED_AGAIN_AFTER = 8
# How many programs a module remembers, the last ones: one library module does different things in each.
_PROGRAMS = 16


@dataclass(frozen=True)
class Lesson:
    """What a site should know from the start.

    Attributes:
      is_graph: it pays to trace the second call; else the site is eager, for `reason` on line `line`.
      numbers, shapes, exact_shapes: what changes from call to call, as in `sources.Changing`; whether no dimension may
        be left open.
      sample_ms: what one eager call takes.
      has_rare: calls that are rare have been worth a graph, too.
      age: for how many runs a verdict "eager" has been believed without a try.
    """

    is_graph: bool
    reason: str | None = None
    line: int | None = None
    numbers: tuple[str, ...] = ()
    shapes: tuple[tuple[str, tuple[bool, ...]], ...] = ()
    exact_shapes: bool = False
    sample_ms: float = 0.0
    has_rare: bool = False
    age: int = 0


@dataclass
class _Held:
    """What the cache had of a module when it was asked.

    Attributes:
      lessons: by the index of a site; modules: those of the program, the key of each by its file.
      compared: how many of the modules that are loaded now have been held against those.
    """

    lessons: dict[int, Lesson]
    modules: dict[str, str]
    compared: int = 0


_known: dict[str, _Held] = {}


def lesson_of(site: registry.Site) -> Lesson | None:
    """What is to be believed about a site."""
    lesson = _lessons(site.module.key).get(site.index)
    return None if lesson is None or lesson.age >= TRIED_AGAIN_AFTER else lesson


def _lessons(key: str) -> dict[int, Lesson]:
    """Those of a module that the modules loaded so far do not make doubtful."""
    if key not in _known:
        _known[key] = _valid(_entry(key).get(_program()))
    held = _known[key]
    new = list(registry.modules.values())[held.compared :]
    held.compared += len(new)
    if any(held.modules.get(module.file) != module.key for module in new):
        held.lessons = {index: lesson for index, lesson in held.lessons.items() if lesson.is_graph}
    return held.lessons


def _entry(key: str) -> dict[str, Any]:
    """What the cache has of a module: for each program, in what circumstances it has learned what."""
    options = config.current()
    is_wanted = registry.cache is not None and options.learn and options.stage_after is None
    entry = registry.cache[0](key) if registry.cache is not None and is_wanted else None
    return entry if isinstance(entry, dict) else {}


def _valid(held: Any) -> _Held:
    """What an entry holds, if it was learned in circumstances like these."""
    try:
        circumstances, facts, modules = held
        if circumstances == _circumstances():
            return _Held({index: Lesson(*fields) for index, fields in facts.items()}, dict(modules))
    except (TypeError, ValueError, AttributeError):
        pass
    return _Held({}, {})


def _circumstances() -> tuple[Any, ...]:
    options = config.current()
    versions = [getattr(sys.modules.get(name), "__version__", "") for name in ("autoimport", "tensorflow")]
    chosen = options.packages, options.exclude, options.pure, options.effectful
    return _FORMAT, *versions, options.fidelity, *chosen


@functools.cache
def _program() -> str:
    return os.path.abspath(sys.argv[0]) if sys.argv else ""


def keep_all() -> None:
    """Keep what this run has found out. Sites that were not called, or not often, stay as they were."""
    options = config.current()
    if registry.cache is None or not options.learn or options.stage_after is not None:
        return
    loaded = {module.file: key for key, module in list(registry.modules.items())}
    for key, module in list(registry.modules.items()):
        minds = [(site.index, site.mind) for site in module.known_sites() if site.mind is not None]
        if not minds:
            continue
        before = _lessons(key)
        lessons = dict(before)
        for index, mind in minds:
            mind.teach(lessons, index)
        modules = _known[key].modules | loaded
        if (lessons, modules) != (before, _known[key].modules):
            others = [(program, held) for program, held in _entry(key).items() if program != _program()]
            facts = {index: astuple(lesson) for index, lesson in lessons.items()}
            registry.cache[1](key, dict([*others[1 - _PROGRAMS :], (_program(), (_circumstances(), facts, modules))]))


def one_run_older(lesson: Lesson) -> Lesson:
    """A verdict after a run that has believed it."""
    return replace(lesson, age=lesson.age + 1)
