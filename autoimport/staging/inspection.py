"""A traced graph -> whether it may stand for the call, what it costs, and in which order it fails and changes.

In: the graph of a function. Out: Unstageable for what it may not hold (random draws, Python at run time, tensors that
are frozen in it), a count of operations for the policy, and control dependencies by which a failed launch has changed
nothing, so that the call may run again eagerly.
"""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.lists import SURE_ITEM
from autoimport.staging import tf_internals

# Draws: without a seed they are free, with one eager would keep count of them in its own way.
_RANDOM = frozenset(
    {
        "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "ParameterizedTruncatedNormal", "TruncatedNormal",
        "RandomShuffle", "Multinomial", "RandomGamma", "RandomPoisson", "RandomCrop",
        "LogUniformCandidateSampler", "UniformCandidateSampler", "FixedUnigramCandidateSampler",
        "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler", "AllCandidateSampler",
        "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "RandomPoissonV2", "FractionalMaxPool",
        "FractionalAvgPool",
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
        "SegmentProd", "SparseToDense", "InTopKV2",
        "TensorListGetItem", "TensorListSetItem", "TensorListPopBack", "EnsureShape", "IteratorGetNext",
        "OptionalGetValue", "RaggedGather", "ResourceScatterUpdate", "ResourceScatterAdd", "Bucketize", "Substr",
        "OneHot", "Bincount", "DenseBincount", "InvertPermutation", "UnravelIndex", "DynamicStitch",
        "BandedTriangularSolve", "TridiagonalSolve", "MatrixSetDiagV3", "Eig", "HistogramFixedWidth", "DecodeCSV",
        "DecodeJSONExample", "UnicodeTranscode", "SparseTensorDenseMatMul",
    }
)  # fmt: skip
# What has an axis, and the input that says which: whether the tensor has it, nobody asks before the graph runs.
_AXES = {"ArgMax": 1, "ArgMin": 1, "Cumsum": 1, "Cumprod": 1, "CumulativeLogsumexp": 1, "Roll": 2}
# What fails where a list has no elements, unless their shape is known, which is the second input.
_OF_LISTS = frozenset({"TensorListStack", "TensorListGather", "TensorListConcatV2"})
# By these, gradients take what was kept for them.
_KEPT = frozenset({"TensorListPopBack", "OptionalGetValue"})
# What can fail for integers: a division by zero, a negative power.
_FALLIBLE_INTEGERS = frozenset({"FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod", "Div", "RealDiv", "Pow"})
# What can fail if the last two inputs, the bounds of what is drawn, come in the wrong order.
_BOUNDED = frozenset({"RandomUniformInt", "StatelessRandomUniformIntV2"})
# Whatever integers these get behind their first input, they do not fail; to others those are indices, sizes and axes.
_TAKE_ANY_INTEGERS = frozenset(
    {
        "Add", "AddV2", "AddN", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "Equal", "NotEqual", "Less",
        "LessEqual", "Greater", "GreaterEqual", "Select", "SelectV2", "ClipByValue", "Pack", "IdentityN", "MatMul",
        "BatchMatMulV2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "AssignVariableOp", "AssignAddVariableOp",
        "AssignSubVariableOp", "If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile",
        "PartitionedCall", "StatefulPartitionedCall", "StatelessRandomUniformV2", "StatelessRandomNormalV2",
        "StatelessTruncatedNormalV2",
        "RandomUniformInt", "StatelessRandomUniformIntV2", "StatelessRandomUniformFullIntV2", "StatelessMultinomial",
        "StatelessRandomGammaV2", "StatelessRandomPoisson", "TensorListReserve",
        "EmptyTensorList", "TensorListPushBack", "StringFormat", "PrintV2",
    }
)  # fmt: skip
# Nor do these, whatever the size of what they reduce to a known one.
_TAKE_ANY_SIZES = frozenset(
    {"Sum", "Mean", "Max", "Min", "Prod", "All", "Any", "Size", "Shape", "Rank", "L2Loss", "Identity"}
)
# Stateful by name only: they read, check, or are as stateful as what they contain.
_CHANGES_NOTHING = frozenset(
    {
        "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "Assert", "While", "If", "Case", "PartitionedCall",
        "StatefulPartitionedCall", "Placeholder", "VarIsInitializedOp", "VariableShape", "CheckNumerics",
        "CheckNumericsV2",
    }
)  # fmt: skip
# Name scopes of operations that walk over a dataset whose elements cannot, or may, fail to be made.
WALK_SURE, WALK_UNSURE = "autoimport_walk_sure", "autoimport_walk_unsure"
_HANDLES = (tf.resource, tf.variant)
# What fails for no input.
_TOTAL = frozenset(
    {
        "Abs", "Ceil", "Const", "Cos", "Erf", "Exp", "Expm1", "Floor", "Identity", "IdentityN", "IsFinite", "IsInf",
        "IsNan", "Log", "Log1p", "LogicalNot", "Neg", "OnesLike", "Rank", "Relu", "Rint", "Round", "Rsqrt", "Shape",
        "Sigmoid", "Sign", "Sin", "Size", "Softplus", "Sqrt", "Square", "StopGradient", "Tan", "Tanh",
        "TensorListLength", "ZerosLike",
    }
)  # fmt: skip
# What changes nothing but variables.
_VARIABLE_CHANGE = re.compile(
    "Assign.*VariableOp$|Resource(Apply|SparseApply|Scatter|StridedSliceAssign)|Rng(ReadAnd)?Skip$|Stateful.*(V2|Int)$"
)
_NO_CHANGE = _CHANGES_NOTHING | _RANDOM
_SEES_NOTHING = _RANDOM | {"Placeholder", "Assert"}
_ASKS_WHERE = _TAKE_ANY_INTEGERS | _FALLIBLE_INTEGERS
# What may run for any time.
_LOOPS = frozenset({"While", "StatelessWhile", "ReduceDataset"})
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
        if kind in _RANDOM and (operation.get_attr("seed"), operation.get_attr("seed2")) != (0, 0):
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
        if operation.type in _LOOPS:
            cost += _LOOP_COST + sum(inner)
        elif operation.type in ("If", "StatelessIf", "Case", "StatelessCase"):
            cost += _BRANCH_COST + max(inner)
        else:
            cost += (operation.type not in _FREE) + sum(inner)
    return cost


