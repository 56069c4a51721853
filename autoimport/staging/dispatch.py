"""A call at an open gate -> its graph form, a launch, a trace, or the body as written.

In: the site and what the gate handed over. Out: whether a result waits for `take`. Connects the gates with TensorFlow.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
import time
import types
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.staging import policy, registry, tf_internals, trust
from autoimport.staging.gate import PYTHON_AFTER, results
from autoimport.staging.launch import EAGER, MISS, Specialisation
from autoimport.staging.ours import is_ours
from autoimport.staging.trace import Trace, lock


def connect() -> None:
    """Let TensorFlow know of us: graphs open the gates, AutoGraph leaves converted functions alone."""
    import autoimport
    from autoimport import operators

    setattr(builtins, "@ops", operators)
    tf_internals.watch_graph_contexts(registry.graph_started, registry.graph_finished)
    tf_internals.make_autograph_leave_alone(is_ours)
    tf_internals.hide_frames_of(os.path.dirname(autoimport.__file__))


def form_of(site: registry.Site, namespace: dict[str, Any], cells: Any) -> types.FunctionType:
    """The graph form of a call, over the cells of the function that was called."""
    code = site.module.form(site.index)
    closure: tuple[types.CellType, ...] = ()
    if code.co_freevars:
        by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__, strict=True))
        closure = tuple(by_name[name] for name in code.co_freevars)
    return types.FunctionType(code, namespace, code.co_name, None, closure)


def enter(site: registry.Site, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]) -> bool:
    """Whether this call ran as a graph; its result then waits in `results`."""
    site.calls += 1
    if not tf_internals.executing_eagerly():
        site.graph_calls += 1
        if site.state in ("cold", "python"):
            site.state = "graph"
        results.stack.append(form_of(site, namespace, cells)(*args))
        return True
    if site.closed or _debugging():
        return False
    mind: Mind | None = site.mind
    if mind is None:
        mind = site.mind = Mind(site)
    return mind.enter(namespace, cells, args)


def _debugging() -> bool:
    """A debugger, a line tracer or a profiler wants to see the lines run."""
    return sys.gettrace() is not None or sys.getprofile() is not None


class Mind:
    """What staging thinks of one site: its specialisations and its policy."""

    def __init__(self, site: registry.Site) -> None:
        self._site = site
        self._specialisations: list[Specialisation] = []
        self._policy = policy.Policy(site.facts.has_loop)
        self._without_tensors = 0

    def enter(self, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]) -> bool:
        """Launch, trace, or leave it to the body."""
        closure = cells.__closure__ if cells is not None else ()
        start = time.perf_counter()
        for index, specialisation in enumerate(self._specialisations):
            result = specialisation.call(namespace, closure, args)
            if result is MISS:
                continue
            if result is EAGER:
                return self._bailed()
            if index:
                self._specialisations.insert(0, self._specialisations.pop(index))
            self._site.graph_calls += 1
            self._site.graph_ms += 1e3 * (time.perf_counter() - start)
            results.stack.append(result)
            return True
        return self._cold(namespace, cells, args)

    def _cold(self, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]) -> bool:
        """No graph for this call yet."""
        if not any(reaches_tensor(value) for value in args):
            self._without_tensors += 1
            if self._without_tensors >= PYTHON_AFTER and not self._specialisations:
                self._site.close("python")
            return False
        if not self._policy.wants_trace():
            return False
        if tf_internals.in_stateless_scope() or not lock.acquire(blocking=False):
            return False
        try:
            specialisation = self._trace(namespace, cells, args)
        finally:
            lock.release()
        if specialisation is None:
            return False
        return self._first_launch(specialisation, namespace, cells, args)

    def _trace(self, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]) -> Specialisation | None:
        site = self._site
        site.traces += 1
        start = time.perf_counter()
        try:
            form = form_of(site, namespace, cells)
            closure = cells.__closure__ if cells is not None else ()
            names = cells.__code__.co_freevars if cells is not None else ()
            specialisation = Trace(namespace, closure, names).run(form, args, site.facts.parameters)
        except Unstageable as error:
            self._failed(error.reason, getattr(error, "line", None) or _line_in(error, site.module.file))
            return None
        except Exception as error:  # noqa: BLE001  # whatever a graph cannot do, eager decides
            self._failed(f"{type(error).__name__}: {error}", _line_in(error, site.module.file))
            return None
        finally:
            site.trace_ms += 1e3 * (time.perf_counter() - start)
        if not self._policy.pays(specialisation.cost):
            site.close("eager", f"too small to gain from a graph ({specialisation.cost} operations)")
            return None
        return specialisation

    def _first_launch(
        self, specialisation: Specialisation, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]
    ) -> bool:
        site = self._site
        start = time.perf_counter()
        result = specialisation.call(namespace, cells.__closure__ if cells is not None else (), args)
        if result is MISS:
            # Something that the trace read changes while it is read.
            self._failed(f"what it reads changes by itself: {specialisation.explain(specialisation.failed)}", None)
            return False
        if not self._policy.another_specialisation():
            last = self._specialisations[0]
            site.close("eager", f"needs a new graph too often: {last.explain(last.failed)}")
            return False
        self._specialisations.insert(0, specialisation)
        site.state = "graph"
        if result is EAGER:
            return self._bailed()
        site.graph_calls += 1
        site.graph_ms += 1e3 * (time.perf_counter() - start)
        results.stack.append(result)
        return True

    def _failed(self, reason: str, line: int | None) -> None:
        site = self._site
        reason = " ".join(reason.split())[:300]
        if self._policy.another_failure():
            if not self._specialisations:
                site.close("eager", reason, line)
            return
        site.reason, site.reason_line = reason, line

    def _bailed(self) -> bool:
        if self._policy.another_bail():
            self._site.close("eager", "must run eagerly too often (a check in the graph fails)")
        return False


def reaches_tensor(value: Any, depth: int = 2) -> bool:
    """Whether a tensor is among an argument's parts: what makes a call worth a thought."""
    cls = type(value)
    if cls is tf_internals.EagerTensor:
        return True
    if cls in (int, float, str, bool, type(None)):
        return False
    if isinstance(value, (tf.Tensor, tf.Variable, tf.__internal__.CompositeTensor)) or trust.owns_state(cls):
        return True
    if depth == 0:
        return False
    if isinstance(value, (list, tuple)):
        return any(reaches_tensor(item, depth - 1) for item in value[:20])
    if isinstance(value, dict):
        return any(reaches_tensor(item, depth - 1) for item in list(value.values())[:20])
    if isinstance(value, functools.partial):
        return reaches_tensor(value.args, depth - 1) or reaches_tensor(value.keywords, depth - 1)
    if isinstance(value, (type, types.ModuleType, types.FunctionType)):
        return False
    held = list(getattr(value, "__dict__", {}).values())
    held += [getattr(value, name, None) for base in cls.__mro__ for name in _slots(base)]
    return any(reaches_tensor(item, depth - 1) for item in held[:50])


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return tuple(name for name in ((slots,) if isinstance(slots, str) else slots) if not name.startswith("__"))


def _line_in(error: BaseException, file: str) -> int | None:
    """The innermost line of `file` in an error's traceback."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
