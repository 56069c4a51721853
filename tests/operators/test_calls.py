"""Calls: containers are journaled, stand-ins are handed over as tensors, the rest is the call itself."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import heap, observer
from autoimport.operators.numbers import Number
from tests.operators.ways import Watcher, in_function


def test_keywords_of_any_name_go_through() -> None:
    assert ops.call(lambda *args, **kwargs: (args, kwargs), 1, fn=2, args=3, self=4) == (
        (1,),
        {"fn": 2, "args": 3, "self": 4},
    )


@pytest.mark.parametrize(
    ("make", "method", "args"),
    [
        (lambda: [3, 1], "append", (2,)),
        (lambda: [3, 1], "sort", ()),
        (lambda: {"a": 1}, "update", ({"b": 2},)),
        (lambda: {1}, "add", (2,)),
        (lambda: {1: 2}, "pop", (1,)),
        (lambda: [3], "extend", ([1, 2],)),
    ],
)
def test_changes_of_containers_are_journaled_and_seen(make: Any, method: str, args: tuple[Any, ...]) -> None:
    container, expected, watcher = make(), make(), Watcher()
    result = getattr(expected, method)(*args)
    before = observer.observe(watcher)
    try:
        with heap.journal() as journal:
            assert ops.call(getattr(container, method), *args) == result
            assert container == expected
            journal.undo()
    finally:
        observer.observe(before)
    assert container == make()
    assert watcher.seen[0] == ("mutate", f"{type(container).__name__}.{method}")


def test_reading_methods_are_plain_calls() -> None:
    watcher = Watcher()
    before = observer.observe(watcher)
    try:
        assert ops.call([1, 2].index, 2) == 1
        assert ops.call({"a": 1}.get, "a") == 1
    finally:
        observer.observe(before)
    assert {event[0] for event in watcher.seen} == {"call"}


def test_tensorflow_functions_take_lists_of_numbers_and_tensors() -> None:
    def fn(x: Any) -> Any:
        n = Number(int, tf.constant(2))
        return ops.call(tf.stack, [x, n]), ops.call(tf.reshape, [x, x], (n, 1)), ops.call(tf.stack, [n, 0.5])

    stacked, shaped, mixed = in_function(fn, tf.constant(1.5))
    assert stacked.tolist() == [1.5, 2.0]
    assert shaped.shape == (2, 1)
    assert mixed.tolist() == [2.0, 0.5]


def test_constant_takes_what_it_takes_in_eager_mode() -> None:
    def fn(x: Any) -> Any:
        n = Number(int, tf.constant(2))
        constant = tf.constant
        return (
            *(
                ops.call(constant, n),
                ops.call(constant, [n, 3], tf.float32),
                ops.call(constant, x),
                ops.call(constant, 1.5),
            ),
            *(ops.call(constant, n, shape=(2, 1)), ops.call(constant, [x, x], shape=(2, 1))),
        )

    results = [value.tolist() for value in in_function(fn, tf.constant(1.0))]
    assert results == [2, [2.0, 3.0], 1.0, 1.5, [[2], [2]], [[1.0], [1.0]]]
