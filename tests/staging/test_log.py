"""What a staged call changes outside is changed at every call, in order, with concrete values."""

from __future__ import annotations

import pytest

from tests.staging.programs import same


def test_counters_histories_and_last_values() -> None:
    same(
        """
        class C:
            def __init__(self): self.n = 0; self.s = 0.0; self.h = []; self.last = None; self.flag = False
            def f(self, x):
                self.n += 1
                self.s += 0.1
                self.h.append(self.n)
                self.last = x
                self.flag = not self.flag
                if self.n % 3 == 0: self.h.append("three")
                return x * self.n
        def main():
            c = C()
            for i in range(9): show(c.f(tf.ones(1) * i), vars(c))
        """,
        **{"C.f": "graph"},
    )


def test_numbers_taken_out_of_tensors_are_stored() -> None:
    same(
        """
        class C:
            def __init__(self): self.t = 0.; self.h = []
            def f(self, x):
                l = float(tf.reduce_sum(x))
                self.t += l
                self.h.append(int(l))
                self.h.append(x.numpy().sum() if False else l * 2)
                return l, self.t
        def main():
            c = C()
            for i in range(6): show(c.f(tf.ones(3) * i / 3), c.t, c.h)
        """,
        **{"C.f": "graph"},
    )


def test_a_stored_integer_has_no_bounds() -> None:
    same(
        """
        class C:
            n = 2 ** 62
            def f(self, x):
                self.n *= 2
                return x + 1, self.n
        def main():
            c = C()
            for i in range(5): show(c.f(tf.ones(1)), c.n)
        """,
        **{"C.f": "graph"},
    )


def test_of_two_stores_to_one_place_the_later_stays() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            c.a = x; c.b = x + 1; c.a = x + 2
            del_ = c.a + c.b
            return del_
        def main():
            c = C()
            for i in range(5): show(f(c, tf.ones(2) * i), vars(c), list(vars(c)))
        """,
        f="graph",
    )


def test_new_attributes_keep_their_order() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            c.b = x; c.a = x + 1; c.b = x * 3
            return x
        def main():
            for i in range(4):
                c = C(); show(f(c, tf.ones(2))); show(list(vars(c)))
        """,
        f="graph",
    )


def test_new_items_keep_their_order() -> None:
    same(
        """
        def f(d, x):
            d["b"] = x; d["a"] = x + 1; d["b"] = x * 2
            return x * 5
        def main():
            for i in range(5):
                d = {}; f(d, tf.ones(2)); show(d)
                d = {"a": 1}; f(d, tf.ones(2)); show(d)
        """,
        f="graph",
    )


def test_what_was_appended_is_read_back() -> None:
    same(
        """
        def f(l, x):
            l.append(x); l.append(x + 1)
            return l[-1] * l[-2] + len(l)
        def g(l, x):
            l.append(tf.sin(x))
            return tf.add_n(l)
        def h(l, x):
            l.append(tf.sin(x))
            return l[0] + l[len(l) - 1]
        def main():
            l, m, n = [], [], []
            for i in range(5):
                show(f(l, tf.ones(2) * i)); show(l); show(g(m, tf.ones(2) * i), h(n, tf.ones(2) * i), len(m), n)
        """
    )


def test_appends_to_one_list_by_two_names() -> None:
    same(
        """
        def f(a, b, x):
            a.append(x); b.append(x + 1)
            return x * 3
        def main():
            for i in range(5):
                l = []; m = []
                f(l, m, tf.ones(1)); show(l, m)
                f(l, l, tf.ones(1)); show(l, m)
        """,
        f="graph",
    )


def test_stored_containers_are_the_same_objects() -> None:
    same(
        """
        class C: pass
        def f(c, d, x):
            c.l.append(x)
            c.d["k"] = x * 2
            d["z"] = c.l
            c.me = c
            return d["z"] is c.l, c.me is c, x
        def main():
            c = C(); c.l = []; c.d = {}; d = {}
            for i in range(5): show(f(c, d, tf.ones(1) * i), c.l, c.d, d["z"] is c.l, c.me is c)
        """,
        f="graph",
    )


