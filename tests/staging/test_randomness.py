"""Random numbers in graphs are eager's, to the bit, and leave its generators where eager leaves them."""

from __future__ import annotations

import textwrap

import pytest
import tensorflow as tf

from autoimport.staging import randomness, tf_internals
from autoimport.staging.randomness import unscramble
from tests.staging.programs import same

# What each draws for `x` of shape (4, 3) with items in (0, 1).
DRAWS = {
    "normal": "tf.random.normal([5], 2.0, 3.0)",
    "normal_double": "tf.random.normal([2, 300], dtype=tf.float64)",
    "normal_half": "tf.random.normal([7], dtype=tf.float16)",
    "normal_bfloat": "tf.random.normal([7], dtype=tf.bfloat16)",
    "uniform": "tf.random.uniform([2, 3], -1.0, 1.0)",
    "uniform_half": "tf.random.uniform([6], dtype=tf.float16)",
    "uniform_double": "tf.random.uniform([], dtype=tf.float64)",
    "integers": "tf.random.uniform([9], 3, 1000, tf.int32)",
    "long_integers": "tf.random.uniform([9], -5, 2**40, tf.int64)",
    "truncated_normal": "tf.random.truncated_normal([50])",
    "truncated_double": "tf.random.truncated_normal([50], dtype=tf.float64)",
    "categorical": "tf.random.categorical(tf.math.log(x), 20)",
    "categorical_short": "tf.random.categorical(tf.cast(x, tf.float64), 3, dtype=tf.int32)",
    "gamma": "tf.random.gamma([4], x, 2.0)",
    "gamma_double": "tf.random.gamma([], tf.cast(x, tf.float64), dtype=tf.float64)",
    "poisson": "tf.random.poisson([6], x * 20)",
    "poisson_integers": "tf.random.poisson([2], x, tf.int64)",
    "shuffle": "tf.random.shuffle(x)",
    "shuffle_vector": "tf.random.shuffle(tf.range(30))",
    "shuffle_one": "tf.random.shuffle([5.0])",
    "dropout": "tf.nn.dropout(x, 0.4)",
    "dropout_of_rows": "tf.nn.dropout(x, 0.5, noise_shape=[4, 1])",
    "flip": "tf.image.random_flip_left_right(tf.reshape(x, [4, 3, 1]))",
    "crop": "tf.image.random_crop(x, [2, 2])",
    "brightness": "tf.image.random_brightness(tf.reshape(x, [4, 3, 1]), 0.3)",
    "initializer": "tf.random_normal_initializer()([2, 2])",
    "of_the_shape": "tf.random.normal(tf.shape(x))",
    "several": "(tf.random.normal([2]), tf.random.uniform([2]), tf.random.categorical(x, 2), tf.random.normal([2]))",
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_and_the_stream_are_those_of_eager(name: str) -> None:
    same(
        f"""
        def f(x): return {DRAWS[name]}
        def main():
            x = tf.reshape(tf.linspace(0.05, 0.9, 12), [4, 3])
            for i in range(6):
                show(f(x))
                if i == 2: tf.random.set_seed(11)
                if i % 2: show(tf.random.normal([2]))
            show(tf.random.uniform([2]), tf.random.normal([]))
        """,
        f="graph",
    )


def test_draws_of_any_size() -> None:
    same(
        """
        def f(x): return tf.random.normal(tf.shape(x)), tf.nn.dropout(x, 0.5)
        def main():
            for i in range(8): show(f(tf.ones([i % 5 + 1, 3])))
            show(tf.random.normal([2]))
        """,
        f="graph",
    )


@pytest.mark.parametrize("seed", ["0", "1", "2**31 - 1", "2**31 + 4", "2**40 + 1", "-3"])
def test_any_global_seed(seed: str) -> None:
    same(
        f"""
        def f(x): return x + tf.random.normal([3]), tf.random.categorical(tf.ones([1, 9]), 5)
        def main():
            for i in range(3):
                tf.random.set_seed({seed})
                show(f(tf.ones(3)), f(tf.ones(3)), tf.random.normal([1]))
        """,
        f="graph",
    )


def test_operation_seeds_of_zero_do_not_mean_no_seed() -> None:
    same(
        """
        import random
        from unittest import mock
        def f(x): return x + tf.random.normal([3])
        def main():
            with mock.patch.object(random.Random, "randint", lambda self, low, high: 0):
                for i in range(3):
                    tf.random.set_seed(0)
                    show(f(tf.ones(3)))
        """,
        f="graph",
    )


# With so few seeds some come again soon.
FEW_SEEDS = """
import random
from unittest import mock
few_seeds = mock.patch.object(random.Random, "randint", lambda self, low, high: self.getrandbits(4))
"""


@pytest.mark.parametrize("other", ["tf.constant(0.0)", "tf.random.normal([2, 3])", "tf.random.uniform([2, 3])"])
@pytest.mark.parametrize(
    "draw",
    [
        "tf.random.normal([2, 3])",
        "tf.random.categorical(tf.math.log(x), 3)",
        "tf.random.gamma([2], x)",
        "tf.random.poisson([2], x)",
        "tf.random.shuffle(x)",
        "tf.random.uniform([3], 0, 99, tf.int32)",
    ],
)
def test_a_seed_that_comes_again_goes_on_with_the_numbers_of_the_first_time(draw: str, other: str) -> None:
    same(
        f"""
        {textwrap.indent(FEW_SEEDS.strip(), "        ").strip()}
        def f(x): return {draw}
        def main():
            with few_seeds:
                tf.random.set_seed(2)
                show({other})
                x = tf.reshape(tf.range(1.0, 13.0), [4, 3])
                for i in range(9): show(f(x), {other} if i % 3 else i)
        """
    )


def test_seeds_that_come_again_do_not_close_a_site() -> None:
    same(
        f"""
        {textwrap.indent(FEW_SEEDS.strip(), "        ").strip()}
        def f(x): return x + tf.random.normal([2])
        def main():
            with few_seeds:
                for i in range(10):
                    tf.random.set_seed(i)
                    for j in range(8): show(f(tf.ones(2)))
        """,
        f="graph",
    )


def test_what_was_drawn_before_is_found_by_drawing_again() -> None:
    tf.random.set_seed(5)
    expected = [tf_internals.seed_generator().randint(0, 2**31 - 1) for _ in range(20)]
    found = randomness.stream()
    assert found is tf_internals.seed_generator()
    assert set(expected) == set(found._drawn)


def test_seeds_that_are_put_back_come_again_before_the_rest() -> None:
    tf.random.set_seed(3)
    expected = [tf_internals.seed_generator().randint(0, 2**31 - 1) for _ in range(6)]
    tf.random.set_seed(3)
    stream = randomness.stream()
    stream.put_back(stream.draw([None, None, None]))
    stream.put_back(stream.draw([None, None]))
    assert expected[:1] == stream.draw([None])
    assert expected[1:] == [stream.randint(0, 2**31 - 1) for _ in range(5)]


def test_sites_take_turns() -> None:
    same(
        """
        def f(x): return x + tf.random.normal([2])
        def g(x): return tf.nn.dropout(x, 0.5), f(x), tf.random.uniform([1])
        def eager(x): return tf.random.normal([1], seed=1), tf.random.uniform([1])
        def main():
            x = tf.ones(4)
            for i in range(6): show(f(x[:2]), g(x[:2]), f(x[:2]), eager(x), g(x[2:]))
        """,
        f="graph", g="graph", eager="eager",
    )  # fmt: skip


def test_the_stream_goes_on_where_a_check_sends_the_call_back() -> None:
    same(
        """
        def f(x):
            a = tf.random.normal([2])
            if tf.reduce_sum(x) > 5.0:
                raise ValueError("too large")
            return a + x, tf.random.uniform([2])
        def main():
            for i in range(9):
                attempt(lambda: f(tf.fill([2], float(i))))
                if i % 3: show(tf.random.normal([1]))
        """
    )


def test_the_stream_goes_on_where_an_operation_fails() -> None:
    same(
        """
        def f(x, i):
            a = tf.random.normal([2]), tf.random.normal([2])
            return a, tf.gather(x, i), tf.random.uniform([2])
        def main():
            for i in (0, 1, 2, 7, 1, 9, 0):
                attempt(lambda: f(tf.range(3), tf.constant(i)))
                show(tf.random.normal([1]))
        """
    )


@pytest.mark.parametrize("seed", ["3", "None"])
def test_bounds_in_the_wrong_order_leave_variables_as_eager_does(seed: str) -> None:
    same(
        f"""
        from tensorflow.python.eager import context
        v = tf.Variable(0.0)
        def f(x, high):
            v.assign_add(1.0)
            return tf.random.uniform([3], 5, high, tf.int32) // 100
        def main():
            context.set_global_seed({seed})
            for i in (9, 9, 9, 4, 9, 3): attempt(lambda: f(tf.ones(2), tf.constant(i))); show(v)
        """
    )


def test_the_stream_goes_on_where_a_text_cannot_be_made() -> None:
    same(
        """
        def f(x):
            a = tf.random.normal([2])
            return a, "abc{:d}".format(int(tf.reduce_sum(x))) if x[0] < 3 else "{:d}".format(float(x[0]))
        def main():
            for i in range(6):
                attempt(lambda: f(tf.fill([2], float(i))))
                show(tf.random.normal([1]))
        """
    )


def test_a_trace_takes_nothing_from_the_stream() -> None:
    same(
        """
        import time
        def f(x):
            y = x + tf.random.normal([2])
            time.time()
            return y
        def main():
            for i in range(4): show(f(tf.ones(2)), tf.random.normal([1]))
        """
    )


def test_seeds_of_operations_stay_eager() -> None:
    found = same(
        """
        def f(x): return x + tf.random.normal([2], seed=5)
        def g(x): return tf.nn.dropout(x, 0.5, seed=3)
        def main():
            for i in range(5):
                show(f(tf.ones(2)), g(tf.ones(2)))
                if i == 2: tf.random.set_seed(1)
        """,
        f="eager", g="eager",
    )  # fmt: skip
    assert "seed of their own (5)" in str(found.sites["f"].reason)


@pytest.mark.parametrize(
    "body",
    [
        "return x + tf.random.normal([2]) if x[0] > 2 else x",
        "return tf.map_fn(lambda v: v + tf.random.normal([]), x)",
        "return tf.vectorized_map(lambda v: v + tf.random.normal([]), x)",
        "return tf.cond(x[0] > 2, lambda: x + tf.random.normal([2]), lambda: x)",
        "return tf.while_loop(lambda v: v[0] < 3, lambda v: (v + tf.abs(tf.random.normal([2])),), (x,))",
    ],
)
def test_draws_that_depend_on_values_stay_eager(body: str) -> None:
    same(
        f"""
        def f(x):
            {body}
        def main():
            for i in range(5): show(f(tf.fill([2], float(i))), tf.random.normal([1]))
        """,
        f="eager",
    )


def test_a_draw_in_a_loop_of_unknown_length_may_be_a_graph_of_its_own() -> None:
    same(
        """
        def f(x):
            for i in tf.range(tf.cast(x[0], tf.int32)): x += tf.random.normal([2])
            return x
        def main():
            for i in range(5): show(f(tf.fill([2], float(i))), tf.random.normal([1]))
        """
    )


def test_draws_in_a_loop_of_known_length_and_under_a_known_condition() -> None:
    same(
        """
        def f(x, training):
            for i in range(3): x += tf.random.normal([2])
            if training: x = tf.nn.dropout(x, 0.5)
            return x
        def main():
            for i in range(8): show(f(tf.ones(2), i % 3 != 1), tf.random.normal([1]))
        """,
        f="graph",
    )


def test_gradients_flow_around_draws() -> None:
    same(
        """
        w = tf.Variable([1.0, 2.0, 3.0])
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.dropout(x * w, 0.5) + tf.random.normal([3], mean=x)
                loss = tf.reduce_sum(y ** 2 * tf.random.gamma([3], w[0]))
            grads = tape.gradient(loss, [w, x])
            w.assign_sub(0.01 * grads[0])
            return loss, grads
        def main():
            for i in range(6): show(f(tf.ones(3) * (i + 1)), tf.random.normal([1]))
            x = tf.ones(3)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)[0]
            show(y, w)
        """,
        f="graph",
    )


def test_a_tape_outside_sees_through_draws() -> None:
    same(
        """
        def f(x): return tf.random.gamma([2], x) * tf.nn.dropout(x, 0.5), x * tf.random.normal([3])
        def main():
            for i in range(5):
                x = tf.constant([0.5, 1.0, 2.0])
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = tf.reduce_sum(f(x)[0])
                show(y, tape.gradient(y, x), tf.random.normal([1]))
        """,
        f="graph",
    )


def test_no_gradient_flows_through_a_shuffle() -> None:
    same(
        """
        def g(x): return tf.random.shuffle(x) * x
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y, z = tf.random.shuffle(x), tf.random.shuffle(x) + x * 2
            return y, tape.gradient(z, x)
        def main():
            for i in range(4):
                x = tf.constant([0.0, 0.5, 1.0])
                with tf.GradientTape(persistent=True) as tape:
                    tape.watch(x)
                    y = g(x)
                show(f(x), y, tape.gradient(y, x), tf.random.normal([1]))
        """,
        f="graph",
        g="graph",
    )


def test_generators_and_stateless_numbers() -> None:
    same(
        """
        G = tf.random.Generator.from_seed(3)
        def f(x): return G.normal([2]) + x, G.uniform([3], 0, 9, tf.int64), tf.random.stateless_normal([2], [1, 2])
        def main():
            for i in range(6):
                show(f(tf.ones(2)), tf.random.normal([1]))
                if i == 3: G.reset_from_seed(4)
        """,
        f="graph",
    )


def test_random_functions_and_layers_of_keras() -> None:
    same(
        """
        import keras
        s = keras.random.SeedGenerator(4)
        drop = keras.layers.Dropout(0.5, seed=2)
        noise = keras.layers.GaussianNoise(0.5, seed=3)
        def f(x): return keras.random.normal([2], seed=s), keras.random.uniform([2]), keras.random.randint([2], 0, 9)
        def g(x, training): return drop(x, training=training), noise(x, training=training)
        def h(x): return keras.random.dropout(x, 0.5), keras.random.categorical(x, 3, seed=5)
        def main():
            for i in range(7):
                show(f(tf.ones(2)), g(tf.ones((2, 3)), i % 3 != 2), h(tf.ones((2, 3))))
                if i % 2: show(keras.random.shuffle(tf.range(5)))
                if i == 3: keras.utils.set_random_seed(5)
                if i == 4: keras.utils.clear_session()
            show(tf.random.normal([1]))
        """,
        f="graph", g="graph", h="graph",
    )  # fmt: skip


def test_the_first_draw_of_keras_makes_its_generator_in_eager_mode() -> None:
    same(
        """
        import keras, random
        def f(x, first): return x if first else x + keras.random.normal([2])
        def main():
            for i in range(5): show(f(tf.ones(2), i < 2), random.random())
        """
    )


def test_numbers_that_numpy_seeds_stay_eager() -> None:
    same(
        """
        import keras
        from keras.src.legacy import backend as K
        def f(x): return K.random_normal([2])
        def g(x): return K.dropout(x, 0.5)
        def main():
            for i in range(4): show(f(tf.ones(2)), g(tf.ones(4)), np.random.rand(), tf.random.normal([1]))
        """,
        f="eager", g="eager",
    )  # fmt: skip


def test_other_draws_stay_eager() -> None:
    same(
        """
        true = tf.constant([[1], [2]], tf.int64)
        def f(x): return tf.random.log_uniform_candidate_sampler(true, 1, 3, True, 100)
        def g(x): return tf.raw_ops.RandomUniform(shape=[2], dtype=tf.float32, seed=3, seed2=4) + x
        def h(x): return tf.nn.fractional_max_pool(tf.reshape(x, [1, 4, 4, 1]), 1.5, seed=5)
        def main():
            for i in range(4): show(f(tf.ones(2)), g(tf.ones(2)), h(tf.range(16.0)), tf.random.normal([1]))
        """,
        f="eager", g="eager", h="eager",
    )  # fmt: skip


def test_functions_of_the_person_that_draw_stay_as_they_are() -> None:
    same(
        """
        @tf.function
        def inner(x): return x + tf.random.normal([2])
        def f(x): return inner(x) * 2
        @tf.function
        def alone(x): return tf.nn.dropout(x, 0.5)
        def main():
            for i in range(5): show(f(tf.ones(2)), alone(tf.ones(4)), tf.random.normal([1]))
        """,
        f="eager",
    )


def test_without_a_seed_the_numbers_are_new_in_each_launch_anywhere_in_the_graph() -> None:
    same(
        """
        from tensorflow.python.eager import context
        def f(x):
            a = tf.random.normal([20])
            a += tf.map_fn(lambda _: tf.random.uniform([]), x)
            return a, tf.random.shuffle(tf.range(20)), tf.nn.dropout(x, 0.5)
        def main():
            context.set_global_seed(None)
            seen = [f(tf.ones(20)) for _ in range(5)]
            show(len({bytes(a) for a, _, _ in [[np.asarray(v).tobytes() for v in values] for values in seen]}))
            show(all(sorted(b.numpy()) == list(range(20)) and set(c.numpy()) == {0.0, 2.0} for _, b, c in seen))
            show(seen[0][0].shape)
        """,
        f="graph",
    )


def test_a_seed_that_is_set_later_counts() -> None:
    same(
        """
        from tensorflow.python.eager import context
        def f(x): return x + tf.random.normal([2])
        def main():
            context.set_global_seed(None)
            for i in range(4): f(tf.ones(2))
            tf.random.set_seed(3)
            for i in range(4): show(f(tf.ones(2)), tf.random.normal([1]))
        """,
        f="graph",
    )


def test_a_seed_is_unscrambled_by_its_own_rule() -> None:
    for key, counter in ((7, 123456789), (2**31 - 2, 1), (0, 2**31 - 1)):
        first, second = (each - (each >> 63 << 64) for each in unscramble(key, counter))
        scrambled = tf.raw_ops.StatelessRandomGetKeyCounter(seed=[first, second])
        assert [key] == scrambled.key.numpy().tolist()
        assert [0, counter] == scrambled.counter.numpy().tolist()


def test_draws_of_which_nobody_knows_how_many_are_a_graph_for_each_size() -> None:
    """A seed that comes again goes on behind what was drawn the first time: that has to be known."""
    ours = same(
        """
        def f(x): return x + tf.random.normal(tf.shape(x)), tf.random.shuffle(tf.range(tf.size(x)))
        def main():
            tf.random.set_seed(3)
            for n in (2, 3, 4, 2, 3, 4, 2): show(f(tf.zeros([n])))
            show(tf.random.normal([2]))
        """
    )
    assert ours.sites["f"].graph_calls > 0


@pytest.mark.parametrize("dtype", ["tf.float32", "tf.int32", "tf.int64"])
def test_shuffles_of_a_launch_that_did_not_count_come_again(dtype: str) -> None:
    same(
        f"""
        def f(x):
            y = x * tf.boolean_mask(x, x > 3)
            return [tf.random.shuffle(y) for _ in range(3)]
        def main():
            some, all_but_one = tf.constant([1, 2, 3, 4, 5], {dtype}), tf.constant([1, 2, 3, 4, 3], {dtype})
            for i in range(4):
                attempt(f, all_but_one)
                attempt(f, some)
                if i % 2: show(tf.random.shuffle(some))
                attempt(f, all_but_one)
        """,
        f="graph",
    )
