"""What a program reads from outside, by every path: globals, cells, defaults, attributes of objects, classes and modules."""

from __future__ import annotations

import pytest

from tests.staging.programs import same


def test_a_global_number_is_read_at_each_call() -> None:
    same(
        """
        K = 1
        def f(x):
            return tf.reduce_sum(x) * K
        def main():
            global K
            for i in range(6):
                K = i
                show(f(tf.ones(3)))
        """,
        f="graph",
    )


def test_a_list_that_grows_between_calls_is_walked_over_anew() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            y = x
            for w in c.ws:
                y = y + w
            return y
        def main():
            c = C(); c.ws = []
            for i in range(6):
                show(f(c, tf.ones(2)))
                c.ws.append(tf.constant([1.,float(i)]))
        """,
        f="graph",
    )


def test_a_numpy_array_changed_in_place_is_read_anew() -> None:
    same(
        """
        arr = np.zeros(3, np.float32)
        def f(x):
            return x + arr
        def main():
            for i in range(5):
                arr[0] = i
                show(f(tf.ones(3)))
        """,
        f="graph",
    )


def test_a_numpy_argument_comes_back_as_itself() -> None:
    same(
        """
        def f(x, a):
            return tf.convert_to_tensor(a) + x, a
        def main():
            a = np.zeros(3, np.float32)
            for i in range(5):
                a[1] = i
                t, b = f(tf.ones(3), a)
                show(t, b is a)
        """,
        f="graph",
    )


def test_a_view_of_an_array_shows_what_the_array_holds() -> None:
    same(
        """
        a = np.zeros(4, np.float32); b = a[:2]
        def f(x): return x + b
        def main():
            for i in range(4): a[0] = i; show(f(tf.ones(2)))
        """,
        f="graph",
    )


def test_a_mutable_default_is_read_at_each_call() -> None:
    same(
        """
        def f(x, k=[1.0]):
            return x * k[0]
        def main():
            for i in range(6):
                f.__defaults__[0][0] = float(i)
                show(f(tf.ones(2)))
        """,
        f="graph",
    )


def test_replaced_defaults_of_a_callee_are_seen() -> None:
    same(
        """
        def g(x, k=2.0):
            return x * k
        def f(x):
            return g(x) + 1
        def main():
            for i in range(6):
                g.__defaults__ = (float(i),)
                show(f(tf.ones(2)))
        """
    )


def test_replaced_keyword_defaults_of_a_callee_are_seen() -> None:
    same(
        """
        def g(x, *, k=2.0):
            return tf.sin(x) * k
        def f(x):
            return g(x) + 1
        def main():
            for i in range(6):
                g.__kwdefaults__ = {"k": float(i)}
                show(f(tf.ones(2)))
        """
    )


def test_a_cell_that_another_function_changes_is_read_anew() -> None:
    same(
        """
        def mk():
            n = 0.
            def f(x):
                return tf.sin(x) + n
            def inc():
                nonlocal n
                n += 1
            return f, inc
        def main():
            f, inc = mk()
            for i in range(6):
                show(f(tf.ones(2))); inc()
        """,
        **{"mk.<locals>.f": "graph"},
    )


def test_class_attributes_and_what_shadows_them_are_read_anew() -> None:
    same(
        """
        class C:
            k = 1.
            def f(self, x):
                return tf.sin(x) * self.k
        def main():
            c = C()
            for i in range(8):
                if i == 3: C.k = 5.
                if i == 5: c.k = 7.
                if i == 6: del c.k
                if i == 7: del C.k; attempt(c.f, tf.ones(2)); return
                show(c.f(tf.ones(2)))
        """,
        **{"C.f": "graph"},
    )


def test_class_attributes_of_a_base_and_what_shadows_them_are_read_anew() -> None:
    same(
        """
        class A: k = 1.
        class B(A):
            def f(self, x):
                return tf.sin(x) * self.k
        def main():
            b = B()
            for i in range(8):
                if i == 3: A.k = 5.
                if i == 5: B.k = 7.
                if i == 6: del B.k
                show(b.f(tf.ones(2)))
        """,
        **{"B.f": "graph"},
    )


def test_a_property_that_counts_its_reads_counts_each_once() -> None:
    same(
        """
        class A:
            def __init__(self): self.n = 0
            @property
            def k(self):
                self.n += 1
                return float(self.n)
            def f(self, x): return tf.sin(x) * self.k
        def main():
            b = A()
            for i in range(6): show(b.f(tf.ones(2)), b.n)
        """,
        **{"A.f": "graph"},
    )


def test_a_property_replaced_on_its_class_is_seen() -> None:
    same(
        """
        class A:
            @property
            def k(self): return 1.
            def f(self, x): return tf.sin(x) * self.k
        def main():
            b = A()
            for i in range(6):
                if i == 3: A.k = property(lambda self: 9.)
                if i == 5: A.k = 3.
                show(b.f(tf.ones(2)))
        """
    )


def test_a_method_replaced_on_class_or_instance_is_seen() -> None:
    same(
        """
        class A:
            def g(self, x): return x + 1
            def f(self, x): return self.g(tf.sin(x))
        def main():
            b = A()
            for i in range(8):
                if i == 3: A.g = lambda self, x: x + 100
                if i == 5: b.g = lambda x: x + 1000
                show(b.f(tf.ones(2)))
        """
    )


def test_an_attribute_that_getattr_computes_is_read_anew() -> None:
    same(
        """
        class A:
            def __init__(self): self.d = {"k": 1.}
            def __getattr__(self, n):
                if n == "k": return self.__dict__["d"]["k"]
                raise AttributeError(n)
            def f(self, x): return tf.sin(x) * self.k
        def main():
            b = A()
            for i in range(8):
                b.d["k"] = float(i)
                show(b.f(tf.ones(2)))
        """
    )


def test_getattribute_runs_once_a_read() -> None:
    same(
        """
        class A:
            n = 0
            def __getattribute__(self, n):
                if n == "k":
                    A.n += 1
                    return float(A.n)
                return object.__getattribute__(self, n)
            def f(self, x): return tf.sin(x) * self.k
        def main():
            b = A()
            for i in range(8): show(b.f(tf.ones(2)), A.n)
        """
    )


LOOKS = {
    "__getattribute__": """
    def __getattribute__(self, name):
        looks.append(name)
        return object.__getattribute__(self, name)""",
    "__class__": """
    @property
    def __class__(self):
        looks.append("class")
        return dict""",
}


@pytest.mark.parametrize("looked_at", LOOKS.values(), ids=LOOKS)
def test_nobody_looks_at_an_object_whose_code_would_see_it(looked_at: str, capsys: pytest.CaptureFixture[str]) -> None:
    same(
        f"""
