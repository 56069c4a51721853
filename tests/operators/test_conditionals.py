"""`if` and conditional expressions: one branch in Python, both in the graph, with the values of the one taken."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators.errors import BranchMismatch, Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.undefined import MaybeNone
from tests.operators.names import Names
from tests.operators.ways import Bailed, in_function, in_session, in_trace, same

ONE, MINUS = tf.constant(1.0), tf.constant(-1.0)


def chosen(x: Any, then: Any, orelse: Any, before: Any = None) -> Any:
    """`y` after `y = before; if x > 0: y = then(x) else: y = orelse(x)`."""
    v = Names(y=before)
    v.if_(x > 0, lambda: v.assign(y=then(x)), lambda: v.assign(y=orelse(x)))
    return v.y


@pytest.mark.parametrize("x", [ONE, MINUS])
def test_the_branch_taken_gives_the_values(x: Any) -> None:
    expected = 2.0 if x > 0 else -2.0
    assert same(lambda x: chosen(x, lambda x: x * 2, lambda x: x - 1), x) == expected


def test_a_python_condition_runs_one_branch_only() -> None:
    ran: list[str] = []
    v = Names()
    v.if_([], lambda: ran.append("then"), lambda: ran.append("else"))
    v.if_(np.float32(1), lambda: ran.append("then"), lambda: ran.append("else"))
    assert ran == ["else", "then"]


def test_a_python_condition_is_asked_once() -> None:
    class Counting:
        asked = 0

        def __bool__(self) -> bool:
            self.asked += 1
            return True

    counting = Counting()
    assert ops.if_exp(counting, lambda: 1, lambda: 2) == 1
    assert counting.asked == 1


@pytest.mark.parametrize("value", [3, 0, [2.5], [[0.0]], "no", "", [True]])
def test_conditions_have_pythons_truth(value: Any) -> None:
    condition = tf.constant(value)
    assert same(lambda c: ops.if_exp(c, lambda: tf.constant(1), lambda: tf.constant(2)), condition) == (
        1 if condition else 2
    )


def test_a_condition_of_several_elements_raises_what_eager_raises() -> None:
    for way in (in_function, in_trace, in_session):
        with pytest.raises(ValueError, match="more than one element is ambiguous"):
            way(lambda c: ops.if_exp(c, lambda: 1.0, lambda: 2.0), tf.constant([1.0, 2.0]))


def test_a_condition_of_unknown_shape_goes_back_to_eager_if_it_has_several_elements() -> None:
    specs = [tf.TensorSpec(None)]

    def fn(c):
        return ops.if_exp(c, lambda: tf.constant(1.0), lambda: tf.constant(2.0))

    assert in_trace(fn, tf.constant([[3.0]]), specs=specs) == 1.0
    with pytest.raises(Bailed):
        in_trace(fn, tf.constant([1.0, 2.0]), specs=specs)


@pytest.mark.parametrize(("then", "orelse", "kind"), [(1, 7, int), (1.5, -0.0, float), (True, False, bool)])
@pytest.mark.parametrize("x", [ONE, MINUS])
def test_python_numbers_stay_python_numbers(then: Any, orelse: Any, kind: type, x: Any) -> None:
    def fn(x: Any) -> Any:
        result = chosen(x, lambda _: then, lambda _: orelse)
        assert type(result) is kind or result.kind is kind
        return result

    assert same(fn, x) == (then if x > 0 else orelse)


def test_the_same_object_stays_that_object() -> None:
    thing = object()

    def fn(x: Any) -> Any:
        assert chosen(x, lambda _: thing, lambda _: thing) is thing
        assert chosen(x, lambda _: None, lambda _: None) is None
        assert chosen(x, lambda _: "text", lambda _: "te" + "xt") == "text"
        return x

    assert same(fn, ONE) == 1.0


def test_the_same_outer_tensor_is_not_passed_through_the_graph() -> None:
    def fn(x: Any) -> Any:
        assert chosen(x, lambda x: x, lambda x: x) is x or tf.executing_eagerly()
        return x

    assert same(fn, ONE) == 1.0


def test_a_python_number_that_meets_a_tensor_takes_its_type_in_the_persons_graph() -> None:
    def fn(x: Any) -> Any:
        return chosen(x, lambda x: x, lambda _: 0.5), chosen(x, lambda _: 3, lambda x: tf.cast(x, tf.int64))

    for way in (in_function, in_session):
        y, n = way(fn, MINUS)
        assert (y, y.dtype, n, n.dtype) == (0.5, np.float32, -1, np.int64)


def test_a_python_number_in_place_of_a_tensor_stays_a_number_in_a_trace() -> None:
    def fn(x: Any) -> Any:
        return chosen(x, lambda x: x, lambda _: 0.1) * 3

    assert in_trace(fn, ONE) == 3.0
    assert in_trace(fn, MINUS) == 0.1 * 3  # in double precision


def test_a_python_number_in_place_of_a_tensor_may_meet_a_tensor_of_that_type() -> None:
    def fn(x: Any) -> Any:
        y = chosen(x, lambda x: x, lambda _: 0.1)
        return y + x, x - y, ops.if_exp(y, lambda: x, lambda: -x)

    assert same(fn, MINUS) == (
        float(tf.constant(-1.0) + 0.1),
        float(tf.constant(-1.0) - 0.1),
        -1.0,
    )


def test_tensors_of_different_shape_relax() -> None:
    def fn(x: Any) -> Any:
        y = chosen(x, lambda _: tf.zeros([2, 3]), lambda _: tf.zeros([2, 5]))
        assert tf.executing_eagerly() or y.shape.as_list() == [2, None]
        return tf.shape(y)

    assert same(fn, MINUS) == [2, 5]


@pytest.mark.parametrize(
    ("then", "orelse", "words"),
    [
        (lambda x: tf.constant(1), lambda x: x, "`y` is a int32 tensor .* and a float32 tensor"),
        (lambda x: (x,), lambda x: (x, x), "`y` is a tuple of 1 .* a tuple of 2"),
        (lambda x: len, lambda x: x, "`y` is a builtin_function_or_method object"),
    ],
)
def test_values_without_a_common_type_are_named(then: Any, orelse: Any, words: str) -> None:
    def fn(x):
        return chosen(x, then, orelse)

    for way in (in_function, in_session):
        with pytest.raises(BranchMismatch, match=words):
            way(fn, ONE)


def test_numbers_of_two_types_are_the_wider_one_in_the_persons_graph() -> None:
    for way in (in_function, in_session):
        assert way(lambda x: chosen(x, lambda _: 1, lambda _: 2.5), ONE) == 1.0
        assert way(lambda x: chosen(x, lambda _: 1, lambda _: 2.5), MINUS) == 2.5
        assert way(lambda x: chosen(x, lambda _: True, lambda _: 2), ONE) == 1


def test_strings_are_tensors_in_the_persons_graph() -> None:
    for way in (in_function, in_session):
        assert way(lambda x: chosen(x, lambda _: "yes", lambda _: "no"), MINUS) == b"no"


def test_numbers_of_two_types_are_computed_with_side_by_side() -> None:
    def fn(x: Any) -> Any:
        y = chosen(x, lambda _: 3, lambda _: 2.5)
        return y * x, x - y, (y + 1) * x, ops.if_exp(y > 2.7, lambda: x, lambda: -x)

    assert same(fn, ONE) == (3.0, -2.0, 4.0, 1.0)
    assert same(fn, MINUS) == (-2.5, -3.5, -3.5, 1.0)


def test_one_of_two_unlike_values_is_checked_where_it_is_used() -> None:
    def fn(x: Any) -> Any:
        y = chosen(x, lambda x: (x,), lambda x: (x, x))
        return y[0]

    assert in_trace(fn, ONE) == 1.0
    with pytest.raises(Bailed):
        in_trace(fn, MINUS)


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize("x", [ONE, MINUS])
def test_structures_merge_leaf_by_leaf(x: Any) -> None:
    def make(a: Any, n: int) -> Any:
        return {"point": Point(a, [n, "s"]), "none": None}

    def fn(x: Any) -> Any:
        result = chosen(x, lambda x: make(x, 1), lambda x: make(x * 3, 2))
        assert result["none"] is None and result["point"].y[1] == "s" and type(result["point"]) is Point
        return result["point"].x, result["point"].y[0]

    assert same(fn, x) == ((1.0, 1) if x > 0 else (-3.0, 2))


@pytest.mark.parametrize("x", [ONE, MINUS])
def test_ragged_and_sparse_tensors_and_arrays_merge(x: Any) -> None:
    def fn(x: Any) -> Any:
        rows = chosen(x, lambda x: tf.ragged.constant([[1.0], [2.0, 3.0]]), lambda x: tf.ragged.constant([[4.0, 5.0]]))
        dense = chosen(x, lambda x: tf.sparse.from_dense([[x]]), lambda x: tf.sparse.from_dense([[x, x]]))
        array = chosen(
            x,
            lambda x: tf.TensorArray(tf.float32, 1).write(0, x),
            lambda x: tf.TensorArray(tf.float32, 2).write(0, x).write(1, x),
        )
        return tf.reduce_sum(rows), tf.sparse.to_dense(dense), array.stack()

    assert same(fn, x) == ((6.0, [[1.0]], [1.0]) if x > 0 else (9.0, [[-1.0, -1.0]], [-1.0, -1.0]))


def test_a_name_with_a_value_in_one_branch_only_is_checked_when_read() -> None:
    def fn(x: Any) -> Any:
        v = Names(y=ops.Undefined("y"))
        v.if_(x > 0, lambda: v.assign(y=x * 2))
        return ops.defined(v.y, "y")

    assert same(fn, ONE) == 2.0
    with pytest.raises(Bailed):
        in_trace(fn, MINUS)
    for way in (in_function, in_session):
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot access local variable|before assignment"):
            way(fn, MINUS)


@pytest.mark.parametrize("x", [ONE, MINUS])
def test_none_or_a_tensor_is_asked_by_is(x: Any) -> None:
    def fn(x: Any) -> Any:
        y = chosen(x, lambda x: x * 2, lambda _: None)
        return ops.if_exp(ops.is_(y, None), lambda: x, lambda: y + 1.0)

    assert same(fn, x) == (3.0 if x > 0 else -1.0)


def test_using_none_as_a_tensor_goes_back_to_eager() -> None:
    def fn(x):
        return chosen(x, lambda x: x * 2, lambda _: None) + x

    assert in_trace(fn, ONE) == 3.0
    with pytest.raises(Bailed):
        in_trace(fn, MINUS)
    with pytest.raises(tf.errors.InvalidArgumentError, match="y is None"):
        in_function(fn, MINUS)


def test_none_or_tensor_merges_again() -> None:
    def fn(x: Any) -> Any:
        y = chosen(x, lambda x: x * 2, lambda _: None)
        z = chosen(x, lambda _: y, lambda x: x)
        assert tf.executing_eagerly() or isinstance(z, MaybeNone)
        return ops.if_exp(ops.is_(z, None), lambda: tf.constant(0.0), lambda: z * 1.0)

    assert same(fn, ONE) == 2.0


def test_where_one_branch_raises_the_other_ones_values_win() -> None:
    def fn(x: Any) -> Any:
        v = Names(y=None)
        v.if_(x > 0, lambda: v.assign(y=(x * 2, 7)), lambda: ops.raise_(lambda: ValueError("negative")))
        return v.y

    assert same(fn, ONE) == (2.0, 7)
    with pytest.raises(Bailed):
        in_trace(fn, MINUS)
    for way in (in_function, in_session):
        with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: negative"):
            way(fn, MINUS)


def test_where_both_branches_raise_the_person_sees_the_first_exception() -> None:
    def fn(x: Any) -> Any:
        v = Names()
        v.if_(x > 0, lambda: ops.raise_(lambda: ValueError("a")), lambda: ops.raise_(lambda: KeyError("b")))

    with pytest.raises(ValueError, match="a"):
        in_function(fn, ONE)
    with pytest.raises(Unstageable):
        in_trace(fn, ONE)


def test_an_exception_of_a_branch_passes_and_leaves_the_variables() -> None:
    def fn(x: Any) -> Any:
        v = Names(y=1)

        def then() -> None:
            v.y = 2
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            v.if_(x > 0, then)
        assert v.y == 1 or tf.executing_eagerly()
        return x

    assert in_function(fn, ONE) == 1.0


def test_each_branch_is_built_once() -> None:
    built: list[str] = []

    def fn(x: Any) -> Any:
        return chosen(x, lambda x: built.append("then") or 1.0, lambda x: built.append("else") or x)

    in_function(fn, ONE)
    assert built == ["then", "else"]


@pytest.mark.parametrize("x", [-1.0, 1.0, 20.0])
def test_conditionals_nest(x: float) -> None:
    def fn(x: Any) -> Any:
        def inner(x):
            return ops.if_exp(x > 10, lambda: (x * 3, 1), lambda: (x * 2, 2))

        return ops.if_exp(x > 0, lambda: inner(x), lambda: (x, 3))

    expected = (x * 3, 1) if x > 10 else (x * 2, 2) if x > 0 else (x, 3)
    assert same(fn, tf.constant(x)) == expected


def test_variables_that_are_dead_afterwards_need_no_common_type() -> None:
    def fn(x: Any) -> Any:
        v = Names(y=0.0, scratch=None)
        then, orelse = lambda: v.assign(y=x, scratch="a"), lambda: v.assign(y=x + 1, scratch=3)
        ops.if_(x > 0, then, orelse, v.get, v.set, ("y", "scratch"), 1)
        return v.y

    assert same(fn, MINUS) == 0.0


def test_gradients_flow_through_the_branch_taken() -> None:
    def fn(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.if_exp(x > 0, lambda: x * x * x, lambda: x * 5)
        return tape.gradient(y, x)

    assert [same(fn, tf.constant(x)) for x in (2.0, -2.0)] == [12.0, 5.0]


def test_lists_of_different_length_keep_their_items() -> None:
    def fn(x: Any) -> Any:
        items = chosen(x, lambda x: [x, x * 2, x * 3], lambda x: [x])
        return ops.call(len, items), ops.item(items, 0), ops.item(items, -1)

    assert [same(fn, x) for x in (ONE, MINUS)] == [(3, 1.0, 3.0), (1, -1.0, -1.0)]


def test_a_number_keeps_the_bounds_of_both_branches() -> None:
    def fn(x: Any) -> Any:
        n = chosen(x, lambda _: 3, lambda _: 9)
        assert tf.executing_eagerly() or (isinstance(n, Number) and (n.low, n.high) == (3, 9))
        return n

    assert same(fn, ONE) == 3


def test_a_variable_read_in_one_branch_is_a_tensor_in_the_persons_graph() -> None:
    variable = tf.Variable(4.0)

    def fn(x):
        return chosen(x, lambda _: variable, lambda x: x)

    assert in_function(fn, ONE) == 4.0


def test_keras_layers_with_branches_run_in_functional_models() -> None:
    class Clip(tf.keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return ops.if_exp(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x)

    inputs = tf.keras.Input([2])
    model = tf.keras.Model(inputs, Clip()(inputs))
    assert model(tf.ones([1, 2])).numpy().tolist() == [[2.0, 2.0]]
    assert model.predict(-np.ones([1, 2], np.float32), verbose=0).tolist() == [[-1.0, -1.0]]
