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


def test_a_variable_that_is_changed_and_replaced() -> None:
    same(
        """
        class C:
            def __init__(self): self.v = tf.Variable([1.]); self.t = tf.zeros(1)
            def f(self, x):
                w = self.v
                w.assign_add(x)
                self.v.assign_sub(x / 2)
                self.t += w
                return w, self.v.read_value(), tf.identity(w)
        def main():
            c = C()
            for i in range(5): show(c.f(tf.ones(1)), c.v, c.t)
            c.v = tf.Variable([100.])
            for i in range(3): show(c.f(tf.ones(1)), c.v, c.t)
        """,
        **{"C.f": "graph"},
    )


def test_a_variable_made_in_the_first_call() -> None:
    same(
        """
        class C:
            v = None
            def f(self, x):
                if self.v is None: self.v = tf.Variable(x)
                self.v.assign_add(x)
                return self.v * 2
        def main():
            for j in range(2):
                c = C()
                for i in range(4): show(c.f(tf.ones(1)), c.v)
        """,
        **{"C.f": "graph"},
    )


def test_two_models_and_two_optimizers() -> None:
    same(
        """
        import keras
        def step(m, o, x):
            with tf.GradientTape() as t: l = tf.reduce_sum(m(x) ** 2)
            o.apply_gradients(zip(t.gradient(l, m.trainable_variables), m.trainable_variables))
            return l
        def main():
            keras.utils.set_random_seed(1)
            ms = [keras.Sequential([keras.layers.Dense(2)]) for _ in range(2)]
            os_ = [keras.optimizers.Adam(0.1) for _ in range(2)]
            for i in range(4):
                for m, o in zip(ms, os_): show(step(m, o, tf.ones((1, 3))))
            for i in range(3): show(step(ms[0], os_[1], tf.ones((1, 3)))) if False else None
            show(ms[0].get_weights(), ms[1].get_weights())
        """,
        step="graph",
    )


def test_weights_that_are_set() -> None:
    same(
        """
        import keras
        def f(m, x): return m(x)
        def main():
            keras.utils.set_random_seed(1)
            m = keras.Sequential([keras.layers.Dense(2)])
            for i in range(5):
                show(f(m, tf.ones((1, 3))))
                m.set_weights([w * 2 for w in m.get_weights()])
        """,
        f="graph",
    )


def test_losses_of_regularizers() -> None:
    same(
        """
        import keras
        def f(m, x):
            y = m(x)
            return y, sum(m.losses)
        def main():
            keras.utils.set_random_seed(1)
            m = keras.Sequential([keras.layers.Dense(2, kernel_regularizer="l2")])
            for i in range(5):
                show(f(m, tf.ones((1, 3))))
                m.set_weights([w * 2 for w in m.get_weights()])
        """
    )


def test_losses_of_activities() -> None:
    same(
        """
        import keras
        def f(m, x):
            y = m(x)
            return y, m.losses
        def main():
            keras.utils.set_random_seed(1)
            m = keras.Sequential([keras.layers.Dense(2, activity_regularizer="l2")])
            for i in range(5): show(f(m, tf.ones((1, 3)) * i), m.losses)
        """
    )


def test_a_learning_rate_that_the_step_changes() -> None:
    same(
        """
        import keras
        class T:
            def __init__(self):
                self.w = tf.Variable([1.]); self.o = keras.optimizers.SGD(0.1); self.lr = 0.1
            def f(self, x):
                with tf.GradientTape() as t: l = tf.reduce_sum(self.w * x) ** 2
                self.o.apply_gradients([(t.gradient(l, self.w), self.w)])
                if int(self.o.iterations) % 3 == 0: self.o.learning_rate = self.lr = self.lr / 2
                return l, float(self.o.learning_rate), self.lr
        def main():
            t = T()
            for i in range(9): show(t.f(tf.ones(1)), t.w, t.o.learning_rate)
        """,
        **{"T.f": "graph"},
    )


def test_gradients_between_a_result_and_a_stored_tensor() -> None:
    same(
        """
        class C:
            def f(self, x):
                self.h = tf.sin(x)
                return self.h * 2
        def main():
            c = C()
            for i in range(4):
                x = tf.ones(1) * (i + 1)
                with tf.GradientTape(persistent=True) as t:
                    t.watch(x); y = c.f(x); z = c.h * y
                show(t.gradient(z, x), t.gradient(c.h, x), t.gradient(z, c.h))
        """
    )


def test_gradients_of_one_result_by_another() -> None:
    same(
        """
        def f(x):
            h = tf.sin(x)
            return h, h ** 2
        def g(x):
            h = tf.sin(x)
            return h, tf.identity(h)
        def main():
            for i in range(5):
                x = tf.ones(1) * (i + 1)
                with tf.GradientTape(persistent=True) as t:
                    t.watch(x); h, y = f(x); a, b = g(x)
                show(t.gradient(y, h), t.gradient(y, x), t.gradient(h, x), t.gradient(b, a), t.gradient(a, b))
        """
    )


def test_gradients_of_one_output_of_a_model_by_another() -> None:
    same(
        """
        import keras
        def main():
            keras.utils.set_random_seed(1)
            inp = keras.Input((2,)); h = keras.layers.Dense(3)(inp); y = keras.layers.Dense(1)(h)
            m = keras.Model(inp, [h, y])
            def cam(x):
                with tf.GradientTape() as t:
                    h, y = m(x)
                return t.gradient(y, h)
            for i in range(4): show(cam(tf.ones((1, 2))))
        """
    )


def test_gradients_by_way_of_a_list() -> None:
    same(
        """
        def f(l, x):
            l.append(tf.sin(x) * x)
            return tf.add_n([x, x])
        def main():
            for i in range(4):
                x = tf.ones(1) * (i + 1); l = []
                with tf.GradientTape(persistent=True) as t:
                    t.watch(x); f(l, x); f(l, x)
                    z = sum(l)
                show(t.gradient(z, x))
        """
    )


def test_a_metric_made_anew_for_each_graph_ends_in_eager_calls() -> None:
    same(
        """
        def measure(metric, x):
            metric.update_state(tf.tanh(x) * 2.0 + tf.exp(-x))
            return metric.result()
        def main():
            for epoch in range(12):
                metric = tf.keras.metrics.Mean()
                for i in range(3):
                    show(measure(metric, tf.ones(2) * i + epoch))
                del metric
        """,
        measure="eager",
    )


def test_lists_and_arrays_of_a_layer_that_are_changed_in_place() -> None:
    same(
        """
        import keras
        def normalized(l, x): return l(x) * 2.0
        def scaled(l, x): return l(x) + 1.0
        def main():
            x = tf.reshape(tf.range(16.0), [2, 2, 2, 2])
            norm = keras.layers.LayerNormalization(axis=[2, 3], center=False, scale=False)
            scale = keras.layers.Rescaling(2.0, offset=[1.0])
            array = keras.layers.Rescaling(np.array([2.0, 3.0]))
            for i in range(12):
                if i == 4: norm.axis[0] = 1
                if i == 4: scale.offset[0] = 5.0
                if i == 4: array.scale[1] = 7.0
                if i == 8: norm.axis[0], norm.axis[1] = 3, 1
                show(normalized(norm, x))
                show(scaled(scale, x), scaled(array, x))
        """,
        normalized="graph",
        scaled="graph",
    )
