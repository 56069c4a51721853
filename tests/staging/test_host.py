"""Python numbers that change from call to call are computed by Python: its digits, bounds and errors."""

from __future__ import annotations

import pytest

from tests.staging.programs import same


def test_arithmetic_has_pythons_digits() -> None:
    same(
        """
        import math
        class C:
            def __init__(self): self.t = 0
            def f(self, x):
                self.t += 1
                b = 1 - 0.9 ** self.t
                w = min(1.0, self.t / 5)
                return x / b * w + math.sqrt(self.t) * 0.1, b, w, self.t // 2, self.t % 3, -self.t, divmod(self.t, 2), round(b, 3)
        def main():
            c = C()
            for i in range(8): show(c.f(tf.constant([1., 3.])))
        """,
        **{"C.f": "graph"},
    )


def test_integers_have_no_bounds() -> None:
    same(
        """
        class C:
            t = 2 ** 61
            def f(self, x):
                self.t = self.t * 3 + 1
                return x + 1, self.t, self.t / 7, self.t % 1000
        def main():
            c = C()
            for i in range(6): show(c.f(tf.ones(1)))
        """,
        **{"C.f": "graph"},
    )


def test_what_python_refuses_is_refused() -> None:
    same(
        """
        class C:
            t = 5
            def f(self, x):
                self.t -= 1
                return x * (1 << self.t), 7 // self.t, 7 % -self.t
        def main():
            c = C()
            for i in range(8): attempt(c.f, tf.ones(1)); show(c.t)
        """
    )


def test_numbers_as_indices_sizes_and_repetitions() -> None:
    same(
        """
        def f(x, k):
            return x[k], x[:k], tf.reshape(x, [-1, k]), tf.zeros([k]), [0] * k, "a" * k, list(range(k))
        def main():
            for k in (1, 2, 1, 2, 3, 6): attempt(f, tf.range(12.), k)
        """
    )


def test_one_graph_for_all_places_in_a_tensor() -> None:
    ours = same(
        """
        class C:
            held = tf.Variable(tf.reshape(tf.range(24.), [6, 4]))
            def f(self, x, i):
                last = x[-i - 1, ..., 1]
                if x[i, 0] > 8.0:
                    last = last + x[i, -1]
                return x[i] + last, x[i * 2 : (i + 1) * 2], x[tf.newaxis, i:, ::2], x[..., i % 3], self.held[i]
            def change(self, x, i):
                self.held.assign_add(tf.pad(x[: i + 1] * 2.0, [[0, 5 - i], [0, 0]]))
                return tf.reduce_sum(self.held)
        def main():
            c = C()
            x = tf.reshape(tf.range(24.), [6, 4])
            for i in (0, 1, 2, 3, 4, 5, 9): attempt(c.f, x + 0.5, i); attempt(c.change, x, min(i, 5))
        """,
        **{"C.f": "graph", "C.change": "graph"},
    )
    assert [ours.sites[name].traces for name in ("C.f", "C.change")] == [1, 1]  # eager calls have told that i changes


def test_numpy_takes_what_a_changing_slice_leaves() -> None:
    same(
        """
        def f(x, k): return float(x[:k].numpy().sum()), tf.sin(x)
        def main():
            for k in (1, 2, 3, 0, 4, 2, 5): show(f(tf.range(5.), k))
        """,
        f="graph",
    )


def test_a_list_of_numbers_becomes_a_tensor() -> None:
    same(
        """
        def f(x, old, rate):
            new = [rate, 2.0, rate * 3]
            return x * tf.constant(old, tf.float32) + tf.constant(new), tf.convert_to_tensor(old), tf.constant((1, 2))
        def main():
            for i in range(6): show(f(tf.ones([3]), [i, 2 * i, 7], 0.1 * i))
            show(f(tf.ones([3]), [0.5, 1, 7], 2))
        """,
        f="graph",
    )


@pytest.mark.parametrize("make", ("tf.constant", "tf.convert_to_tensor"))
def test_lists_of_lists_of_numbers_and_arrays_become_a_tensor(make: str) -> None:
    ours = same(
        f"""
        array = np.arange(12.0).reshape(6, 2)
        class Env:
            pos, vel = 0, 0.5
        env = Env()
        def batch(x, prompt): return x + tf.cast({make}([prompt]), tf.float32)
        def table(x, i, v): return x * {make}([[i, 1], (2, i)], tf.float32), {make}(([v, 1], [2.0, i * v]))
        def state(x):
            env.pos, env.vel = env.pos + 1, env.vel * 1.5
            return x + {make}([[env.pos, env.vel, 1]])
        def rows(x, i): return x + {make}([array[i], array[i + 1] * 2.0], tf.float32), {make}([array[i : i + 2]])
        def numbers(x, i): return x + {make}([[array[i, 0], 1.0], [array[i, 1], 2]], tf.float32)
        def changing(x, i): return {make}([[array[i, 0] if i % 2 else i, i]]), x
        def main():
            x = tf.ones([2, 2])
            for i in range(5):
                attempt(batch, tf.ones([3]), [i, 2, i * i])
                attempt(batch, tf.ones([2]), [i, 2])
                attempt(table, x, i, i * 0.1)
                attempt(state, tf.ones([3]))
                attempt(rows, x, i)
                attempt(numbers, x, i)
                attempt(changing, x, i)
        """,
        batch="graph",
        table="graph",
        state="graph",
        rows="graph",
        numbers="graph",
    )
    assert [ours.sites[name].traces for name in ("table", "state", "rows", "numbers")] == [1, 1, 1, 1]


