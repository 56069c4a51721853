"""What a trace may call: what only computes. All else happens at every call, as eager has it."""

from __future__ import annotations

from tests.staging.programs import same


def test_random_operations() -> None:
    same(
        """
        def f(x): return x + tf.random.normal([2])
        def g(x): return x + tf.random.uniform([2])
        def main():
            for i in range(5): show(f(tf.ones(2)), g(tf.ones(2)))
        """
    )


def test_random_operations_with_a_seed() -> None:
    same(
        """
        def f(x): return x + tf.random.normal([2], seed=5)
        def main():
            for i in range(5): show(f(tf.ones(2)))
        """
    )


def test_a_generator() -> None:
    same(
        """
        G = None
        def f(x): return x + G.normal([2])
        def main():
            global G
            G = tf.random.Generator.from_seed(3)
            for i in range(8):
                if i == 4: G.reset_from_seed(3)
                if i == 6: G = tf.random.Generator.from_seed(99)
                show(f(tf.ones(2)))
        """,
        f="graph",
    )


def test_a_generator_that_is_split() -> None:
    same(
        """
        def f(x, g): return x + g.normal([2]), g.split(1)[0].normal([2])
        def main():
            G = tf.random.Generator.from_seed(3)
            for i in range(5): show(f(tf.ones(2), G))
        """
    )


def test_random_numbers_of_python_and_numpy() -> None:
    same(
        """
        import random
        def f(x): return tf.sin(x) + np.random.rand()
        def g(x): return tf.sin(x) + random.random()
        R = np.random.default_rng(3)
        def h(x): return tf.sin(x) + R.normal()
        def k(x): return tf.sin(x) + tf.constant(R.normal(size=2), tf.float32)
        rr = random.Random(3)
        def l(x): return tf.sin(x) + rr.gauss(0, 1)
        def main():
            for i in range(5): show(f(tf.ones(2)), g(tf.ones(2)), h(tf.ones(2)), k(tf.ones(2)), l(tf.ones(2)))
        """
    )


def test_random_numbers_of_keras() -> None:
    same(
        """
        import keras
        s = keras.random.SeedGenerator(4)
        def f(x): return x + keras.random.normal([2], seed=s)
        def g(x): return x + keras.random.normal([2])
        def main():
            for i in range(5): show(f(tf.ones(2)), g(tf.ones(2)))
        """
    )


def test_dropout_as_a_function() -> None:
    same(
        """
        def f(x): return tf.nn.dropout(x, 0.5)
        def main():
            for i in range(5): show(f(tf.ones(8)))
        """
    )


def test_shuffles_and_draws_of_categories() -> None:
    same(
        """
        def f(x): return tf.random.shuffle(x)
        def g(x): return tf.random.categorical(x, 3)
        def main():
            for i in range(5): show(f(tf.range(8)), g(tf.ones((1, 5))))
        """
    )


def test_stateless_random_operations() -> None:
    same(
        """
        def f(x, s): return x + tf.random.stateless_normal([2], [s, 1])
        def main():
            for i in range(5): show(f(tf.ones(2), i))
        """,
        f="graph",
    )


def test_identities_the_clock_and_the_environment() -> None:
    same(
        """
        import time, os
        def f(x): return tf.sin(x) * (id(x) and 1.0)
        def g(x): return tf.sin(x) * float(time.time() > 0)
        def h(x): return tf.sin(x) * float(os.environ.get("FOO_X", "1"))
        def main():
            for i in range(5):
                os.environ["FOO_X"] = str(i)
                show(f(tf.ones(2)), g(tf.ones(2)), h(tf.ones(2)))
        """
    )


def test_functions_that_keep_their_results() -> None:
    same(
        """
        import functools
        @functools.lru_cache
        def k(i): return float(i) * 2
        @functools.cache
        def t(i): return tf.ones(1) * i
        def f(x, i): return x * k(i) + t(i)
        def main():
            for i in range(6): show(f(tf.ones(1), i % 3), k.cache_info(), t.cache_info())
        """
    )


def test_partial_functions() -> None:
    same(
        """
        import functools
        def g(a, b, x): return x * a + b
        def f(p, x): return p(x)
        def main():
            for i in range(6):
                p = functools.partial(g, float(i), tf.constant(2.)); show(f(p, tf.ones(1)))
            d = {"b": 3.}
            p = functools.partial(g, 1.0, **d)
            for i in range(4):
                p.keywords["b"] = float(i); show(f(p, x=tf.ones(1)) if False else p(x=tf.ones(1)))
        """
    )


