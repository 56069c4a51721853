"""Every private name of TensorFlow and Keras that autoimport leans on, each with what it is for.

Written against TensorFlow 2.21 and Keras 3; tests/staging/test_tf_internals.py fails loudly when one changes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.function.polymorphism import function_type as function_types
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.autograph.impl import api as autograph_api
from tensorflow.python.eager import cancellation, context, record
from tensorflow.python.eager.polymorphic_function import concrete_function, eager_function_run, polymorphic_function
from tensorflow.python.framework import constant_op, func_graph, ops, random_seed
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.ops import cond_v2, custom_gradient, gen_random_ops, while_v2
from tensorflow.python.platform import tf_logging
from tensorflow.python.trackable import data_structures
from tensorflow.python.util import traceback_utils

from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.staging.tf_operations import around_branches, calls_functions, neutral_zeros, patching, quick_operations

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# Concrete values, symbolic values, graphs of functions.
EagerTensor: Any = ops.EagerTensor
SymbolicTensor: Any = tensor_lib.Tensor
FuncGraph: Any = func_graph.FuncGraph
# What a launch is cancelled by: `start_cancel()` from any thread.
Cancellation: Any = cancellation.CancellationManager
PolymorphicFunction: Any = polymorphic_function.Function
ConcreteFunction: Any = concrete_function.ConcreteFunction
# What a dict, or a tuple of modules, becomes as an attribute of a tf.Module; `__class__` is that of what they hold.
DictWrapper: Any = data_structures._DictWrapper
TupleWrapper: Any = data_structures._TupleWrapper
# What lists and dicts become as attributes of a tf.Module or a layer: they look for layers and variables among items.
_TRACKING = (
    "tensorflow.python.trackable.data_structures.ListWrapper",
    "tensorflow.python.trackable.data_structures._DictWrapper",
    "keras.src.utils.tracking.TrackedList",
    "keras.src.utils.tracking.TrackedDict",
)

# True in eager mode, per thread; the context object is one for the whole process.
_context = context.context()
executing_eagerly: Callable[[], bool] = _context.executing_eagerly


def has_started() -> bool:
    """Whether the runtime of this process, with its threads, has been made: the first operation does that."""
    return _context._context_handle is not None


def shape_tuple(tensor: Any) -> tuple[int, ...]:
    """The shape of an eager tensor without making a TensorShape."""
    return tensor._shape_tuple()  # type: ignore[no-any-return]


def type_number(tensor: Any) -> int:
    """The dtype of an eager tensor as the number that the runtime uses."""
    return tensor._datatype_enum()  # type: ignore[no-any-return]


def watch_graph_contexts(started: Callable[[], None], finished: Callable[[], None]) -> None:
    """Call `started` when a graph becomes the default in any thread and `finished` when it ceases to be.

    All roads (tf.function, Keras, tf.data, tf.Graph) lead through the controller of the default graph stack.
    """
    stack = ops._default_graph_stack
    original = stack.get_controller
    inside = threading.local()

    @contextlib.contextmanager
    def outermost(default: Any) -> Iterator[Any]:
        inside.graph = True
        started()
        try:
            with original(default) as graph:
                yield graph
        finally:
            inside.graph = False
            finished()

    def get_controller(default: Any) -> Any:
        # Called for each operation that is added to a graph.
        return original(default) if getattr(inside, "graph", False) else outermost(default)

    stack.get_controller = get_controller


def make_autograph_leave_alone(is_ours: Callable[[Any], bool]) -> None:
    """Widen the predicate by which AutoGraph leaves a function as it is."""
    original = autograph_api.is_autograph_artifact

    def is_autograph_artifact(entity: Any) -> bool:
        return bool(original(entity)) or is_ours(entity)

    autograph_api.is_autograph_artifact = is_autograph_artifact


def hide_frames_of(folder: str) -> None:
    """Have TensorFlow's and Keras' own traceback filters drop the frames of files below `folder`, as they do theirs."""
    traceback_utils._EXCLUDED_PATHS = (*traceback_utils._EXCLUDED_PATHS, folder + os.sep)


def operations_are_watched() -> bool:
    """Whether the person has switched graphs off (`tf.config.run_functions_eagerly`), or has each operation looked at
    (`tf.debugging.enable_check_numerics`, `enable_dump_debug_info`), which says what eager code runs.
    """
    return bool(eager_function_run.RUN_FUNCTIONS_EAGERLY or _context.op_callbacks)


@contextlib.contextmanager
def unknown_elements(array: Any) -> Iterator[None]:
    """In the block the shape of an array's elements is not known from what has been written to it.

    Operations on its list find it out when they run, or fail where nothing has been written: as in eager mode.
    """
    implementation = array._implementation
    known = implementation._element_shape
    shape: Any = tf.TensorShape(None)
    if known[0].rank == 0:  # an array of no scalars is stacked to a vector; eager code has one for all others, too
        shape = tf.cond(array.size() > 0, lambda: tf.constant(-1), lambda: tf.constant([], tf.int32))
    implementation._element_shape = [shape]
    try:
        yield
    finally:
        implementation._element_shape = known


def tracks_items(cls: type) -> bool:
    """Whether a class is a list or dict that tracks what is stored to it, and keeps tensors and numbers as they are."""
    return f"{cls.__module__}.{cls.__qualname__}" in _TRACKING


def _keras_state() -> dict[str, Any]:
    """What Keras keeps for this thread; empty while it is not there."""
    state = sys.modules.get("keras.src.backend.common.global_state")
    return vars(state.GLOBAL_STATE_TRACKER) if state is not None else {}


def in_stateless_scope() -> bool:
    """Whether Keras is computing shapes or building symbolically: its weights are constants then."""
    return _keras_state().get("stateless_scope") is not None


# Settings of Keras that its layers and functions look at, by the name under which it keeps them for each thread.
_KERAS_SETTINGS = ("stateless_scope", "dtype_policy", "autocast_scope", "flash_attention", "distribution")


def settings() -> tuple[Any, ...]:
    """The global settings that TensorFlow and Keras look at while a graph is built."""
    keras = sys.modules.get("keras.src.backend.config")
    of_keras = (keras._FLOATX, keras._EPSILON, keras._IMAGE_DATA_FORMAT) if keras is not None else ()
    of_thread = [*map(_keras_state().get, _KERAS_SETTINGS)]
    return (
        _context.device_name,
        _context.scope_name,
        ops._dtype_conversion_mode,
        ops._numpy_style_slicing,
        of_keras,
        of_thread,
        keras_seed_generator(),
    )


@contextlib.contextmanager
def name_scope(scope: Any) -> Iterator[str]:
    """Enter a `tf.name_scope` in a graph and tell the name that eager code gives it: a graph counts equal names."""
    with scope:
        before, name = _context.scope_name or "", scope.name
        _context.scope_name = name if not name or name.endswith("/") else f"{before}{name}/"
        try:
            yield _context.scope_name
        finally:
            _context.scope_name = before


def is_in_keras_backend(frame: types.FrameType) -> bool:
    """Whether a frame is of the code by which Keras finds the dtype of a result: `getattr(x, "dtype", type(x))`."""
    return str(frame.f_globals.get("__name__")).startswith("keras.src.backend.")


def keras_seed_generator() -> Any:
    """The generator of which Keras' random functions draw when they get no seed; None while there is none."""
    return _keras_state().get("global_seed_generator")


