"""Names: locals without a value, deletion, builtins, closures and globals are Python's, at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import check, compiled

X = tf.constant(2.0)
TOTAL = 0
BOOLS = [(c, X) for c in (True, False)] + [(tf.constant(c), X) for c in (True, False)]


class Box:
    def __init__(self, **held):
        self.__dict__.update(held)


# Without a value ----------------------------------------------------------------------------------------------------------


def never_assigned(c, x):
    if x < 0:
        y = x
    return y


def deleted(c, x):
    y = x
    del y
    return y  # noqa: F821


def deleted_parts(c, x):
    items = [x, x + 1, x + 2, x + 3]
    del items[0]
    del items[1:3]
    box = Box(a=x, b=1)
    del box.a
    return items, box.b


def deleted_and_assigned_again(c, x):
    a, b, d = x, x + 1, [x, x]
    del a, b, d[0]
    b = x * 5
    return b, d


def deleted_and_read(c, x):
    a, b, d = x, x + 1, [x, x]
    del a, b, d[0]
    b = x * 5  # noqa: F841
    return a  # noqa: F821


def deleted_in_a_pattern(c, x):
    a, b, d = x, x, x
    del [a, (b, d)]
    return d  # noqa: F821


def read_by_an_inner_function(c, x):
    def inner():
        return later + x

    if c:
        later = x
    return inner()


def read_by_an_inner_function_after_delete(c, x):
    y = x

    def inner():
        return y  # noqa: F821

    del y
    return inner()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(never_assigned, id="VAR-1"),
        pytest.param(deleted, id="VAR-2"),
        pytest.param(deleted_parts, id="VAR-3"),
        pytest.param(deleted_and_assigned_again, id="VAR-4"),
        pytest.param(deleted_and_read, id="VAR-4-read"),
        pytest.param(deleted_in_a_pattern, id="VAR-5"),
        pytest.param(read_by_an_inner_function, id="free"),
        pytest.param(read_by_an_inner_function_after_delete, id="free-deleted"),
    ],
)
def test_a_name_without_a_value(program: Callable[..., Any]) -> None:
    check(program, *BOOLS)


def read_by_a_comprehension(c, x):
    if c:
        later = x
    return [later for _ in range(2)]


def changed_by_an_inner_function(c, x):
    def inner():
        nonlocal later
        later += 1  # noqa: F821

    if c:
        later = x
        del later
    inner()
    return x


@pytest.mark.parametrize(
    "fn",
    [
        deleted_and_read,
        read_by_an_inner_function,
        read_by_an_inner_function_after_delete,
        read_by_a_comprehension,
        changed_by_an_inner_function,
    ],
)
def test_the_error_of_a_name_without_a_value_is_pythons_in_the_persons_graph(fn: Callable[..., Any]) -> None:
    plain, converted = compiled(__file__).load()
    with pytest.raises(NameError) as expected:
        getattr(plain, fn.__name__)(False, X)
    with pytest.raises(NameError) as found:
        tf.function(getattr(converted, fn.__name__))(False, X)
    assert found.type is expected.type
    assert str(expected.value) in str(found.value)


# Builtins -----------------------------------------------------------------------------------------------------------------


def named_like_builtins(c, x):
    len = lambda v: v * 2  # noqa: A001, E731
    dict, slice = 3.0, x  # noqa: A001
    abs = x - 5  # noqa: A001
    items = [x, x + 1, x + 2]
    return len(x) * dict + slice + abs, items[0:2], x[..., tf.newaxis][0:1]


def builtin_from_a_function(c, x):
    make = getter()
    smallest = getter("min")
    return make(a=x), smallest(x, 3.0)


def getter(name="dict"):
    return {"dict": dict, "min": min}[name]


def annotated(c, x):
    n: int  # noqa: F842
    m: float = 2.0
    if c:
        x = x * m
    return x


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(named_like_builtins, id="VAR-6"),
        pytest.param(builtin_from_a_function, id="VAR-7"),
        pytest.param(annotated, id="VAR-8"),
    ],
)
def test_names_of_builtins_and_annotations(program: Callable[..., Any]) -> None:
    check(program, *BOOLS)


# Closures and globals -----------------------------------------------------------------------------------------------------


def make_counter(step):
    count = 0.0

    def counter(x):
        nonlocal count
        count = count + step
        if x > 0:
            x = x * count
        return x

    def change(value):
        nonlocal count
        count = value

    return counter, change


COUNTER, CHANGE = make_counter(2.0)


def closure_rebound_outside(c, x):
    return COUNTER(x)


def global_changed(c, x):
    global TOTAL
    TOTAL += 1
    if c:
        x = x * TOTAL
    return x


def global_changed_by_a_callee(c, x):
    if c:
        bump()
        x = x + 1
    return x * TOTAL


def bump():
    global TOTAL
    TOTAL = TOTAL + 3


def make_with_default(scale=2.0):
    def inner(x, factor=scale, items=[]):  # noqa: B006
        if x > 0:
            x = x * factor
        return x + len(items)

    return inner


INNER = make_with_default(3.0)


def default_values(c, x):
    return INNER(x) + INNER(-x)


def test_a_rebound_closure_variable_is_seen() -> None:  # VAR-9
    check(closure_rebound_outside, (True, X), state=lambda module: module.CHANGE(5.0), function=False)


def test_a_global_changes_at_every_call() -> None:  # VAR-10
    check(global_changed, *BOOLS, state=lambda module: module.TOTAL, function=False)


def test_changes_by_a_callee_are_seen() -> None:  # H1, F14
    check(global_changed_by_a_callee, *BOOLS, state=lambda module: module.TOTAL, function=False)


def test_defaults_are_those_of_the_definition() -> None:  # VAR-11
    check(default_values, (True, X), session=True)


def nonlocal_changed_in_a_loop(n, x):
    total = x

    def add(v):
        nonlocal total
        total = total + v

    i = n - n
    while i < n:
        add(tf.cast(i, tf.float32))
        i = i + 1
    return total


def test_an_outer_local_is_changed_by_a_callee_in_a_loop() -> None:  # H1
    check(nonlocal_changed_in_a_loop, *[(n, X) for n in (0, 3)], session=False)
    check(nonlocal_changed_in_a_loop, *[(tf.constant(n), X) for n in (0, 3)], session=True)


def method_changes_its_object(n, x):
    account = Account(x)
    i = n - n
    while i < n:
        account.deposit(1.0)
        if account.balance > 4:
            account.deposit(-2.0)
        i = i + 1
    return account.balance


class Account:
    def __init__(self, balance):
        self.balance = balance

    def deposit(self, amount):
        self.balance = self.balance + amount


def test_a_method_changes_its_object_in_a_loop() -> None:  # H2
    check(method_changes_its_object, *[(n, X) for n in (0, 2, 5)])
    check(method_changes_its_object, *[(tf.constant(n), X) for n in (0, 2, 5)], session=True)


# Functions made around loops ------------------------------------------------------------------------------------------------


def function_over_the_loop_variable(n, x):
    total = x
    i = n - n
    while i < n:

        def scaled(v):
            return v * tf.cast(i, tf.float32)

        total = total + scaled(total)
        i = i + 1
    return total


def lambda_over_the_loop_variable(n, x):
    total = x
    for i in tf.range(n):
        f = lambda v: v + tf.cast(i, tf.float32)  # noqa: B023, E731
        total = f(total) * 2.0
    return total


def lambda_made_before(n, x):
    i = n - n
    show = lambda: i  # noqa: E731
    while i < n:
        i = i + 1
    return show()


class Adder:
    def __init__(self, read):
        self.read = read

    def __call__(self, v):
        return v + tf.cast(self.read(), tf.float32)


def object_over_the_loop_variable(n, x):
    i = n - n
    add = Adder(lambda: i)
    while i < n:
        x = add(x)
        i = i + 1
    return x


def nested_class_over_the_loop_variable(n, x):
    i = n - n

    class Shift:
        def __call__(self, v):
            return v + tf.cast(i, tf.float32)

    shift = Shift()
    while i < n:
        x = shift(x)
        i = i + 1
    return x


def lambdas_collected(n, x):
    late, early = [], []
    for i in range(3):
        late.append(lambda: i)
        early.append(lambda i=i: i)
    return x + sum(f() for f in late), x * sum(f() for f in early)


def object_replaced(n, x):
    box = Box(v=x)
    read = lambda: box.v  # noqa: E731
    i = n - n
    while i < n:
        box = Box(v=read() + 1)
        i = i + 1
    return read()


def closed_over_and_set_in_the_body(n, x):
    i = n - n
    while i < n:
        last = x + tf.cast(i, tf.float32)
        i = i + 1

    def read():
        return last

    return read()


COUNTS = [(n, X) for n in (1, 3)] + [(tf.constant(n), X) for n in (1, 3)]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(function_over_the_loop_variable, id="VAR-12"),
        pytest.param(lambda_over_the_loop_variable, id="VAR-13"),
        pytest.param(lambda_made_before, id="H4"),
        pytest.param(object_over_the_loop_variable, id="VAR-14"),
        pytest.param(lambdas_collected, id="VAR-15,H8"),
        pytest.param(closed_over_and_set_in_the_body, id="H5"),
    ],
)
def test_a_function_sees_the_current_value(program: Callable[..., Any]) -> None:
    check(program, *COUNTS)


def test_an_unset_variable_of_an_inner_function() -> None:  # H5
    check(closed_over_and_set_in_the_body, (0, X), (tf.constant(0), X))


def test_a_class_made_in_the_function_is_left_to_python() -> None:  # VAR-14, H6
    check(nested_class_over_the_loop_variable, *COUNTS, staged=False)


def test_an_object_that_a_loop_replaces() -> None:  # VAR-16, H8
    check(object_replaced, *[(n, X) for n in (1, 3)])
    check(object_replaced, *[(tf.constant(n), X) for n in (1, 3)], staged=False, function=Exception)


def changed_by_py_function(n, x):
    box = [10]

    def double():
        box[0] = box[0] * 2
        return 0

    tf.py_function(double, [], tf.int32)
    return x * box[0]


def test_what_py_function_changes_is_seen() -> None:  # H7
    check(changed_by_py_function, (1, X), staged=False, function=False)


# What must not be touched -------------------------------------------------------------------------------------------------


class Touchy:
    def __init__(self):
        self.touched = []

    @property
    def loud(self):
        self.touched.append("loud")
        return 1.0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.touched.append(name)
        return 2.0

    def __call__(self, x):
        return x + 1.0


class Comparing(type):
    asked = 0

    def __eq__(cls, other):
        Comparing.asked += 1
        return cls is other

    __hash__ = type.__hash__


class Compared(metaclass=Comparing):
    def __call__(self, x):
        return x * 2


def looked_at(c, x):
    touchy = Touchy()
    y = touchy(x)
    z = y * touchy.loud + touchy.soft
    return z, touchy.touched


def called(c, x):
    before = Comparing.asked
    y = Compared()(x)
    if c:
        y = y + 1
    return y, Comparing.asked - before


def test_properties_are_read_as_often_as_written() -> None:  # VAR-17
    check(looked_at, (True, X))


def test_a_callables_class_is_not_compared() -> None:  # VAR-18
    check(called, (True, X), (False, X), (tf.constant(True), X), staged=False)
