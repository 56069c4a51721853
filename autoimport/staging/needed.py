"""A traced graph -> whether the runtime would leave out something in a branch or body that can fail.

It runs what results and changes of state depend on; of a branch or a loop, too, only what leads to the outputs that are
needed. Where that is all that can fail, the rewriter may tidy up the control dependencies that keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autoimport.staging import inspection, tf_internals

# An operation, and which of its outputs is needed; -1 if it is only to run.
_Need = tuple[Any, int]
_RUN = -1


def leaves_out_what_can_fail(graph: Any, outputs: Iterable[Any]) -> bool:
    """Whether something in the branches and bodies of `graph` can fail, on which no output depends."""
    found: set[_Need] = set()
    own = [tensor for tensor in outputs if getattr(tensor, "graph", None) is graph]
    _find(graph, [*_tensors(own), *((each, _RUN) for each in graph.control_outputs)], found)
    needed = {operation for operation, _ in found}
    return any(
        operation not in needed and inspection.may_fail(inner, operation)
        for inner in _graphs_below(graph)
        for operation in inner.get_operations()
        if not tf_internals.is_stateful(operation)
    )


def _graphs_below(graph: Any) -> Iterator[Any]:
    for operation in graph.get_operations():
        for inner in tf_internals.inner_graphs(graph, operation):
            yield inner
            yield from _graphs_below(inner)


def _find(graph: Any, needs: list[_Need], found: set[_Need]) -> None:
    """Add to `found` what is needed in `graph`, and below."""
    while needs:
        need = needs.pop()
        if need not in found:
            found.add(need)
            operation, _ = need
            needs += _run_by(operation.control_inputs)
            needs += _tensors(_inputs(graph, need, found))


def _inputs(graph: Any, need: _Need, found: set[_Need]) -> list[Any]:
    """The inputs of an operation that it needs for one of its outputs."""
    operation, k = need
    inner = tf_internals.inner_graphs(graph, operation)
    given = list(operation.inputs)
    if operation.type in ("While", "StatelessWhile"):
        cond, body = (tf_internals.called(graph, operation, name) for name in ("cond", "body"))
        _find(cond, [*_tensors(cond.outputs), *_run_by(cond.control_outputs)], found)
        carried: set[int] = set()
        more = {*_needed_inputs(cond, found), *([] if k == _RUN else [k])}
        while more - carried:
            carried |= more
            _find(body, [*_tensors(body.outputs[i] for i in carried), *_run_by(body.control_outputs)], found)
            more = {*_needed_inputs(body, found)}
        return [given[i] for i in carried]
    if operation.type in ("If", "StatelessIf", "Case", "StatelessCase"):
        places = {0}
        for branch in inner:
            output = [] if k == _RUN else branch.outputs[k : k + 1]
            _find(branch, [*_tensors(output), *_run_by(branch.control_outputs)], found)
            places.update(i + 1 for i in _needed_inputs(branch, found))
        return [given[i] for i in places]
    for called in inner:
        _find(called, [*_tensors(called.outputs), *_run_by(called.control_outputs)], found)
    return given


def _needed_inputs(graph: Any, found: set[_Need]) -> Iterator[int]:
    return (i for i, tensor in enumerate(graph.inputs) if (tensor.op, 0) in found)


def _tensors(tensors: Iterable[Any]) -> list[_Need]:
    return [(tensor.op, tensor.value_index) for tensor in tensors]


def _run_by(controls: Iterable[Any]) -> list[_Need]:
    """What control dependencies make run for its own sake: what can fail is not in question here."""
    return [(each, _RUN) for each in controls if each.type == "NoOp" or tf_internals.is_stateful(each)]
