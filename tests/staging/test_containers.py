"""Containers within containers: what a library or Python looks at is guarded, what is handed out is the program's own."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

# Each is called with a tensor and a list of lists that changes at the bottom between calls.
_LOOKS = """
    sum(c, [[0]])
    sum((row for row in c[0]), [])
    c < [[[2, 0]]]
    [[1, 2]] <= c[0] < [[3]]
    max(c) is c[1]
    min(c[0], c[1]) is c[0]
    max(c, key=lambda row: row[0]) is c[1]
    [row is c[0] for row in sorted(c)]
    [row is c[0] for row in sorted(c, key=lambda row: (row, 1))]
    c.index(c[1])
    [c[0], c[1]].count(c[0])
    [c[0], 2].index(c[1]) if c[1] in [c[0], 2] else -1
    {"a": c[0]} == {"a": c[1]}
    Named(c[0]) < Named(c[1])
    Named(c[0]) == Named(c[1])
    Ordered(c[0]) < Ordered(c[1])
    without([c[0], [[3, 4]]], c[1])
    tf.nest.flatten(c)
    tf.reduce_sum(tf.stack(c))
    tf.reduce_sum(tf.stack([c[0], c[0]]))
    tf.reduce_sum(tf.constant([c[1], c[0]]))
    tf.ragged.constant(c).flat_values * 2
    tf.pad(x, [c[0][0], [0, 1]])
    tf.reduce_sum(tf.convert_to_tensor(value=c))
"""


def test_what_looks_into_a_container_reads_it_as_far_down_as_it_goes() -> None:
    looks = [line.strip() for line in _LOOKS.strip().splitlines()]
    functions = "\n".join(f"        def f{i}(x, c): return x * 2.0 + 1.0 - x, {look}" for i, look in enumerate(looks))
    ran = same(
        f"""
        import dataclasses
        from typing import NamedTuple
        class Named(NamedTuple):
            rows: list
        @dataclasses.dataclass(order=True)
        class Ordered:
            rows: list
        def without(rows, row):
            if row in rows:
                rows.remove(row)
            return len(rows), rows[0] is row
{functions}
        def main():
            for f in [{", ".join(f"f{i}" for i in range(len(looks)))}]:
                c = [[[1, 2]], [[3, 4]]]
                for change in range(5):
                    attempt(f, tf.constant([1.0, 2.0]), c)
                    if change == 0: c[0][0][0] = 3
                    if change == 1: c[0][0][1] = 4
                    if change == 2: c[1][0].reverse()
                    if change == 3: c[0], c[1] = c[1], c[0]
        """
    )
    graphs = [site for site in ran.sites.values() if site.state == "graph"]
    assert len(graphs) >= len(looks) - 3, "order of a dataclass is not converted, paddings may not fit"


# What is found in the dict `d` by other means than `d[key]`.
_FINDS = """
    d.get("log")
    [v for v in d.values() if isinstance(v, list)][0]
    max(d.values(), key=lambda v: isinstance(v, list))
    sorted(d.items())[1][1]
    next(iter(d.values()))
    dict(d)["log"]
    d.copy()["log"]
    {"a": d["log"]}.get("a")
    list(map(lambda v: v, d.values()))[0]
    d.setdefault("log", [])
