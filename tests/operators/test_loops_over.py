"""What `for` iterates over in a graph: tensors, ragged tensors, ranges, zips, lists, datasets, iterators."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from tests.operators.names import Names
from tests.operators.ways import in_function, in_session, in_trace, numpy_of, same


def collected(iterable: Any, keep: Any = lambda item: item) -> Any:
    """The items of `iterable`, kept in a list."""
    items: list[Any] = []
    Names().for_(iterable, lambda item: ops.call(items.append, keep(item)))
    return ops.stack(items)


@pytest.mark.parametrize(
    "rows", [[1.0, 2.0, 3.0], [[1, 2], [3, 4]], ["a", "b"], [[True], [False]], [[[1.5]], [[2.5]]], [7.0]]
)
def test_rows_of_tensors(rows: Any) -> None:
    assert same(lambda xs: collected(xs), tf.constant(rows)) == tf.constant(rows).numpy().tolist()


@pytest.mark.parametrize("dtype", [tf.float32, tf.int64, tf.complex64])
def test_rows_of_tensors_of_unknown_shape(dtype: Any) -> None:
    xs = tf.cast([[1, 2], [3, 4], [5, 6]], dtype)
    dynamic = tf.function(lambda xs: collected(xs), input_signature=[tf.TensorSpec(None, dtype)], autograph=False)
    assert dynamic(xs).numpy().tolist() == xs.numpy().tolist()


def test_variables() -> None:
    variable = tf.Variable([1.0, 2.0])
    assert in_function(lambda: collected(variable)).tolist() == [1.0, 2.0]


def test_a_scalar_is_not_iterable() -> None:
    for way in (in_function, in_trace, in_session):
        with pytest.raises(TypeError, match="scalar tensor"):
            way(lambda x: collected(x), tf.constant(1.0))


def test_numbers_and_sparse_tensors_are_not_iterable() -> None:
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        in_function(lambda x: collected(Number(int, x)), tf.constant(1))
    with pytest.raises(TypeError, match="not iterable"):
        in_function(lambda x: collected(tf.sparse.from_dense([[x]])), tf.constant(1))


@pytest.mark.parametrize("arguments", [(4,), (1, 9, 3), (5, 0, -2), (3, 3)])
def test_tensor_ranges(arguments: tuple[int, ...]) -> None:
    def fn(*bounds):
        return tf.reduce_sum(collected(tf.range(*bounds)) * 10)

    expected = sum(range(*arguments)) * 10
    if range(*arguments):
        assert same(fn, *map(tf.constant, arguments)) == expected


@pytest.mark.parametrize("arguments", [(4,), (1, 9, 3), (5, 0, -2), (3, 3)])
def test_python_ranges_of_symbolic_bounds_give_python_ints(arguments: tuple[int, ...]) -> None:
    def fn(*bounds: Any) -> Any:
        v = Names(total=0)

        def body(i: Any) -> None:
            assert type(i) is int or i.kind is int
            v.total = v.total * 10 + i

        v.for_(ops.call(range, *bounds), body)
        return v.total

    expected = int("".join(map(str, range(*arguments))) or 0)
    assert same(fn, *map(tf.constant, arguments)) == expected


def test_rows_of_ragged_tensors() -> None:
    def fn(values: Any) -> Any:
        rows = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1])
        return collected(rows, lambda row: tf.reduce_sum(row))

    assert same(fn, tf.constant([1.0, 2.0, 4.0])) == [3.0, 0.0, 4.0]


def test_enumerate_counts_in_python() -> None:
    def fn(xs: Any) -> Any:
        v = Names(s=0.0, i=ops.Undefined("i"))

        def body(pair: Any) -> None:
            i, x = pair
            assert type(i) is int or i.kind is int
            v.assign(s=v.s + x * i, i=i)

        v.for_(ops.call(enumerate, xs, 5), body)
        return v.s, ops.defined(v.i, "i")

    assert same(fn, tf.constant([1.0, 2.0])) == (17.0, 6)


def test_zip_ends_with_the_shortest() -> None:
    def fn(xs, ys):
        return collected(ops.call(zip, xs, ys), lambda pair: pair[0] * pair[1])

    assert same(fn, tf.constant([1, 2, 3]), tf.constant([4, 5])) == [4, 10]


def test_zip_with_python_values_is_unrolled() -> None:
    def fn(xs: Any) -> Any:
        seen = []
        v = Names(s=tf.constant(0.0))
        v.for_(ops.call(zip, xs, ["a", None]), lambda pair: (seen.append(pair[1]), v.assign(s=v.s + pair[0])))
        assert seen == ["a", None]
        return v.s

    assert same(fn, tf.constant([1.0, 2.0, 3.0])) == 3.0


def test_reversed_runs_backwards() -> None:
    def fn(xs):
        return collected(ops.call(reversed, xs))

    assert same(fn, tf.constant([1, 2, 3])) == [3, 2, 1]


def test_lists_of_symbolic_length() -> None:
    def fn(n: Any) -> Any:
        items: list[Any] = []
        v = Names(i=0)
        v.while_(lambda: v.i < n, lambda: (ops.call(items.append, v.i * v.i), v.assign(i=v.i + 1)))
        w = Names(s=0)
        w.for_(items, lambda item: w.assign(s=w.s + item))
        return w.s

    assert same(fn, tf.constant(4)) == 14


def summed(dataset: Any, most: Any = 1000) -> Any:
    v = Names(s=tf.constant(0, tf.int64), n=0, stop=False)

    def body(item: Any) -> None:
        v.assign(s=v.s + item, n=v.n + 1)
        v.if_(v.s >= most, lambda: v.assign(stop=True))

    v.for_(dataset, body, lambda: ops.not_(v.stop))
    return v.s * 100 + Number.of(v.n).int64()


def test_datasets() -> None:
    def fn(most):
        return summed(tf.data.Dataset.range(5), most)

    assert [same(fn, tf.constant(most, tf.int64)) for most in (1000, 3)] == [1005, 303]


def test_an_empty_dataset_leaves_the_variables() -> None:
    assert same(lambda most: summed(tf.data.Dataset.range(0), most), tf.constant(1, tf.int64)) == 0


def test_structured_elements_of_datasets() -> None:
    def fn(x: Any) -> Any:
        dataset = tf.data.Dataset.from_tensor_slices({"a": [1.0, 2.0, 3.0], "b": ([4.0, 5.0, 6.0],)}).batch(2)
        v = Names(x=x)
        v.for_(dataset, lambda item: v.assign(x=v.x + tf.reduce_sum(item["a"] * item["b"][0])))
        return v.x

    assert same(fn, tf.constant(0.5)) == 32.5


def test_enumerate_and_zip_over_datasets() -> None:
    def fn(x: Any) -> Any:
        first, second = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 20)
        v = Names(x=x)
        v.for_(ops.call(enumerate, first, 1), lambda pair: v.assign(x=v.x * 10 + pair[0] * pair[1]))
        v.for_(ops.call(zip, first, second), lambda pair: v.assign(x=v.x + pair[0] * pair[1]))
        return v.x

    assert same(fn, tf.constant(0, tf.int64)) == 26 + 35


def test_iterators_share_their_state_and_a_break_takes_no_further_item() -> None:
    def fn(most: Any) -> Any:
        iterator = iter(tf.data.Dataset.range(6))
        return summed(iterator, most), summed(iterator)

    assert numpy_of(fn(tf.constant(3, tf.int64))) == (303, 1203)
    assert in_function(fn, tf.constant(3, tf.int64)) == (303, 1203)


def test_iterators_from_outside_go_on_after_the_graph() -> None:
    iterator = iter(tf.data.Dataset.range(6))
    fn = tf.function(lambda: summed(iterator, tf.constant(3, tf.int64)), autograph=False)
    assert fn().numpy() == 303
    assert next(iterator).numpy() == 3


def test_a_trace_does_not_take_items_from_an_iterator() -> None:
    iterator = iter(tf.data.Dataset.range(6))
    with pytest.raises(Unstageable):
        in_trace(lambda: summed(iterator))
    assert next(iterator).numpy() == 0


def test_gradients_flow_through_loops_over_datasets() -> None:
    def fn(x: Any) -> Any:
        dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            v = Names(loss=x * 0.0)
            v.for_(dataset, lambda item: v.assign(loss=v.loss + x * x * item))
        return tape.gradient(v.loss, x)

    assert same(fn, tf.constant(2.0)) == 24.0


def test_a_loop_over_one_row_is_no_loop() -> None:
    kinds = []
    fn = tf.function(lambda xs: collected(xs, lambda x: kinds.append(type(x)) or x), autograph=False)
    graph = fn.get_concrete_function(tf.constant([1.0])).graph
    assert not [op for op in graph.get_operations() if "While" in op.type]