def has_loop(graph: Any) -> bool:
    """Whether a launch may take any time, for all that the graph tells."""
    return any(operation.type in _LOOPS for operation in tf_internals.operations(graph))


def _changes_something(operation: Any) -> bool:
    return tf_internals.is_stateful(operation) and operation.type not in _NO_CHANGE and not _is_walk(operation)


def _is_walk(operation: Any) -> bool:
    """Whether an operation moves on in a dataset, by an iterator that nobody else sees."""
    return WALK_SURE in operation.name or WALK_UNSURE in operation.name


def acts(operation: Any) -> bool:
    """Whether an operation gives another result, or does something else than that, when it runs again."""
    is_stateful = tf_internals.is_stateful(operation) and operation.type not in _CHANGES_NOTHING
    return is_stateful or operation.type in _HOST


def may_fail(graph: Any, operation: Any) -> bool:
    """Whether an operation of `graph` can fail for the values that it gets."""
    return _contents(graph, operation)[1]


def keep_what_can_fail(graph: Any, outputs: list[Any]) -> list[Any]:
    """Have the runtime run what can fail though nobody needs its result: eager would fail there.

    What is stateful, TensorFlow's automatic control dependencies keep.

    Args:
      graph: of a function, a branch or a body, with all its operations in it.
      outputs: what it is to return.
    Returns:
      What to return instead: an iteration of a loop ends with its outputs, whatever else is in the body.
    """
    operations = graph.get_operations()
    ends = [tensor.op for tensor in outputs if getattr(tensor, "graph", None) is graph]
    needed = _with_inputs([*ends, *(each for each in operations if _VARIABLE_CHANGE.match(each.type))])
    if graph.outer_graph is not None and type(graph) is not tf_internals.FuncGraph:
        needed = set()  # nobody may need what a branch or body returns
    idle = [each for each in operations if each not in needed and not tf_internals.is_stateful(each)]
    idle = [each for each in idle if _contents(graph, each)[1]]
    if not idle:
        return outputs
    tf_internals.run_always(graph, idle)
    with tf.control_dependencies(idle):
        return [*map(tf.identity, outputs[:1]), *outputs[1:]]


def order(graph: Any, file: str) -> frozenset[str]:
    """Make every change of state wait for all that can fail, so that a failure leaves nothing changed.

    Returns:
      Where what can fail depends on what has been changed, or a branch or loop does both, the names of the handles
      whose variables are to be put back after a failed launch, before the call runs again eagerly.
    Raises:
      Unstageable: a check of ours, which may fail often, depends on a change, or a change cannot be undone.
    """
    checks: list[Any] = []
    changes: list[Any] = []
    since: set[Any] = set()
    changed: set[str] = set()
    is_mixed = False
    for operation in graph.get_operations():
        is_check, can_fail, is_change = _contents(graph, operation)
        depends = bool(changes) and (_sees(operation, changed) or not since.isdisjoint(_in_front(operation)))
        if depends:
            since.add(operation)  # operations come behind what they depend on
        if can_fail and (is_change or depends):
            if is_check:
                reason = "checks a condition after it has changed a variable"
                raise _at(Unstageable(reason, "check first"), operation, file)
            is_mixed = True
        elif can_fail:
            checks.append(operation)
        if is_change:
            changes.append(operation)
            since.add(operation)
            changed.update(tensor.name for tensor in operation.inputs if tensor.dtype in _HANDLES)
    for operation in changes:
        tf_internals.run_after(operation, [check for check in checks if check is not operation])
    if not is_mixed:
        return frozenset()
    for operation in tf_internals.operations(graph):
        if _changes_something(operation) and not _VARIABLE_CHANGE.match(operation.type):
            raise _at(
                Unstageable(f"may fail after it has done what cannot be undone ({operation.type})"), operation, file
            )
    return frozenset(changed)


