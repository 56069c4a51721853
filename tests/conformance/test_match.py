"""`match`: patterns of every kind over Python values and tensors, with what they bind, guard and leave unbound."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

X, N = tf.constant(2.0), tf.constant(-2.0)
VECTOR = tf.constant([1.0, -2.0, 3.0])


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


class Mode(enum.Enum):
    FIRST = 1
    SECOND = 2


def literals(n, x):
    match n:
        case 0:
            return x
        case 1 | 2:
            return x * 2
        case big if big > 10:
            return x * tf.cast(big, tf.float32)
        case _:
            return -x


def assigned(n, x):
    match n:
        case 0:
            y, factor = x, 1.0
        case 1:
            y, factor = x * 2, 2.0
        case _:
            y, factor = -x, 3.0
    return y * factor


def unbound(n, x):
    match n:
        case 0:
            y = x
        case 1:
            y = x * 2
    return y


def in_a_loop(xs):
    total = tf.constant(0.0)
    for i in tf.range(3):
        match i:
            case 0:
                continue
            case 1:
                total += xs[i]
            case _ if xs[i] > 2:
                total += 10.0
            case _:
                break
    return total


def nested(n, x):
    match n:
        case 1 | 2:
            match x > 0:
                case True:
                    return x
                case other if other:
                    return x * 3
        case _:
            pass
    return -x


@pytest.mark.parametrize("fn", [literals, assigned, nested])
def test_a_tensor_is_compared_with_values(fn: Callable[..., Any]) -> None:
    for n in (0, 1, 2, 11):
        check(fn, (n, X), (tf.constant(n), X), (tf.constant(n), N), session=True)


def test_a_name_that_only_some_cases_bind() -> None:
    for n in (0, 1):
        check(unbound, (n, X), (tf.constant(n), X), session=True)
    check(unbound, (tf.constant(2), X))


def test_cases_jump_in_a_loop() -> None:
    check(in_a_loop, (VECTOR,), (-VECTOR,), session=True)


def sequences(x):
    match (x[0], x[1]):
        case (a, b) if a > b:
            return a - b
        case (a, b):
            return a + b


def stars(x):
    match [x, x * 2, [x * 3, 4.0]]:
        case [first, *_, [inner, 4.0]]:
            return first + inner
        case [first, *rest]:
            return first * len(rest)


def mappings(x):
    match {"kind": "scale", "by": x, "more": 3.0}:
        case {"kind": "move"}:
            return x
        case {"kind": "scale", "by": by, **rest} if by > 0:
            return by * 2, rest["more"]
        case {"by": by}:
            return by, 3.0


def classes(x):
    match Point(x, (1.0, x)):
        case Point(0.0):
            return x
        case Point(x=a, y=(1.0, b) as pair) if a > 0:
            return a * b * len(pair)
        case Point() as point:
            return point.x


def values_inside(n, x):
    match (n, x):
        case (0, v):
            return v
        case (1 | 2, v):
            return v * 2
        case (m, v):
            return v * tf.cast(m, tf.float32)


def guard_that_fails_leaves_its_names(n, x):
    match (n, x):
        case (1, v) if v > 0:
            return v * 10
        case _:
            v = x - 1
    return v


@pytest.mark.parametrize("fn", [stars, mappings, classes])
def test_shapes_are_taken_apart(fn: Callable[..., Any]) -> None:
    check(fn, (X,), (N,), session=fn is stars)


def test_tensors_in_sequences_are_compared_and_guarded() -> None:
    check(sequences, (VECTOR,), (-VECTOR,), session=True)
    for fn in (values_inside, guard_that_fails_leaves_its_names):
        for n in (0, 1, 2, 3):
            check(fn, (n, X), (tf.constant(n), X), (tf.constant(n), N), session=True)


def kinds(value, x):
    match value:
        case None | False:
            return x
        case bool():
            return x * 2
        case int(n) if n > 3:
            return x * float(n)
        case str() | bytes() as text:
            return x * float(len(text))
        case [] | ():
            return x * 3
        case tf.Tensor():
            return x + value
        case Mode.FIRST:
            return x * 4
        case _:
            return x * 5


def test_the_kind_of_a_value_decides() -> None:
    for value in (None, False, True, 3, 4, "text", b"", (), 2.5, Mode.FIRST):
        check(kinds, (value, X), session=True)
    check(kinds, (X, X), session=True)


def alternatives_that_bind(n, x):
    match [n, x]:
        case [0, v] | [1, v, _]:
            return v
        case [_, v]:
            return v * 2


def test_alternatives_that_bind_names() -> None:
    for n in (0, 1, tf.constant(0), tf.constant(1)):
        check(alternatives_that_bind, (n, X), session=True)


def alternatives_in_shapes(n, x):
    match {"point": Point(n, (x, 1)), "more": [x, n]}:
        case {"point": Point(0, (v, _)) | Point(1, [v, 1]), "more": [_, 0 | 1]}:
            return v * 1.0
        case {"point": Point(y=(v, 1)), "more": [_, 2] | [_]} | {"point": Point(y=[v])}:
            return v * 5.0
        case {"more": [v, *_] | (v, _)}:
            return v * 7.0


def alternatives_with_a_guard(n, x):
    v = x * 100.0
    match (n, x):
        case (0, v) | (1, v) if v > 0:
            return v
        case ((1 | 2 as k), v) | (k, v, _):
            return v * 3.0 + tf.cast(k, v.dtype)
    return v


def alternatives_with_a_name_for_all(n, x):
    match [n, x]:
        case ([0, v] | [1, v]) as whole:
            return v, len(whole)
        case whole:
            return whole[1] * 2.0, len(whole)


def alternatives_in_order(n, x):
    match (n, n * 2):
        case (v, 2) | (_, v) if v > 1:
            return v
        case (v, _) | v:
            return v - 10


def alternatives_in_a_loop(n, x):
    total = x * 0
    for i in tf.range(n):
        match (i, x):
            case (0, v) | (2, v):
                total = total + v
            case (_, v):
                total = total + v * 10
    return total


@pytest.mark.parametrize(
    "fn",
    [
        alternatives_in_shapes,
        alternatives_with_a_guard,
        alternatives_with_a_name_for_all,
        alternatives_in_order,
        alternatives_in_a_loop,
    ],
)
def test_alternatives_may_be_anywhere(fn: Callable[..., Any]) -> None:
    check(fn, *[(tf.constant(n), x) for n in range(4) for x in (X, -X)])


def wrong_class(x):
    match x:
        case float(a, b):
            return a, b
    return x


def test_a_pattern_with_too_many_parts_raises() -> None:
    check(wrong_class, (X,), (2.5,))
