"""Settings of Python, TensorFlow and Keras that change between calls count from the next call on, as in eager code."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

# What a setting may change: a graph that was made under another value of it would answer differently.
READERS = """
import keras
layer = keras.layers.Dense(2, kernel_initializer="ones")
layer(tf.ones([1, 3]))
weight = keras.Variable([1., 2.])
def f(x):
    return keras.ops.zeros([2]), layer(x), x * 2. + keras.config.epsilon()
def g(x):
    return x * weight + 1., x * tf.cast(keras.config.dtype_policy().name == "mixed_float16", tf.float32)
def h(x):
    with tf.name_scope("part") as name:
        print(name)
        with tf.name_scope("part") as name:
            print(name)
        return tf.math.log(x) * 2. + float(keras.config.is_flash_attention_enabled() is None)
def call():
    attempt(f, tf.constant([[1e-5, 1., 3.]]))
    attempt(g, tf.constant([2., 3.]))
    try: show(h(tf.constant([1., -1.])))
    except tf.errors.InvalidArgumentError as error: print(type(error).__name__)
"""
# How it is set, and set back.
SETTINGS = {
    "floatx": ("keras.config.set_floatx('float64')", "keras.config.set_floatx('float32')"),
    "epsilon": ("keras.config.set_epsilon(.1)", "keras.config.set_epsilon(1e-7)"),
    "dtype policy": ("keras.config.set_dtype_policy('mixed_float16')", "keras.config.set_dtype_policy('float32')"),
    "dtype policy of a layer": ("layer.dtype_policy = 'mixed_float16'", "layer.dtype_policy = 'float32'"),
    "flash attention": ("keras.config.disable_flash_attention()", "keras.config.enable_flash_attention()"),
    "check numerics": ("tf.debugging.enable_check_numerics()", "tf.debugging.disable_check_numerics()"),
    "functions run eagerly": ("tf.config.run_functions_eagerly(True)", "tf.config.run_functions_eagerly(False)"),
    "soft placement": ("tf.config.set_soft_device_placement(False)", "tf.config.set_soft_device_placement(True)"),
}
SCOPES = {
    "device": "tf.device('/CPU:0')",
    "names": "tf.name_scope('outer')",
    "strategy": "tf.distribute.OneDeviceStrategy('/cpu:0').scope()",
    "stateless": "keras.StatelessScope(state_mapping=[(weight, tf.constant([5., 6.]))])",
    "names of Keras": "keras.name_scope('outer')",
    "numpy's errors": "np.errstate(all='raise')",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_changes_between_calls(name: str) -> None:
    change, undo = SETTINGS[name]
    program = f"""
        def main():
            for _ in range(3): call()
            try:
                {change}
                for _ in range(3): call()
            finally:
                {undo}
            for _ in range(2): call()
        """
    same(READERS + textwrap.dedent(program), f="graph", g="graph", h="graph")


@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_around_some_of_the_calls(name: str) -> None:
    program = f"""
        def main():
            for _ in range(3): call()
            with {SCOPES[name]}:
                for _ in range(3): call()
            for _ in range(2): call()
        """
    same(READERS + textwrap.dedent(program), f="graph", g="graph", h="graph")


@pytest.mark.parametrize(
    "read",
    [
        "float(tf.summary.experimental.get_step())",
        "float(tf.summary.should_record_summaries())",
        "float(len(tf.get_current_name_scope()))",
        "float(tf.config.get_soft_device_placement())",
        "float(tf.distribute.has_strategy())",
        "float(tf.config.experimental.tensor_float_32_execution_enabled())",
        "float(keras.config.is_traceback_filtering_enabled())",
    ],
)
def test_settings_that_the_program_asks_for_are_those_of_the_call(read: str) -> None:
    same(
        f"""
        import keras
        def f(x):
            return x * {read} + 1.
        def calls():
            for _ in range(3): show(f(tf.constant(2.)))
        def main():
            tf.summary.experimental.set_step(1)
            calls()
            try:
                tf.summary.experimental.set_step(2)
                tf.config.set_soft_device_placement(False)
                tf.config.experimental.enable_tensor_float_32_execution(False)
                keras.config.disable_traceback_filtering()
                with tf.name_scope("outer"), tf.distribute.OneDeviceStrategy("/cpu:0").scope():
                    with tf.summary.create_noop_writer().as_default():
                        calls()
            finally:
                tf.summary.experimental.set_step(None)
                tf.config.set_soft_device_placement(True)
                tf.config.experimental.enable_tensor_float_32_execution(True)
                keras.config.enable_traceback_filtering()
        """
    )