def test_functions_that_look_at_functions() -> None:
    same(
        """
        import inspect
        def g(x, y=3, *, z=1): return tf.sin(x) * y
        def f(x):
            n = len(inspect.signature(g).parameters)
            return g(x) * n, g.__name__, f.__code__.co_name, g.__doc__
        def main():
            for i in range(5): show(f(tf.ones(1)))
            show(inspect.getsource(g), str(inspect.signature(f)), inspect.getfile(f), f.__code__.co_firstlineno, f.__code__.co_varnames)
        """
    )


def test_python_functions_in_graphs() -> None:
    same(
        """
        def f(x): return tf.sin(x) * 2
        def g(x): return tf.py_function(lambda v: f(v) + 1, [x], tf.float32)
        def h(x): return tf.numpy_function(lambda v: v + 1, [x], tf.float32) * 2
        def main():
            for i in range(5): show(f(tf.ones(2) * i), g(tf.ones(2) * i), h(tf.ones(2) * i))
            k = tf.function(lambda x: g(x) * 2)
            for i in range(3): show(k(tf.ones(2) * i))
        """
    )


def test_iterators_of_datasets() -> None:
    same(
        """
        def f(it): return next(it) * 2
        def main():
            it = iter(tf.data.Dataset.range(10))
            for i in range(6): show(f(it))
        """
    )


def test_a_function_called_eagerly_in_a_loop_over_a_dataset_and_in_map() -> None:
    same(
        """
        def f(x): return x * 2 + 1
        def g(ds):
            t = 0.
            for v in ds: t += f(v)
            return t
        def main():
            ds = tf.data.Dataset.from_tensor_slices([1., 2., 3.])
            for i in range(4):
                show(g(ds), [f(v) for v in ds], list(ds.map(f).as_numpy_iterator()))
        """,
        f="graph",
    )


def test_the_persons_own_function_is_traced_as_often_as_ever() -> None:
    same(
        """
        tr = []
        @tf.function
        def f(x):
            tr.append(1)
            print("tracing")
            if tf.reduce_sum(x) > 1: return tf.sin(x)
            return x
        def g(x): return f(x) + 1
        def main():
            for i in range(4): show(g(tf.ones(1) * i), len(tr))
            for i in range(2): show(g(tf.ones(2) * i), len(tr))
            show(f.experimental_get_tracing_count())
        """
    )


def test_context_managers_of_the_persons() -> None:
    same(
        """
        import contextlib
        log = []
        @contextlib.contextmanager
        def cm(k):
            log.append(("in", k))
            yield k * 2
            log.append(("out", k))
        class CM:
            n = 0
            def __enter__(self): self.n += 1; return self
            def __exit__(self, *a): self.n += 10; return True
        def f(x, k):
            with cm(k) as j: return x * j
        def g(x, c):
            with c as d: y = tf.sin(x) * d.n
            return y
        def main():
            c = CM()
            for k in range(5): show(f(tf.ones(1), k), log, g(tf.ones(1), c), c.n)
        """
    )


def test_handlers() -> None:
    same(
        """
        def f(x, k):
            try:
                y = tf.sin(x) / k
                if k == 2: raise KeyError("two")
            except ZeroDivisionError: return x * 0
            except KeyError as e: return x, str(e)
            finally: x = x + 1
            return y
        def main():
            for k in (1, 1, 1, 0, 2, 3, 2): attempt(f, tf.ones(1), k)
        """
    )


def test_recursion() -> None:
    same(
        """
        def fact(x, n):
            if n == 0: return x
            return fact(tf.sin(x), n - 1) * n
        def rec(x):
            if tf.reduce_sum(x) > 10: return x
            return rec(x * 2)
        def main():
            for n in (1, 2, 3, 4, 5, 5, 5): show(fact(tf.ones(1), n))
            for n in (1, 2, 3, 4, 5, 5, 5): show(rec(tf.ones(1) * n))
        """
    )