"""


def test_what_a_container_hands_out_is_the_programs_own() -> None:
    finds = [line.strip() for line in _FINDS.strip().splitlines()]
    functions = "\n".join(
        f"""
        def f{i}(x, d):
            log = {find}
            log.append(tf.reduce_sum(x * 2.0) + 1.0)
            return log is d["log"]"""
        for i, find in enumerate(finds)
    )
    ran = same(
        f"""
{functions}
        def main():
            for f in [{", ".join(f"f{i}" for i in range(len(finds)))}]:
                d = {{"log": [], "cfg": {{"n": 0}}}}
                for k in range(4):
                    show(f(tf.constant([1.0, 2.0]) * k, d), d)
        """
    )
    graphs = [site for site in ran.sites.values() if site.state == "graph"]
    assert len(graphs) >= len(finds) - 1, "the first may wait for main to be one"


def test_the_length_of_a_list_that_grows_is_no_new_graph() -> None:
    ran = same(
        """
        history = []
        class C:
            def __init__(self): self.losses = []
            def gate(self, x):
                self.losses.append(tf.reduce_sum(x))
                return x * 2.0 if len(self.losses) > 3 else x * len(self.losses)
        def step(x):
            n = len(history)
            history.append(n)
            return tf.reduce_sum(x) * n + len(history)
        def main():
            c = C()
            for k in range(9): show(step(tf.ones([2])), c.gate(tf.ones([2]) * k), history, c.losses)
        """,
        step="graph",
        **{"C.gate": "graph"},
    )
    assert ran.sites["step"].traces <= 3


def test_a_key_is_asked_for_behind_the_changes_of_the_same_call() -> None:
    same(
        """
        table, counts, shadow = {}, {}, {}
        def cached(x, key):
            if key not in table:
                table[key] = tf.reduce_sum(x) * len(key)
            return table[key] + x
        def count(x, key):
            counts[key] = counts.get(key, 0) + 1
            return tf.reduce_sum(x) * counts[key] + counts.get("other", 0.5)
        def average(values):
            for i, v in enumerate(values):
                shadow[i] = 0.5 * shadow[i] + 0.5 * v if i in shadow else v + 0.0
            return shadow
        def main():
            for k in range(8):
                x, key = tf.constant([1.0, 2.0]) * k, "ab"[: k % 2 + 1]
                show(cached(x, key), count(x, key), average([x[0], x[1]]), counts, table)
                if k == 5: counts["other"] = 9; table.clear()
        """,
        cached="graph",
        count="graph",
        average="graph",
    )


def test_whether_a_container_is_empty_is_all_that_its_truth_tells() -> None:
    same(
        """
        class Node:
            def __init__(self, value, *children): self.value, self.children, self.names = tf.constant(value), children, []
        def f(node):
            if not node.children: return node.value * 2.0 + 1.0
            if node.names and len(node.children) > 1: return node.value * 3.0 + node.children[0].value
            return node.value + node.children[-1].value
        def main():
            for node in (Node(1.0), Node(2.0, Node(3.0)), Node(1.0, Node(2.0), Node(4.0)), Node(5.0)):
                for _ in range(3):
                    show(f(node))
                    node.names.append(_)
        """,
        f="graph",
    )


# Each is called with a vector, and known by another name, or as an item, when it is changed.
_CHANGED = {
    "a second name": ("items = [x]; other = items", "items += [x * 2]"),
    "an item of a dict": ("items = [x]; other = {'a': items}", "items += [x * 2]"),
    "an item of a tuple": ("items = [x]; other = (items, 1)", "items.extend([x * 2])"),
    "a dict": ("items = {'a': x}; other = [items]", "items |= {'a': items['a'] * 2}"),
    "a dict and its key": (
        "items = {'a': x}; other = [items]",
        "items |= {'b': x}; items['a'] = items['a'] + items['b']",
    ),
    "in a branch": ("items = [x]; other = [items]", "if i > 0: items += [x * 2]"),
    "in both branches": ("items = [x]; other = [items]", "if i > 0: items += [x]\n        else: items += [x, -x]"),
    "in a loop in it": ("items = [x]; other = [items]", "for j in tf.range(2): items += [x * 2]"),
}
_EAGER = {
    "then replaced": ("items = [x]; other = items", "items += [x * 2]; items = items + [x]"),
    "changing places": ("items, more = [x], [x]; other = (items, more)", "items += [x * 2]; items, more = more, items"),
    "in what is carried": ("items = {'a': [], 'h': x}; other = items",
                           "items['a'].append(x); items = {'a': items['a'], 'h': items['h'] * 2}"),
    "in a tuple that is carried": ("items = ([x], x); other = items", "a, b = items; a += [b]; items = (a, b + 1)"),
}  # fmt: skip


def _changed(setup: str, change: str) -> str:
    return f"""
def f(x):
    {setup}
    for i in tf.range(3):
        {change}
    return items, other
def main():
    for v in (1.0, 2.0, 3.0): attempt(f, tf.ones(2) * v)
