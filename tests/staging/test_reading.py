"""What a trace reads from outside is read again at each call: nothing that it saw is frozen."""

from __future__ import annotations

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


def test_a_dictionary_that_changes_is_walked_over_anew() -> None:
    same(
        """
        D = {"a": tf.constant(1.), "b": 2.}
        def f(x):
            r = tf.sin(x)
            for k, v in D.items():
                r = r + v
            return r
        def main():
            for i in range(8):
                if i == 3: D["c"] = tf.constant(5.)
                if i == 5: D["b"] = 7.
                if i == 6: del D["a"]
                show(f(tf.ones(2)))
        """,
        f="graph",
    )


def test_keys_that_are_equal_but_of_other_types_find_the_same_item() -> None:
    same(
        """
        D = {1: 10., 0: 20.}
        def f(x, k):
            return tf.sin(x) * D[k]
        def main():
            for k in (True, True, True, 1, 1, 1.0, False, 0, 1):
                show(f(tf.ones(2), k))
        """,
        f="graph",
    )


def test_a_defaultdict_gains_the_items_that_eager_gives_it() -> None:
    same(
        """
        from collections import defaultdict
        d = defaultdict(float)
        def f(x, k):
            return tf.sin(x) * d[k]
        def main():
            for i in range(6):
                show(f(tf.ones(2), i % 3), dict(d)); d[i%3] += 1
        """
    )


def test_a_counter_counts_each_call() -> None:
    same(
        """
        from collections import Counter
        d = Counter()
        def f(x, k):
            d[k] += 1
            return tf.sin(x) * d[k]
        def main():
            for i in range(6):
                show(f(tf.ones(2), i % 2), dict(d))
        """
    )


def test_the_order_of_an_ordered_dictionary_is_seen() -> None:
    same(
        """
        from collections import OrderedDict
        d = OrderedDict(a=1., b=2.)
        def f(x):
            for k, v in d.items(): x = tf.sin(x) * v
            return x
        def main():
            for i in range(6):
                show(f(tf.ones(2))); d["a"] += 1; d.move_to_end("a")
        """
    )


def test_missing_runs_where_eager_runs_it() -> None:
    same(
        """
        class D(dict):
            def __missing__(self, k):
                self[k] = 5.
                return 3.
        def f(s, x): return tf.sin(x) * s["k"]
        def main():
            s = D()
            for i in range(6): show(f(s, tf.ones(2)), dict(s))
        """
    )


def test_a_list_subclass_is_read_anew() -> None:
    same(
        """
        class L(list):
            def total(self): return sum(self)
        def f(s, x): return tf.sin(x) * s[0] + len(s) + s.total()
        def main():
            s = L([1., 2.])
            for i in range(8):
                show(f(s, tf.ones(2))); s[0] = float(i)
                if i == 5: s.append(4.)
        """
    )


def test_a_list_subclass_with_access_of_its_own_is_asked_as_often_as_eager() -> None:
    same(
        """
        class L(list):
            n = 0
            def __getitem__(self, i):
                L.n += 1
                return list.__getitem__(self, i) * 2
            def __iter__(self):
                L.n += 100
                return list.__iter__(self)
            def __len__(self): return 77
        def f(s, x):
            for v in s: x = x + v
            return tf.sin(x) * s[0] + len(s)
        def main():
            s = L([1., 2.])
            for i in range(6):
                show(f(s, tf.ones(2)), L.n)
        """
    )


def test_a_sequence_of_the_persons_is_read_anew() -> None:
    same(
        """
        class S:
            def __init__(self): self.v = [1.,2.]
            def __getitem__(self, i): return self.v[i]
            def __len__(self): return len(self.v)
        def f(s, x):
            r = tf.sin(x) * s[0] + len(s)
            for w in s: r = r * w
            return r
        def main():
            s = S()
            for i in range(8):
                show(f(s, tf.ones(2))); s.v[0] = float(i)
                if i == 5: s.v.append(4.)
        """
    )


def test_an_iterable_of_the_persons_is_walked_over_once_a_call() -> None:
    same(
        """
        class S:
            def __init__(self): self.v = [1.,2.]; self.n = 0
            def __iter__(self):
                self.n += 1
                yield from self.v
        def f(s, x):
            r = tf.sin(x)
            for w in s: r = r * w
            return r
        def main():
            s = S()
            for i in range(8):
                show(f(s, tf.ones(2)), s.n); s.v[0] = float(i)
        """
    )


def test_a_deque_is_read_anew() -> None:
    same(
        """
        from collections import deque
        d = deque([1., 2.], maxlen=5)
        def f(x): return tf.sin(x) * d[0] + len(d)
        def main():
            for i in range(6):
                show(f(tf.ones(2))); d.appendleft(float(i))
        """
    )


def test_a_deque_is_appended_to_once_a_call() -> None:
    same(
        """
        from collections import deque
        d = deque(maxlen=3)
        def f(x):
            y = tf.sin(x)
            d.append(y)
            return y
        def main():
            for i in range(6): show(f(tf.ones(2)*i), list(d))
        """
    )


def test_a_chain_of_maps_is_read_anew() -> None:
    same(
        """
        from collections import ChainMap
        a = {}; b = {"k": 1.}
        d = ChainMap(a, b)
        def f(x): return tf.sin(x) * d["k"]
        def main():
            for i in range(6):
                show(f(tf.ones(2))); b["k"] += 1
                if i == 3: a["k"] = 99.
        """
    )


