"""Layers, optimizers and metrics that change between calls, and what tapes see of staged calls."""

from __future__ import annotations

from tests.staging.programs import same


def test_a_dropout_rate_that_changes() -> None:
    same(
        """
        import keras
        def f(l, x): return l(x, training=True)
        def main():
            l = keras.layers.Dropout(0.5, seed=3)
            for i in range(6):
                if i == 3: l.rate = 0.9
                show(f(l, tf.ones((2, 4))))
        """,
        f="graph",
    )


def test_dropout_in_a_model() -> None:
    same(
        """
        import keras
        class M(keras.Model):
            def __init__(self):
                super().__init__()
                self.d = keras.layers.Dense(4); self.o = keras.layers.Dropout(0.5)
            def call(self, x, training=False):
                return self.o(self.d(x), training=training)
        def main():
            keras.utils.set_random_seed(3)
            m = M()
            for i in range(6):
                show(m(tf.ones((2, 4)), training=True))
            for i in range(3):
                show(m(tf.ones((2, 4))))
        """,
        **{"M.call": "graph"},
    )


def test_an_activation_that_is_replaced() -> None:
    same(
        """
        import keras
        def f(l, x): return l(x)
        def main():
            keras.utils.set_random_seed(3)
            l = keras.layers.Dense(3, activation="relu")
            for i in range(8):
                if i == 3: l.activation = keras.activations.sigmoid
                if i == 5: l.activation = lambda x: x * 100
                if i == 6: l.kernel.assign(l.kernel * 2)
                show(f(l, tf.ones((2, 4))))
        """,
        f="graph",
    )


def test_layers_that_are_frozen_and_added_and_a_learning_rate() -> None:
    same(
        """
        import keras
        def f(l, o, x):
            with tf.GradientTape() as t: loss = tf.reduce_sum(l(x) ** 2)
            g = t.gradient(loss, l.trainable_variables)
            o.apply_gradients(zip(g, l.trainable_variables))
            return loss, len(g)
        def main():
            keras.utils.set_random_seed(3)
            l = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(2)])
            o = keras.optimizers.SGD(0.01)
            l(tf.ones((2, 4)))
            for i in range(9):
                if i == 3: l.layers[0].trainable = False
                if i == 5: l.layers[0].trainable = True
                if i == 6: o.learning_rate = 0.5
                if i == 7: l.add(keras.layers.Dense(2)); l(tf.ones((2,4))); o = keras.optimizers.SGD(0.01)
                show(f(l, o, tf.ones((2, 4))))
            for v in l.variables: show(v)
        """,
        f="graph",
    )


def test_an_optimizer_that_is_replaced_and_a_schedule() -> None:
    same(
        """
        import keras
        class T:
            def __init__(self):
                self.l = keras.layers.Dense(3); self.l.build((None, 4)); self.o = keras.optimizers.SGD(0.1)
            def step(self, x):
                with tf.GradientTape() as t: loss = tf.reduce_sum(self.l(x) ** 2)
                g = t.gradient(loss, self.l.trainable_variables)
                self.o.apply_gradients(zip(g, self.l.trainable_variables))
                return loss
        def main():
            keras.utils.set_random_seed(3)
            t = T()
            for i in range(12):
                if i == 4: t.o = keras.optimizers.Adam(0.1)
                if i == 8: t.o = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5))
                show(t.step(tf.ones((2, 4))), t.o.iterations)
        """,
        **{"T.step": "graph"},
    )


def test_a_metric_that_is_reset() -> None:
    same(
        """
        import keras
        def f(m, x):
            m.update_state(x)
            return m.result()
        def main():
            m = keras.metrics.Mean()
            for i in range(8):
                if i == 4: m.reset_state()
                show(f(m, tf.constant(float(i))))
        """,
        f="graph",
    )


def test_a_metric_whose_value_is_kept() -> None:
    same(
        """
        import keras
        class T:
            def __init__(self): self.m = keras.metrics.Mean(); self.log = []
            def f(self, x):
                self.m.update_state(x)
                self.log.append(float(self.m.result()))
            def r(self): self.m.reset_state()
        def main():
            t = T()
            for i in range(8):
                if i == 4: t.r()
                t.f(tf.constant(float(i)))
            show(t.log)
        """,
        **{"T.f": "graph"},
    )


def test_batch_normalization() -> None:
    same(
        """
        import keras
        def f(l, x, tr): return l(x, training=tr)
        def main():
            l = keras.layers.BatchNormalization()
            for i in range(10):
                if i == 4: l.momentum = 0.5
                if i == 6: l.trainable = False
                show(f(l, tf.reshape(tf.range(8.), (2, 4)) * i, i % 3 != 0))
            for v in l.variables: show(v)
        """,
        f="graph",
    )