def test_numpy_joins_a_list_of_arrays() -> None:
    same(
        """
        def f(x, rows, pair):
            return x + tf.constant(np.stack(rows)) * np.mean(pair), np.concatenate([rows[0], rows[1]]) * 2.0
        def main():
            for i in range(6): show(f(tf.ones([3, 2]), [np.ones(2, np.float32) * k * i for k in range(3)], (i, 0.5)))
        """,
        f="graph",
    )


def test_numbers_as_keys() -> None:
    same(
        """
        def f(x, k, d):
            d[k] = x
            return d.get(k - 1), len(d)
        def main():
            d = {}
            for k in (1, 2, 3, 4, 2, 1): attempt(f, tf.ones(1) * k, k, d)
            show(d)
        """
    )


def test_numbers_in_texts() -> None:
    same(
        """
        def f(x, k): return tf.sin(x), f"step {k}", "%d" % k, str(k), repr(k / 3), "{:.2f}".format(k)
        def main():
            for k in range(6): show(f(tf.ones(1), k))
        """
    )


def test_conditions_on_numbers() -> None:
    same(
        """
        def f(x, k):
            if k % 3 == 0: return tf.sin(x)
            elif k > 4 and k < 6 or k == 8: return tf.cos(x)
            return x + (1 if k else 2)
        def main():
            for k in range(10): show(f(tf.ones(1), k))
        """,
        f="graph",
    )


def test_loops_over_numbers() -> None:
    same(
        """
        def f(x, k):
            for i in range(k): x = x * 2 + i
            return x
        def g(x, k):
            while k > 0:
                x = x + k; k -= 1
            return x, k
        def main():
            for k in (1, 2, 3, 1, 2, 5, 8, 0): show(f(tf.ones(1), k), g(tf.ones(1), k))
        """,
        f="graph",
        g="graph",
    )


def test_the_dtype_that_a_number_becomes() -> None:
    same(
        """
        def f(x, y, k): return x * k, y * k, k * x, tf.constant(k), tf.cast(k, tf.float32), tf.fill([2], k), tf.add(x, k), tf.maximum(y, k)
        def main():
            for k in (1, 2, 3, 4): show(f(tf.ones(1), tf.ones(1, tf.int32), k))
            for k in (1., 2., 3.5, 4.): attempt(f, tf.ones(1), tf.ones(1, tf.int32), k)
        """
    )


def test_doubles_that_do_not_fit_a_float() -> None:
    same(
        """
        def f(x, y, k): return x * k, y * k, x + k * 1e-9
        def main():
            for k in (0.1, 0.2, 0.3, 1e-3, 1e300, 1e39): attempt(f, tf.ones(1), tf.ones(1, tf.float64), k)
        """,
        f="graph",
    )


def test_bools_among_ints() -> None:
    same(
        """
        def f(x, k): return x * float(k), k + 1, not k, k and x, k or x, tf.where(k, x, -x)
        def main():
            for k in (True, False, True, False, 1, 0, 1): attempt(f, tf.ones(1), k)
        """
    )


def test_comparisons_and_containers_of_numbers() -> None:
    same(
        """
        def f(x, k): return k == 3, k < 3, k is None, x * (k == 3), [k, k + 1], {"k": k}, (k,) * 2
        def main():
            for k in (1, 2, 3, 4, 3): show(f(tf.ones(1), k))
        """,
        f="graph",
    )


def test_two_counters_that_depend_on_each_other() -> None:
    same(
        """
        class C:
            def __init__(self): self.a = 1; self.b = 2
            def f(self, x):
                self.a, self.b = self.b, self.a + self.b
                return x * self.a
        def main():
            c = C()
            for i in range(8): show(c.f(tf.ones(1)), c.a, c.b)
        """,
        **{"C.f": "graph"},
    )


