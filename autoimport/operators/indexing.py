"""`obj[key]` with a symbolic key, and the rows of a symbolic tensor -> graph values."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.lists import TensorList
from autoimport.operators.numbers import DTYPES, Known, Number, Outranking
from autoimport.operators.selects import may_select
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone


def is_symbolic_key(key: Any) -> bool:
    """Whether `key` is or contains a symbolic value."""
    if type(key) is slice:
        return any(is_symbolic(part) for part in (key.start, key.stop, key.step))
    if type(key) is tuple:
        return any(is_symbolic_key(part) for part in key)
    return is_symbolic(key)


def item(obj: Any, key: Any) -> Any:
    """`obj[key]` where `key` is symbolic."""
    if isinstance(obj, TensorList):
        return obj[key]
    if isinstance(obj, Outranking):
        return obj[key]  # type: ignore[index]
    if isinstance(obj, MaybeNone):
        return item(obj.resolve(), key)
    if is_symbolic(obj) or isinstance(obj, (tf.Tensor, tf.Variable)):
        return obj[tensor_key(key)]
    if type(obj) in {list, tuple} and isinstance(key, (Number, tf.Tensor)):
        return _select(obj, key)
    if type(obj) is range and isinstance(key, Number):
        position = _position(key, len(obj), "range object index out of range")
        values = position * obj.step + obj.start
        return Number(int, values, min(obj.start, obj.stop), max(obj.start, obj.stop))
    trace = observer.current()
    return obj[key] if trace is None else trace.read_item(obj, key)


def set_item(obj: Any, key: Any, value: Any) -> None:
    """`obj[key] = value` where `key` is symbolic."""
    if type(obj) in {list, dict}:
        refuse(f"an item of a {type(obj).__name__} is stored at a symbolic {type(key).__name__}")
    obj[key] = value


def tensor_key(key: Any) -> Any:
    """A key with its Numbers as tensors, for a tensor's `[]`; what is known before each launch, too."""
    if type(key) is tuple:
        return tuple(tensor_key(part) for part in key)
    if type(key) is slice:
        return slice(*(tensor_key(part) for part in (key.start, key.stop, key.step)))
    if isinstance(key, Known) and isinstance(key, int):
        key = key.number()
    if isinstance(key, np.integer) and type(key) is not key.__class__:
        tensor = tf.convert_to_tensor(key)  # not numpy's own, but what stands for one
        if tensor.dtype not in (tf.int32, tf.int64):
            refuse("takes a place in a tensor by a small integer of numpy, which may overflow")
        return tf.cast(tensor, tf.int64)
    return key.int64() if isinstance(key, Number) and key.kind is int else key


def items(obj: Any) -> Any:
    """The items over which Python iterates in the symbolic `obj`, when their number is known."""
    if isinstance(obj, MaybeNone):
        walk = obj.walk()
        return items(obj.resolve()) if walk is None else walk
    if isinstance(obj, Outranking):
        return iter(obj)  # type: ignore[call-overload]
    if isinstance(obj, TensorList) or hasattr(obj, "items"):  # also symbolic `enumerate`, `zip`, `reversed`
        return obj.items()
    if isinstance(obj, Number):
        raise TypeError(f"{obj.kind.__name__!r} object is not iterable")
    if isinstance(obj, (tf.Tensor, tf.Variable)):
        shape = obj.shape
        if shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        if shape.rank is None or shape[0] is None:
            refuse("the number of rows of a tensor is not known while the graph is built")
        return tf.unstack(tf.convert_to_tensor(obj), num=shape[0])
    if isinstance(obj, tf.RaggedTensor):
        count = tf.get_static_value(obj.nrows())
        if count is None:
            refuse("the number of rows of a ragged tensor is not known while the graph is built")
        return [obj[i] for i in range(int(count))]
    refuse(f"Python iterates over a symbolic {type(obj).__name__}")


def _position(key: Any, length: int, message: str) -> Any:
    """`key` as an int64 tensor from 0 to `length` - 1, checked."""
    if isinstance(key, Number):
        position = key.int64()
    elif key.dtype.is_integer and key.shape.rank == 0:
        position = tf.cast(key, tf.int64)
    else:
        raise TypeError("list indices must be integers or slices")
    position = tf.where(position < 0, position + length, position)
    return fail_if((position < 0) | (position >= length), message, position)


def _select(sequence: Any, key: Any) -> Any:
    """An item of a Python list or tuple at a symbolic place: its items must be of one kind."""
    trace = observer.current()
    values = [sequence[i] if trace is None else trace.read_item(sequence, i) for i in range(len(sequence))]
    position = _position(key, len(values), f"{type(sequence).__name__} index out of range")
    position = tf.clip_by_value(position, 0, max(len(values) - 1, 0))
    kinds = {value.kind if isinstance(value, Number) else type(value) for value in values}
    if len(kinds) == 1 and (kind := next(iter(kinds))) in DTYPES:
        return Number(kind, tf.gather(tf.stack([Number.of(value).tensor for value in values]), position))
    tensors = all(isinstance(value, tf.Tensor) for value in values)
    if values and tensors and len({(value.dtype, tuple(value.shape.as_list())) for value in values}) == 1:
        if not may_select(values[0].dtype):
            refuse("takes one of several tensors at a symbolic place: the gradients of the others are None, not zeros")
        return tf.gather(tf.stack(values), position)
    refuse(f"an item of a {type(sequence).__name__} of unlike values is taken at a symbolic place")
