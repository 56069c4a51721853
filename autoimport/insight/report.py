"""Registered modules and sites -> the report of a run, as a dict, a JSON file or a table. Imports no TensorFlow."""

from __future__ import annotations

import json
import os
import stat
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, TextIO

from autoimport import config
from autoimport.distributions import resolve
from autoimport.selection import covers, left_alone
from autoimport.staging import declared, registry
from autoimport.staging.registry import Module, Site
from autoimport.staging.wording import counted, counted_sites

VERSION = 1
WIDTH = 100
# What kept calls of a graph's site eager is worth a word if it was one in so many.
MANY_EAGER_CALLS = 4
_NAME_WIDTH = 27
_PLACE_WIDTH = 35

# The clock of `total_ms`. The command imports this module before the program starts.
_started = time.perf_counter()


def as_dict() -> dict[str, Any]:
    """The report of this process so far, in the form of `--report-json`."""
    return {
        "version": VERSION,
        "sites": [_site_as_dict(site) for site in registry.all_sites()],
        "modules": [_module_as_dict(module) for module in list(registry.loaded)],
        "left_alone": dict(sorted(left_alone.items())),
        "never_imported": _never_imported(),
        "operations": _operations_as_dict(),
        "total_ms": round((time.perf_counter() - _started) * 1e3, 3),
    }


