"""Arguments of every kind: what is passed twice, shapes and types, what tells one call from another."""

from __future__ import annotations

from tests.staging.programs import same


def test_zip_enumerate_and_items_as_arguments() -> None:
    same(
        """
        def f(g, x):
            for a, b in g: x = x + a * b
            return x
        def main():
            for i in range(5):
                show(f(zip([1., 2.], [3., float(i)]), tf.ones(2)))
                show(f(enumerate([1., 2. + i]), tf.ones(2)))
                show(f({"a": 1., "b": 2.}.items() and {1.: 2., 3.: float(i)}.items(), tf.ones(2)))
        """
    )


def test_maps_keys_sets_ranges_and_reversed_as_arguments() -> None:
    same(
        """
        def f(g, x):
            for a in g: x = x + a
            return x
        def main():
            for i in range(5):
                show(f(map(float, [1, i]), tf.ones(2)))
                show(f({1.: 2., float(i): 3.}.keys(), tf.ones(2)))
                show(f({1., float(i)}, tf.ones(2)))
                show(f(range(i), tf.ones(2)))
                show(f(reversed([1., float(i)]), tf.ones(2)))
        """
    )


def test_a_string_argument_chooses_the_branch() -> None:
    same(
        """
        def f(x, mode):
            if mode == "a": return tf.sin(x)
            return tf.cos(x)
        def main():
            for m in "aababba": show(f(tf.ones(2), m))
        """,
        f="graph",
    )


def test_none_a_tensor_a_number_or_an_array_as_one_argument() -> None:
    same(
        """
        def f(x, m=None):
            if m is None: return tf.sin(x)
            return tf.cos(x) * m
        def main():
            for m in (None, None, None, tf.ones(2), tf.ones(2), None, 1.0, np.ones(2, np.float32)): show(f(tf.ones(2), m))
        """
    )


def test_one_list_passed_twice_is_one_list() -> None:
    same(
        """
        def f(a, b):
            a.append(tf.constant(1.))
            return len(b), a is b
        def main():
            for i in range(4):
                l = [tf.constant(0.)]
                show(f(l, l))
                m = [tf.constant(0.)]
                show(f(l, m), len(l), len(m))
        """
    )


def test_a_graph_for_one_tensor_passed_twice_is_not_used_for_two() -> None:
    same(
        """
        def f(a, b):
            return a is b, a + b
        def main():
            x, y = tf.ones(2), tf.ones(2)
            for i in range(3): show(f(x, x))
            for i in range(3): show(f(x, y))
            for i in range(3): show(f(x, x))
        """,
        f="graph",
    )


def test_a_graph_for_two_tensors_is_not_used_for_one_passed_twice() -> None:
    same(
        """
        def f(a, b):
            return a is b, a + b
        def main():
            x, y = tf.ones(2), tf.ones(2)
            for i in range(3): show(f(x, y))
            for i in range(3): show(f(x, x))
        """,
        f="graph",
    )


def test_a_store_shows_where_another_path_reaches_the_object() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            c.p.v = x
            return c.q.v + 1
        def main():
            c = C(); c.p = C(); c.q = C(); c.q.v = tf.zeros(2)
            for i in range(3): show(f(c, tf.ones(2) * i))
            c.q = c.p
            for i in range(3): show(f(c, tf.ones(2) * i))
        """
    )


def test_a_store_does_not_show_where_the_object_has_become_another() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            c.p.v = x
            return c.q.v + 1
        def main():
            c = C(); c.p = c.q = C(); c.q.v = tf.zeros(2)
            for i in range(3): show(f(c, tf.ones(2) * i))
            c.q = C(); c.q.v = tf.zeros(2)
            for i in range(3): show(f(c, tf.ones(2) * i))
        """
    )


