"""A traced graph -> whether it may stand for the call, what it costs, and in which order it fails and changes.

In: the graph of a function. Out: Unstageable for what it may not hold (random draws, Python at run time, tensors that
are frozen in it), a count of operations for the policy, and control dependencies by which a failed launch has changed
nothing, so that the call may run again eagerly.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals

# Draws that eager would seed differently; reads and writes of the world.
_RANDOM = frozenset(
    {
        "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "ParameterizedTruncatedNormal", "TruncatedNormal",
        "RandomShuffle", "Multinomial", "RandomGamma", "RandomPoisson", "RandomPoissonV2", "RandomCrop",
        "LogUniformCandidateSampler", "UniformCandidateSampler", "FixedUnigramCandidateSampler",
        "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler", "AllCandidateSampler",
        "SampleDistortedBoundingBoxV2",
    }
)  # fmt: skip
_HOST = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
# Operations that cost nothing to speak of.
_FREE = frozenset({"Placeholder", "Const", "Identity", "IdentityN", "NoOp", "ReadVariableOp", "Shape", "Assert"})
# What can fail for the values that it gets, though all shapes are known.
_FALLIBLE = frozenset(
    {
        "GatherV2", "GatherNd", "ResourceGather", "ResourceGatherNd", "SparseSoftmaxCrossEntropyWithLogits",
        "CheckNumerics", "CheckNumericsV2", "Cholesky", "MatrixSolve", "MatrixInverse", "MatrixTriangularSolve", "Lu",
        "Qr", "SelfAdjointEigV2", "Svd", "StringToNumber", "DecodeRaw", "DecodeBase64", "ScatterNd",
        "TensorScatterUpdate", "TensorScatterAdd", "SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin",
        "SegmentProd", "SparseToDense", "InTopKV2", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod", "Div",
        "Pow", "TensorListGetItem", "TensorListSetItem", "TensorListPopBack", "EnsureShape", "IteratorGetNext",
        "OptionalGetValue", "RaggedGather", "ResourceScatterUpdate", "ResourceScatterAdd", "Bucketize", "Substr",
        "OneHot", "Bincount", "DenseBincount",
    }
)  # fmt: skip
# Stateful by name only: they read, check, or are as stateful as what they contain.
_CHANGES_NOTHING = frozenset(
    {
        "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "Assert", "While", "If", "Case", "PartitionedCall",
        "StatefulPartitionedCall", "Placeholder", "VarIsInitializedOp", "VariableShape", "CheckNumerics",
        "CheckNumericsV2",
    }
)  # fmt: skip
# What a launch pays for a branch, and for a loop, beside the operations in them.
_BRANCH_COST = 3
_LOOP_COST = 100


def require_stageable(graph: Any, file: str, prints: bool) -> None:
    """Give the trace up if the graph holds what eager would do differently.

    Args:
      graph: of the traced function.
      file: the person's, for the line of the operation that stands in the way.
      prints: whether the trace has also printed by `print`.
    Raises:
      Unstageable: see above.
    """
    for operation in tf_internals.operations(graph):
        kind = operation.type
        if kind in _RANDOM:
            reason = f"draws random numbers ({kind}), which a graph would seed differently"
            raise _at(Unstageable(reason, "use tf.random.stateless_* or tf.random.Generator"), operation, file)
        if kind in _HOST:
            raise _at(Unstageable("runs Python code at run time (tf.py_function)"), operation, file)
        if kind == "PrintV2" and prints:
            raise _at(
                Unstageable("prints by print() and by tf.print, whose order a graph would change"), operation, file
            )
    for tensor, _ in graph.captures:
        if tensor.dtype not in (tf.resource, tf.variant):
            raise Unstageable("uses a tensor that library code keeps, which could change unseen")


def is_pure(graph: Any) -> bool:
    """Whether the graph changes nothing."""
    return not any(_changes_something(operation) for operation in tf_internals.operations(graph))


def cost_of(graph: Any) -> int:
    """What a launch runs, in operations: of branches the larger one, of loops a good many iterations."""
    cost = 0
    for operation in graph.get_operations():
        inner = [cost_of(below) for below in tf_internals.inner_graphs(graph, operation)]
        if operation.type in ("While", "StatelessWhile"):
            cost += _LOOP_COST + sum(inner)
        elif operation.type in ("If", "StatelessIf", "Case", "StatelessCase"):
            cost += _BRANCH_COST + max(inner)
        else:
            cost += (operation.type not in _FREE) + sum(inner)
    return cost


def _changes_something(operation: Any) -> bool:
    return bool(operation.op_def.is_stateful) and operation.type not in _CHANGES_NOTHING


def order(graph: Any, file: str) -> bool:
    """Make every change of state wait for all that can fail, so that a failure leaves nothing changed.

    Returns:
      Whether that could be done for all operations that can fail; then any failed launch may run again eagerly.
    Raises:
      Unstageable: it could not be done for a check of ours.
    """
    checks: list[Any] = []
    changes: list[Any] = []
    since: set[Any] = set()
    recoverable = True
    for operation in graph.get_operations():
        is_check, can_fail, is_change = _contents(graph, operation)
        if changes and operation.op_def.is_stateful and operation.type not in ("Placeholder", "Assert"):
            since.add(operation)
        if can_fail and (is_change or not since.isdisjoint(_ancestors(operation))):
            if is_check:
                reason = "checks a condition after it has changed a variable"
                raise _at(Unstageable(reason, "check first"), operation, file)
            recoverable = False
        elif can_fail:
            checks.append(operation)
        if is_change:
            changes.append(operation)
            since.add(operation)
    for operation in changes:
        tf_internals.run_after(operation, [check for check in checks if check is not operation])
    return recoverable


def _contents(graph: Any, operation: Any) -> tuple[bool, bool, bool]:
    """Whether an operation, or one in its branches or body, is a check of ours, can fail, or changes state."""
    is_check = operation.type == "Assert"
    can_fail = is_check or operation.type in _FALLIBLE or any(not t.shape.is_fully_defined() for t in operation.outputs)
    is_change = _changes_something(operation)
    for inner in tf_internals.inner_graphs(graph, operation):
        for below in inner.get_operations():
            inside = _contents(inner, below)
            is_check, can_fail, is_change = is_check or inside[0], can_fail or inside[1], is_change or inside[2]
    return is_check, can_fail, is_change


def _ancestors(operation: Any) -> set[Any]:
    """The operations that an operation depends on."""
    found: set[Any] = set()
    waiting = [operation]
    while waiting:
        below = waiting.pop()
        for above in (*(tensor.op for tensor in below.inputs), *below.control_inputs):
            if above not in found:
                found.add(above)
                waiting.append(above)
    return found


def _at(error: Unstageable, operation: Any, file: str) -> Unstageable:
    error.line = tf_internals.user_line(operation, file)
    return error
