"""What a staged call returns is what eager returns: structure, types and identity."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tests.staging.programs import same


def test_one_tensor_at_three_places_of_a_result_is_one() -> None:
    same(
        """
        def f(x):
            y = x + 1
            return y, [y], {"k": y}
        def main():
            x = tf.ones(2)
            for i in range(4):
                a, b, c = f(x); show(a is b[0], a is c["k"], a)
        """,
        f="graph",
    )


def test_operations_that_return_their_input_do_not_return_it_here_either() -> None:
    same(
        """
        def f(x):
            y = tf.identity(x)
            z = tf.reshape(x, [2])
            return y, z, tf.cast(x, tf.float32)
        def main():
            x = tf.ones(2)
            for i in range(4):
                a, b, c = f(x); show(a is x, b is x, c is x)
        """,
        f="graph",
    )


def test_named_tuples_are_arguments_and_results() -> None:
    same(
        """
        from collections import namedtuple
        P = namedtuple("P", "a b")
        def f(p, x): return P(p.a * x, p.b), p
        def main():
            for i in range(6):
                p = P(tf.ones(2) * i, i)
                q, r = f(p, tf.ones(2)); show(q, r is p)
        """,
        f="graph",
    )


def test_dataclasses_are_arguments_and_results() -> None:
    same(
        """
        from dataclasses import dataclass, field, replace
        @dataclass
        class P:
            a: object
            b: int = 0
            h: list = field(default_factory=list)
        def f(p, x):
            p.h.append(p.b)
            p.b += 1
            return replace(p, a=p.a * x), p
        def g(p, x):
            return P(p.a * tf.sin(x), p.b)
        def main():
            p = P(tf.ones(2))
            for i in range(6):
                q, r = f(p, tf.ones(2)*2); show(q, r is p, q.h is p.h)
                show(g(p, tf.ones(2)))
        """
    )


def test_ragged_tensors() -> None:
    same(
        """
        def f(r): return r * 2, tf.reduce_sum(r, axis=1), r
        def main():
            for i in range(5):
                r = tf.ragged.constant([[1., float(i)], [3.], []][: 1 + i % 3])
                a, b, c = f(r); show(a, b, c is r)
        """,
        f="graph",
    )


def test_sparse_tensors() -> None:
    same(
        """
        def f(s, x): return tf.sparse.sparse_dense_matmul(s, x), tf.sparse.add(s, s), s
        def main():
            for i in range(5):
                s = tf.sparse.from_dense([[1., 0.], [0., float(i)]])
                a, b, c = f(s, tf.ones((2, 2))); show(a, b, c is s)
        """,
        f="graph",
    )


def test_strings() -> None:
    same(
        """
        def f(s, k): return tf.strings.join([s, k]), tf.strings.length(s), s + "x"
        def main():
            for i in range(5): show(f(tf.constant(["a", "b" * i]), f"k{i % 2}"))
        """,
        f="graph",
    )


def test_the_gradient_of_a_gather_is_indexed_slices() -> None:
    same(
        """
        w = tf.Variable(tf.ones((4, 2)))
        def f(i):
            with tf.GradientTape() as t: y = tf.reduce_sum(tf.gather(w, i) ** 2)
            g = t.gradient(y, w)
            return g
        def main():
            for i in range(4):
                g = f(tf.constant([0, i % 3])); show(type(g).__name__, g.values, g.indices, g.dense_shape)
        """,
        f="graph",
    )


def test_a_tensor_array() -> None:
    same(
        """
        def f(x):
            ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            for i in range(3): ta = ta.write(i, x * i)
            return ta.stack(), ta
        def main():
            for i in range(4): a, b = f(tf.ones(2)); show(a, b.stack(), b.size())
        """
    )


def test_copies() -> None:
    same(
        """
        import copy
        class C:
            def __init__(self): self.v = [1.]; self.t = tf.ones(1)
        def f(c, x):
            d = copy.copy(c); e = copy.deepcopy(c.v)
            e.append(2.)
            return d, x * e[0] + len(e), c.v
        def main():
            c = C()
            for i in range(5):
                c.v[0] = float(i); a, b, v = f(c, tf.ones(1)); show(a.v is c.v, a.t is c.t, b, v is c.v)
        """
    )


def test_a_function_made_in_the_call() -> None:
    same(
        """
        def f(x):
            y = tf.sin(x)
            def g(): return y * 2
            return g
        def main():
            for i in range(4): show(f(tf.ones(1) * i)())
        """
    )


def test_objects_made_in_the_call() -> None:
    same(
        """
        class C:
            def __init__(self, x): self.x = x
            def __add__(self, o): return C(self.x + o.x)
            def f(self, y): self.x = self.x + y; return self
        def f(a, b): return (a + b).x, a + b
        def main():
            for i in range(4):
                c = C(tf.ones(1)); show(c.f(tf.ones(1)) is c, c.x); show(f(c, c)[0])
        """
    )


def test_a_nested_function_over_a_local_list() -> None:
    same(
        """
        def f(x, k):
            h = []
            def g(y):
                h.append(y)
                return y * k
            z = g(x) + g(x + 1)
            return z, len(h), h[0]
        def main():
            for i in range(5): show(f(tf.ones(1) * i, float(i)))
        """
    )


def test_generators_and_comprehensions() -> None:
    same(
        """
        def f(x):
            g = (x * i for i in range(3))
            return sum(g), [v for v in (x + j for j in range(2))]
        def main():
            for i in range(4): show(f(tf.ones(1) * i))
        """
    )


def test_a_tensor_taken_apart() -> None:
    same(
        """
        def f(a):
            r = []
            for v in a: r.append(v * 2)
            x, *y = a
            return r, x, y, [v for v in a], list(a), tuple(a), dict(zip("ab", a)), max(a), sorted(a) if False else 0, sum(a)
        def main():
            for i in range(4): attempt(f, tf.constant([1., float(i), 3.]))
        """
    )


def test_a_tensor_as_a_python_number() -> None:
    same(
        """
        def f(a): return bool(a > 0), int(a), float(a), a and 3, not a, len(a.shape)
        def main():
            for i in (0., 1., 2., -1., 0.): attempt(f, tf.constant(i))
        """
    )


def test_tensors_compared() -> None:
    same(
        """
        def f(a, b): return a == b, a != b, a is b, a in [b], [a] == [b] if a.shape == () else None
        def main():
            for i in range(4): attempt(f, tf.constant(1.), tf.constant(float(i % 2)))
        """
    )


def test_tensors_formatted() -> None:
    same(
        """
        def f(a, k): return f"{a}", f"{a:.3f}", str(a), "%s" % a, repr(a)
        def main():
            for i in range(4): attempt(f, tf.constant(float(i)), i)
        """
    )


def test_every_kind_of_parameter() -> None:
    same(
        """
        def f(x, *args, k=1., **kw):
            return x * k + sum(args), sorted(kw), kw.get("z"), args, kw
        def main():
            for i in range(5):
                attempt(f, tf.ones(1), float(i), 2., k=i, z=tf.ones(1) * i, y=[i])
            attempt(f, tf.ones(1)); attempt(f, x=tf.ones(1)); attempt(f); attempt(f, tf.ones(1), q=1)
        """
    )


def test_keyword_dictionaries_are_fresh() -> None:
    same(
        """
        def f(x, *args, **kw):
            kw["new"] = x
            return kw, args
        def main():
            d = {"a": tf.ones(1)}
            for i in range(5):
                a, b = f(tf.ones(1) * i, d, **d); show(a, a is d, b[0] is d, "new" in d)
        """
    )


def test_a_mutable_default_that_is_returned() -> None:
    same(
        """
        def f(x, h=[]):
            h.append(x)
            return len(h), h
        def main():
            for i in range(5):
                n, h = f(tf.ones(1) * i); show(n, h is f.__defaults__[0])
        """
    )


def test_results_without_gradient() -> None:
    same(
        """
        def f(x, n): return tf.cast(x, tf.int32) * n, x * 2.
        def main():
            for i in range(5):
                x = tf.constant([1., float(i)])
                with tf.GradientTape(persistent=True) as t:
                    t.watch(x); y, z = f(x, 3)
                show(y, t.gradient(z, x), t.gradient(z, x, unconnected_gradients="zero"))
        """,
        f="graph",
    )


def test_an_argument_as_result_keeps_its_gradient() -> None:
    same(
        """
        def f(x): return x, tf.sin(x)
        def main():
            for i in range(5):
                x = tf.constant([1., float(i)])
                with tf.GradientTape(persistent=True) as t:
                    t.watch(x); y, z = f(x)
                show(y is x, t.gradient(y, x), t.gradient(z, x), t.gradient(z, y))
        """,
        f="graph",
    )


def test_a_tensor_added_to_a_list_in_place_is_a_sum() -> None:
    same("""
        def f(x, v):
            y = tf.reduce_sum(v) + 1.
            x += v
            return x, y
        def main():
            for x in ([1., 2.], [1., 2.], [1], [1., 2.]):
                attempt(f, x, tf.constant([1., 2.]))
                show(x)
        """)


@pytest.mark.parametrize(
    "made",
    [
        "tf.ragged.boolean_mask(x, x > 1.0)",
        "tf.sparse.from_dense(x)",
        "tf.IndexedSlices(x * 2.0, tf.constant([0, 2]))",
        "x.numpy() * 2.0",
        "tf.sin(x)",
        "[tf.sin(x), tf.cos(x)]",
        "grown(x)",
    ],
)
def test_one_object_at_two_places_is_one(made: str) -> None:
    same(
        f"""
        def grown(x):
            rows = []
            for row in x:
                if tf.reduce_sum(row) > 1.0: rows.append(row * 2.0)
            return rows
        def f(x):
            y = {made}
            return y, tf.reduce_sum(x) + tf.reduce_max(x), y, [y]
        def main():
            for i in range(4):
                a, b, c, d = f(tf.constant([[1., float(i)], [3., 2.]]))
                show(b, a is c, a is d[0])
        """,
        f="graph",
    )


def test_a_list_that_grows_under_a_condition_needs_no_operation_behind_the_launch() -> None:
    ours = same(
        """
        def f(xs):
            found, places, none = [], [], []
            for i, x in enumerate(xs):
                if x > 0:
                    found.append((x, {"twice": 2 * x}))
                    places.append(i)
                if x > 100: none.append(x)
            return found, places, none
        def main():
            for k in range(5): show(f(tf.constant([1., -2., 3., float(k)])))
        """,
        f="graph",
    )
    (specialisation,) = ours.sites["f"].mind._specialisations
    assert all(output.dtype != tf.variant for output in specialisation.function.outputs)