def test_gradients_of_one_tensor_passed_twice_add_up() -> None:
    same(
        """
        def f(a, b):
            with tf.GradientTape(persistent=True) as t:
                t.watch(a); t.watch(b)
                y = a * a * b
            return t.gradient(y, a), t.gradient(y, b)
        def main():
            x = tf.constant([2.]); y = tf.constant([3.])
            for i in range(3): show(f(x, y))
            for i in range(3): show(f(x, x))
            for i in range(3): show(f(x, y))
        """,
        f="graph",
    )


def test_one_variable_passed_twice_is_one_variable() -> None:
    same(
        """
        def f(a, b):
            a.assign(b * 2.)
            b.assign(a + 1.)
            return a + b
        def main():
            v = tf.Variable([1., 2.]); u = tf.Variable([5., 5.])
            for i in range(3): show(f(u, v))
            for i in range(3): show(f(v, v))
            for i in range(3): show(f(u, v))
        """,
        f="graph",
    )


def test_shapes_are_eagers() -> None:
    same(
        """
        def f(x): return tf.reduce_mean(x), x.shape, len(x), x.shape[0] * 2, tf.shape(x), x.shape.as_list(), x[0]
        def main():
            for n in (1, 2, 3, 4, 5, 1): attempt(f, tf.reshape(tf.range(n * 2.), (n, 2)))
            attempt(f, tf.ones((3, 4)))
            attempt(f, tf.ones(3))
        """
    )


def test_a_branch_on_a_shape_is_taken_anew() -> None:
    same(
        """
        def f(x):
            if x.shape[0] > 2: return tf.sin(x)
            r = x
            for i in range(x.shape[0]): r = r + x[i]
            return r
        def main():
            for n in (1, 2, 3, 4, 5, 1, 2): show(f(tf.ones((n, 2))))
        """,
        f="graph",
    )


def test_empty_tensors() -> None:
    same(
        """
        def f(x): return tf.reduce_sum(x), tf.reduce_max(x), x * 2, tf.reduce_mean(x)
        def main():
            for n in (1, 2, 0, 3, 0): show(f(tf.ones((n,))))
        """,
        f="graph",
    )


def test_dtypes_are_told_apart() -> None:
    same(
        """
        def f(x): return x * 2 + 1, x / 3 if x.dtype != tf.bool else x, x.dtype.name
        def main():
            for d in (tf.float32, tf.float64, tf.int32, tf.float32, tf.int64, tf.complex64, tf.float16): attempt(f, tf.cast([1, 2], d))
        """,
        f="graph",
    )


def test_the_type_of_an_argument_is_told() -> None:
    same(
        """
        def f(x): return x + 1, type(x).__name__, isinstance(x, tf.Tensor), isinstance(x, float)
        def main():
            for v in (tf.constant(1.), 1., tf.constant(2.), 2, np.float32(3), tf.Variable(1.), True, [1., 2.] and tf.constant([1.])): attempt(f, v)
        """
    )


def test_the_device_of_a_tensor_is_eagers() -> None:
    same(
        """
        def f(x):
            with tf.device("/CPU:0"): y = tf.sin(x)
            return y, y.device
        def main():
            for i in range(4): show(f(tf.ones(1)))
            with tf.device("CPU:0"):
                for i in range(4): show(f(tf.ones(1))[0].device)
        """
    )


def test_fractions_and_decimals_are_told_apart_by_value() -> None:
    same(
        """
        from fractions import Fraction
        from decimal import Decimal
        K = Fraction(1, 2)
        D = Decimal("0.5")
        def f(x): return x * float(K)
        def g(x): return x * float(D)
        def main():
            global K, D
            for i in range(5):
                show(f(tf.ones(1)), g(tf.ones(1))); K += i; D += i
        """
    )


def test_an_item_of_a_deque_is_read_anew() -> None:
    same(
        """
        from collections import deque
        d = deque([1., 2.])
        def f(x): return tf.sin(x) * d[0]
        def main():
            for i in range(5): show(f(tf.ones(1))); d.appendleft(float(i))
        """
    )
