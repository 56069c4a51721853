"""A condition -> a scalar bool tensor with Python's truth of it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.either import Either
from autoimport.operators.lists import TensorList, stand_in
from autoimport.operators.numbers import Number
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone

_ALWAYS_TRUE = (tf.SparseTensor, tf.IndexedSlices, tf.RaggedTensor, tf.TensorArray)  # no `__bool__`, no `__len__`
_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


def predicate(condition: Any) -> Any:
    """The truth of `condition`, symbolic or not, as a scalar bool tensor.

    Raises:
      ValueError: a tensor of several elements, as in eager execution.
    """
    condition = stand_in(condition)
    if not is_symbolic(condition):
        return tf.constant(bool(condition))
    if isinstance(condition, Either):
        return tf.where(condition.present, predicate(condition.value), predicate(condition.other))
    if isinstance(condition, MaybeNone):
        return tf.cond(condition.present, lambda: predicate(condition.value), lambda: tf.constant(False))
    if isinstance(condition, TensorList):
        return tf.greater(condition.count(), 0)
    if isinstance(condition, _ALWAYS_TRUE):
        return tf.constant(True)
    if isinstance(condition, (tf.data.Dataset, tf.data.Iterator)):
        refuse("the truth of a dataset is needed while the graph is built")
    tensor = condition.tensor if isinstance(condition, Number) else tf.convert_to_tensor(condition)
    if tensor.shape.rank != 0:
        tensor = _only_element(tensor)
    if tensor.dtype == tf.bool:
        return tensor
    if tensor.dtype == tf.string:
        return tf.strings.length(tensor) > 0
    return tf.not_equal(tensor, tf.zeros([], tensor.dtype))


def _only_element(tensor: Any) -> Any:
    count = tensor.shape.num_elements()
    if count == 0:
        raise ValueError("The truth value of an empty array is ambiguous.")
    if count is not None and count != 1:
        raise ValueError(_AMBIGUOUS)
    if count is None and observer.current() is not None:
        tensor = fail_if(tf.not_equal(tf.size(tensor), 1), "the truth of several elements is asked for", tensor)
        return tf.reshape(tensor, [-1])[0]
    return tf.reshape(tensor, [])  # in the person's graph TensorFlow complains when it runs
