"""Python's builtin functions over Python values and tensors: what they give, print and raise."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.harness import check

VECTOR = tf.constant([3.0, -1.0, 2.0])
WHOLE = tf.constant([3, -1, 2, 3])
MATRIX = tf.constant([[3.0, 1.0], [1.0, 2.0]])
SCALAR = tf.constant(2.5)
X = tf.constant(2.0)


# One value --------------------------------------------------------------------------------------------------------------


def absolute(x):
    return abs(x), abs(x[0]), abs(-3)


def to_float(n, x):
    return x * float(n), float("1.5"), float(2)


def to_int(y, x):
    return x * int(y), int("12"), int("ff", 16), int(2.7)


def nested_conversion(y, x):
    return x + float(int(y))


def lengths(x):
    return len(x), len([x, x]), len({"a": x}), len("abc"), x * len(x)


def length_of_scalar(x):
    return len(x) * x


class Sized:
    def __len__(self):
        return 7


SIZED = Sized()


def length_of_object(x, sized):
    return x * len(sized)


def length_of_array(x):
    array = tf.TensorArray(tf.float32, size=3)
    array = array.unstack(x)
    return tf.cast(array.size(), tf.float32) * x


def built(x):
    return list(range(len(x))), dict(foo=x), tuple(x[i] for i in range(2)), len(set([1, 1]))


def rounded(x):
    return round(2.567, 2), x * round(2.5), divmod(7, 2), pow(2, 5, 7), pow(x, 2)


def is_kind(x):
    return isinstance(x, tf.Tensor), isinstance(2, int), callable(len), x * 1


@pytest.mark.parametrize("fn", [absolute, lengths, built, rounded, is_kind])
def test_builtins_of_one_value(fn: Callable[..., Any]) -> None:  # BLT-1, BLT-6, BLT-7, BLT-13
    check(fn, (VECTOR,))


@pytest.mark.parametrize("n", [3, 2.7, tf.constant(3), tf.constant(-2.7), tf.constant(True)])
@pytest.mark.parametrize("fn", [to_float, to_int, nested_conversion])
def test_conversions_of_numbers_and_tensors(fn: Callable[..., Any], n: Any) -> None:  # BLT-3, BLT-4, BLT-6
    check(fn, (n, VECTOR), session=True)


def test_conversions_of_text_in_tensors_are_left_to_python() -> None:  # BLT-3, BLT-4
    check(to_float, (tf.constant("2.5"), VECTOR), staged=False, function=TypeError)
    check(to_int, (tf.constant("25"), VECTOR), staged=False, function=TypeError)


def base_of_tensor(n, x):
    return x * int(n, 2)


def test_what_python_refuses_is_refused() -> None:  # BLT-5, BLT-9
    check(base_of_tensor, (tf.constant(3), VECTOR))
    check(length_of_scalar, (SCALAR,))


def length_of_masked(x):
    positive = tf.boolean_mask(x, x > 0)
    return len(positive), x * len(positive)


def length_of_unknown_rank(x):
    return len(tf.reshape(x, tf.range(tf.size(x) + 1)[: tf.size(x) - 1])) * x


def length_of_ragged(rows):
    return len(rows), rows * 2


def test_lengths_that_only_the_graph_knows() -> None:  # BLT-8
    check(length_of_masked, (VECTOR,), (-VECTOR,))
    check(length_of_unknown_rank, (SCALAR,))


def test_a_ragged_tensor_has_no_length() -> None:
    check(length_of_ragged, (tf.ragged.constant([[1.0], [2.0, 3.0]]),))


def test_lengths_of_objects_and_arrays() -> None:  # BLT-7, BLT-12
    check(length_of_object, lambda: (VECTOR, Sized()))
    check(length_of_array, (VECTOR,), session=True)


# Printing ---------------------------------------------------------------------------------------------------------------


def prints(x):
    print("x is", x, {"foo": "bar"}, sep=" ")
    return x * 2


def prints_if(flag, x):
    if flag:
        print("flag")
    return x * 2


def tensor_prints(x):
    tf.print("first", x, output_stream="file:///dev/null")
    tf.print("second", x, output_stream="file:///dev/null")
    return x * 2


def test_prints_happen_at_every_call_of_our_graphs() -> None:  # BLT-14, BLT-15, BLT-16, BLT-17
    check(prints, (VECTOR,))
    check(prints, (2.0,), staged=False)
    check(prints_if, (True, VECTOR), (False, VECTOR))
    check(tensor_prints, (VECTOR,))


# Extremes and sums ------------------------------------------------------------------------------------------------------


def extremes_of_items(x):
    return max(x), min(x)


def extremes_of_arguments(x):
    return max(x[0], x[1], x[2]), min(x[0], x[1]), max(x[0], x[1], key=lambda v: -v)


def extremes_of_python(x):
    return x * max([1, 5, 3]), min(4, 2, 9), max([], default=7), min("b", "a")


def extreme_of_rows(x):
    return max(x)


def extreme_of_scalar(x):
    return max(x)


def sums(x):
    return sum(x), sum(x, 10.0), sum([x[0], 1.0, x[1]]), sum([1, 2], 3)


def any_and_all(x):
    return any(v > 2.5 for v in x), all(v > -2.0 for v in x), any([]), all([]), any(x), x * 2


def sums_of_perhaps_nothing(n, y):
    return sum(tf.range(n)), sum(tf.range(n), 2), y * 2


def test_the_sum_of_no_rows_is_a_number() -> None:
    inputs = [(tf.constant(n), tf.constant(3)) for n in (5, 3)]
    check(sums_of_perhaps_nothing, *inputs, function=False)
    check(sums_of_perhaps_nothing, (tf.constant(0), tf.constant(3)), staged=False, function=False)


@pytest.mark.parametrize("fn", [extremes_of_items, extremes_of_arguments, extremes_of_python, sums, any_and_all])
def test_folds(fn: Callable[..., Any]) -> None:  # BLT-18, BLT-19, BLT-27
    check(fn, (VECTOR,), (-VECTOR,))


@pytest.mark.parametrize("fn", [extremes_of_items, extremes_of_arguments])
def test_extremes_among_equals_and_nan(fn: Callable[..., Any]) -> None:
    for values in ([0.0, -0.0, 0.0], [float("nan"), 1.0, 2.0], [1.0, float("nan"), 0.0]):
        check(fn, (tf.constant(values),))


def test_extremes_of_what_has_no_order_raise() -> None:  # BLT-19, BLT-20
    check(extreme_of_rows, (MATRIX,))
    check(extreme_of_scalar, (SCALAR,))


def reduced(x):
    return functools.reduce(lambda a, b: a * b if b > 0 else a, x), functools.reduce(operator.add, x, 1.0)


def test_a_function_folded_over_a_tensor_is_converted() -> None:  # F9, F12
    check(reduced, (VECTOR,), session=True)


# Ranges, pairs, maps ----------------------------------------------------------------------------------------------------


def counted(n, x):
    total = x * 0
    for i in range(n):
        total = total + x * float(i)
    for i in range(1, n, 2):
        total = total - float(i)
    return total


def numbered(x):
    return [v * i for i, v in enumerate(x, 5)], list(enumerate("ab", 1))


def zipped(x, y):
    return [a * b for a, b in zip(x, y)], list(zip([1, 2, 3], "ab")), dict(zip("ab", x))


def mapped(x):
    return list(map(lambda v: v * 2 if v > 0 else v, x)), list(map(lambda a, b: a + b, [1, 2], [3, 4]))


def filtered(x):
    return list(filter(lambda i: i > 1, [1, 2, 3])), list(filter(None, [0, 1])), x * 2


def turned(x):
    return list(reversed(x)), [v for v in reversed([1, 2])]


@pytest.mark.parametrize("n", [0, 3, tf.constant(3), tf.constant(-1)])
def test_ranges_with_python_and_tensor_bounds(n: Any) -> None:  # BLT-21
    check(counted, (n, VECTOR), session=True)


@pytest.mark.parametrize("fn", [numbered, mapped, filtered, turned])
def test_views_of_iterables(fn: Callable[..., Any]) -> None:  # BLT-22, BLT-25, BLT-26
    check(fn, (VECTOR,))


def test_zip_stops_with_the_shortest() -> None:  # BLT-24
    check(zipped, (VECTOR, VECTOR[:2]))


# Sorting ----------------------------------------------------------------------------------------------------------------


def in_order(x):
    return sorted(x)


def in_reverse(x):
    return sorted(x, reverse=True)


def by_key(x):
    return sorted(x, key=lambda v: -v if v > 0 else v)


def by_number(x):
    return sorted(x, key=lambda v: int(v) % 3)


def pairs_by_score(x):
    pairs = [(x[i], tf.cast(i, tf.int64)) for i in range(3)]
    return sorted(pairs, key=operator.itemgetter(0), reverse=True)


def sorted_in_place(x):
    items = [x[0], x[2], x[1]]
    items.sort()
    return items


def python_order(x):
    return x * 2, sorted([3, 1, 2]), sorted("cab", reverse=True), sorted([-3, 2], key=abs)


def rows_by_key(x):
    return sorted(x, key=lambda row: row[1])


def rows_in_order(x):
    return sorted(x)


@pytest.mark.parametrize("fn", [in_order, in_reverse, by_key, by_number, pairs_by_score, sorted_in_place, python_order])
def test_sorted_keeps_pythons_order(fn: Callable[..., Any]) -> None:  # BLT-30, BLT-31
    check(fn, (VECTOR,), (tf.constant([2.0, 2.0, 1.0]),), (tf.constant([-0.0, 0.0, -1.0]),), session=fn is in_order)


@pytest.mark.parametrize("fn", [in_order, in_reverse])
def test_whole_numbers_are_sorted(fn: Callable[..., Any]) -> None:
    for dtype in (tf.int32, tf.int64, tf.uint8):
        check(fn, (tf.cast(abs(WHOLE), dtype),))


def test_rows_are_sorted_by_a_scalar_key_only() -> None:  # BLT-32
    check(rows_by_key, (MATRIX,), (-MATRIX,))
    check(rows_in_order, (MATRIX,))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_nan_is_where_pythons_algorithm_leaves_it(place: int) -> None:
    values = [3.0, 1.0, 2.0]
    values[place] = float("nan")
    check(in_order, (tf.constant(values),), staged=False, function=False)


# Iterators --------------------------------------------------------------------------------------------------------------


def next_items(x):
    items = iter([x, x * 2])
    return next(items), next(items), next(items, None)


def past_the_end(x):
    items = iter([x])
    next(items)
    return next(items)


def next_of_argument(items, x):
    return x * next(items)


def test_next_of_an_iterator_made_here() -> None:  # BLT-33
    check(next_items, (VECTOR,))
    check(past_the_end, (VECTOR,))


def test_next_of_an_iterator_made_outside_is_left_to_python() -> None:
    check(next_of_argument, lambda: (iter([2.0, 3.0]), VECTOR), staged=False, function=False)


def dataset_items(x):
    items = iter(tf.data.Dataset.range(3))
    return x * tf.cast(next(items) + next(items) * 2, tf.float32)


def dataset_default(x):
    items = iter(tf.data.Dataset.range(1))
    next(items)
    return x * tf.cast(next(items, tf.constant(7, tf.int64)), tf.float32)


def test_next_of_a_dataset() -> None:  # BLT-34, BLT-35
    for fn in (dataset_items, dataset_default):
        check(fn, (VECTOR,), staged=False)


def dataset_folds(x):
    data = tf.data.Dataset.range(4)
    total = x * 0
    for i, value in enumerate(data, 1):
        total = total + tf.cast(i, tf.float32) * tf.cast(value, tf.float32)
    for a, b in zip(data, data):
        total = total + tf.cast(a * b, tf.float32)
    return total * tf.cast(len(data), tf.float32)


def test_datasets_are_counted_and_paired() -> None:  # BLT-10, BLT-23, BLT-24
    check(dataset_folds, (VECTOR,), staged=False)


def absolute_dataset(data, x):
    return abs(data), x * 2


def length_of_endless(x):
    return x * len(tf.data.Dataset.range(3).repeat())


def length_of_filtered(x):
    return x * len(tf.data.Dataset.range(3).filter(lambda v: v > 1))


def test_what_a_dataset_does_not_know_raises() -> None:  # BLT-2, BLT-11
    check(absolute_dataset, lambda: (tf.data.Dataset.range(3), X))
    for fn in (length_of_endless, length_of_filtered):
        check(fn, (X,))


def truths_of_dataset(x):
    data = tf.data.Dataset.from_tensor_slices(x)
    bools = data.map(lambda v: v > 0)
    pairs = tf.data.Dataset.zip((data, bools))
    none = data.take(0)
    return [(any(each), all(each)) for each in (bools, data, pairs, none)], any(tf.data.Dataset.range(2).repeat())


def test_any_and_all_of_a_dataset() -> None:  # BLT-28, BLT-29
    for x in (VECTOR, -abs(VECTOR), VECTOR * 0):
        check(truths_of_dataset, (x,), staged=False)


def mapped_dataset(x):
    data, total = tf.data.Dataset.from_tensor_slices(x), 0.0
    for v in map(lambda a, b: a * b if a > 0 else b, data, data.skip(1)):
        total = total + v
    for i, v in enumerate(map(lambda a: a * 2, data)):
        if i == 2:
            break
        total = total + v
    return total


def filtered_dataset(x):
    data, total = tf.data.Dataset.from_tensor_slices(x), 0.0
    for v in filter(lambda a: a > 0 if a < 10 else a > 20, data):
        total = total + v
    for v in filter(None, data):
        total = total + 1.0
    for a, b in zip(filter(lambda v: v % 2 == 0, tf.data.Dataset.range(9)), tf.data.Dataset.range(9).skip(1)):
        if a * b > 8:
            break
        total = total + tf.cast(a * b, tf.float32)
    return total


def test_map_and_filter_of_a_dataset_convert_their_functions() -> None:  # BLT-25, BLT-26
    for fn in (mapped_dataset, filtered_dataset):
        check(fn, (VECTOR,), (-abs(VECTOR),), staged=False)


def default_of_another_dtype(x):
    items = iter(tf.data.Dataset.range(1))
    next(items)
    return x * tf.cast(next(items, 3.0), tf.float32)


def default_of_another_structure(x):
    items = iter(tf.data.Dataset.range(1))
    next(items)
    return next(items, (x, x))


def past_the_end_of_dataset(x):
    items = iter(tf.data.Dataset.range(1))
    return x * tf.cast(next(items) + next(items), tf.float32)


def test_a_default_unlike_the_items_is_pythons_or_an_error_in_the_persons_graph() -> None:  # BLT-37
    for fn in (default_of_another_dtype, default_of_another_structure):
        check(fn, (X,), staged=False, function=TypeError)


def test_past_the_end_of_a_dataset_raises() -> None:  # BLT-36
    check(past_the_end_of_dataset, (X,))


# Names and calls of C ---------------------------------------------------------------------------------------------------


def named(x):
    y = x * 2
    return sorted(locals()), eval("y")


def module_names(x):
    return "VECTOR" in globals(), x * 2


def test_functions_that_look_at_their_own_names_run_as_written() -> None:  # BLT-38
    for fn in (named, module_names):
        check(fn, (VECTOR,), staged=False, function=False)


class Base:
    def __init__(self, factor):
        self.factor = factor

    def scaled(self, x):
        return x * self.factor


class Derived(Base):
    def scaled(self, x):
        extra = 1.0
        inner = lambda: super(Derived, self).scaled(x) + extra  # noqa: E731
        if tf.reduce_sum(x) > 0:
            return super().scaled(x) + inner()
        return super().scaled(x)


def calls_super(x):
    return Derived(2.0).scaled(x)


def test_super_finds_the_base_class() -> None:  # BLT-39
    check(calls_super, (VECTOR,), (-VECTOR,), session=True)


def calls_of_c(x):
    return re.compile("a+").match("aab").group(), math.floor(2.5), x * math.sqrt(4.0)


def test_functions_written_in_c_are_called_as_they_are() -> None:  # BLT-40
    check(calls_of_c, (VECTOR,), staged=False)


def operator_functions(x):
    both = operator.attrgetter("imag", "real")(2), operator.itemgetter(0, 1)([x, 3])
    values = operator.add(x, 1.0), operator.mul(2.0, x), operator.neg(x), operator.truediv(x, 2.0)
    return both, values, operator.contains([1, 2], 2), operator.not_([]), operator.eq(1, 1), operator.getitem([x], 0)


def test_the_module_operator_is_its_symbols() -> None:
    check(operator_functions, (VECTOR,))


def with_numpy(x):
    rng = np.random.RandomState(0)
    return x * float(rng.rand()), np.sqrt(4.0)


def test_numpy_on_python_values() -> None:
    check(with_numpy, (VECTOR,), staged=False)
