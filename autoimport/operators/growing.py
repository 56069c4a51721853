"""A list that a loop appended to -> its length, where that is known after all, and a Python list again."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators import copies
from autoimport.operators.lists import ITEMS, TensorList


def known_length(handle: Any, start: Any) -> int | None:
    """How many items were appended to the tensor list `start` (None: to an empty one) to get `handle`."""
    appended = 0
    while handle is not start:
        operation = handle.op
        if operation.type == "TensorListPushBack":
            appended += 1
        elif operation.type == "EmptyTensorList":
            return appended if start is None else None
        elif operation.type != "Identity":
            return None
        handle = operation.inputs[0]
    return appended


def plain_list(items: TensorList, length: int) -> list[Any] | None:
    """The `length` items as a Python list; None if their shapes are not all known."""
    columns = []
    for leaf, handle in zip(tf.nest.flatten(items.structure), items.handles, strict=True):
        if not leaf.shape.is_fully_defined():
            return None
        stacked = tf.raw_ops.TensorListStack(
            input_handle=handle,
            element_shape=tf.constant(leaf.shape.as_list(), tf.int32),
            element_dtype=leaf.dtype,
            num_elements=length,
        )
        column = tf.unstack(stacked, num=length, name=ITEMS)
        columns.append([leaf.from_tensor(tensor) for tensor in column])
    rows = zip(*columns, strict=True)
    return copies.made_plain([tf.nest.pack_sequence_as(items.structure, list(row)) for row in rows])
