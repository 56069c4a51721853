"""`while`: as many iterations as in Python, with the same values after them, whether Python or the graph decides."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

COUNT = tf.Variable(0)
GLOBAL = 0


def counts(*numbers: int) -> list[tuple[Any, ...]]:
    """The inputs (n, x) for a Python n and for a tensor."""
    x = tf.constant(0)
    return [(n, x) for n in numbers] + [(tf.constant(n), x) for n in numbers]


def no_variables(n):
    COUNT.assign(0)
    while COUNT.read_value() < n:
        COUNT.assign_add(1)
    return COUNT.read_value()


def one_variable(n, x):
    while x < n:
        x = x + 1
    return x


def two_variables(n, x):
    s = x + 10
    while n > 0:
        s = s * 2 + x
        n = n - 1
    return s, n


def condition_is_the_result(n, x):
    while n > 0:
        n = n - 1
    return n, x + 1


def python_counter(n, x):
    i = 0
    while i < n:
        x = x + i
        i += 1
    return i, x


def untouched_beside(n, x):
    other = x + 5
    while n > 0:
        n = n - 1
    return other, n


def local_to_the_body(n, x):
    while n > 0:
        square = x + n
        x = square + 1
        n = n - 1
    return x


def count_up(n, x):
    total = x
    i = n - n
    while i < n:
        i = i + 1
        total = total + i
    return total, i


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(one_variable, id="WH-2"),
        pytest.param(two_variables, id="WH-3"),
        pytest.param(condition_is_the_result, id="WH-4"),
        pytest.param(python_counter, id="DSP-4"),
        pytest.param(local_to_the_body, id="WH-10"),
        pytest.param(untouched_beside, id="WH-23"),
        pytest.param(count_up, id="count"),
    ],
)
def test_the_loop_ends_with_pythons_values(program: Callable[..., Any]) -> None:
    check(program, *counts(0, 1, 2), session=True)


def test_a_loop_over_effects_alone() -> None:  # WH-1
    check(no_variables, *[(tf.constant(n),) for n in (0, 1, 2)])
    check(no_variables, *[(n,) for n in (0, 1, 2)])


# Several loops ------------------------------------------------------------------------------------------------------------


def two_in_a_row(n1, n2, x):
    i = n1 - n1
    while i < n1:
        x = x * 10 + i
        i = i + 1
    i = n2 - n2
    while i < n2:
        x = x * 10 + i + 5
        i = i + 1
    return x


def nested(n1, n2, x):
    s = x
    i = n1 - n1
    while i < n1:
        s = s + 1
        j = n2 - n2
        while j < n2:
            s = s * 2 + i + j
            j = j + 1
        i = i + 1
    return s


def inner_changes_the_outer_condition(n1, n2, x):
    s = x
    while n1 > 0:
        s = s + 1
        k = n2
        while k > 0:
            k = k - 1
            n1 = n1 - 1
            s = s * 2
        n1 = n1 - 1
    return s


def rows_in_an_array(n1, n2, x):
    rows = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[])
    i = n1 - n1
    while i < n1:
        j = n2 - n2
        while j < n2:
            rows = rows.write(rows.size(), x + i * 10 + j)
            j = j + 1
        i = i + 1
    return rows.stack()


@pytest.mark.parametrize("first", [False, True], ids=["python", "tensor"])
@pytest.mark.parametrize("second", [False, True], ids=["python", "tensor"])
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(two_in_a_row, id="WH-5"),
        pytest.param(rows_in_an_array, id="WH-6"),
        pytest.param(nested, id="WH-7"),
        pytest.param(inner_changes_the_outer_condition, id="WH-8,9"),
    ],
)
def test_two_loops_of_either_kind(program: Callable[..., Any], first: bool, second: bool) -> None:
    kinds = [tf.constant if symbolic else int for symbolic in (first, second)]
    inputs = [(kinds[0](a), kinds[1](b), tf.constant(1)) for a, b in itertools.product((0, 1, 2), (0, 2))]
    check(program, *inputs, session=program is not rows_in_an_array)


def test_conditions_of_an_outer_loop_for_many_inputs() -> None:  # WH-8
    pairs = itertools.product(range(5), repeat=2)
    check(inner_changes_the_outer_condition, *[(tf.constant(a), tf.constant(b), tf.constant(1)) for a, b in pairs])


# Names first set in the body ----------------------------------------------------------------------------------------------


def first_set_in_the_body(n, x):
    while n > 0:
        last = x + n
        n = n - 1
    return last


def set_by_an_inner_if(n, x):
    while n > 0:
        if n > 1:
            last = x + n
        else:
            last = x - n
        n = n - 1
    return last


def set_once_updated_later(n, x):
    i = n - n
    while i < n:
        if i == 0:
            state = x + 1
        else:
            state = state * 3
        i = i + 1
    return state


def nested_dict(n, x):
    while n > 0:
        state = {"a": {"b": x + n}, "c": x * n}
        n = n - 1
    return state


def dynamic_shape(n, x):
    while n > 0:
        v = tf.fill(tf.stack([n]), x)
        n = n - 1
    return v


def dynamic_rank_in_a_dict(n, x):
    while n > 0:
        state = {"v": tf.zeros(tf.range(n), tf.float32) + tf.cast(x, tf.float32)}
        n = n - 1
    return state


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(first_set_in_the_body, id="WH-11,12,13"),
        pytest.param(set_by_an_inner_if, id="WH-16"),
        pytest.param(set_once_updated_later, id="WH-14,15"),
        pytest.param(nested_dict, id="WH-17"),
        pytest.param(dynamic_shape, id="WH-18"),
        pytest.param(dynamic_rank_in_a_dict, id="WH-18-rank"),
    ],
)
def test_a_name_first_set_in_the_body_needs_an_iteration(program: Callable[..., Any]) -> None:
    check(program, *counts(0, 1, 2), *counts(3), session=True)


def foreign_object(n, x):
    while n > 0:
        thing = object()
        n = n - 1
    return n + x, thing is None


def test_a_name_that_no_tensor_can_hold() -> None:  # WH-19
    check(
        foreign_object,
        (tf.constant(2), tf.constant(0)),
        (tf.constant(1), tf.constant(0)),
        staged=False,
        function=Exception,
    )
    check(foreign_object, (2, tf.constant(0)), session=True)


def raises_in_the_body(n, x):
    while n > 0:
        v = x + undefined_name  # noqa: F821
        n = n - 1
    return v


def test_an_error_of_the_body_comes_out() -> None:  # WH-20
    check(raises_in_the_body, (tf.constant(2), tf.constant(0)), session=True)


# None -------------------------------------------------------------------------------------------------------------------


def best_starts_as_none(values, n):
    best = None
    i = n - n
    while i < n:
        v = values[i]
        if best is None or v > best:
            best = v
        i = i + 1
    return best


def none_at_the_end_of_the_body(n, x):
    s = x
    while n > 0:
        s = None
        n = n - 1
    return s


def accumulator_starts_as_none(n, x):
    s = None
    while n > 0:
        s = x if s is None else s + x
        n = n - 1
    return s


def test_none_before_the_loop_is_none_in_the_first_iteration() -> None:  # WH-21, U1
    values = tf.constant([-3.0, -1.0, -2.0])
    check(best_starts_as_none, (values, tf.constant(3)), (values, tf.constant(1)), (values, 3), session=True)
    check(accumulator_starts_as_none, *[(tf.constant(n), tf.constant(2.0)) for n in (1, 3)], session=True)
    check(accumulator_starts_as_none, (tf.constant(0), tf.constant(2.0)), function=False)
    check(best_starts_as_none, (values, tf.constant(0)), function=False)


def test_none_at_the_end_of_an_iteration_is_none_afterwards() -> None:  # WH-22
    check(
        none_at_the_end_of_the_body, (tf.constant(2), tf.constant(1)), (tf.constant(0), tf.constant(1)), function=False
    )


# Mixed ------------------------------------------------------------------------------------------------------------------


def becomes_symbolic(x):
    i = 0
    while i < 3:
        i = i + x
    return i


def becomes_symbolic_after_two(x):
    i = 0
    steps = 0
    while i < 5:
        steps += 1
        if steps == 2:
            i = x
        else:
            i = i + 1
    return i, steps


def loop_in_if_in_loop(c, n, x):
    global GLOBAL
    total = x
    while n > 0:
        if c:
            k = n
            while k > 0:
                total = total + k
                k = k - 1
        elif n > 1:
            total = total - 1
        n = n - 1
    GLOBAL = total + 1
    return total, n, GLOBAL


def with_else(n, x):
    while n > 0:
        n = n - 1
        x = x + 2
    else:
        x = x * 10
    return x


def with_else_and_break(n, x):
    while n > 0:
        n = n - 1
        x = x + 2
        if x > 4:
            break
    else:
        x = x * 10
    return x


def test_a_condition_that_becomes_a_tensor() -> None:  # WH-25, M2
    check(becomes_symbolic, (tf.constant(1),), (tf.constant(2),), session=True)
    check(becomes_symbolic_after_two, (tf.constant(1),), (tf.constant(9),), session=True)


def test_loops_and_branches_in_each_other_beside_a_global() -> None:  # WH-24
    inputs = [(tf.constant(c), tf.constant(n), tf.constant(0)) for c in (True, False) for n in (0, 3)]
    check(loop_in_if_in_loop, *inputs, state=lambda module: module.GLOBAL, function=False)


def test_the_else_of_a_loop_runs_unless_it_is_left() -> None:  # WH-26, M3
    check(with_else, *counts(0, 1, 2), session=True)
    check(with_else_and_break, *counts(0, 1, 2, 3), session=True)


def called_in_the_condition(n, x):
    less = lambda a, b: a < b  # noqa: E731
    while less(abs(x), n) and below(x, n):
        x = x + 1
    return x


def below(a, b):
    return a < b


def test_a_call_in_the_condition() -> None:
    check(called_in_the_condition, *counts(0, 1, 3), session=True)


def unlike_object(n, x):
    thing = Tally()
    while n > 0:
        thing = thing + n
        n = n - 1
    return thing.total + x


class Tally:
    def __init__(self, total=0):
        self.total = total

    def __add__(self, other):
        return Tally(self.total + other)


def test_an_object_that_the_loop_replaces() -> None:  # DSP-5, DSP-6, T7
    check(unlike_object, (3, tf.constant(1)), session=True)
    check(unlike_object, (tf.constant(3), tf.constant(1)), staged=False, function=Exception)


def gradient_through(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        while tf.reduce_sum(y) < 100.0:
            y = y * x
    return tape.gradient(y, x)


def test_a_gradient_through_a_loop() -> None:
    check(gradient_through, (tf.constant(3.0),), (tf.constant(200.0),), session=False)
