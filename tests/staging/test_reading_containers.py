"""Containers made outside, Python's and the person's, are read anew at each call."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same


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
            for i in range(5):
                show(f(tf.ones(1), l, d))
                l[0] = tf.ones(1) * i
                d["a"] = d["a"] + 1
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


CONDITIONS = [
    "if {c}: return x + 1.0",
    "if x > 0:\n    if {c}: x = x * 2.0\n    else: x = x - 1.0",
    "x = x * 2.0 if {c} else x",
    "while {c}: return x * 3.0",
    "for _ in tf.range(3):\n    x = x + (1.0 if {c} else 0.5)",
    "x = x + len([v for v in (1, 2) if {c}])",
    "match x.dtype:\n    case _ if {c}: return x * 3.0",
    "assert {c} or True\nx = x + 1.0",
]


@pytest.mark.parametrize("container", ["items", "table", "seen", "kept.items", "kept"])
def test_whether_a_container_is_empty_is_asked_at_each_call(container: str) -> None:
    functions = [
        f"def f{number}(x):\n{textwrap.indent(line.format(c=container), '    ')}\n    return x\n"
        for number, line in enumerate(CONDITIONS)
    ]
    head = """
items, table, seen = [], {}, set()
class Kept:
    def __init__(self): self.items = []
    def __len__(self): return len(self.items)
kept = Kept()
"""
    main = f"""
def main():
    for k in range(6):
        for f in ({", ".join(f"f{number}" for number in range(len(functions)))}):
            show(f(tf.constant(1.0 + k)))
        if k == 3:
            items.append(1), table.update(a=1), seen.add(1), kept.items.append(1)
        if k == 4:
            items.clear(), table.clear(), seen.clear(), kept.items.clear()
"""
    same("".join([head, *functions, main]), **{f"f{number}": "graph" for number in range(len(functions))})
