"""`for`: over tensors, ranges, datasets, iterators and Python's own iterables, as often and in the order that Python has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

COUNT = tf.Variable(0)
VECTORS = [tf.constant([], tf.int32), tf.constant([4]), tf.constant([4, 7])]
LISTS = [[tf.constant(v) for v in vector.numpy()] for vector in VECTORS]
X = tf.constant(1)


def digits(items):
    COUNT.assign(0)
    for v in items:
        COUNT.assign(COUNT * 10 + v)
    return COUNT.read_value()


def one_variable(items, x):
    for v in items:
        x = x * 2 + v
    return x


def two_variables(items, x):
    n = x - x
    for v in items:
        x = x * 2 + v
        n = n + 1
    return x, n


def python_counter(items, x):
    n = 0
    for v in items:
        x = x + v * n
        n += 1
    return x, n


def target_defined_before(items, x):
    v = x * 100
    for v in items:
        x = x + v
    return x, v


def target_reassigned(items, x):
    v = x
    for v in items:
        x = x + v
        v = v * 2
    return x, v


def with_else(items, x):
    for v in items:
        x = x + v
    else:
        x = x * 10
    return x


def with_else_and_break(items, x):
    for v in items:
        if v > 5:
            break
        x = x + v
    else:
        x = x * 10
    return x


@pytest.mark.parametrize("items", [VECTORS, LISTS], ids=["tensor", "list"])
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(one_variable, id="FOR-1,2"),
        pytest.param(two_variables, id="FOR-1,2-two"),
        pytest.param(python_counter, id="counter"),
        pytest.param(target_defined_before, id="FOR-27"),
        pytest.param(target_reassigned, id="FOR-28"),
        pytest.param(with_else, id="FOR-32"),
        pytest.param(with_else_and_break, id="FOR-32-break"),
    ],
)
def test_a_loop_over_a_tensor_or_a_list(program: Callable[..., Any], items: list[Any]) -> None:
    check(program, *[(part, X) for part in items], session=items is VECTORS)


def test_a_loop_of_effects_runs_in_order() -> None:  # FOR-1, FOR-33
    check(digits, *[(vector,) for vector in VECTORS], (tf.constant([1, 2, 3, 4]),))
    check(digits, *[(items,) for items in LISTS[1:]])
    # Making an element may fail, after a variable has been changed: it is put back then.
    check(digits, (tf.data.Dataset.range(1, 5).map(lambda v: tf.cast(v, tf.int32)),))
    check(digits, (tf.ragged.constant([[1, 2], [3]]).flat_values,))


# Names after the loop -----------------------------------------------------------------------------------------------------


def target_read_after(items, x):
    for v in items:
        x = x + v
    return x, v


def set_in_the_body(items, x):
    for v in items:
        last = v * 2
    return last + x


def set_by_an_inner_if(items, x):
    for v in items:
        if v > 5:
            last = v
        else:
            last = -v
    return last + x


def set_once_updated_later(items, x):
    first = True
    for v in items:
        if first:
            state = v
            first = False
        else:
            state = state * 10 + v
    return state + x


@pytest.mark.parametrize("items", [VECTORS, LISTS], ids=["tensor", "list"])
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(target_read_after, id="FOR-24,25"),
        pytest.param(set_in_the_body, id="FOR-30"),
        pytest.param(set_by_an_inner_if, id="FOR-30-if"),
        pytest.param(set_once_updated_later, id="FOR-30-first"),
    ],
)
def test_a_name_first_set_by_the_loop_needs_an_item(program: Callable[..., Any], items: list[Any]) -> None:
    check(program, *[(part, X) for part in items], session=items is VECTORS)


def target_of_an_empty_range(n):
    for i in tf.range(n):
        pass
    return i


def test_the_target_of_an_empty_range_is_unbound() -> None:  # FOR-26
    check(target_of_an_empty_range, (tf.constant(0),), (tf.constant(2),), session=True)


# Shapes and kinds of tensors ----------------------------------------------------------------------------------------------


def rows(m):
    total = tf.zeros([2])
    for row in m:
        total = total * 2 + row
    return total


def nested_rows(m, n):
    sums = tf.TensorArray(tf.int32, size=n, element_shape=[])
    i = 0
    for row in m:
        s = 0
        for v in row:
            s = s * 10 + v
        sums = sums.write(i, s)
        i += 1
    return sums.stack()


def ragged_rows(m):
    total = tf.constant(0)
    for row in m:
        for v in row:
            total = total * 10 + v
        total = total * 2
    return total


def ragged_of_ragged(m):
    total = tf.constant(0)
    for part in m:
        total = total * 3 + tf.reduce_sum(part)
        for row in part:
            total = total + tf.size(row)
    return total


def mixed_list(a, b):
    total = tf.constant(0)
    for part in [[1, 2], a, [b, 3]]:
        for v in part:
            total = total * 10 + v
    return total


def test_rows_of_the_first_dimension() -> None:  # FOR-4
    check(rows, *[(tf.zeros([n, 2]) + tf.range(2.0),) for n in (0, 1, 3)], session=True)
    check(rows, (tf.constant([[[1.0, 2.0]], [[3.0, 4.0]]]),), session=True)


def test_nested_rows() -> None:  # FOR-5
    check(nested_rows, (tf.constant([[1, 2], [3, 4], [5, 6]]), 3))
    check(nested_rows, (tf.zeros([2, 0], tf.int32), 2))


def test_ragged_rows() -> None:  # FOR-6, FOR-7
    check(ragged_rows, (tf.ragged.constant([[1], [], [2, 3]]),), (tf.ragged.constant([[], [4]], dtype=tf.int32),))
    check(ragged_of_ragged, (tf.ragged.constant([[[1], []], [[2, 3]]]),))


def test_a_list_of_lists_and_tensors() -> None:  # FOR-8
    check(mixed_list, (tf.constant([4, 5]), tf.constant(6)), (tf.constant([7]), tf.constant(8)), session=True)


# Ranges -------------------------------------------------------------------------------------------------------------------


def over_tf_range(n):
    s = tf.constant(0)
    for i in tf.range(n):
        s = s * 10 + i
    return s


def over_tf_range_with_step(a, b, d):
    s = tf.constant(1)
    for i in tf.range(a, b, d):
        s = s * 10 + i
    return s


def over_range(n):
    s = tf.constant(1)
    for i in range(n):
        s = s * 10 + i
    return s


def over_range_with_bounds(a, b, d):
    s = tf.constant(1)
    for i in range(a, b, d):
        s = s * 10 + i
    return s


def test_tf_range() -> None:  # FOR-9, FOR-10, FOR-11
    check(over_tf_range, *[(tf.constant(n),) for n in (0, 1, 4)], session=True)
    bounds = [(0, 5, 2), (5, 0, -2), (3, 3, 1), (2, 9, 3), (0, -3, -1)]
    check(over_tf_range_with_step, *[tuple(map(tf.constant, given)) for given in bounds], session=True)


def test_range_of_tensors() -> None:  # FOR-12
    check(over_range, *[(tf.constant(n),) for n in (0, 1, 4, -3)], session=True)
    bounds = [(1, 4, 1), (2, 0, -1), (2, 0, 1), (0, 5, 2)]
    check(over_range_with_bounds, *[tuple(map(tf.constant, given)) for given in bounds], session=True)
    check(over_range_with_bounds, *[(a, b, tf.constant(d)) for a, b, d in bounds], session=True)


def inner_of_outer(n, x):
    for i in RANGES["outer"](n):
        for j in RANGES["inner"](i + 1):
            x = x * 3 + i - j
        for j in RANGES["inner"](2):
            x = x + j
    return x


RANGES = {"outer": range, "inner": range}


def inner_python_outer_tensor(n, x):
    for i in tf.range(n):
        for j in range(i + 1):
            x = x * 3 + i - j
        for j in range(2):
            x = x + j
    return x


def inner_tensor_outer_python(n, x):
    for i in range(n):
        for j in tf.range(i + 1):
            x = x * 3 + i - j
        for j in tf.range(2):
            x = x + j
    return x


@pytest.mark.parametrize("program", [inner_of_outer, inner_python_outer_tensor, inner_tensor_outer_python])
def test_loops_over_ranges_in_each_other(program: Callable[..., Any]) -> None:  # FOR-37
    check(program, *[(tf.constant(n), X) for n in (0, 1, 3)], session=True)
    if program is not inner_python_outer_tensor:
        check(program, *[(n, X) for n in (0, 1, 3)], session=True)


# Datasets and iterators ---------------------------------------------------------------------------------------------------


def made_inside(n):
    s = tf.constant(0, tf.int64)
    for v in tf.data.Dataset.range(n):
        s = s * 10 + v
    return s


def iterator_made_inside(n):
    s = tf.constant(0, tf.int64)
    for v in iter(tf.data.Dataset.range(n)):
        s = s * 10 + v
    return s


def over_a_dataset(ds, x):
    s = tf.constant(0, tf.int64)
    n = tf.constant(0)
    for v in ds:
        s = s * 10 + v
        n = n + 1
    return s, n + x


def last_of_a_dataset(ds, x):
    for v in ds:
        last = v + x
    return last


def resumed(n):
    it = iter(tf.data.Dataset.range(n))
    a = b = c = tf.constant(0, tf.int64)
    for v in it:
        a = a * 10 + v + 1
        break
    for v in it:
        b = b * 10 + v + 1
        break
    for v in it:
        c = c * 10 + v + 1
    return a, b, c


def stops_before_a_bad_item(n):
    s = tf.constant(0, tf.int64)
    for v in tf.data.Dataset.range(10):
        if v >= n:
            break
        assert v < n
        s = s + v
    return s


def next_in_a_loop(n):
    it = iter(tf.data.Dataset.range(10))
    s = tf.constant(0, tf.int64)
    for _ in tf.range(n):
        s = s * 10 + next(it)
    return s


def next_in_a_python_loop(x):
    it = iter(tf.data.Dataset.range(10))
    s = tf.constant(0, tf.int64)
    for _ in range(3):
        s = s * 10 + next(it)
    return s + x


def enumerated(ds, x):
    s = tf.constant(0, tf.int64)
    for i, v in enumerate(ds):
        s = s * 10 + v * i
    return s + x


LONG = tf.constant(1, tf.int64)
DATASETS = [tf.data.Dataset.range(n) for n in (0, 1, 3)]


@pytest.mark.parametrize(
    "program",
    [pytest.param(made_inside, id="FOR-13"), pytest.param(iterator_made_inside, id="FOR-15")],
)
def test_a_dataset_made_inside(program: Callable[..., Any]) -> None:
    check(program, *[(tf.constant(n, tf.int64),) for n in (0, 1, 4)], staged=False)


def test_a_dataset_given() -> None:  # FOR-14, FOR-36
    check(over_a_dataset, *[(ds, X) for ds in DATASETS])
    check(last_of_a_dataset, *[(ds, LONG) for ds in DATASETS])
    check(enumerated, *[(ds, LONG) for ds in DATASETS])


def test_an_iterator_given_is_moved_on() -> None:  # FOR-16
    check(over_a_dataset, lambda: (iter(tf.data.Dataset.range(3)), X), staged=False)


def test_an_iterator_goes_on_where_a_loop_stopped() -> None:  # FOR-17
    check(resumed, *[(tf.constant(n, tf.int64),) for n in (5, 2, 1, 0)], staged=False)


def test_nothing_is_done_with_items_behind_a_break() -> None:  # FOR-34
    check(stops_before_a_bad_item, *[(tf.constant(n, tf.int64),) for n in (0, 3)], staged=False)


def test_next_in_a_loop() -> None:  # FOR-35
    check(next_in_a_loop, *[(tf.constant(n),) for n in (0, 3)], staged=False)
    check(next_in_a_python_loop, (LONG,), staged=False)


DISTRIBUTED = tf.distribute.OneDeviceStrategy("cpu:0").experimental_distribute_dataset(tf.data.Dataset.range(6))


def distributed(x):
    total = tf.constant(0, tf.int64)
    for v in DISTRIBUTED:
        total = total * 10 + v
    return total + x


def distributed_with_jumps(x):
    total = tf.constant(0, tf.int64)
    for i, v in enumerate(DISTRIBUTED):
        if v == 1:
            continue
        if v == 4:
            break
        total = total * 10 + v * i
    return total + x


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options:UserWarning")
def test_a_distributed_dataset() -> None:  # FOR-18, FOR-19, M7
    check(distributed, (LONG,), staged=False)
    check(distributed_with_jumps, (LONG,), staged=False)


def two_in_a_row(a, b):
    s = tf.constant(0, tf.int64)
    for v in a:
        s = s * 10 + tf.cast(v, tf.int64)
    for v in b:
        s = s * 10 + tf.cast(v, tf.int64)
    return s


KINDS = {"list": [3, 4], "tensor": tf.constant([5, 6]), "dataset": tf.data.Dataset.range(2)}


@pytest.mark.parametrize("first", list(KINDS))
@pytest.mark.parametrize("second", list(KINDS))
def test_two_loops_of_any_kinds(first: str, second: str) -> None:  # FOR-22
    check(two_in_a_row, (KINDS[first], KINDS[second]), staged={first, second} != {"list"})


def test_two_loops_over_iterators() -> None:  # FOR-23
    check(two_in_a_row, lambda: (iter(tf.data.Dataset.range(2)), iter([5, 6])), staged=False)
    check(two_in_a_row, lambda: (iter([5, 6]), iter(tf.data.Dataset.range(2))), staged=False)


# Python's own iterables ---------------------------------------------------------------------------------------------------


def numbers_up_to(n):
    k = 0
    while k < n:
        yield k
        k += 1


def resumed_generator(x):
    items = numbers_up_to(5)
    for v in items:
        x = x * 10 + v
        if v == 1:
            break
    for v in items:
        x = x * 10 + v
        if v == 3:
            break
    return x * 10 + next(items)


def left_at_once(stop, x):
    items = numbers_up_to(3)
    while not stop:
        for v in items:
            x = x * 10 + v
        stop = True
    return x * 10 + len(list(items))


def tuple_target(items, x):
    for i, (a, b) in enumerate(items):
        x = x * 10 + a * i - b
    return x


def starred_target(m):
    s = tf.constant(0)
    for first, *rest in m:
        s = s * 10 + first
        for v in rest:
            s = s + v
    return s


def counted(n, x):
    calls = []
    for v in count(calls, range(n)):
        x = x + v
    return x, len(calls)


def count(calls, items):
    calls.append(1)
    return items


def comprehension_in_the_body(items, x):
    for v in items:
        x = x + sum([v * k for k in range(3) if k != 1])
    return x


def zipped_with_a_list(t, x):
    for v, k in zip(t, [1, 10, 100]):
        x = x + v * k
    return x


def several_made_of_tensors(t, x):
    for i, (a, b) in enumerate(zip(t, reversed(t))):
        x = x * 2 + a * b + i
    for v in map(lambda v: v * 2, t):
        x = x + v
    return x


def filtered(t, x):
    for v in filter(lambda v: v > 4, t):
        x = x + v
    return x


def test_a_generator_goes_on_where_a_loop_stopped() -> None:  # FOR-20, FOR-21
    check(resumed_generator, (X,), session=True)
    check(left_at_once, (True, X), (False, X), session=True)


def test_targets_take_items_apart() -> None:  # FOR-29
    check(tuple_target, ([(1, 2), (3, 4)], X), (tf.constant([[1, 2], [3, 4], [5, 6]]), X))
    check(starred_target, (tf.constant([[1, 2, 3], [4, 5, 6]]),), session=True)


def test_what_is_iterated_over_is_evaluated_once() -> None:  # DSP-14
    check(counted, (3, X), (0, X), session=True)


def test_a_comprehension_in_the_body() -> None:  # FOR-31
    check(comprehension_in_the_body, *[(vector, X) for vector in VECTORS], session=True)


def test_tensors_beside_lists_and_in_builtins() -> None:  # FOR-29
    check(zipped_with_a_list, *[(tf.constant(values), X) for values in ([5], [5, 6, 7])], session=True)
    check(zipped_with_a_list_of_unknown_length, (tf.constant(2), X), (tf.constant(5), X), session=True)
    check(several_made_of_tensors, *[(vector, X) for vector in VECTORS], session=True)
    check(filtered, *[(vector, X) for vector in VECTORS[1:]])


def zipped_with_a_list_of_unknown_length(n, x):
    for v, k in zip(tf.range(n), [1, 10, 100]):
        x = x + v * k
    return x


# Graphs -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2])
def test_a_loop_compiles_under_xla(size: int) -> None:  # FOR-3
    vector = VECTORS[size]
    check(compiled_by_xla, (vector, X))


def compiled_by_xla(items, x):
    return XLA(items, x)


XLA = tf.function(one_variable, jit_compile=True)


def traced_once(items, x):
    for v in items:
        x = x + v**2
    return x


def test_a_loop_over_a_tensor_is_one_loop_in_the_graph() -> None:  # DSP-3, DSP-15
    from tests.conformance.harness import compiled

    _, converted = compiled(__file__).load()
    graph = tf.function(converted.traced_once).get_concrete_function(tf.constant([1, 2, 3]), X).graph
    kinds = [node.op for fn in graph.as_graph_def().library.function for node in fn.node_def]
    top = [op.type for op in graph.get_operations()]
    assert sum(kind in ("While", "StatelessWhile") for kind in top) == 1
    assert "Pow" not in top
    assert kinds.count("Pow") == 1
