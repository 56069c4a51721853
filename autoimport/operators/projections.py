"""What a comprehension makes of each item of a list of symbolic length -> the list of it, if that takes no loop.

`[beam["score"] for beam in beams]` and `[x for x, _ in pairs]` take items apart: the tensors are there already, in a
list of their own for each leaf of an item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autoimport.operators import copies
from autoimport.operators.checks import CheckNeeded, on_trial
from autoimport.operators.lists import Leaf, TensorList
from autoimport.operators.numbers import Number
from autoimport.operators.recipes import sealed
from autoimport.operators.streams import One


def projected(items: TensorList, step: Callable[[Any], Any]) -> TensorList | None:
    """The list of what `step` describes of each item; None if that is more than a part of the item.

    Args:
      step: without effects, since it is tried with an item in a graph that nobody runs.
    """
    with tf.__internal__.FuncGraph("item").as_default(), on_trial():
        leaves: list[Leaf] = tf.nest.flatten(items.structure)
        tensors = [tf.compat.v1.placeholder(leaf.dtype) for leaf in leaves]
        item = [leaf.from_tensor(tensor) for leaf, tensor in zip(leaves, tensors, strict=True)]
        try:
            part = step(copies.taken(tf.nest.pack_sequence_as(items.structure, item)))
        except CheckNeeded:
            return None
    if type(part) is not One:
        return None
    known = {id(tensor): (leaf, handle) for tensor, leaf, handle in zip(tensors, leaves, items.handles, strict=True)}
    values = [value.tensor if type(value) is Number else value for value in tf.nest.flatten(sealed(part.value))]
    if not values or not all(id(value) in known for value in values):
        return None
    copies.put(part.value)
    taken, handles = zip(*(known[id(value)] for value in values), strict=True)
    return TensorList(tf.nest.pack_sequence_as(part.value, list(taken)), handles)
