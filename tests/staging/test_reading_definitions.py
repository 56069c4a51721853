"""Classes, methods and functions that the program changes or passes on, and objects that others reach, too."""

from __future__ import annotations

from tests.staging.programs import same


def test_special_methods_replaced_on_a_class_are_seen() -> None:
    same(
        """
        class A:
            k = 2.
            def __add__(self, x): return x + self.k
            def __len__(self): return 2
            def __bool__(self): return True
            def __eq__(self, o): return True
            __hash__ = None
            def __contains__(self, o): return True
            def __getitem__(self, o): return 5.
            def __enter__(self): return self
            def __exit__(self, *a): return None
            def __iter__(self): return iter([1., 2.])
        def add(a, x): return a + tf.sin(x)
        def len_(a, x): return len(a) * tf.sin(x)
        def bool_(a, x): return tf.sin(x) if a else x
        def eq(a, x): return tf.sin(x) if a == 3 else x
        def contains(a, x): return tf.sin(x) if 3 in a else x
        def item(a, x): return tf.sin(x) * a[3]
        def with_(a, x):
            with a as b: return tf.sin(x) * b.k
        def iter_(a, x): return [tf.sin(x) * v for v in a]
        fs = [add, len_, bool_, eq, contains, item, with_, iter_]
        class B: k = 1.
        def main():
            a = A()
            for i in range(6):
                if i == 3:
                    A.__add__ = lambda self, x: x * 100
                    A.__len__ = lambda self: 7
                    A.__bool__ = lambda self: False
                    A.__eq__ = lambda self, o: False
                    A.__contains__ = lambda self, o: False
                    A.__getitem__ = lambda self, o: 9.
                    b = B()
                    A.__enter__ = lambda self: b
                    A.__iter__ = lambda self: iter([4., 5.])
                for f in fs: show(f.__name__, f(a, tf.ones(1)))
        """
    )


def test_a_call_method_replaced_on_a_class_is_seen() -> None:
    same(
        """
        class A:
            def __call__(self, x): return x
        def f(a, x): return a(tf.sin(x))
        def main():
            a = A()
            for i in range(6):
                if i == 3: A.__call__ = lambda self, x: x * 100
                show(f(a, tf.ones(1)))
        """
    )


def test_an_object_of_another_class_is_seen() -> None:
    same(
        """
        class A:
            def g(self, x): return x
        class B:
            def g(self, x): return x * 100
        def f(a, x): return a.g(tf.sin(x))
        def main():
            a = A()
            for i in range(6):
                if i == 3: a.__class__ = B
                show(f(a, tf.ones(1)))
        """,
        f="graph",
    )


def test_other_bases_of_a_class_are_seen() -> None:
    same(
        """
        class A:
            def g(self, x): return x
        class A2:
            def g(self, x): return x * 100
        class B(A): pass
        def f(a, x): return a.g(tf.sin(x))
        def main():
            a = B()
            for i in range(6):
                if i == 3: B.__bases__ = (A2,)
                show(f(a, tf.ones(1)))
        """,
        f="graph",
    )


def test_new_code_in_an_old_function_is_seen() -> None:
    same(
        """
        def g(x): return x
        def g2(x): return x * 100
        def f(x): return g(tf.sin(x))
        def main():
            for i in range(6):
                if i == 3: g.__code__ = g2.__code__
                show(f(tf.ones(1)))
        """
    )


def test_a_method_replaced_on_a_base_is_seen_through_super() -> None:
    same(
        """
        class A:
            k = 1.
            def g(self, x): return x * self.k
        class B(A):
            def g(self, x): return super().g(x) + 1
        def f(b, x): return b.g(tf.sin(x))
        def main():
            b = B()
            for i in range(6):
                if i == 2: A.k = 5.
                if i == 4: A.g = lambda self, x: x * 100
                show(f(b, tf.ones(1)))
        """,
        f="graph",
    )


def test_class_methods_and_static_methods_replaced_are_seen() -> None:
    same(
        """
        class A:
            k = 1.
            @classmethod
            def c(cls, x): return x * cls.k
            @staticmethod
            def s(x): return x + 1
        def f(a, x): return a.c(tf.sin(x)) + a.s(x) + A.c(x) + A.s(x)
        def main():
            a = A()
            for i in range(8):
                if i == 2: A.k = 5.
                if i == 4: A.c = classmethod(lambda cls, x: x * 100)
                if i == 6: A.s = staticmethod(lambda x: x * 1000)
                show(f(a, tf.ones(1)))
        """
    )


def test_objects_in_a_ring_are_read_anew() -> None:
    same(
        """
        class N:
            def __init__(self, v): self.v = v; self.next = None
        def f(n, x):
            m = n
            for _ in range(5):
                x = x + m.v; m = m.next
            return x
        def main():
            a, b = N(1.), N(2.); a.next = b; b.next = a
            for i in range(4): show(f(a, tf.ones(1))); a.v = float(i)
            c = N(7.); c.next = a; b.next = c
            for i in range(4): show(f(a, tf.ones(1))); c.v = float(i)
        """,
        f="graph",
    )


def test_weak_references() -> None:
    same(
        """
        import weakref
        class C: k = 1.
        def f(r, x): return tf.sin(x) * r().k
        def g(d, x): return tf.sin(x) * d["k"]
        class V: pass
        def main():
            c = C(); r = weakref.ref(c)
            d = weakref.WeakValueDictionary()
            for i in range(5): c.k = float(i); show(f(r, tf.ones(1)))
        """
    )


