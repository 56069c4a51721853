"""A value -> whether Python can know it while a graph is being built.

Every operator asks this first, and mostly of plain Python values, so those are answered from one set look-up.
"""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf

_KNOWN: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type, list, tuple, dict, set, frozenset, range, slice}
)

# Types of this package (Number, TensorList, ...) add themselves here, so that the module stays at the bottom.
_symbolic_types: tuple[type, ...] = (
    tf.Tensor,
    tf.Variable,
    tf.__internal__.CompositeTensor,  # sparse, ragged, indexed slices, extension types
    tf.TensorArray,
    tf.data.Dataset,
    tf.data.Iterator,
    tf.distribute.DistributedValues,
    tf.distribute.DistributedDataset,
    tf.distribute.DistributedIterator,
)
_keras_seen = False

# The name in a graph of a tensor that the program has made by `tf.identity`: another object, with the same value.
A_VIEW = "autoimport_view"


def register(cls: type) -> type:
    """Class decorator: instances stand for values of a graph under construction."""
    global _symbolic_types
    _symbolic_types += (cls,)
    return cls


def in_graph() -> bool:
    """Whether this thread builds a graph at present."""
    return not tf.executing_eagerly()


def is_symbolic(x: Any) -> bool:
    """Whether a graph is under construction and `x` is a value of it: a tensor, a variable, a dataset, a `Number`, ...

    An eager tensor counts in a function's graph, where operations on it give symbolic tensors. In a plain v1 graph it
    does not: such a graph cannot take it in, and Python can read its value.
    """
    if type(x) in _KNOWN:
        return False
    if not isinstance(x, _symbolic_types) and not (_meet_keras() and isinstance(x, _symbolic_types)):
        return False
    if tf.executing_eagerly():
        return False
    return not is_concrete(x)


def is_concrete(x: Any) -> bool:
    """Whether `x` is an eager tensor that the graph under construction cannot capture."""
    return (
        isinstance(x, tf.Tensor)
        and isinstance(x, tf.__internal__.EagerTensor)
        and not isinstance(tf.compat.v1.get_default_graph(), tf.__internal__.FuncGraph)
    )


def _meet_keras() -> bool:
    """Add Keras's own variables and symbolic tensors once the program has imported Keras; True if that was now."""
    global _keras_seen, _symbolic_types
    if _keras_seen:
        return False
    keras = sys.modules.get("keras")
    variable, tensor = getattr(keras, "Variable", None), getattr(keras, "KerasTensor", None)
    if not isinstance(variable, type) or not isinstance(tensor, type):
        return False
    _keras_seen = True
    _symbolic_types += (variable, tensor)
    return True
