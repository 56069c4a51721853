"""`array.write(...)` and its kin -> the array itself is changed, as in eager mode, whether the result is used or not.

In the graph where the array's tensors are that is all. In a branch or body inside it the array is a place of the heap,
so that the other branch starts from the array as it was, and the change leaves the branch or goes round the loop.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators import heap


class Contents(heap.Place):
    """What is in a TensorArray, as a TensorArray that nobody changes."""

    def read(self) -> Any:
        implementation = self.holder._implementation
        if not hasattr(implementation, "snapshot"):
            implementation.snapshot = object.__new__(type(self.holder))
            implementation.snapshot._implementation = implementation
        return implementation.snapshot

    def write(self, value: Any) -> None:
        self.holder._implementation = value._implementation

    def __str__(self) -> str:
        return "a TensorArray"


def changed(array: Any, result: Any) -> Any:
    """A method of `array` has given `result`; if that is an array too, it is what is now in `array`: then `array`."""
    if not isinstance(array, tf.TensorArray) or not isinstance(result, tf.TensorArray):
        return result
    if array.flow.graph is not tf.compat.v1.get_default_graph():
        heap.record(Contents(array))
    array._implementation = result._implementation
    return array
