"""Lists that the program makes longer and shorter, handed as a whole to a function: one graph for every length."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging import programs

_PROGRAM = """
def step(items, x):
BODY
def numbers(n):
    return [0.5 * i if i % 3 else np.float64(0.25 * i) for i in range(n)]
def whole(n):
    return [i * i for i in range(n)]
def tensors(n):
    return [tf.constant([0.5 * i, 1.0]) for i in range(n)]
def scalars(n):
    return [tf.constant(0.5 * i) for i in range(n)]
def main():
    for n in (3, 4, 6, 5, 9, 1, 12, 7):
        attempt(step, ITEMS(n), tf.constant([0.5, 2.0]))
    for items in OTHERS:
        attempt(step, items, tf.constant([0.5, 2.0]))
"""
ODD = "([], [1.0, 'a'], [None], [tf.constant(1.0), tf.constant([1.0])], [True, False], [tf.constant(1), 2.5])"


def traces(body: str, items: str, others: str = "()") -> int:
    """How many traces `step(items, x)` needs for many lengths, and other lists."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    site = programs.same(source.replace("ITEMS", items).replace("OTHERS", others)).sites["step"]
    assert site.own_graph_calls >= 5
    return site.traces


WHOLE = {
    "constant": ("numbers", "return tf.reduce_sum(tf.constant(items, tf.float32)) * x"),
    "constant by name": ("numbers", "return tf.reduce_sum(tf.constant(items, dtype=tf.float64)), x * 2.0"),
    "constant of whole numbers": ("whole", "return tf.reduce_max(tf.constant(items)), tf.sin(x) * x"),
    "convert_to_tensor": ("numbers", "t = tf.convert_to_tensor(items)\nreturn t * 2, tf.shape(t), x"),
    "stack": ("tensors", "return tf.stack(items) * x, len(items)"),
    "stack along an axis": ("tensors", "return tf.reduce_sum(tf.stack(items, axis=1), axis=1) * x"),
    "concat": ("tensors", "return tf.concat(items, 0), x + 1.0"),
    "add_n": ("tensors", "return tf.add_n(items) * x"),
    "converted tensors": ("scalars", "return tf.reduce_mean(tf.convert_to_tensor(items)) * x"),
    "numpy": ("numbers", "return x * np.mean(items), np.max(items)"),
    "a numpy array": ("numbers", "return x * tf.reduce_sum(tf.cast(np.array(items).sum(), tf.float32))"),
    "twice": (
        "numbers",
        "t = tf.constant(items, tf.float32)\nreturn tf.reduce_sum(t * t) / len(items) * x, sum(items)",
    ),
    "a loop over it": (
        "numbers",
        "s = tf.constant(0.0)\nfor r in tf.constant(items, tf.float32)[::-1]:\n    s = r + 0.9 * s\nreturn s * x",
    ),
    "returned": ("tensors", "t = tf.stack(items)\nprint(len(items), t)\nreturn t, x"),
}


@pytest.mark.parametrize(("items", "body"), WHOLE.values(), ids=WHOLE)
def test_one_graph_serves_every_length(items: str, body: str) -> None:
    assert traces(body, items) == 2  # the first length, and any


@pytest.mark.parametrize(("items", "body"), WHOLE.values(), ids=WHOLE)
def test_lists_of_something_else_are_read_as_such(items: str, body: str) -> None:
    traces(body, items, ODD)


OPEN_TAPES = {
    "stack": "return tf.reduce_sum(tf.square(tf.stack(items) - x)) * len(items)",
    "stack along an axis": "return tf.reduce_sum(tf.square(tf.stack(items, axis=1)) * x[:, None])",
    "concat": "return tf.reduce_sum(tf.square(tf.concat(items, 0)) * x[0])",
    "add_n": "return tf.reduce_sum(tf.square(tf.add_n(items) - x))",
    "two ways": "return tf.reduce_sum(tf.stack(items) * tf.reverse(tf.stack(items), [0]) - x)",
    "a loop over it": "s = x\nfor r in tf.stack(items)[::-1]:\n    s = tf.sin(r) + 0.9 * s\nreturn tf.reduce_sum(s)",
    "a tape of its own": """
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.stack(items) ** 2 * x)
        return tf.reduce_sum(tape.gradient(y, x) * y)
    """,
    "a tape of its own that watches one of them": """
        with tf.GradientTape() as tape:
            tape.watch(items[1])
            y = tf.reduce_sum(tf.stack(items) ** 2 * x)
        return y + tf.reduce_sum(tape.gradient(y, items[1]))
    """,
}
_TAPED = """
def loss(items, x):
BODY
def main():
    locals()  # no graph holds what follows
    u, v = tf.Variable([1.0, 2.0]), tf.Variable([0.5, 3.0])
    for n in (3, 5, 4, 7, 2, 6):
        with tf.GradientTape() as tape:
            items = [v * 0.5, *(u * tf.constant(0.1 * i) for i in range(1, n))]
            out = loss(ITEMS, tf.constant([0.5, 1.0]))
        show(out, *tape.gradient(out, [u, v, *items]))
"""


@pytest.mark.parametrize("items", ("items", "items + [items[0]]"))
@pytest.mark.parametrize("body", OPEN_TAPES.values(), ids=OPEN_TAPES)
def test_gradients_of_a_tape_around_it_reach_the_items(body: str, items: str) -> None:
    body = textwrap.indent(textwrap.dedent(body), "    ")
    site = programs.same(_TAPED.replace("BODY", body).replace("ITEMS", items)).sites["loss"]
    assert site.graph_calls >= 3
    assert site.traces == 2 or "watch(items[1])" in body


def test_a_list_that_has_just_been_changed_is_read_as_it_is_then() -> None:
    programs.same(
        """
        def step(items, x):
            items.append(2.5)
            total = tf.reduce_sum(tf.constant(items, tf.float32)) * x
            items[0] = 9.0
            return total, tf.stack(items) * x
        def main():
            for n in (2, 3, 4, 2, 5, 6):
                items = [1.5 * i for i in range(n)]
                show(step(items, tf.constant(2.0)), items)
        """
    )


def test_what_cannot_be_converted_raises_what_eager_raises() -> None:
    programs.same(
        """
        def step(items, x):
            return tf.constant(items, tf.int32) * tf.cast(x, tf.int32)
        def main():
            for items in ([1, 2], [1, 2, 3], [4, 5, 6, 7], [2**40, 1], [1.5, 2.0], [3, 4, 5]):
                attempt(step, items, tf.constant(2.0))
        """
    )


@pytest.mark.parametrize("join", ("tf.stack(items)", "tf.add_n(items)", "tf.concat(items, 0)"))
def test_a_tape_of_the_function_watches_the_items(join: str) -> None:
    run = programs.same(
        f"""
        def step(items, x):
            with tf.GradientTape() as outer:
                outer.watch(items[0])
                with tf.GradientTape() as tape:
                    tape.watch(items[0])
                    y = tf.reduce_sum({join} ** 3) * x
                slope = tape.gradient(y, items[0])
            return slope, outer.gradient(slope, items[0])
        def main():
            same = tf.constant([3.0, 1.0])
            for n in (3, 5, 4, 7, 2, 6):
                show(step([tf.constant([1.0 * i, 2.0]) for i in range(n)], tf.constant(0.5)))
                show(step([same] * n, tf.constant(0.5)))
        """
    )
    assert run.sites["step"].graph_calls