def test_settings_of_keras_are_seen() -> None:
    same(
        """
        import keras
        def f(x):
            return x * keras.backend.epsilon()
        def main():
            e = keras.backend.epsilon()
            for i in range(6):
                keras.backend.set_epsilon(10.0 ** -i); show(f(tf.ones(1)))
            keras.backend.set_epsilon(e)
        """
    )


def test_functions_that_are_to_run_eagerly() -> None:
    same(
        """
        def f(x, k):
            return tf.sin(x) + k
        def main():
            tf.config.run_functions_eagerly(True)
            for k in range(5): show(f(tf.ones(2), float(k)))
            g = tf.function(f)
            for k in range(3): show(g(tf.ones(2), float(k)))
            tf.config.run_functions_eagerly(False)
        """
    )


def test_a_tracer_sees_the_lines() -> None:
    same(
        """
        import sys
        lines = []
        def f(x):
            y = tf.sin(x)
            return y + 1
        def main():
            def tr(fr, ev, arg):
                if fr.f_code.co_name == "f": lines.append((ev, fr.f_lineno)); return tr
            for i in range(3): f(tf.ones(1))
            sys.settrace(tr)
            try:
                for i in range(2): f(tf.ones(1))
            finally: sys.settrace(None)
            show(lines)
        """
    )


def test_a_profiler_sees_the_calls() -> None:
    same(
        """
        import cProfile, pstats, io
        def f(x):
            y = g(x)
            return y + 1
        def g(x): return tf.sin(x)
        def main():
            for i in range(3): f(tf.ones(1))
            p = cProfile.Profile(); p.enable()
            for i in range(4): f(tf.ones(1))
            p.disable()
            st = pstats.Stats(p).stats
            show(sorted((k[2], v[0]) for k, v in st.items() if k[2] in "fg" and "program" in k[0]))
        """
    )


def test_tracebacks() -> None:
    same(
        """
        import traceback
        def f(x, k):
            y = tf.sin(x)
            return tf.reshape(y, [k, 7])
        def main():
            for i in range(4):
                try: f(tf.ones(2), i)
                except Exception as e: show([(t.lineno, t.name, t.line) for t in traceback.extract_tb(e.__traceback__) if "program" in t.filename])
        """
    )


def test_an_exception_that_is_no_exception_class_comes_once() -> None:
    same(
        """
        import threading
        class C:
            def __init__(self): self.n = 0
        def f(c, x):
            c.n += 1
            return tf.sin(x)
        class K(BaseException): pass
        def g(x, c):
            y = tf.sin(x)
            c.hook()
            return y
        def main():
            class H:
                n = 0
                def hook(self):
                    self.n += 1
                    if self.n == 4: raise K("stop")
            h = H()
            for i in range(6):
                try: show(g(tf.ones(1), h))
                except BaseException as e: show(type(e).__name__, h.n)
        """
    )


def test_threads_call_the_same_functions() -> None:
    same(
        """
        import threading
        class C:
            def __init__(self): self.n = 0
            def f(self, x):
                self.n += 1
                return tf.sin(x) * self.n
        def g(x, k):
            for _ in range(3): x = tf.sin(x) + k
            return x
        def main():
            out = {}
            def work(i):
                c = C(); r = []
                for j in range(10): r.append((c.f(tf.ones(2)), c.n, g(tf.ones(2) * i, float(i))))
                out[i] = r
            ts = [threading.Thread(target=work, args=(i,)) for i in range(4)]
            for t in ts: t.start()
            for t in ts: t.join()
            for i in sorted(out): show(out[i])
        """
    )


def test_library_functions_that_read_attributes() -> None:
    same(
        """
        import operator, copy
        class C: pass
        get = operator.attrgetter("k")
        def f(c, x): return x * get(c)
        def g(c, x): return x * vars(c)["k"]
        def h(c, x): return x * copy.copy(c).k
        def k(c, x): return tf.nest.map_structure(lambda v: v * 2, {"a": x, "b": c.k})
        def main():
            c = C()
            for i in range(5):
                c.k = float(i); show(f(c, tf.ones(1)), g(c, tf.ones(1)), h(c, tf.ones(1)), k(c, tf.ones(1)))
        """
    )


