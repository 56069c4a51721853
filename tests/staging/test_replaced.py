"""What is replaced while the program runs, in modules and classes of libraries too, counts from the next call on."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

# In modules of libraries: what is read, where it is kept, and what takes its place.
MODULES = {
    "a function of Python's": ("x * math.sqrt(4.)", "math", "sqrt", "lambda v: 7."),
    "a number of Python's": ("x * math.pi", "math", "pi", "3"),
    "a function of TensorFlow's": ("x * tf.reduce_sum(x)", "tf", "reduce_sum", "lambda v: tf.constant(9.)"),
    "one in a module below": ("tf.nn.relu(x) - 2.", "tf.nn", "relu", "tf.nn.sigmoid"),
    "a module below": ("tf.nn.relu(x) - 2.", "tf", "nn", "types.SimpleNamespace(relu=tf.nn.sigmoid)"),
    "a mock": ("x * tf.square(x)", "tf", "square", "mock.MagicMock(return_value=tf.constant(5.))"),
    "a function of numpy's": ("x * np.float32(np.sum([1., 2.]))", "np", "sum", "lambda v: 9."),
    "a function of Keras'": ("keras.ops.relu(x) * 2.", "keras.ops", "relu", "lambda v: v * 3."),
    "a builtin": ("x * float(len([1, 2]))", "builtins", "len", "lambda v: 9"),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_name_of_a_module(name: str) -> None:
    read, module, attribute, other = MODULES[name]
    same(
        f"""
        import builtins, keras, math, types
        from unittest import mock
        def f(x):
            return {read} + x - 1.
        def calls():
            for _ in range(3): show(f(tf.constant([2., -3.])))
        def main():
            calls()
            with mock.patch.object({module}, "{attribute}", {other}): calls()
            calls()
        """,
        f="graph",
    )


# On objects, their classes, and classes below and above.
PATCHES = {
    "a method of a layer's class": "mock.patch.object(keras.layers.Dense, 'call', lambda self, x, **_: x * 10.)",
    "a call hidden by a class below": "mock.patch.object(keras.layers.Dense, '__call__', lambda self, x, **_: x * 9.)",
    "a method of one layer": "mock.patch.object(dense, 'call', lambda x, **_: x * 10.)",
    "a method of a layer in a model": "mock.patch.object(inner, 'call', lambda x, **_: x * 10.)",
    "the call of the person's layer": "mock.patch.object(Own, 'call', lambda self, x: x * 5.)",
    "a method that it calls": "mock.patch.object(Own, 'scale', lambda self, x: x * 5.)",
    "the same of one object": "mock.patch.object(own, 'scale', lambda x: x * 5.)",
    "the call of a module's class": "mock.patch.object(Module, '__call__', lambda self, x: x * 5.)",
    "a method of a module": "mock.patch.object(module, 'scale', lambda x: x * 5.)",
    "a method of a loss": "mock.patch.object(loss, 'call', lambda a, b: a * b * 50.)",
    "a method of an optimizer": "mock.patch.object(keras.optimizers.SGD, 'update_step', double)",
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_method(name: str) -> None:
    same(
        f"""
        import keras
        from unittest import mock
        class Own(keras.layers.Layer):
            def call(self, x): return self.scale(x) + 1.
            def scale(self, x): return x * 3.
        class Module(tf.Module):
            def __init__(self): self.w = tf.Variable(2.)
            def __call__(self, x): return self.w * self.scale(x)
            def scale(self, x): return x * 3.
        dense, inner, own, module = keras.layers.Dense(2), keras.layers.Dense(2), Own(), Module()
        model = keras.Sequential([inner, own])
        weight = keras.Variable([1., 2.])
        loss, optimizer = keras.losses.MeanSquaredError(), keras.optimizers.SGD(.1)
        def double(self, gradient, variable, rate): self.assign_sub(variable, gradient * 2.)
        def f(x):
            with tf.GradientTape() as tape:
                value = loss(x, dense(x)) + loss(x, weight * own(x)) + tf.reduce_sum(model(x))
            optimizer.apply(tape.gradient(value, [weight.value]), [weight])
            return value, module(x)
        def calls():
            for _ in range(3): show(f(tf.ones([1, 2])), weight)
        def main():
            dense(tf.ones([1, 2])); model(tf.ones([1, 2])); own(tf.ones([1, 2]))
            optimizer.build([weight])
            calls()
            with {PATCHES[name]}: calls()
            calls()
        """,
        f="graph",
    )


# Numbers that library code looks up in what a layer, loss or optimizer holds.
HELD = {
    "the regularizer of a layer": "layer.kernel_regularizer.l2 = .9",
    "the constraint of a layer": "layer.kernel_constraint.max_value = .1",
    "the arguments of a loss": "smooth._fn_kwargs['label_smoothing'] = .5",
    "the reduction of a loss": "smooth.reduction = 'none'",
    "the arguments of a metric": "metric._fn_kwargs['scale'] = 100.",
    "a schedule of Keras": "decay.initial_learning_rate = .7",
    "a schedule of the person's": "schedule.scale = 5.",
    "the settings of an optimizer": "first.momentum = .1; first.nesterov = True",
    "how gradients are clipped": "first.clipnorm = .01",
    "a learning rate": "third.learning_rate = .7",
    "a learning rate's variable": "third.learning_rate.assign(.7)",
    "a schedule instead of a rate": "third.learning_rate = decay",
    "the momentum of a normalization": "normal.momentum = .5; normal.epsilon = .3",
    "a layer that is frozen": "normal.trainable = False",
    "a rate of dropout": "dropout.rate = 0.",
    "the threshold of a metric": "accuracy.threshold = .2",
    "a metric that starts again": "metric.reset_state()",
}


@pytest.mark.parametrize("name", HELD)
def test_what_a_library_object_holds(name: str) -> None:
    program = f"""
        import keras
        class Schedule(keras.optimizers.schedules.LearningRateSchedule):
            def __init__(self): self.scale = 1.
            def __call__(self, step): return self.scale * 0.1 / (1. + tf.cast(step, tf.float32))
        l2, norm = keras.regularizers.L2(.1), keras.constraints.MaxNorm(1.)
        layer = keras.layers.Dense(2, kernel_regularizer=l2, kernel_constraint=norm)
        smooth = keras.losses.CategoricalCrossentropy()
        metric = keras.metrics.MeanMetricWrapper(lambda a, b, scale=1.: tf.abs(a - b) * scale, scale=2.)
        accuracy = keras.metrics.BinaryAccuracy(threshold=.5)
        normal, dropout = keras.layers.BatchNormalization(), keras.layers.Dropout(.5, seed=1)
        decay, schedule = keras.optimizers.schedules.ExponentialDecay(.1, 2, .5), Schedule()
        first = keras.optimizers.SGD(decay, momentum=.9)
        second, third = keras.optimizers.SGD(schedule), keras.optimizers.Adam(.1)
        def train(x):
            with tf.GradientTape() as tape:
                value = tf.reduce_sum(layer(x)) + tf.add_n(layer.losses)
            gradients = tape.gradient(value, [w.value for w in layer.trainable_weights])
            for optimizer in (first, second, third):
                optimizer.apply(gradients, layer.trainable_weights)
            return value
        def measure(x):
            metric.update_state(x, x + 1.)
            accuracy.update_state(x, x * .3)
            return metric.result(), accuracy.result(), smooth(x, x * .3) * 2.
        def run(x):
            return dropout(normal(x, training=True), training=True) * 2.
        def calls():
            for _ in range(3):
                x = tf.constant([[1., 0.]])
                show(train(x), layer.kernel)
                show(measure(x), run(x), normal.moving_mean)
        def main():
            layer(tf.ones([1, 2])); normal(tf.ones([1, 2]))
            for optimizer in (first, second, third): optimizer.build(layer.trainable_weights)
            calls()
            {HELD[name]}
            calls()
        """
    same(textwrap.dedent(program), train="graph", measure="graph", run="graph")
