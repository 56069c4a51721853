"""Attributes and items changed in branches and loops: the containers and objects hold afterwards what Python's hold."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check

X = tf.constant(2.0)
BOOLS = [(c, X) for c in (True, False)] + [(tf.constant(c), X) for c in (True, False)]
COUNTS = [(n, X) for n in (0, 1, 3)] + [(tf.constant(n), X) for n in (0, 1, 3)]


class Box:
    def __init__(self, **held):
        self.__dict__.update(held)


# Branches -----------------------------------------------------------------------------------------------------------------


def key_in_both(c, x):
    d = {"a": x}
    if c:
        d["b"] = x + 1
    else:
        d["b"] = x - 1
    return d


def index_in_both(c, x):
    items = [x, x]
    if c:
        items[1] = x + 1
    else:
        items[1] = x - 1
    return items


def old_key_in_one(c, x):
    d = {"a": x, "b": x}
    if c:
        d["b"] = d["a"] + 1
    return d["a"], d["b"]


def new_key_in_one(c, x):
    d = {"a": x}
    if c:
        d["b"] = x + 1
    return d


def new_nested_key_in_one(c, x):
    d = {"a": {"a": x}}
    if c:
        d["a"]["b"] = x + 1
    return d["a"]


def new_key_read_if_there(c, x):
    d = {"a": x}
    if c:
        d["b"] = x + 1
    if c:
        x = d["b"]
    return x


def missing_inner_key(c, x):
    d = {"a": x}
    if c:
        d["b"]["a"] = x
    else:
        d["b"]["a"] = x + 1
    return d


def attributes_of_an_argument(c, x):
    return changes_attributes(Box(a=x, b=x * 2, other=1.0), c, x)


def changes_attributes(box, c, x):
    y = x
    if c:
        box.a = box.a + 1
        box.other = x
        y = y * 3
    else:
        box.b = box.a * 5
    return box.a, box.b, y


def attribute_in_one_only(c, x):
    box = Box(a=x)
    if c:
        box.b = x + 1
    if c:
        x = box.b
    return x + box.a


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(key_in_both, id="CMP-1"),
        pytest.param(index_in_both, id="CMP-1-index"),
        pytest.param(old_key_in_one, id="CMP-2"),
        pytest.param(attributes_of_an_argument, id="CMP-20"),
    ],
)
def test_an_item_or_attribute_set_in_a_branch(program: Callable[..., Any]) -> None:
    check(program, *BOOLS, session=True)


def test_a_key_that_may_be_missing() -> None:  # CMP-2, CMP-3, C2
    for program in (new_key_in_one, new_nested_key_in_one, new_key_read_if_there, attribute_in_one_only):
        check(program, (True, X), (False, X), session=True)
    tensors = [(tf.constant(True), X), (tf.constant(False), X)]
    for program in (new_key_in_one, new_nested_key_in_one, new_key_read_if_there):
        check(program, *tensors, staged=False, function=TypeError)
    check(attribute_in_one_only, *tensors, session=True)


def test_a_missing_inner_key_raises() -> None:  # CMP-4
    check(missing_inner_key, *BOOLS, session=True)


# Loops --------------------------------------------------------------------------------------------------------------------


def item_beside_a_counter(n, x):
    d, items = {"a": x}, [x, x]
    i = n - n
    while i < n:
        d["a"] = d["a"] * 2
        items[0] = items[0] + d["a"]
        i = i + 1
    return d, items, i


def item_is_the_condition(n, x):
    d = {"n": n}
    items = [n, 0]
    while d["n"] > 0:
        d["n"] = d["n"] - 1
        x = x + 1
    while items[0] > 0:
        items[0] = items[0] - 1
        x = x * 2
    return x, d["n"], items[0]


def item_in_a_for(n, x):
    d, items = {"a": x}, [x]
    for i in tf.range(n):
        d["a"] = d["a"] + tf.cast(i, tf.float32)
        items[0] = items[0] * 2
    return d, items


def attribute(n, x):
    box = Box(x=x, other=1)
    i = n - n
    while i < n:
        box.x += 1
        i = i + 1
    return box.x, box.other


def numbers_in_objects(n, x):
    box, table, row = Box(count=0), {"hits": 0, "name": "t"}, [False, x]
    i = n - n
    while i < n:
        box.count += 1
        if x > 0:
            table["hits"] += 2
        else:
            row[0] = True
        i = i + 1
    return box.count, table["hits"], row[0]


def long_path(n, x):
    box = Box(x=Box(y={"z": Box(x=x)}))
    i = n - n
    while i < n:
        if box.x.y["z"].x > 3:
            box.x.y["z"].x = box.x.y["z"].x - 5
        box.x.y["z"].x += 2
        i = i + 1
    return box.x.y["z"].x


def by_a_variable_key(n, x):
    d, k = {"a": x, "b": x}, "a"
    i = n - n
    while i < n:
        d[k] = d[k] + d["b"]
        d["b"] = d["b"] * 2
        i = i + 1
    return d[k], d["b"]


def made_and_used_in_the_body(n, x):
    i = n - n
    while i < n:
        box = Box(v=x)
        box.v = box.v + 1
        d = {"a": box.v}
        d["b"] = d["a"] * 2
        x = d["b"]
        i = i + 1
    return x


def early_exit(n, x):
    box, items = Box(x=x), [x]
    i = n - n
    while i < n:
        if box.x > 5:
            break
        box.x = box.x * 2
        items[0] = items[0] + 1
        i = i + 1
    return box.x, items[0], i


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(item_beside_a_counter, id="CMP-5"),
        pytest.param(item_is_the_condition, id="CMP-6"),
        pytest.param(item_in_a_for, id="CMP-9"),
        pytest.param(attribute, id="CMP-10"),
        pytest.param(numbers_in_objects, id="CMP-10-numbers"),
        pytest.param(long_path, id="CMP-11"),
        pytest.param(by_a_variable_key, id="CMP-12,C3"),
        pytest.param(made_and_used_in_the_body, id="CMP-17"),
        pytest.param(early_exit, id="CMP-21"),
    ],
)
def test_an_item_or_attribute_changed_in_a_loop(program: Callable[..., Any]) -> None:
    check(program, *COUNTS, session=True)


# First set in the loop ------------------------------------------------------------------------------------------------------


def key_first_set_in_the_body(n, x):
    d = {}
    i = n - n
    while i < n:
        d["a"] = x + tf.cast(i, tf.float32)
        i = i + 1
    return d["a"]


def key_updated_after_the_first(n, x):
    d = {"k": x}
    i = n - n
    while i < n:
        if i == 0:
            d["a"] = x
        else:
            d["a"] = d["a"] * 3
        i = i + 1
    return d["a"]


def attribute_updated_after_the_first(n, x):
    box = Box()
    i = n - n
    while i < n:
        if i == 0:
            box.state = x
        else:
            box.state = box.state * 3
        i = i + 1
    return box.state


def attribute_first_set_in_the_body(n, x):
    box = Box()
    i = n - n
    while i < n:
        box.state = x + tf.cast(i, tf.float32)
        i = i + 1
    return box.state


def key_assigned_in_the_body(n, x):
    d = {}
    i = n - n
    while i < n:
        k = "a"
        d[k] = x + tf.cast(i, tf.float32)
        i = i + 1
    return d["a"]


Pair = namedtuple("Pair", ["items", "n"])


class NamedPair(Pair):
    pass


def namedtuple_made_in_the_body(n, x):
    pair = NamedPair([x, x], 0)
    i = n - n
    while i < n:
        pair = NamedPair([pair.items[0] + 1, pair.items[1]], pair.n + 1)
        pair.items[1] = pair.items[0] * 2
        i = i + 1
    return pair


def object_made_in_the_body(n, x):
    i = n - n
    while i < n:
        box = Box(v=x + tf.cast(i, tf.float32))
        i = i + 1
    return box.v


PYTHON = [(n, X) for n in (1, 2, 3)]
TENSORS = [(tf.constant(n), X) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(key_first_set_in_the_body, id="CMP-7"),
        pytest.param(key_updated_after_the_first, id="CMP-13"),
        pytest.param(attribute_updated_after_the_first, id="CMP-13-attribute"),
        pytest.param(attribute_first_set_in_the_body, id="CMP-7-attribute"),
        pytest.param(key_assigned_in_the_body, id="CMP-15"),
        pytest.param(namedtuple_made_in_the_body, id="CMP-18"),
        pytest.param(object_made_in_the_body, id="CMP-19"),
    ],
)
def test_what_a_python_loop_first_sets(program: Callable[..., Any]) -> None:
    check(program, *PYTHON, session=True)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(key_first_set_in_the_body, id="CMP-7,8"),
        pytest.param(key_updated_after_the_first, id="CMP-14"),
        pytest.param(attribute_updated_after_the_first, id="CMP-14-attribute"),
        pytest.param(attribute_first_set_in_the_body, id="CMP-7-attribute"),
        pytest.param(key_assigned_in_the_body, id="CMP-16"),
        pytest.param(namedtuple_made_in_the_body, id="CMP-18"),
    ],
)
def test_what_a_loop_over_tensors_first_sets(program: Callable[..., Any]) -> None:
    check(program, *TENSORS)
    check(program, (tf.constant(0), X), function=False)


def test_an_object_made_in_each_iteration_is_no_loop_variable() -> None:  # CMP-19, T7
    check(object_made_in_the_body, *TENSORS, staged=False, function=TypeError)


# Lists and dicts that grow ------------------------------------------------------------------------------------------------


def appended(n, x):
    items = []
    for i in tf.range(n):
        items.append(x + tf.cast(i, tf.float32))
    return items


def joined(n, x):
    items = [x]
    for i in tf.range(n):
        items = items + [x + tf.cast(i, tf.float32)]
    return items


def popped(n, x):
    items = [x, x + 1, x + 2, x + 3]
    total = x
    for _ in tf.range(n):
        total = total * 10 + items.pop()
    return total


def comprehended(n, x):
    return sum([v * 2 for v in tf.range(n) if v > 0]) + tf.cast(x, tf.int32)


def doubled(items, x):
    return tf.reduce_sum(tf.stack([x, *[tf.cast(v * 2, tf.float32) for v in items]]))


def reached_through_a_list(c, x):
    seen = []
    if c:
        seen.append(x + 1)
    else:
        seen.append(x - 1)
    return seen[0]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(appended, id="C1"),
        pytest.param(joined, id="C1-joined"),
        pytest.param(popped, id="C1-popped"),
    ],
)
def test_a_list_changes_its_length_in_a_loop(program: Callable[..., Any]) -> None:
    check(program, *[(tf.constant(n), X) for n in (0, 1, 3)], function=program is popped)
    check(program, *[(n, X) for n in (0, 1, 3)], function=program is popped)


def test_a_comprehension_over_a_tensor() -> None:  # C4
    check(doubled, *[(tf.range(n), X) for n in (0, 1, 4)], session=True)
    check(comprehended, *[(n, X) for n in (1, 4)])


def test_a_value_in_a_list_is_reached_after_a_branch() -> None:  # C6
    check(reached_through_a_list, *BOOLS, session=True)
