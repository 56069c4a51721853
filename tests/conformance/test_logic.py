"""`and`, `or`, `not`, comparisons, membership and identity: operands as in Python, over tensors as well."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

T, F = tf.constant(True), tf.constant(False)
BOOLS = (True, T, False, F)
VECTOR = tf.constant([1.0, 2.0, 3.0])
COUNT = tf.Variable(0)


# Bools ------------------------------------------------------------------------------------------------------------------


def disjunction(a, b, c, x):
    return (1.0 if a or b or c else 2.0) * x


def conjunction(a, b, c, x):
    return (1.0 if a and b and c else 2.0) * x


def mixed(a, b, c, x):
    return (1.0 if a or b or c and b and c else 2.0) * x


def exclusive(a, b, c, x):
    return (1.0 if (a or b) and (a or b or c) and not c else 2.0) * x


def negated(a, b, c, x):
    if not a and not (b or not c):
        x = x * 2
    return x


@pytest.mark.parametrize("fn", [disjunction, conjunction, mixed, exclusive, negated])
def test_any_mix_of_bools_and_bool_tensors_decides_as_in_python(
    fn: Callable[..., Any],
) -> None:  # LOG-1, LOG-5, LOG-6, LOG-7
    for a, b, c in itertools.product((True, T), (False, F), (True, F)):
        check(fn, (a, b, c, VECTOR), session=True)
        check(fn, (b, a, c, VECTOR))


def is_large(x):
    return tf.reduce_sum(x) > 5.0


def operand_is_a_call(x, y):
    if y < 0.0 or is_large(x):
        return x
    return -x


def test_an_operand_may_be_a_call() -> None:  # LOG-2
    for y in (-1.0, 1.0):
        check(operand_is_a_call, (VECTOR, tf.constant(y)), (VECTOR / 10, tf.constant(y)), session=True)


# Operands ---------------------------------------------------------------------------------------------------------------


def python_operands(x):
    return x * 1, [True and [1], 0 or "no", None or {}, () and 1, 2 and 3, not [], not "a"]


def test_python_operands_come_out_as_they_are() -> None:  # LOG-3, LOG-6
    check(python_operands, (VECTOR,), session=False)


def unneeded_operand(flag, x):
    if flag or 1 / 0:
        return x
    return -x


def test_a_python_operand_that_is_not_needed_is_not_evaluated() -> None:  # LOG-4
    check(unneeded_operand, (True, VECTOR), session=True)


def tensor_or_number(x, y):
    return (x or y), (x and y)


def test_the_operand_that_decides_is_the_value() -> None:
    for x, y in itertools.product((0.0, 2.0), (0.0, 3.0)):
        check(tensor_or_number, (tf.constant(x), tf.constant(y)), session=True)


def effect_if_needed(a, x):
    COUNT.assign(0)
    if a and COUNT.assign_add(1) > 0:
        x = x * 2
    if a or COUNT.assign_add(10) > 0:
        x = x + 1
    return x, COUNT.read_value()


def test_an_operand_with_an_effect_has_it_only_if_needed() -> None:  # LOG-12
    for a in BOOLS:
        check(effect_if_needed, (a, VECTOR))


# Comparisons ------------------------------------------------------------------------------------------------------------


def equalities(x, y):
    return x == y, x != y, not x == y, (x == y) == (y == x)


def chain(x, y, z):
    if x < y == z > x:
        return x + y
    return x - y


def chain_of_equalities(x, y, z):
    return tf.constant(1.0) if x == y == z else tf.constant(2.0)


def ordered(x, y, z):
    a = x < y and y < z
    b = x < y and y < z or z < y
    return tf.constant(1.0) if a else tf.constant(2.0) if b else tf.constant(3.0)


def counted(x):
    COUNT.assign_add(1)
    return x * 1


def middle_once(x, y, z):
    COUNT.assign(0)
    if counted(x) < counted(y) < counted(z):
        x = x + 10
    return x, COUNT.read_value()


@pytest.mark.parametrize("fn", [chain, chain_of_equalities, ordered])
@pytest.mark.parametrize("order", list(itertools.permutations((1.0, 2.0, 2.0)))[::2] + [(1.0, 2.0, 3.0)])
def test_comparisons_of_three_values(fn: Callable[..., Any], order: tuple[float, ...]) -> None:  # LOG-9, LOG-10
    check(fn, tuple(map(tf.constant, order)), session=True)


def test_each_operand_of_a_chain_is_evaluated_once_and_only_as_far_as_needed() -> None:  # LOG-9
    for order in ((1.0, 2.0, 3.0), (2.0, 1.0, 3.0), (1.0, 2.0, 0.0)):
        check(middle_once, tuple(map(tf.constant, order)))


@pytest.mark.parametrize("pair", [(1.0, 1.0), (1.0, 2.0), (float("nan"), float("nan"))])
def test_equality_of_scalars(pair: tuple[float, float]) -> None:  # LOG-8
    check(equalities, tuple(map(tf.constant, pair)), session=False)


def signs(x):
    return -x, +x, ~tf.cast(x, tf.int32), abs(-x)


def test_signs_and_inversion() -> None:  # LOG-11
    check(signs, (VECTOR,), session=True)


# Membership -------------------------------------------------------------------------------------------------------------


def member_of_list(x, y):
    return tf.constant(1) if y in [x[0], x[1], 7.0] else tf.constant(2)


def member_of_tensor(x, y):
    return tf.constant(1) if y in tf.unstack(x) else tf.constant(2)


def not_member(x, y):
    return tf.constant(1) if y not in (x[0], 9.0) else tf.constant(2)


def member_of_python(x, key):
    return x * (1.0 if key in {"a": 1} else 2.0 if key in "bcd" else 3.0)


@pytest.mark.parametrize("fn", [member_of_list, member_of_tensor, not_member])
def test_membership_compares_with_each_item(fn: Callable[..., Any]) -> None:
    for y in (1.0, 2.0, 7.0, 8.0):
        check(fn, (VECTOR, tf.constant(y)), session=True)


def test_membership_in_python_containers() -> None:  # LOG-11
    for key in ("a", "b", "e"):
        check(member_of_python, (VECTOR, key), session=True)


# Identity ---------------------------------------------------------------------------------------------------------------


class Thing:
    def __init__(self, factor):
        self.factor = factor


ONE, OTHER = Thing(2.0), Thing(2.0)
CHOSEN = ONE
LISTS = [[1.0], [1.0]]
SLOTS = {ONE: 10.0, OTHER: 20.0}
FROZEN = [ONE]


def which_object(x, thing):
    if thing is CHOSEN:
        return x * thing.factor
    return x


def equal_object(x, thing):
    return x if thing == CHOSEN else -x if thing in FROZEN else x * 2


def object_as_key(x, thing):
    return x * SLOTS[thing] + (1.0 if thing in SLOTS else 0.0)


def same_list(x, a, b):
    if a is not b:
        return x * 2
    return x


def same_tensor(x, y):
    if x is y:
        return x * 2
    return x + y


def object_made_here(x):
    a, b = Thing(x), Thing(x)
    c = a
    return x * (1 if a is b else 2) * (3 if a is c else 5) * (7 if a == b else 11)


def test_identity_of_objects_is_asked_at_every_call() -> None:
    check(which_object, (VECTOR, ONE))
    check(object_made_here, (VECTOR,), session=True)
    for fn in (which_object, equal_object, object_as_key):
        assert alternate(fn, "ONE", "OTHER")


def alternate(fn: Callable[..., Any], *names: str) -> bool:
    """Call both copies of the program with objects of their own by turns, and compare."""
    from tests.conformance.harness import _staging_after, compiled, described

    plain, converted = compiled(__file__).load()
    with _staging_after(1):
        for name in names * 3:
            expected = getattr(plain, fn.__name__)(VECTOR, getattr(plain, name))
            assert described(getattr(converted, fn.__name__)(VECTOR, getattr(converted, name))) == described(expected)
    return compiled(__file__).site(fn.__name__).graph_calls > 0


def test_identity_of_lists_and_tensors_is_asked_at_every_call() -> None:
    check(same_list, (VECTOR, LISTS[0], LISTS[0]), (VECTOR, LISTS[0], LISTS[1]), function=False)
    check(same_tensor, (VECTOR, VECTOR), (VECTOR, VECTOR + 0), function=False)


def is_none(x, y):
    return x if y is None else x + y


def test_none_is_told_by_identity() -> None:
    check(is_none, (VECTOR, None), (VECTOR, VECTOR), session=True)


def same_text(x, mode):
    return x if mode is MODE else -x


MODE = "".join(["tr", "ain"])


def test_identity_of_texts_is_left_to_python() -> None:
    check(same_text, (VECTOR, "train"), staged=False)


# Special methods --------------------------------------------------------------------------------------------------------


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __eq__(self, other):
        return self.metres == other.metres

    def __lt__(self, other):
        return self.metres < other.metres

    def __contains__(self, part):
        return part < self.metres

    def __bool__(self):
        return self.limit > 1

    limit = 2


def own_comparisons(x, y):
    a, b = Length(x), Length(y)
    if a == b:
        return x
    if a < b:
        return -x
    return x * 2 if a else x * 3


def own_membership(x, y):
    if y in Length(x):
        return x
    return -x


@pytest.mark.parametrize("fn", [own_comparisons, own_membership])
def test_comparisons_of_a_class_of_its_own_are_converted(fn: Callable[..., Any]) -> None:
    for y in (1.0, 2.0, 3.0):
        check(fn, (tf.constant(2.0), tf.constant(y)), session=False)
