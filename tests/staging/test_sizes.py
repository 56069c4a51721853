"""Tensors whose sizes a graph does not know: what Python code asks about them, and compares, as in eager mode."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging import programs

_PROGRAM = """
import math
VALUES = [2.0, 1.0, 0.5, 3.0, 0.25]
BCE = tf.keras.losses.BinaryCrossentropy()
def of(n, k):
    return tf.constant([VALUES[(i + k) % 5] for i in range(n)])
def step(x, y):
BODY
def main():
    for sizes in SIZES:
        attempt(step, of(sizes[0], 0), of(sizes[1], 1))
"""


def held(body: str, sizes: str) -> str:
    """The state of `step(x, y)` after calls with vectors of some sizes; the first two make the sizes unknown."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    ")).replace("SIZES", sizes)
    return programs.same(source).sites["step"].state


MISFITS = "((3, 3), (4, 4), (3, 3), (3, 1), (1, 3), (3, 4), (4, 3), (3, 0), (0, 3), (5, 5))"
COMPARED = {
    "a mask": "return tf.boolean_mask(x, y > 0.5)",
    "a mask of values": "return tf.boolean_mask(tf.unique(x)[0], y > 0.5)",
    "a mask of an axis": "return tf.boolean_mask(x[None], y > 0.5, axis=1)",
    "sigmoid": "return tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)",
    "weighted": "return tf.nn.weighted_cross_entropy_with_logits(x, y, 2.0)",
    "poisson": "return tf.nn.log_poisson_loss(x, y)",
    "clipped": "return tf.clip_by_value(x, -y, y)",
    "mapped": "return tf.map_fn(lambda p: p[0] + p[1], (x, y), fn_output_signature=tf.float32)",
    "scanned": "return tf.scan(lambda a, p: a + p[0] * p[1], (x, y), 0.0)",
    "folded": "return tf.foldl(lambda a, p: a + p[0] * p[1], (x, y), 0.0)",
    "Keras": "return tf.keras.losses.binary_crossentropy(x, y), tf.keras.losses.categorical_crossentropy(x, y)",
    "an object of Keras": "return BCE(x, y)",
    "set": "x.set_shape([3])\nreturn x + 1.0",
    "joined": "a = tf.TensorArray(tf.float32, 2)\na = a.write(0, x).write(1, y)\nreturn a.concat()",
}


@pytest.mark.parametrize("body", COMPARED.values(), ids=COMPARED)
def test_sizes_that_do_not_fit_raise_what_eager_raises(body: str) -> None:
    held(body, MISFITS)


SIZES = "((3, 3), (4, 4), (3, 3), (5, 5), (2, 2), (0, 0), (3, 3), (1, 1))"
TOLD = {
    "get_shape()": "return x.get_shape(), x * x.get_shape()[0], x.get_shape().as_list() == [3]",
    "parts of a shape": "return x.shape[:1], x[None].shape[1:], x[None].shape[:1], x[None].shape[::-1]",
    "shapes joined": "return x.shape[:1] + [2], [1] + x.shape, x.shape + x.shape, x.shape.concatenate((4,))",
    "shapes in texts": "return str(x.shape[:1]), f'{x[None].shape[1:]}'",
    "shapes compared": "return x.shape[:1].as_list() == [3], len(x.shape[:1]), isinstance(x.shape, tf.TensorShape)",
    "shapes that operations take": "return tf.zeros(x[None].shape[1:]), tf.reshape(x, x.shape + [1]), tf.cast(x.shape, tf.float32)",
    "shapes taken apart": "b, *rest = x[None].shape\nreturn b, rest, list(x.shape[:1]), sum(x.shape)",
    "Keras": "n, = tf.keras.ops.shape(x)\nreturn n, n * 2, n / 2, tf.reshape(x, (n, 1)), tf.keras.backend.int_shape(x)",
    "numpy": "return np.shape(x), x + 1.0",
    "fitting sizes": "return tf.boolean_mask(x, y > 0.5), tf.clip_by_value(x, -y, y), tf.clip_by_value(x, 0.0, 1.0), BCE(x, y)",
}
UNKNOWN = {
    "a value": "return tf.get_static_value(x), x + 1.0",
    "the value of a shape": "return tf.get_static_value(tf.shape(x)), x + 1.0",
    "a specification": "return tf.type_spec_from_value(x), x + 1.0",
    "a specification by name": "return tf.TensorSpec.from_tensor(x), x + 1.0",
}


@pytest.mark.parametrize("body", TOLD.values(), ids=TOLD)
def test_sizes_are_told_as_in_eager_mode(body: str) -> None:
    assert "graph" == held(body, SIZES)


@pytest.mark.parametrize("body", UNKNOWN.values(), ids=UNKNOWN)
def test_what_tells_more_than_sizes_is_eager(body: str) -> None:
    assert "eager" == held(body, SIZES)


SHAPES = {
    "reshape": "return tf.reshape(x + 1.0, y.shape)",
    "reshape to a part": "return tf.reshape(x, x.shape[:1] + [1, 1])",
    "as a list": "return tf.reshape(x, [y.shape[0], 1, -1]), tf.reshape(x, x.shape.as_list() + [1])",
    "got": "n, = x.get_shape().as_list()\nreturn tf.zeros([n, 2]) + x[:, None]",
    "zeros and ones": "return tf.zeros(x.shape) + tf.ones(shape=y.shape, dtype=tf.float32) * x",
    "integers": "return tf.zeros(x.shape, tf.int32), tf.ones(x.shape, dtype=tf.bool)",
    "fill": "return tf.fill(x.shape, 2.0) * x",
    "broadcast": "return tf.broadcast_to(x[:1], y.shape)",
    "random numbers": "return tf.random.stateless_normal(x.shape, seed=[1, 2]) + tf.random.stateless_uniform(y.shape, [3, 4])",
    "an identity": "return tf.eye(x.shape[0]) * x, tf.eye(y.shape[0], 2)",
    "is no tensor": "return tf.is_tensor(x.shape), x.shape.rank, len(y.shape), x * 2.0",
    "a cache that grows": """
        k = tf.concat([x, y], axis=0)
        mask = tf.range(y.shape[0])[:, None] >= tf.range(k.shape[0])[None, :] - x.shape[0]
        scores = tf.where(mask, y[:, None] * k[None, :], -1e9) / math.sqrt(4)
        return tf.reshape(tf.nn.softmax(scores) @ k[:, None], y.shape), k
        """,
}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_shapes_of_any_size_are_arguments(body: str) -> None:
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    site = programs.same(source.replace("SIZES", "((3, 3), (4, 4), (5, 5), (1, 1), (2, 2), (0, 0), (4, 3))")).sites[
        "step"
    ]
    assert ("graph", None, 1) == (site.state, site.reason, site.traces)
