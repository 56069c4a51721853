"""Two built branches -> their operations in the graph around them, and a select of each output, where that is cheaper.

This is if-conversion. A branch of the graph costs a switch for each of its inputs and a merge for each of its outputs,
which is more than a few additions of small tensors. Both branches then run, so nothing is taken in whose run could
be told: that may fail, draws, reads or writes a variable, prints. A select hands on the bits of what it chooses, NaN
or not, but its gradients are zeros where eager code has none: nothing is taken in that a tape could ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.symbolic import A_VIEW

_LARGEST = 256  # elements of a tensor in such a branch
_MOST = 24  # operations of both branches

_FREE = frozenset({"Placeholder", "Identity", "Const"})
_TOTAL = frozenset(
    {
        *("Abs", "AddV2", "Neg", "Sign", "Sub", "Mul", "Square", "Maximum", "Minimum", "Cast", "Select", "SelectV2"),
        *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"),
        *("LogicalAnd", "LogicalNot", "LogicalOr", "ZerosLike", "OnesLike"),
    }
)
# What fails, or depends on the kernel, for integers alone.
_TOTAL_OF_FLOATS = frozenset({"RealDiv", "FloorDiv", "FloorMod", "Sqrt", "Exp", "Log", "Tanh", "Sigmoid"})
# What cannot fail where the second input is known: a divisor, axes.
_BY_A_CONSTANT = frozenset({"FloorDiv", "FloorMod"})
_ALONG_AXES = frozenset({"Sum", "Mean", "Prod", "Max", "Min", "All", "Any"})


def is_selectable(left: Any, left_outputs: Sequence[Any], right: Any, right_outputs: Sequence[Any]) -> bool:
    """Whether `select` may be used for the outputs of two branches, each with its function graph."""
    trace = observer.current()
    if trace is None or not all(map(_are_alike, left_outputs, right_outputs)):
        return False
    both = (*left.get_operations(), *right.get_operations())
    operations = [op for op in both if op.type not in _FREE or A_VIEW in op.name]
    if len(operations) > _MOST or not all(map(is_total, operations)):
        return False
    return trace.selects(any(tensor.dtype.is_floating for tensor in left_outputs))


def may_select(dtype: tf.DType) -> bool:
    """Whether one of several tensors of a type may be selected: the others get zeros as gradients, not None."""
    trace = observer.current()
    return trace is None or trace.selects(dtype.is_floating or dtype.is_complex)


def one_of(pred: Any, left: Any, right: Any) -> Any:
    """`left` where the scalar bool `pred` is true, else `right`: two tensors of one type."""
    return tf.where(pred, left, right) if may_select(left.dtype) else tf.cond(pred, lambda: left, lambda: right)


def select(pred: Any, left: Any, left_outputs: Sequence[Any], right: Any, right_outputs: Sequence[Any]) -> list[Any]:
    """One tensor for each pair of outputs, in the default graph: the left ones where the scalar bool `pred` is true."""
    pairs = zip(_inlined(left, left_outputs), _inlined(right, right_outputs), strict=True)
    return [a if a is b else tf.raw_ops.Select(condition=pred, x=a, y=b) for a, b in pairs]


def _are_alike(left: Any, right: Any) -> bool:
    return left.dtype == right.dtype and _is_small(left) and _is_small(right) and left.shape == right.shape


def _is_small(tensor: Any) -> bool:
    is_known = tensor.shape.is_fully_defined() and tensor.shape.num_elements() <= _LARGEST
    return bool(is_known and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool))


def is_total(op: Any) -> bool:
    """Whether an operation of small tensors gives a value for every input, and does nothing else."""
    if op.device or op.control_inputs or not all(map(_is_small, [*op.inputs, *op.outputs])):
        return False
    second = tf.get_static_value(op.inputs[1]) if op.type in _BY_A_CONSTANT | _ALONG_AXES else None
    if op.type in _ALONG_AXES:
        return second is not None and (op.type != "Mean" or op.outputs[0].dtype.is_floating)
    if op.type in _TOTAL or (op.type in _TOTAL_OF_FLOATS and op.outputs[0].dtype.is_floating):
        return True
    return second is not None and bool((second > 0).all())


def _inlined(graph: Any, outputs: Sequence[Any]) -> list[Any]:
    return inlined(graph, {inner.name: outer for outer, inner in graph.captures}, outputs)


def inlined(graph: Any, values: dict[str, Any], outputs: Sequence[Any]) -> list[Any]:
    """The outputs of a function graph as tensors of the default graph, to which its operations are added.

    Args:
      values: tensors of the default graph by the names of the inputs.
    """
    around = tf.compat.v1.get_default_graph()
    for op in graph.get_operations():
        if op.type == "Identity":
            values[op.outputs[0].name] = values[op.inputs[0].name]
        elif op.type != "Placeholder":
            inputs = [values[tensor.name] for tensor in op.inputs]
            types = [tensor.dtype for tensor in op.outputs]
            made = around.create_op(op.type, inputs, types, attrs=op.node_def.attr, op_def=op.op_def)
            values.update(zip((tensor.name for tensor in op.outputs), made.outputs, strict=True))
    return [values[tensor.name] for tensor in outputs]
