"""Operators over containers read their items through the observer; everything else is Python's operator."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import lists, observer
from autoimport.operators.lists import TensorList
from tests.operators.ways import Watcher, in_function, same

CASES: list[tuple[str, Any, Any]] = [
    ("+", [1], [2]),
    ("*", (1,), 2),
    ("|", {"a": 1}, {"b": 2}),
    ("<", [1, 2], [1, 3]),
    (">=", (2,), (1,)),
    ("-", 5, 3),
    ("+", "a", "b"),
]


@pytest.mark.parametrize(("symbol", "x", "y"), CASES)
def test_results_are_pythons(symbol: str, x: Any, y: Any) -> None:
    expected = eval(f"x {symbol} y")
    watcher = Watcher()
    before = observer.observe(watcher)
    try:
        assert ops.binary(symbol, x, y) == expected
    finally:
        observer.observe(before)
    assert bool(watcher.seen) is isinstance(x, (list, tuple, dict))
    assert ops.binary(symbol, x, y) == expected


def test_tensors_are_operated_on_as_ever() -> None:
    assert same(lambda x: (ops.binary("+", x, x), ops.binary("<", x, x)), tf.constant(1)) == (2, False)


def test_a_list_of_symbolic_length_is_joined() -> None:
    def fn(x: Any) -> Any:
        values: list[Any] = []
        lists.become(values, TensorList.of([x], x))
        joined = ops.binary("+", values, [x + 1])
        return ops.stack(joined), ops.stack(values)

    joined, values = in_function(fn, tf.constant(1))
    assert (joined.tolist(), values.tolist()) == ([1, 2], [1])
    doubled = in_function(lambda x: ops.stack(ops.binary("*", [TensorList.of([x], x)], 2)), tf.constant(1))
    assert doubled.tolist() == [1, 1]
    with pytest.raises(TypeError, match="unsupported operand"):
        in_function(lambda x: ops.binary("*", [TensorList.of([x], x)], "a") and x, tf.constant(1))
