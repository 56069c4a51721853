"""Operations of our traces, made by the calls to C that TensorFlow makes, without what it does in between.

In: a function graph under construction, and calls of TensorFlow's own Python functions. Out: the operations that they
would make, with the person's lines. What is not plain (a device, a gradient of its own, a function among the
attributes) goes TensorFlow's usual way. Private names of TensorFlow 2.21, as in `tf_internals.py`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.config import flags
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import context
from tensorflow.python.framework import (
    auto_control_deps,
    func_graph,
    op_def_library,
    op_def_library_pybind,
    op_def_registry,
    ops,
)
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.ops import cond_v2, while_v2
from tensorflow.python.util import tf_stack

from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Known

SymbolicTensor: Any = tensor_lib.Tensor
FuncGraph: Any = func_graph.FuncGraph
_context = context.context()
executing_eagerly = _context.executing_eagerly
# Held while TensorFlow's functions are replaced: two threads would put back what the other one has put there.
patching = threading.RLock()
_OF_AN_OPERATION = inspect.signature(FuncGraph._create_op_internal)


@contextlib.contextmanager
def quick_operations(graph: Any, file: str) -> Iterator[None]:
    """Have operations made in about half of the time.

    For each, TensorFlow enters its graph, mostly the one that it is in; locks out the sessions that run the graph, of
    which a function's has none; asks all frames for their lines; infers types in Python, though it can in C++; has
    resolvers look for resources, whether it has an input by which it could touch one or not; enters a name scope for
    its name; writes it down twice; and asks for devices, kernels and gradients of its own, which hardly any has.
    """
    stacks: dict[Any, Any] = {}
    as_default, lock, extract_stack = FuncGraph.as_default, FuncGraph._mutation_lock, tf_stack.extract_stack
    find_resources = auto_control_deps._get_resource_inputs
    apply_usually, create_usually = op_def_library._apply_op_helper, FuncGraph._create_op_internal
    make_constant = ops._create_graph_constant
    constants: dict[Any, Any] = {}
    infers_quickly = flags.config().graph_building_optimization

    def enter(inner: Any) -> Any:
        is_inside = ops.get_default_graph() is inner and not executing_eagerly()
        return contextlib.nullcontext(inner) if is_inside else as_default(inner)

    def stack_of_line(stacklevel: int = 1) -> Any:
        """The first stack that was seen at the line, in `file`, at which this one is."""
        if around_branches(ops.get_default_graph()) is not graph:
            return extract_stack(stacklevel + 1)  # another thread's, or of a tf.function, which may be run by itself
        frame: types.FrameType | None = sys._getframe(stacklevel)
        while frame is not None and frame.f_code.co_filename != file:
            frame = frame.f_back
        place = frame and (frame.f_code, frame.f_lasti)
        if place not in stacks:
            stacks[place] = extract_stack(stacklevel + 1)
        return stacks[place]

    def resources(operation: Any) -> Any:
        has_handle = any(tensor.dtype.as_datatype_enum in _HANDLES for tensor in operation.inputs)
        return find_resources(operation) if has_handle else ()

    def apply(kind: str, /, name: str | None = None, **arguments: Any) -> Any:
        """What the function of an operation calls; where all its inputs are tensors, C++ reads the arguments."""
        definition, parameters = _taking_tensors(kind)
        inner = ops.get_default_graph()
        if definition is None or not isinstance(inner, FuncGraph) or _context.op_callbacks:
            return apply_usually(kind, name, **arguments)
        given = dict(arguments)
        for parameter, takes_integers in parameters.items():
            value = given.get(parameter)
            if takes_integers and type(value) in {int, list, tuple, np.ndarray}:
                value = given[parameter] = _as_integers(value, parameter)
            if not isinstance(value, SymbolicTensor):
                return apply_usually(kind, name, **arguments)
        producer = tf.version.GRAPH_DEF_VERSION
        attributes, inputs, _, structure = op_def_library_pybind.process_inputs(kind, producer, given)
        made = inner._create_op_internal(kind, inputs, name=name or kind, attrs=attributes, op_def=definition)
        return structure, definition.is_stateful, made, made.outputs

    def create(
        inner: Any,
        kind: str,
        inputs: list[Any],
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Any = None,
        op_def: Any = None,
        compute_device: bool = True,
    ) -> Any:
        """An operation of a graph, as its method of this name makes it."""
        name = name or kind
        if around_branches(inner) is graph:
            inputs, attrs = _in_order(kind, inputs, attrs)
            input_types = input_types and input_types[: len(inputs)]
        if not (_taking_tensors(kind)[0] and _makes_plain_operations(inner) and ops._VALID_OP_NAME_REGEX.match(name)):
            return create_usually(inner, kind, inputs, dtypes, input_types, name, attrs, op_def, compute_device)
        inputs = [each if getattr(each, "graph", None) is inner else inner.capture(each) for each in inputs]
        with inner._c_graph.get() as c_graph:
            unique = name[:-1] if name[-1] == "/" else inner.unique_name(name)
            description = pywrap_tf_session.TF_NewOperation(c_graph, kind, unique)
        for tensor in inputs:
            pywrap_tf_session.TF_AddInput(description, tensor._as_tf_output())
        if inner._control_dependencies_stack:
            for control in inner._control_dependencies_for_inputs({tensor.op for tensor in inputs}):
                pywrap_tf_session.TF_AddControlInput(description, control._c_op)
        for key, value in (attrs or {}).items():
            pywrap_tf_session.TF_SetAttrValueProto(description, key, value.SerializeToString())
        try:
            c_operation = pywrap_tf_session.TF_FinishOperation(description)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None
        pywrap_tf_session.TF_SetOpStackTrace(c_operation, stack_of_line(2))
        operation = tf.Operation(c_operation, ops.SymbolicTensor)
        operation._init(inner)
        inner._record_op_seen_by_control_dependencies(operation)
        return operation

    def constant(value: Any, dtype: Any, shape: Any, name: str, verify_shape: bool, allow_broadcast: bool) -> Any:
        """A constant of a value that was seen before, mostly a shape or an axis, has the attributes of the first."""
        is_simple = type(value) in {int, float} or (type(value) is list and all(type(each) is int for each in value))
        if shape is not None or not is_simple or _context.op_callbacks:
            if around_branches(ops.get_default_graph()) is graph and not _is_usual(value, dtype):
                value, dtype = _of_eager_mode(value, dtype)
            return make_constant(value, dtype, shape, name, verify_shape, allow_broadcast)
        key = repr(value), dtype
        if key not in constants:
            if around_branches(ops.get_default_graph()) is graph and not _is_usual(value, dtype):
                _of_eager_mode(value, dtype)  # which raises
            tensor = tf.make_tensor_proto(value, dtype)
            held = attr_value_pb2.AttrValue
            constants[key] = {"value": held(tensor=tensor), "dtype": held(type=tensor.dtype)}
        return ops.get_default_graph()._create_op_internal("Const", [], name=name, attrs=constants[key]).outputs[0]

    unlocked = contextlib.nullcontext()
    before = infers_quickly.value()
    infers_quickly.reset(True)
    FuncGraph.as_default, FuncGraph._mutation_lock = enter, lambda inner: unlocked
    tf_stack.extract_stack, auto_control_deps._get_resource_inputs = stack_of_line, resources
    op_def_library._apply_op_helper, FuncGraph._create_op_internal = apply, create
    ops._create_graph_constant = constant
    try:
        yield
    finally:
        op_def_library._apply_op_helper, FuncGraph._create_op_internal = apply_usually, create_usually
        ops._create_graph_constant = make_constant
        infers_quickly.reset(before)
        tf_stack.extract_stack, auto_control_deps._get_resource_inputs = extract_stack, find_resources
        FuncGraph.as_default, FuncGraph._mutation_lock = as_default, lock


_KINDS = ({int, float}, {bool}, {complex}, {str, bytes})


def _is_usual(value: Any, dtype: Any) -> bool:
    """Whether numpy, which graphs ask, makes of a value what eager mode does."""
    if not isinstance(value, (list, tuple, int)):
        return True
    parts = tf.nest.flatten(value)
    kinds = {*map(type, parts)}
    least = 0 if dtype == tf.uint64 else -(2**63)
    return any(kinds <= usual for usual in _KINDS) and all(
        least <= part < (2**64 if dtype == tf.uint64 else 2**63) for part in parts if type(part) is int
    )


def _of_eager_mode(value: Any, dtype: Any) -> tuple[Any, Any]:
    """What eager mode makes of a value, and its type: numbers of several types, of numpy's, or large ones.

    Raises:
      ValueError: it makes nothing of it.
      Unstageable: among the numbers is one that stands for numpy's: C code would take it for such an object.
    """
    for part in tf.nest.flatten(value):
        if type(part) is not part.__class__ and not isinstance(part, Known):
            raise Unstageable("makes a tensor of a list in which numpy's numbers are unknown", "stack tensors")
    with tf.init_scope():
        tensor = tf.constant(value, dtype)
        return tensor.numpy(), tensor.dtype


def _in_order(kind: str, inputs: list[Any], attributes: Any) -> tuple[list[Any], Any]:
    """The inputs and attributes of an operation; of a sum those by which it adds up its terms in their order.

    The kernel begins with the first term whose memory it may reuse. In eager mode that is none, since Python holds all.
    Where a thread runs a graph by itself no attribute forbids it; but the sum of the first two is always reused.
    """
    if kind != "AddN" or len(inputs) < 3 or inputs[0].dtype == tf.variant:  # lists of sums, not sums
        return inputs, attributes
    first, second = inputs[:2]
    # To a sum of the first terms the kernel adds sums of eight, for some numbers other ones with one term less.
    if len(inputs) % 8 != 2 and first.shape.is_fully_defined() and first.shape == second.shape:
        start = tf.raw_ops.AddV2(x=first, y=second)
        start.op._set_attr("_start", attr_value_pb2.AttrValue(i=next(_numbers)))  # or it would be one with its equals
        inputs = [start, *inputs[2:]]
        attributes = {**attributes, "N": attr_value_pb2.AttrValue(i=len(inputs))}
    return inputs, {**attributes, "_forward_input": _REUSES_NOTHING}


def begins_with_a_sum(total: Any) -> bool:
    """Whether a sum adds up its terms in their order even where a thread runs its graph by itself."""
    return "_start" in total.inputs[0].op.node_def.attr


_numbers = itertools.count()
# For output 0, `OpKernelContext::Params::kNeverForward`.
_REUSES_NOTHING = attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue(i=[-2, 0]))


@contextlib.contextmanager
def sums_in_order() -> Iterator[None]:
    """Sums in functions that are made in the block are those of eager mode, to the last bit."""
    with patching:
        create = FuncGraph._create_op_internal

        def create_in_order(*args: Any, **named: Any) -> Any:
            given = _OF_AN_OPERATION.bind(*args, **named)
            parts = given.arguments
            parts["inputs"], parts["attrs"] = _in_order(parts["op_type"], parts["inputs"], parts.get("attrs"))
            parts["input_types"] = (parts.get("input_types") or [])[: len(parts["inputs"])] or None
            return create(*given.args, **given.kwargs)

        FuncGraph._create_op_internal = create_in_order
        try:
            yield
        finally:
            FuncGraph._create_op_internal = create


@contextlib.contextmanager
def neutral_zeros() -> Iterator[None]:
    """Gradients of loops and branches that are built in the block start their sums with -0.0.

    Where nothing is to be added, graphs add zeros, and 0.0 + -0.0 is 0.0; with -0.0 each sum is what it is without it.
    """
    before_loop, of_branches = while_v2._preprocess_grad, cond_v2._create_zeros_for_none_grads

    def start(gradient: Any, output: Any, *ends: Any) -> Any:
        given = before_loop(gradient, output, *ends)
        is_kept = output.op.type == "Placeholder"  # all the loop does with it is to read it
        return -given if is_kept and _is_zeros(given) else given

    def fill(forward_graphs: Any, gradient_graphs: Any) -> None:
        missing = [
            (graph, k) for graph in gradient_graphs
            for k, output in enumerate(graph.structured_outputs) if output is None
        ]  # fmt: skip
        of_branches(forward_graphs, gradient_graphs)
        for graph, k in missing:
            with graph.as_default():
                zeros = graph.structured_outputs[k]
                if _is_zeros(zeros):
                    graph.structured_outputs[k] = -zeros
        for graph in gradient_graphs:
            graph.outputs = [each for each in tf.nest.flatten(graph.structured_outputs) if each is not None]

    with patching:
        while_v2._preprocess_grad, cond_v2._create_zeros_for_none_grads = start, fill
        try:
            yield
        finally:
            while_v2._preprocess_grad, cond_v2._create_zeros_for_none_grads = before_loop, of_branches


def _is_zeros(tensor: Any) -> bool:
    if not isinstance(tensor, tf.Tensor) or not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        return False
    if not isinstance(tensor, ops.EagerTensor) and tensor.op.type in ("ZerosLike", "Fill"):
        return tensor.op.type == "ZerosLike" or _is_zeros(tensor.op.inputs[1])
    value = tf.get_static_value(tensor)
    return value is not None and not np.any(value)


def _as_integers(value: Any, name: str) -> Any:
    """A shape or axis as the tensor that it becomes if nothing is said about its type; None if that has not 32 bits."""
    try:
        tensor = ops.convert_to_tensor(value, name=name)
    except (TypeError, ValueError):
        return None
    return tensor if tensor.dtype == tf.int32 else None


@functools.cache
def _taking_tensors(kind: str) -> tuple[Any, dict[str, bool]]:
    """The definition of a type of operation that takes tensors one by one, else None.

    Also the names of these parameters, with whether they are integers of a type of their own, by default of 32 bits.
    """
    definition = op_def_registry.get(kind)
    if definition is None or calls_functions(kind):
        return None, {}
    if any(each.number_attr or each.type_list_attr or each.is_ref for each in definition.input_arg):
        return None, {}
    integers = {each.name for each in definition.attr if each.default_value.type == tf.int32.as_datatype_enum}
    types = [each.type_attr for each in definition.input_arg]
    return definition, {
        each.name: each.type_attr in integers and types.count(each.type_attr) == 1 for each in definition.input_arg
    }


def _makes_plain_operations(graph: Any) -> bool:
    """Whether operations of a graph are what their types say alone, without a device or gradient of their own."""
    has_extras = (
        graph.capture_by_value
        or graph._control_flow_context
        or graph._attr_scope_map
        or graph._op_to_kernel_label_map
        or graph._gradient_function_map
        or graph._gradient_override_map
        or graph._colocation_stack
        or graph._container
        or graph._default_original_op
    )
    return not has_extras and all(each.is_null_merge for each in graph._device_function_stack.peek_objs())


# A dataset is a variant, and may hold resources.
_HANDLES = frozenset({tf.resource.as_datatype_enum, tf.variant.as_datatype_enum})


def around_branches(graph: Any) -> Any:
    """The graph of the function of which a graph is, or holds, a branch or a body."""
    while isinstance(graph, FuncGraph) and type(graph) is not FuncGraph:
        graph = graph.outer_graph
    return graph


@functools.cache
def calls_functions(kind: str) -> bool:
    """Whether operations of a type have functions among their attributes."""
    definition = op_def_registry.get(kind)
    return definition is None or any("func" in attribute.type for attribute in definition.attr)
