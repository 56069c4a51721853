"""Every private TensorFlow and Keras name behaves as it is used: what fails here has changed in TensorFlow."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.src.backend.common.stateless_scope import StatelessScope
from keras.src.backend.common.variables import AutocastScope
from tensorflow.core.config import flags
from tensorflow.python.framework import auto_control_deps, func_graph
from tensorflow.python.util import tf_stack

from autoimport.staging import handed_on, tf_internals


def test_classes_of_values_and_functions() -> None:
    graph = tf.Graph()
    with graph.as_default():
        symbolic = tf.constant(1.0)
    function = tf.function(lambda x: x)
    assert type(tf.constant(1.0)) is tf_internals.EagerTensor
    assert isinstance(symbolic, tf_internals.SymbolicTensor)
    assert not isinstance(symbolic, tf_internals.EagerTensor)
    assert isinstance(function, tf_internals.PolymorphicFunction)
    assert isinstance(function.get_concrete_function(1.0), tf_internals.ConcreteFunction)
    assert isinstance(function.get_concrete_function(1.0).graph, tf_internals.FuncGraph)


def test_classes_of_tracked_containers() -> None:
    module, layer = tf.Module(), keras.layers.Layer()
    for holder in (module, layer):
        holder.listed, holder.named = [1], {"a": 1}
        assert tf_internals.tracks_items(type(holder.listed))
        assert tf_internals.tracks_items(type(holder.named))
    module.tupled = (tf.Module(), 1)
    assert type(module.named) is tf_internals.DictWrapper
    assert type(module.tupled) is tf_internals.TupleWrapper
    assert (module.named.__class__, module.tupled.__class__) == (dict, tuple)
    assert module.named.__wrapped__ == {"a": 1}


def test_executing_eagerly_is_false_while_a_graph_is_built() -> None:
    seen = []
    tf.function(lambda: seen.append(tf_internals.executing_eagerly()), autograph=False)()
    with tf.Graph().as_default():
        seen.append(tf_internals.executing_eagerly())
    assert [*seen, tf_internals.executing_eagerly()] == [False, False, True]


def test_shape_and_dtype_of_an_eager_tensor() -> None:
    tensor = tf.ones((2, 3), tf.float64)
    assert tf_internals.shape_tuple(tensor) == (2, 3)
    assert tf_internals.type_number(tensor) == tf.float64.as_datatype_enum


def test_all_roads_to_a_graph_are_watched() -> None:
    # In a process of its own: the wrapper stays.
    program = """
        import tensorflow as tf
        from autoimport.staging import tf_internals
        events = []
        tf_internals.watch_graph_contexts(lambda: events.append(1), lambda: events.append(-1))
        def road(name, run):
            events.clear()
            run()
            print(name, 1 in events, sum(events))
        def v1():
            with tf.Graph().as_default(): tf.constant(1)
        def fails():
            try: tf.function(lambda: 1 / 0, autograph=False)()
            except ZeroDivisionError: pass
        road("function", lambda: tf.function(lambda: tf.constant(1), autograph=False)())
        road("map", lambda: list(tf.data.Dataset.range(2).map(lambda x: x + 1)))
        road("graph", v1)
        road("failing", fails)
        road("eager", lambda: tf.constant(1) + 1)
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.splitlines() == [
        "function True 0",
        "map True 0",
        "graph True 0",
        "failing True 0",
        "eager False 0",
    ]


def test_autograph_asks_the_predicate_by_which_it_leaves_functions_alone(monkeypatch) -> None:
    from tensorflow.python.autograph.impl import api

    monkeypatch.setattr(api, "is_autograph_artifact", api.is_autograph_artifact)
    asked = []
    tf_internals.make_autograph_leave_alone(lambda entity: bool(asked.append(entity)))

    def helper(x):
        return x

    tf.function(lambda x: helper(x))(1.0)
    assert helper in asked


def test_frames_below_a_folder_are_left_out_of_filtered_tracebacks(monkeypatch) -> None:
    from tensorflow.python.util import traceback_utils

    monkeypatch.setattr(traceback_utils, "_EXCLUDED_PATHS", traceback_utils._EXCLUDED_PATHS)
    tf_internals.hide_frames_of("/some/folder")
    assert not traceback_utils.include_frame("/some/folder/file.py")
    assert traceback_utils.include_frame("/some/folder_else/file.py")


