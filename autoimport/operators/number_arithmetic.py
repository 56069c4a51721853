"""Two Numbers, or one -> the Number that Python's arithmetic gives, exactly.

An int is an int64 inside: what it cannot hold is checked when the graph runs, unless static bounds show that it fits. A
float is a float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import fail_if, refuse

if TYPE_CHECKING:
    from autoimport.operators.numbers import Number

# An int of unknown history is taken to lie within 2**62. Small steps may lead beyond without a check: it takes 2**38
# iterations of a loop that adds 2**24 to get from there to the end of int64.
FAR = 2**62
_SLACK = 2**24
_EXACT = 2**53  # ints up to here are exact as float64

Implementation = Callable[["Number", "Number"], Any]


def like(x: Number, kind: type, tensor: Any, low: int = -FAR, high: int = FAR) -> Number:
    """A Number of `kind`, computed from `x`."""
    return type(x)(kind, tensor, low, high)


def whole(x: Number, tensor: Any, low: int, high: int, shadow: Callable[[], Any]) -> Number:
    """An int computed from `x`, within bounds; `shadow` gives it once more as float64, for the overflow check."""
    if max(abs(low), abs(high)) > FAR + _SLACK:
        low, high = max(low, -FAR), min(high, FAR)
        if observer.current() is not None:
            tensor = fail_if(tf.abs(shadow()) >= float(FAR), "an int outgrows 64 bits", tensor)
    return like(x, int, tensor, low, high)


def require_whole(x: Number, y: Number, symbol: str) -> None:
    if x.kind is float or y.kind is float:
        kinds = f"{x.kind.__name__!r} and {y.kind.__name__!r}"
        raise TypeError(f"unsupported operand type(s) for {symbol}: {kinds}")


def truncate(x: Any) -> Any:
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def to_whole(x: Number, rounded: Callable[[Any], Any]) -> Number:
    """A float rounded to an int, as `int`, `round`, `math.floor` and `math.ceil` do; an int is itself."""
    if x.kind is not float:
        return +x
    value = rounded(x.tensor)
    if observer.current() is not None:
        # Not as `not (... < FAR)`: the rewriter would turn that into `>=`, which is false for NaN.
        too_large = (tf.abs(value) >= float(FAR)) | tf.math.is_nan(value)
        value = fail_if(too_large, "a float too large for a 64-bit int", value)
    return like(x, int, tf.cast(value, tf.int64))


def _floats(x: Number, y: Number) -> bool:
    return x.kind is float or y.kind is float


def add(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return like(x, float, x.float64() + y.float64())
    return whole(x, x.int64() + y.int64(), x.low + y.low, x.high + y.high, lambda: x.float64() + y.float64())


def subtract(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return like(x, float, x.float64() - y.float64())
    return whole(x, x.int64() - y.int64(), x.low - y.high, x.high - y.low, lambda: x.float64() - y.float64())


def multiply(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return like(x, float, x.float64() * y.float64())
    corners = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
    return whole(x, x.int64() * y.int64(), min(corners), max(corners), lambda: x.float64() * y.float64())


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


def divide(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return like(x, float, x.float64() / _divisor(y, y.float64()))
    return like(x, float, exact_as_float(x) / _divisor(y, exact_as_float(y)))


def floor_divide(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return like(x, float, _float_divmod(x, y)[0])
    tensor = tf.math.floordiv(x.int64(), _divisor(y, y.int64()))
    return whole(x, tensor, -x.reach(), x.reach(), lambda: x.float64())


def modulo(x: Number, y: Number) -> Number:
    if _floats(x, y):
        return like(x, float, _float_divmod(x, y)[1])
    tensor = tf.math.floormod(x.int64(), _divisor(y, y.int64()))
    return like(x, int, tensor, min(0, y.low + 1), max(0, y.high - 1))


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


def power(x: Number, y: Number) -> Number:
    """Powers: of ints exactly; of floats only where the C library's `pow` cannot differ in the last bit."""
    constant = tf.get_static_value(y.tensor)
    if not _floats(x, y) and constant is not None and constant >= 0:
        return _int_power(+x, int(constant))
    if constant is not None and constant in (0, 1):
        return like(x, float, x.float64() if constant else tf.ones([], tf.float64))
    base = tf.get_static_value(x.tensor)
    if not _floats(x, y) and base is not None and base == 2 and y.low >= 0:
        return left_shift(x, y)
    if observer.current() is not None:
        refuse("a power of symbolic numbers may differ from Python's in the last bit")
    if not _floats(x, y) and y.low >= 0:
        return like(x, int, tf.pow(x.int64(), y.int64()))
    return like(x, float, tf.pow(x.float64(), y.float64()))


def _int_power(x: Number, exponent: int) -> Number:
    result = x.of(1)
    while exponent:
        if exponent & 1:
            result = multiply(result, x)
        exponent >>= 1
        if exponent:
            x = multiply(x, x)
    return result


def left_shift(x: Number, y: Number) -> Number:
    require_whole(x, y, "<<")
    count = y.int64()
    if y.low < 0:
        count = fail_if(count < 0, "negative shift count", count)
    count = tf.clip_by_value(count, 0, 63)
    factor = 2 ** min(max(y.high, 0), 64)
    low, high = min(x.low, x.low * factor), max(x.high, x.high * factor)
    shadow = lambda: x.float64() * tf.pow(tf.constant(2.0, tf.float64), y.float64())  # noqa: E731
    return whole(x, tf.bitwise.left_shift(x.int64(), count), low, high, shadow)


def right_shift(x: Number, y: Number) -> Number:
    require_whole(x, y, ">>")
    count = y.int64()
    if y.low < 0:
        count = fail_if(count < 0, "negative shift count", count)
    return like(x, int, tf.bitwise.right_shift(x.int64(), tf.clip_by_value(count, 0, 63)), -x.reach(), x.reach())


def bitwise(symbol: str, logical: Callable[..., Any], bits: Callable[..., Any]) -> Implementation:
    def implementation(x: Number, y: Number) -> Number:
        require_whole(x, y, symbol)
        if x.kind is bool and y.kind is bool:
            return like(x, bool, logical(x.tensor, y.tensor))
        bound: int = 2 ** max(x.reach(), y.reach()).bit_length()
        low = 0 if x.low >= 0 and y.low >= 0 else -bound
        return like(x, int, bits(x.int64(), y.int64()), low, bound)

    return implementation


def compare(graph: Callable[..., Any]) -> Implementation:
    def implementation(x: Number, y: Number) -> Number:
        if not _floats(x, y):
            return like(x, bool, graph(x.int64(), y.int64()))
        return like(x, bool, graph(exact_as_float(x), exact_as_float(y)))  # Python compares without rounding

    return implementation
