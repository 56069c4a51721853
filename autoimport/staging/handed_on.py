"""A tensor of a finished graph -> which others it is in eager code, where a branch or a loop only hands one of them on.

In a graph the result of a branch is a tensor of its own. In eager code it is the very object that the branch taken has
chosen, and two objects may be one place in memory: `tf.identity(x)` is a view of `x`. So a launch tells by the place
which object a result is, and a graph that chooses between a tensor and a view of it is given up.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

from autoimport.operators.errors import Unstageable
from autoimport.operators.symbolic import A_VIEW
from autoimport.staging import tf_internals

BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# What gives none of its inputs on, whatever their values and sizes: its result has memory of its own.
_NEW = frozenset(
    {
        "Abs", "AddN", "AddV2", "ArgMax", "ArgMin", "BatchMatMulV2", "BatchMatMulV3", "BiasAdd", "Ceil", "Const",
        "ConcatV2", "Conv2D", "Cos", "Cosh", "Cumsum", "Div", "DivNoNan", "Einsum", "Elu", "Erf", "Exp", "Expm1",
        "Fill", "Floor", "FloorDiv", "FloorMod", "FusedBatchNormV3", "GatherV2", "LeakyRelu", "Log", "Log1p",
        "LogSoftmax", "MatMul", "Maximum", "Minimum", "Mul", "MulNoNan", "Neg", "OnesLike", "Pow", "RealDiv",
        "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "SelectV2", "Selu", "Sigmoid", "Sign", "Sin", "Sinh",
        "Softmax", "Softplus", "Softsign", "Sqrt", "Square", "SquaredDifference", "Sub", "Tan", "Tanh",
        "TensorScatterUpdate", "Xlogy", "ZerosLike",
    }
)  # fmt: skip

_ADD_A_DIMENSION = frozenset({"ExpandDims", "Pack"})


class _Is(enum.IntEnum):
    """What a tensor may be to another one, by all steps between the two."""

    ITSELF = 0
    OF_MORE_DIMENSIONS = 1  # a view, but not to be mixed up: a launch compares the shapes, too
    A_VIEW = 2


# A tensor, and what the other one is to it.
_Origin = tuple[Any, _Is]


def handed_on(graph: Any, tensor: Any, loops_run: bool = False) -> list[Any]:
    """The tensors of a graph that one of it may be in eager code, though here it is the result of a branch or loop.

    With `loops_run` loops have an iteration.
    """
    return [origin for origin, _ in _origins(graph, tensor, loops_run, views=False)]


def may_be_others(graph: Any, places: Iterable[int]) -> list[tuple[int, list[int]]]:
    """Which of the outputs at `places` may be others, or arguments, in eager code: where among inputs and outputs.

    Raises:
      Unstageable: nobody could tell which, by their places in memory.
    """
    known = {given.name: index for index, given in enumerate(graph.inputs)}
    returned = {place: graph.outputs[place].op.inputs[0] for place in places if graph.outputs[place].op.inputs}
    known.update({output.name: len(graph.inputs) + place for place, output in returned.items()})
    found = []
    for place in places:
        output = graph.outputs[place]
        others = {each.name for each in handed_on(graph, output) if each.name in known}
        if others and tf_internals.has_a_place(output.dtype):
            if any(
                is_ is _Is.A_VIEW and each.name in others for each, is_ in _origins(graph, output, False, views=True)
            ):
                if output.shape.rank == 0:
                    continue  # each sum of a scalar is a view of it: a new object, as README says
                raise Unstageable("hands on a tensor, or a view of it, as a condition or loop has it")
            found.append((place, [known[name] for name in known if name in others]))
    return found


def are_related(graph: Any) -> bool:
    """Whether eager code may have a gradient of one result of a graph by another, which a tape outside would miss.

    What happens in a branch or loop is not looked into: its results may all be made of one another.
    """
    outputs = [tf_internals.behind_identities(t) for t in graph.outputs if t.dtype.is_floating or t.dtype.is_complex]
    together = [output.op for output in outputs if _is_control_flow(output.op)]
    wanted, makers = {id(tensor) for tensor in outputs}, {id(operation) for operation in together}
    if len(wanted) < len(outputs) or len(makers) < len(together):
        return True
    seen: set[int] = set()
    ahead = [tensor for output in outputs for tensor in output.op.inputs]
    while ahead:
        tensor = ahead.pop()
        if id(tensor) in wanted or id(tensor.op) in makers:
            return True
        if id(tensor) not in seen:
            seen.add(id(tensor))
            ahead.extend(tensor.op.inputs)
    return False


def siblings(tensor: Any) -> list[Any]:
    """The other results of the branch or loop that makes a tensor, which may be made of it, or be the same tensor."""
    tensor = _behind_names(tensor)
    return [each for each in tensor.op.outputs if each is not tensor] if _is_control_flow(tensor.op) else []


def _is_control_flow(operation: Any) -> bool:
    is_call = operation.type in CALLS and tf_internals.calls_control_flow(operation)
    return is_call or operation.type in BRANCHES | LOOPS


def _origins(graph: Any, tensor: Any, loops_run: bool, *, views: bool) -> list[_Origin]:
    """All tensors that a tensor may be, or be a view of if `views` are wanted, once each way."""
    found: dict[tuple[str, _Is], _Origin] = {}
    left = [(tensor, _Is.ITSELF)]
    while left:
        each, is_ = left.pop()
        for origin, is_here in _steps(graph, each, loops_run, views=views):
            new = origin, max(is_, is_here)
            if (origin.name, new[1]) not in found:
                found[origin.name, new[1]] = new
                left.append(new)
    return list(found.values())


def _steps(graph: Any, tensor: Any, loops_run: bool, *, views: bool) -> Iterator[_Origin]:
    """What a tensor is chosen from, or a view of, by the operation that makes it."""
    tensor = _behind_names(tensor)
    operation = tensor.op
    if operation.type == "Select":
        yield from ((each, _Is.ITSELF) for each in operation.inputs[1:])
        return
    if operation.type == "IdentityN":  # what has a gradient of its own
        if views:
            yield operation.inputs[tensor.value_index], _Is.A_VIEW
        return
    if operation.type not in BRANCHES | LOOPS | CALLS:
        if views and operation.type not in _NEW:
            for each in operation.inputs:
                if _may_share_memory(each, tensor):
                    yield each, _Is.OF_MORE_DIMENSIONS if _has_more_dimensions(tensor, each) else _Is.A_VIEW
        return
    inners, inputs, place = [], operation.inputs, tensor.value_index
    if operation.type in BRANCHES:
        inners, inputs = tf_internals.branches(graph, operation), operation.inputs[1:]
    elif operation.type in LOOPS:
        inners = [tf_internals.called(graph, operation, "body")]
    elif tf_internals.calls_control_flow(operation):
        inners = [tf_internals.called(graph, operation, "f")]
    is_loop = operation.type in LOOPS
    if is_loop and not loops_run:
        yield inputs[place], _Is.ITSELF
    for inner in inners:
        parameters = {parameter.name: index for index, parameter in enumerate(inner.inputs)}
        found, left = set(), [(place, _Is.ITSELF)]
        while left:
            place, is_ = left.pop()
            end = inner.outputs[place]
            for each, is_here in [(end, _Is.ITSELF), *_origins(inner, end, loops_run, views=views)]:
                new = parameters.get(_behind_names(each).name), max(is_, is_here)
                if new[0] is not None and new not in found:
                    found.add(new)
                    yield inputs[new[0]], new[1]
                    left += [new] if is_loop else []  # the iteration before may have exchanged them


def _behind_names(tensor: Any) -> Any:
    """What TensorFlow hands on under another name; where the program does that, eager code has another object."""
    while tensor.op.type == "Identity" and A_VIEW not in tensor.op.name:
        tensor = tensor.op.inputs[0]
    return tensor


def _may_share_memory(x: Any, y: Any) -> bool:
    """Whether two tensors may be one place in memory, as far as their types tell."""
    sizes = {each.shape.num_elements() for each in (x, y)} - {None}
    return x.dtype == y.dtype and len(sizes) < 2


def _has_more_dimensions(result: Any, given: Any) -> bool:
    if result.shape.rank is None or given.shape.rank is None:
        return result.op.type in _ADD_A_DIMENSION
    return bool(result.shape.rank > given.shape.rank)
