"""TensorArrays that forget what is read from them, as arrays do in eager mode, in a graph, where none forgets anything.

In: each array that a trace makes, and each method called on it. Out: nothing, or the trace is given up, where
eager code would find zeros in the array, or raise.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals

_CONSTRUCTOR = inspect.signature(tf.TensorArray)
# What asks for all elements, also those that were read: they are zeros then.
_ASK_FOR_ALL = frozenset({"stack", "concat", "gather"})
_GIVE_ELEMENTS = _ASK_FOR_ALL | {"read"}

# The index, if it is known, and the graph where it was read.
_Read = tuple[Any, Any]


class Reads:
    """What was read from the arrays of one trace. An array that has been round a loop is another one to it."""

    def __init__(self) -> None:
        self._reads: dict[int, tuple[Any, list[_Read]]] = {}
        self._of_any_shape: dict[int, Any] = {}

    def made(self, array: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """An array has been made with these arguments."""
        given = _CONSTRUCTOR.bind(*args, **kwargs).arguments
        if given.get("clear_after_read") is not False:
            self._reads[id(array)] = (array, [])
        if given.get("infer_shape") is False:
            self._of_any_shape[id(array)] = array

    def called(self, array: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """A method of an array is called.

        Raises:
          Unstageable: it asks for an element that may have been read, or joins elements of different sizes, which eager
            code would not have taken; all others who meet them fail.
        """
        if method == "concat" and id(array) not in self._of_any_shape and not array.element_shape.is_fully_defined():
            raise Unstageable(
                "joins the elements of a TensorArray, whose sizes may differ", "make it with `infer_shape=False`"
            )
        _, reads = self._reads.get(id(array), (None, None))
        if reads is None:
            return
        if method == "read":
            read = (tf.get_static_value(args[0] if args else kwargs["index"]), tf.compat.v1.get_default_graph())
            is_lost = any(_may_be_same(read, earlier) for earlier in reads)
            reads.append(read)
        else:
            is_lost = method in _ASK_FOR_ALL and bool(reads)
        if is_lost:
            raise Unstageable(
                "reads from a TensorArray what has been read before", "make it with `clear_after_read=False`"
            )


def read(array: Any, method: str, call: Callable[[], Any]) -> Any:
    """The result of `call`, which calls an array's method: where nothing has been written it fails, as eager does."""
    shape = array.element_shape
    if method not in _GIVE_ELEMENTS or shape.rank is None:
        return call()
    with tf_internals.unknown_elements(array):
        result = call()
    if method != "read":
        shape = [None, *(shape[1:] if method == "concat" else shape)]
    result.set_shape(shape)
    return result


def _may_be_same(read: _Read, earlier: _Read) -> bool:
    (index, graph), (before, graph_before) = read, earlier
    if index is not None and before is not None and index != before:
        return False
    # A branch or body may be traced again, in a graph beside the first one.
    return tf_internals.is_inside(graph, graph_before) or tf_internals.is_inside(graph_before, graph)
