"""Calls: of functions, methods, classes and callables of every kind, with what they bind, return and change."""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import gc
import math
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport
from tests.conformance.harness import _staging_after, check, compiled

VECTOR = tf.constant([1.0, -2.0, 3.0])
X, N = tf.constant(2.0), tf.constant(-2.0)


def positive_part(x):
    if x > 0:
        return x
    return x * 0


def twice(x, factor=2.0):
    return positive_part(x) * factor


# Functions --------------------------------------------------------------------------------------------------------------


def calls_another(x):
    return twice(x) + twice(x, factor=3.0) + twice(factor=x, x=x)


def make_scaler(factor):
    def scaler(x):
        if x > 0:
            return x * factor
        return x

    return scaler


def from_factory(x):
    fn = make_scaler(3.0)
    first = fn(x)
    fn = positive_part
    return first + fn(x)


def applied(fn, x):
    return fn(x) + 1


def from_argument(x, name):
    fn = {"own": positive_part, "builtin": abs, "lambda": lambda v: v * 3 if v > 0 else v}[name]
    return applied(fn, x)


def keyword_only(x, *, factor=2.0):
    if x > 0:
        return x * factor
    return -x


def calls_keyword_only(x):
    return keyword_only(x), keyword_only(x, factor=x)


def gathers(first, *rest, last=0.0, **named):
    total = first + last
    for value in rest:
        total = total - value
    return total * named["scale"] if "scale" in named else total


def stars(x):
    args, more, named = (x, 2.0), [3.0], {"last": x}
    return gathers(*args), gathers(x, *args, *more), gathers(*more, *args, **named, **{"scale": 2.0})


def passes_options_on(x, options):
    return gathers(x, **options), gathers(x, **{"scale": 1.0, **options}), sorted({**options, "x": x})


def clashing_names(x, f=1.0, owner=2.0, fn=3.0, args=4.0, ops=5.0):
    if x > 0:
        return x * f * owner * fn * args * ops
    return x


def calls_clashing(x):
    return clashing_names(x, f=2.0, owner=3.0, fn=4.0, args=5.0, ops=6.0)


def chained(x):
    return make_scaler(2.0)(make_scaler(3.0)(x))


def evaluation_order(x):
    order = []

    def noted(name):
        order.append(name)
        return x

    value = gathers(noted("a"), *[noted("b")], last=noted("c"), **{"scale": noted("d")})
    return value, order


def lambdas(x):
    square = lambda v: v * v if v > 0 else v  # noqa: E731
    apply = lambda fn, *values: fn(*values)  # noqa: E731
    return square(x), apply(square, x), apply(lambda a, b: a - b, x, 1.0), (lambda: x)()


def nested_functions(x):
    count = 0

    def inner(v):
        nonlocal count
        count += 1
        if v > 0:
            return v * 2
        return v

    return inner(x) + inner(x), count


def recursive(x, depth):
    if depth == 0:
        return x
    return recursive(x * 2, depth - 1) + x


def even(x, n):
    return x if n == 0 else odd(x * 2, n - 1)


def odd(x, n):
    return -x if n == 0 else even(x + 1, n - 1)


@pytest.mark.parametrize(
    "fn",
    [calls_another, from_factory, calls_keyword_only, stars, calls_clashing, chained, lambdas, nested_functions],
)
def test_functions_called_from_converted_code_are_converted(
    fn: Callable[..., Any],
) -> None:  # CAL-1, CAL-2, CAL-3, CAL-4, CAL-5, CAL-6, CAL-7, CAL-8
    check(fn, (X,), (N,), session=True)


def make_lambda(factor):
    return lambda x: x * factor if x > 0 else x


def test_a_function_that_is_returned_is_converted() -> None:  # CAL-31, CAL-32
    _, converted = compiled(__file__).load()
    for make in (converted.make_scaler, converted.make_lambda):
        fn = tf.function(make(3.0))
        assert [fn(x).numpy() for x in (X, N)] == [6.0, -2.0]


