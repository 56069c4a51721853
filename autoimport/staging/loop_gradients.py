"""Loops in which gradients flow otherwise from iteration to iteration -> what has reached their results, at run time.

In: a graph in which gradients have been taken through a loop with branches in its body (a step is accepted or not), and
their sources and targets. Out: a bool vector for each target. TensorFlow keeps the conditions of such branches for the
loop of the gradient, one an iteration; each way through the body has its own table of what flows where.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.loop_bodies import SURE
from autoimport.staging import gradients, tf_internals
from autoimport.staging.gradients import Reach
from autoimport.staging.handed_on import BRANCHES, LOOPS

_MOST_CONDITIONS = 3


def at_run_time(graph: Any, sources: Sequence[Any], targets: Sequence[list[Any]], since: int) -> list[Any] | None:
    """For each group of targets, which sources a gradient flows to; None where even the graph does not tell.

    Args:
      graph: with operations of which the first `since` are not seen.
    """
    masks = list(tf.unstack(tf.eye(len(sources), dtype=tf.int32) > 0))
    known: dict[str, Reach] = {}
    for index, source in enumerate(sources):
        known[source.name] = gradients.either(known.get(source.name, gradients.NOWHERE), (1 << index, 1 << index))
    for operation in graph.get_operations()[since:]:
        reached = [known.get(tensor.name, gradients.NOWHERE) for tensor in operation.inputs]
        if not any(possible for _, possible in reached):
            continue
        if operation.type in LOOPS:
            results = _through_loop(graph, operation, reached, masks)
        else:
            results = gradients.through(graph, operation, reached, None)
        for tensor, reach in zip(operation.outputs, results, strict=False):
            if reach[1] and gradients.carries(tensor.dtype):
                known[tensor.name] = gradients.either(known.get(tensor.name, gradients.NOWHERE), reach)
    groups = [gradients.to_any([known.get(tensor.name, gradients.NOWHERE) for tensor in group]) for group in targets]
    return [_mask(certain, masks) for certain, _ in groups] if all(sure == some for sure, some in groups) else None


def _mask(bits: int, masks: list[Any]) -> Any:
    """Which sources reach a tensor, if these symbols do."""
    found = [mask for index, mask in enumerate(masks) if bits >> index & 1]
    return tf.reduce_any(tf.stack(found), axis=0) if found else tf.zeros_like(masks[0])


def _through_loop(graph: Any, loop: Any, reached: list[Reach], masks: list[Any]) -> list[Reach]:
    """What reaches the results of a loop: a symbol of its own for each, where only the graph knows."""
    body = tf_internals.called(graph, loop, "body")
    results = gradients.round_(body, reached, SURE in loop.name)
    if all(certain == possible for certain, possible in (*reached, *results)):
        return results
    ways = _ways(loop, body) if all(certain == possible for certain, possible in reached) else None
    if ways is None:
        return results
    way, table = ways
    start = tf.stack([_mask(certain, masks) for certain, _ in reached])
    _, end = tf.while_loop(
        lambda number, _: number < loop.outputs[0],
        lambda number, state: (number + 1, tf.reduce_any(table(way(number))[:, :, None] & state[None], axis=1)),
        (tf.zeros_like(loop.outputs[0]), start),
        name=SURE,
    )
    for index, (_, possible) in enumerate(results):
        if possible:
            results[index] = (1 << len(masks), 1 << len(masks))
            masks.append(end[index])
    return results


def _ways(loop: Any, body: Any) -> tuple[Any, Any] | None:
    """Which way an iteration has taken, and for a way from which variables of the loop gradients flow to which."""
    conditions: dict[str, tuple[Any, list[tuple[int, str]]]] = {}
    for operation in body.get_operations():
        if operation.type in LOOPS or gradients.hides_control_flow(operation):
            return None
        if operation.type in BRANCHES and gradients.ways_differ(body, operation):
            condition = operation.inputs[0]
            conditions.setdefault(condition.name, (condition, []))[1].append((id(body), operation.name))
    kept = [_kept(loop, body, condition) for condition, _ in conditions.values()]
    if len(kept) > _MOST_CONDITIONS or any(each is None for each in kept):
        return None
    tables = []
    for choice in itertools.product((False, True), repeat=len(kept)):
        decided = zip(conditions.values(), choice, strict=True)
        chosen = {branch: taken for (_, branches), taken in decided for branch in branches}
        flows = gradients.inside_of(body, [(1 << index, 1 << index) for index in range(len(body.inputs))], chosen)
        if any(certain != possible for certain, possible in flows):
            return None
        tables.append([[bool(certain >> index & 1) for index in range(len(flows))] for certain, _ in flows])
    places = [1 << index for index in reversed(range(len(kept)))]  # as `product` counts
    table = tf.constant(np.array(tables))

    def way(number: Any) -> Any:
        return sum((tf.cast(each[number], tf.int32) * place for each, place in zip(kept, places, strict=True)), 0)

    return way, lambda taken: tf.gather(table, taken)


def _kept(loop: Any, body: Any, condition: Any) -> Any:
    """A condition in the body of a loop as it was in each iteration, if TensorFlow keeps it."""
    for operation in condition.consumers():
        if operation.type == "TensorListPushBack" and condition.dtype == tf.bool:
            for index, output in enumerate(body.outputs):
                if tf_internals.behind_identities(output) is operation.outputs[0]:
                    shape = tf.zeros([0], tf.int32)
                    return tf.raw_ops.TensorListStack(
                        input_handle=loop.outputs[index], element_shape=shape, element_dtype=tf.bool
                    )
    return None
