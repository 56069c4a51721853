"""A Python number to which a loop adds tensors -> whether the loop can carry it as the number that it starts with.

In `s = 0.0`, `for x in xs: s = s + x` the number only ever meets a float32 tensor. A float64 that holds it, or any
float32, and is converted to float32 wherever it is used, is then as good as what Python has: a float, later a tensor.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators.numbers import DTYPES
from autoimport.operators.structures import Leaf, Node

_HELD: dict[type, frozenset[tf.DType]] = {
    float: frozenset({tf.float32, tf.float16, tf.bfloat16}),
    int: frozenset({tf.int32, tf.int16, tf.int8, tf.uint32, tf.uint16, tf.uint8}),
    bool: frozenset(),
}


def is_accumulated(kind: type, placeholder: Any, end: Node) -> bool:
    """Whether `end`, what an iteration makes of the Python number in `placeholder`, can be carried as such a number."""
    if end.kind != "tensor" or end.leaves[0].shape.rank != 0:
        return False
    dtype = end.leaves[0].dtype
    return dtype in _HELD[kind] and all(
        consumer.type == "Cast" and consumer.get_attr("DstT") == dtype for consumer in placeholder.consumers()
    )


def widened(kind: type, end: Node) -> Node:
    """The tensor of `end` as a Python number of `kind`."""
    leaf = end.leaves[0]
    wide = Leaf(lambda: tf.cast(leaf.make(), DTYPES[kind]), DTYPES[kind], leaf.shape)
    return Node("number", kind, leaves=(wide,))
