"""A stand-in for shapes with unknown dimensions, and what is numpy's.

In: a symbolic tensor whose shape depends on values. Out: an object that turns into graph tensors where TensorFlow takes
it, and gives the trace up (Unstageable) where Python would need the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number


class Shape:
    """The static shape of a symbolic tensor with unknown dimensions, which eager knows: those are symbolic ints.

    Args:
      static: the dimensions, None for those that are not known.
      sizes: makes the tensor of all of them, an int64 vector.
    """

    def __init__(self, static: list[int | None], sizes: Callable[[], Any]) -> None:
        self._static = static
        self._sizes = sizes

    @staticmethod
    def of(tensor: Any) -> Shape:
        """The shape of a tensor."""
        if tensor.shape.rank is None:
            raise Unstageable("reads the shape of a tensor whose rank depends on its values")
        return Shape(tensor.shape.as_list(), lambda: tf.shape(tensor, out_type=tf.int64))

    def _dimension(self, index: int) -> Any:
        known = self._static[index]
        return Number(int, self._sizes()[index]) if known is None else known

    @property
    def rank(self) -> int:
        return len(self._static)

    ndims = rank

    def as_list(self) -> list[Any]:
        """All dimensions, ints and symbolic ints."""
        return [self._dimension(index) for index in range(len(self._static))]

    def concatenate(self, other: Any) -> Any:
        """`self + other`."""
        return self._joined([self, other])

    def _joined(self, parts: list[Any]) -> Any:
        dimensions = [dimension for part in parts for dimension in part]
        if not all(isinstance(d, Number) or (type(d) is int and d >= 0) for d in dimensions):
            self._unknown()
        static = [None if isinstance(dimension, Number) else dimension for dimension in dimensions]
        return Shape(static, lambda: tf.stack([tf.convert_to_tensor(d, tf.int64) for d in dimensions]))

    def __add__(self, other: Any) -> Any:
        return self._joined([self, other])

    def __radd__(self, other: Any) -> Any:
        return self._joined([other, self])

    def __len__(self) -> int:
        return len(self._static)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.as_list())

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return self._dimension(range(len(self._static))[key])
        part = self._static[key]
        return Shape(part, lambda: self._sizes()[key]) if None in part else tf.TensorShape(part)

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return tf.cast(self._sizes(), dtype or tf.int32)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(tf.TensorShape, name):  # numpy and TensorFlow look for some on everything
            raise AttributeError(f"'TensorShape' object has no attribute {name!r}")
        raise Unstageable(f"reads .{name} of a shape that depends on values")

    def _unknown(self, *_args: Any) -> NoReturn:
        raise Unstageable("needs a shape that depends on values")

    __eq__ = __ne__ = __str__ = __repr__ = __format__ = __bool__ = _unknown
    __hash__ = None  # type: ignore[assignment]


def is_numpy(value: Any) -> bool:
    """A numpy array or scalar (not an eager tensor, which only looks like one)."""
    return isinstance(value, (np.ndarray, np.generic))