def test_variables_of_an_enclosing_function() -> None:
    same(
        """
        def mk():
            n = 0; h = []
            def f(x):
                nonlocal n
                n += 1; h.append(n)
                return tf.sin(x) * n
            return f, lambda: (n, h)
        def main():
            f, g = mk()
            for i in range(6): show(f(tf.ones(1)), g())
            f2, g2 = mk()
            for i in range(6): show(f2(tf.ones(1)), g2(), g())
        """,
        **{"mk.<locals>.f": "graph"},
    )


def test_globals_and_a_global_dictionary() -> None:
    same(
        """
        N = 0
        H = {}
        def f(x):
            global N
            N += 1
            H[N] = x
            return tf.sin(x) * N
        def main():
            global N
            for i in range(6): show(f(tf.ones(1)), N, H)
            N = "a"
            attempt(f, tf.ones(1))
        """
    )


def test_a_global_that_is_deleted_between_calls() -> None:
    same(
        """
        def f(x):
            global NEW
            NEW = x * 2
            return x
        def main():
            for i in range(4): show(f(tf.ones(1) * i), globals()["NEW"])
            for i in range(4):
                del globals()["NEW"]
                show(f(tf.ones(1) * i), globals()["NEW"])
        """,
        f="graph",
    )


def test_a_mutable_default_is_appended_to() -> None:
    same(
        """
        def f(x, h=[]):
            h.append(x)
            return x * 2
        def main():
            for i in range(5): show(f(tf.ones(1) * i), f.__defaults__)
        """,
        f="graph",
    )


def test_setattr_of_its_own_runs_once_a_store() -> None:
    same(
        """
        class C:
            def __init__(self): object.__setattr__(self, "log", [])
            def __setattr__(self, n, v):
                self.log.append(n); object.__setattr__(self, n, v)
            def f(self, x):
                self.last = x
                self.n = 3
                return x * self.n
        def main():
            c = C()
            for i in range(5): show(c.f(tf.ones(1) * i), c.log, c.last)
        """
    )


def test_a_property_setter() -> None:
    same(
        """
        class C:
            def __init__(self): self._v = 0.
            @property
            def v(self): return self._v
            @v.setter
            def v(self, x): self._v = x * 2
            def f(self, x):
                self.v = tf.reduce_sum(x)
                return self.v + x
        def main():
            c = C()
            for i in range(5): show(c.f(tf.ones(2) * i), c._v)
        """,
        **{"C.f": "graph"},
    )


def test_an_exception_in_the_middle_leaves_what_was_done_before() -> None:
    same(
        """
        class C:
            def __init__(self): self.n = 0; self.h = []
            def f(self, x, k):
                self.n += 1
                self.h.append(k)
                y = x + 1
                if k == 3: raise ValueError(f"bad {k}")
                z = tf.reshape(y, [k, 2])
                self.h.append("end")
                return z
        def main():
            c = C()
            for k in (1, 1, 1, 3, 2, 1, 5, 1): attempt(c.f, tf.ones(2), k); show(c.n, c.h)
        """
    )


def test_an_exception_of_a_kernel_leaves_what_was_done_before() -> None:
    same(
        """
        class C:
            def __init__(self): self.n = 0; self.h = []
            def f(self, x, i):
                self.n += 1
                y = tf.gather(x, i)
                self.h.append(1)
                return y * 2
        def main():
            c = C()
            for k in (0, 1, 1, 1, 7, 1, -1, 0): attempt(c.f, tf.ones(2), tf.constant(k)); show(c.n, c.h)
        """,
        **{"C.f": "graph"},
    )


def test_an_assertion_fails_where_eager_fails() -> None:
    same(
        """
        def f(x):
            assert tf.reduce_sum(x) > 0, f"sum is bad"
            return x * 2
        def main():
            for m in (1., 1., 1., -1., 0., 1.): attempt(f, tf.ones(2) * m)
        """
    )


def test_prints() -> None:
    same(
        """
        def f(x, k):
            print("k", k)
            y = tf.sin(x)
            print("y", y, y.numpy(), float(y[0]))
            print(f"{k:03d} {float(y[0]):.4f}", end="!\\n", sep="-")
            return y
        def main():
            for k in range(6): show(f(tf.ones(2) * k, k))
        """
    )