def test_the_type_of_an_array() -> None:
    same(
        """
        def f(x, a): return x + a, type(a) is np.ndarray, type(a).__name__
        def main():
            for i in range(5): attempt(f, tf.ones(2), np.ones(2, np.float32) * i)
        """
    )


def test_one_list_among_the_star_arguments() -> None:
    same(
        """
        def f(*ls):
            ls[0].append(tf.ones(1))
            return ls[-1][0] if len(ls[-1]) else tf.zeros(1), ls[0] is ls[-1]
        def main():
            for i in range(4):
                l = []; show(f(l, l)); show(f(l, []))
        """
    )


def test_one_dictionary_at_two_keys() -> None:
    same(
        """
        def f(d, x):
            d["p"]["v"] = x
            return d["q"]["v"] + 1
        def main():
            p = {"v": tf.zeros(1)}; q = {"v": tf.zeros(1)}
            for i in range(3): show(f({"p": p, "q": q}, tf.ones(1) * i))
            for i in range(3): show(f({"p": p, "q": p}, tf.ones(1) * i))
            for i in range(3): show(f({"p": p, "q": q}, tf.ones(1) * i))
        """
    )


def test_a_list_that_is_argument_and_global() -> None:
    same(
        """
        L = []
        def f(l, x):
            l.append(x)
            return tf.sin(x) + len(L)
        def main():
            for i in range(3): show(f([], tf.ones(1)))
            for i in range(3): show(f(L, tf.ones(1)))
        """
    )


def test_a_dictionary_that_is_cell_and_global() -> None:
    same(
        """
        G = {}
        def mk(d):
            def f(x):
                d["k"] = x
                return G.get("k", tf.zeros(1)) + 1
            return f
        def main():
            f = mk({})
            for i in range(3): show(f(tf.ones(1) * i))
            f = mk(G)
            for i in range(3): show(f(tf.ones(1) * i))
        """
    )


def test_classes_as_arguments() -> None:
    same(
        """
        class A: k = 1.
        class B(A): k = 2.
        def f(cls, x): return tf.sin(x) * cls.k, issubclass(cls, B), cls.__name__
        def main():
            for c in (A, A, A, B, B, A): show(f(c, tf.ones(1)))
            A.k = 9.
            show(f(A, tf.ones(1)))
        """
    )


def test_functions_as_arguments() -> None:
    same(
        """
        def s(x): return tf.sin(x)
        def c(x): return tf.cos(x)
        def f(fn, x): return fn(x) + 1, fn.__name__
        def main():
            for fn in (s, s, s, c, c, tf.sin, tf.tan, lambda x: x, lambda x: x * 2, s): show(f(fn, tf.ones(1)))
        """
    )


def test_enum_members_by_identity() -> None:
    same(
        """
        import enum
        class E(enum.Enum):
            A = "a"; B = "b"
            @property
            def w(self): return 2. if self is E.A else 3.
        def f(e, x):
            return tf.sin(x) * e.w if e is E.A else tf.cos(x) * e.w, e.name, {E.A: 1, E.B: 2}[e]
        def main():
            for e in (E.A, E.A, E.B, E.B, E.A): show(f(e, tf.ones(1)))
        """
    )


def test_attributes_of_functions() -> None:
    same(
        """
        def s(x): return tf.sin(x) * s.k
        s.k = 1.
        def main():
            for i in range(5): show(s(tf.ones(1))); s.k = float(i)
        """
    )


def test_functions_told_apart_by_their_cells() -> None:
    same(
        """
        def main():
            fs = [lambda x, i=i: tf.sin(x) * i for i in range(3)]
            gs = [(lambda j: lambda x: tf.sin(x) * j)(i) for i in range(3)]
            def f(fn, x): return fn(x) + 1
            for _ in range(3):
                for g in fs + gs: show(f(g, tf.ones(1)), g(tf.ones(1)))
        """
    )


def test_a_function_that_a_module_replaces() -> None:
    same(
        """
        import types
        m = types.ModuleType("mm"); exec("def g(x): return x + 1", m.__dict__)
        def f(x): return m.g(x) * 2
        def main():
            for i in range(6):
                if i == 3: exec("def g(x): return x + 100", m.__dict__)
                show(f(tf.ones(1)))
        """
    )


def test_variables_at_any_depth_are_handed_to_a_tape() -> None:
    same(
        """
        held = {"w": tf.Variable([1., 2.]), "rest": [tf.Variable(3.), ({"b": tf.Variable([0.5])},)]}
        class C:
            def __init__(self): self.held = held
            def f(self, x):
                with tf.GradientTape() as tape:
                    w, (v, (deep,)) = self.held.values()
                    loss = tf.reduce_sum(w * x) * v + tf.reduce_sum(deep["b"])
                grads = tape.gradient(loss, self.held)
                for each, grad in zip(tf.nest.flatten(self.held), tf.nest.flatten(grads)):
                    each.assign_sub(0.1 * grad)
                return loss, grads
        def main():
            c = C()
            for i in range(4): show(c.f(tf.ones([2]) * i))
            show(held)
        """,
        **{"C.f": "graph"},
    )
