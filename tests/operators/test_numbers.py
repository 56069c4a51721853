"""Symbolic Python numbers: their arithmetic is Python's, to the bit, or the call goes back to eager."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import autoimport.operators as ops
from autoimport.operators import observer
from autoimport.operators.calls import call
from autoimport.operators.errors import Unstageable
from autoimport.operators.math_functions import OPERATORS as MATH
from autoimport.operators.numbers import DTYPES, Number
from tests.operators.ways import Bailed, Watcher, in_function, in_trace

BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
)
BITS = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
UNARY = (operator.neg, operator.pos, operator.abs, round, math.floor, math.ceil, math.trunc)


def compiled(functions: tuple[Callable[..., Any], ...], kinds: tuple[type, ...]) -> Any:
    """One graph that computes all functions over symbolic numbers; each gives its kind, value and whether it bails."""
    result_kinds: list[type] = []

    def body(*tensors: Any) -> Any:
        outputs = []
        for fn in functions:
            watcher = Silent()
            before = observer.observe(watcher)
            try:
                number = fn(*[Number(kind, tensor) for kind, tensor in zip(kinds, tensors, strict=True)])
            finally:
                observer.observe(before)
            result_kinds.append(number.kind)
            outputs.append((number.tensor, tf.reduce_any(tf.stack([False, *watcher.bails]))))
        return outputs

    specs = [tf.TensorSpec([], DTYPES[kind]) for kind in kinds]
    return tf.function(body, autograph=False).get_concrete_function(*specs), result_kinds


class Silent(Watcher):
    def bail_if(self, condition: Any, why: str) -> None:
        self.bails.append(condition)


def same_bits(a: Any, b: Any) -> bool:
    if isinstance(b, float):
        return math.isnan(a) and math.isnan(b) or struct.pack("d", a) == struct.pack("d", b)
    return type(a) is type(b) and a == b


def is_subnormal(x: Any) -> bool:
    """Whether `x` is a float that TensorFlow's threads flush to zero."""
    return isinstance(x, float) and 0 < abs(x) < 2.3e-308


def check(functions: tuple[Callable[..., Any], ...], graph: Any, values: tuple[Any, ...]) -> None:
    concrete, kinds = graph
    # Not `tf.constant(value)`, whose cache takes -0.0 for 0.0.
    constants = [tf.convert_to_tensor(np.array(value, DTYPES[type(value)].as_numpy_dtype)) for value in values]
    for fn, kind, (tensor, bailed) in zip(functions, kinds, concrete(*constants), strict=True):
        try:
            expected = fn(*values)
        except (ZeroDivisionError, OverflowError, ValueError):
            assert bool(bailed), (fn, values)
            continue
        if bool(bailed):
            far = max([abs(x) for x in (*values, expected) if not math.isnan(x)], default=0)
            assert far > 2**53, (fn, values, "bails without need")
            continue
        if is_subnormal(expected):
            continue
        assert kind is type(expected), (fn, values)
        assert same_bits(kind(tensor.numpy()), expected), (fn, values, tensor.numpy(), expected)


ints = st.one_of(st.integers(-(2**62), 2**62), st.integers(-20, 20), st.integers(-(2**31), 2**31))
floats = st.one_of(
    st.floats(allow_subnormal=False),
    st.floats(-10, 10, allow_subnormal=False),
    st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 1e300]),
)
VALUES: dict[type, Any] = {int: ints, float: floats, bool: st.booleans()}
PAIRS = [(a, b) for a in VALUES for b in VALUES]


@pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: f"{kinds[0].__name__}-{kinds[1].__name__}")
def test_arithmetic_and_comparisons_are_those_of_python(kinds: tuple[type, type]) -> None:
    graph = compiled(BINARY, kinds)

    @settings(max_examples=80, deadline=None, database=None)
    @given(VALUES[kinds[0]], VALUES[kinds[1]])
    def run(x: Any, y: Any) -> None:
        check(BINARY, graph, (x, y))

    run()


@pytest.mark.parametrize("kinds", [(int, int), (int, bool), (bool, bool)])
def test_bit_operations_are_those_of_python(kinds: tuple[type, type]) -> None:
    graph = compiled(BITS, kinds)

    @settings(max_examples=80, deadline=None, database=None)
    @given(VALUES[kinds[0]], st.integers(-3, 100) if kinds[1] is int else st.booleans())
    def run(x: Any, y: Any) -> None:
        check(BITS, graph, (x, y))

    run()


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_unary_operations_are_those_of_python(kind: type) -> None:
    functions = UNARY if kind is float else (*UNARY, operator.invert)
    graph = compiled(functions, (kind,))

    @settings(max_examples=80, deadline=None, database=None)
    @given(VALUES[kind])
    def run(x: Any) -> None:
        check(functions, graph, (x,))

    run()


@settings(max_examples=30, deadline=None, database=None)
@given(st.integers(-9, 9), st.integers(0, 12))
def test_int_powers_are_exact(base: int, exponent: int) -> None:
    assert in_trace(lambda n: Number(int, n) ** exponent, tf.constant(base)) == base**exponent