looks = []
class Seen:
    def __init__(self, v): self.v = v{looked_at}
    def method(self, x): return x * self.v
one = Seen(tf.constant(2.0))
def given(x, one): return x * 2, one
def in_a_list(x, items): return x * 3 + items[0].v
def of_the_module(x): return x * one.v
def made(x): return x * Seen(x).v
def main():
    for i in range(4):
        x = tf.constant(1.0 * i)
        given(x, one), in_a_list(x, [one]), of_the_module(x), made(x)
        show(one.method(x), list(looks))
""",
        given="eager",
        made="eager",
    )
    assert not capsys.readouterr().err


def test_slots_are_read_and_stored() -> None:
    same(
        """
        class A:
            __slots__ = ("k", "t")
            def f(self, x):
                self.t = x
                return tf.sin(x) * self.k
        def main():
            b = A()
            for i in range(8):
                b.k = float(i // 2)
                show(b.f(tf.ones(2) * i), b.t)
        """,
        **{"A.f": "graph"},
    )


def test_a_descriptor_that_counts_its_reads_counts_each_once() -> None:
    same(
        """
        class D:
            def __init__(self): self.n = 0
            def __get__(self, o, c):
                if o is None: return self
                self.n += 1
                return float(self.n)
        class A:
            k = D()
            def f(self, x): return tf.sin(x) * self.k
        def main():
            b = A()
            for i in range(6): show(b.f(tf.ones(2)), A.k.n)
        """
    )


def test_a_cached_property_is_computed_once_an_object() -> None:
    same(
        """
        import functools
        class C:
            n = 0
            @functools.cached_property
            def k(self):
                C.n += 1
                return tf.ones(1) * C.n
            def f(self, x): return x * self.k
        def main():
            for i in range(6):
                c = C() if i % 2 == 0 else c
                show(c.f(tf.ones(1)), C.n, "k" in vars(c))
        """
    )


def test_an_attribute_that_appears_and_goes_is_seen() -> None:
    same(
        """
        class C: pass
        def f(c, x):
            if hasattr(c, "k"): return tf.sin(x) * c.k
            return x + getattr(c, "j", 5.)
        def main():
            c = C()
            for i in range(9):
                if i == 3: c.j = 1.
                if i == 5: c.k = 2.
                if i == 7: del c.k
                show(f(c, tf.ones(1)))
        """
    )


def test_a_module_attribute_is_read_anew() -> None:
    same(
        """
        import math, types, sys
        m = types.ModuleType("mymod"); m.k = 1.
        def f(x): return tf.sin(x) * m.k
        def main():
            for i in range(5): show(f(tf.ones(1))); m.k = float(i)
        """,
        f="graph",
    )


def test_getattr_of_a_module_runs_once_a_read() -> None:
    same(
        """
        import types
        m = types.ModuleType("mymod"); n = [0]
        def ga(name):
            n[0] += 1
            return float(n[0])
        m.__getattr__ = ga
        def f(x): return tf.sin(x) * m.k
        def main():
            for i in range(5): show(f(tf.ones(1)), n)
        """
    )


def test_a_global_that_hides_a_builtin_is_seen() -> None:
    same(
        """
        def f(x): return tf.sin(x) * max(1, 2)
        def main():
            for i in range(6):
                if i == 3: globals()["max"] = min
                show(f(tf.ones(1)))
            del globals()["max"]
        """
    )


def test_a_metaclass_is_obeyed() -> None:
    same(
        """
        class Meta(type):
            @property
            def k(cls): return 3.
            def __call__(cls, *a):
                o = super().__call__(*a); o.extra = 1; return o
        class C(metaclass=Meta):
            def __init__(self, v): self.v = v
        def f(x): return x * C.k, C(x).extra
        def main():
            for i in range(4): show(f(tf.ones(1)))
        """
    )


def test_members_of_an_enum_of_numbers_or_strings_have_an_identity() -> None:
    same(
        """
        import enum
        class Mode(enum.IntEnum):
            A = 1
            B = 2
        class Kind(str, enum.Enum):
            X = "x"
            Y = "y"
        def f(x, mode, kind):
            if mode is Mode.A: x = x * 2.0 + mode
            elif mode == 2: x = x + mode.value
            if kind is Kind.X: x = -x
            return x * 3.0 if kind == "y" else x
        def main():
            for k in range(6): show(f(tf.constant(2.0), [Mode.A, Mode.B][k % 2], [Kind.X, Kind.Y, "x"][k % 3]))
        """,
        f="graph",
    )