def test_what_looks_at_each_operation_is_seen() -> None:
    assert not tf_internals.operations_are_watched()
    tf.config.run_functions_eagerly(True)
    try:
        assert tf_internals.operations_are_watched()
    finally:
        tf.config.run_functions_eagerly(False)
    tf.debugging.enable_check_numerics()
    try:
        assert tf_internals.operations_are_watched()
    finally:
        tf.debugging.disable_check_numerics()
    assert not tf_internals.operations_are_watched()


def test_a_stateless_scope_is_seen() -> None:
    with StatelessScope():
        assert tf_internals.in_stateless_scope()
    assert not tf_internals.in_stateless_scope()


def test_settings_change_with_keras_and_with_the_device() -> None:
    before, epsilon = tf_internals.settings(), keras.config.epsilon()
    keras.config.set_epsilon(0.5)
    try:
        assert tf_internals.settings() != before
    finally:
        keras.config.set_epsilon(epsilon)
    scopes = (
        tf.device("/CPU:0"),
        tf.name_scope("a"),
        StatelessScope(),
        AutocastScope("float16"),
    )
    for scope in scopes:
        with scope:
            assert tf_internals.settings() != before
        assert tf_internals.settings() == before


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        (lambda: keras.config.set_dtype_policy("mixed_float16"), lambda: keras.config.set_dtype_policy("float32")),
        (keras.config.disable_flash_attention, keras.config.enable_flash_attention),
        (lambda: keras.config.set_floatx("float64"), lambda: keras.config.set_floatx("float32")),
        (
            lambda: keras.config.set_image_data_format("channels_first"),
            lambda: keras.config.set_image_data_format("channels_last"),
        ),
    ],
)
def test_settings_change_with_those_of_keras(change: Callable[[], None], undo: Callable[[], None]) -> None:
    before = tf_internals.settings()
    change()
    try:
        assert tf_internals.settings() != before
    finally:
        undo()


def test_a_name_scope_in_a_graph_tells_eagers_name() -> None:
    with tf.name_scope("outer"), tf.Graph().as_default():
        for _ in range(2):
            with tf_internals.name_scope(tf.name_scope("inner")) as name:
                assert name == "outer/inner/"
                with tf_internals.name_scope(tf.name_scope("deep")) as deep:
                    assert deep == "outer/inner/deep/"


def test_a_function_is_built_of_inputs_made_on_the_way_and_run() -> None:
    variable = tf.Variable(3.0)
    inputs = []

    def body():
        graph = tf_internals.outermost_graph()

        def inside():
            assert tf_internals.outermost_graph() is graph
            inputs.append(tf_internals.placeholder(graph, tf.float32, (2,)))
            return inputs[0] * variable

        return [tf.cond(variable > 0.0, inside, lambda: tf.zeros(2)), tf.constant(7)]

    function = tf_internals.build_function("built", __file__, body, inputs)
    captured = list(function.captured_inputs)
    name = function.inference_fn.name
    first, second = tf_internals.run(name, [tf.constant([1.0, 2.0]), *captured], 2, tf_internals.EXACT_CONFIG)
    assert (first.numpy().tolist(), second.numpy()) == ([3.0, 6.0], 7)
    kinds = [operation.type for operation in tf_internals.operations(function.graph)]
    assert "Mul" in kinds  # in the branch
    assert "Placeholder" in kinds
    branch = next(operation for operation in function.graph.get_operations() if operation.type in ("If", "StatelessIf"))
    assert len(tf_internals.inner_graphs(function.graph, branch)) == 2