def test_counters_in_a_dict_are_read_at_each_call() -> None:
    ran = same(
        """
        def f(x, d):
            d["n"] += 1
            d["most"] = max(d["most"], int(tf.reduce_max(x)))
            d["sizes.all"] = d["sizes.all"] + 2
            return x * d["n"] + d["fixed"]
        def main():
            d = {"n": 0, "most": 1, "fixed": 3, "sizes.all": 1}
            for i in range(6): show(f(tf.ones(2) * i, d), d)
        """,
        f="graph",
    )
    assert ran.sites["f"].traces == 1


def test_a_running_mean_and_the_best_so_far() -> None:
    same(
        """
        class C:
            def __init__(self): self.e = None; self.best = float("inf"); self.wait = 0
            def f(self, x):
                l = float(tf.reduce_mean(x))
                self.e = l if self.e is None else 0.9 * self.e + 0.1 * l
                if l < self.best: self.best = l; self.wait = 0
                else: self.wait += 1
                return self.wait
        def main():
            c = C()
            for i in (5, 4, 6, 3, 7, 2, 2): show(c.f(tf.ones(2) * i), vars(c))
        """,
        **{"C.f": "graph"},
    )


def test_lists_of_numbers() -> None:
    same(
        """
        def f(x, ks): return x * sum(ks), x + ks[0], len(ks), max(ks), tf.constant(ks)
        def main():
            for ks in ([1, 2], [1, 3], [2, 3], [4, 5], [4, 5, 6], (1, 2), [1., 2.]): show(f(tf.ones(1), ks))
        """
    )


def test_a_global_counter_in_a_condition() -> None:
    same(
        """
        step = 0
        def f(x):
            global step
            step += 1
            if step % 4 == 0: return x * 100, step
            return x, step
        def main():
            for i in range(9): show(f(tf.ones(1)), step)
        """,
        f="graph",
    )


def test_arguments_beyond_64_bits() -> None:
    same(
        """
        def f(x, k):
            return x * tf.cast(k % 7, tf.float32), k
        def main():
            for k in (1, 2**70, 2**70, 2**70 + 1, 2**31, 3, 4, 5):
                attempt(f, tf.ones(2), k)
        """,
        f="graph",
    )


def test_numbers_that_do_not_fit_an_int32_are_refused() -> None:
    same(
        """
        def f(x, k):
            return x * k
        def main():
            for k in (1, 2, 2**30, 2**31, 2**31, 3, 2**40, -2**31, -2**31 - 1):
                attempt(f, tf.ones(2, tf.int32), k)
        """,
        f="graph",
    )


def test_ints_floats_and_bools_of_one_value_are_told_apart() -> None:
    same(
        """
        def f(x, k):
            return x * k, k
        def main():
            for k in (1, 1.0, 2, 2.0, True, 3, 3.0, False, 4):
                attempt(f, tf.ones(2), k)
        """,
        f="graph",
    )


def test_division_by_zero_is_pythons_error() -> None:
    same(
        """
        def f(x, k):
            return x * (1.0 / k)
        def main():
            for k in (1, 2, 3, 0, 4, 0.0, 5.0):
                attempt(f, tf.ones(2), k)
        """
    )


def test_numpy_scalars() -> None:
    same(
        """
        def f(x, k): return x * k, k
        def main():
            for k in (np.float32(1), np.float32(2), np.float64(3), np.int64(4), np.float32(5), np.bool_(True)): attempt(f, tf.ones(1), k)
        """,
        f="graph",
    )


def test_computing_with_numpy_arrays() -> None:
    same(
        """
        def f(x, a):
            return x * a.mean() + a[0] + len(a), a * 2, a.shape, a.T
        def main():
            for i in range(5):
                attempt(f, tf.ones(1), np.arange(3, dtype=np.float32) * i)
        """
    )


def test_the_types_of_numbers() -> None:
    same(
        """
        def f(x, k): return x * int(k), str(k), type(k).__name__, isinstance(k, bool), isinstance(k, int)
        def main():
            for k in (1, True, 1, "1", 1.0, 2, False, b"1", 3): attempt(f, tf.ones(1), k)
        """
    )


def test_infinities_and_nans() -> None:
    same(
        """
        def f(x, k): return x * k, k, k == k, min(k, 1.), tf.maximum(x, k)
        def main():
            for k in (1., float("inf"), -float("inf"), float("nan"), 2., float("nan"), 0., -0., 3.): attempt(f, tf.ones(1) * 2, k)
        """
    )