def test_options_are_read_at_every_call() -> None:  # CAL-4
    check(passes_options_on, (X, {}), (X, {"last": 3.0}), (X, {"last": 4.0, "scale": 2.0}), (X, {"last": X}))


def test_a_function_passed_in_is_the_one_that_is_called() -> None:  # CAL-2, CAL-7
    for name in ("own", "builtin", "lambda"):
        check(from_argument, (X, name), (N, name), session=True)


def test_operands_of_a_call_are_evaluated_from_left_to_right() -> None:  # CAL-4, CAL-5
    check(evaluation_order, (X,), session=False)


def test_recursion_ends_as_in_python() -> None:  # CAL-40
    check(recursive, (X, 3), session=True)
    check(even, (X, 3), (X, 4), session=True)


def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


def test_recursion_whose_depth_depends_on_a_tensor_is_left_to_python() -> None:  # CAL-41
    check(gcd, (tf.constant(12), tf.constant(18)), staged=False, function=RecursionError)


# Methods and classes ----------------------------------------------------------------------------------------------------


class Counter:
    def __init__(self, start, step=1.0):
        if start > 0:
            self.value = start
        else:
            self.value = start * 0
        self.__step = step

    def add(self, x):
        self.value = self.value + self.__scaled(x)
        return self

    def __scaled(self, x):
        if x > 0:
            return x * self.__step
        return x

    @property
    def doubled(self):
        if self.value > 3:
            return self.value * 2
        return self.value

    @doubled.setter
    def doubled(self, value):
        self.value = value / 2

    @classmethod
    def at_zero(cls, x):
        return cls(x * 0)

    @staticmethod
    def clipped(x):
        if x > 1:
            return x * 0 + 1
        return x

    def __call__(self, x):
        if x > self.value:
            return x
        return self.value

    def __add__(self, other):
        change = other.value
        if change < 0:
            change = -change
        return Counter(self.value + change)

    def __neg__(self):
        return Counter(-self.value)

    def __getitem__(self, i):
        return self.value * i if self.value > 0 else self.value

    def __setitem__(self, i, x):
        self.value = x * i

    def __len__(self):
        return 3

    def __iter__(self):
        return iter([self.value, self.value * 2])

    def __enter__(self):
        self.value = self.value + 1
        return self

    def __exit__(self, *raised):
        self.value = self.value * 2 if self.value > 2 else self.value
        return False


def constructed(x):
    counter = Counter(x)
    return counter.add(x).value, counter.value


def private_names(x):
    return Counter(x, 3.0).add(x).add(-x).value


def properties(x):
    counter = Counter(x)
    before = counter.doubled
    counter.doubled = x * 10
    return before, counter.doubled


def class_and_static(x):
    return Counter.at_zero(x).value, Counter.clipped(x), Counter(x).clipped(x)


def explicit_self(x):
    counter = Counter(x)
    bound = types.MethodType(Counter.add, counter)
    bound(x)
    Counter.add(counter, x)
    counter.alias = counter.add
    counter.alias(x)
    return counter.value


def called_object(x):
    return Counter(x)(x * 2), list(map(Counter(x), [x, -x]))


def operators(x):
    total = Counter(x) + Counter(x)
    total[2] = x
    return total.value, total[3], (-total).value, x * len(total)


def iterated(x):
    first, second = Counter(x)
    return first + second, [v * 2 for v in Counter(x)], sum(Counter(x))


def entered(x):
    with Counter(x) as counter:
        inside = counter.value
    return inside, counter.value


@pytest.mark.parametrize(
    "fn",
    [
        constructed,
        private_names,
        properties,
        class_and_static,
        explicit_self,
        called_object,
        operators,
        iterated,
        entered,
    ],
)
def test_methods_of_objects_made_in_the_function_are_converted(
    fn: Callable[..., Any],
) -> None:  # CAL-9, CAL-10, CAL-11, CAL-13, CAL-29, F2, F3, F4, F5, F6
    check(fn, (X,), (N,), session=True)