def test_quickly_made_operations_are_those_that_tensorflow_makes(monkeypatch) -> None:
    variable, table = tf.Variable([2.0, 3.0]), tf.Variable([[1.0, 2.0]])
    older = tf.constant([4.0, 5.0])

    def body():
        with tf.GradientTape() as tape:
            y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * variable), (0, tf.ones(2)))[1]
            y = tf.cond(tf.reduce_sum(y) > 0.0, lambda: y / variable, lambda: tf.concat([y[:1], [7.0]], 0))
            loss = tf.reduce_mean((tf.gather(table, [0, 0]) @ y[:, None]) ** 2, axis=[0, 1])
        for one, slope in zip((variable, table), tape.gradient(loss, (variable, table)), strict=True):
            one.assign_sub(tf.convert_to_tensor(slope))
        total = tf.data.Dataset.range(3).reduce(np.int64(0), lambda a, b: a + b + tf.cast(variable[0], tf.int64))
        with tf.device("/cpu:0"):
            placed = tf.exp(loss)
        with tf.control_dependencies([total]):
            alike = [
                tf.constant(0.0) + y,
                y - tf.constant(-0.0),
                y * 0,
                y + older,
                tf.cast(y, tf.int32) // 1,
                tf.reshape(y, [1, 2]),
            ]
            alike += [loss + np.float32(1), loss + 1, loss + 1.0, tf.constant([1, 2]), tf.constant([1, 2], tf.int64)]
            alike += [tf.constant([1.0, 2]), tf.constant(1, tf.float64), tf.constant(1), tf.constant(1, shape=[2])]
            alike += [tf.reduce_sum(y, axis=axis) for axis in (0, [0], (), np.array([0]), tf.constant([0], tf.int64))]
            alike += [tf.reshape(y, shape) for shape in ([tf.size(y), 1], np.array([2, 1]), np.array([1, 2], np.int32))]
            with pytest.raises((TypeError, ValueError)):
                tf.reshape(y, [1.5, 2])
        return [variable.read_value(), loss, total, placed, *map(tf.identity, alike)]

    def shape_of(function):
        return [
            (
                each.type,
                each.device,
                [(t.dtype, str(t.shape)) for t in each.outputs],
                len(each.inputs),
                len(each.control_inputs),
                {key: str(value) for key, value in each.node_def.attr.items() if not is_name(key, value)},
            )
            for each in tf_internals.operations(function.graph)
            if each.type != "Const" or any(tensor.consumers() for tensor in each.outputs)
        ]

    def is_name(key, value):
        return key == "_user_specified_name" or value.HasField("func") or value.list.func

    quick = tf_internals.build_function("quick", __file__, body, [])
    monkeypatch.setattr(tf_internals, "quick_operations", lambda *_: contextlib.nullcontext())
    usual = tf_internals.build_function("usual", __file__, body, [])
    assert shape_of(quick) == shape_of(usual)
    assert len(shape_of(quick)) > 100


def test_operations_know_the_line_of_a_file_that_has_made_them() -> None:
    @tf.function(autograph=False)
    def of_its_own(x):
        y = tf.sqrt(x)
        return tf.exp(y)

    def body():
        x = tf.ones(2)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x[0] > 0.0, lambda: tf.sin(x), lambda: x)
        return [tape.gradient(y, x), of_its_own(x)]

    function = tf_internals.build_function("lines", __file__, body, [])
    lines = {each.type: tf_internals.user_line(each, __file__) for each in tf_internals.operations(function.graph)}
    first = body.__code__.co_firstlineno
    assert (lines["Sin"], lines["Cos"]) == (first + 4, first + 5)
    first = of_its_own.python_function.__code__.co_firstlineno
    assert (lines["Sqrt"], lines["Exp"]) == (first + 2, first + 3)


def test_other_threads_keep_their_stacks_while_operations_are_made_quickly() -> None:
    lines = []

    def elsewhere():
        with tf.Graph().as_default() as graph:
            tf.sin(1.0)
            tf.cos(1.0)
            lines.extend(tf_internals.user_line(each, __file__) for each in graph.get_operations() if each.inputs)

    def body():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return [tf.ones(2)]

    tf_internals.build_function("here", __file__, body, [])
    first = elsewhere.__code__.co_firstlineno
    assert lines == [first + 2, first + 3]


def test_making_operations_is_as_before_when_a_function_is_built() -> None:
    def state():
        graph = func_graph.FuncGraph
        optimized = flags.config().graph_building_optimization.value()
        resources = auto_control_deps._get_resource_inputs
        return graph.as_default, graph._mutation_lock, tf_stack.extract_stack, resources, optimized

    def body():
        with tf.init_scope():
            tf_internals.build_function("inner", __file__, lambda: [tf.ones(2)], [])
        seen.append(state())
        raise KeyError

    seen = [state()]
    with pytest.raises(KeyError):
        tf_internals.build_function("fails", __file__, body, [])
    before, during, after = *seen, state()
    assert after == before
    assert all(one != other for one, other in zip(before, during, strict=True))