def outermost_graph() -> Any:
    """The graph of the function under construction, outside its branches and loop bodies."""
    graph = ops.get_default_graph()
    while isinstance(graph.outer_graph, FuncGraph):
        graph = graph.outer_graph
    return graph


def is_inside(graph: Any, other: Any) -> bool:
    """Whether a graph is another one, or of a branch or body in it."""
    while graph is not other and isinstance(graph, FuncGraph):
        graph = graph.outer_graph
    return graph is other


def size_of_current_graph() -> int:
    """About how many operations are in the graph under construction so far, those of branches and bodies reckoned."""
    graph = ops.get_default_graph()
    return int(graph.version) + 10 * len(graph._functions)


def size_of(graph: Any) -> int:
    """How many operations are in a graph."""
    return int(graph.version)


def is_called_once(graph: Any) -> bool:
    """Whether what is being made runs once in each run of `graph`: not in a branch, a loop, or a vectorized body."""
    return ops.get_default_graph() is graph and "loop_body" not in graph.get_name_scope()


@contextlib.contextmanager
def random_operations(get_seed: Callable[..., Any], makers: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Have TensorFlow ask `get_seed` for seeds, and others for stateful random operations.

    All get the function whose place they take as their first argument.
    """
    places = [(random_seed, "get_seed", get_seed), *((gen_random_ops, name, make) for name, make in makers.items())]
    originals = [getattr(module, name) for module, name, _ in places]
    for (module, name, make), original in zip(places, originals, strict=True):
        setattr(module, name, functools.partial(make, original))
    try:
        yield
    finally:
        for (module, name, _), original in zip(places, originals, strict=True):
            setattr(module, name, original)


def global_seed() -> Any:
    """The seed of `tf.random.set_seed`, or None."""
    return _context._seed


def seed_generator() -> Any:
    """What eager draws operation seeds of: `set_seed` makes a new one, `randint` is all that is asked of it."""
    return _context._rng


def set_seed_generator(generator: Any) -> None:
    """Have eager draw operation seeds of `generator`."""
    _context._rng = generator


def eager_tensor(value: Any, dtype: Any) -> Any:
    """A number, list or numpy array as `tf.constant` and `tf.convert_to_tensor` make it, in a quarter of the time."""
    return constant_op.convert_to_eager_tensor(value, _context, dtype)


def placeholder(graph: Any, dtype: Any, shape: Any) -> Any:
    """A new input of `graph`, made from within any graph nested in it."""
    with graph.as_default(), ops.control_dependencies(None):
        return tf.compat.v1.placeholder(dtype, shape)


def build_function(name: str, file: str, body: Callable[[], list[Any]], inputs: list[Any]) -> Any:
    """Trace `body` into a concrete function whose inputs are `inputs` (filled by `body`), then its captures.

    Args:
      file: operations know which line of it has made them.
    Returns:
      A ConcreteFunction with flat tensor outputs, in the order in which `body` returned them.
    """
    graph = FuncGraph(name)
    gradients: list[str] = []
    disabled = ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED)
    try:
        names = _names_of_gradients(graph, gradients)
        with patching, disabled, quick_operations(graph, file), neutral_zeros(), _no_logs(), names:
            func_graph.func_graph_from_py_func(name, body, (), {}, func_graph=graph)
    except BaseException:
        _forget_gradients(gradients)
        raise
    graph.inputs = [*inputs, *graph.internal_captures]
    specs = tuple(tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in inputs)
    signature = function_types.from_structured_signature(
        (specs, {}), graph.structured_outputs, graph.function_captures.capture_types
    )
    function = ConcreteFunction.from_func_graph(graph, signature, {}, shared_func_graph=False)
    if gradients:
        weakref.finalize(function, _forget_gradients, gradients).atexit = False
    return function


@contextlib.contextmanager
def _no_logs() -> Iterator[None]:
    """Give up where TensorFlow writes a log while it builds a graph: eager code would, at each call or the first ones.

    It counts the calls of each line of the program; whose first ones have been made is left to be silent.
    """
    usually = tf_logging.log_first_n
    logger = tf_logging.get_logger()

    def refuse(_: object) -> bool:
        if observer.current() is not None:
            raise Unstageable("TensorFlow writes a log")
        return True

    def log_first_n(level: Any, message: str, n: int, *args: Any) -> None:
        if observer.current() is None:
            usually(level, message, n, *args)
        elif 1 + tf_logging._log_counter_per_token.get(_line_of_program(sys._getframe(1)), -1) < n:
            refuse(message)

    logger.addFilter(refuse)
    tf_logging.log_first_n = log_first_n
    try:
        yield
    finally:
        tf_logging.log_first_n = usually
        logger.removeFilter(refuse)


def _line_of_program(frame: types.FrameType | None) -> tuple[str, int]:
    """Who has called a module of TensorFlow's, as its logging finds that, past our frames."""
    file = frame.f_code.co_filename if frame is not None else ""
    while frame is not None and (frame.f_code.co_filename == file or frame.f_code.co_filename.startswith(_OURS)):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def outputs_of(function: Any) -> int:
    """How many outputs a concrete function has; its graph has more once there is a function of the gradient."""
    return len(function.inference_fn.function_type.flat_outputs)


def function_anew(function: Any) -> Any:
    """A concrete function of the graph of `function` as it is now; it keeps `function`, which owns the graph."""
    graph = function.graph
    graph.outputs = graph.outputs[: outputs_of(function)]  # others have come with the function of its gradient
    made = ConcreteFunction.from_func_graph(graph, function.function_type, {}, shared_func_graph=True)
    made._owner = function
    return made


def replace(graph: Any, operation: Any, tensors: Sequence[Any]) -> None:
    """Whatever takes an output of an operation, and the outputs of its graph, take one of `tensors` instead."""
    instead = {id(old): new for old, new in zip(operation.outputs, tensors, strict=True)}
    for old in operation.outputs:
        for consumer in old.consumers():
            for index, tensor in enumerate(consumer.inputs):
                if tensor is old:
                    consumer._update_input(index, instead[id(old)])
    graph.outputs = [instead.get(id(tensor), tensor) for tensor in graph.outputs]


def control_outputs(operation: Any) -> Any:
    """The operations that wait for an operation without taking its outputs."""
    return operation._control_outputs


def unrecorded() -> Any:
    """A context in which tapes see nothing."""
    return record.stop_recording()


@contextlib.contextmanager
def _names_of_gradients(graph: Any, names: list[str]) -> Iterator[None]:
    """Note the names under which `tf.custom_gradient` registers gradients of operations of `graph`.

    TensorFlow never forgets one, nor what it holds: tensors, and with them all of the graph.
    """
    original = custom_gradient.generate_name

    def generate_name() -> str:
        name = original()
        if (
            around_branches(ops.get_default_graph()) is graph
        ):  # not that of a function of the person's, which may live longer
            names.append(name)
        return str(name)

    custom_gradient.generate_name = generate_name
    try:
        yield
    finally:
        custom_gradient.generate_name = original


def _forget_gradients(names: list[str]) -> None:
    for name in names:
        ops.gradient_registry._registry.pop(name, None)


def operations(graph: Any) -> Iterator[Any]:
    """All operations of a function graph and of the functions below it (branches, bodies, called functions)."""
    seen = set()

    def walk(graph: Any) -> Iterator[Any]:
        yield from graph.get_operations()
        for function in graph._functions.values():
            name = function.name
            if name not in seen and getattr(function, "graph", None) is not None:
                seen.add(name)
                yield from walk(function.graph)

    yield from walk(graph)


def inner_graphs(graph: Any, operation: Any) -> list[Any]:
    """The graphs of the functions that an operation of `graph` calls: branches, bodies, called functions."""
    if not calls_functions(operation.type):
        return []
    values = operation.node_def.attr.values()
    called = [each for value in values for each in ([value.func] if value.HasField("func") else value.list.func)]
    found = (_function(graph, each.name) for each in called)
    return [function.graph for function in found if getattr(function, "graph", None) is not None]


def branches(graph: Any, operation: Any) -> list[Any]:
    """The graphs of a branch's ways, in the order of its condition's values: true first."""
    if operation.type in ("If", "StatelessIf"):
        return [called(graph, operation, "then_branch"), called(graph, operation, "else_branch")]
    return inner_graphs(graph, operation)


def holds_variable(handle: Any) -> bool:
    """Whether a resource is a variable: iterators and tables have no value."""
    data = getattr(handle, "_handle_data", None)
    return handle.dtype == tf.resource and data is not None and bool(data.shape_and_type)


def read_variables(handles: Sequence[Any]) -> list[Any]:
    """The values of variables, unseen by tapes."""
    with record.stop_recording():
        kinds = [tf.dtypes.as_dtype(handle._handle_data.shape_and_type[0].dtype) for handle in handles]
        return [tf.raw_ops.ReadVariableOp(resource=h, dtype=kind) for h, kind in zip(handles, kinds, strict=True)]


def write_variables(handles: Sequence[Any], values: Sequence[Any]) -> None:
    """Put values into variables, unseen by tapes."""
    with record.stop_recording():
        for handle, value in zip(handles, values, strict=True):
            tf.raw_ops.AssignVariableOp(resource=handle, value=value)


def is_stateful(operation: Any) -> bool:
    """Whether an operation is of a type that reads or changes state; `operation.op_def` takes ten times as long."""
    return operation._is_stateful  # type: ignore[no-any-return]


def called(graph: Any, operation: Any, attribute: str) -> Any:
    """The graph of the function that an operation of `graph` has for an attribute."""
    return _function(graph, operation.get_attr(attribute).name).graph


def _function(graph: Any, name: str) -> Any:
    """The function of a name that is called in a graph; TensorFlow may have left it to a graph around."""
    while graph is not None:
        if name in getattr(graph, "_functions", ()):
            return graph._functions[name]
        graph = getattr(graph, "outer_graph", None)
    return None


def calls_control_flow(call: Any) -> bool:
    """Whether a call is of a function in which TensorFlow has put a branch or loop, under more than one tape."""
    return "cflow_gradient_wrapper" in call.get_attr("f").name


def has_gradient(operation: Any) -> bool:
    """Whether gradients flow through an operation."""
    registered = ops.gradient_registry._registry.get(operation.type)
    if registered is not None and registered["type"] is not None:
        return True
    try:
        return ops.get_gradient_function(operation) is not None
    except LookupError:
        return False


def has_own_gradient(operation: Any) -> bool:
    """Whether the gradient of an operation is a function of the person's, which may give None."""
    name = operation.node_def.attr.get("_gradient_op_type")
    if name is None:
        return False
    waiting, modules = [ops.gradient_registry.lookup(name.s.decode())], set()
    for function in waiting:  # TensorFlow's own functions have the person's, or an object of theirs, in their cells
        modules.add((getattr(function, "__module__", None) or type(function).__module__).partition(".")[0])
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        waiting += [each for each in cells if callable(each) and not any(each is known for known in waiting)]
    return not modules <= {"tensorflow", "keras"}


def inside(graph: Any, source: Any) -> Any:
    """The tensor that stands in `graph` for a tensor or variable."""
    value = getattr(source, "value", source) if type(source).__module__.startswith("keras.") else source
    tensor = value.handle if isinstance(value, tf.Variable) else tf.nest.flatten(value, expand_composites=True)[0]
    return tensor if getattr(tensor, "graph", None) is graph else graph.capture(tensor)


def is_gradient_graph(graph: Any) -> bool:
    """Whether a graph is the gradient of a branch or of a loop's body."""
    return isinstance(graph, (cond_v2._CondGradFuncGraph, while_v2._WhileBodyGradFuncGraph))


def dataset_inputs(dataset: Any) -> list[Any]:
    """The datasets that a dataset takes its elements from."""
    return list(dataset._inputs())


def dataset_operations(dataset: Any) -> set[str]:
    """The operations that a dataset is made of, where no Python object tells (`Dataset.enumerate` hides its range)."""
    graph = graph_pb2.GraphDef()
    with tf.init_scope():
        graph.ParseFromString(dataset._as_serialized_graph().numpy())
    return {node.op for node in graph.node}


def dataset_functions(dataset: Any) -> list[Any]:
    """The concrete functions that a dataset itself calls to make its elements."""
    return [wrapper.function for wrapper in dataset._functions()]


def behind_identities(tensor: Any) -> Any:
    """What is handed on under another name."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def run_always(graph: Any, operations: list[Any]) -> None:
    """Keep operations of a function graph that is under construction, whether its outputs depend on them or not."""
    graph.control_outputs.extend(operations)


def run_after(operation: Any, others: list[Any]) -> None:
    """Let `operation` run only when `others` have succeeded."""
    operation._add_control_inputs(others)


def user_line(operation: Any, file: str) -> int | None:
    """The line of `file` that made a graph operation."""
    for frame in reversed(operation.traceback or []):
        if frame.filename == file:
            return int(frame.lineno)
    return None


def _exact_config(*, keep_idle: bool = False) -> bytes:
    """The rewriter without what changes bits: it may inline functions and tidy loops, not fuse, fold or reorder.

    Measured with TensorFlow 2.21: a convolutional network's losses equal eager's as often as without any rewriting, and
    a scalar loop takes 0.50 instead of 0.83 ms. In loops it drops what only control dependencies ask for, but not with
    `keep_idle`, with which that loop takes a fifth longer.
    """
    config = config_pb2.ConfigProto()
    rewriter = config.graph_options.rewrite_options
    for name in (
        "remapping",
        "arithmetic_optimization",
        "layout_optimizer",
        "constant_folding",
        "common_subgraph_elimination",
        "shape_optimization",
    ):
        setattr(rewriter, name, rewriter_config_pb2.RewriterConfig.OFF)
    rewriter.memory_optimization = rewriter_config_pb2.RewriterConfig.NO_MEM_OPT
    if keep_idle:
        rewriter.dependency_optimization = rewriter_config_pb2.RewriterConfig.OFF
    return bytes(config.SerializeToString())


EXACT_CONFIG = _exact_config()
EXACT_CONFIG_WITH_IDLE = _exact_config(keep_idle=True)


def iterations_of(outputs: Any) -> Any:
    """How many iterations a `tf.while_loop` with these results has made, a scalar tensor; None if that is not known."""
    for tensor in tf.nest.flatten(outputs, expand_composites=True):
        tensor = behind_identities(tensor)
        if tensor.op.type in ("While", "StatelessWhile"):
            return tensor.op.outputs[0]
    return None


def recording() -> bool:
    """Whether a gradient tape or forward accumulator of the person's may be watching."""
    return not pywrap_tfe.TFE_Py_TapeSetIsEmpty()


def has_one_device() -> bool:
    """Whether there is nothing but one CPU for operations to run on."""
    return len(tf.config.list_logical_devices()) == 1


def threads_between_operations() -> int:
    """How many operations the program wants to run at a time; 0 if it does not say."""
    return int(tf.config.threading.get_inter_op_parallelism_threads())


def run(name: bytes, inputs: Sequence[Any], outputs: int, config: bytes, attributes: Any = None) -> Any:
    """Launch a function by its runtime name: flat eager tensors in, flat eager tensors out.

    `attributes`: those of `in_one_thread`, for a launch that this thread makes by itself.
    """
    handle, device = _context._handle, _context.device_name
    if attributes is not None:
        return pywrap_tfe.TFE_Py_Execute(handle, device, "StatefulPartitionedCall", inputs, attributes, outputs)
    attributes = ("executor_type", "", "config_proto", config)
    return pywrap_tfe.TFE_Py_Execute(handle, device, name, inputs, attributes, outputs)


def in_one_thread(name: bytes, inputs: Sequence[Any], outputs: Sequence[Any], config: bytes) -> Any:
    """What `run` needs to have a function called by an operation: the runtime's threads are not asked then.

    `inputs` and `outputs` are tensors of the types that it takes and gives.
    """
    given, made = ([tensor.dtype.as_datatype_enum for tensor in tensors] for tensors in (inputs, outputs))
    call = "Tin", given, "Tout", made, "f", name, "config", ""
    return *call, "config_proto", config, "executor_type", ""


def itself(tensor: Any, others: Sequence[Any]) -> Any:
    """The one of some older tensors that the result of a branch or loop of a graph is: both are one place in memory."""
    place = _place(tensor)
    found = {id(other): other for other in others if place is not None and _place(other) == place}
    return next(iter(found.values())) if len(found) == 1 else tensor


def are_views(tensors: Sequence[Any]) -> bool:
    """Whether two tensors are one place in memory, and two objects."""
    places = [_place(tensor) for tensor in {id(tensor): tensor for tensor in tensors}.values()]
    known = [place for place in places if place is not None]
    return len(set(known)) < len(known)


def has_a_place(dtype: tf.DType) -> bool:
    """Whether Python can ask where in memory tensors of this type are."""
    return np.dtype(dtype.as_numpy_dtype).kind in "biufc"


def _place(tensor: Any) -> Any:
    if tensor._num_elements() == 0 or "CPU" not in tensor.backing_device:  # from elsewhere it would have to be copied
        return None
    memory = np.asarray(memoryview(tensor))
    return memory.__array_interface__["data"][0], type_number(tensor), shape_tuple(tensor)


def is_function(name: str) -> bool:
    """Whether what the runtime executes by this name is a graph; operations have names of their own."""
    return bool(_context.has_function(name))


# The entries of the runtime by which Python executes operations and graphs, and which argument is the name.
_EXECUTES = {"TFE_Py_FastPathExecute": 1, "TFE_Py_Execute": 2, "TFE_Py_ExecuteCancelable": 2}


def wrap_executions(wrap: Callable[[Callable[..., Any], int], Callable[..., Any]]) -> None:
    """Replace each entry of the runtime by `wrap(entry, place)`: TensorFlow's modules look it up at every call."""
    for name, place in _EXECUTES.items():
        setattr(pywrap_tfe, name, wrap(getattr(pywrap_tfe, name), place))


def cancellable(name: bytes, inputs: Sequence[Any], outputs: int, config: bytes) -> Callable[[Any], Any]:
    """A launch for another thread to make, as this one would make it by `run`."""
    attributes = ("executor_type", "", "config_proto", config)
    first = _context._handle, _context.device_name, name, inputs, attributes

    def launch(cancellation: Any) -> Any:
        return pywrap_tfe.TFE_Py_ExecuteCancelable(*first, cancellation._impl, outputs)

    return launch
