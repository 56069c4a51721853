"""A finished graph -> whether a launch is faster in the thread that makes it than on the threads of the runtime.

To hand a graph over to other threads, and to be woken when they are done, takes as long as some five operations take.
It pays where heavy operations do not need one another. How long they take is reckoned from the sizes of their tensors:
only speed depends on it.

In its own thread a function is called by an operation, of which the runtime keeps for ever what it has made of the
function. So that is over when the graphs that the program has dropped come to some megabytes.
"""

from __future__ import annotations

import functools
import math
import os
import weakref
from typing import Any

from autoimport.staging import tf_internals
from autoimport.staging.tf_operations import begins_with_a_sum, calls_functions

# Microseconds to hand a launch over and back (two cores: 50 to 80), and what a heavy operation takes at least.
_HAND_OVER = 75.0
_HEAVY = 10.0
# What a microsecond is enough for: elements, floating point operations of a product, elements of what goes over them
# many times.
_ELEMENTS, _PRODUCTS, _MANY_TIMES = 1000.0, 20_000.0, 50.0
# Operations in dropped graphs that the runtime may keep: 4 KB each.
_MOST_KEPT = 10_000
# How many items a dimension has that is not known.
_ITEMS = 32

_MATRIX_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
_GO_OVER = ("Conv", "Cholesky", "Eig", "FFT", "Lu", "Matrix", "Pool", "Qr", "Svd", "Sort", "TopK")

_kept = 0


def _note_dropped(operations: int) -> None:
    global _kept
    _kept += operations


@functools.cache
def _threads() -> int:
    """How many operations the runtime runs at a time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return tf_internals.threads_between_operations() or cores or 1


def needs_one(graph: Any) -> bool:
    """Whether the launches of a function's graph, until it is dropped, are best made in one thread."""
    if _kept > _MOST_KEPT or not tf_internals.has_one_device() or not _is_the_same_in_one(graph):
        return False
    operations = graph.get_operations()
    ready: dict[Any, float] = {}  # when it could be, with as many threads as one likes
    total = 0.0
    for operation in operations:
        cost = _microseconds(operation)
        cost = cost if cost >= _HEAVY else 0.0
        total += cost
        before = (*(tensor.op for tensor in operation.inputs), *operation.control_inputs)
        ready[operation] = max((ready.get(each, 0.0) for each in before), default=0.0) + cost
    last = max(ready.values(), default=0.0)
    if total - max(last, total / _threads()) >= _HAND_OVER:
        return False
    weakref.finalize(graph, _note_dropped, len(operations)).atexit = False
    return True


def _is_the_same_in_one(graph: Any) -> bool:
    """Whether the runtime does the same with a function that an operation calls, to the bit.

    It drops what nobody needs there, though it might fail; computes once what depends on constants only; and an
    attribute does not keep a sum from beginning with another term. It refuses shapes as results. Loops and branches are
    spread over threads anyway.
    """
    if not all(map(tf_internals.is_stateful, graph.control_outputs)):
        return False
    if any(tf_internals.behind_identities(tensor).op.type == "Shape" for tensor in graph.outputs):
        return False
    fixed = set()
    for operation in graph.get_operations():
        if calls_functions(operation.type):
            return False
        is_source = operation.type == "Placeholder" or tf_internals.is_stateful(operation)
        if not is_source and all(tensor.op in fixed for tensor in operation.inputs):
            fixed.add(operation)
        has_order = operation.type == "AddN" and len(operation.inputs) > 2
        if has_order and (operation.inputs[0].op in fixed or not begins_with_a_sum(operation)):
            return False
    return True


def attributes(name: bytes, graph: Any, config: bytes) -> Any:
    """What `tf_internals.run` needs to launch a function in its own thread; None if it is faster on several."""
    return tf_internals.in_one_thread(name, graph.inputs, graph.outputs, config) if needs_one(graph) else None


def _microseconds(operation: Any) -> float:
    """What an operation takes on one core, roughly."""
    sizes = [_elements(tensor) for tensor in (*operation.inputs, *operation.outputs)]
    most = max(sizes, default=0)
    if operation.type in _MATRIX_PRODUCTS:  # m by k and k by n into m by n
        return 2.0 * math.sqrt(math.prod(sizes)) / _PRODUCTS
    if any(part in operation.type for part in _GO_OVER):
        return most / _MANY_TIMES
    return most / _ELEMENTS


def _elements(tensor: Any) -> int:
    sizes = tensor.shape.as_list() if tensor.shape.rank is not None else [None]
    return math.prod(_ITEMS if size is None else size for size in sizes)
