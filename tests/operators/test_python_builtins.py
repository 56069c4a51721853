"""Builtins by identity: Python's results, or their graph."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.ranges import SymbolicEnumerate, SymbolicRange, SymbolicZip
from tests.operators.ways import Bailed, in_function, in_trace, same

call = ops.call
UNKNOWN = [tf.TensorSpec([None], tf.int32)]


def test_every_builtin_without_symbolic_arguments_is_pythons() -> None:
    def fn(_: Any) -> Any:
        return (
            *(call(len, "abc"), call(range, 3)[2], call(abs, -2), call(round, 2.567, 2), call(pow, 2, 5, 7)),
            *(
                call(int, "ff", 16),
                call(float, "1.5"),
                call(bool, []),
                call(str, 5),
                call(repr, "a"),
                call(format, 3, "03"),
            ),
            *(
                call(min, 3, 2),
                call(max, [1, 5], key=lambda x: -x),
                call(sum, [1, 2], 10),
                call(any, [0]),
                call(all, []),
            ),
            *(
                call(sorted, [3, 1], reverse=True),
                call(list, call(map, str, [1, 2])),
                call(list, call(filter, None, [0, 1])),
            ),
            *(
                call(dict, a=1),
                call(tuple, call(zip, [1], [2])),
                call(list, call(enumerate, "a", 1)),
                call(divmod, 7, 2),
            ),
            *(call(isinstance, 1, int), call(getattr, 1, "nope", 5), call(hasattr, 1, "real"), call(next, iter([]), 9)),
            *(call(list, call(reversed, [1, 2])), call(max, [], default=4), call(min, "b", "a"), call(math.floor, 2.5)),
        )

    expected = tf.nest.map_structure(lambda x: x, fn(None))
    seen: list[Any] = []
    in_function(lambda x: seen.append(fn(x)) or x, tf.constant(0))
    in_trace(lambda x: seen.append(fn(x)) or x, tf.constant(0))
    assert seen == [expected, expected]


def test_len_of_a_tensor() -> None:
    assert same(lambda x: call(len, x), tf.constant([1, 2, 3])) == 3
    seen: list[Any] = []
    in_function(lambda x: seen.append(call(len, x)) or x, tf.constant([1, 2]))
    assert type(seen[0]) is int
    assert in_trace(lambda x: call(len, x) * 2, tf.constant([1, 2, 3]), specs=UNKNOWN) == 6


def test_len_of_a_scalar_tensor_raises_as_in_eager() -> None:
    with pytest.raises(TypeError, match="Scalar tensor"):
        in_function(lambda x: call(len, x), tf.constant(1))


@pytest.mark.parametrize("x", [2.7, -2.7, 0.0])
def test_int_float_and_bool_of_a_tensor(x: float) -> None:
    def fn(x: Any) -> Any:
        return call(int, x), call(float, x), call(bool, x), call(int, x > 1), call(round, call(float, x)), call(abs, x)

    assert same(fn, tf.constant(x)) == fn(tf.constant(x))[:5] + (abs(tf.constant(x)).numpy().item(),)


def test_float_of_a_tensor_is_the_double_of_its_value() -> None:
    assert in_function(lambda x: call(float, x), tf.constant(0.1)) == float(np.float32(0.1))


def test_int_of_a_vector_raises_as_in_eager() -> None:
    with pytest.raises(TypeError, match="0-dimensional"):
        in_function(lambda x: call(int, x).tensor, tf.constant([1]))


def test_int_of_nan_goes_back_to_eager() -> None:
    with pytest.raises(Bailed):
        in_trace(lambda x: call(int, x), tf.constant(math.nan))


@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -1), (1, 10, 3), (10, 1, -4), (3, 3, 2), (0, -3, 1), (-7, 7, 5)])
def test_a_symbolic_range_has_the_items_of_pythons(bounds: tuple[int, int, int]) -> None:
    def fn(*bounds: Any) -> Any:
        items = call(range, *bounds)
        assert isinstance(items, SymbolicRange)
        count = items.length()
        inside = [ops.in_(value, items) for value in range(-8, 12)]
        return (count, items.at(tf.maximum(count.tensor - 1, 0)), inside)

    expected = range(*bounds)
    count, last, inside = in_trace(fn, *map(tf.constant, bounds))
    assert count == len(expected)
    assert not expected or last == expected[-1]
    assert inside == [value in expected for value in range(-8, 12)]


def test_a_range_over_a_float_raises_as_in_python() -> None:
    with pytest.raises(TypeError, match="interpreted as an integer"):
        in_function(lambda x: call(range, x), tf.constant(1.0))


def test_a_range_with_step_zero_goes_back_to_eager() -> None:
    with pytest.raises(Bailed):
        in_trace(lambda x: call(range, 0, 5, x).length(), tf.constant(0))


def test_iterables_over_tensors_stay_symbolic_for_loops_and_unroll_in_comprehensions() -> None:
    def fn(x: Any) -> Any:
        numbered, pairs = call(enumerate, x), call(zip, x, [10, 20])
        if not tf.executing_eagerly():
            assert isinstance(numbered.source, SymbolicEnumerate)
            assert isinstance(pairs.source, SymbolicZip)
        return [i * y for i, y in ops.iterate(numbered)], [a + b for a, b in ops.iterate(pairs)]

    assert same(fn, tf.constant([3, 4])) == ([0, 4], [13, 24])


@pytest.mark.parametrize("xs", [(3.0, 1.0), (1.0, 3.0), (2.0, 2.0)])
def test_extremes(xs: tuple[float, float]) -> None:
    def fn(x: Any, y: Any) -> Any:
        return call(min, x, y), call(max, x, y), call(max, [x, y, x + 1]), call(min, x, y, key=lambda v: -v)

    assert same(fn, *map(tf.constant, xs)) == (min(xs), max(xs), max(*xs, xs[0] + 1), max(xs))


def test_extremes_of_a_tensor_take_its_rows() -> None:
    assert same(lambda x: (call(min, x), call(max, x), call(sum, x), call(sum, x, 10)), tf.constant([3, 1, 2])) == (
        1,
        3,
        6,
        16,
    )
    assert in_trace(lambda x: (call(max, x), call(sum, x)), tf.constant([3, 1]), specs=UNKNOWN) == (3, 4)
    with pytest.raises(Bailed):
        in_trace(lambda x: call(max, x), tf.constant([], tf.int32), specs=UNKNOWN)


def test_extremes_keep_python_numbers() -> None:
    assert in_trace(lambda x: call(min, 1.0, Number(float, x) / 150), tf.constant(30.0)) == 0.2
    assert in_trace(lambda x: call(max, 3, Number(int, x)), tf.constant(5)) == 5


def test_any_and_all() -> None:
    def fn(x: Any) -> Any:
        return (
            call(any, x),
            call(all, x),
            call(any, [v > 2 for v in x]),
            call(all, (v > 0 for v in ops.iterate(x))),
            call(any, []),
        )

    assert same(lambda x: fn(tf.unstack(x)), tf.constant([1, 3])) == (True, True, True, True, False)
    assert same(lambda x: (call(any, x), call(all, x)), tf.constant([0, 3])) == (True, False)


def test_effects_behind_a_symbolic_item_of_any_are_not_built() -> None:
    v = tf.Variable(0)
    with pytest.raises(Unstageable, match="effects"):
        in_trace(lambda x: call(any, (v.assign_add(1) > x for _ in range(2))), tf.constant(5))


def test_sorted_rows_of_a_tensor() -> None:
    assert same(lambda x: call(sorted, x), tf.constant([3, 1, 2])) == [1, 2, 3]
    assert same(lambda x: call(sorted, x, reverse=True), tf.constant([3, 1, 2])) == [3, 2, 1]


def test_map_and_partial_know_builtins() -> None:
    assert same(lambda x: call(list, call(map, float, x)), tf.constant([1, 2])) == [1.0, 2.0]
    assert same(lambda x: list(map(partial(call, int), ops.iterate(x))), tf.constant([1.5])) == [1]


def test_classes_of_symbolic_numbers_are_those_of_python() -> None:
    def fn(x: Any) -> Any:
        n = call(int, x)
        return [call(isinstance, n, c) for c in (int, float, (float, int), tf.Tensor, bool)], call(type, n) is int

    assert same(fn, tf.constant(3)) == ([True, False, True, False, False], True)


def test_print_is_immediate_in_the_graphs_of_the_person(capsys: pytest.CaptureFixture[str]) -> None:
    in_function(lambda x: call(print, "hello") or x, tf.constant(1))
    assert capsys.readouterr().out == "hello\n"


def test_identity_of_a_symbolic_value_gives_a_trace_up() -> None:
    with pytest.raises(Unstageable):
        in_trace(lambda x: call(id, x) and x, tf.constant(1))


def test_text_of_plain_values() -> None:
    assert ops.format_(1.5, None, ".2f") == "1.50"
    assert ops.format_("a", "r", "") == "'a'"
    assert ops.mod("%d %s", (1, "a")) == "1 a"
    assert ops.mod(7, 4) == 3


def test_math_of_a_tensor_is_that_of_its_double() -> None:
    assert same(lambda x: (call(math.sqrt, x), call(math.floor, call(float, x))), tf.constant(2.5)) == (
        math.sqrt(2.5),
        2,
    )
