"""A function or its name -> a text that says whether its calls run as graphs, what that saved, and if not, why."""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable
from types import CodeType
from typing import Any

from autoimport.insight import report
from autoimport.insight.remedies import remedy_for
from autoimport.staging import registry
from autoimport.staging.registry import Site
from autoimport.staging.wording import counted


def explain(target: Callable[..., Any] | str) -> str:
    """Say what has become of one function so far in this process.

    Args:
      target: the function (also a method, a partial, a decorated function or a `tf.function` of it), or its name as in
        the report: `Model.call`, or the end of it, `call`. Several functions of that name are all explained.
    Returns:
      A text of a few lines: a graph or not, for how many calls, the time saved; for an eager function the line that
      stood in the way and what would change it.
    """
    sites = _sites_named(target) if isinstance(target, str) else _sites_of(target)
    if not sites:
        return _unknown(target)
    return "\n\n".join("\n".join(_explained(site)) for site in sites)


def _sites_named(name: str) -> list[Site]:
    return [site for site in registry.all_sites() if site.facts.name == name or site.facts.name.endswith("." + name)]


def _sites_of(fn: Any) -> list[Site]:
    code = _code_of(fn)
    if code is None:
        return []
    known = registry.site_of(code)
    if known is not None:
        return [known]
    candidates = [
        site
        for site in registry.all_sites()
        if site.module.file == code.co_filename
        and site.facts.name.split(".")[-1] == code.co_name
        and code.co_firstlineno <= site.facts.line <= site.facts.end_line
    ]
    # Without a gate: a code object starts at its first decorator and its site at `def`, so of the functions of this
    # name the nearest one below is meant.
    nearest = min((site.facts.line for site in candidates), default=0)
    return [site for site in candidates if site.facts.line == nearest]


def _code_of(fn: Any) -> CodeType | None:
    while True:
        if isinstance(fn, functools.partial):
            fn = fn.func
        elif inspect.ismethod(fn) or isinstance(fn, (staticmethod, classmethod)):
            fn = fn.__func__
        elif isinstance(fn, property):
            fn = fn.fget
        else:
            break
    fn = inspect.unwrap(fn)  # functools.wraps and tf.function both leave `__wrapped__`
    return fn.__code__ if inspect.isfunction(fn) else None


def _unknown(target: Any) -> str:
    name = target if isinstance(target, str) else getattr(target, "__qualname__", repr(target))
    names = sorted({module.name for module in list(registry.loaded)})
    where = f"Converted modules: {', '.join(names)}." if names else "No module has been converted."
    return f"{name}: not a function of a converted module, so it runs as plain Python. {where}"


def _explained(site: Site) -> list[str]:
    state, reason, line = report.verdict(site)
    head = f"{site.facts.name} ({report.place(site)})"
    if site.kind == "region":
        return [*_verdict(site, f"{head[:-1]}-{site.facts.end_line})", state, reason, line), *_end_lines(site)]
    return _verdict(site, head, state, reason, line)


def _end_lines(site: Site) -> list[str]:
    """What a region had to stop at."""
    if site.facts.end is None:
        return []
    line, what = site.facts.end
    return [f"  it ends before line {line}: {what}"]


def _verdict(site: Site, head: str, state: str, reason: str | None, line: int | None) -> list[str]:
    if state == "graph":
        return [f"{head}: a graph", *_graph_lines(site)]
    if state == "python":
        return [f"{head}: plain Python, no tensor reached it in {counted(site.calls, 'call')}"]
    if state == "cold":
        called = f"{counted(site.calls, 'call')} so far" if site.calls else "never called"
        return [
            f"{head}: not decided yet, {called}",
            *_reason_lines(site, reason, line),
        ]
    return [f"{head}: eager", *_reason_lines(site, reason, line), *_graph_lines(site)]


def _graph_lines(site: Site) -> list[str]:
    if not site.graph_calls:
        return []
    eager_calls = site.calls - site.graph_calls
    before = f", the other {eager_calls} eagerly" if eager_calls > 0 else ""
    lines = [f"  {site.graph_calls} of {counted(site.calls, 'call')} ran in a graph{before}"]
    missed = report.last_miss(site)
    if missed is not None:
        lines.append(f"  not at every call: {missed}")
    if site.traces:
        lines.append(f"  {counted(site.traces, 'trace')}, {report.duration(site.trace_ms)}")
    saved = report.saved_ms(site)
    if saved is not None:
        graph_ms = report.duration(site.graph_ms / site.graph_calls)
        lines.append(f"  {report.duration(site.sample_ms)} a call eagerly, {graph_ms} as a graph")
        total = f"{report.duration(abs(saved))} {'saved' if saved >= 0 else 'lost'}"
        lines.append(f"  {total}, traces included")
    return lines


def _reason_lines(site: Site, reason: str | None, line: int | None) -> list[str]:
    if reason is None:
        return []
    lines = [f"  line {line}: {reason}" if line else f"  {reason}"]
    source = linecache.getline(site.module.file, line).strip() if line else ""
    if source:
        lines.append(f"    {source}")
    remedy = remedy_for(reason)
    if remedy:
        lines.append(f"  To make it a graph: {remedy}")
    return lines