def test_a_power_of_floats_goes_back_to_eager() -> None:
    with pytest.raises(Unstageable, match="last bit"):
        in_trace(lambda x: Number(float, x) ** 2.5, tf.constant(2.0))


@pytest.mark.parametrize("other", [2.5, 3, True])
def test_a_number_is_weak_beside_a_tensor(other: Any) -> None:
    x = tf.constant([1.5, 2.0])
    for fn in (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod):
        left = in_function(lambda x: fn(x, symbolic(other)), x)
        right = in_function(lambda x: fn(symbolic(other), x), x)
        assert left.dtype == right.dtype == np.float32
        np.testing.assert_array_equal(left, fn(x, other))
        np.testing.assert_array_equal(right, fn(other, x))


def symbolic(value: Any) -> Number:
    return Number.of(value)


def test_a_number_meets_a_variable_on_either_side() -> None:
    v = tf.Variable(3.0)
    assert in_function(lambda: (v * symbolic(2), symbolic(2) - v)) == (6.0, -1.0)


def test_an_int_is_divided_by_a_tensor_of_ints_as_a_python_int() -> None:
    assert in_function(lambda t: symbolic(7) / t, tf.constant(2)) == 3.5
    assert in_function(lambda t: symbolic(7) // t, tf.constant(2)).dtype == np.int32


def test_a_float_does_not_become_an_int_tensor() -> None:
    with pytest.raises(TypeError, match="int32"):
        in_function(lambda t: symbolic(1.5) + t, tf.constant(2))


def test_tensorflow_functions_take_numbers_as_python_numbers() -> None:
    results = in_function(
        lambda x: (
            tf.add(x, symbolic(2)),
            tf.convert_to_tensor(symbolic(2)),
            tf.convert_to_tensor(symbolic(0.5)),
            tf.cast(symbolic(True), tf.float32),
            call(tf.fill, [symbolic(2)], symbolic(1.0)),
        ),
        tf.constant(1.5),
    )
    assert [np.asarray(result).dtype.name for result in results] == ["float32", "int32", *["float32"] * 3]


def test_an_int_of_more_than_32_bits_goes_back_to_eager_where_it_becomes_a_tensor() -> None:
    with pytest.raises(Bailed):
        in_trace(lambda n: tf.convert_to_tensor(Number(int, n) * 3), tf.constant(2**40))


def test_counters_are_not_checked() -> None:
    watcher = Watcher()
    with tf.Graph().as_default():
        before = observer.observe(watcher)
        try:
            n = Number(int, tf.constant(1))
            n = n + 1 - 2 + 1000
            _ = n < 10, n % 7, n // 2
        finally:
            observer.observe(before)
    assert watcher.bails == []


@pytest.mark.parametrize("use", [bool, int, float, hash, operator.index, str, "{}".format, [1, 2].__getitem__])
def test_what_needs_the_number_gives_a_trace_up(use: Callable[[Any], Any]) -> None:
    with pytest.raises(Unstageable):
        in_trace(lambda n: use(Number(int, n)) and n, tf.constant(1))


@pytest.mark.parametrize("use", [bool, int, float, hash, operator.index])
def test_what_needs_the_number_is_a_type_error_in_the_persons_graph(use: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="symbolic int"):
        in_function(lambda n: use(Number(int, n)) and n, tf.constant(1))


def test_numpy_leaves_operators_to_numbers() -> None:
    assert in_function(lambda n: np.float32(2) * Number(int, n), tf.constant(3)) == 6
    with pytest.raises(Unstageable, match="numpy"):
        in_trace(lambda n: np.float32(2) * Number(int, n), tf.constant(3))


def test_division_by_zero_fails_in_the_persons_graph() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        in_function(lambda n: 1.0 / Number(float, n), tf.constant(0.0))


@pytest.mark.parametrize("name", ["sqrt", "fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"])
def test_exact_functions_of_math_are_those_of_python(name: str) -> None:
    fn = getattr(math, name)
    graph = compiled((MATH[fn],), (float,))

    @settings(max_examples=80, deadline=None, database=None)
    @given(floats)
    def run(x: float) -> None:
        check((fn,), graph, (x,))

    run()


def test_inexact_functions_of_math_go_back_to_eager() -> None:
    with pytest.raises(Unstageable, match=r"math\.exp"):
        in_trace(lambda x: MATH[math.exp](Number(float, x)), tf.constant(1.0))


@pytest.mark.parametrize(("n", "fits"), [(19, True), (25, False)])
def test_a_product_in_a_loop_goes_back_to_eager_before_it_overflows(n: int, fits: bool) -> None:
    def fn(n: Any) -> Any:
        r, i = 1, 1

        def set_values(values: tuple[Any, ...]) -> None:
            nonlocal r, i
            r, i = values

        def body() -> None:
            nonlocal r, i
            r, i = r * i, i + 1

        ops.while_(lambda: i <= n, body, lambda: (r, i), set_values, ("r", "i"), 2)
        return r

    if fits:
        assert in_trace(fn, tf.constant(n)) == math.factorial(n)
    else:
        with pytest.raises(Bailed):
            in_trace(fn, tf.constant(n))
