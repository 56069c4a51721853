"""A graph, where gradients start and what they are taken of -> whether each is there on every way through the graph.

Eager code gives None for the gradient of what the branch taken has not used, or a loop without iterations; a graph
gives zeros, since it has one gradient for all ways, and an optimizer can tell them apart. So a graph may only take
gradients that are there whatever its conditions say: of each tensor it is reckoned from which sources a gradient may
flow to it, and from which it does on every way. Sources are bits of a mask.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.loops import SURE
from autoimport.operators.observer import Observer
from autoimport.staging import tf_internals

# The sources from which a gradient flows to a tensor on every way, and on some way.
Reach = tuple[int, int]
_NOWHERE: Reach = (0, 0)

_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_LOOPS = frozenset({"While", "StatelessWhile"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


def may_be_none(graph: Any, sources: Sequence[Any], targets: Sequence[Any]) -> list[int]:
    """Of each target, the sources from which it depends on conditions whether a gradient flows to it, as a mask."""
    return [possible & ~certain for certain, possible in _reaches(graph, sources, targets, False)]


def _reaches(graph: Any, sources: Sequence[Any], targets: Sequence[Any], rounds: bool) -> list[Reach]:
    """What reaches each target; with `rounds` loops, but not those inside others or branches, have an iteration."""
    if not any(operation.type in _BRANCHES | _LOOPS for operation in graph.get_operations()):
        return []  # then it is None in both, or in neither
    known: dict[str, Reach] = {}
    for index, source in enumerate(sources):
        known[source.name] = _either(known.get(source.name, _NOWHERE), (1 << index, 1 << index))
    _flow(graph, known, rounds)
    return [known.get(target.name, _NOWHERE) for target in targets]


def require_sure(trace: Observer, target: Any, sources: Any, result: Any) -> None:
    """Give up where a gradient that a trace has taken may be None in eager code, or check when the graph runs.

    Args:
      target, sources: as a tape's method has got them; result: what it has given.
    Raises:
      Unstageable: it depends on a branch.
    """
    targets = [each for each in tf.nest.flatten(target) if isinstance(each, tf_internals.SymbolicTensor)]
    pairs = zip(tf.nest.flatten(sources), tf.nest.flatten(result), strict=True)
    taken = [source for source, gradient in pairs if gradient is not None]
    if not targets or not taken:
        return
    graph = targets[0].graph
    inside = [tf_internals.inside(graph, source) for source in taken]
    certain, possible = _to_any(_reaches(graph, inside, targets, False))
    unsure = possible & ~certain
    if not unsure:
        return
    after_rounds, _ = _to_any(_reaches(graph, inside, targets, True))
    for index, source in enumerate(taken):
        if (unsure & ~after_rounds) >> index & 1:
            what = f"takes a gradient of {getattr(source, 'name', 'a tensor')} that is None if a branch is not taken"
            raise Unstageable(what, "use it on both ways")
    for operation in graph.get_operations():
        if operation.type in _LOOPS and SURE not in operation.name:
            trace.bail_if(tf.equal(operation.outputs[0], 0), "a gradient is None, since a loop has no iteration")


def _to_any(reaches: list[Reach]) -> Reach:
    return functools.reduce(_either, reaches, _NOWHERE)


def _either(one: Reach, other: Reach) -> Reach:
    return one[0] | other[0], one[1] | other[1]


def _flow(graph: Any, known: dict[str, Reach], rounds: bool) -> None:
    """Add to `known` all tensors of a graph that gradients reach from those in it."""
    for operation in graph.get_operations():
        reached = [known.get(tensor.name, _NOWHERE) for tensor in operation.inputs]
        if not any(possible for _, possible in reached):
            continue
        for tensor, reach in zip(operation.outputs, _through(graph, operation, reached, rounds), strict=False):
            if reach[1] and _carries(tensor.dtype):
                known[tensor.name] = _either(known.get(tensor.name, _NOWHERE), reach)


def _through(graph: Any, operation: Any, reached: list[Reach], rounds: bool) -> list[Reach]:
    """What reaches the outputs of an operation from its inputs."""
    kind = operation.type
    if kind in _BRANCHES:
        ways = [_inside(branch, reached[1:]) for branch in tf_internals.inner_graphs(graph, operation)]
        return [_on_every_way(each) for each in zip(*ways, strict=False)]
    if kind in _LOOPS:
        return _round(tf_internals.called(graph, operation, "body"), reached, rounds or SURE in operation.name)
    if kind in _CALLS:
        return _inside(tf_internals.called(graph, operation, "f"), reached)
    if not tf_internals.has_gradient(operation):
        return []
    joined = _NOWHERE
    for tensor, reach in zip(operation.inputs, reached, strict=True):
        if _carries(tensor.dtype):
            joined = _either(joined, reach)
    return [joined] * len(operation.outputs)


def _inside(graph: Any, reached: Sequence[Reach]) -> list[Reach]:
    """What reaches the outputs of a branch, a body or a called function."""
    known = {tensor.name: reach for tensor, reach in zip(graph.inputs, reached, strict=False) if reach[1]}
    _flow(graph, known, False)
    return [known.get(tensor.name, _NOWHERE) for tensor in graph.outputs]


def _round(body: Any, before: list[Reach], has_rounds: bool) -> list[Reach]:
    """What reaches the outputs of a loop: after one iteration, after any more, and after none."""
    now = _inside(body, before)
    after = now
    seen = []
    while (now, after) not in seen:
        seen.append((now, after))
        now = _inside(body, now)
        after = [_on_every_way(each) for each in zip(after, now, strict=True)]
    return after if has_rounds else [_on_every_way(each) for each in zip(after, before, strict=True)]


def _on_every_way(ways: Sequence[Reach]) -> Reach:
    certain, possible = ways[0]
    for way in ways[1:]:
        certain, possible = certain & way[0], possible | way[1]
    return certain, possible


def _carries(dtype: Any) -> bool:
    return bool(dtype.is_floating or dtype.is_complex or dtype in (tf.resource, tf.variant))