def test_objects_in_containers_that_a_library_walks_over() -> None:
    same(
        """
        class C:
            def __init__(self, k): self.k = k
        def f(cs, x):
            return tf.nest.map_structure(lambda c: x * c.k, cs)
        def g(cs, x):
            return sum(map(lambda c: x * c.k, cs)), [c.k for c in sorted(cs, key=lambda c: c.k)], max(cs, key=lambda c: c.k) is cs[0]
        def h(cs, x):
            import functools
            return functools.reduce(lambda a, c: a * c.k, cs, x)
        def main():
            cs = [C(1.), C(2.)]
            for i in range(5):
                show(f(cs, tf.ones(1)), g(cs, tf.ones(1)), h(cs, tf.ones(1))); cs[0].k = float(i)
        """
    )


def test_objects_in_a_reduction() -> None:
    same(
        """
        import functools
        class C:
            def __init__(self, k): self.k = k
        def h(cs, x):
            return functools.reduce(lambda a, c: a * c.k, cs, x)
        def main():
            cs = [C(1.), C(2.)]
            for i in range(5):
                show(h(cs, tf.ones(1))); cs[0].k = float(i)
        """
    )


def test_callable_objects() -> None:
    same(
        """
        class A:
            def __init__(self): self.k = 1.; self.n = 0
            def __call__(self, x):
                self.n += 1
                return x * self.k
        def f(a, x): return a(x) + tf.map_fn(a, x) if False else a(x)
        def g(a, x): return tf.map_fn(a, x)
        def main():
            a = A()
            for i in range(5): a.k = float(i); show(f(a, tf.ones(2)), a.n, g(a, tf.ones(2)), a.n)
        """
    )


def test_iterators_of_the_standard_library() -> None:
    same(
        """
        import itertools
        c = itertools.count()
        def f(x): return tf.sin(x) * next(c)
        def g(x): return [tf.sin(x) * a * b for a, b in itertools.product([1., 2.], [3., 4.])]
        def h(x): return sum(itertools.accumulate([x, x, x]))
        def main():
            for i in range(5): show(f(tf.ones(1)), g(tf.ones(1)), h(tf.ones(1)))
        """
    )


def test_random_generators_made_in_the_call() -> None:
    same(
        """
        def f(x):
            r = np.random.RandomState(3)
            return x * r.rand()
        def g(x):
            r = np.random.default_rng()
            return x * float(r.random() < 2)
        def main():
            for i in range(5): show(f(tf.ones(1)), g(tf.ones(1)))
        """
    )


def test_prints_to_a_file_in_memory() -> None:
    same(
        """
        import io
        s = io.StringIO()
        def f(x):
            s.write("a"); print("hi", file=s)
            return tf.sin(x)
        def main():
            for i in range(5): show(f(tf.ones(1)), s.getvalue())
        """
    )


def test_locks() -> None:
    same(
        """
        import threading
        L = threading.Lock()
        def f(x):
            with L: return tf.sin(x)
        def main():
            for i in range(5): show(f(tf.ones(1)), L.locked())
        """
    )


def test_clocks_tell_the_time_of_each_call() -> None:
    same(
        """
        import time
        class T:
            def f(self, x):
                t = time.perf_counter()
                y = tf.sin(x)
                self.dt = time.perf_counter() - t
                return y, self.dt > 0
        def main():
            c = T()
            s = set()
            for i in range(6): c.f(tf.ones(1)); s.add(c.dt)
            show(len(s))
        """
    )


def test_the_environment_is_changed_at_each_call() -> None:
    same(
        """
        import os
        def f(x):
            os.environ["ZZ"] = "1"
            return tf.sin(x)
        def main():
            for i in range(5):
                os.environ.pop("ZZ", None); f(tf.ones(1)); show(os.environ.get("ZZ"))
        """
    )


def test_files_are_written_at_each_call() -> None:
    same(
        """
        import os, tempfile
        def f(x, p):
            with open(p, "a") as h: h.write("a")
            return tf.sin(x)
        def g(x, p): return tf.sin(x) * len(os.listdir(p))
        def main():
            with tempfile.TemporaryDirectory() as d:
                for i in range(5):
                    f(tf.ones(1), d + f"/f{i % 2}")
                    with open(d + "/f0") as h: show(g(tf.ones(1), d), h.read())
        """
    )