def test_logging_with_line_numbers() -> None:
    same(
        """
        import logging, io
        def f(x, k):
            logging.getLogger("zz").warning("k %d %s", k, x.shape)
            return tf.sin(x)
        def main():
            import sys
            h = logging.StreamHandler(sys.stdout); h.setFormatter(logging.Formatter("%(lineno)d %(funcName)s %(message)s"))
            lg = logging.getLogger("zz"); lg.addHandler(h); lg.propagate = False
            for k in range(5): f(tf.ones(2), k)
            lg.removeHandler(h)
        """
    )


def test_warnings_with_line_numbers() -> None:
    same(
        """
        import warnings
        def f(x, k):
            warnings.warn(f"w{k}")
            return tf.sin(x)
        def main():
            with warnings.catch_warnings(record=True) as w:
                warnings.simplefilter("always")
                for k in range(5): f(tf.ones(2), k)
            show([(str(i.message), i.lineno) for i in w])
        """
    )


def test_finalizers_of_objects_made_in_the_call() -> None:
    same(
        """
        class R:
            def __init__(self, n): self.n = n
            def __del__(self): print("del", self.n)
        def f(x, n):
            r = R(n)
            y = tf.sin(x) * 2
            return y
        def main():
            for i in range(5): show(f(tf.ones(2), i))
        """
    )


def test_arguments_are_freed_when_eager_frees_them() -> None:
    same(
        """
        import weakref, gc
        log = []
        class T: pass
        def f(o, x):
            return tf.sin(x) * o.k
        def main():
            for i in range(6):
                o = T(); o.k = 2.; w = weakref.ref(o)
                show(f(o, tf.ones(2))); del o
                show(w() is None)
        """,
        f="graph",
    )


def test_stored_tensors_are_freed_when_eager_frees_them() -> None:
    same(
        """
        import weakref
        class T:
            def __init__(self): self.h = None
            def f(self, x):
                self.h = tf.sin(x)
                return self.h + 1
        def main():
            t = T()
            for i in range(5):
                x = tf.ones(3); w = weakref.ref(x)
                y = t.f(x); wy = weakref.ref(y); wh = weakref.ref(t.h)
                del x, y; show(w() is None, wy() is None, wh() is None)
                t.h = None; show(wh() is None)
        """,
        **{"T.f": "graph"},
    )


def test_functions_and_their_cells_are_freed_when_eager_frees_them() -> None:
    same(
        """
        import weakref
        def mk(o):
            def f(x): return tf.sin(x) * o.k
            return f
        class T: k = 1.
        def main():
            for i in range(5):
                o = T(); w = weakref.ref(o); f = mk(o); wf = weakref.ref(f)
                for j in range(3): f(tf.ones(2))
                del f, o; show(w() is None, wf() is None)
        """
    )


def test_variables_are_freed_when_eager_frees_them() -> None:
    same(
        """
        import weakref, gc
        def f(v, x): return v * tf.sin(x)
        def main():
            for i in range(5):
                v = tf.Variable([1., 2.]); w = weakref.ref(v)
                for j in range(3): f(v, tf.ones(2))
                del v; show(w() is None)
        """
    )


def test_models_are_freed_when_eager_frees_them() -> None:
    same(
        """
        import keras, weakref, gc
        def f(m, x): return m(x)
        def main():
            for i in range(5):
                m = keras.layers.Dense(2); w = weakref.ref(m)
                for j in range(3): f(m, tf.ones((1, 2)))
                del m; gc.collect(); show(w() is None)
        """
    )