def test_custom_gradients_of_a_function_are_forgotten_with_it_and_those_of_the_persons_functions_are_not() -> None:
    names = tf_internals.ops.gradient_registry._registry
    before = set(names)
    inner = tf.function(lambda x: tf.nn.silu(x) * 2)
    inputs = []

    def body():
        graph = tf_internals.outermost_graph()
        inputs.append(tf_internals.placeholder(graph, tf.float32, ()))
        x = inputs[0]
        return [tf.cond(x > 0, lambda: tf.nn.silu(x), lambda: x) + tf.nn.silu(x) + inner(x)]

    function = tf_internals.build_function("bent", __file__, body, inputs)
    assert len(set(names) - before) == 3
    del function
    inputs.clear()
    gc.collect()
    assert len(set(names) - before) == 1
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = inner(x)
    assert tape.gradient(y, x).numpy() > 0

    def fails():
        tf.nn.silu(tf.constant(1.0))
        raise KeyError

    with pytest.raises(KeyError):
        tf_internals.build_function("fails", __file__, fails, [])
    assert len(set(names) - before) == 1


def test_a_launch_is_cancelled() -> None:
    inputs = []

    def body():
        inputs.append(tf_internals.placeholder(tf_internals.outermost_graph(), tf.int32, ()))
        return [tf.while_loop(lambda i: i < inputs[0], lambda i: (i + 1,), (tf.constant(0),))[0]]

    function = tf_internals.build_function("counts", __file__, body, inputs)
    name, config = function.inference_fn.name, tf_internals.EXACT_CONFIG
    (three,) = tf_internals.cancellable(name, [tf.constant(3)], 1, config)(tf_internals.Cancellation())
    assert three.numpy() == 3
    cancellation = tf_internals.Cancellation()
    cancellation.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        tf_internals.cancellable(name, [tf.constant(2_000_000_000)], 1, config)(cancellation)


def test_one_operation_is_made_to_wait_for_others() -> None:
    with tf.Graph().as_default():
        first, second = tf.constant(1).op, tf.constant(2).op
        tf_internals.run_after(second, [first])
        assert list(second.control_inputs) == [first]


def test_the_line_that_made_an_operation_is_known() -> None:
    with tf.Graph().as_default():
        operation = tf.constant(1).op
    assert tf_internals.user_line(operation, __file__) == sys._getframe().f_lineno - 1
    assert tf_internals.user_line(operation, "elsewhere.py") is None


def test_the_exact_configuration_turns_off_what_changes_bits() -> None:
    config = tf.compat.v1.ConfigProto()
    config.ParseFromString(tf_internals.EXACT_CONFIG)
    rewriter = config.graph_options.rewrite_options
    off = {field.name for field, value in rewriter.ListFields() if field.enum_type and value == rewriter.OFF}
    assert off >= {
        "arithmetic_optimization",
        "common_subgraph_elimination",
        "constant_folding",
        "layout_optimizer",
        "remapping",
        "shape_optimization",
    }
    assert rewriter.memory_optimization == rewriter.NO_MEM_OPT


def test_numpy_looks_like_an_eager_tensor_but_is_none() -> None:
    assert not isinstance(np.ones(2), tf_internals.EagerTensor)


def test_an_output_that_feeds_another_is_found() -> None:
    def graph(body):
        return tf.function(body, autograph=False).get_concrete_function(tf.TensorSpec([])).graph

    def chained(x):
        h = tf.sin(x)
        return h, h * 2.0

    assert handed_on.are_related(graph(chained))
    assert not handed_on.are_related(graph(lambda x: (tf.sin(x), x * 2.0)))
    assert not handed_on.are_related(graph(lambda x: (tf.cast(x, tf.int32), x * 2.0)))


def test_the_size_of_the_graph_under_construction_is_known_without_counting() -> None:
    with tf.Graph().as_default():
        before = tf_internals.size_of_current_graph()
        tf.constant(1.0)
        tf.constant(2.0)
        assert before + 2 == tf_internals.size_of_current_graph()


def test_every_operation_and_launch_goes_through_an_entry_that_can_be_wrapped(monkeypatch) -> None:
    names: list[str] = []

    def wrap(execute: Callable[..., object], place: int) -> Callable[..., object]:
        def noting(*args: object) -> object:
            names.append(args[place].decode() if isinstance(args[place], bytes) else str(args[place]))
            return execute(*args)

        return noting

    for name in tf_internals._EXECUTES:  # to be put back
        monkeypatch.setattr(tf_internals.pywrap_tfe, name, getattr(tf_internals.pywrap_tfe, name))
    squared = tf.function(lambda x: x * x, autograph=False)
    one = tf.constant(1.0)
    concrete = squared.get_concrete_function(one)
    tf_internals.wrap_executions(wrap)
    tf.sin(one) + one
    squared(one)
    tf.raw_ops.PartitionedCall(args=[one], Tout=[tf.float32], f=concrete)
    assert ["Sin", "AddV2", "PartitionedCall"] == [name for name in names if not tf_internals.is_function(name)]
    assert 4 == len(names)