def _may_not_divide(operation: Any) -> bool:
    """Whether a division of integers may be one by zero, a power of theirs one by a negative number."""
    if not operation.outputs[0].dtype.is_integer:
        return False
    divisor = operation.inputs[1]
    if divisor.op.type == "Maximum" and operation.type != "Pow":  # the gradient of a mean divides by max(size, 1)
        least = [tf.get_static_value(each) for each in divisor.op.inputs]
        if any(each is not None and (each > 0).all() for each in least):
            return False
    by = tf.get_static_value(divisor)
    return by is None or bool((by < 0).any() if operation.type == "Pow" else (by == 0).any())


def _has_room(operation: Any) -> bool:
    """Whether the bounds of what is drawn are known, and in their order."""
    low, high = map(tf.get_static_value, operation.inputs[-2:])
    return low is not None and high is not None and bool((low < high).all())


def _may_lack_axis(operation: Any) -> bool:
    """Whether an operation may find no such axis, or nothing along it."""
    shape = operation.inputs[0].shape
    axes = tf.get_static_value(operation.inputs[_AXES[operation.type]])
    if axes is None or not shape.is_fully_defined():
        return True
    return 0 in shape or bool(((axes < -shape.rank) | (axes >= shape.rank)).any())


def _may_lack_elements(operation: Any) -> bool:
    """Whether the shape of a list's elements is left for the elements to tell."""
    shape = tf.get_static_value(operation.inputs[2 if operation.type == "TensorListGather" else 1])
    return shape is None or bool((shape < 0).any())


def _takes_back(graph: Any, operation: Any) -> bool:
    """Whether the gradient of a branch or loop takes a value that the branch or loop has kept for it."""
    return operation.type in _KEPT and tf_internals.is_gradient_graph(graph)


def _is_told_where(operation: Any) -> bool:
    """Whether an operation gets integers of which nobody knows, while the graph is built, whether they fit."""
    later = [tensor for tensor in operation.inputs[1:] if tensor.dtype.is_integer and tensor.op.type != "Const"]
    return any(tf.get_static_value(tensor) is None for tensor in later)


def _sees(operation: Any, changed: set[str]) -> bool:
    """Whether an operation may see a change of one of these variables, or of something that has no handle."""
    if not tf_internals.is_stateful(operation) or operation.type in _SEES_NOTHING:
        return False
    handles = [tensor.name for tensor in operation.inputs if tensor.dtype in _HANDLES]
    return not handles or not changed.isdisjoint(handles)


def _contents(graph: Any, operation: Any) -> tuple[bool, bool, bool]:
    """Whether an operation, or one in its branches or body, is a check of ours, can fail, or changes state."""
    if operation.type in _TOTAL or SURE_ITEM in operation.name:
        return False, False, False
    if _is_walk(operation):
        is_unsure = WALK_UNSURE in operation.name
        return is_unsure, is_unsure, False
    is_check = operation.type == "Assert"
    can_fail = (
        is_check
        or (operation.type in _FALLIBLE and not _takes_back(graph, operation))
        or (operation.type in _FALLIBLE_INTEGERS and _may_not_divide(operation))
        or (operation.type in _AXES and _may_lack_axis(operation))
        or (operation.type in _OF_LISTS and _may_lack_elements(operation))
        or (operation.type in _BOUNDED and not _has_room(operation))
        or (operation.type not in _ASKS_WHERE and _is_told_where(operation))
        or (operation.type != "Placeholder" and any(_is_of_unknown_size(tensor) for tensor in operation.outputs))
        or (operation.type not in _TAKE_ANY_SIZES and any(_is_of_unknown_size(tensor) for tensor in operation.inputs))
    )
    is_change = _changes_something(operation)
    for inner in tf_internals.inner_graphs(graph, operation):
        for below in inner.get_operations():
            inside = _contents(inner, below)
            is_check, can_fail, is_change = is_check or inside[0], can_fail or inside[1], is_change or inside[2]
    return is_check, can_fail, is_change


def _is_of_unknown_size(tensor: Any) -> bool:
    """Handles are of no size, though the graph may not know that."""
    return tensor.dtype not in (tf.resource, tf.variant) and not tensor.shape.is_fully_defined()


def _in_front(operation: Any) -> list[Any]:
    """The operations that an operation waits for."""
    return [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]


def _with_inputs(operations: list[Any]) -> set[Any]:
    """Operations, and all whose results they need: what they only wait for, the runtime may leave out."""
    found = set(operations)
    waiting = list(found)
    while waiting:
        above = [tensor.op for tensor in waiting.pop().inputs if tensor.op not in found]
        found.update(above)
        waiting.extend(above)
    return found


def _at(error: Unstageable, operation: Any, file: str) -> Unstageable:
    error.line = tf_internals.user_line(operation, file)
    return error