def test_mixed_precision() -> None:
    same(
        """
        import keras
        def f(l, x): return l(x)
        def main():
            keras.utils.set_random_seed(3)
            for p in ("float32", "mixed_bfloat16"):
                l = keras.layers.Dense(3, dtype=p)
                for i in range(4): show(tf.cast(f(l, tf.ones((1, 2))), tf.float32), f(l, tf.ones((1, 2))).dtype)
        """,
        f="graph",
    )


def test_tapes_in_tapes() -> None:
    same(
        """
        def f(x):
            with tf.GradientTape() as a:
                a.watch(x)
                with tf.GradientTape() as b:
                    b.watch(x)
                    y = x ** 3
                g = b.gradient(y, x)
            return g, a.gradient(g, x)
        def main():
            for i in range(5): show(f(tf.constant([2., float(i)])))
        """,
        f="graph",
    )


def test_a_tape_sees_the_variables_of_a_staged_call() -> None:
    same(
        """
        w = tf.Variable([2., 3.])
        def f(x): return tf.sin(x) * w ** 2
        def main():
            for i in range(5):
                with tf.GradientTape() as t: y = f(tf.ones(2))
                show(t.gradient(y, w))
                with tf.GradientTape(watch_accessed_variables=False) as t: y = f(tf.ones(2))
                show(t.gradient(y, w), t.watched_variables())
                with tf.GradientTape() as t: y = f(tf.ones(2))
                show([v is w for v in t.watched_variables()])
        """,
        f="graph",
    )


def test_a_tape_that_does_not_record() -> None:
    same(
        """
        w = tf.Variable([2., 3.])
        def f(x): return tf.sin(x) * w ** 2
        def main():
            for i in range(5):
                with tf.GradientTape() as t:
                    with t.stop_recording(): y = f(tf.ones(2))
                    z = y * w
                show(t.gradient(z, w))
        """,
        f="graph",
    )


def test_a_tape_as_argument() -> None:
    same(
        """
        w = tf.Variable([2., 3.])
        def f(x, t):
            y = tf.sin(x) * w ** 2
            return t.gradient(y, w)
        def g(x, t):
            with t:
                y = tf.sin(x) * w ** 2
            return t.gradient(y, w)
        def main():
            for i in range(5):
                with tf.GradientTape() as t: show(f(tf.ones(2), t))
                show(g(tf.ones(2), tf.GradientTape()))
        """
    )


def test_custom_gradients() -> None:
    same(
        """
        @tf.custom_gradient
        def c(x):
            def grad(d): return d * 100.
            return tf.sin(x), grad
        def f(x):
            return c(x) + 1
        def main():
            for i in range(5):
                x = tf.constant([1., float(i)])
                with tf.GradientTape() as t:
                    t.watch(x); y = f(x)
                show(y, t.gradient(y, x))
        """,
        f="graph",
    )


def test_forward_accumulators() -> None:
    same(
        """
        def f(x): return tf.sin(x) ** 2
        def main():
            for i in range(5):
                x = tf.constant([1., float(i)])
                with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as a: y = f(x)
                show(y, a.jvp(y))
        """,
        f="graph",
    )


def test_stopped_gradients() -> None:
    same(
        """
        def f(x): return tf.stop_gradient(x) * x
        def main():
            for i in range(5):
                x = tf.constant([1., float(i)])
                with tf.GradientTape() as t:
                    t.watch(x); y = f(x)
                show(t.gradient(y, x))
        """,
        f="graph",
    )


def test_variables_as_arguments_and_results() -> None:
    same(
        """
        def f(v, x):
            v.assign_add(x)
            return v, v * 2, v.value(), v.read_value()
        def main():
            v = tf.Variable([1., 2.]); u = tf.Variable([5., 5.])
            for i in range(5):
                r = f(v, tf.ones(2)); show(r, r[0] is v, r[2] is v)
                r = f(u, tf.ones(2)); show(r, r[0] is u)
        """,
        f="graph",
    )


def test_variables_made_in_the_call() -> None:
    same(
        """
        def f(x):
            v = tf.Variable(x)
            v.assign_add(x)
            return v
        def main():
            for i in range(5): show(f(tf.ones(2)))
        """
    )


def test_slices_of_variables_are_assigned() -> None:
    same(
        """
        def f(v, x):
            v[0].assign(x[0])
            v.scatter_nd_update([[1]], [7.])
            tf.raw_ops.ResourceScatterAdd(resource=v.handle, indices=[0], updates=x[:1])
            return tf.identity(v)
        def main():
            v = tf.Variable([1., 2.])
            for i in range(5): show(f(v, tf.ones(2) * i))
        """,
        f="graph",
    )


def test_what_assigning_returns() -> None:
    same(
        """
        def f(v, x): return v.assign(x), v.assign_add(x)
        def main():
            v = tf.Variable([1., 2.])
            for i in range(5):
                a, b = f(v, tf.ones(2) * i); show(type(a).__name__, a is v, a)
        """
    )
