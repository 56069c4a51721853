"""Gradients that are None on some way through a program: what the branch taken, or a loop without iterations, left out."""

from __future__ import annotations

import pytest

from tests.staging.programs import same

MAIN = """
a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
def main():
    for v in (1.0, -1.0, 2.0, 0.3, -2.0, 1.0):
        show(f(tf.constant(v), tf.constant(int(abs(v)))))
"""
TAKEN = {
    "on both ways, by way of others": """
    r = a * x
    m = tf.abs(r)
    y = 0.5 * r * r if m <= 1.0 else m - 0.5
    """,
    "one variable on each way, both in front": """
    r = a * b
    y = r * a if x > 0 else r * b
    """,
    "a loop over rows": """
    h = tf.zeros([2])
    for row in tf.ones([3, 2]) * x:
        h = tf.tanh(h * a + row * b)
    y = tf.reduce_sum(h)
    """,
    "a loop that has an iteration when it matters": """
    y = x * a
    for i in tf.range(n + 1):
        y = y * b + x
    """,
    "branches and no gradient of theirs": """
    k = 1.0 if x > 0 else 2.0
    y = a * b * k
    """,
}
LEFT = {
    "a variable of one branch": "y = a * x if x > 0 else b * x",
    "a branch that uses none": "y = a * x if x > 0 else x",
    "a branch inside a loop": """
    h = tf.zeros([2])
    for row in tf.ones([3, 2]) * x:
        if tf.reduce_sum(row) > 0: h = h * a + row
        else: h = h + row * b
    y = tf.reduce_sum(h)
    """,
    "values that change places in a loop": """
    y, q = x * a, x * b
    for i in tf.range(n):
        y, q = q, q * 2.0
    """,
    "a branch in a branch": """
    y = x * c
    if x > 0:
        if x > 1: y = y * a
        else: y = y * b
    """,
}


def function(body: str) -> str:
    taken = "def f(x, n):\n  with tf.GradientTape() as tape:\n" + _indented(body, 4)
    return MAIN + taken + "\n  return tape.gradient(y, [a, b, c])\n"


def _indented(body: str, width: int) -> str:
    lines = [line for line in body.splitlines() if line.strip()]
    depth = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(" " * width + line[depth:] for line in lines)


@pytest.mark.parametrize("body", TAKEN.values(), ids=TAKEN)
def test_gradients_that_are_there_on_every_way_are_a_graph(body: str) -> None:
    same(function(body), f="graph")


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_gradients_that_may_be_none_are_left_to_eager(body: str) -> None:
    ours = same(function(body), f="eager")
    assert ours.sites["f"].reason.endswith("that is None if a branch is not taken")


def test_a_loop_without_an_iteration_goes_back_to_eager() -> None:
    body = """
    y = x * a
    for i in tf.range(n):
        y = y * b + x
    """
    assert same(function(body)).sites["f"].graph_calls > 0


@pytest.mark.parametrize("body", [*LEFT.values(), "y = x * a\nfor i in tf.range(n): y = y * b + x"])
def test_nor_is_a_graph_launched_where_a_tape_outside_may_get_none(body: str) -> None:
    program = "def g(x, n):\n" + _indented(body, 4) + "\n    return y + 0.0\n"
    outside = "y = g(x, n)"
    ours = same(program + function(outside).replace("return tape", "time.time()\n  return tape") + "import time\n")
    assert ours.sites["g"].graph_calls == 0
