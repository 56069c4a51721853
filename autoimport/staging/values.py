"""Stand-ins for values that a trace may look at in part: numpy arrays, and shapes with unknown dimensions.

In: what a graph form reads. Out: objects that turn into graph tensors where TensorFlow takes them, and give the trace up
(Unstageable) where Python would need the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number


def _needs_values(*_args: Any, **_kwargs: Any) -> Any:
    raise Unstageable("computes with a numpy array in Python", "do it in TensorFlow, or outside the function")


class Array:
    """A numpy array or scalar from outside the trace: an input where it meets a tensor, otherwise nothing is known of it.

    Attributes:
      shape, dtype, ndim, size: as of the array; the trace depends on them.
    """

    # Makes numpy leave binary operators to us.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, example: Any, tensor: Callable[[Any], Any]) -> None:
        self._example = example
        self._tensor = tensor
        self.shape: tuple[int, ...] = example.shape
        self.dtype = example.dtype
        self.ndim: int = example.ndim
        self.size: int = example.size

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return self._tensor(dtype)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # `isinstance(x, np.ndarray)` in the person's code answers as it does in eager.
        return type(self._example)

    def __len__(self) -> int:
        return len(self._example)

    def __getattr__(self, name: str) -> Any:
        raise Unstageable(f"reads .{name} of a numpy array", "do it outside the function")

    def _binary(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:  # type: ignore[misc]  # noqa: N805
        def method(self: Array, other: Any) -> Any:
            if isinstance(other, (tf.Tensor, tf.Variable)):
                return operation(self, other)
            return _needs_values()

        return method

    __add__ = _binary(lambda a, b: b.__radd__(a))
    __sub__ = _binary(lambda a, b: b.__rsub__(a))
    __mul__ = _binary(lambda a, b: b.__rmul__(a))
    __truediv__ = _binary(lambda a, b: b.__rtruediv__(a))
    __matmul__ = _binary(lambda a, b: b.__rmatmul__(a))
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmatmul__ = _needs_values
    __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _needs_values
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __invert__ = _needs_values
    __and__ = __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = _needs_values
    __getitem__ = __setitem__ = __iter__ = __contains__ = __bool__ = _needs_values
    __int__ = __float__ = __index__ = __array__ = __str__ = __repr__ = __format__ = _needs_values

    def __eq__(self, other: object) -> Any:
        return _needs_values()

    def __ne__(self, other: object) -> Any:
        return _needs_values()


def as_tensors(value: Any) -> Any:
    """`value` with each Array in it replaced by a tensor, as TensorFlow would convert the numpy array."""
    if type(value) is Array:
        return value.__tf_tensor__()
    if type(value) in (list, tuple):
        return type(value)(as_tensors(item) for item in value)
    if type(value) is dict:
        return {key: as_tensors(item) for key, item in value.items()}
    return value


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