def test_deletions_and_other_changes_of_containers() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            c.t = tf.sin(x); y = c.t * 2
            del c.t
            return y
        def g(d, x):
            d["a"] = x; y = d.pop("a")
            return tf.sin(y)
        def h(l, x):
            l.append(x); l.pop(0); l[0] = x; l.extend([x]); l.insert(0, x)
            return tf.sin(x)
        def main():
            c = C(); d = {}; l = [1, 2]
            for i in range(5): show(f(c, tf.ones(1)), vars(c), g(d, tf.ones(1)), d, h(l, tf.ones(1)), l)
        """
    )


def test_two_objects_that_change_places() -> None:
    same(
        """
        class P:
            __slots__ = ("a", "b", "__weakref__")
            def __init__(self, a, b): self.a = a; self.b = b
            def __repr__(self): return "P"
        def f(p, q, x):
            p.a, q.a = q.a, p.a
            return x * p.b + q.b
        def main():
            p, q = P(tf.ones(1), 1.), P(tf.zeros(1), 2.)
            for i in range(4): show(f(p, q, tf.ones(1)), p.a, q.a)
            for i in range(3): show(f(p, p, tf.ones(1)), p.a)
            for i in range(3): show(f(p, q, tf.ones(1)), p.a, q.a)
        """,
        f="graph",
    )


def test_two_attributes_that_change_places() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            c.a, c.b = c.b, c.a
            return c.a - c.b + x
        def main():
            c = C(); c.a = tf.ones(1); c.b = tf.zeros(1)
            for i in range(6): show(f(c, tf.ones(1)), c.a, c.b)
        """,
        f="graph",
    )


def test_one_list_at_two_keys() -> None:
    same(
        """
        def f(d, x):
            d["a"].append(x)
            return len(d["b"]) + x
        def main():
            l = []; d = {"a": l, "b": []}
            for i in range(4): show(f(d, tf.ones(1)), len(l))
            d["b"] = l
            for i in range(4): show(f(d, tf.ones(1)), len(l))
        """
    )


def test_arguments_are_stored_as_themselves() -> None:
    same(
        """
        class C: pass
        def f(c, x, d):
            c.d = d; c.x = x
            c.d["k"] = x + 1
            return c.d is d, c.x
        def main():
            c = C()
            for i in range(5):
                d = {}; x = tf.ones(1) * i
                r, y = f(c, x, d); show(r, y is x, c.x is x, c.d is d, d)
        """,
        f="graph",
    )


def test_a_list_of_a_class() -> None:
    same(
        """
        class C:
            shared = []
            def f(self, x):
                self.shared.append(x)
                return x * len(self.shared) if False else x
        def main():
            a, b = C(), C()
            for i in range(4): show(a.f(tf.ones(1)), b.f(tf.ones(1)), C.shared)
            b.shared = []
            for i in range(3): show(a.f(tf.ones(1)), b.f(tf.ones(1)), len(C.shared), len(b.shared))
        """,
        **{"C.f": "graph"},
    )


def test_augmented_attributes() -> None:
    same(
        """
        class C:
            k = 10
            def f(self, x):
                self.k += 1
                self.l += [x]
                self.t += (1,)
                self.w += x
                return self.k * x
        def main():
            c = C(); c.l = []; c.t = (); c.w = tf.zeros(1); l = c.l
            for i in range(5): show(c.f(tf.ones(1)), vars(c), C.k, l is c.l)
        """
    )


def test_items_of_lists_are_replaced() -> None:
    same(
        """
        def f(l, x, i):
            l[i] = x * 2
            return l[0] + x
        def main():
            l = [tf.zeros(1), tf.zeros(1)]
            for i in range(6): show(f(l, tf.ones(1) * i, i % 2), l)
        """
    )


def test_changes_under_a_condition_on_a_tensor() -> None:
    same(
        """
        class C:
            def __init__(self): self.n = 0; self.best = None; self.h = []
            def f(self, x):
                if tf.reduce_sum(x) > 3:
                    self.n += 1; self.best = x; self.h.append(float(tf.reduce_sum(x)))
                else:
                    self.h.append("small")
                return self.n
        def main():
            c = C()
            for i in (1, 5, 2, 7, 8, 1, 0): show(c.f(tf.ones(1) * i), vars(c))
        """
    )


def test_a_branch_reads_what_was_stored_before_the_condition() -> None:
    same(
        """
        class Kept: pass
        kept, table, last = Kept(), {}, None
        def make():
            count = 0
            def step(x):
                global last
                nonlocal count
                kept.n = table["n"] = last = count = x * 2.0
                if x > 1.0:
                    kept.n = table["n"] = last = count = x
                elif x > 0.0:
                    kept.m, table["m"], last, count = kept.n + 1.0, table["n"] + 2.0, last + 3.0, count + 4.0
                else:
                    kept.n, table["n"], last, count = kept.n, table["n"], last, count
                return kept.n, table["n"], last, count
            return step
        step = make()
        def main():
            for v in (0.5, 0.5, 2.0, -1.0, 3.0, 0.25):
                kept.n = table["n"] = tf.constant(100.0)
                kept.m = table["m"] = tf.constant(50.0)
                show(step(tf.constant(v)), vars(kept), table, last)
        """,
        **{"make.<locals>.step": "graph"},
    )