class Steps:
    def __init__(self, x, count):
        self.x = x
        self.count = count

    def __iter__(self):
        return self

    def __next__(self):
        if self.count == 0:
            raise StopIteration
        self.count -= 1
        if self.x > 0:
            self.x = self.x + 1
        return self.x


def own_iterator(x):
    total = x
    for value in Steps(x, 3):
        total = total + value
    return total


class Numbered:
    made = 0

    def __init__(self, x):
        Numbered.made += 1
        self.x = x * Numbered.made


def counts_instances(x):
    return Numbered(x).x + Numbered(x).x


def test_a_class_is_changed_at_each_call() -> None:
    check(counts_instances, (X,), function=False, state=lambda module: module.Numbered.made)


def object_of_a_branch(x):
    counter = Counter(x) if x > 0 else Counter(-x)
    return counter.value


def test_an_object_made_in_a_branch_keeps_what_was_made_there() -> None:
    check(object_of_a_branch, (X,), (N,), function=TypeError)


def test_an_iterator_of_its_own_is_walked_through() -> None:  # F4, M5
    check(own_iterator, (X,), (N,), session=True)


class Model:
    def __init__(self):
        self.weight = tf.Variable(2.0)
        self.rate = 0.5

    def forward(self, x):
        if x > 0:
            return self.scaled(x)
        return x

    def scaled(self, x):
        return self.weight * x * self.rate

    def step(self, x):
        self.weight.assign_sub(self.forward(x) * 0.1)
        return self.weight.read_value()


MODEL = Model()


def uses_model(x):
    return MODEL.forward(x), MODEL.step(x)


def test_methods_of_an_object_made_outside() -> None:  # CAL-10
    check(uses_model, (X,), (N,), state=lambda module: module.MODEL.weight)


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self, x): ...

    def __call__(self, x):
        return self.area(x) * 2


class Square(Shape):
    def area(self, x):
        if x > 0:
            return x * x
        return x


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.marked = True
        return made


class Marked(metaclass=Meta):
    def __init__(self, x):
        self.x = x


def abstract_base(x):
    return Square()(x)


def metaclass(x):
    return Marked(x).x * 2, Marked(x).marked


def test_classes_with_abstract_bases_and_metaclasses() -> None:  # CAL-12
    check(abstract_base, (X,), (N,), session=True)
    check(metaclass, (X,), staged=False)


# Wrappers ---------------------------------------------------------------------------------------------------------------


def scaled_and_moved(scale, x, move=0.0):
    if x > 0:
        return scale * x + move
    return x - move


def partials(x):
    once = functools.partial(scaled_and_moved, 2.0)
    again = functools.partial(once, move=1.0)
    return once(x), again(x), again(x, move=x), again.keywords["move"]


HALF = functools.partial(scaled_and_moved, 0.5, move=1.0)


def partial_made_outside(x):
    return HALF(x)


