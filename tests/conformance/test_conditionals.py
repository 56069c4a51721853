"""`if` and conditional expressions: the branch taken, and nothing of the other one, wherever the condition lives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

X = tf.constant(3.0)
BOOLS = (True, False, tf.constant(True), tf.constant(False))
COUNT = tf.Variable(0)
GLOBAL = 0


def each(*rest: Any) -> list[tuple[Any, ...]]:
    """The inputs for both values of a condition, as Python bools and as tensors."""
    return [(c, *rest) for c in BOOLS]


# One `if` ---------------------------------------------------------------------------------------------------------------


def effect_in_if(c, x):
    COUNT.assign(0)
    if c:
        COUNT.assign_add(1)
    return COUNT.read_value()


def effect_in_both(c, x):
    COUNT.assign(10)
    if c:
        COUNT.assign_add(1)
    else:
        COUNT.assign_add(2)
    return COUNT.read_value()


def one_changed(c, x):
    if c:
        x = x * 2
    return x


def one_changed_in_both(c, x):
    if c:
        x = x * 2
    else:
        x = x - 10
    return x


def two_changed(c, x):
    y = x + 1
    if c:
        x, y = y, x
    return x, y


def two_changed_in_both(c, x):
    y = x + 1
    if c:
        x = x * y
        y = -x
    else:
        y = x / 4
        x = x + y
    return x, y


def first_set_in_both(c, x):
    if c:
        found = x + 1
    else:
        found = x - 1
    return found


def local_to_the_branch(c, x):
    if c:
        square = x * x
        x = square - 1
    return x


def dead_afterwards(c, x):
    other = x
    if c:
        other = other * 2
        x = other + 1
    other = x + 5
    return x, other


def unlike_but_dead(c, x):
    if c:
        scratch = {"a": x}
        x = scratch["a"] + 1
    else:
        scratch = "nothing"
    return x


def deleted_elsewhere(c, x):
    y = x * 3
    if c:
        y = y + 1
    else:
        del y
        y = x
    return y


def shape_by_branch(c, x):
    if c:
        v = tf.stack([x, x + 1])
    else:
        v = tf.stack([x, x, x])
    return v * 2


def rank_by_branch(c, x):
    if c:
        v = tf.stack([x, x + 1])
    else:
        v = x
    return v * 2


def function_made_in_the_branch(c, x):
    if c:

        def change(v):
            return v * v

        x = change(x)
    return x


def outer_changed_by_inner_function(c, x):
    total = x

    def change():
        nonlocal total
        if c:
            total = total + 1

    change()
    change()
    return total


def set_in_a_handler_before(c, x):
    try:
        raise ValueError("early")
    except ValueError:
        y = x
    if c:
        y = y + 1
    return y


def inner_if_without_else(c, x):
    if c:
        x = x + 1
        if x > 3:
            x = x * 2
    return x


def condition_changed_before_inner(c, x):
    if c:
        x = -x
        if x < 0:
            x = x - 1
        else:
            x = x + 1
        x = x * 10
    else:
        x = x / 2
    return x


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(effect_in_if, id="IF-1"),
        pytest.param(effect_in_both, id="IF-2"),
        pytest.param(one_changed, id="IF-3"),
        pytest.param(one_changed_in_both, id="IF-4"),
        pytest.param(two_changed, id="IF-5"),
        pytest.param(two_changed_in_both, id="IF-5-else"),
        pytest.param(first_set_in_both, id="IF-6"),
        pytest.param(local_to_the_branch, id="IF-18"),
        pytest.param(dead_afterwards, id="IF-19"),
        pytest.param(unlike_but_dead, id="IF-20"),
        pytest.param(inner_if_without_else, id="IF-25"),
        pytest.param(condition_changed_before_inner, id="IF-24"),
        pytest.param(shape_by_branch, id="IF-27"),
        pytest.param(rank_by_branch, id="IF-27-rank"),
        pytest.param(outer_changed_by_inner_function, id="IF-32"),
        pytest.param(function_made_in_the_branch, id="IF-35"),
        pytest.param(deleted_elsewhere, id="IF-12"),
    ],
)
def test_the_branch_taken_gives_the_values(program: Callable[..., Any]) -> None:
    check(program, *each(X), session=program not in (effect_in_if, effect_in_both))


def test_a_name_set_by_a_handler_is_changed_by_a_branch() -> None:  # IF-30
    check(set_in_a_handler_before, *each(X), session=True)


# Names without a value --------------------------------------------------------------------------------------------------


def only_in_if(c, x):
    if c:
        found = x + 1
    return found


def only_in_else(c, x):
    if c:
        x = x + 1
    else:
        found = x * 2
    return found


def deleted_in_one_branch(c, x):
    y = x
    if c:
        y = y + 1
    else:
        del y
    return y


def deleted_in_both(c, x):
    y = x
    if c:
        del y
    else:
        y = y + 1
        del y
    return y


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(only_in_if, id="IF-7,8,9,10"),
        pytest.param(only_in_else, id="IF-11"),
        pytest.param(deleted_in_one_branch, id="IF-12-read"),
        pytest.param(deleted_in_both, id="IF-13,14"),
    ],
)
def test_a_name_missing_on_the_path_taken_is_unbound(program: Callable[..., Any]) -> None:
    check(program, *each(X), session=True)


# Types that differ --------------------------------------------------------------------------------------------------------


def none_or_tensor(c, x):
    found = None
    if c:
        found = x + 1
    if found is None:
        return x
    return found


def none_in_both(c, x):
    if c:
        found = None
        x = x + 1
    else:
        found = None
    return found, x


def returned_none_or_tensor(c, x):
    if c:
        found = x
    else:
        found = None
    return found


def number_or_tensor(c, x):
    y = 0.0
    if c:
        y = x
    return y + x


def ints_and_floats(c, x):
    y = 1 if c else 2.5
    return x * y


def dtype_by_branch(c, x):
    if c:
        y = tf.cast(x, tf.int32)
    else:
        y = x / 2
    return y


def tuple_length_by_branch(c, x):
    if c:
        pair = (x, x + 1)
    else:
        pair = (x,)
    return pair


def keys_by_branch(c, x):
    if c:
        found = {"a": x}
    else:
        found = {"a": x, "b": x + 1}
    return found


def test_none_in_one_branch_is_none_afterwards() -> None:  # IF-15, IF-16
    check(none_or_tensor, *each(X), session=True)
    check(returned_none_or_tensor, *each(X), function=False)


def test_none_in_both_branches_is_none() -> None:  # IF-17
    check(none_in_both, *each(X), session=True)


def test_a_python_number_in_one_branch_meets_a_tensor() -> None:
    check(number_or_tensor, *each(X), session=True)
    check(ints_and_floats, *each(X), session=True)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(dtype_by_branch, id="IF-26,T1"),
        pytest.param(tuple_length_by_branch, id="IF-28-tuple"),
        pytest.param(keys_by_branch, id="IF-28-dict"),
    ],
)
def test_results_of_unlike_types_are_refused_in_the_persons_graph_only(program: Callable[..., Any]) -> None:
    tensors = [(tf.constant(True), X), (tf.constant(False), X)]
    check(program, *tensors, function=TypeError)
    check(program, (True, X), (False, X), session=True)


# Several `if`s ----------------------------------------------------------------------------------------------------------


def two_in_a_row(p, q, x):
    if p:
        x = x + 1
    if q:
        x = x * 2
    return x


def two_in_a_row_with_else(p, q, x):
    if p:
        x = x + 1
    else:
        x = x - 1
    if q:
        x = x * 2
    else:
        x = x / 2
    return x


def nested(p, q, x):
    if p:
        x = x + 1
        if q:
            x = x * 2
    return x


def nested_with_else(p, q, x):
    if p:
        if q:
            x = x * 2
        else:
            x = x / 2
    else:
        if q:
            x = x + 100
        else:
            x = x - 100
    return x


@pytest.mark.parametrize("first", [False, True], ids=["python", "tensor"])
@pytest.mark.parametrize("second", [False, True], ids=["python", "tensor"])
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(two_in_a_row, id="IF-21"),
        pytest.param(two_in_a_row_with_else, id="IF-21-else"),
        pytest.param(nested, id="IF-22"),
        pytest.param(nested_with_else, id="IF-22-else"),
    ],
)
def test_two_conditions_of_either_kind(program: Callable[..., Any], first: bool, second: bool) -> None:
    kinds = [tf.constant if symbolic else bool for symbolic in (first, second)]
    inputs = [(kinds[0](p), kinds[1](q), X) for p, q in itertools.product((True, False), repeat=2)]
    check(program, *inputs, session=True)


def two_inputs(a, b):
    if a > 0:
        if b > 0:
            r = a * b
        else:
            r = a - b
    else:
        if b > 0:
            r = b
        else:
            r = -a
        r = r + 1
    return r


def test_nested_conditions_on_two_inputs() -> None:  # IF-23
    values = [-1.0, 2.0]
    check(two_inputs, *[(tf.constant(a), tf.constant(b)) for a in values for b in values], session=True)
    check(two_inputs, *[(2.0, tf.constant(b)) for b in values], (-1.0, tf.constant(2.0)), session=True)
    check(two_inputs, *[(tf.constant(a), -1.0) for a in values], session=True)
    # A Python number is computed with on one way, a tensor on the other.
    check(two_inputs, (tf.constant(-1.0), 2.0), session=True)
    check(two_inputs, (-1.0, tf.constant(-1.0)), session=True)


# Raising, handlers, globals ---------------------------------------------------------------------------------------------


def raises_at_the_end_of_a_branch(c, x):
    y = x + 1
    if c:
        y = y * 2
        raise ValueError("not this one")
    return y


def masks_an_assignment(n, x):
    y = x
    if n >= 0:
        try:
            check_small(n)
            y = y + n
        except ValueError:
            y = y - 1
    return y


def check_small(n):
    if n > 1:
        raise ValueError("too large")


def changes_a_global(p, q, x):
    global GLOBAL
    if p:
        if q:
            GLOBAL = GLOBAL + 1
        x = x * 2
    return x


def test_raising_in_a_branch_happens_only_if_it_is_taken() -> None:  # IF-29, IF-36
    check(raises_at_the_end_of_a_branch, (True, X), (False, X), session=True)
    check(raises_at_the_end_of_a_branch, (tf.constant(True), X), (tf.constant(False), X), session=True)


def test_a_handler_in_a_branch_masks_an_assignment() -> None:  # IF-33
    check(masks_an_assignment, *[(n, X) for n in (-1, 0, 1, 2)], session=True)


def test_a_handler_under_a_symbolic_condition_is_left_to_python() -> None:  # IF-34
    check(masks_an_assignment, *[(tf.constant(float(n)), X) for n in (-1, 0, 1)], function=False)
    check(masks_an_assignment, (tf.constant(2.0), X), staged=False, function=False)


def test_a_global_changes_in_the_branch_that_is_taken() -> None:  # IF-31
    inputs = [(p, q, X) for p, q in itertools.product((True, False), repeat=2)]
    check(changes_a_global, *inputs, state=lambda module: module.GLOBAL, function=False)
    inputs = [(tf.constant(p), tf.constant(q), X) for p, q in itertools.product((True, False), repeat=2)]
    check(changes_a_global, *inputs, state=lambda module: module.GLOBAL, function=False)


# What a condition may be ------------------------------------------------------------------------------------------------


def chosen(c):
    if c:
        r = tf.constant(1.0)
    else:
        r = tf.constant(-1.0)
    return r


def counted_down(s):
    steps = tf.constant(0)
    while s:
        s = s - 1
        steps += 1
    return steps


def chosen_without_a_rank(c):
    return chosen(tf.compat.v1.placeholder_with_default(c, None))


def test_a_condition_of_one_element_has_its_truth() -> None:  # DSP-2, DSP-8, DSP-9
    check(chosen, *[(tf.constant(value),) for value in (True, [False], [[True]], [[[False]]])], session=True)
    check(chosen_without_a_rank, (tf.constant(True),), (tf.constant([[False]]),), session=True)


def test_numbers_and_strings_have_pythons_truth() -> None:  # DSP-10, T6
    check(chosen, *[(tf.constant(value),) for value in (0, 1, -2, 0.0, 0.5, [3])], session=True)
    check(counted_down, *[(tf.constant(value),) for value in (0, 1, 4)], session=True)


def test_several_elements_have_no_truth() -> None:  # DSP-11, DSP-12
    check(chosen, (tf.constant([True, False]),), (tf.constant([[1, 2]]),), session=True)
    check(chosen_by_mask, (tf.constant([1.0, -1.0]),))


def chosen_by_mask(x):
    positive = tf.boolean_mask(x > -5, x > -5)
    if positive:
        x = x + 1
    return x


def chosen_by_object(x, which):
    c = tf.sparse.from_dense([[1, 0]]) if which else None
    return x + 1 if c else x


def test_the_truth_of_other_objects_is_pythons() -> None:  # DSP-7
    check(chosen_by_object, (X, False), session=True)
    check(chosen_by_object, (X, True), session=True)


def effect_in_the_condition(n):
    COUNT.assign(0)
    i = tf.constant(0)
    while condition_with_effect(i, n):
        i += 1
    return COUNT.read_value(), i


def condition_with_effect(i, n):
    COUNT.assign(COUNT * 10 + i)
    return i < n


def test_a_condition_runs_once_for_each_test() -> None:  # DSP-13
    check(effect_in_the_condition, *[(tf.constant(n),) for n in (0, 1, 5)])


def becomes_a_tensor(x):
    i = tf.constant(10)
    while i > 0:
        i = 0
    return x + tf.cast(i, tf.float32)


def test_a_number_may_replace_a_tensor() -> None:  # DSP-17
    check(becomes_a_tensor, (X,), session=True)


def other_branch_untraced(c, x):
    if c:
        x = x + 1
    else:
        x = x.no_such_attribute
    return x


def test_the_branch_that_python_rules_out_is_not_looked_at() -> None:  # DSP-16
    check(other_branch_untraced, (True, X), session=True)


def pure_python(n):
    total = 0
    while n > 0:
        if n % 2:
            total += n
        n -= 1
    for k in range(3):
        total += k
    return total


def test_python_values_stay_pythons() -> None:  # DSP-1
    check(pure_python, (5,), (0,), staged=False)


def shapes_checked(c, x):
    if c:
        r = tf.reshape(x, [2, 2])
    else:
        r = tf.reshape(x, [3])
    return r


def test_a_branch_that_static_shapes_forbid_need_not_run() -> None:  # T5
    v = tf.constant([1.0, 2.0, 3.0])
    check(shapes_checked, (tf.constant(False), v), function=Exception)
    check(shapes_checked, (False, v), session=True)


# Conditional expressions --------------------------------------------------------------------------------------------------


def expression(x):
    return x * 2 if x > 0 else -x


def expression_in_else(x):
    return "p" and (x * 2 if x > 0 else -x if x < 0 else x + 10)


def expressions_in_branches(x):
    if x > 0:
        a = x if x > 2 else x + 1
        b = a * 2 if a < 4 else a
    else:
        a = -x if x < -2 else x - 1
        b = a if a < 0 else a * 3
    if a > 1:
        a = a - 1 if b > 2 else a
    else:
        a = a + 1 if b > 2 else a
    return a, b


def several_variables(x, y):
    if x > y:
        low, high = (y if y > 0 else -y), (x if x > 0 else -x)
        d = high - low if high > low else low - high
    else:
        low, high = (x if x < 0 else -x), (y if y < 0 else -y)
        d = high + low if high < low else low
    return low, high, d


def unlike_arms(x):
    return 1.0 if x > 0 else 0


def number_arms(x):
    return x * (1.5 if x > 0 else 2)


def in_a_lambda(x):
    clip = lambda v: v if v > 0 else v * 0  # noqa: E731
    return clip(x) + clip(-x)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(expression, id="IFE-1"),
        pytest.param(expression_in_else, id="IFE-2"),
        pytest.param(expressions_in_branches, id="IFE-3"),
        pytest.param(number_arms, id="IFE-5-used"),
        pytest.param(in_a_lambda, id="IFE-6"),
    ],
)
def test_a_conditional_expression_gives_the_value_of_its_arm(program: Callable[..., Any]) -> None:
    check(program, *[(tf.constant(value),) for value in (-5.0, -1.0, 0.0, 1.0, 5.0)], session=True)
    check(program, *[(value,) for value in (-5.0, -1.0, 0.0, 1.0, 5.0)], staged=False)


def test_several_variables_by_conditional_expressions() -> None:  # IFE-4
    check(
        several_variables, *[(tf.constant(a), tf.constant(b)) for a in (-1.0, 2.0) for b in (-3.0, 4.0)], session=True
    )


def test_arms_of_unlike_number_types() -> None:  # IFE-5
    check(unlike_arms, (tf.constant(1.0),), (tf.constant(-1.0),), session=True)
