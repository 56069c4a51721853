"""Loops hold no more than what they do: items are taken apart without a loop, and what is needed needs no keeping."""

from __future__ import annotations

import pytest
import tensorflow as tf

from autoimport.staging import tf_internals
from autoimport.staging.launch import Specialisation
from tests.staging.programs import Run, same


def graph_of(run: Run, name: str = "f") -> Specialisation:
    """The graph of a function of the program."""
    mind = run.sites[name].mind
    (specialisation,) = mind._specialisations
    return specialisation


def loops_in(graph: tf.Graph) -> int:
    """How many loops are in a graph and those below."""
    return sum(operation.type.endswith("While") for operation in tf_internals.operations(graph))


GROWN = """
    def grown(x, n):
        items = []
        for i in tf.range(n):
            items.append({"row": x[:i] * 2., "pair": (i, float(x[0])), "key": x[i]})
        return items
    """
PARTS = {
    "a tensor": "tf.concat([item['row'] for item in items], 0)",
    "a part of a part": "tf.stack([item['pair'][0] for item in items])",
    "a number": "[item['pair'][1] for item in items][-1]",
    "taken apart": "tf.stack([i for i, _ in [item['pair'] for item in items]])",
    "by a name": "{k: tf.concat([item[k] for item in items], 0) for k in ('row',)}",
    "several": "[(item['key'], item['pair']) for item in items][-1]",
    "the item": "[item for item in items][1]['key']",
    "of the list alone": "tf.concat(list(item['row'] for item in items), 0)",
}


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_items_are_taken_without_a_loop(part: str) -> None:
    run = same(
        f"""{GROWN}
    def f(x, n):
        items = grown(x, n)
        return {PARTS[part]}, len(items)
    def main():
        for n in (2, 2, 3, 4, 2): show(f(tf.constant([1., 2., 3., 4.]), tf.constant(n)))
    """,
        f="graph",
    )
    assert loops_in(graph_of(run).function.graph) == 1


@pytest.mark.parametrize(
    "made",
    [
        "[item['row'] * 2. for item in items]",
        "[item['row'][0] for item in items[1:]]",
        "[item['row'] for item in items if item['pair'][0] > 1]",
        "[x for item in items]",
        "[item['row'] for item in items for _ in range(2)]",
        "[tf.size(item['row']) for item in items]",
    ],
)
def test_what_is_more_than_a_part_of_an_item_is_made_in_each_iteration(made: str) -> None:
    same(f"""{GROWN}
    def f(x, n):
        items = grown(x, n)
        made = {made}
        return made[-1], len(made)
    def main():
        for n in (2, 2, 3, 4, 3): attempt(f, tf.constant([1., 2., 3., 4.]), tf.constant(n))
    """)


def test_parts_that_can_be_changed_are_copies() -> None:
    """Of what is in both lists Python has one object."""
    same("""
    def f(x, n, change):
        items = []
        for i in tf.range(n):
            items.append({"row": [x[i], x[i]]})
        rows = [item["row"] for item in items]
        if change: rows[0][0] = x[1]
        return rows, items
    def main():
        for change in (False, True, False, True):
            for n in (2, 2, 3): show(f(tf.constant([1., 2., 3., 4.]), tf.constant(n), change))
    """)


def test_a_list_of_parts_is_one_of_its_own() -> None:
    same(
        f"""{GROWN}
    def f(x, n):
        items = grown(x, n)
        keys = [item["key"] for item in items]
        again = [item for item in items]
        keys.append(x[0])
        again.pop()
        return tf.stack(keys), len(items), len(again)
    def main():
        for n in (2, 2, 3): show(f(tf.constant([1., 2., 3., 4.]), tf.constant(n)))
    """,
        f="graph",
    )


@pytest.mark.parametrize(
    "n",
    ["tf.range(n)", "tf.range(0, n, 1)", "tf.range(tf.cast(n, tf.int64))", "tf.range(1, n + 1)", "tf.range(float(n))"],
)
def test_items_of_a_range_are_what_they_are(n: str) -> None:
    same(f"""
    def f(x, n):
        last = tf.cast(-1, {"tf.float32" if "float" in n else "tf.int64" if "int64" in n else "tf.int32"})
        for i in {n}:
            x += tf.cast(i, tf.float32) * x
            last = i
        return x, last
    def main():
        for n in (3, 3, 2, 0, 1, 5): show(f(tf.constant([1., 2.]), tf.constant(n)))
    """)


NEEDED = {
    "carried": "y = tf.gather(u, k + i)",
    "in a branch": "if u[i] > 0.:\n    y = tf.gather(u, k + i)",
    "in two": "if u[i] > 0.:\n    y = tf.gather(u, k + i)\nelse:\n    y += y[:1] * u[:2]",
    "for the next iteration": "y, z = z + y, tf.gather(u, k + i) + z",
    "for the condition": "z = tf.gather(u, k + i)\nif z > 9.:\n    break",
    "in a loop": "for j in tf.range(2):\n    y = tf.gather(u, k + j) + y",
}
IDLE = {
    "not at all": "z = tf.gather(u, k + i)",
    "in a branch": "if u[i] > 0.:\n    z = tf.gather(u, k + i)\nelse:\n    y += 1.",
    "round the loop": "z += tf.gather(u, k + i)",
    "through another": "z, t = z + t, tf.gather(u, k + i)",
    "in a loop": "for j in tf.range(2):\n    z = tf.gather(u, k + j) + z",
}


@pytest.mark.parametrize("body", NEEDED)
def test_what_can_fail_and_is_needed_is_not_kept_beside(body: str) -> None:
    assert not graph_of(_failing(NEEDED[body])).has_idle


@pytest.mark.parametrize("body", IDLE)
def test_what_can_fail_and_is_not_needed_is_kept(body: str) -> None:
    assert graph_of(_failing(IDLE[body])).has_idle


def _failing(body: str) -> Run:
    """A loop that fails for the last `k`."""
    lines = body.replace("\n", "\n" + " " * 12)
    return same(
        f"""
    u = tf.constant([1., 2., 3., 4.])
    def f(k):
        y, z, t = tf.constant([0.]), tf.constant(0.), tf.constant(0.)
        for i in tf.range(2):
            {lines}
        return tf.reduce_sum(y)
    def main():
        for k in (1, 1, 2, 0, 3, 1):
            try: show(f(tf.constant(k)))
            except tf.errors.OpError as error: print(type(error).__name__)
    """,
        f="graph",
    )
