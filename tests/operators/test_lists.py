"""Lists of symbolic length: what Python's lists do, with gradients."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import lists
from autoimport.operators.errors import Unstageable
from autoimport.operators.lists import TensorList
from tests.operators.ways import Bailed, in_function, in_trace


def grown(n: Any, start: list[Any], item: Any) -> list[Any]:
    """A list to which `item(i)` has been appended `n` times in a graph loop."""
    contents = TensorList.of(start, item(tf.constant(0)))

    def body(i: Any, *state: Any) -> Any:
        return (i + 1, *contents.with_state(state).append(item(i)).to_state())

    _, *state = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), *contents.to_state()])
    result = list(start)
    lists.become(result, contents.with_state(state))
    return result


def test_a_grown_list_is_stacked_counted_and_indexed() -> None:
    def fn(n: Any) -> Any:
        values = grown(n, [tf.constant([7.0])], lambda i: tf.cast(i, tf.float32)[None])
        return (
            ops.call(tf.stack, values),
            ops.call(tf.concat, values, 0),
            ops.call(len, values),
            ops.item(values, -1),
            ops.stack(values),
            ops.call(tf.reduce_sum, values),
            ops.call(tf.stack, values, axis=1),
        )

    for run in (in_function, in_trace):
        stacked, joined, count, last, same, total, sideways = run(fn, tf.constant(3))
        assert stacked.tolist() == same.tolist() == [[7.0], [0.0], [1.0], [2.0]]
        assert joined.tolist() == [7.0, 0.0, 1.0, 2.0]
        assert sideways.tolist() == [[7.0, 0.0, 1.0, 2.0]]
        assert (count, last.tolist(), total) == (4, [2.0], 10.0)


def test_a_grown_list_is_concatenated_along_any_axis() -> None:
    def fn(n: Any) -> Any:
        values = grown(n, [tf.constant([[7.0, 8.0]])], lambda i: tf.cast(i, tf.float32) + tf.constant([[0.0, 0.5]]))
        return tuple(ops.call(tf.concat, values, axis) for axis in (0, 1, -1, -2))

    for run in (in_function, in_trace):
        rows, side, last, first = run(fn, tf.constant(2))
        assert rows.tolist() == first.tolist() == [[7.0, 8.0], [0.0, 0.5], [1.0, 1.5]]
        assert side.tolist() == last.tolist() == [[7.0, 8.0, 0.0, 0.5, 1.0, 1.5]]


def test_what_no_tensor_can_hold_is_refused_in_words() -> None:
    def pairs(n: Any) -> Any:
        return ops.call(tf.stack, grown(n, [], lambda i: (i, i)))

    with pytest.raises(TypeError, match="stack each part of the items"):
        in_function(pairs, tf.constant(2))
    with pytest.raises(TypeError, match="concatenated along axis 3"):
        in_function(lambda n: ops.call(tf.concat, grown(n, [], lambda i: tf.range(2)), 3), tf.constant(2))


def test_a_grown_list_is_changed_like_a_list() -> None:
    def fn(n: Any) -> Any:
        values = grown(n, [], lambda i: i)
        last = ops.call(values.pop)
        ops.set_item(values, 0, tf.constant(9))
        ops.call(values.extend, [last, last])
        values = ops.augment("+=", values, [tf.constant(5)])
        return ops.call(tf.stack, values), last

    stacked, last = in_function(fn, tf.constant(3))
    assert (stacked.tolist(), last) == ([9, 1, 2, 2, 5], 2)


def test_python_numbers_in_a_grown_list_stay_numbers() -> None:
    def fn(n: Any) -> Any:
        values = grown(n, [0.5], lambda i: ops.call(float, tf.cast(i, tf.float32)))
        return ops.item(values, 0) / 3, ops.call(tf.stack, values)

    first, stacked = in_trace(fn, tf.constant(2))
    assert first == 0.5 / 3
    assert stacked.dtype == "float32"


def test_items_may_be_structures_of_varying_shapes() -> None:
    def fn(n: Any) -> Any:
        values = grown(n, [], lambda i: {"a": tf.range(i), "b": (i, i + 1)})
        item = ops.item(values, 2)
        return item["a"], item["b"][1]

    sequence, number = in_function(fn, tf.constant(3))
    assert (sequence.tolist(), number) == ([0, 1], 3)


def test_gradients_flow_through_a_grown_list() -> None:
    x = tf.constant(2.0)

    def fn(n: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(ops.call(tf.stack, grown(n, [], lambda i: x ** (tf.cast(i, tf.float32) + 1))))
        return tape.gradient(y, x)

    assert in_function(fn, tf.constant(3), x) == 1 + 2 * 2 + 3 * 4


def test_what_python_would_raise_goes_back_to_eager() -> None:
    for use in (
        lambda values: ops.call(values.pop),
        lambda values: ops.item(values, 3),
        lambda values: ops.stack(values),
    ):
        with pytest.raises(Bailed):
            in_trace(lambda n, use=use: use(grown(n, [], lambda i: i)), tf.constant(0))


def test_unlike_items_are_refused() -> None:
    with pytest.raises(Unstageable, match="as items"):
        in_trace(lambda n: ops.call(grown(n, [], lambda i: i).append, tf.constant(1.5)) or n, tf.constant(1))


def test_a_list_with_a_known_length_is_iterated_over() -> None:
    with pytest.raises(Unstageable, match="iterates"):
        in_trace(lambda n: list(ops.iterate(grown(n, [], lambda i: i))), tf.constant(1))


def test_stack_and_element_types_of_python_lists() -> None:
    values: list[Any] = []
    ops.set_element_type(values, tf.float32)
    values += [1.0, tf.constant(2.0)]
    assert ops.stack(values).numpy().tolist() == [1.0, 2.0]
    assert ops.stack(["a", 1], strict=False) == ["a", 1]
    for items in (["a", 1], 3):
        with pytest.raises(ValueError, match=re.escape(f"{items!r} is no list of tensors of one type and shape")):
            ops.stack(items)


@pytest.mark.parametrize(("dtype", "shape"), [("nope", None), (tf.float32, "nope")])
def test_an_element_type_that_is_none_is_refused_whatever_the_list_holds(dtype: Any, shape: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="nope"):
        ops.set_element_type([], dtype, shape)