def test_changes_in_a_loop_over_tensors() -> None:
    same(
        """
        class C:
            def __init__(self): self.n = 0; self.h = []
            def f(self, x):
                i = tf.constant(0)
                while tf.reduce_sum(x) < 20:
                    x = x * 2; i += 1; self.n += 1
                    self.h.append(i)
                return x, i
        def main():
            c = C()
            for i in (1, 5, 2, 7, 8, 1): show(c.f(tf.ones(1) * i), vars(c))
        """
    )


def test_prints_in_a_loop_over_a_tensor() -> None:
    same(
        """
        def f(x):
            for i in tf.range(3):
                print("i", i.numpy() if hasattr(i, "numpy") else i)
                x = x + 1.
            tf.print("done", x)
            return x
        def main():
            for i in range(4): show(f(tf.ones(1) * i))
        """
    )


def test_a_store_to_a_class_is_made_after_the_launch() -> None:
    same(
        """
        class Scope:
            depth = 0
            def __enter__(self): Scope.depth += 1
            def __exit__(self, *_): Scope.depth -= 1
        class Counter:
            n, last = 0, None
            @classmethod
            def add(cls, by): cls.n += by; return cls.n
        class Sub(Counter): pass
        class Layer:
            made = 0
            def __init__(self, k): type(self).made += 1; self.k, self.id = k, Layer.made
        def forward(x):
            with Scope(), Scope():
                y = x * float(Scope.depth)
            return y if Scope.depth else -y
        def count(x):
            Counter.last = tf.reduce_sum(x)
            if Counter.last > 3.0: Counter.n += 10
            return x * Counter.n
        def tick(x, cls): return x + cls.add(2)
        def build(x, k):
            layer = Layer(k)
            return x * layer.k + layer.id
        class Shown:
            n = 0
            def f(self, x): Shown.n += 1; return x * self.n
        def main():
            shown = Shown()
            for k in range(7):
                x = tf.constant([1.0, float(k)])
                show(forward(x), count(x), tick(x, Counter), tick(x, Sub), build(x, float(k)), shown.f(x))
                show(Scope.depth, Counter.n, Counter.last, Sub.n, "n" in vars(Sub), Layer.made, Shown.n)
                if k == 4: Counter.n = 100; shown.n = -1
        """,
        forward="graph",
        count="graph",
        tick="graph",
        build="graph",
        **{"Shown.f": "eager"},
    )


def test_a_descriptor_that_checks_what_is_stored_is_part_of_the_graph() -> None:
    same(
        """
        class Positive:
            def __set_name__(self, owner, name): self.place = "_" + name
            def __get__(self, obj, cls=None): return self if obj is None else getattr(obj, self.place)
            def __set__(self, obj, value):
                if value <= self.least: raise ValueError(f"{self.place}: {value}")
                setattr(obj, self.place, value)
            least = 0
        class C:
            rate = Positive()
            def __init__(self, rate): self.rate = rate
            def f(self, x):
                y = x * self.rate
                self.rate = self.rate / 2
                return y
        def main():
            c = C(4.0)
            for k in range(7):
                attempt(c.f, tf.constant([1.0]))
                show(vars(c))
                if k == 4: Positive.least = 0.07
        """,
        **{"C.f": "graph"},
    )


@pytest.mark.parametrize(
    "grow",
    [
        "if x[0] > 0: items.append(x)",
        "for i in tf.range(n): items.append(x * 2)",
        "while n > 0: items.append(x); n -= 1",
    ],
)
def test_the_last_item_of_a_list_that_may_have_grown(grow: str) -> None:
    same(
        f"""
items = [tf.ones(2)]
def f(x, n):
    {grow}
    return items[-1], items[-1] + 1.
def main():
    for k in range(8): show(*f(tf.constant([(-1.) ** k, k]), tf.constant(k % 3)), len(items))
""",
        f="eager",
    )