def write_json(path: str | os.PathLike[str]) -> None:
    """Write the report to `path`: whoever reads it finds the old file or the whole new one.

    What is no file (a pipe, a device), and what this process has its output in, is written to as it is: a file in its
    place would be the loss of that output.
    """
    text = json.dumps(as_dict(), indent=1) + "\n"
    is_there = os.path.exists(path)
    stream = next((number for number in (1, 2) if is_there and _leads_to(number, path)), None)
    if stream is not None:
        _flush()
        # Not the path: a file that is opened a second time is written to from its start.
        with open(stream, "w", encoding="utf-8", closefd=False) as output:
            output.write(text)
        return
    if is_there and not stat.S_ISREG(os.stat(path).st_mode):
        Path(path).write_text(text, encoding="utf-8")
        return
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _leads_to(descriptor: int, path: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:  # closed
        return False


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or None


def deliver(options: config.Options, stream: TextIO | None) -> None:
    """Report as the options say: to a file, and to `stream`. What cannot be written costs one line on stderr."""
    if options.report_json:
        try:
            write_json(options.report_json)
        except OSError as error:
            print(f"autoimport: {options.report_json}: cannot be written ({error.strerror})", file=sys.stderr)
    if options.report and stream is not None:
        print_table(stream)


def print_table(stream: TextIO) -> None:
    """Print the report for people: what took most of the time first, and why what is eager is eager."""
    stream.write("\n".join(_table()) + "\n")
    stream.flush()


def verdict(site: Site) -> tuple[str, str | None, int | None]:
    """The state, the reason and its line; what has no graph of its own is eager for its facts' reason."""
    facts = site.facts
    declaration = _declaration(site) if site.state == "cold" else None
    if declaration is not None:
        return "eager", declaration, None
    if not _matters(site):
        return "eager", facts.reason, facts.reason_line
    if site.state == "eager" and site.within and 2 * site.graph_calls >= site.calls:
        return "graph", None, None  # too small for a graph of its own, it is part of its callers'
    if site.kind == "generator":
        return "graph", None, None
    return site.state, site.reason, site.reason_line


def _declaration(site: Site) -> str | None:
    """What the person has declared of a function that is the reason why it is eager."""
    module, name = site.module.name, site.facts.name
    if not site.calls and declared.is_left_alone(module, name):
        return "left alone by do_not_convert"
    is_effectful = declared.kind_of(module, name, site.module.file) == declared.EFFECTFUL
    return "declared effectful" if is_effectful and site.kind != "region" else None


def last_miss(site: Site) -> str | None:
    """Why a call last ran eagerly although there was a graph, if more than a few did."""
    if site.mind is None or MANY_EAGER_CALLS * (site.calls - site.graph_calls) < site.calls:
        return None
    reason: str | None = site.mind.lacked
    return reason


def saved_ms(site: Site) -> float | None:
    """About what the graph calls saved, traces paid; None where no eager call or no launch was timed."""
    if site.sample_ms <= 0 or site.graph_ms <= 0:
        return None
    return site.sample_ms * site.own_graph_calls - site.graph_ms - site.trace_ms


def place(site: Site) -> str:
    """`file:line`, the file relative to the working directory where it lies below it."""
    file = site.module.file
    below = os.path.join(os.getcwd(), "")
    return f"{file.removeprefix(below)}:{site.facts.line}"


def duration(milliseconds: float) -> str:
    """A time for people: `0.31 ms`, `45 ms`, `2.1 s`."""
    size = abs(milliseconds)
    if size >= 1000:
        return f"{milliseconds / 1e3:.1f} s"
    return f"{milliseconds:.0f} ms" if size >= 10 else f"{milliseconds:.2g} ms"


def _site_as_dict(site: Site) -> dict[str, Any]:
    state, reason, reason_line = verdict(site)
    return {
        "name": site.facts.name,
        "kind": site.kind,
        "file": site.module.file,
        "line": site.facts.line,
        "end_line": site.facts.end_line,
        "state": state,
        "reason": reason,
        "reason_line": reason_line,
        "ended_by": None if site.facts.end is None else f"line {site.facts.end[0]}: {site.facts.end[1]}",
        "calls": site.calls,
        "graph_calls": site.graph_calls,
        "traces": site.traces,
        "eager_ms": round(site.eager_ms, 3),
        "graph_ms": round(site.graph_ms, 3),
        "trace_ms": round(site.trace_ms, 3),
    }


def _never_imported() -> list[str]:
    """The packages that the person has named and nothing of which the program has imported: misspelt, as a rule."""
    program = getattr(sys.modules.get("__main__"), "__spec__", None)
    met = [*sys.modules, *left_alone, str(getattr(program, "name", "__main__"))]
    for module in list(registry.loaded):
        # A script may have been named, too, which is converted anyway.
        met.append(Path(module.file).stem if module.name == "__main__" else module.name)
    named = {name: resolve([name]) for name in config.current().packages or ()}
    return [name for name, modules in named.items() if not any(covers(modules, module) for module in met)]


def _operations_as_dict() -> dict[str, Any] | None:
    executed = registry.executed
    if executed is None:
        return None
    return {
        "operations": executed.operations,
        "operations_ms": round(executed.operations_ms, 3),
        "graphs": executed.graphs,
        "graphs_ms": round(executed.graphs_ms, 3),
        "share": round(executed.share, 4),
    }


def _module_as_dict(module: Module) -> dict[str, Any]:
    return {
        "name": module.name,
        "file": module.file,
        "cached": module.cached,
        "convert_ms": round(module.convert_ms, 3),
    }


def _table() -> list[str]:
    sites = list(registry.all_sites())
    listed = [site for site in sites if _deserves_a_row(site)]
    listed.sort(key=lambda site: (-_total_ms(site), -site.calls))
    lines = [_summary(sites), *_share()]
    if listed:
        lines += ["", _row("function or region", "where", "calls", "as graph", "traces", "saved")]
    for site in listed:
        lines += _rows(site)
    others = _others([site for site in sites if not _deserves_a_row(site)])
    return [*lines, "", *others] if others else lines


def _deserves_a_row(site: Site) -> bool:
    """Whether there is more to say of a site than that nothing came of it."""
    if not _matters(site) or site.state == "python":
        return False
    return site.state != "cold" or site.reason is not None or _total_ms(site) > 0


def _matters(site: Site) -> bool:
    """Whether it may become a graph, or was a part of one."""
    return site.facts.can_launch or (site.facts.has_form and site.state == "graph")


def _total_ms(site: Site) -> float:
    return site.eager_ms + site.graph_ms + site.trace_ms


def _summary(sites: list[Site]) -> str:
    modules = list(registry.loaded)
    graphs = sum(verdict(site)[0] == "graph" for site in sites)
    cached = sum(module.cached for module in modules)
    convert = duration(sum(module.convert_ms for module in modules))
    return (
        f"autoimport: {graphs} of {counted_sites(sites)} ran as graphs; "
        f"{counted(len(modules), 'module')} ({cached} from the cache), converted in {convert}"
    )


def _share() -> list[str]:
    executed = registry.executed
    if executed is None:
        return []
    return [
        f"{executed.share:.0%} of the time in operations was inside graphs: {counted(executed.graphs, 'launch')} took "
        f"{duration(executed.graphs_ms)}, {counted(executed.operations, 'operation')} outside "
        f"{duration(executed.operations_ms)}"
    ]


def _row(name: str, where: str, calls: str, graph_calls: str, traces: str, saved: str) -> str:
    name, where = _shortened(name, _NAME_WIDTH), _shortened(where, _PLACE_WIDTH)
    numbers = f"{calls:>8}{graph_calls:>10}{traces:>8}{saved:>9}"
    return f"{name:<{_NAME_WIDTH}} {where:<{_PLACE_WIDTH}} {numbers}"


def _rows(site: Site) -> list[str]:
    state, reason, line = verdict(site)
    saved = saved_ms(site)
    head = _row(
        site.facts.title,
        place(site),
        str(site.calls),
        str(site.graph_calls),
        str(site.traces),
        "-" if saved is None else duration(saved),
    )
    if reason is None:
        missed = last_miss(site) if state == "graph" else None
        return [
            head,
            *_wrapped(f"{_STATE_WORDS[state]}, but not at every call: {missed}" if missed else _STATE_WORDS[state]),
        ]
    where = "" if line is None else f"line {line}: "
    return [head, *_wrapped(f"{_STATE_WORDS[state]}: {where}{reason}")]


_STATE_WORDS = {
    "graph": "graph",
    "eager": "eager",
    "cold": "not decided yet",
    "python": "plain Python",
}


def _others(sites: list[Site]) -> list[str]:
    verdicts = {site: verdict(site) for site in sites}
    python = [site for site, (state, _, _) in verdicts.items() if state == "python"]
    cold = [site for site, (state, _, _) in verdicts.items() if state == "cold"]
    uncalled = [site for site in cold if not site.calls]
    lines: list[str] = []
    if len(cold) > len(uncalled):
        called = (f"{site.facts.title} ({counted(site.calls, 'call')})" for site in cold if site.calls)
        lines += _wrapped(f"not decided yet: {'; '.join(called)}", first="", rest="    ")
    if python:
        lines.append(f"plain Python, no tensor reached them: {counted_sites(python)}")
    if uncalled:
        lines.append(f"never called: {counted_sites(uncalled)}")
    by_reason: dict[str, list[str]] = {}
    for site, (state, reason, _) in verdicts.items():
        if state == "eager":
            listing = by_reason.setdefault(reason or "no graph form", [])
            listing.append(f"{site.facts.title} ({place(site)})")
    for reason, listing in by_reason.items():
        lines += _wrapped(f"always eager, {reason}: {'; '.join(listing)}", first="", rest="    ")
    for name, why in sorted(left_alone.items()):
        lines += _wrapped(f"not converted: {name}: {why}", first="", rest="    ")
    never = _never_imported()
    if never:
        lines += _wrapped(f"never imported: {', '.join(never)}", first="", rest="    ")
    return lines


def _wrapped(text: str, first: str = "    ", rest: str = "      ") -> list[str]:
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=rest)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else "..." + text[len(text) - width + 3 :]
