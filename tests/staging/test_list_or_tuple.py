"""A tuple that a condition replaces by a list, as of gradients that are clipped: who walks over it sees its items."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging import programs

_PROGRAM = """
pair = (tf.Variable([1.0, 2.0]), tf.Variable(3.0))
opt = tf.keras.optimizers.SGD(0.1)
made = []
def total(a, b): return a - 2.0 * b
def step(x, y):
    t = (x + 1.0, x * y)
    if y > 2.0:
        t = [part / y for part in t]
BODY
def main():
    for k in range(6):
        attempt(step, tf.constant([1.0, 2.0]), tf.constant(float(k)))
    show(pair, made)
"""

GRAPHS = {
    "zip": "return [a + b for a, b in zip(t, pair)]",
    "zip with itself": "return [a - 2.0 * b for a, b in zip(t, t)]",
    "zip of two": "u = t\nif y > 4.0:\n    u = [y, y]\nreturn [a - b for a, b in zip(u, t)]",
    "zip later": "z = zip(t, pair)\nx = x + 1.0\nreturn [a + b + x for a, b in z]",
    "a dict of it": "return dict(zip('ab', t))",
    "enumerate": "for i, part in enumerate(t):\n    x = x + i * part\nreturn x",
    "reversed": "for part in reversed(t):\n    x = x / part\nreturn x",
    "a loop": "for part in t:\n    x = x - part\nreturn x",
    "a comprehension": "return [part * 2.0 for part in t], {i: part for i, part in enumerate(t)}",
    "a generator expression": "return sum(tf.reduce_sum(part) for part in t)",
    "list, tuple and len": "return list(t), tuple(t), len(t)",
    "sum": "return sum(t)",
    "max of its sums": "return max(float(tf.reduce_sum(part)) for part in t)",
    "map and filter": "return list(map(tf.reduce_sum, t)), len(list(filter(lambda part: part.shape.rank, t)))",
    "iter": "parts = iter(t)\nfirst = next(parts)\nreturn first - next(parts)",
    "unpacked": "a, b = t\nreturn a - 2.0 * b",
    "unpacked with a star": "a, *b = t\nreturn a, b",
    "arguments": "return total(*t)",
    "joined": "return [x, *t], (*t, x)",
    "gradients": """
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(pair[0] * x) * pair[1] * y
        grads = tape.gradient(loss, pair)
        norm = tf.linalg.global_norm(grads)
        if norm > 1.0:
            grads = [g / norm for g in grads]
        opt.apply_gradients(zip(grads, pair))
        return loss, norm
        """,
    "gradients of a loop over them": """
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = 0.0
            for part in [x, *t]:
                loss = loss + tf.reduce_sum(part * part)
        return tape.gradient(loss, x)
        """,
}
EAGER_OR_NOT = {
    "what it is": "return t, isinstance(t, list), x",
    "of other lengths": "if y > 3.0:\n    t = [x]\nreturn [part + 1.0 for part in t]",
    "changed while it is walked over": """
        s = (x, x)
        if y > 1.0:
            s = made.pop() if made else [y, y]
        z = zip(s, pair)
        if isinstance(s, list):
            s[1] = x * 7.0
        return [a + b for a, b in z]
        """,
    "changed by another name": """
        held = [x, y]
        s = held if y > 1.0 else (y, x)
        z = zip(s, pair)
        held[1] = x * 7.0
        return [a + b for a, b in z]
        """,
    "changed in the loop over it": "for part in t:\n    t = list(t)\n    t.append(part)\n    x = x + part\nreturn x, t",
    "changed in place in the loop over it": """
        held = [x, y]
        for part in held if y > 1.0 else (y, x):
            held[1] = x * 7.0
            x = x + part
        return x
        """,
    "left by a tensor": "for part in t:\n    if tf.reduce_sum(part) > 3.0: break\n    x = x + part\nreturn x",
    "None among them": "if y > 3.0:\n    t = [None, x]\nreturn [part is None for part in t]",
    "printed": "print(*t, sep=' and ')\nreturn x",
}


def step_of(body: str) -> registry.Site:
    """The site of a function in which `t` is a tuple of two in three calls, and then a list, after a run that does what
    plain Python does."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    return programs.same(source).sites["step"]


@pytest.mark.parametrize("body", GRAPHS.values(), ids=GRAPHS)
def test_a_list_or_tuple_is_walked_over_in_one_graph(body: str) -> None:
    site = step_of(body)
    assert ("graph", None, 5) == (site.state, site.reason, site.own_graph_calls)


@pytest.mark.parametrize("body", EAGER_OR_NOT.values(), ids=EAGER_OR_NOT)
def test_a_list_or_tuple_is_what_it_is_in_plain_python(body: str) -> None:
    assert step_of(body).own_calls
