"""A call at an open gate -> its graph form, a launch, a trace, or the body as written.

In: the site and what the gate handed over. Out: whether a result waits for `take`. Connects the gates with TensorFlow.
"""

from __future__ import annotations

import builtins
import os
import types
from typing import Any

from autoimport import config
from autoimport.operators import heap, observer
from autoimport.operators.errors import Unstageable
from autoimport.staging import declared, foreign, handlers, measuring, registry, sampling, tf_internals
from autoimport.staging.gate import results
from autoimport.staging.mind import Mind
from autoimport.staging.ours import is_ours
from autoimport.staging.trace import Trace
from autoimport.watching import is_watched


def connect() -> None:
    """Let TensorFlow know of us: graphs open the gates, AutoGraph leaves converted functions alone."""
    import autoimport
    from autoimport import operators

    setattr(builtins, "@ops", operators)
    tf_internals.watch_graph_contexts(registry.graph_started, _graph_finished)
    tf_internals.make_autograph_leave_alone(is_ours)
    observer.convert_on_demand = foreign.on_demand
    tf_internals.hide_frames_of(os.path.dirname(autoimport.__file__))
    if config.current().report_operations:
        measuring.start()
    os.register_at_fork(after_in_child=_forked)


_cannot_launch = False


def _forked() -> None:
    """A process forked off a running TensorFlow has none of the threads that run graphs: a launch would never end."""
    global _cannot_launch
    _cannot_launch = tf_internals.has_started()


def enter(site: registry.Site, frame: types.FrameType, cells: Any, args: tuple[Any, ...]) -> bool:
    """Whether this call ran as a graph; its result then waits in `results`."""
    if not tf_internals.executing_eagerly():
        trace = observer.current()
        if results.tracing and handlers.is_called(args):
            results.stack.append(handlers.run(frame, cells, args))
            return True
        if isinstance(trace, Trace) and _is_effectful(site):
            raise Unstageable(f"calls {site.facts.name}, which is declared effectful")
        try:
            form = registry.form_of(site, frame.f_globals, cells)
        except registry.NoFormError as error:
            if isinstance(trace, Trace):
                raise Unstageable(f"calls {site.facts.name}, which has no graph form: {error.reason}") from None
            return False
        if isinstance(trace, Trace):
            trace.callees[site] += 1
        else:
            _count_in_graph(site)
        result = form(*args)
        if isinstance(trace, Trace) and site.facts.kind == "generator":
            result = trace.pending.watch(result)
        results.stack.append(result)
        return True
    site.own_calls += 1
    if site.closed or results.plain or is_debugged() or tf_internals.operations_are_watched():
        return False
    if _cannot_launch:
        site.close("eager", "TensorFlow cannot run graphs in a process that was forked after it had started")
        return False
    mind: Mind | None = site.mind
    if mind is None:
        if _is_effectful(site):
            site.close("eager", "declared effectful")
            return False
        mind = site.mind = Mind(site)
        if site.closed:
            return False
    return mind.enter(frame, cells, args)


def _is_effectful(site: registry.Site) -> bool:
    return declared.kind_of(site.module.name, site.facts.name, site.module.file) == declared.EFFECTFUL


def _graph_finished() -> None:
    registry.graph_finished()
    if tf_internals.executing_eagerly():
        heap.graph_finished()


def _count_in_graph(site: registry.Site) -> None:
    site.own_calls += 1
    site.own_graph_calls += 1
    if site.state in ("cold", "python"):
        site.state = "graph"


def is_debugged() -> bool:
    """A debugger, a line tracer or a profiler wants to see the lines run."""
    return is_watched() and not sampling.is_alone()
