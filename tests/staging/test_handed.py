"""Functions made in a traced function and handed to TensorFlow: what they change happens as often as in eager code."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging import programs

_MAIN = """
def main():
    for k in range(4):
        attempt(step, tf.constant([1.0, 2.0]) * k)
"""


def _run(body: str) -> programs.Run:
    return programs.same("\ndef step(x):\n" + textwrap.indent(textwrap.dedent(body), "    ") + _MAIN)


CHANGES = {
    "a variable": """
        n = 0
        def counted(v):
            nonlocal n
            n += 1
            return v + 1.0
        return tf.reduce_sum(tf.map_fn(counted, x) * 2.0 + 1.0), n
        """,
    "a variable, by another function": """
        n = 0
        def count():
            nonlocal n
            n += 1
        def counted(v):
            count()
            return v + 1.0
        return tf.reduce_sum(tf.map_fn(counted, x) * 2.0 + 1.0), n
        """,
    "a list": """
        seen = []
        def counted(v):
            seen.append(1)
            return v + 1.0
        return tf.reduce_sum(tf.map_fn(counted, x) * 2.0 + 1.0), seen
        """,
    "an item": """
        seen = {"n": 0}
        def counted(v):
            seen["n"] += 1
            return v + 1.0
        return tf.reduce_sum(tf.map_fn(counted, x) * 2.0 + 1.0), seen
        """,
    "a list in one of two functions": """
        seen = []
        def one():
            seen.append(1)
            return x
        return tf.reduce_sum(tf.cond(x[0] > 1.0, one, lambda: x + 1.0) * 2.0 + 1.0), seen
        """,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_function_that_changes_its_surroundings_is_not_handed_on(name: str) -> None:
    site = _run(CHANGES[name]).sites["step"]
    assert "to a library" in str(site.reason)
    assert site.state == "eager"


def test_a_function_that_changes_only_what_it_made_is_handed_on() -> None:
    run = _run("""
        scale = [2.0, 3.0]
        def scaled(v):
            parts = []
            for factor in scale:
                parts.append(v * factor)
            return tf.add_n(parts)
        return tf.reduce_sum(tf.map_fn(lambda v: scaled(v) + 1.0, x) * 2.0 + 1.0)
    """)
    assert run.sites["step"].state == "eager"  # `parts` and `scale` cannot be told apart by the code that changes one


def test_a_pure_function_is_handed_on() -> None:
    run = _run("""
        scale = [2.0, 3.0]
        def scaled(v):
            if v > 1.0:
                v = v * scale[0]
            return v * scale[1]
        return tf.reduce_sum(tf.map_fn(lambda v: scaled(v) + 1.0, x) * 2.0 + 1.0)
    """)
    site = run.sites["step"]
    assert (site.state, site.reason) == ("graph", None)


# A list or a tuple: the body's, if there is an iteration, else the one that the loop starts with.
LOOPS = {
    "another one": ("tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), [0, x])", "graph"),
    "the other way round": ("tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * 2.0], (0, x))", "graph"),
    "the same": ("tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * 2.0], [0, x])", "graph"),
    "one without brackets": ("tf.while_loop(lambda a: a[0] < 9.0, lambda a: a * 2.0, [x])", "eager"),
    "a limit": (
        "tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), [0, x], maximum_iterations=9)",
        "eager",
    ),
}


@pytest.mark.parametrize(("loop", "state"), LOOPS.values(), ids=LOOPS)
def test_a_loop_of_tensorflow_leaves_a_list_or_a_tuple(loop: str, state: str) -> None:
    program = f"""
    def step(x, n): return {loop}
    def main():
        for n in (3, 2, 0, 5, 0, 1): attempt(step, tf.constant([1.0, 2.0]), tf.constant(n))
    """
    assert state == programs.same(program).sites["step"].state


# What is no tensor comes out of these as it is in eager mode.
HANDED_ON = [
    "return tf.cond(x[0] > 1.0, lambda: 1, lambda: 2), x * 2.0",
    "return tf.cond(x[0] > 1.0, lambda: array, lambda: x), x * 2.0",
    "return tf.cond(x[0] > 1.0, lambda: (x, 0.5), lambda: (x + 1.0, 0.25)), x * 2.0",
    "return tf.cond(x[0] > 1.0, lambda: variable, lambda: variable), x * 2.0",
    "return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x, lambda: 3.0]), x * 2.0",
    "return tf.case([(x[0] > 1.0, lambda: array)], default=lambda: array), x * 2.0",
    "return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, array), (0, x)), x * 2.0",
    "return tf.nest.map_structure(lambda v: v, {'a': array}), x * 2.0",
]


@pytest.mark.parametrize("line", HANDED_ON)
def test_what_a_library_hands_on_keeps_its_type(line: str) -> None:
    head = "array = np.array([0.5, 1.5], np.float32)\nvariable = tf.Variable([1.0, 2.0])"
    assert "eager" == programs.same(f"{head}\ndef step(x):\n    {line}{_MAIN}").sites["step"].state
