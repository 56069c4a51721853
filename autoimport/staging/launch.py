"""A specialisation: one graph of a site, the guards under which it holds, and how it is launched.

In: the namespace, cells and arguments of a call. Out: the result that eager would have given, or `MISS`, or `EAGER`
when the graph found out at run time that only eager can do it.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autoimport import config
from autoimport.operators.heap import MISSING
from autoimport.staging import (
    compiled,
    gradients,
    handed_on,
    handlers,
    randomness,
    registry,
    tf_internals,
    tf_recording,
    threads,
    waiting,
)
from autoimport.staging.sources import NO_TAPE, Changing, Check
from autoimport.staging.tf_operations import patching

# From the values behind the inputs in the check function's answer and the outputs of the launch to a value.
Build = Callable[[Sequence[Any], Sequence[Any]], Any]


# The message of a check that sends the call back to eager, before anything has been changed.
BAIL = "autoimport: this call runs eagerly"


# So many launches of each graph are held against eager, if that is asked for.
VERIFIED_LAUNCHES = 3


class _Answer:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


MISS = _Answer("MISS")
EAGER = _Answer("EAGER")


def _complaint(message: str) -> str:
    """What a failed launch tells the report."""
    found = re.search(f"{BAIL}: (.*?)\\]", message)
    return f"a check in the graph fails: {found.group(1)}" if found else "an operation in the graph fails"


@dataclass(eq=False)
class Specialisation:
    """A traced graph and all that a launch needs.

    Attributes:
      function: the concrete function; inputs, outputs: how many flat tensors go in and come out.
      check: reads the inputs, or returns the number of the guard that failed; explain tells what that guard asked.
      build: from the values behind the inputs and the outputs to the result.
      seen: the shapes and numbers it was made for, by the text of their source (None where any size will do), and
        read: those of another call.
      callees: the sites that are called in the graph, with how often.
      commits: what to change outside after each launch: where the holder is among the values, the key, how to build
        the value, and how to store it.
      draws: what draws the seeds of random operations before each launch; its inputs are the first.
      slots: places that the builds need behind the outputs.
      loops: those that could be compiled; how many iterations each has made comes behind the outputs.
      pinned: weak references to the objects without which it is of no use.
      cost: operations in the graph. endangered: handles of variables that a failed launch may have changed; they are
        put back, and the call runs again eagerly. pure: a launch changes nothing, not even one that succeeds, but whose
        results cannot be built. has_idle: branches or bodies hold what can fail, but is not needed.
      prints: something is printed after each launch. is_long: a launch may take long; signals are to be honoured.
      is_for_tapes: it was traced under a tape, and checks that it has the gradients that eager code would have.
      selects_floats: it was not, and some gradients are zeros where eager code has None.
      has_items: items of lists of symbolic length are in the result: a tape knows them together, not one by one.
      may_be_others: outputs that may be arguments or other outputs themselves in eager code, by their places.
      failed: number of the guard that failed last. bailed: why a call went back to eager last; None for a seed that
        came again, which says nothing of the next calls.
    """

    function: Any
    check: Check
    explain: Callable[[int], str]
    inputs: int
    outputs: int
    build: Build
    callees: dict[registry.Site, int]
    commits: list[tuple[Build, Any, Build, Callable[[Any, Any, Any], None]]]
    seen: dict[str, Any]
    read: Callable[..., dict[str, Any]]
    draws: randomness.Launcher | None
    slots: int
    loops: list[compiled.Loop]
    pinned: list[weakref.ref[Any]]
    cost: int
    endangered: list[Any]
    pure: bool
    has_idle: bool
    prints: bool
    is_long: bool
    is_for_tapes: bool
    selects_floats: bool
    has_items: bool
    may_be_others: list[tuple[int, list[int]]]
    failed: int = -1
    bailed: str | None = None

    def __post_init__(self) -> None:
        self._name = self.function.inference_fn.name
        self._has_loop = self.is_long
        self._run_outputs = self.outputs + len(self.loops)
        self.launches = registry.Launches()
        exact = tf_internals.EXACT_CONFIG_WITH_IDLE if self.has_idle else tf_internals.EXACT_CONFIG
        self._config = exact if config.current().fidelity == "exact" else b""
        self.unverified = 0 if config.current().verify == "off" else VERIFIED_LAUNCHES
        self._in_loops, self._is_compiled = 0, False  # operations
        given = self.function.graph.inputs
        others = {index for _, indices in self.may_be_others for index in indices if index < len(given)}
        self._choices = [index for index in others if given[index].shape.rank != 0]  # equal scalars often are one
        self._in_one_thread = threads.attributes(self._name, self.function.graph, self._config)

    @functools.cached_property
    def _is_chained(self) -> bool:
        """Whether a tape outside that takes the gradient of one result by another would miss what is between them."""
        return handed_on.are_related(self.function.graph)

    @functools.cached_property
    def _hands_on(self) -> bool:
        """Whether a result may be an argument, by another name of which a tape outside may be asked."""
        return gradients.hands_on(self.function.graph)

    @functools.cached_property
    def _is_unsure(self) -> bool:
        """Whether a tape outside would get zeros where eager code gives None."""
        graph = self.function.graph
        return self.selects_floats or gradients.may_be_none(graph, graph.inputs, graph.outputs)

    def call(self, namespace: dict[str, Any], cells: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        """Launch the graph for this call if its guards hold."""
        answer = self.answer(namespace, cells, args)
        if answer is MISS or answer is EAGER:
            return answer
        result, changes = answer
        for holder, key, value, store in changes:
            if value is not MISSING:
                store(holder, key, value)
        return result

    def answer(self, namespace: dict[str, Any], cells: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        """MISS, EAGER, or the result and the changes that are left to make: holder, key, value, and how to store it."""
        values = self.check(namespace, cells, args)
        if isinstance(values, int):
            self.failed = values
            return MISS
        if tf_internals.recording():
            if self._is_chained:
                return self._eager("a gradient tape is open around it, and its results depend on one another")
            if self.has_items:
                return self._eager("a gradient tape is open around it, and items of lists of symbolic length leave it")
            if self._hands_on:
                return self._eager("a gradient tape is open around it, and a result may be an argument itself")
            if not self.is_for_tapes and self._is_unsure:
                self.failed = NO_TAPE
                return MISS
        if self.draws is None:
            return self._launch(values[: self.inputs], values[self.inputs :])
        drawn = self.draws.draw()
        if drawn is None:
            return self._eager(None)
        inputs, seeds = drawn
        answer = self._launch([*inputs, *values[: self.inputs]], values[self.inputs :])
        if answer is EAGER:
            randomness.stream().put_back(seeds)
        return answer

    def _launch(self, inputs: list[Any], old: list[Any]) -> Any:
        if self._choices and tf_internals.are_views([inputs[index] for index in self._choices]):
            return self._eager("of two tensors that are one place in memory a condition or loop hands on one")
        before = tf_internals.read_variables(self.endangered)
        try:
            outputs = self._run(inputs)
        except tf.errors.OpError as error:
            if handlers.has_raised(error):
                raise
            # Eager says what is wrong in its own words, at the person's own line.
            tf_internals.write_variables(self.endangered, before)
            return self._eager(_complaint(str(error)))
        except tf_recording.Accumulated as error:
            return self._eager(str(error))
        except LookupError as error:  # nothing has run
            if handlers.has_raised(error):
                raise
            return self._eager("a gradient tape is open around it, and something in it has no gradient")
        except handlers.Interrupted as interrupted:
            raise interrupted.error from interrupted.error.__cause__
        self.launches.count += 1
        if self.may_be_others:
            known = [*inputs, *outputs]
            for place, others in 2 * self.may_be_others:  # twice: one choice may be made of another
                known[len(inputs) + place] = tf_internals.itself(known[len(inputs) + place], [known[i] for i in others])
            outputs = known[len(inputs) :]
        if self.loops:
            outputs = self._without_iterations(outputs)
        if self.slots:
            outputs = [*outputs, *[MISSING] * self.slots]
        try:
            return self.build(old, outputs), [
                (holder(old, outputs), key, build(old, outputs), store) for holder, key, build, store in self.commits
            ]
        except Exception as error:
            if self.pure and not handlers.has_raised(error):
                return self._eager("a text or number cannot be made of its results")
            raise

    def _without_iterations(self, outputs: list[Any]) -> list[Any]:
        if self._in_loops < compiled.COST:
            for loop, iterations in zip(self.loops, outputs[self.outputs :], strict=True):
                self._in_loops += loop.operations * int(iterations)
        return outputs[: self.outputs]

    @property
    def is_to_be_compiled(self) -> bool:
        """Whether the runtime has spent on its loops what it takes to compile them."""
        return self._in_loops >= compiled.COST and not self._is_compiled

    def compile(self) -> None:
        """Compile its loops, for the next launches."""
        with patching:  # another thread may be at it, or at gradients of the graph
            if self._is_compiled:
                return
            self.function = compiled.compile_loops(self.function, self.loops)
            self._name = self.function.inference_fn.name
            self._is_compiled = True
        if config.current().verify != "off":
            self.unverified = VERIFIED_LAUNCHES

    def _run(self, inputs: list[Any]) -> Any:
        waits = self.is_long and waiting.handles_signals()
        if tf_internals.recording():
            wait = waiting.run if waits else None
            return tf_recording.run_recorded(self.function, inputs, self._config, wait, self._in_one_thread)
        if waits:
            return waiting.run(tf_internals.cancellable(self._name, inputs, self._run_outputs, self._config))
        return tf_internals.run(self._name, inputs, self._run_outputs, self._config, self._in_one_thread)

    def note_time(self, was_long: bool) -> None:
        """Note whether the last launch took long. The first one always does, and a loop may at any time."""
        if not self._has_loop:
            self.is_long = was_long and self.launches.count > 1

    def _eager(self, why: str | None) -> Any:
        self.bailed = why
        return EAGER

    def note_changes(
        self, changing: Changing, namespace: dict[str, Any], cells: tuple[Any, ...], args: tuple[Any, ...]
    ) -> None:
        """Add to `changing` the dimensions and numbers in which a call differs from what the graph was made for."""
        for text, value in self.read(namespace, cells, args).items():
            then = self.seen[text]
            if isinstance(value, tf_internals.EagerTensor):
                if isinstance(then, tuple):
                    changing.note_shape(text, then, tf_internals.shape_tuple(value))
            elif type(value) is type(then) and value != then:
                changing.numbers.add(text)

    def drop_with_its_objects(self, drop: Callable[[], Callable[[Specialisation], None] | None]) -> None:
        """Call `drop` when an object that the graph holds on to (a model, a variable) is freed by the program."""
        self_ref = weakref.ref(self)

        def freed(_: Any) -> None:
            specialisation, call = self_ref(), drop()
            if specialisation is not None and call is not None:
                call(specialisation)

        self._watches = [weakref.ref(held, freed) for ref in self.pinned if (held := ref()) is not None]
