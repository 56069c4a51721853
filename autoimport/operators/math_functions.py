"""Functions of `math` on symbolic numbers -> graph, where the result cannot differ from Python's in any bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.conversions import to_float, to_int
from autoimport.operators.number_arithmetic import exact_as_float
from autoimport.operators.numbers import Number
from autoimport.operators.symbolic import is_symbolic


def _sqrt(x: Number) -> Number:
    value = exact_as_float(x)
    negative = value < 0
    value = fail_if(negative, "math domain error", value)
    return Number(float, tf.sqrt(tf.where(negative, tf.zeros([], tf.float64), value)))


_EXACT: dict[Any, Callable[[Number], Any]] = {
    math.sqrt: _sqrt,
    math.fabs: lambda x: Number(float, tf.abs(exact_as_float(x))),
    math.floor: lambda x: x.__floor__(),
    math.ceil: lambda x: x.__ceil__(),
    math.trunc: lambda x: x.__trunc__(),
    math.isnan: lambda x: Number(bool, tf.math.is_nan(x.float64())),
    math.isinf: lambda x: Number(bool, tf.math.is_inf(x.float64())),
    math.isfinite: lambda x: Number(bool, tf.math.is_finite(x.float64())),
}

_INEXACT = (
    *(math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p, math.pow, math.hypot, math.atan2),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh, math.erf),
    *(math.gamma, math.lgamma, math.copysign, math.fmod, math.degrees, math.radians, math.gcd, math.isclose),
)

# Where the person's own graph may have them: the graph's functions differ in the last bit at most.
_NEARLY: dict[Any, Callable[..., Any]] = {
    math.exp: tf.exp,
    math.log: tf.math.log,
    math.log1p: tf.math.log1p,
    math.sin: tf.sin,
    math.cos: tf.cos,
    math.tan: tf.tan,
    math.tanh: tf.tanh,
    math.atan: tf.atan,
    math.atan2: tf.atan2,
    math.pow: tf.pow,
}


def _as_number(fn: Any, x: Any) -> Number:
    if isinstance(x, Number):
        return x
    integral = is_symbolic(x) and tf.as_dtype(x.dtype).is_integer
    number = to_int(x) if integral or (fn in (math.floor, math.ceil, math.trunc) and type(x) is int) else to_float(x)
    return Number.of(number)


def _function(fn: Any) -> Callable[..., Any]:
    def operator(*args: Any) -> Any:
        if not any(is_symbolic(arg) for arg in args):
            trace = observer.current()
            return fn(*args) if trace is None else trace.call(fn, args, {})
        if fn in _EXACT and len(args) == 1:
            return _EXACT[fn](_as_number(fn, args[0]))
        if observer.current() is not None or fn not in _NEARLY:
            refuse(f"`math.{fn.__name__}` of a symbolic number may differ from Python's in the last bit")
        return Number(float, _NEARLY[fn](*[_as_number(fn, arg).float64() for arg in args]))

    return operator


OPERATORS: dict[Any, Callable[..., Any]] = {fn: _function(fn) for fn in (*_EXACT, *_INEXACT)}