def test_seeds_and_random_operations_are_asked_for_in_another_place() -> None:
    tf.random.set_seed(3)
    seeds, made = [], []

    def get_seed(original, op_seed):
        seeds.append(op_seed)
        return original(op_seed)

    def normal(original, *args, **kwargs):
        made.append(kwargs["seed2"])
        return original(*args, **kwargs)

    with tf_internals.random_operations(get_seed, {"random_standard_normal": normal}):
        tf.random.normal([2])
        tf.nn.dropout(tf.ones(2), 0.5, seed=7)
    tf.random.normal([2])
    assert ([None, 7], 1) == (seeds, len(made))


def test_the_global_seed_and_the_stream_of_operation_seeds_are_those_of_eager() -> None:
    assert (tf.random.set_seed(31), tf_internals.global_seed()) == (None, 31)
    drawn = tf_internals.seed_generator().randint(0, 2**31 - 1)
    tf.random.set_seed(31)
    tf_internals.set_seed_generator(tf_internals.seed_generator())
    expected = tf.random.normal([2])
    again = tf.raw_ops.StatelessRandomNormalV2(shape=[2], key=[31], counter=[0, drawn], alg=1)
    assert expected.numpy().tolist() == again.numpy().tolist()


def test_a_branch_a_loop_and_a_vectorized_body_are_not_made_once() -> None:
    found = []

    def note(x):
        found.append(tf_internals.is_called_once(graph))
        return x

    with tf.Graph().as_default() as graph:
        note(None)
        tf.cond(tf.constant(True), lambda: note(tf.constant(1)), lambda: tf.constant(2))
        tf.map_fn(note, tf.ones(2))
        tf.vectorized_map(note, tf.ones(2))
    assert [True, False, False, False] == found


def test_the_seed_generator_of_keras_is_known_once_there_is_one() -> None:
    import keras

    keras.utils.clear_session()
    assert tf_internals.keras_seed_generator() is None
    keras.random.normal([1])
    assert isinstance(tf_internals.keras_seed_generator(), keras.random.SeedGenerator)


@pytest.mark.parametrize("value", [[3, 2], 5, 0.1, True, np.float64(0.1), np.arange(6.0).reshape(2, 3), np.int8(3)])
@pytest.mark.parametrize("make", [tf.constant, tf.convert_to_tensor])
def test_eager_tensors_are_made_as_tensorflow_makes_them(make: Any, value: Any) -> None:
    for dtype in (make(value).dtype, tf.float32, tf.int64, tf.float16):
        try:
            expected = make(value, dtype)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                tf_internals.eager_tensor(value, dtype)
            continue
        made = tf_internals.eager_tensor(value, dtype)
        assert (made.dtype, made.device) == (expected.dtype, expected.device)
        assert made.numpy().tobytes() == expected.numpy().tobytes()


def test_an_eager_tensor_does_not_share_the_memory_of_an_array() -> None:
    array = np.zeros(3)
    made = tf_internals.eager_tensor(array, tf.float64)
    array[0] = 1.0
    assert made.numpy().tolist() == [0.0, 0.0, 0.0]


def test_a_dataset_tells_what_it_is_made_of() -> None:
    numbers = tf.data.Dataset.range(3)
    squares = numbers.map(lambda x: x * x)
    assert [numbers] == tf_internals.dataset_inputs(squares)
    assert [["Mul"]] == [
        [operation.type for operation in function.graph.get_operations() if operation.type == "Mul"]
        for function in tf_internals.dataset_functions(squares)
    ]
    hidden, _ = tf_internals.dataset_inputs(squares.enumerate())
    assert {"Const", "RangeDataset", "_Retval"} == tf_internals.dataset_operations(hidden)


def test_the_elements_of_an_array_tell_their_shape_when_the_graph_runs() -> None:
    @tf.function(autograph=False)
    def stacked(is_written: tf.Tensor) -> tf.Tensor:
        array = tf.TensorArray(tf.float32, 2)
        empty = array.flow
        written = array.write(0, tf.constant([1.0, 2.0]))
        flow = tf.cond(is_written, lambda: written.flow, lambda: empty)
        written._implementation._flow = flow
        with tf_internals.unknown_elements(written):
            return written.stack()

    assert stacked(tf.constant(True)).numpy().tolist() == [[1.0, 2.0], [0.0, 0.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="uninitialized"):
        stacked(tf.constant(False))
