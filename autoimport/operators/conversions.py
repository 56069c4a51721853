"""`int(x)`, `float(x)` and `bool(x)` of a symbolic value -> a Number."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autoimport.operators.checks import refuse
from autoimport.operators.logic import condition
from autoimport.operators.number_arithmetic import FAR
from autoimport.operators.numbers import Number
from autoimport.operators.numpy_values import Later, NumpyValue
from autoimport.operators.undefined import MaybeNone


def _scalar(x: Any, what: str) -> Any:
    """The tensor of a scalar of numbers."""
    tensor = x.scalar() if isinstance(x, NumpyValue) else tf.convert_to_tensor(x)
    if tensor.shape.rank != 0:
        if tensor.shape.rank is not None:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        refuse(f"`{what}` of a tensor of unknown rank")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating or tensor.dtype.is_bool):
        refuse(f"`{what}` of a {tensor.dtype.name} tensor")
    return tensor


def to_int(x: Any) -> Any:
    """`int(x)`: truncates towards zero."""
    if type(x) is Later:
        return Later.of(int, (x,), {})
    if isinstance(x, MaybeNone):
        x = x.resolve()
    if isinstance(x, Number):
        return x.__trunc__()
    tensor = _scalar(x, "int")
    if tensor.dtype.is_floating:
        return Number(float, tensor).__trunc__()
    if tensor.dtype == tf.uint64:
        refuse("`int` of a uint64 tensor")
    low, high = (0, 1) if tensor.dtype.is_bool else (int(tensor.dtype.min), int(tensor.dtype.max))
    return Number(int, tensor, max(low, -FAR), min(high, FAR))


def to_float(x: Any) -> Any:
    """`float(x)`: every float32 is a float64 too, and so is an int up to 2**53."""
    if type(x) is Later:
        return Later.of(float, (x,), {})
    if isinstance(x, MaybeNone):
        x = x.resolve()
    return Number(float, x.float64() if isinstance(x, Number) else _scalar(x, "float"))


def to_bool(x: Any) -> Number:
    """`bool(x)`."""
    return Number(bool, condition(x))