def test_an_environment_of_the_persons() -> None:
    same(
        """
        class Env:
            def __init__(self): self.pos = 0; self.done = False
            def step(self, a):
                self.pos += a
                self.done = self.pos > 5
                return self.pos, self.done
        def f(e, x):
            p, d = e.step(2)
            if d: return tf.sin(x) * 0
            return tf.sin(x) * p
        def main():
            e = Env()
            for i in range(8):
                show(f(e, tf.ones(1)), vars(e))
                if e.done: e.__init__()
        """
    )


def test_methods_of_dicts_that_hold_functions_and_objects() -> None:
    same(
        """
        class Loss:
            def __init__(self, weight): self.weight = weight
            def __call__(self, y): return self.weight * tf.reduce_sum(y)
        LOSSES = {"square": lambda y: tf.reduce_sum(y * y), "own": Loss(0.5), "deep": {"sum": tf.reduce_sum}}
        def f(y):
            total, seen = 0.0, {}
            for name, loss in LOSSES.items():
                if name == "deep": loss = loss["sum"]
                seen[name] = loss(y)
                total += seen[name]
            return total, seen, len(LOSSES.values()), LOSSES.get("none"), list(LOSSES)
        def main():
            for i in range(4): show(f(tf.constant([1., 2.])))
            LOSSES["own"] = Loss(2.0)
            for i in range(3): show(f(tf.constant([1., 2.])))
            LOSSES["own"].weight = 3.0
            LOSSES["deep"]["sum"] = tf.reduce_max
            for i in range(3): show(f(tf.constant([1., 2.])))
        """,
        f="graph",
    )


def test_methods_in_the_name_scope_of_their_module() -> None:
    same(
        """
        class Dense(tf.Module):
            def __init__(self, size):
                super().__init__()
                self.size, self.built, self.calls = size, False, 0
            @tf.Module.with_name_scope
            def __call__(self, x, bias=1.0):
                if not self.built:
                    self.w = tf.Variable(tf.ones([x.shape[-1], self.size]), name="w")
                    self.built = True
                self.calls += 1
                return self.squash(x @ self.w + bias * self.calls)
            @tf.Module.with_name_scope
            def squash(self, x, *, most=9.0):
                return tf.minimum(x, most) if tf.reduce_sum(x) > 0 else -x
        def step(layers, x):
            for layer in layers:
                x = layer(x)
            return layers[0].squash(x, most=4.0) + x
        def main():
            layers = [Dense(3), Dense(2)]
            for i in range(6):
                show(step(layers, tf.ones([2, 2]) * (i - 3)), [(layer.calls, layer.w.name) for layer in layers])
        """,
        step="graph",
    )


def test_a_dict_that_is_asked_for_single_items_while_it_is_changed() -> None:
    same(
        """
        class Momentum:
            def __init__(self):
                self.velocity, self.counts, self.missing = {}, {}, None
            def step(self, variables, gradients):
                for i, (v, g) in enumerate(zip(variables, gradients)):
                    old = self.velocity.get(i)
                    self.velocity[i] = g if old is None else 0.9 * old + g
                    if i not in self.counts:
                        self.counts[i] = 0
                    self.counts[i] += 1
                    if i in self.counts and self.velocity.get(i) is not None:
                        v.assign_sub(0.1 * self.velocity.get(i, 0.0) * self.counts.get(i, 5))
                    self.missing = self.velocity.get("none", self.counts.get(i))
        def step(optimizer, variables, x):
            optimizer.step(variables, [x, 2.0 * x])
            return variables[0] + variables[1]
        def main():
            optimizer, variables = Momentum(), [tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])]
            for i in range(9):
                if i == 5:
                    optimizer.velocity.pop(1)
                if i == 7:
                    optimizer.velocity["none"] = 7.0
                show(step(optimizer, variables, tf.constant([1.0, 0.5]) * i), optimizer.velocity, optimizer.counts)
                show(optimizer.missing)
        """,
        step="graph",
    )


def test_a_tf_function_gets_the_numbers_that_eager_code_gives_it() -> None:
    same(
        """
        @tf.function
        def power(x, n, negate=False):
            show(x.shape, n, negate)
            return -(x ** n) if negate else x ** n
        def f(x, k):
            return power(x, k % 3) + power(x, 2, negate=k % 2 == 0) * k
        def main():
            for k in range(7): show(f(tf.constant([2.0, 3.0]), k))
        """,
        f="graph",
    )
