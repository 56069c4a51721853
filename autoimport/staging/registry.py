"""Modules and sites: what is registered when a converted module is loaded. Imports no TensorFlow.

In: a module's key, facts and graph forms. Out: a gate table in `builtins` and a record for each site, which staging
fills in and the report reads.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

from autoimport.convert.facts import FunctionFacts
from autoimport.convert.making import Forms
from autoimport.staging.ours import gated, note_form, stored_names
from autoimport.watching import WATCHED_FROM_THE_START


class NoFormError(LookupError):
    """A function has no graph form, which may turn out only when it is asked for: it runs as written."""

    def __init__(self, message: str, reason: str, line: int | None) -> None:
        super().__init__(message)
        self.reason, self.line = reason, line


@dataclass
class Launches:
    """How often a graph was launched."""

    count: int = 0


@dataclass
class Executed:
    """What the runtime has executed: how many operations and graphs, and the milliseconds that they took."""

    operations: int = 0
    operations_ms: float = 0.0
    graphs: int = 0
    graphs_ms: float = 0.0

    def add(self, is_graph: bool, milliseconds: float) -> None:
        """One more."""
        if is_graph:
            self.graphs += 1
            self.graphs_ms += milliseconds
        else:
            self.operations += 1
            self.operations_ms += milliseconds

    @property
    def share(self) -> float:
        """The part of the time that was inside graphs."""
        return self.graphs_ms / max(self.graphs_ms + self.operations_ms, 1e-9)


# Where `measuring` counts; None if nobody has asked for it.
executed: Executed | None = None


@dataclass(eq=False)
class Site:
    """One function (later: region) of a converted module, and what has become of it.

    Attributes:
      state: "cold" (not decided), "graph", "eager" (for `reason`), or "python" (no tensor ever reached it).
      own_calls: calls that went through the gate while it was open; own_graph_calls: those of them that ran in a graph.
      within: for graphs of callers, how often the site is called in one launch. traces: traces made, successful or
        not. The times are milliseconds, summed.
      closed: the verdict is eager, so the gate is 0 except while a graph is under construction.
      sample_ms: what one early eager call took, 0.0 if none was looked at.
      mind: staging's own object for this site (specialisations, policy), made on first need.
    """

    module: Module
    index: int
    facts: FunctionFacts
    state: str = "cold"
    reason: str | None = None
    reason_line: int | None = None
    own_calls: int = 0
    own_graph_calls: int = 0
    within: list[tuple[Launches, int]] = field(default_factory=list)
    traces: int = 0
    graph_ms: float = 0.0
    trace_ms: float = 0.0
    sample_ms: float = 0.0
    closed: bool = False
    mind: Any = None

    @property
    def kind(self) -> str:
        """Either "function" or "region"."""
        return self.facts.kind

    @property
    def calls(self) -> int:
        """All calls that are known of, those inside a caller's graph included."""
        return self.own_calls + self._calls_within

    @property
    def graph_calls(self) -> int:
        """The calls that ran in a graph, the site's own or a caller's."""
        return self.own_graph_calls + self._calls_within

    @property
    def _calls_within(self) -> int:
        return sum(launches.count * times for launches, times in self.within)

    @property
    def eager_ms(self) -> float:
        """What the eager calls took, reckoned from the one that was looked at."""
        return self.sample_ms * (self.calls - self.graph_calls)

    def close(self, state: str, reason: str | None = None, reason_line: int | None = None) -> None:
        """Settle the verdict: from now on the untouched body runs, and a call costs a few nanoseconds more."""
        self.state, self.reason, self.reason_line = state, reason, reason_line
        self.closed = True
        with _lock:
            if not _graphs_under_construction:
                self.module.gates[self.index] = 0

    def reopen(self) -> None:
        """Take the verdict back."""
        facts = self.facts
        self.state, self.reason, self.reason_line = "cold", facts.reason, facts.reason_line
        self.closed = not facts.can_launch
        self.module.gates[self.index] = int(facts.can_launch)


@dataclass(eq=False, slots=True)
class Module:
    """A converted module that was loaded in this process."""

    key: str
    name: str
    file: str
    cached: bool
    convert_ms: float
    load_forms: Callable[[], Forms]
    gates: list[int] = field(default_factory=list)
    functions: Sequence[FunctionFacts] = ()
    twin: Module | None = None
    _forms: Forms | None = None
    _found: dict[int, CodeType] = field(default_factory=dict)
    _sites: list[Site] | None = None

    @property
    def sites(self) -> list[Site]:
        """The sites in source order, made on first need: most modules of a program never ask for theirs."""
        if self._sites is None:
            with _lock:
                if self._sites is None:
                    self._sites = self.twin.sites if self.twin is not None else self._make_sites()
        return self._sites

    def known_sites(self) -> list[Site]:
        """The sites, if anybody has needed them so far."""
        return self._sites or []

    def _make_sites(self) -> list[Site]:
        sites = [
            Site(self, index, facts, closed=not facts.can_launch, reason=facts.reason, reason_line=facts.reason_line)
            for index, facts in enumerate(self.functions)
        ]
        for site in sites if is_watched else ():
            site.state, site.closed, site.reason = "eager", True, site.reason or WATCHED_FROM_THE_START
        return sites

    def form(self, index: int) -> CodeType:
        """The graph form of a site, loaded or made on first need.

        Raises:
          NoFormError: there is none.
        """
        found = self._found.get(index)
        return found if found is not None else self._find(index)

    def _find(self, index: int) -> CodeType:
        with _lock:
            if self._forms is None:
                self._forms = self.load_forms()
                stored_names.update(self._forms.stored)
            form = self._forms[index]
            _in_use.add(self._forms)
        if form is None:
            reason, line = self._forms.reasons.get(index, ("no graph form", None))
            raise NoFormError(f"{self.file}: {self.sites[index].facts.name} has no graph form", reason, line)
        note_form(form)
        self._found[index] = form
        return form


