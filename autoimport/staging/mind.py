"""One site over time: its specialisations, and what becomes of a call.

In: a call in eager mode. Out: whether it ran as a graph. First calls run eagerly and are counted, then the policy asks
for a trace; what fails, or does not pay, leaves the site to its body, with the reason. What an earlier run has learned
shortens this.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
import time
import types
import weakref
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from autoimport import config
from autoimport.convert.facts import FunctionFacts
from autoimport.operators.errors import MakesVariables
from autoimport.staging import handlers, learned, policy, registry, sampling, tf_internals, trust, verify
from autoimport.staging.failure import Failure
from autoimport.staging.gate import PYTHON_AFTER, results
from autoimport.staging.launch import EAGER, MISS, Specialisation
from autoimport.staging.sources import Changing
from autoimport.staging.trace import NeedsHost, Trace, lock
from autoimport.staging.wording import counted

# Calls of a function without tensors that are looked at: the second, and one of the last before it counts as Python.
_LOOKED_AT = (2, PYTHON_AFTER - 1)
# Seconds that a signal may have to wait for the end of a launch.
_LONGEST_WAIT = 0.1
# Seconds for which what a graph prints may be held back: it comes when the launch is over.
_LONGEST_SILENCE = 1.0


class Mind:
    """What staging thinks of one site.

    Attributes:
      entered: calls so far. lacked: why one of them last ran eagerly although there was a graph, for the report.
    """

    def __init__(self, site: registry.Site) -> None:
        self._site = site
        self._specialisations: list[Specialisation] = []
        self._lesson = lesson = learned.lesson_of(site)
        is_known = lesson is not None and lesson.is_graph
        self._policy = policy.Policy(site.facts.has_loop, is_known, lesson is not None and lesson.has_rare)
        self._without_tensors, self._runs_operations = 0, is_known
        self._sampled = 0
        self.entered = self._missed = self._launched = 0
        self.lacked: str | None = None
        self._deferred: tuple[Any, int, int] = (None, 0, 0)
        # What a region counts up, now and then, is another number the next time.
        self._changing = Changing(numbers={*site.facts.parameters}.intersection(site.facts.results))
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._numbers: dict[str, float] = {}
        self._exact_shapes = False
        self._is_hopeless = False  # the reason for which the last trace failed is there at each call, as a rule
        self._verdict: learned.Lesson | None = None
        if lesson is not None and lesson.is_graph:
            self._changing = Changing(dict(lesson.shapes), self._changing.numbers.union(lesson.numbers))
            self._exact_shapes = lesson.exact_shapes
            site.sample_ms = lesson.sample_ms
        elif lesson is not None:
            site.close("eager", lesson.reason, lesson.line)

    @property
    def cost(self) -> int:
        """What a launch runs, in operations; 0 if there is no graph."""
        return min((held.cost for held in self._specialisations), default=0)

    @property
    def bails(self) -> int:
        """How many launches sent their calls back to eager."""
        return self._policy.bails

    def teach(self, lessons: dict[int, learned.Lesson], index: int) -> None:
        """Put what this run has learned of the site at its `index` among the lessons for the next one."""
        site = self._site
        if site.closed:
            verdict = self._verdict
            if verdict is None and self._lesson is not None and not self._lesson.is_graph:
                verdict = learned.one_run_older(self._lesson)
            lessons.pop(index, None)
            if verdict is not None:
                lessons[index] = verdict
        elif (
            self._policy.has_paid and 2 * site.own_graph_calls >= site.graph_calls
        ):  # not mostly a part of its callers'
            numbers, shapes = tuple(sorted(self._changing.numbers)), tuple(sorted(self._changing.shapes.items()))
            lessons[index] = learned.Lesson(
                True, None, None, numbers, shapes, self._exact_shapes, site.sample_ms, self._policy.has_rare
            )

    def _leave_eager(self, reason: str, line: int | None = None) -> None:
        """Settle the verdict, for the next run, too."""
        self._site.close("eager", reason, line)
        self._verdict = learned.Lesson(False, reason, line)

    def enter(self, frame: types.FrameType, cells: Any, args: tuple[Any, ...]) -> bool:
        """Launch, trace, or leave it to the body."""
        self.entered += 1
        namespace = frame.f_globals
        closure = cells.__closure__ if cells is not None else ()
        start = time.perf_counter()
        for index, specialisation in enumerate(self._specialisations):
            if specialisation.unverified:
                result = verify.launch(self._site, specialisation, frame, cells, args)
            else:
                result = specialisation.call(namespace, closure, args)
            if result is MISS:
                continue
            if result is EAGER:
                return self._bailed(specialisation)
            if index:
                self._specialisations.insert(0, self._specialisations.pop(index))
            return self._done(specialisation, result, start)
        return self._cold(frame, cells, args)

    def _done(self, specialisation: Specialisation, result: Any, start: float) -> bool:
        seconds = time.perf_counter() - start
        self._site.own_graph_calls += 1
        self._site.graph_ms += 1e3 * seconds
        specialisation.note_time(seconds > _LONGEST_WAIT)
        if seconds > _LONGEST_SILENCE and specialisation.prints:
            self._site.close("eager", "prints, and a launch takes so long that somebody may be waiting for it")
        results.stack.append(result)
        if specialisation.loops and specialisation.is_to_be_compiled:
            self._compile(specialisation)
        return True

    def _compile(self, specialisation: Specialisation) -> None:
        if lock.acquire(blocking=False):
            try:
                specialisation.compile()
            except Exception:  # a fault of ours: the graph stays as it is
                if config.current().strict:
                    raise
            finally:
                lock.release()

    def _cold(self, frame: types.FrameType, cells: Any, args: tuple[Any, ...]) -> bool:
        """There is no graph for this call yet."""
        if self._site.kind == "function" and not self._runs_operations and not any(map(reaches_tensor, args)):
            self._without_tensors += 1
            if self._without_tensors in _LOOKED_AT:
                self._look(frame)
            elif self._without_tensors >= PYTHON_AFTER and not self._specialisations:
                self._site.close("python")
            return False
        self._note_arguments(args)
        hits, self._missed = self.entered - self._missed - 1, self.entered
        last = next(iter(self._specialisations), None)
        lacks = "" if last is None else last.explain(last.failed)
        self.lacked = lacks or self.lacked
        if not self._policy.wants_trace(hits, is_rare=self._is_rare(), lacks=lacks):
            self._sample(frame)
            return False
        if not self._specialisations and self._is_better_in_parts():
            return False
        if self._waits_for_caller(frame) or tf_internals.in_stateless_scope() or not lock.acquire(blocking=False):
            return False
        try:
            specialisation = self._trace(frame.f_globals, cells, args)
        except handlers.Interrupted as interrupted:
            raise interrupted.error from interrupted.error.__cause__
        except Exception as fault:  # one of ours: it costs speed, not the run
            if config.current().strict:
                raise
            self._site.close("eager", f"internal: {type(fault).__name__}: {fault}")
            complain(self._site, fault)
            return False
        finally:
            lock.release()
        return specialisation is not None and self._first_launch(specialisation, frame, cells, args)

    def _note_arguments(self, args: tuple[Any, ...]) -> None:
        """Learn from eager calls which numbers and dimensions change: that spares a graph for one of them only."""
        for text, value in zip(self._site.facts.parameters, args, strict=True):
            kind = type(value)
            if kind is tf_internals.EagerTensor and not self._exact_shapes:
                now = tf_internals.shape_tuple(value)
                self._changing.note_shape(text, self._shapes.get(text, now), now)
                self._shapes[text] = now
            elif (kind is int or kind is float) and self._numbers.setdefault(text, value) != value:
                self._changing.numbers.add(text)

    def _sample(self, frame: types.FrameType) -> None:
        """Look at the second call: the first one builds layers and slots."""
        self._sampled += 1
        if self._sampled != 2 or self._site.kind != "function":
            return  # a region's end cannot be seen

        def report(operations: int, milliseconds: float, walks: bool) -> None:
            self._site.sample_ms = milliseconds
            if not self._policy.is_worthwhile(operations, walks) and not self._site.closed:
                self._leave_eager(f"too small to gain from a graph ({counted(operations, 'operation')})")

        sampling.sample(frame, report)

    def _look(self, frame: types.FrameType) -> None:
        """Whether a function that is given no tensors runs operations all the same, on arrays or globals."""

        def report(operations: int, milliseconds: float, walks: bool) -> None:
            self._site.sample_ms = milliseconds
            self._runs_operations = operations >= policy.LEAST_OPERATIONS and self._policy.is_worthwhile(
                operations, walks
            )

        sampling.sample(frame, report)

    def _is_rare(self) -> bool:
        """Whether most iterations of the loop around are in another graph, many in each launch."""
        facts = self._site.facts
        return self._site.kind == "region" and any(
            site.state == "graph" and site.facts.is_strip and site.facts.name == facts.name
            for site in self._site.module.sites
            if _encloses(site.facts, facts)
        )

    def _is_better_in_parts(self) -> bool:
        """Whether regions of the site are graphs, and a trace of the whole has little to gain: then it is closed."""
        parts = self._parts()
        strip = next((part for part in parts if part.is_strip), None)
        if strip is not None:
            self._leave_eager("most iterations of a loop in it are graphs already, many in each", strip.line)
        elif parts and self._policy.failures and self._is_hopeless:
            self._leave_eager(self._site.reason or "", self._site.reason_line)
        return self._site.closed

    def _parts(self) -> list[FunctionFacts]:
        """The regions of the site that are graphs; of a loop that is cut into strips, its strips, too."""
        facts = self._site.facts
        return [
            site.facts
            for site in self._site.module.sites
            if site.kind == "region" and site.state == "graph" and site.facts.name == facts.name
            if _encloses(facts, site.facts) or (site.facts.is_strip and _span(facts) == _span(site.facts))
        ]

    @property
    def is_candidate(self) -> bool:
        """Whether the whole site may still become a graph."""
        may_be_traced = not self._site.closed and self._policy.failures == 0 and self._policy.waits
        return may_be_traced and not any(part.is_strip for part in self._parts())

    def _waits_for_caller(self, frame: types.FrameType) -> bool:
        """Whether a caller may soon become one larger graph, which is better than this one."""
        candidates = list(self._candidates_above(frame))
        if not candidates:
            return False
        caller, in_long_loop = min(candidates, key=lambda candidate: candidate[1])
        before, entered, times = self._deferred
        if before is not caller or entered != caller.entered:
            times = 0
        self._deferred = caller, caller.entered, times + 1
        return times < self._policy.patience(caller.entered, in_long_loop)

    def _candidates_above(self, frame: types.FrameType) -> Iterator[tuple[Mind, bool]]:
        """Such callers, the innermost first, and whether this call is made in a loop of theirs that stays Python."""
        caller = frame if self._site.kind == "region" else frame.f_back
        while caller is not None:
            for site in registry.sites_around(caller):
                if caller is frame and not _encloses(site.facts, self._site.facts):
                    continue
                if site.mind is not None and site.mind.is_candidate:
                    line = caller.f_lineno
                    yield site.mind, any(first <= line <= last for first, last in site.facts.long_loops)
            caller = caller.f_back

    # Tracing ----------------------------------------------------------------------------------------------------

    def _trace(self, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]) -> Specialisation | None:
        for earlier in self._specialisations:
            earlier.note_changes(self._changing, namespace, cells.__closure__ if cells is not None else (), args)
        if self._exact_shapes:
            self._changing.shapes.clear()
        specialisation = self._attempt(namespace, cells, args)
        if isinstance(specialisation, Failure) and self._changing.shapes:
            # Not without knowing the sizes: one graph for each.
            self._exact_shapes = True
            self._changing.shapes.clear()
            if specialisation.work <= policy.ANY_OPERATIONS or self._specialisations:
                specialisation = self._attempt(namespace, cells, args)
        if isinstance(specialisation, Failure):
            if not (specialisation.is_too_large and self._policy.may_wait_longer()):
                self._failed(specialisation.reason, specialisation.line, specialisation.work)
            return None
        if not self._policy.pays(specialisation.cost):
            self._leave_eager(f"too small to gain from a graph ({counted(specialisation.cost, 'operation')})")
            return None
        return specialisation

    def _attempt(self, namespace: dict[str, Any], cells: Any, args: tuple[Any, ...]) -> Specialisation | Failure:
        site = self._site
        site.traces += 1
        start = time.perf_counter()
        closure = cells.__closure__ if cells is not None else ()
        names = cells.__code__.co_freevars if cells is not None else ()
        try:
            form = registry.form_of(site, namespace, cells)
        except registry.NoFormError as error:
            return Failure(error.reason, error.line)
        trace = Trace(namespace, closure, names, self._changing, self._policy.largest_graph())
        before = sys.exc_info()[1]
        try:
            return trace.run(form, args, site.facts.parameters)
        except NeedsHost as number:
            self._changing.numbers.add(number.text)
            return self._attempt(namespace, cells, args)
        except BaseException as error:  # whatever a graph cannot do, eager decides
            interrupt = handlers.raised(error, before)
            if interrupt is not None:
                raise handlers.Interrupted(interrupt) from None
            self._is_hopeless = not isinstance(error, MakesVariables)
            failure = Failure.of(error, site.module.file, trace.work)
            # A traceback holds frames, and they hold what the program passed in.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            return failure
        finally:
            # Nothing of the program's may live longer for having been traced.
            trace.forget()
            site.trace_ms += 1e3 * (time.perf_counter() - start)

    def _first_launch(
        self, specialisation: Specialisation, frame: types.FrameType, cells: Any, args: tuple[Any, ...]
    ) -> bool:
        site = self._site
        # Those before may have gone with the objects that they were made for.
        last = next(iter(self._specialisations), None)
        if not self._policy.another_specialisation(self._site.own_graph_calls - self._launched):
            why = last.explain(last.failed) if last is not None else "what it works on is made anew"
            self._leave_eager(f"needs a new graph too often: {why}")
            self._specialisations.clear()
            return False
        self._launched = site.own_graph_calls
        start = time.perf_counter()
        if specialisation.unverified:
            result = verify.launch(site, specialisation, frame, cells, args)
        else:
            result = specialisation.call(frame.f_globals, cells.__closure__ if cells is not None else (), args)
        if result is MISS:
            # Something that the trace read changes while it is read.
            self._failed(f"what it reads changes by itself: {specialisation.explain(specialisation.failed)}", None)
            return False
        self._specialisations.insert(0, specialisation)
        del self._specialisations[policy.MOST_HELD :]
        specialisation.drop_with_its_objects(weakref.WeakMethod(self._drop))
        if site.closed:  # it was verified, and differs
            return self._done(specialisation, result, start)
        site.state = "graph"
        for callee, times in specialisation.callees.items():
            callee.within.append((specialisation.launches, times))
            if callee.state in ("cold", "python"):
                callee.state = "graph"
        return self._bailed(specialisation) if result is EAGER else self._done(specialisation, result, start)

    def _drop(self, specialisation: Specialisation) -> None:
        if specialisation in self._specialisations:
            self._specialisations.remove(specialisation)

    def _failed(self, reason: str, line: int | None, work: int = 0) -> None:
        site = self._site
        reason = " ".join(reason.split())[:300]
        if self._policy.another_failure(work) and not self._specialisations:
            self._leave_eager(reason, line)
            return
        site.reason, site.reason_line = reason, line
        if site.kind == "function" and line is not None:
            self._hurry_parts(line)

    def _hurry_parts(self, line: int) -> None:
        """What stands in front of the line at which a trace failed has been built: its regions need not wait."""
        facts = self._site.facts
        for site in self._site.module.sites:
            is_part = site.kind == "region" and site.facts.name == facts.name and _encloses(facts, site.facts)
            if is_part and site.mind is not None and site.facts.end_line < line <= facts.end_line:
                site.mind._policy.hurry()

    def _bailed(self, specialisation: Specialisation) -> bool:
        self.lacked = specialisation.bailed or self.lacked
        if specialisation.bailed is not None and self._policy.another_bail():
            self._leave_eager(f"must run eagerly too often ({specialisation.bailed})")
        return False


_complained = False


def complain(site: registry.Site, fault: Exception) -> None:
    """Say once that a fault of ours has cost a function its graph."""
    global _complained
    if not _complained:
        _complained = True
        print(
            f"autoimport: {site.module.file}:{site.facts.line}: {site.facts.name} runs as plain Python"
            f" ({type(fault).__name__}: {fault}); please report this",
            file=sys.stderr,
        )


# A set finds a class without comparing it, as abstract base classes do: a metaclass could notice.
_TENSORS = frozenset({tf.Tensor, tf.Variable, tf.__internal__.CompositeTensor})
_SCALARS = frozenset({int, float, str, bool, type(None)})


def reaches_tensor(value: Any, depth: int = 2) -> bool:
    """Whether a tensor is among an argument's parts: what makes a call worth a thought. Runs no code of theirs."""
    cls = type(value)
    if cls is tf_internals.EagerTensor:
        return True
    if cls in _SCALARS:
        return False
    if not _TENSORS.isdisjoint(cls.__mro__) or trust.owns_state(cls):
        return True
    if depth == 0 or issubclass(cls, (type, types.ModuleType, types.FunctionType)):
        return False
    return any(reaches_tensor(part, depth - 1) for part in _parts(value, cls))


def _parts(value: Any, cls: type) -> list[Any]:
    """The first items and attributes of an object, looked up past any method of its class."""
    if issubclass(cls, (list, tuple)):
        first = list.__getitem__ if issubclass(cls, list) else tuple.__getitem__
        return list(first(value, slice(20)))
    if issubclass(cls, dict):
        return list(itertools.islice(dict.values(value), 20))
    if issubclass(cls, functools.partial):
        return [value.args, value.keywords]
    parts: list[Any] = []
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and name != "__weakref__":
                with contextlib.suppress(AttributeError):
                    parts.append(member.__get__(value, cls))
    with contextlib.suppress(AttributeError):
        parts.extend(object.__getattribute__(value, "__dict__").values())
    return parts[:50]


def _encloses(outer: FunctionFacts, inner: FunctionFacts) -> bool:
    """Whether a site is larger than a region in it."""
    span = _span(outer)
    return span != _span(inner) and span[0] <= inner.line and inner.end_line <= span[1]


def _span(facts: FunctionFacts) -> tuple[int, int]:
    return facts.line, facts.end_line
