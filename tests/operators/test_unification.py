"""Values taken apart, and two of them made one type."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import tensorflow as tf

from autoimport.operators.numbers import Known, Number
from autoimport.operators.structures import Node, capture, describe, promote
from autoimport.operators.undefined import MaybeNone, MaybeUndefined, Undefined
from autoimport.operators.unification import Mismatch, Unifier, zeros
from tests.operators.names import Names
from tests.operators.ways import in_trace


def rebuilt(node: Node) -> Any:
    return node.build(iter([leaf.make() for leaf in node.flat()]))


@dataclasses.dataclass
class Plain:
    """An object as far as structures are concerned: identity matters."""

    x: Any


def test_a_captured_value_is_built_again() -> None:
    value = {"a": [tf.constant(1), (2.5, "s", None)], "b": tf.ragged.constant([[1], [2, 3]])}
    again = rebuilt(capture(value))
    assert again["a"][1] == (2.5, "s", None)
    assert again["b"].to_list() == [[1], [2, 3]]
    assert again is not value and again["a"] is not value["a"]


def test_a_captured_list_does_not_see_later_changes() -> None:
    items = [1, 2]
    node = capture(items)
    items.append(3)
    assert rebuilt(node) == [1, 2]


def test_other_objects_are_passed_on_as_they_are() -> None:
    thing = Plain(tf.constant(1))
    assert rebuilt(capture(thing)) is thing


def test_loops_start_with_numbers_that_may_change() -> None:
    with tf.Graph().as_default():
        n, flag, x, text, huge = rebuilt(promote(capture((3, True, [0.5], "s", 2**70))))
        assert [n.kind, flag.kind, x[0].kind] == [int, bool, float]
    assert (text, huge) == ("s", 2**70)


@pytest.mark.parametrize("constant", [1, -0.0, float("nan"), "s", b"s", None, tf.float32])
def test_equal_constants_stay_constants(constant: Any) -> None:
    left, right = Unifier().unify("x", capture(constant), capture(constant))
    assert left.kind == right.kind == "constant"


def test_zeros_of_different_sign_are_different() -> None:
    left, _ = Unifier().unify("x", capture(0.0), capture(-0.0))
    assert left.kind == "number"


def test_what_may_be_missing_and_none_combine() -> None:
    with tf.Graph().as_default():
        left, right = Unifier().unify("x", capture(Undefined("x")), capture(tf.constant(1)))
        assert left.signature() == right.signature()
        assert isinstance(rebuilt(left), MaybeUndefined)
        left, right = Unifier().unify("x", capture(None), capture(rebuilt(right)))
        value = rebuilt(left)
    assert isinstance(value, MaybeUndefined) and isinstance(value.value, MaybeNone)


def test_shapes_keep_what_they_have_in_common() -> None:
    with tf.Graph().as_default():
        left, right = Unifier().unify("x", capture(tf.zeros([2, 3])), capture(tf.zeros([2, 4])))
    assert left.leaves[0].shape.as_list() == right.leaves[0].shape.as_list() == [2, None]


def test_objects_have_no_common_type() -> None:
    with pytest.raises(Mismatch, match="a Plain object and a Plain object"):
        Unifier().unify("x", capture(Plain(1)), capture(Plain(1)))


def test_stand_ins_have_the_type_of_what_is_not_there() -> None:
    with tf.Graph().as_default():
        value = {"t": tf.ones([2]), "n": Number(int, 3), "s": tf.constant("x"), "a": tf.TensorArray(tf.int32, 3)}
        node = capture(value)
        stand_in = zeros(node)
        assert stand_in.signature() == node.signature()
        again = rebuilt(stand_in)
    assert again["t"].shape == [2] and again["n"].kind is int and again["s"].dtype == tf.string


def test_types_are_described_in_words() -> None:
    with tf.Graph().as_default():
        words = [
            describe(capture(value)) for value in (tf.zeros([2]), Number(int, 1), [1, 2], "s", Undefined("x"), len)
        ]
    assert words == [
        "a float32 tensor of shape (2,)",
        "a Python int",
        "a list of 2",
        "'s'",
        "no value",
        "a builtin_function_or_method object",
    ]


class HostInt(Known):
    """An int that the graph gets as an input; nobody may ask for its value."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return int

    def number(self) -> Number:
        return Number(int, self.tensor)

    def __eq__(self, other: object) -> bool:
        raise AssertionError


def test_numbers_known_before_the_launch_are_numbers_of_the_graph() -> None:
    def fn(x: Any) -> Any:
        first, second = HostInt(tf.constant(3, tf.int64)), HostInt(tf.constant(4, tf.int64))
        v = Names(n=first, same=first)
        v.if_(x > 0, lambda: v.assign(n=second))
        assert v.same is first
        v.while_(lambda: v.n < 10, lambda: v.assign(n=v.n + 5))
        return v.n

    assert [in_trace(fn, tf.constant(x)) for x in (1.0, -1.0)] == [14, 13]