modules: dict[str, Module] = {}
loaded: list[Module] = []
# The sources of what has no file: `-c`, the standard input.
texts: dict[str, bytes] = {}
# Whether gates are closed from the start, as somebody watches the program's lines; see `watching`.
is_watched = False
# How staging keeps a value by a module's key for the next run, and gets it back: load and save.
cache: tuple[Callable[[str], Any], Callable[[str, Any], bool]] | None = None
_lock = threading.RLock()
# Forms that were asked for since there has been no graph under construction.
_in_use: set[Forms] = set()
_graphs_under_construction = 0


def _forked() -> None:
    """Another thread, which this new process does not have, may have held the lock."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_forked)


def register_module(
    key: str,
    name: str,
    file: str,
    functions: Sequence[FunctionFacts],
    load_forms: Callable[[], Forms],
    *,
    cached: bool,
    convert_ms: float,
    gates: Sequence[int] | None = None,
) -> Module:
    """Make a converted module's gates work; called before its code object runs.

    A module of the same source shares its sites: guards, not the module's name, tell its functions apart.

    Args:
      key: the content key in the module's gates.
      name, file: as in the module's `__name__` and `__file__`.
      functions: facts in site order.
      load_forms: returns the graph forms; called once, on first need.
      cached: whether the conversion came from the cache; convert_ms: what it cost.
      gates: 1 for each function that may become a graph of its own, else 0; None to ask `functions`, which may be made
        on first need.
    """
    if not hasattr(builtins, "@enter"):
        from autoimport.staging import gate

        gate.expose()
    with _lock:
        twin = modules.get(key)
        if twin is not None:
            open_gates = twin.gates
        else:
            open_gates = list(gates) if gates is not None else [int(facts.can_launch) for facts in functions]
            if is_watched and not _graphs_under_construction:
                open_gates = [0] * len(open_gates)
        module = Module(key, name, file, cached, convert_ms, load_forms, open_gates, functions, twin)
        if twin is None:
            modules[key] = module
            setattr(builtins, "@on:" + key, open_gates)
        loaded.append(module)
    return module


def form_of(site: Site, namespace: dict[str, Any], cells: Any) -> FunctionType:
    """The graph form of a call, over the cells of the function that was called."""
    code = site.module.form(site.index)
    closure: tuple[CellType, ...] = ()
    if code.co_freevars:
        by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__, strict=True))
        closure = tuple(by_name[name] for name in code.co_freevars)
    return FunctionType(code, namespace, code.co_name, None, closure)


def site_of(code: CodeType) -> Site | None:
    """The site of a function whose eager form `code` is."""
    module = module_of(code)
    if module is None:
        return None
    # `@on:KEY[index] and @enter("KEY", ...)` is the first thing in the code, so are its constants.
    index = code.co_consts[code.co_consts.index(module.key) - 1]
    site = module.sites[index] if type(index) is int and 0 <= index < len(module.sites) else None
    # If only regions in it have gates, the constant may be any number.
    return site if site is not None and site.kind == "function" and _is_of(site.facts, code) else None


def _is_of(facts: FunctionFacts, code: CodeType) -> bool:
    """Whether code is that of the function."""
    if facts.name.rpartition(".")[2] != code.co_name or facts.line < code.co_firstlineno:
        return False
    return facts.line <= max(line or 0 for _, _, line in code.co_lines())


def sites_around(frame: FrameType) -> Iterator[Site]:
    """The sites that a frame is in at present: the regions around its line, and its function."""
    module = module_of(frame.f_code)
    if module is not None:
        for site in module.sites:
            if site.kind == "region" and site.facts.line <= frame.f_lineno <= site.facts.end_line:
                yield site
        own = site_of(frame.f_code)
        if own is not None:
            yield own


def module_of(code: CodeType) -> Module | None:
    """The module whose gates are in the code; None if there are none."""
    if not gated(code) and "@region" not in code.co_names:
        return None
    return next((modules[c] for c in code.co_consts if isinstance(c, str) and c in modules), None)


def all_sites() -> Iterator[Site]:
    """Every site of every module, once."""
    for module in list(modules.values()):
        yield from module.sites


def graph_started() -> None:
    """A graph is under construction from now on: all gates open, whatever the verdicts."""
    global _graphs_under_construction
    with _lock:
        _graphs_under_construction += 1
        if _graphs_under_construction == 1:
            for module in modules.values():
                module.gates[:] = [1 if site.facts.has_form else 0 for site in module.sites]


def graph_finished() -> None:
    """The end of `graph_started`: with the last graph the verdicts hold again."""
    global _graphs_under_construction
    with _lock:
        _graphs_under_construction -= 1
        if _graphs_under_construction == 0:
            for module in modules.values():
                module.gates[:] = [1 if site.facts.has_form and not site.closed else 0 for site in module.sites]
            for forms in _in_use:
                forms.close()
            _in_use.clear()
