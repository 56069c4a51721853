"""TensorArrays forget what is read from them: eager code raises at the second read, and stacks zeros."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

MAIN = """
def main():
    for _ in range(5):
        try: show(f(tf.constant([1., 2., 3.])))
        except Exception as error: print(type(error).__name__, error)
"""
KEPT = {
    "each once, by number": "y = a.read(0) + a.read(1) * a.read(2)",
    "each once, by constants": "y = a.read(tf.constant(0)) + a.read(tf.constant(2))",
    "each once, in a loop": "for i in tf.range(3): y += a.read(i)",
    "each once, in an unrolled loop": "for i in range(3): y += a.read(i)",
    "each once, from the end": "for i in tf.range(3): y = y * 2 + a.read(2 - i)",
    "each once, backwards": "for i in reversed(tf.range(3)): y = y * 2 + a.read(i)",
    "each once, in any order": "for i in tf.constant([2, 0, 1]): y = y * 2 + a.read(i)",
    "each once, in a loop over Python numbers": """
    n = 1
    if x[0] > 0: n += 2
    for i in range(n): y += a.read(i)""",
    "each once, counted": """
    i = tf.constant(0)
    while i < 3:
        y += a.read(i)
        i += 1""",
    "each once, every other one": """
    for i in tf.range(2): y += a.read(2 * i)""",
    "each once, in a branch": """
    for i in tf.range(3):
        if y > 1: y += a.read(i)
        else: y -= a.read(i)""",
    "each once, of an array made in each iteration": """
    for _ in tf.range(2):
        c = tf.TensorArray(tf.float32, 3).unstack(x)
        for i in tf.range(3): y += c.read(i)""",
    "each once, by TensorFlow's loop": """
    y = tf.while_loop(lambda i, y, _: i < 3, lambda i, y, c: (i + 1, y + c.read(i), c), (0, y, a))[1]""",
    "each once, by tf.map_fn": "y = tf.reduce_sum(tf.map_fn(a.read, tf.range(3), fn_output_signature=tf.float32))",
    "each once, under a tape": """
    with tf.GradientTape() as tape:
        tape.watch(x)
        c = tf.TensorArray(tf.float32, 3).unstack(x)
        for i in tf.range(3): y = tf.tanh(y + c.read(i))
    y = tf.reduce_sum(tape.gradient(y, x))""",
    "stacked first": "y = tf.reduce_sum(a.stack()) + a.read(1)",
    "one array read, another written": """
    for i in tf.range(3): b = b.write(i, a.read(i) * 2)
    y = tf.reduce_sum(b.stack())""",
    "kept": """
    for i in tf.range(3): y += k.read(i) + k.read(0)
    y += tf.reduce_sum(k.stack())""",
}
LOST = {
    "one index twice": "y = a.read(0) + a.read(0)",
    "one index twice, by other names": "y = a.read(0) + a.read(tf.constant(0))",
    "one that may be the same": "y = a.read(0) + a.read(tf.cast(x[0], tf.int32) - 1)",
    "all, then one": """
    for i in tf.range(3): y += a.read(i)
    y += a.read(1)""",
    "one in all iterations": "for _ in tf.range(2): y += a.read(1)",
    "one in some iterations": "for i in tf.range(3): y += a.read(i // 2)",
    "one in the last iterations": """
    i = tf.constant(0)
    while i < 4:
        y += a.read(tf.minimum(i, 2))
        i += 1""",
    "one that comes twice among the numbers": "for i in tf.constant([0, 1, 0]): y += a.read(i)",
    "all, in an outer loop": """
    for _ in tf.range(2):
        for i in tf.range(3): y += a.read(i)""",
    "in a branch of some iterations": """
    for i in tf.range(3):
        if y > 1: y += a.read(tf.maximum(i, 1))
        else: y += 1.5""",
    "in the loop's condition and its body": """
    i = tf.constant(0)
    while a.read(i) < 3.:
        y += a.read(i)
        i += 1""",
    "one in TensorFlow's loop": """
    y = tf.while_loop(lambda i, y, _: i < 3, lambda i, y, c: (i + 1, y + c.read(i // 2), c), (0, y, a))[1]""",
    "stacked afterwards": "y = a.read(1) + tf.reduce_sum(a.stack())",
    "gathered afterwards": "y = a.read(1) + tf.reduce_sum(a.gather([0, 1]))",
    "concatenated afterwards": """
    c = tf.TensorArray(tf.float32, 2).write(0, x).write(1, x)
    y = tf.reduce_sum(c.read(0)) + tf.reduce_sum(c.concat())""",
    "read in a loop, stacked afterwards": """
    for i in tf.range(2): y += a.read(i)
    y += tf.reduce_sum(a.stack())""",
    "read in one branch": """
    if x[0] > 0: y = a.read(0)
    y += tf.reduce_sum(a.stack())""",
}


def _program(body: str) -> str:
    head = """
def f(x):
    a = tf.TensorArray(tf.float32, 3, element_shape=[]).unstack(x)
    b = tf.TensorArray(tf.float32, 3)
    k = tf.TensorArray(tf.float32, 3, clear_after_read=False, element_shape=[]).unstack(x)
    y = tf.constant(0.)
"""
    return MAIN + head + textwrap.indent(textwrap.dedent(body), "    ") + "\n    return y\n"


@pytest.mark.parametrize("name", KEPT)
def test_each_element_read_once_is_a_graph(name: str) -> None:
    same(_program(KEPT[name]), f="graph")


@pytest.mark.parametrize("name", LOST)
def test_what_has_been_read_is_eager(name: str) -> None:
    same(_program(LOST[name]), f="eager")


# Of an array to which nothing has been written, eager code knows no element's shape, and raises; for n = 0 here.
UNWRITTEN = [
    "return a.write(0, x).stack() if n > 0 else a.stack()",
    "for i in tf.range(n): a = a.write(i, x)\nreturn a.stack()",
    "for i in tf.range(n): a = a.write(i, x)\nreturn a.read(0)",
    "for i in tf.range(n): a = a.write(i, x)\nreturn a.gather([0, 1])",
    "for i in tf.range(n): d = d.write(i, x)\nreturn d.concat()",
    "for i in tf.range(n): d = d.write(i, x)\nreturn d.stack()",
    "if n > 0: e = e.write(0, x)\nreturn e.stack()",
]


@pytest.mark.parametrize("body", UNWRITTEN)
def test_an_array_without_a_written_element_has_no_shape(body: str) -> None:
    made = "a = tf.TensorArray(tf.float32, 3)\nd = tf.TensorArray(tf.float32, 0, dynamic_size=True)\n"
    made += "e = tf.TensorArray(tf.float32, 3, element_shape=[2])\n"
    main = (
        "def main():\n    for n in (2, 1, 3, 0, 2, 0, 1):\n        attempt(f, tf.constant([1., 2.]), tf.constant(n))\n"
    )
    same(f"def f(x, n):\n{textwrap.indent(made + body, '    ')}\n{main}", f="graph")
