"""A graph, where gradients start and what they are taken of -> whether each is there on every way through the graph.

Eager code gives None for the gradient of what the branch taken has not used, or a loop without iterations; a graph
gives zeros, since it has one gradient for all ways and all results, and an optimizer can tell them apart. So of each
tensor it is reckoned from which sources a gradient may flow to it, and from which it does on every way; where that
differs the graph checks which way it goes, and on one without some gradient sends the call back. Sources are bits of a
mask.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.lists import ITEMS
from autoimport.operators.loop_bodies import SURE
from autoimport.operators.numbers import Known, Number, Outranking
from autoimport.operators.observer import Observer
from autoimport.staging import tf_internals
from autoimport.staging.arrays import Array
from autoimport.staging.handed_on import BRANCHES, CALLS, LOOPS, handed_on, siblings
from autoimport.staging.tf_operations import around_branches

# The sources from which a gradient flows to a tensor on every way, and on some way.
Reach = tuple[int, int]
NOWHERE: Reach = (0, 0)
# A branch in a graph, and whether its condition holds, by branch.
_Place = tuple[int, str]
Chosen = dict[_Place, bool]

# As many are looked at on all ways.
_MOST_CONDITIONS = 4


def may_be_none(graph: Any, sources: Sequence[Any], targets: Sequence[Any], since: int = 0) -> bool:
    """Whether it depends on conditions if a gradient flows from some target to some source."""
    if not _branches_or_loops(graph):
        return False
    return any(possible & ~certain for certain, possible in _reaches(graph, sources, targets, since=since))


class Opened:
    """A tape that a trace has made, where it is opened and closed: it sees the operations between the two."""

    def __init__(self, tape: Any) -> None:
        self.tape = tape
        self.graph = tf.compat.v1.get_default_graph()
        self.since = tf_internals.size_of(self.graph)
        self.until: int | None = None

    def __enter__(self) -> Any:
        return self.tape.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.tape.__exit__(*error)
        self.until = tf_internals.size_of(self.graph)


def require_tensors(*given: Any) -> None:
    """Give up where a tape gets what only stands for a tensor, a number or an array of numpy's, or one of two values.

    Raises:
      Unstageable: see above.
    """
    for each in tf.nest.flatten(given):
        if isinstance(each, (Number, Known, Outranking)) or type(each) is Array:
            raise Unstageable(f"gives a tape a {type(each).__name__}, which is no tensor")


def as_eager(
    trace: Observer, target: Any, sources: Any, result: Any, opened: Opened | None, *, gives_zeros: bool
) -> Any:
    """Gradients that a trace has taken, as eager code has them.

    Where there may be one, the graph checks that there is: gives up, or checks when it runs.

    Args:
      target, sources: as a tape's method has got them; result: what it has given.
      opened: where the tape was opened, if that is known.
      gives_zeros: whether the person asks for zeros where there is none.
    Raises:
      Unstageable: it depends on more than the conditions around.
    """
    targets = [each for each in tf.nest.flatten(target) if isinstance(each, tf_internals.SymbolicTensor)]
    gradients = tf.nest.flatten(result)
    taken = [index for index, gradient in enumerate(gradients) if gradient is not None]
    if not targets:
        return result
    graph = targets[0].graph
    all_sources = tf.nest.flatten(sources)
    since, until = 0, None
    if opened is not None and opened.graph is graph:
        since, until = opened.since, opened.until
    _require_seen(graph, all_sources, targets, until)
    _require_one_name(graph, all_sources, targets, since)
    if not taken or not _branches_or_loops(graph):
        return result
    of = [all_sources[index] for index in taken]
    inside = [tf_internals.inside(graph, source) for source in of]
    if not gives_zeros:
        _check(trace, graph, of, inside, [targets], since)
        reached = to_any(_reaches(graph, inside, targets, since=since))[1]
        for bit, index in enumerate(taken):
            if not reached >> bit & 1:
                gradients[index] = None  # a graph has zeros, since the branch or loop also made something of it
    return tf.nest.pack_sequence_as(result, gradients)


def _require_seen(graph: Any, sources: Sequence[Any], targets: Sequence[Any], until: int | None) -> None:
    """Give up where what is read from a list, or chosen, is another tensor here than the one that the tape has seen.

    Args:
      until: how many operations there were when the tape was closed; None if it is open.
    """
    unseen = set() if until is None else {operation.name for operation in graph.get_operations()[until:]}
    here = [each for each in sources if isinstance(each, tf_internals.SymbolicTensor) and each.graph is graph]
    if any(each.op.name in unseen for each in [*here, *targets]):
        raise Unstageable("takes a gradient of, or for, a tensor that is read or chosen after the tape was closed")
    if any(map(is_item, here)):
        raise Unstageable("takes a gradient for an item of a list of symbolic length, or of a TensorArray")


def is_item(tensor: Any) -> bool:
    """Whether a tensor was put into a list, or a TensorArray: in eager code it has other names."""
    operation = tf_internals.behind_identities(tensor).op
    return operation.type in {"TensorListGetItem", "TensorListPopBack"} or ITEMS in operation.name


def _require_one_name(graph: Any, sources: Sequence[Any], targets: Sequence[Any], since: int) -> None:
    """Give up where the targets use what a source may be, or what it is made together with, in a branch or loop."""
    for source in sources:
        if not isinstance(source, tf_internals.SymbolicTensor) or source.graph is not graph:
            continue
        others = [*handed_on(graph, source), *siblings(source)]
        for _, possible in _reaches(graph, others, targets, since=since, without=source) if others else ():
            if possible:
                raise Unstageable("takes a gradient of one of two tensors, and the target uses one by its other name")


def hands_on(graph: Any) -> bool:
    """Whether a result of a function may be one of its arguments in eager code, of which gradients may be taken."""
    results = [output for output in graph.outputs if carries(output.dtype)]
    return any(each is given for result in results for each in handed_on(graph, result, True) for given in graph.inputs)


def require_straight(target: Any) -> None:
    """Give up where a forward gradient may be None in eager code: its graph has branches or loops.

    Raises:
      Unstageable: it has.
    """
    for each in tf.nest.flatten(target):
        if isinstance(each, tf_internals.SymbolicTensor) and _branches_or_loops(each.graph):
            raise Unstageable("takes a forward gradient through a branch or loop, which may be None")


def _branches_or_loops(graph: Any) -> bool:
    return next(_control_flow(graph, lambda tensor: tensor), None) is not None


def require_sure_outputs(trace: Observer, graph: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """The same for a graph that is launched while a tape is open: any output may become the target."""
    targets = [[each] for each in outputs if isinstance(each, tf_internals.SymbolicTensor) and each.graph is graph]
    _check(trace, graph, [None] * len(inputs), inputs, targets)


def reached(graph: Any, outputs: Sequence[Any]) -> list[int]:
    """From which inputs of a graph a gradient may flow to each of these outputs, as bits of a mask."""
    return [possible for _, possible in _reaches(graph, graph.inputs, outputs)]


def _check(
    trace: Observer,
    graph: Any,
    sources: Sequence[Any],
    inside: Sequence[Any],
    targets: Sequence[list[Any]],
    since: int = 0,
) -> None:
    """For each group of targets, and each way through the branches of the graph: are the same gradients there?"""
    flat = [tensor for group in targets for tensor in group]
    if not may_be_none(graph, inside, flat, since):
        return

    def grouped(chosen: Chosen | None) -> list[Reach]:
        reaches = iter(_reaches(graph, inside, flat, chosen, since))
        return [to_any([next(reaches) for _ in group]) for group in targets]

    everywhere = [possible for _, possible in grouped(None)]
    conditions, loops = _decisions(graph)
    lost: dict[tuple[bool, ...], int] = {}
    for way in itertools.product((True, False), repeat=len(conditions)):
        decided = zip(conditions.values(), way, strict=True)
        certain = [reach[0] for reach in grouped({branch: taken for (_, found), taken in decided for branch in found})]
        missing = (possible & ~sure for possible, sure in zip(everywhere, certain, strict=True))
        lost[way] = functools.reduce(int.__or__, missing, 0)
    if all(lost.values()) and not conditions:
        from autoimport.staging import loop_gradients  # which reckons by way of this module

        found = loop_gradients.at_run_time(graph, inside, targets, since)
        if found is not None:
            for there, possible in zip(found, everywhere, strict=True):
                expected = tf.constant([bool(possible >> index & 1) for index in range(len(inside))])
                is_missing = tf.reduce_any(tf.not_equal(there, expected))
                trace.bail_if(is_missing, "a gradient is None, by the ways that a loop takes")
            return
    if all(lost.values()):
        first = next(iter(lost.values()))
        source = next(source for index, source in enumerate(sources) if first >> index & 1)
        what = f"takes a gradient of {getattr(source, 'name', 'a tensor')} that is None if a branch is not taken"
        raise Unstageable(what, "use it on both ways")
    for way, missing_here in lost.items():
        if missing_here:
            decided_so = [
                taken if is_true else tf.logical_not(taken)
                for (taken, _), is_true in zip(conditions.values(), way, strict=True)
            ]
            trace.bail_if(tf.reduce_all(decided_so), "a gradient is None, since a branch is not taken")
    for iterations in loops:
        trace.bail_if(tf.equal(iterations, 0), "a gradient is None, since a loop has no iteration")


def _decisions(graph: Any) -> tuple[dict[str, tuple[Any, list[_Place]]], list[Any]]:
    """What decides the way through a graph: conditions with their branches, and how often loops are run.

    Raises:
      Unstageable: there are too many conditions, or a loop whose number of iterations does not come out.
    """
    conditions: dict[str, tuple[Any, list[_Place]]] = {}
    loops = []
    for inner, operation, outward in _control_flow(graph, lambda tensor: tensor):
        if operation.type in LOOPS:
            if SURE in operation.name or tf_internals.is_gradient_graph(tf_internals.called(inner, operation, "body")):
                continue  # the gradient of a loop runs as often as the loop
            iterations = outward(operation.outputs[0])
            if iterations is None:
                raise Unstageable(
                    "takes a gradient through a loop of which nobody can tell whether it has an iteration"
                )
            loops.append(iterations)
        elif ways_differ(inner, operation):
            condition = outward(operation.inputs[0])
            if condition is not None and condition.dtype == tf.bool:
                conditions.setdefault(condition.name, (condition, []))[1].append((id(inner), operation.name))
    if len(conditions) > _MOST_CONDITIONS:
        raise Unstageable("takes a gradient through many branches that do not all use the same")
    return conditions, loops


def _control_flow(graph: Any, outward: Callable[[Any], Any]) -> Iterator[tuple[Any, Any, Callable[[Any], Any]]]:
    """The branches and loops of a graph and of functions called in it, and what finds their tensors in the graph.

    Under more than one tape TensorFlow puts each of them into a function of its own.
    """
    for operation in graph.get_operations():
        if operation.type in BRANCHES | LOOPS:
            yield graph, operation, outward
        elif hides_control_flow(operation):
            inner = tf_internals.called(graph, operation, "f")
            yield from _control_flow(inner, functools.partial(_across, operation, inner, outward))


def _across(call: Any, inner: Any, outward: Callable[[Any], Any], tensor: Any) -> Any:
    """The argument or result of a call that is this tensor in the function called; None if it is neither."""
    if tensor is None:
        return None
    for result, output in zip(call.outputs, inner.outputs, strict=False):
        if tensor.name in (output.name, *(each.name for each in output.op.inputs if output.op.type == "Identity")):
            return outward(result)
    found = (outer for outer, parameter in zip(call.inputs, inner.inputs, strict=False) if parameter is tensor)
    return outward(next(found, None))


def hides_control_flow(operation: Any) -> bool:
    """Whether a branch or loop is in a function of its own that the operation calls."""
    return operation.type in CALLS and tf_internals.calls_control_flow(operation)


def ways_differ(graph: Any, branch: Any) -> bool:
    """Whether it depends on the way taken from which of its inputs a gradient flows."""
    bits: list[Reach] = [(1 << index, 1 << index) for index in range(len(branch.inputs))]
    return any(possible & ~certain for certain, possible in through(graph, branch, bits, None))


def _reaches(
    graph: Any,
    sources: Sequence[Any],
    targets: Sequence[Any],
    chosen: Chosen | None = None,
    since: int = 0,
    without: Any = None,
) -> list[Reach]:
    """What reaches each target by operations behind the first `since`, none of which gives the tensor `without`.

    With `chosen` on these ways, and if all loops around have an iteration.
    """
    known: dict[str, Reach] = {}
    for index, source in enumerate(sources):
        known[source.name] = either(known.get(source.name, NOWHERE), (1 << index, 1 << index))
    _flow(graph, known, chosen, since, without)
    return [known.get(target.name, NOWHERE) for target in targets]


def to_any(reaches: list[Reach]) -> Reach:
    """What reaches one of some tensors."""
    return functools.reduce(either, reaches, NOWHERE)


def either(one: Reach, other: Reach) -> Reach:
    """What reaches the one or the other."""
    return one[0] | other[0], one[1] | other[1]


def _flow(graph: Any, known: dict[str, Reach], chosen: Chosen | None, since: int = 0, without: Any = None) -> None:
    """Add to `known` all tensors of a graph that gradients reach from those in it."""
    for operation in graph.get_operations()[since:]:
        reached = [known.get(tensor.name, NOWHERE) for tensor in operation.inputs]
        if not any(possible for _, possible in reached):
            continue
        for tensor, reach in zip(operation.outputs, through(graph, operation, reached, chosen), strict=False):
            if reach[1] and carries(tensor.dtype) and tensor is not without:
                known[tensor.name] = either(known.get(tensor.name, NOWHERE), reach)


def through(graph: Any, operation: Any, reached: list[Reach], chosen: Chosen | None) -> list[Reach]:
    """What reaches the outputs of an operation from its inputs."""
    kind = operation.type
    if kind in BRANCHES:
        branches = tf_internals.branches(graph, operation)
        taken = None if chosen is None else chosen.get((id(graph), operation.name))
        if taken is not None:
            branches = branches[:1] if taken else branches[1:]
        ways = [inside_of(branch, reached[1:], None) for branch in branches]
        return [_on_every_way(each) for each in zip(*ways, strict=False)]
    if kind in LOOPS:
        return round_(
            tf_internals.called(graph, operation, "body"), reached, chosen is not None or SURE in operation.name
        )
    if kind in CALLS:
        results = inside_of(tf_internals.called(graph, operation, "f"), reached, chosen)
        if tf_internals.calls_control_flow(operation):
            return results
        some = to_any(results)[1]  # the person's function has zeros for what its other results are made of
        return [(some, some)] * len(results)
    if not tf_internals.has_gradient(operation):
        return []
    joined = NOWHERE
    for tensor, reach in zip(operation.inputs, reached, strict=True):
        if carries(tensor.dtype):
            joined = either(joined, reach)
    if around_branches(graph) is not graph and tf_internals.has_own_gradient(operation):
        joined = 0, joined[1]  # a branch or loop has zeros where it gives None
    return [joined] * len(operation.outputs)


def inside_of(graph: Any, reached: Sequence[Reach], chosen: Chosen | None) -> list[Reach]:
    """What reaches the outputs of a branch, a body or a called function."""
    known = {tensor.name: reach for tensor, reach in zip(graph.inputs, reached, strict=False) if reach[1]}
    _flow(graph, known, chosen)
    return [known.get(tensor.name, NOWHERE) for tensor in graph.outputs]


def round_(body: Any, before: list[Reach], has_rounds: bool) -> list[Reach]:
    """What reaches the outputs of a loop: after one iteration, after any more, and after none."""
    now = inside_of(body, before, None)
    after = now
    seen = []
    while (now, after) not in seen:
        seen.append((now, after))
        now = inside_of(body, now, None)
        after = [_on_every_way(each) for each in zip(after, now, strict=True)]
    return after if has_rounds else [_on_every_way(each) for each in zip(after, before, strict=True)]


def _on_every_way(ways: Sequence[Reach]) -> Reach:
    certain, possible = ways[0]
    for way in ways[1:]:
        certain, possible = certain & way[0], possible | way[1]
    return certain, possible


def carries(dtype: Any) -> bool:
    """Whether gradients flow through tensors of a type."""
    return bool(dtype.is_floating or dtype.is_complex or dtype in (tf.resource, tf.variant))
