"""Modules and sites: what is registered when a converted module is loaded. Imports no TensorFlow."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from autoimport.convert.facts import FunctionFacts


@dataclass
class Site:
    """One function (later: region) of a converted module, and what has become of it.

    Attributes:
      state: "cold" (not decided), "graph", "eager" (for `reason`), or "python" (no tensor ever reached it).
      calls: calls that went through the gate while it was open; graph_calls: those that ran in a graph, its own or
        a caller's. traces: traces made, successful or not. The times are milliseconds, summed.
      mind: staging's own object for this site (specialisations, policy), made on first need.
    """

    module: Module
    index: int
    facts: FunctionFacts
    kind: str = "function"
    state: str = "cold"
    reason: str | None = None
    reason_line: int | None = None
    calls: int = 0
    graph_calls: int = 0
    traces: int = 0
    eager_ms: float = 0.0
    graph_ms: float = 0.0
    trace_ms: float = 0.0
    mind: Any = None


@dataclass
class Module:
    """A converted module that was loaded in this process."""

    key: str
    name: str
    file: str
    cached: bool
    convert_ms: float
    load_forms: Callable[[], tuple[CodeType | None, ...]]
    gates: list[int] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)


modules: dict[str, Module] = {}


def register_module(
    key: str,
    name: str,
    file: str,
    functions: Sequence[FunctionFacts],
    load_forms: Callable[[], tuple[CodeType | None, ...]],
    *,
    cached: bool,
    convert_ms: float,
) -> Module:
    """Make a converted module's gates work; called before its code object runs.

    Args:
      key: the content key in the module's gates.
      name, file: as in the module's `__name__` and `__file__`.
      functions: facts in site order.
      load_forms: returns the graph forms in site order; called once, on first need.
      cached: whether the conversion came from the cache; convert_ms: what it cost.
    """
    raise NotImplementedError
