"""A builtin container about to be changed in place -> the observer and the heap journal know."""

from __future__ import annotations

import array
from collections import deque
from typing import Any

import numpy as np

from autoimport.operators import heap, observer
from autoimport.operators.checks import refuse

_MUTABLE = (list, dict, set, deque, bytearray, np.ndarray, array.array)

_SEQUENCE = {"append", "extend", "insert", "remove", "pop", "clear", "reverse", "sort"}
MUTATING: frozenset[str] = frozenset(
    _SEQUENCE
    | {"__setitem__", "__delitem__", "__iadd__", "__imul__", "__ior__", "__iand__", "__isub__", "__ixor__"}
    | {"update", "setdefault", "popitem", "move_to_end"}  # dict
    | {"add", "discard", "difference_update", "intersection_update", "symmetric_difference_update"}  # set
    | {"appendleft", "extendleft", "popleft", "rotate"}  # deque
    | {"fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "byteswap", "frombytes", "fromlist"}
)


def is_mutable(obj: Any) -> bool:
    """Whether `obj` is a builtin container or an array, whose methods are known to us."""
    return isinstance(obj, _MUTABLE)


def before_mutation(obj: Any, what: str) -> None:
    """`obj` is about to be changed by `what`, a method's or an operator's name."""
    heap.before_container(obj)
    trace = observer.current()
    if trace is not None:
        if heap.in_symbolic_body() and isinstance(obj, (deque, bytearray, array.array)):
            refuse(f"changes a {type(obj).__name__} under a condition or in a loop over tensors")
        trace.mutate(obj, what)
