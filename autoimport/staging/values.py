"""A stand-in for shapes with unknown dimensions, and what is numpy's.

In: a symbolic tensor whose shape depends on values. Out: an object that turns into graph tensors where TensorFlow takes
it, and gives the trace up (Unstageable) where Python would need the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number


class Shape:
    """The static shape of a symbolic tensor with unknown dimensions, which eager knows: those are symbolic ints."""

    def __init__(self, tensor: Any) -> None:
        static = tensor.shape
        if static.rank is None:
            raise Unstageable("reads the shape of a tensor whose rank depends on its values")
        self._tensor = tensor
        self._static: list[int | None] = static.as_list()

    def _dimension(self, index: int) -> Any:
        known = self._static[index]
        if known is not None:
            return known
        return Number(int, tf.cast(tf.shape(self._tensor, out_type=tf.int64)[index], tf.int64))

    @property
    def rank(self) -> int:
        return len(self._static)

    ndims = rank

    def as_list(self) -> list[Any]:
        """All dimensions, ints and symbolic ints."""
        return [self._dimension(index) for index in range(len(self._static))]

    def __len__(self) -> int:
        return len(self._static)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.as_list())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.as_list()[key]
        return self._dimension(range(len(self._static))[key])

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return tf.shape(self._tensor, out_type=dtype or tf.int32)

    def __getattr__(self, name: str) -> Any:
        raise Unstageable(f"reads .{name} of a shape that depends on values")

    def _unknown(self, *_args: Any) -> Any:
        raise Unstageable("needs a shape that depends on values")

    __eq__ = __ne__ = __str__ = __repr__ = __format__ = __bool__ = __add__ = __radd__ = _unknown
    __hash__ = None  # type: ignore[assignment]


def is_numpy(value: Any) -> bool:
    """A numpy array or scalar (not an eager tensor, which only looks like one)."""
    return isinstance(value, (np.ndarray, np.generic))