def test_an_array_of_the_standard_library_is_read_anew() -> None:
    same(
        """
        import array
        d = array.array("f", [1., 2.])
        def f(x): return tf.sin(x) * d[0]
        def main():
            for i in range(6):
                show(f(tf.ones(2))); d[0] = i
        """
    )


def test_a_mapping_proxy_is_read_anew() -> None:
    same(
        """
        import types
        d = {"a": 1.}
        v = types.MappingProxyType(d)
        def f(x): return tf.sin(x) * v["a"]
        def main():
            for i in range(6):
                show(f(tf.ones(2))); d["a"] = float(i)
        """
    )


def test_views_of_a_dictionary_follow_it() -> None:
    same(
        """
        d = {"a": 1.}
        v = d.values()
        def f(x):
            for w in v: x = tf.sin(x) * w
            return x
        def g(x): return tf.sin(x) * len(v)
        def h(x): return tf.sin(x) * sum(v) + max(v)
        def main():
            for i in range(6):
                show(f(tf.ones(2)), g(tf.ones(2)), h(tf.ones(2))); d[i] = float(i)
        """
    )


def test_a_simple_namespace_is_read_anew() -> None:
    same(
        """
        import types
        ns = types.SimpleNamespace(k=1.)
        def f(x): return tf.sin(x) * ns.k
        def main():
            for i in range(6): show(f(tf.ones(2))); ns.k = float(i)
        """,
        f="graph",
    )


def test_numbers_of_a_class_of_their_own_are_told_apart_by_value() -> None:
    same(
        """
        class S(str): pass
        class I(int): pass
        class Fl(float): pass
        def f(e, x): return tf.sin(x) * e, e
        def main():
            for e in (I(1), I(2), I(2), 2, Fl(3), Fl(4), I(5), I(6)): show(f(e, tf.ones(2)))
        """
    )


def test_guards_do_not_ask_an_eq_that_always_agrees() -> None:
    same(
        """
        class Q:
            def __init__(self, v): self.v = v
            def __eq__(self, o): return True
            def __hash__(self): return 1
        def f(q, x): return tf.sin(x) * q.v
        def main():
            for i in range(6): show(f(Q(float(i)), tf.ones(2)))
        """,
        f="graph",
    )


def test_frozen_dataclasses_are_told_apart_by_their_fields() -> None:
    same(
        """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class P:
            a: object
            b: float
            def __eq__(self, o): return True
            def __hash__(self): return 1
        def f(p, x): return p.a * x * p.b
        def main():
            for i in range(6): show(f(P(tf.ones(2)*i, float(i)), tf.ones(2)))
        """,
        f="graph",
    )


def test_objects_as_keys_find_what_eq_and_hash_find() -> None:
    same(
        """
        class Q:
            def __init__(self, v): self.v = v
            def __eq__(self, o): return self.v == o.v
            def __hash__(self): return hash(self.v)
        d = {Q(1): 2., Q(2): 3.}
        def f(q, x): return tf.sin(x) * d[q]
        def main():
            for i in (1, 1, 1, 2, 2, 1, 3): attempt(f, Q(i), tf.ones(2))
            d[Q(1)] = 10.
            attempt(f, Q(1), tf.ones(2))
        """
    )


def test_enum_members_are_arguments() -> None:
    same(
        """
        import enum
        class E(enum.Enum):
            A = 1.
            B = 2.
        class F(enum.IntFlag):
            A = 1
            B = 2
        def f(e, x): return tf.sin(x) * e.value, e
        def g(e, x): return tf.sin(x) * e, e | F.A
        def main():
            for e in (E.A, E.A, E.A, E.B, E.B, E.A): show(f(e, tf.ones(2)))
            for e in (F.A, F.A, F.A, F.B, F.B, F.A): show(g(e, tf.ones(2)))
        """
    )


def test_a_set_that_grows_is_asked_anew() -> None:
    same(
        """
        def f(x, s):
            if 3 in s: return x * len(s)
            return tf.sin(x)
        def main():
            s = set()
            for i in range(7): show(f(tf.ones(1), s)); s.add(i)
        """
    )


def test_what_a_tuple_holds_is_read_anew() -> None:
    same(
        """
        def f(x, t):
            return x * t[0][0] + t[1]["k"]
        def main():
            l = [1.]; d = {"k": 2.}; t = (l, d)
            for i in range(5): show(f(tf.ones(1), t)); l[0] = float(i); d["k"] = i * 2.
        """,
        f="graph",
    )


def test_tensors_replaced_in_containers_are_read_anew() -> None:
    same(
        """
        def f(x, l, d):
            return x + l[0] * d["a"]
        def main():
            l = [tf.ones(1)]; d = {"a": tf.ones(1)}
            for i in range(5): show(f(tf.ones(1), l, d)); l[0] = tf.ones(1) * i; d["a"] = d["a"] + 1
        """,
        f="graph",
    )


def test_an_iterator_argument_is_consumed_once() -> None:
    same(
        """
        def f(g, x):
            for v in g: x = x + v
            return x
        def main():
            for i in range(5):
                g = iter([1., 2., 3.])
                show(f(g, tf.ones(2)), list(g))
            def gen():
                yield 1.; yield 2.
            for i in range(5):
                g = gen(); show(f(g, tf.ones(2)), list(g))
        """
    )


def test_next_advances_once_a_call() -> None:
    same(
        """
        def f(g, x): return x + next(g)
        def main():
            g = iter(range(10))
            for i in range(5): show(f(g, tf.ones(2)))
        """
    )


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
