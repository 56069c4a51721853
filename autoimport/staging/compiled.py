"""A finished graph -> its loops over integers and flags, and the same graph with these compiled by XLA.

The runtime takes half a microsecond for each operation of an iteration, machine code a nanosecond. Only operations are
taken that cannot fail, which XLA would not tell, and on types for which it computes what the kernels do, to the bit:
floating point it may contract. Nobody can interrupt a compiled loop, so it comes back now and then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators.selects import inlined, is_total
from autoimport.staging import tf_internals

# To compile a loop takes as long as the runtime takes for so many operations.
COST = 300_000
# So many operations of small tensors a compiled loop runs at most, in far less than a second, before it comes back.
_STRETCH = 1_000_000

_TYPES = frozenset({tf.bool, tf.int32, tf.int64})
_FREE = frozenset({"Placeholder", "Identity", "Const"})


@dataclasses.dataclass(frozen=True)
class Loop:
    """A loop that can be compiled: its operation, and how many operations an iteration runs."""

    operation: Any
    operations: int

    @property
    def iterations(self) -> Any:
        """How many iterations there have been, a scalar of the graph."""
        return self.operation.outputs[0]


def loops_in(graph: Any) -> list[Loop]:
    """The loops of a function graph that can be compiled; not those in its branches and bodies."""
    found = []
    for loop in graph.get_operations():
        if loop.type == "StatelessWhile" and not loop.device and not tf_internals.control_outputs(loop):
            parts = [op for part in tf_internals.inner_graphs(graph, loop) for op in part.get_operations()]
            if all(map(_is_exact, parts)):
                found.append(Loop(loop, sum(op.type not in _FREE for op in parts)))
    return [] if tf.config.list_physical_devices("GPU") else found  # there, the kernels are others


def _is_exact(op: Any) -> bool:
    return (op.type in _FREE or is_total(op)) and all(tensor.dtype in _TYPES for tensor in [*op.inputs, *op.outputs])


def compile_loops(function: Any, loops: Sequence[Loop]) -> Any:
    """A concrete function that does the same as `function`, whose graph it takes over, with these loops compiled."""
    graph = function.graph
    with graph.as_default(), tf.control_dependencies(None), tf_internals.unrecorded():
        for loop in loops:
            tf_internals.replace(graph, loop.operation, _compiled(graph, loop))
    return tf_internals.function_anew(function)


def _compiled(graph: Any, loop: Loop) -> list[Any]:
    more = tf_internals.called(graph, loop.operation, "cond")
    step = tf_internals.called(graph, loop.operation, "body")
    most = _STRETCH // loop.operations

    def goes_on(*now: Any) -> Any:
        return _run(more, now)[0]

    def stretch(*start: Any) -> Any:
        return tf.while_loop(
            lambda left, *now: tf.logical_and(left > 0, goes_on(*now)),
            lambda left, *now: [left - 1, *_run(step, now)],
            [tf.constant(most), *start],
        )[1:]

    compiled = tf.function(stretch, jit_compile=True, autograph=False)
    return list(tf.while_loop(goes_on, compiled, list(loop.operation.inputs)))


def _run(graph: Any, inputs: Sequence[Any]) -> list[Any]:
    names = (tensor.name for tensor in graph.inputs)
    return inlined(graph, dict(zip(names, inputs, strict=True)), graph.outputs)
