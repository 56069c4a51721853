"""A tensor that a branch or loop of the graph hands on is the very object that eager code would hand on."""

from __future__ import annotations

import pytest

from tests.staging.programs import same

# Of x and y, two tensors; c, a number; held, an object with a tensor.
BODIES = {
    "chosen": "return x if c > 0 else y",
    "chosen or made": "return x if c > 0 else x * 2",
    "chosen twice": "z = x if c > 1 else y\n    if c > 0: return z\n    return x + 0",
    "chosen or None": "z = None\n    if c > 0: z = x\n    return z",
    "of a loop without iterations": "z = x\n    for i in tf.range(tf.cast(tf.maximum(c, 0.), tf.int32)): z = z + 1\n    return z",
    "exchanged by a loop": "for i in tf.range(tf.cast(tf.abs(c), tf.int32)): x, y = y, x\n    return x, y",
    "exchanged thirty times": "for i in range(30):\n        if c > i: x, y = y, x\n    return x, y",
    "a copy, a view, a sum": "return tf.identity(x), x[...], tf.reshape(x, x.shape), x + 0, tf.stop_gradient(x)",
    "stored to an attribute": "if c > 0: held.best = x\n    return y + 1",
    "stored if it is better": "if c > held.best[0]: held.best = x * c\n    return held.best + 0",
    "stored to a key": "if c > 0: table['best'] = x\n    return y + 1",
    "of a global": "global best\n    if c > 0: best = x\n    return y + 1",
}


@pytest.mark.parametrize(("shape", "dtype"), [("[]", "tf.float32"), ("[2]", "tf.int32")])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_is_handed_on_is_itself(body: str, shape: str, dtype: str) -> None:
    if "[0]" in body or "* c" in body:
        body = body.replace("held.best[0]", "tf.cast(tf.reduce_sum(held.best), tf.float32)").replace("x * c", "x * 2")
    body = body if shape == "[2]" else body.replace("x[...]", "tf.negative(x)")
    source = f"""
class Held: pass
held, table = Held(), {{}}
held.best = table["best"] = best = tf.ones({shape}, {dtype})
def pick(x, y, c):
    {body}
def main():
    for c in (-1., 1., 2., -1., 0., 3.):
        x, y = tf.ones({shape}, {dtype}) * 3, tf.ones({shape}, {dtype}) * 4
        known = [x, y, held.best, table["best"], best]
        found = pick(x, y, tf.constant(c))
        now = [*(found if type(found) is tuple else [found]), held.best, table["best"], best]
        show(now, [[a is b for b in known] for a in now])
"""
    same(source, pick="graph")


# What has the memory of x, and is another object.
VIEWS = [
    "tf.identity(x)",
    "tf.reshape(x, [2])",
    "tf.stop_gradient(x)",
    "x[:]",
    "tf.squeeze(x)",
    "tf.expand_dims(x, 0)[0]",
    "tf.ensure_shape(x, [2])",
    "tf.transpose(tf.reshape(x, [1, 2]))[:, 0]",
    "tf.reduce_sum(x, [])",
    "tf.tile(x, [1])",
    "tf.debugging.check_numerics(x, 'odd')",
]
NEW = [
    "x * 1.0",
    "tf.nn.relu(x)",
    "tf.nn.silu(x)",
    "tf.clip_by_value(x, 0.0, 9.0)",
    "tf.linalg.matvec(tf.eye(2), x)",
    "tf.concat([x, y[:0]], 0)",
    "x[None]",
    "tf.expand_dims(x, 0)",
    "tf.stack([[x]])",
]
CHOICES = {
    "returned": "z = x\n    if c <= 0: z = {what}\n    return z, y * 2",
    "carried by a loop": "z = x\n    for i in tf.range(tf.cast(tf.abs(c) - 1., tf.int32)): z = {what}\n    return z, y * 2",
}


@pytest.mark.parametrize("body", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize(("what", "state"), [*((what, "eager") for what in VIEWS), *((what, "graph") for what in NEW)])
def test_a_view_is_told_from_what_it_is_a_view_of(what: str, state: str, body: str) -> None:
    source = f"""
def pick(x, y, c):
    {body.format(what=what)}
def main():
    for c in (-1., 1., 2., -1., -2., 3.):
        x, y = tf.ones([2]) * 3, tf.ones([2]) * 4
        found, _ = pick(x, y, tf.constant(c))
        show(found, found is x)
"""
    same(source, pick=state)


def test_of_two_views_the_one_that_is_chosen_is_handed_on() -> None:
    run = same(
        """
        def pick(x, y, c):
            return x if c > 0 else y
        def main():
            for k in range(6):
                x = tf.ones([2]) * 3
                y = tf.identity(x) if k % 2 else tf.ones([2])
                for c in (-1., 1.):
                    found = pick(x, y, tf.constant(c))
                    show(found, found is x, found is y)
        """
    )
    assert run.sites["pick"].reason.startswith(
        "must run eagerly too often (of two tensors that are one place in memory"
    )


def test_a_view_is_told_in_whichever_iteration_it_is_made() -> None:
    same(
        """
        def pick(x, y, c):
            for i in tf.range(c):
                x, y = y, tf.identity(x)
            return x, y * 2
        def main():
            for c in (0, 1, 2, 3, 4, 1, 0):
                x, y = tf.ones([2]) * 3, tf.ones([2]) * 4
                found, _ = pick(x, y, tf.constant(c))
                show(found, found is x, found is y)
        """,
        pick="eager",
    )


def test_what_a_loop_passes_round_is_itself() -> None:
    same(
        """
        def pick(x, y, z, c):
            for i in tf.range(c):
                x, y, z = y, z, x
            return x, y, z
        def main():
            for c in (0, 1, 2, 3, 4, 5):
                given = [tf.ones([2]) * k for k in range(3)]
                found = pick(*given, tf.constant(c))
                show(found, [[a is b for b in given] for a in found])
        """,
        pick="graph",
    )


def test_what_is_chosen_of_what_is_chosen_is_itself() -> None:
    same(
        """
        def pick(a, b, c, k):
            x = a if tf.reduce_sum(a) > 0 else b
            z = x if k > 0 else c
            return z, x, z
        def main():
            for k in (1, -1, 1, 2, -1, 3):
                a, b, c = tf.ones([2]) * k, tf.ones([2]) * 4, tf.ones([2]) * 5
                found = pick(a, b, c, tf.constant(2 - k))
                show(found, [[one is other for other in (a, b, c, *found)] for one in found])
        """,
        pick="graph",
    )
