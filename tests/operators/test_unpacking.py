"""Unpacking: Python's items and errors."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from tests.operators.ways import Bailed, in_trace, same


@pytest.mark.parametrize("value", [(1, 2), [1, 2], "ab", {1: 0, 2: 0}, range(2), iter([1, 2])])
def test_as_many_items_as_targets(value: Any) -> None:
    a, b = ops.unpack(value, 2, None)
    assert (a, b) in ((1, 2), ("a", "b"), (0, 1))


def test_starred_targets() -> None:
    a, *b, c = ops.unpack([1, 2, 3, 4], 1, 1)
    assert (a, b, c) == (1, [2, 3], 4)


@pytest.mark.parametrize(
    ("value", "count"), [((1,), 2), ((1, 2, 3), 2), ([], 1), (5, 2), (None, 1), (itertools.count(), 2)]
)
def test_errors_are_pythons(value: Any, count: int) -> None:
    def python() -> None:
        if count == 1:
            (_,) = value
        else:
            _, _ = value

    with pytest.raises((ValueError, TypeError)) as expected:
        python()
    with pytest.raises(type(expected.value)) as caught:
        ops.unpack(value, count, None)
    assert str(caught.value).partition(", got")[0] == str(expected.value).partition(", got")[0]


def test_rows_of_tensors() -> None:
    def fn(x: Any) -> Any:
        a, b = ops.unpack(x, 2, None)
        c, *d = ops.unpack(x, 1, 0)
        return a, b, c, d

    assert same(fn, tf.constant([[1], [2]])) == ([1], [2], [1], [[2]])


def test_rows_whose_number_the_graph_checks() -> None:
    specs = [tf.TensorSpec([None, 2], tf.int32)]
    fn = lambda x: ops.unpack(x, 2, None)  # noqa: E731
    assert [row.tolist() for row in in_trace(fn, tf.constant([[1, 2], [3, 4]]), specs=specs)] == [[1, 2], [3, 4]]
    for rows in ([[1, 2]], [[1, 2]] * 3):
        with pytest.raises(Bailed):
            in_trace(fn, tf.constant(rows), specs=specs)