def doubling(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        result = fn(*args, **kwargs)
        return result * 2 if result > 0 else result

    return wrapper


@doubling
def decorated(x):
    """Adds one."""
    return x + 1


def calls_decorated(x):
    return decorated(x)


@functools.singledispatch
def by_kind(kind, x):
    return x


@by_kind.register
def _(kind: int, x):
    return x * kind if x > 0 else x


def dispatches(x):
    return by_kind(3, x), by_kind("text", x)


@functools.lru_cache
def table(n):
    return n * 2


def cached(x):
    return x * table(3)


@pytest.mark.parametrize("fn", [partials, partial_made_outside, calls_decorated, dispatches])
def test_wrapped_functions_are_converted(fn: Callable[..., Any]) -> None:  # CAL-14
    check(fn, (X,), (N,))


def test_a_cache_of_results_is_left_to_python() -> None:
    check(cached, (X,), staged=False)


@autoimport.do_not_convert
def as_written(x, f=1.0, owner=2.0):
    return x * f * owner


def calls_as_written(x):
    return as_written(x, f=3.0, owner=4.0)


def partial_of_as_written(x):
    return functools.partial(as_written, f=3.0)(x, owner=2.0)


class Unconverted:
    @autoimport.do_not_convert
    def method(self, x):
        return positive_branch(x) * 2

    @autoimport.do_not_convert
    def __call__(self, x):
        return self.method(x) + 1


def positive_branch(x):
    return x if x > 0 else -x


def calls_unconverted(x):
    return Unconverted().method(x) + Unconverted()(x)


def test_what_is_marked_not_to_be_converted_runs_as_written() -> None:  # CAL-15, CAL-25, CAL-26
    for fn in (calls_as_written, partial_of_as_written):
        check(fn, (X,), staged=False)
    check(calls_unconverted, (X,), (N,), staged=False, function=TypeError)


def test_being_called_unconverted_is_not_remembered() -> None:  # CAL-38
    _, converted = compiled(__file__).load()
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(autoimport.do_not_convert(converted.positive_branch))(X)
    assert tf.function(converted.positive_branch)(N).numpy() == 2.0


def test_a_graph_keeps_no_object_of_the_caller() -> None:  # CAL-37
    _, converted = compiled(__file__).load()
    with _staging_after(1):
        model = converted.Model()
        for _ in range(4):
            converted.forward_of(model, X)
    assert compiled(__file__).site("forward_of").graph_calls > 0
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def forward_of(model, x):
    return model.forward(x)


def test_names_signature_and_documentation_are_kept() -> None:  # CAL-39
    _, converted = compiled(__file__).load()
    assert (converted.decorated.__name__, converted.decorated.__doc__) == ("decorated", "Adds one.")
    assert converted.keyword_only.__kwdefaults__ == {"factor": 2.0}
    assert converted.make_scaler(1.0).__qualname__ == "make_scaler.<locals>.scaler"


# Tuples with names and records ------------------------------------------------------------------------------------------


Pair = collections.namedtuple("Pair", ["left", "right"])


class Interval(collections.namedtuple("Interval", ["low", "high"])):
    def clip(self, x):
        while x > self.high:
            x = x - 1.0
        return x


@dataclasses.dataclass
class Record:
    x: Any
    scale: float = 2.0

    def scaled(self):
        if self.x > 0:
            return self.x * self.scale
        return self.x


def named_tuples(x):
    pair = Pair(x, right=2.0)
    return pair, pair.left * pair.right, pair._replace(left=-x), list(pair._asdict()), Interval(0.0, 1.0).clip(x)


def turned(pair):
    left, right = pair
    if left > 0:
        return Pair(right, left)
    return pair


def named_tuple_passed(x, y):
    return turned(Pair(x, y))


def records(x):
    record = Record(x)
    record.scale = 3.0
    return record.scaled(), dataclasses.replace(record, x=-x).scaled()


def test_named_tuples_and_records() -> None:  # CAL-16, CAL-17
    check(named_tuples, (X,), session=True)
    check(named_tuple_passed, (X, N), (N, X), session=True)
    check(records, (X,), (N,), function=False)


# Calls in loops ---------------------------------------------------------------------------------------------------------


def less(a, b):
    return a < b


def call_in_condition(n):
    i = tf.constant(0)
    below = lambda v: less(v, n)  # noqa: E731
    while below(i) and less(i, n):
        i += 1
    return i


def items_of(x):
    return x * 2


def call_in_iterable(x, numbers):
    total = 0.0
    for v in items_of(x):
        total = total + v
    for i in numbers(3):
        total = total + float(i)
    return total


def call_in_body(x):
    total = tf.constant(0.0)

    def local(v):
        return v if v > 0 else -v

    for v in x:
        total += positive_part(v) + abs(v) + local(v) + (lambda w: w * 2)(v)
    return total


def test_calls_in_conditions_iterables_and_bodies_of_loops() -> None:  # CAL-34, CAL-35, CAL-36
    for n in (0, 1, 3):
        check(call_in_condition, (tf.constant(n),), session=True)
        check(call_in_body, (VECTOR[:n],), session=True)
    check(call_in_iterable, lambda: (VECTOR, range), lambda: (VECTOR, tf.range))


# What libraries call ----------------------------------------------------------------------------------------------------


def tensorflow_by_name(x):
    fn = tf.nn.relu
    return fn(x), tf.math.maximum(x, 0.0), tf.map_fn(lambda v: v * 2 if v > 0 else v, x)


def numpy_functions(x):
    return x * np.float32(np.sum(np.arange(3))), float(np.sqrt(16.0))


def native_without_keywords(x):
    return x * len([1, 2]), "ab".upper(), [3, 1].index(1)


def native_with_bad_argument(x):
    return x * [1, 2].index(5)


@pytest.mark.parametrize("fn", [tensorflow_by_name, native_without_keywords, native_with_bad_argument])
def test_library_functions_are_called_as_they_are(fn: Callable[..., Any]) -> None:  # CAL-19, CAL-20, CAL-21
    check(fn, (VECTOR,))


def test_numpy_functions_are_called_as_they_are() -> None:  # CAL-18
    check(numpy_functions, (VECTOR,))


def in_dataset(x):
    data = tf.data.Dataset.from_tensor_slices(x).map(lambda v: v * 2 if v > 0 else v)
    return [v for v in data]


def test_a_function_for_a_dataset_is_converted() -> None:  # CAL-23
    _, converted = compiled(__file__).load()
    assert [v.numpy() for v in converted.in_dataset(VECTOR)] == [2.0, -2.0, 6.0]


SPACE: dict[str, Any] = {}
exec("def made(x):\n    return x * 2\n\ndef branches(x):\n    return x if x > 0 else -x\n", SPACE)


def calls_made_function(x):
    return SPACE["made"](x)


def calls_branching_made_function(x):
    return SPACE["branches"](x)


def test_functions_without_source_are_called() -> None:  # CAL-27, CAL-28
    check(calls_made_function, (X,))
    check(calls_branching_made_function, (X,), staged=False, function=TypeError)


LIBRARY = math


def uses_library(x):
    return x * float(len(LIBRARY.__name__))


def test_a_library_that_another_one_replaces_is_the_new_one() -> None:
    _, converted = compiled(__file__).load()
    with _staging_after(1):
        assert [converted.uses_library(X).numpy() for _ in range(3)] == [8.0] * 3
        converted.LIBRARY = functools
        assert converted.uses_library(X).numpy() == 18.0
    assert compiled(__file__).site("uses_library").graph_calls > 0


# Generators -------------------------------------------------------------------------------------------------------------


def doubled(values):
    for value in values:
        yield value * 2


def consumes_generator(x):
    total = tf.constant(0.0)
    for value in doubled([x, x + 1]):
        total = total + value
    return total


def generator_expression(x):
    return sum(v * 2 for v in x), [v for v in (w + 1 for w in x)]


def generates(x):
    for i in range(3):
        if x > 0:
            yield x * float(i)
        else:
            yield x


def test_a_generator_function_as_the_entry() -> None:  # CAL-30
    _, converted = compiled(__file__).load()
    with _staging_after(1):
        for _ in range(4):
            assert [v.numpy() for v in converted.generates(X)] == [0.0, 2.0, 4.0]
            assert [v.numpy() for v in converted.generates(N)] == [-2.0] * 3


def test_generators() -> None:  # F1
    check(consumes_generator, (X,))
    check(generator_expression, (VECTOR,))