def test_numbers_and_variables_of_keras() -> None:
    same(
        """
        import keras
        single, half = keras.Variable([3.0, 4.0]), keras.Variable([3.0, 4.0], dtype="bfloat16")
        whole, shadow = keras.Variable([3, 4], dtype="int32"), tf.Variable([1.0, 2.0])
        class Average:
            updates = 0
            def update(self, x):
                self.updates += 1
                d = min(0.9, (1 + self.updates) / (10 + self.updates))
                shadow.assign(d * shadow + (1.0 - d) * single)
                single.assign(single - d)
                half.assign_add(half * 0 + d)
                return [[d * w, w * d, d + w, w - d, d / w, w / d, d ** w, w ** d, w // d, w % d] for w in (single, half)]
            def compare(self, x):
                d = 1 / self.updates
                return single < d, single == d, keras.ops.maximum(half, d), keras.ops.clip(single, 0.0, d)
            def count(self, x):
                n = self.updates
                results = n + whole, whole // n, keras.ops.power(single, n), keras.ops.convert_to_tensor(n)
                whole.assign(whole * n - n)
                return results
        def main():
            average, x = Average(), tf.ones(())
            for i in range(8):
                show(average.update(x), average.compare(x), average.count(x), shadow, single, half, whole)
        """,
        **{"Average.update": "graph", "Average.compare": "graph", "Average.count": "graph"},
    )


@pytest.mark.parametrize("numbers", ["[v * k for v in range(n)]", "[0.1 * v for v in range(k)]", "[np.float32(v) / 3 for v in range(k)]",
                                     "[v if v % 2 else 0.1 * np.float64(v) for v in range(n + 1)]"])  # fmt: skip
@pytest.mark.parametrize("fold", ["sum", "min", "max"])
def test_lists_of_numbers_that_grow_are_summed_before_the_launch(fold: str, numbers: str) -> None:
    site = same(
        f"""
        kept = []
        def f(x, rewards):
            kept.append({fold}(rewards))
            return x * tf.cast({fold}(rewards), tf.float32), {fold}(rewards) / len(rewards)
        def main():
            for k in (1, 2, 5, 3, 9, 4, 7, 6, 8, 40, 23):
                n = k + 2
                attempt(f, tf.ones(2), {numbers})
            show(kept)
        """,
        f="graph",
    ).sites["f"]
    assert site.traces <= 4  # by type of the result, and perhaps without its length


def test_folds_of_lists_with_something_else_in_them() -> None:
    same(
        """
        class Odd(int):
            def __radd__(self, other): return 100
        lists = [[1, 2.5], [], [True, 1], [1, tf.constant(2)], [Odd(3)], [3, Odd(3)], ["a"], [[1], [2]], [None], [2, 1.5], [np.array([1, 2])]]
        def f(x, rewards): return x * 2, sum(rewards), max(rewards), min(rewards, default=0)
        def g(x, rewards):
            rewards.append(1)
            return x * 2, sum(rewards)
        def main():
            for numbers in lists * 2:
                attempt(f, tf.ones(2), numbers)
                attempt(g, tf.ones(2), numbers)
        """
    )


def test_what_python_or_numpy_say_of_a_sum_is_said_by_eager_code() -> None:
    same(
        """
        import warnings
        def f(x, numbers): return x * 2, sum(numbers)
        def main():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for last in (1., 2., 3e38, 3., 10 ** 400, 4., 3e38):
                    attempt(f, tf.ones(2), [np.float32(3e38), np.float32(last)] if type(last) is float else [.5, last])
            show([(str(each.message), each.category.__name__) for each in caught])
        """
    )


@pytest.mark.parametrize(
    "body",
    [
        "tf.constant([[math.cos(i), -math.sin(i)], [math.sin(i), math.cos(i)]]) * y",
        "(tf.constant([[i, 2.0]], tf.float64), tf.constant([(i, 1), (2, i * 2)], tf.int64), y)",
        "(tf.constant([[float(y), 2.0], [1.0, i * 1.0]]), tf.convert_to_tensor([[int(y), 2], (1, i)]))",
        "(tf.stack([[y, i * 1.0], row]), tf.convert_to_tensor([[float(y), 1.0], row]))",
        "(tf.concat([[i * 1.0], [2.0]], 0) * y, tf.concat([[y], [i * 1.0]], 0))",
    ],
)
def test_lists_in_lists_of_numbers_are_tensors(body: str) -> None:
    source = f"""
import math
row = [3.0, tf.constant(4.0)]
def join(i, y):
    return {body}
def main():
    for i in range(6):
        if i == 4: row[:] = [7.0, tf.constant(1.0)]
        show(join(i, tf.constant(i * 1.0)))
"""
    same(source, join="graph")


def test_lists_that_are_no_tensor_raise_as_in_eager_mode() -> None:
    source = """
def ragged(i): return tf.constant([[i], [1, 2]])
def large(i): return tf.constant([[i * 2 ** 40]], tf.int32)
def mixed(i): return tf.constant([[i, 0.5]], tf.int32)
def main():
    for fn in (ragged, large, mixed):
        for i in range(4): attempt(fn, i)
"""
    same(source)