"""


@pytest.mark.parametrize("how", _CHANGED.values(), ids=_CHANGED)
def test_a_container_that_a_loop_changes_in_place_is_changed_for_all_who_know_it(how: tuple[str, str]) -> None:
    same(_changed(*how), f="graph")


@pytest.mark.parametrize("how", _EAGER.values(), ids=_EAGER)
def test_a_container_that_a_loop_changes_and_replaces_is_left_to_eager(how: tuple[str, str]) -> None:
    same(_changed(*how), f="eager")


# Nobody else knows what is changed and replaced.
_OWN = {
    "in a loop": """
    items = [x]
    for i in tf.range(3):
        items += [x * 2]
        items = items + [x]
    """,
    "changing places": """
    items, more = [x], [x]
    for i in tf.range(3):
        items += [x * 2]
        items, more = more, items
    """,
    "in a branch": """
    items = {"a": x}
    if tf.reduce_sum(x) > 3.0:
        for i in tf.range(4):
            if i == 1:
                items["a"] = items["a"] * 2
                continue
            items = {k: items[k] + x for k in items}
    """,
    "in a branch, beside another one": """
    items = {"a": x}
    counts = {"all": 0, "first": 0}
    if tf.reduce_sum(x) > 3.0:
        for i in tf.range(4):
            counts["all"] += 1
            if i == 1:
                items["a"] = items["a"] * 2
                counts["first"] += 1
                continue
            items = {k: items[k] + x for k in items}
    """,
    "in a loop in a loop": """
    items = {"a": x}
    for j in tf.range(2):
        for i in tf.range(4):
            if i == 0: items["a"] = items["a"] * 2
            else: items = {k: items[k] + x for k in items}
    """,
}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("body", _OWN.values(), ids=_OWN)
def test_what_is_changed_and_replaced_is_a_graph_if_nobody_else_knows_it(body: str, known: bool) -> None:
    first, *rest = body.strip().splitlines()
    also = "    other = items" if known else "    other = None"
    lines = "\n".join([f"    {first}", also, *rest])
    run = same(
        f"def f(x):\n{lines}\n    return items, other\n"
        "def main():\n    for v in (1.0, 2.0, 3.0, 1.0): attempt(f, tf.ones(2) * v)\n"
    )
    assert run.sites["f"].state == ("eager" if known else "graph"), run.sites["f"].reason


def test_a_container_is_itself_behind_a_branch_that_changes_it() -> None:
    same(
        """
        def f(x):
            items = [x]; other = [items]
            if tf.reduce_sum(x) > 3.0: items += [x * 2]
            items.append(x * 3)
            chosen = items if tf.reduce_sum(x) > 3.0 else items
            chosen.append(x * 4)
            return items, other
        def main():
            for v in (1.0, 2.0, 3.0, 1.0): attempt(f, tf.ones(2) * v)
        """,
        f="graph",
    )


# Of a list or dict that is older than the call and one made in it: what is in them is read at each call.
ONE_OF_TWO = {
    "one of two lists": "return (a if x > 2 else b)[0] * 2",
    "one of two dicts": "return (c if x > 2 else {'k': x})['k'] * 2",
    "what lies deeper": "return (d if x > 2 else [[x], x])[0][0] * 2",
    "in a tuple": """
    e = (a, x)
    if x > 2: e = ([x, x], x * 2)
    return e[0][0] * e[1]""",
    "in a loop that may keep it": """
    for y in x + tf.range(2.):
        new = [a[0] + y, a[1]]
        if y > 3: a = new
    return a[0] * 2""",
    "replaced by each iteration": """
    for y in x + tf.range(2.): a = [a[0] + y, a[1]]
    return a""",
    "replaced by iterations, if there are any": """
    for y in tf.range(x): a = [a[0] + y, a[1]]
    return a""",
    "made in the call": """
    e = [x, x]
    if x > 2: e = [x + 1, x * 2]
    return e""",
}
# Where it is handed out or changed, it has to be the one that others know.
ITSELF = {
    "given back": "return a if x > 2 else b",
    "given back by a loop": """
    for y in x + tf.range(2.):
        if y > 3: a = [y, y]
    return a""",
    "of another length": "return a if x > 2 else [x]",
    "stored to an attribute": """
    if x > 2: box.held = [x]
    return x""",
    "stored to a global": """
    global held
    if x > 2: held = {'k': x}
    return x""",
    "stored at two places": """
    global held
    if x > 2: held = box.held = [x]
    return x""",
    "changed": """
    e = a if x > 2 else b
    e.append(x)
    return x""",
    "compared": "return 1. if (a if x > 2 else b) is a else 2.",
}


@pytest.mark.parametrize(("body", "state"), [*((body, "graph") for body in ONE_OF_TWO.values()),
                                             *((body, "eager") for body in ITSELF.values())],
                         ids=[*ONE_OF_TWO, *ITSELF])  # fmt: skip
def test_one_of_two_containers(body: str, state: str) -> None:
    same(
        f"""
class Box: pass
box, held = Box(), {{"k": 0.5}}
box.held = [0.5]
def f(x, a, b, c, d):
{textwrap.indent(textwrap.dedent(body), "    ")}
def main():
    a, b, c, d = [tf.constant(0.), 1.], [tf.constant(0.), 2.], {{"k": tf.constant(0.)}}, [[tf.constant(0.)], 1.]
    for i, v in enumerate((1., 3., 2., 4., 1., 5., 0.)):
        a[0], b[0], c["k"], d[0][0] = (tf.constant(10. * i + k) for k in range(4))
        show(f(tf.constant(v), a, b, c, d), a, b, held, box.held)
""",
        f=state,
    )
