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

from autoimport.operators import observer, symbolic
from autoimport.operators.checks import fail_if, refuse

DTYPES: dict[type, tf.DType] = {int: tf.int64, float: tf.float64, bool: tf.bool}
_PLAIN_DTYPES: dict[type, tf.DType] = {int: tf.int32, float: tf.float32, bool: tf.bool}

# An int of unknown history is taken to lie within 2**62. Small steps may lead beyond without a check: it takes 2**38
# iterations of a loop that adds 2**24 to get from there to the end of int64.
FAR = 2**62
_SLACK = 2**24
_EXACT = 2**53  # ints up to here are exact as float64


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
        if type(value) is int and not -(2**63) <= value < 2**63:
            refuse(f"an int of {value.bit_length()} bits meets a symbolic number", error=OverflowError)
        bounds = (value, value) if type(value) is int else ()
        return cls(type(value), tf.constant(value, DTYPES[type(value)]), *bounds)

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
        return _int(-self.int64(), -self.high, -self.low, lambda: -self.float64())

    def __abs__(self) -> Number:
        if self.kind is float:
            return Number(float, tf.abs(self.tensor))
        return _int(tf.abs(self.int64()), 0, self.reach(), lambda: self.float64())

    def __invert__(self) -> Number:
        _whole(self, self, "~")
        return _int(tf.bitwise.invert(self.int64()), -self.high - 1, -self.low - 1, lambda: self.float64())

    def __trunc__(self) -> Number:
        return _to_whole(self, _truncate)

    def __floor__(self) -> Number:
        return _to_whole(self, tf.floor)

    def __ceil__(self) -> Number:
        return _to_whole(self, tf.math.ceil)

    def __round__(self, digits: Any = None) -> Number:
        if digits is not None:
            if self.kind is not float and type(digits) is int and digits >= 0:
                return +self
            refuse("a symbolic number is rounded to decimals")
        return _to_whole(self, tf.round)  # to even, as Python does

    def is_integer(self) -> Number:
        """As `float.is_integer`."""
        x = self.float64()
        return Number(bool, tf.math.is_finite(x) & tf.equal(tf.floor(x), x))

    # Binary operations: `_binary` and `_comparison` make them below.
    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            refuse("`pow` with a modulus meets a symbolic number")
        return _apply(operator.pow, _power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _apply(operator.pow, _power, self, other, reflected=True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


class Known:
    """A Python number that changes from call to call of a graph, but that Python knows before each: see staging.host."""

    __slots__ = ()

    def number(self) -> Number:
        """The same as a Number, an input of the graph."""
        raise NotImplementedError

    def settled(self) -> Any:
        """The Python number of this call; the graph holds for it alone."""
        raise NotImplementedError


Implementation = Callable[[Number, Number], Any]


def _apply(python: Callable[..., Any], graph: Implementation, x: Number, y: Any, *, reflected: bool = False) -> Any:
    """`x op y` (or `y op x`): as Python numbers with `graph`, or as tensors with `python` where `y` is one."""
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


def _int(tensor: Any, low: int, high: int, shadow: Callable[[], Any]) -> Number:
    """An int result within bounds; `shadow` gives it once more as float64, for the overflow check."""
    if max(abs(low), abs(high)) > FAR + _SLACK:
        low, high = max(low, -FAR), min(high, FAR)
        if observer.current() is not None:
            tensor = fail_if(tf.abs(shadow()) >= float(FAR), "an int outgrows 64 bits", tensor)
    return Number(int, tensor, low, high)


def _whole(x: Number, y: Number, symbol: str) -> None:
    if x.kind is float or y.kind is float:
        kinds = f"{x.kind.__name__!r} and {y.kind.__name__!r}"
        raise TypeError(f"unsupported operand type(s) for {symbol}: {kinds}")


def _truncate(x: Any) -> Any:
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def _to_whole(x: Number, rounded: Callable[[Any], Any]) -> Number:
    """A float rounded to an int, as `int`, `round`, `math.floor` and `math.ceil` do; an int is itself."""
    if x.kind is not float:
        return +x
    value = rounded(x.tensor)
    if observer.current() is not None:
        # Not as `not (... < FAR)`: the rewriter would turn that into `>=`, which is false for NaN.
        too_large = (tf.abs(value) >= float(FAR)) | tf.math.is_nan(value)
        value = fail_if(too_large, "a float too large for a 64-bit int", value)
    return Number(int, tf.cast(value, tf.int64))


def _floats(x: Number, y: Number) -> bool:
    return x.kind is float or y.kind is float


def _add(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return Number(float, x.float64() + y.float64())
    return _int(x.int64() + y.int64(), x.low + y.low, x.high + y.high, lambda: x.float64() + y.float64())


def _subtract(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return Number(float, x.float64() - y.float64())
    return _int(x.int64() - y.int64(), x.low - y.high, x.high - y.low, lambda: x.float64() - y.float64())


def _multiply(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return Number(float, x.float64() * y.float64())
    corners = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
    return _int(x.int64() * y.int64(), min(corners), max(corners), lambda: x.float64() * y.float64())


def _divisor(y: Number, tensor: Any) -> Any:
    """`tensor`, the value of `y`, checked not to be zero."""
    constant = tf.get_static_value(tensor)
    is_bounded = y.kind is not float and (y.low > 0 or y.high < 0)
    if is_bounded or (constant is not None and constant != 0):
        return tensor
    zero = tf.equal(tensor, tf.zeros([], tensor.dtype))
    tensor = fail_if(zero, "division by zero", tensor)
    return tf.where(zero, tf.ones([], tensor.dtype), tensor)  # the integer kernels stop the graph at zero


def exact_as_float(x: Number) -> Any:
    """`x` as float64 where Python would not round: an int beyond 2**53 gives up."""
    value = x.float64()
    if x.kind is not float and x.reach() > _EXACT and observer.current() is not None:
        value = fail_if(tf.abs(value) > float(_EXACT), "an int beyond 2**53 meets a float", value)
    return value


def _divide(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return Number(float, x.float64() / _divisor(y, y.float64()))
    return Number(float, exact_as_float(x) / _divisor(y, exact_as_float(y)))


def _floor_divide(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return Number(float, _float_divmod(x, y)[0])
    tensor = tf.math.floordiv(x.int64(), _divisor(y, y.int64()))
    return _int(tensor, -x.reach(), x.reach(), lambda: x.float64())


def _modulo(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return Number(float, _float_divmod(x, y)[1])
    tensor = tf.math.floormod(x.int64(), _divisor(y, y.int64()))
    return Number(int, tensor, min(0, y.low + 1), max(0, y.high - 1))


def _float_divmod(x: Number, y: Number) -> tuple[Any, Any]:
    """Quotient and remainder as CPython's `float_divmod` computes them, signed zeros included."""
    a, b = x.float64(), _divisor(y, y.float64())
    zero = tf.constant(0.0, tf.float64)
    remainder = tf.raw_ops.TruncateMod(x=a, y=b)
    quotient = (a - remainder) / b
    nonzero = tf.not_equal(remainder, zero)
    crosses = nonzero & tf.not_equal(b < 0, remainder < 0)
    remainder = tf.where(nonzero, tf.where(crosses, remainder + b, remainder), tf.where(b < 0, -zero, zero))
    quotient = tf.where(crosses, quotient - 1.0, quotient)
    floor = tf.floor(quotient)
    floor = tf.where(quotient - floor > 0.5, floor + 1.0, floor)
    negative = tf.bitcast(a / b, tf.int64) < 0
    return tf.where(tf.not_equal(quotient, zero), floor, tf.where(negative, -zero, zero)), remainder


def _power(x: Number, y: Number) -> Number:
    """Powers: of ints exactly; of floats only where the C library's `pow` cannot differ in the last bit."""
    constant = tf.get_static_value(y.tensor)
    if not _floats(x, y) and constant is not None and constant >= 0:
        return _int_power(+x, int(constant))
    if constant is not None and constant in (0, 1):
        return Number(float, x.float64() if constant else tf.ones([], tf.float64))
    base = tf.get_static_value(x.tensor)
    if not _floats(x, y) and base is not None and base == 2 and y.low >= 0:
        return _left_shift(x, y)
    if observer.current() is not None:
        refuse("a power of symbolic numbers may differ from Python's in the last bit")
    if not _floats(x, y) and y.low >= 0:
        return Number(int, tf.pow(x.int64(), y.int64()))
    return Number(float, tf.pow(x.float64(), y.float64()))


def _int_power(x: Number, exponent: int) -> Number:
    result = Number.of(1)
    while exponent:
        if exponent & 1:
            result = _multiply(result, x)
        exponent >>= 1
        if exponent:
            x = _multiply(x, x)
    return result


def _left_shift(x: Number, y: Number) -> Number:
    _whole(x, y, "<<")
    count = y.int64()
    if y.low < 0:
        count = fail_if(count < 0, "negative shift count", count)
    count = tf.clip_by_value(count, 0, 63)
    power = 2 ** min(max(y.high, 0), 64)
    low, high = min(x.low, x.low * power), max(x.high, x.high * power)
    shadow = lambda: x.float64() * tf.pow(tf.constant(2.0, tf.float64), y.float64())  # noqa: E731
    return _int(tf.bitwise.left_shift(x.int64(), count), low, high, shadow)


def _right_shift(x: Number, y: Number) -> Number:
    _whole(x, y, ">>")
    count = y.int64()
    if y.low < 0:
        count = fail_if(count < 0, "negative shift count", count)
    return Number(int, tf.bitwise.right_shift(x.int64(), tf.clip_by_value(count, 0, 63)), -x.reach(), x.reach())


def _bitwise(symbol: str, logical: Callable[..., Any], bits: Callable[..., Any]) -> Implementation:
    def implementation(x: Number, y: Number) -> Number:
        _whole(x, y, symbol)
        if x.kind is bool and y.kind is bool:
            return Number(bool, logical(x.tensor, y.tensor))
        bound: int = 2 ** max(x.reach(), y.reach()).bit_length()
        low = 0 if x.low >= 0 and y.low >= 0 else -bound
        return Number(int, bits(x.int64(), y.int64()), low, bound)

    return implementation


def _compare(graph: Callable[..., Any]) -> Implementation:
    def implementation(x: Number, y: Number) -> Number:
        if not _floats(x, y):
            return Number(bool, graph(x.int64(), y.int64()))
        return Number(bool, graph(exact_as_float(x), exact_as_float(y)))  # Python compares without rounding

    return implementation


def tensor_equal(x: Any, y: Any) -> Any:
    """`x == y` of tensors, also in v1 graphs, where the operator compares identity."""
    return tf.equal(x, y)


def tensor_not_equal(x: Any, y: Any) -> Any:
    """`x != y` of tensors, also in v1 graphs."""
    return tf.not_equal(x, y)


_BINARY: dict[str, tuple[Callable[..., Any], Implementation]] = {
    "add": (operator.add, _add),
    "sub": (operator.sub, _subtract),
    "mul": (operator.mul, _multiply),
    "truediv": (operator.truediv, _divide),
    "floordiv": (operator.floordiv, _floor_divide),
    "mod": (operator.mod, _modulo),
    "lshift": (operator.lshift, _left_shift),
    "rshift": (operator.rshift, _right_shift),
    "and": (operator.and_, _bitwise("&", tf.logical_and, tf.bitwise.bitwise_and)),
    "or": (operator.or_, _bitwise("|", tf.logical_or, tf.bitwise.bitwise_or)),
    "xor": (operator.xor, _bitwise("^", tf.math.logical_xor, tf.bitwise.bitwise_xor)),
}

_COMPARISONS: dict[str, tuple[Callable[..., Any], Implementation]] = {
    "lt": (operator.lt, _compare(tf.less)),
    "le": (operator.le, _compare(tf.less_equal)),
    "gt": (operator.gt, _compare(tf.greater)),
    "ge": (operator.ge, _compare(tf.greater_equal)),
    "eq": (tensor_equal, _compare(tf.equal)),
    "ne": (tensor_not_equal, _compare(tf.not_equal)),
}


def _define_operators() -> None:
    def method(python: Callable[..., Any], graph: Implementation, reflected: bool) -> Callable[[Number, Any], Any]:
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
