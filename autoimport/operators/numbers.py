"""A Python number that became symbolic, in a loop or a branch -> Python's arithmetic on it, built as graph.

Inside, a `Number` is an int64, float64 or bool tensor, so that it counts exactly as Python does. Where it meets a
tensor it is weak, as a Python number is: the tensor's dtype wins. What int64 cannot hold is checked when the graph
runs; static bounds keep most checks, above all those of counters, out of the graph.
"""

from __future__ import annotations

import numbers as abstract_numbers
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import number_arithmetic as arithmetic
from autoimport.operators import observer, symbolic
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.number_arithmetic import FAR

DTYPES: dict[type, tf.DType] = {int: tf.int64, float: tf.float64, bool: tf.bool}
_PLAIN_DTYPES: dict[type, tf.DType] = {int: tf.int32, float: tf.float32, bool: tf.bool}


@symbolic.register
class Number:
    """A symbolic Python int, float or bool.

    Attributes:
      kind: `int`, `float` or `bool`.
      tensor: its value, a scalar int64, float64 or bool tensor.
      low, high: static bounds of an int, both included.
    """

    __slots__ = ("high", "kind", "low", "tensor")
    __array_ufunc__ = None  # numpy leaves operators to us

    def __init__(self, kind: type, tensor: Any, low: int = -FAR, high: int = FAR) -> None:
        self.kind = kind
        self.tensor = tf.cast(tensor, DTYPES[kind])
        self.low, self.high = (0, 1) if kind is bool else (low, high)

    @classmethod
    def of(cls, value: Any) -> Number:
        """`value`, a Python int, float or bool (or a Number), as a Number."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Known):
            return value.number()
        if type(value) is int and not -(2**63) <= value < 2**63:
            refuse(f"an int of {value.bit_length()} bits meets a symbolic number", error=OverflowError)
        bounds = (value, value) if type(value) is int else ()
        return cls(type(value), tf.constant(value, DTYPES[type(value)]), *bounds)

    @classmethod
    def kind_of(cls, value: Any) -> type | None:
        """The kind that `value` would have as a Number; None if it is no Python number."""
        return value.kind if isinstance(value, Number) else type(value) if type(value) in DTYPES else None

    def int64(self) -> Any:
        """The value of an int or bool as an int64 tensor."""
        return tf.cast(self.tensor, tf.int64)

    def float64(self) -> Any:
        """The value as a float64 tensor."""
        if self.kind is bool:
            return tf.cast(self.int64(), tf.float64)
        return tf.cast(self.tensor, tf.float64)

    def cast(self, dtype: Any) -> Any:
        """The value as a tensor of `dtype`, where TensorFlow would convert the Python number to it."""
        dtype = tf.as_dtype(dtype)
        fits = (
            dtype.is_floating
            or dtype.is_complex
            or (dtype.is_integer and self.kind is not float)
            or (dtype.is_bool and self.kind is bool)
        )
        if not fits:
            raise TypeError(f"Cannot convert a symbolic {self.kind.__name__} to a tensor of dtype {dtype.name}")
        return tf.cast(self.tensor, dtype)

    def reach(self) -> int:
        """The largest absolute value that the bounds allow."""
        return max(abs(self.low), abs(self.high))

    # What only the number itself can answer.
    def _needs_value(self, what: str) -> Any:
        refuse(f"{what} a symbolic {self.kind.__name__} is needed while the graph is built")

    def __bool__(self) -> bool:
        return bool(self._needs_value("the truth of"))

    def __index__(self) -> int:
        return int(self._needs_value("the value of"))

    def __int__(self) -> int:
        return int(self._needs_value("the value of"))

    def __float__(self) -> float:
        return float(self._needs_value("the value of"))

    def __complex__(self) -> complex:
        return complex(self._needs_value("the value of"))

    def __hash__(self) -> int:
        return int(self._needs_value("the hash of"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._needs_value("an array of")

    def __format__(self, spec: str) -> str:
        if spec and observer.current() is None:
            refuse("a symbolic number cannot be formatted")
        return str(self)

    def __repr__(self) -> str:
        if observer.current() is not None:
            self._needs_value("the text of")
        return f"<symbolic {self.kind.__name__}: {self.tensor!r}>"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self.kind, name):
            refuse(f"`.{name}` of a symbolic {self.kind.__name__} is not known")
        raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")

    # Unary operations.
    @property
    def real(self) -> Number:
        return +self

    def __pos__(self) -> Number:
        return self if self.kind is not bool else Number(int, self.int64(), 0, 1)

    def __neg__(self) -> Number:
        if self.kind is float:
            return Number(float, -self.tensor)
        return arithmetic.whole(self, -self.int64(), -self.high, -self.low, lambda: -self.float64())

    def __abs__(self) -> Number:
        if self.kind is float:
            return Number(float, tf.abs(self.tensor))
        return arithmetic.whole(self, tf.abs(self.int64()), 0, self.reach(), lambda: self.float64())

    def __invert__(self) -> Number:
        arithmetic.require_whole(self, self, "~")
        return arithmetic.whole(
            self, tf.bitwise.invert(self.int64()), -self.high - 1, -self.low - 1, lambda: self.float64()
        )

    def __trunc__(self) -> Number:
        return arithmetic.to_whole(self, arithmetic.truncate)

    def __floor__(self) -> Number:
        return arithmetic.to_whole(self, tf.floor)

    def __ceil__(self) -> Number:
        return arithmetic.to_whole(self, tf.math.ceil)

    def __round__(self, digits: Any = None) -> Number:
        if digits is not None:
            if self.kind is not float and type(digits) is int and digits >= 0:
                return +self
            refuse("a symbolic number is rounded to decimals")
        return arithmetic.to_whole(self, tf.round)  # to even, as Python does

    def is_integer(self) -> Number:
        """As `float.is_integer`."""
        x = self.float64()
        return Number(bool, tf.math.is_finite(x) & tf.equal(tf.floor(x), x))

    # Binary operations: `_binary` and `_comparison` make them below.
    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            refuse("`pow` with a modulus meets a symbolic number")
        return _apply(operator.pow, arithmetic.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _apply(operator.pow, arithmetic.power, self, other, reflected=True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


class Known:
    """A number that changes from call to call of a graph, but that Python knows before each: see staging.host."""

    __slots__ = ()

    def number(self) -> Number:
        """The same as a Number, an input of the graph."""
        raise NotImplementedError

    def settled(self) -> Any:
        """The Python number of this call; the graph holds for it alone."""
        raise NotImplementedError


class Outranking:
    """A value with operators of its own that know what to make of a Number: see numpy_values, undefined."""

    __slots__ = ()


def _apply(
    python: Callable[..., Any], graph: arithmetic.Implementation, x: Number, y: Any, *, reflected: bool = False
) -> Any:
    """`x op y` (or `y op x`): as Python numbers with `graph`, or as tensors with `python` where `y` is one."""
    if isinstance(y, Outranking):
        return NotImplemented
    if isinstance(y, Known):
        y = y.number()
    if isinstance(y, Number) or type(y) in DTYPES:
        other = Number.of(y)
        return graph(other, x) if reflected else graph(x, other)
    if isinstance(y, (np.generic, np.ndarray)):
        if observer.current() is not None:
            refuse("a numpy value meets a symbolic number")
        y = tf.constant(y)
    dtype = tensor_dtype(y)
    if dtype is not None:
        tensor = x.cast(dtype)
        return python(y, tensor) if reflected else python(tensor, y)
    if isinstance(y, abstract_numbers.Number):
        refuse(f"a {type(y).__name__} meets a symbolic {x.kind.__name__}")
    return NotImplemented


def tensor_dtype(x: Any) -> Any:
    """The dtype to which a number is cast that meets `x`; None if `x` is no tensor or variable."""
    if isinstance(x, (tf.Tensor, tf.Variable, tf.RaggedTensor, tf.SparseTensor)):
        return x.dtype.base_dtype if isinstance(x, tf.Variable) else x.dtype
    if symbolic.is_symbolic(x) and not isinstance(x, tf.TensorArray):
        dtype = getattr(x, "dtype", None)  # Keras says it as a string
        return tf.as_dtype(dtype) if isinstance(dtype, (str, tf.DType)) else None
    return None


def tensor_equal(x: Any, y: Any) -> Any:
    """`x == y` of tensors, also in v1 graphs, where the operator compares identity."""
    return tf.equal(x, y)


def tensor_not_equal(x: Any, y: Any) -> Any:
    """`x != y` of tensors, also in v1 graphs."""
    return tf.not_equal(x, y)


_BINARY: dict[str, tuple[Callable[..., Any], arithmetic.Implementation]] = {
    "add": (operator.add, arithmetic.add),
    "sub": (operator.sub, arithmetic.subtract),
    "mul": (operator.mul, arithmetic.multiply),
    "truediv": (operator.truediv, arithmetic.divide),
    "floordiv": (operator.floordiv, arithmetic.floor_divide),
    "mod": (operator.mod, arithmetic.modulo),
    "lshift": (operator.lshift, arithmetic.left_shift),
    "rshift": (operator.rshift, arithmetic.right_shift),
    "and": (operator.and_, arithmetic.bitwise("&", tf.logical_and, tf.bitwise.bitwise_and)),
    "or": (operator.or_, arithmetic.bitwise("|", tf.logical_or, tf.bitwise.bitwise_or)),
    "xor": (operator.xor, arithmetic.bitwise("^", tf.math.logical_xor, tf.bitwise.bitwise_xor)),
}

_COMPARISONS: dict[str, tuple[Callable[..., Any], arithmetic.Implementation]] = {
    "lt": (operator.lt, arithmetic.compare(tf.less)),
    "le": (operator.le, arithmetic.compare(tf.less_equal)),
    "gt": (operator.gt, arithmetic.compare(tf.greater)),
    "ge": (operator.ge, arithmetic.compare(tf.greater_equal)),
    "eq": (tensor_equal, arithmetic.compare(tf.equal)),
    "ne": (tensor_not_equal, arithmetic.compare(tf.not_equal)),
}


def _define_operators() -> None:
    def method(
        python: Callable[..., Any], graph: arithmetic.Implementation, reflected: bool
    ) -> Callable[[Number, Any], Any]:
        return lambda self, other: _apply(python, graph, self, other, reflected=reflected)

    for name, (python, graph) in _BINARY.items():
        setattr(Number, f"__{name}__", method(python, graph, False))
        setattr(Number, f"__r{name}__", method(python, graph, True))
    for name, (python, graph) in _COMPARISONS.items():
        setattr(Number, f"__{name}__", method(python, graph, False))


_define_operators()


def _to_tensor(value: Number, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """What TensorFlow's functions make of a Number: what they make of a Python number."""
    if dtype is not None:
        return value.cast(dtype)
    if value.kind is int and value.reach() >= 2**31 and observer.current() is not None:
        tensor = value.tensor  # a Python int of more than 32 bits becomes an int64 tensor
        return tf.cast(fail_if(tf.not_equal(tf.cast(tf.cast(tensor, tf.int32), tf.int64), tensor),
                               "an int of more than 32 bits becomes a tensor", tensor), tf.int32)  # fmt: skip
    return value.cast(_PLAIN_DTYPES[value.kind])


tf.register_tensor_conversion_function(Number, _to_tensor, 0)
