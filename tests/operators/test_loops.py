"""`while` and `for`: Python's loop while Python can decide, then one graph loop with Python's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.errors import BranchMismatch
from autoimport.operators.numbers import Number
from tests.operators.names import Names
from tests.operators.ways import Bailed, in_function, in_session, in_trace, same

FLOATS = tf.TensorSpec([None])


def test_a_counter_is_a_python_int_after_a_symbolic_loop() -> None:
    def collatz(n: Any) -> Any:
        v = Names(n=n, steps=0)

        def body() -> None:
            v.n = ops.if_exp(ops.eq(v.n % 2, 0), lambda: v.n // 2, lambda: 3 * v.n + 1)
            v.steps += 1

        v.while_(lambda: ops.ne(v.n, 1), body)
        assert type(v.steps) is int or v.steps.kind is int
        return v.steps

    assert same(collatz, tf.constant(27)) == 111
    assert same(collatz, tf.constant(1)) == 0


def test_a_python_condition_is_a_python_loop() -> None:
    bodies = []

    def fn(x: Any) -> Any:
        v = Names(i=0, x=x)
        v.while_(lambda: v.i < 3, lambda: (bodies.append(v.i), v.assign(i=v.i + 1, x=v.x * 2)))
        assert v.i == 3
        return v.x

    assert in_function(fn, tf.constant(1.0)) == 8.0
    assert bodies == [0, 1, 2]


def test_a_loop_becomes_symbolic_when_its_condition_does() -> None:
    def fn(x: Any) -> Any:
        v = Names(x=x, n=0, done=False)

        def body() -> None:
            v.x, v.n = v.x * 2, v.n + 1
            v.if_(v.x > 10, lambda: v.assign(done=True))

        v.while_(lambda: ops.not_(v.done), body)
        return v.x, v.n

    assert same(fn, tf.constant(1.0)) == (16.0, 4)
    assert same(fn, tf.constant(50.0)) == (100.0, 1)


def test_the_condition_is_evaluated_as_often_as_in_python() -> None:
    def fn(n: Any) -> Any:
        variable = tf.Variable(0) if tf.executing_eagerly() else counter
        v = Names(i=tf.constant(0))
        v.while_(lambda: (variable.assign_add(1), v.i < n)[1], lambda: v.assign(i=v.i + 1))
        return variable.read_value()

    counter = tf.Variable(0)
    assert in_function(fn, tf.constant(3)) == 4


def test_the_body_is_built_once_where_types_do_not_change() -> None:
    built = []

    def fn(n: Any) -> Any:
        v = Names(i=0, x=tf.constant(1.0))
        v.while_(lambda: v.i < n, lambda: (built.append(1), v.assign(i=v.i + 1, x=v.x * 2)))
        return v.x

    assert in_function(fn, tf.constant(3)) == 8.0
    assert built == [1]


def total(xs: Any) -> Any:
    """`s = 0.0; for x in xs: s = s + x`."""
    v = Names(s=0.0)
    v.for_(xs, lambda x: v.assign(s=v.s + x))
    return v.s


def test_a_python_number_becomes_a_tensor_in_the_loop() -> None:
    assert same(total, tf.constant([1.0, 2.0, 3.0])) == 6.0
    assert in_trace(total, tf.constant([1.0, 2.0]), specs=[FLOATS]) == 3.0


def test_a_loop_without_iterations_leaves_the_python_number() -> None:
    assert same(total, tf.zeros([0])) == 0.0
    assert in_trace(lambda xs: tf.stack([total(xs)]), tf.zeros([0]), specs=[FLOATS]) == [0.0]


def test_a_sum_that_starts_with_a_python_number_is_built_once() -> None:
    for way in (in_function, in_trace, in_session):
        built: list[int] = []

        def fn(xs: Any) -> Any:
            v = Names(s=0.0, n=0)
            v.for_(xs, lambda x: (built.append(1), v.assign(s=x * 2 + v.s, n=v.n + tf.constant(3))))
            return v.s + 0.5, v.n + 1

        assert way(fn, tf.constant([1.0, 2.0])) == (6.5, 7)
        assert built == [1]


def test_what_python_does_with_the_number_in_the_first_iteration_is_kept() -> None:
    def fn(xs: Any) -> Any:
        v = Names(s=1)
        v.for_(xs, lambda x: v.assign(s=v.s / 3 + x))  # 1 / 3 in double precision, then in float32
        return v.s

    def ints(xs: Any) -> Any:
        v = Names(s=7)
        v.for_(xs, lambda x: v.assign(s=v.s // 2 + x))
        return v.s

    xs = tf.constant([0.1, 0.2])
    for spec in (None, [FLOATS]):
        assert in_trace(fn, xs, specs=spec) == fn(xs).numpy()
        assert in_trace(ints, xs, specs=spec) == ints(xs).numpy()


def test_an_int_that_becomes_a_float_does_so_from_the_first_iteration_on() -> None:
    def fn(xs: Any) -> Any:
        v = Names(s=0)
        v.for_(xs, lambda x: v.assign(s=v.s + 0.5))
        return v.s

    assert same(fn, tf.constant([1.0, 2.0])) == 1.0
    for length, expected in ((2, 3.0), (0, 0.0)):
        assert in_trace(lambda xs: fn(xs) * tf.constant(3.0), tf.ones([length]), specs=[FLOATS]) == expected


def test_shapes_that_change_relax() -> None:
    def fn(x: Any) -> Any:
        v = Names(x=x, n=0)
        v.while_(lambda: tf.reduce_sum(v.x) < 10, lambda: v.assign(x=tf.concat([v.x, v.x], 0), n=v.n + 1))
        return v.x, v.n

    assert same(fn, tf.constant([1.0, 2.0])) == ([1.0, 2.0] * 4, 2)


def test_dtypes_that_change_need_an_iteration() -> None:
    def fn(x: Any) -> Any:
        v = Names(value=x)
        v.while_(lambda: tf.reduce_sum(tf.cast(v.value, tf.float32)) < 10.0, lambda: v.assign(value=tf.constant(20.5)))
        return v.value

    assert in_function(fn, tf.constant(1)) == in_trace(fn, tf.constant(1)) == 20.5
    with pytest.raises(tf.errors.InvalidArgumentError, match="without an iteration leaves value"):
        in_function(fn, tf.constant(11))
    with pytest.raises(BranchMismatch, match="`value` is a .*float32 tensor.* int32 tensor"):
        in_session(fn, tf.constant(1))


def last(xs: Any) -> Any:
    v = Names(x=ops.Undefined("x"))
    v.for_(xs, lambda item: v.assign(x=item))
    return ops.defined(v.x, "x")


def test_the_target_keeps_its_last_value() -> None:
    assert same(last, tf.constant([1.0, 5.0])) == 5.0
    assert in_trace(last, tf.constant([1.0, 5.0]), specs=[FLOATS]) == 5.0


def test_the_target_has_no_value_without_iterations() -> None:
    for way in (in_function, in_trace, in_session):
        with pytest.raises(UnboundLocalError):
            way(last, tf.zeros([0]))
    with pytest.raises(Bailed):
        in_trace(last, tf.zeros([0]), specs=[FLOATS])
    dynamic = tf.function(last, input_signature=[FLOATS], autograph=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot access|before assignment"):
        dynamic(tf.zeros([0]))


def smallest(xs: Any) -> Any:
    v = Names(best=None)

    def body(x: Any) -> None:
        v.if_(ops.or_(ops.is_(v.best, None), lambda: x < v.best), lambda: v.assign(best=x))

    v.for_(xs, body)
    return ops.if_exp(ops.is_(v.best, None), lambda: tf.constant(-1.0), lambda: v.best * 1.0)


def test_none_before_the_loop_and_a_tensor_after() -> None:
    assert same(smallest, tf.constant([3.0, 1.0, 2.0])) == 1.0
    assert same(smallest, tf.zeros([0])) == -1.0
    for xs in ([3.0, 1.0], []):
        assert in_trace(smallest, tf.constant(xs, tf.float32), specs=[FLOATS]) == (min(xs) if xs else -1.0)


def test_structures_are_carried() -> None:
    def fn(x: Any) -> Any:
        v = Names(state={"h": (x, 0), "name": "s"})

        def body() -> None:
            h, n = v.state["h"]
            v.state = {"h": (h * 2, n + 1), "name": "s"}

        v.while_(lambda: v.state["h"][0] < 10, body)
        assert v.state["name"] == "s"
        return v.state["h"]

    assert same(fn, tf.constant(1.0)) == (16.0, 4)


def test_ragged_and_sparse_tensors_and_arrays_are_carried() -> None:
    def fn(n: Any) -> Any:
        v = Names(
            i=0,
            rows=tf.ragged.constant([[1.0], [2.0, 3.0]]),
            dense=tf.sparse.from_dense([[1.0, 0.0]]),
            array=tf.TensorArray(tf.int32, 0, dynamic_size=True),
        )

        def body() -> None:
            v.assign(rows=v.rows * 2.0, dense=v.dense * 3.0, array=v.array.write(v.i, v.i), i=v.i + 1)

        v.while_(lambda: v.i < n, body)
        return tf.reduce_sum(v.rows), tf.sparse.to_dense(v.dense), v.array.stack()

    assert same(fn, tf.constant(3)) == (48.0, [[27.0, 0.0]], [0, 1, 2])


def test_break_ends_the_loop_before_the_rest() -> None:
    def fn(xs: Any) -> Any:
        v = Names(s=tf.constant(0.0), stop=False)

        def body(x: Any) -> None:
            v.if_(x < 0, lambda: v.assign(stop=True), lambda: v.assign(s=v.s + x))

        v.for_(xs, body, lambda: ops.not_(v.stop))
        return v.s, v.stop

    assert same(fn, tf.constant([1.0, 2.0, -1.0, 4.0])) == (3.0, True)
    assert same(fn, tf.constant([1.0, 2.0])) == (3.0, False)
    assert same(fn, tf.constant([-1.0])) == (0.0, True)


def test_a_symbolic_break_in_a_python_loop_guards_the_rest() -> None:
    def fn(x: Any) -> Any:
        v = Names(x=x, k=ops.Undefined("k"), stop=False)

        def body(k: int) -> None:
            v.assign(k=k, x=v.x * 2)
            v.if_(v.x > 10, lambda: v.assign(stop=True))

        v.for_(range(6), body, lambda: ops.not_(v.stop))
        return v.x, v.k

    assert same(fn, tf.constant(1.0)) == (16.0, 3)
    assert same(fn, tf.constant(0.01)) == (float(tf.constant(0.01) * 64), 5)


def test_a_python_break_takes_no_further_item() -> None:
    items = iter([1, 2, 3])
    v = Names(stop=False)
    v.for_(items, lambda k: v.assign(stop=k == 2), lambda: not v.stop)
    assert list(items) == [3]


def test_python_iterables_are_unrolled() -> None:
    kinds = []

    def fn(x: Any) -> Any:
        v = Names(x=x)
        v.for_([1, "a", None], lambda item: (kinds.append(item), v.assign(x=v.x + 1)))
        return v.x

    assert in_function(fn, tf.constant(1.0)) == 4.0
    assert kinds == [1, "a", None]


def test_loops_nest() -> None:
    def fn(n: Any) -> Any:
        v = Names(c=0, i=0)

        def outer() -> None:
            w = Names(j=0)

            def inner() -> None:
                v.c += 1
                w.j += 1

            names = ("c", "j")
            get, set = lambda: (v.c, w.j), lambda values: (v.assign(c=values[0]), w.assign(j=values[1]))
            ops.while_(lambda: w.j < v.i, inner, get, set, names, 2, None)
            v.i += 1

        v.while_(lambda: v.i < n, outer)
        return v.c

    assert same(fn, tf.constant(5)) == 10


def test_a_raise_in_the_body_ends_the_loop() -> None:
    def fn(xs: Any) -> Any:
        v = Names(s=tf.constant(0.0))

        def body(x: Any) -> None:
            v.if_(x < 0, lambda: ops.raise_(lambda: ValueError("negative")))
            v.s += x

        v.for_(xs, body)
        return v.s

    assert same(fn, tf.constant([1.0, 2.0])) == 3.0
    with pytest.raises(Bailed):
        in_trace(fn, tf.constant([1.0, -2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        in_function(fn, tf.constant([1.0, -2.0]))


def test_a_body_that_always_raises_raises_if_it_runs() -> None:
    def fn(xs: Any) -> Any:
        v = Names()
        v.for_(xs, lambda x: ops.raise_(lambda: ValueError("any")))
        return tf.constant(1.0)

    dynamic = tf.function(fn, input_signature=[FLOATS], autograph=False)
    assert dynamic(tf.zeros([0])).numpy() == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="any"):
        dynamic(tf.zeros([2]))


def test_an_exception_of_the_body_passes_and_leaves_the_variables() -> None:
    def fn(xs: Any) -> Any:
        v = Names(y=1)

        def body(x: Any) -> None:
            v.y = 2
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            v.for_(xs, body)
        assert v.y == 1
        return xs

    in_function(fn, tf.constant([1.0, 2.0]))


def test_gradients_flow_through_loops() -> None:
    def fn(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            v = Names(y=x, i=0)
            v.while_(lambda: v.i < tf.constant(3), lambda: v.assign(y=v.y * x, i=v.i + 1))
        return tape.gradient(v.y, x)

    assert same(fn, tf.constant(2.0)) == 32.0


@pytest.mark.parametrize("shape", [[3], [3, 2]])
def test_gradients_flow_to_the_rows(shape: list[int]) -> None:
    def fn(xs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            v = Names(s=tf.zeros(shape[1:]))
            v.for_(xs, lambda x: v.assign(s=v.s + x * x))
            loss = tf.reduce_sum(v.s)
        return tape.gradient(loss, xs)

    xs = tf.reshape(tf.range(np.prod(shape), dtype=tf.float32), shape)
    assert same(fn, xs) == (2 * xs).numpy().tolist()


def test_lists_grow_in_symbolic_loops() -> None:
    def fn(n: Any) -> Any:
        items: list[Any] = []
        v = Names(i=0)
        v.while_(
            lambda: v.i < n, lambda: (ops.call(items.append, (v.i, tf.cast(v.i, tf.float32))), v.assign(i=v.i + 1))
        )
        w = Names(s=0.0)
        v.for_(items, lambda pair: w.assign(s=w.s))
        return ops.call(len, items), ops.item(items, 2)

    assert same(fn, tf.constant(4)) == (4, (2, 2.0))


def test_a_list_of_known_length_is_a_python_list_after_the_loop() -> None:
    def fn(xs: Any) -> Any:
        items = [xs[0]]
        Names().for_(xs, lambda x: (ops.call(items.append, x * 2), ops.call(items.append, x)))
        assert len(items) == 5
        return items

    assert same(fn, tf.constant([1.0, 3.0])) == [1.0, 2.0, 1.0, 6.0, 3.0]


def test_lists_made_in_the_body_stay_python_lists() -> None:
    built = []

    def fn(xs: Any) -> Any:
        v = Names(s=tf.constant(0.0))

        def body(x: Any) -> None:
            row: list[Any] = []
            ops.call(row.append, x)
            ops.call(row.append, x * 2)
            built.append(len(row))
            v.s += row[0] + row[1]

        v.for_(xs, body)
        return v.s

    assert in_function(fn, tf.constant([1.0, 2.0])) == 9.0
    assert built == [2]


def test_shape_invariants_are_honoured() -> None:
    seen = []

    def fn(n: Any) -> Any:
        v = Names(x=tf.zeros([1, 2]), i=0)
        options = {"shape_invariants": lambda: [(v.x, tf.TensorShape([None, 2]))]}

        def body() -> None:
            seen.append(v.x.shape.as_list())
            v.assign(x=tf.concat([v.x, v.x], 0), i=v.i + 1)

        v.while_(lambda: v.i < n, body, options)
        return tf.shape(v.x)

    assert in_function(fn, tf.constant(2)).tolist() == [4, 2]
    assert seen == [[None, 2]]


def test_loop_options_reach_the_loop() -> None:
    def fn(n: Any) -> Any:
        v = Names(i=0)
        options = {"maximum_iterations": lambda: 2, "parallel_iterations": lambda: 1, "swap_memory": lambda: True}
        v.while_(lambda: v.i < n, lambda: v.assign(i=v.i + 1), options)
        return v.i

    assert in_function(fn, tf.constant(5)) == 2
    graph = tf.function(fn, autograph=False).get_concrete_function(tf.constant(5)).graph
    (loop,) = [op for op in graph.get_operations() if op.type in ("While", "StatelessWhile")]
    assert loop.get_attr("parallel_iterations") == 1


def test_a_carried_number_counts_beyond_32_bits() -> None:
    def fn(n: Any) -> Any:
        v = Names(i=tf.constant(0), big=1)
        v.while_(lambda: v.i < n, lambda: v.assign(i=v.i + 1, big=v.big * 2))
        return Number.of(v.big).float64()

    assert same(fn, tf.constant(40)) == 2.0**40
    with pytest.raises(Bailed):
        in_trace(fn, tf.constant(70))
