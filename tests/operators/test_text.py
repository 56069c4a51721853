"""Formatting in graphs: plain text where Python knows it, a `Text` in a trace of ours where only the graph does."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
import tensorflow as tf

from autoimport import operators as ops
from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.structures import capture
from autoimport.operators.text import Text, Verbatim
from autoimport.operators.undefined import MaybeNone
from tests.operators.ways import Watcher, in_function, in_trace


class Printing(Watcher):
    """Keeps what is printed."""

    def __init__(self) -> None:
        super().__init__()
        self.printed: list[Any] = []

    def acts(self, acted: Any) -> None:
        self.printed.append(acted)


def evaluated(value: Any) -> Any:
    """A `Text` whose tensors are known, as the string that it stands for; containers of such things, too."""
    if type(value) is Text:
        return value.fn(*map(evaluated, value.args))
    if isinstance(value, Number):
        return value.kind(value.tensor.numpy())
    if isinstance(value, MaybeNone):
        return evaluated(value.value) if value.present else None
    if type(value) in (list, tuple):
        return type(value)(map(evaluated, value))
    if type(value) is dict:
        return {key: evaluated(item) for key, item in value.items()}
    return value


def after_launch(fn: Callable[..., Any], *args: Any) -> tuple[Any, list[Any]]:
    """What `fn` returns in a trace of ours, and what it prints, once the graph has run."""
    nodes: list[Any] = []

    def body(*xs: Any) -> Any:
        watcher = Printing()
        outside = observer.observe(watcher)
        try:
            nodes.append(capture((fn(*xs), watcher.printed)))
        finally:
            observer.observe(outside)
        return [leaf.make() for leaf in nodes[0].flat()]

    outputs = tf.function(body, autograph=False)(*args)
    result, printed = evaluated(nodes[0].build(iter(outputs)))
    return result, printed


def lines(printed: list[Any]) -> list[str]:
    """What these calls of `print` write."""
    calls = [call for call in printed if call is not None]
    assert all(call.func is print for call in calls)
    return [call.keywords.get("sep", " ").join(map(str, call.args)) for call in calls]


class Point(NamedTuple):
    x: Any
    y: Any


class Color(enum.Enum):
    RED = 1


FORMATTING: Mapping[str, Callable[[Any], Any]] = {
    "str": lambda x: ops.call(str, x),
    "repr": lambda x: ops.call(repr, x),
    "ascii conversion": lambda x: ops.format_(x, "a"),
    "repr conversion and spec": lambda x: ops.format_(x, "r", ">60"),
    "format": lambda x: ops.call(format, x, ".3f"),
    "field": lambda x: ops.format_(x, None, "7.2f"),
    "field with a field in its spec": lambda x: ops.format_(x, None, ops.fstring(".", ops.format_(3), "f")),
    "f-string": lambda x: ops.fstring("a ", ops.format_(x), " b ", ops.format_(2)),
    "percent": lambda x: ops.mod("%.3f", x),
    "percent of a tuple": lambda x: ops.mod("%s %d %r", (x, x, 1)),
    "percent of a dict": lambda x: ops.mod("%(a)s %(b).1f", {"a": 1, "b": x}),
    "method format": lambda x: ops.call("{:.2f} {a}".format, x, a=[x, "s"]),
    "unbound format": lambda x: ops.call(str.format, "{!r}", x),
    "format_map": lambda x: ops.call("{a}".format_map, {"a": x}),
    "join": lambda x: ops.call(", ".join, [ops.format_(x), "b"]),
    "join of a generator": lambda x: ops.call(", ".join, (ops.format_(y) for y in (x, x))),
    "sum": lambda x: "a" + (ops.format_(x) + "b"),
    "product": lambda x: 2 * (ops.format_(x) * 2),
    "slice and item": lambda x: ops.item(ops.format_(x), slice(1, 5)) + ops.item(ops.format_(x), 0),
    "method": lambda x: ops.call(ops.attr(ops.format_(x, None, ".1f"), "rjust"), 9, "*"),
    "method of a method": lambda x: ops.call(ops.attr(ops.call(ops.attr(ops.format_(x), "upper")), "strip")),
    "percent of a text": lambda x: ops.mod("%s!", ops.format_(x)),
    "text as a format": lambda x: ops.mod("%d " + ops.format_(x), 3),
    "list": lambda x: ops.format_([x, (1, "a"), {"k": x}]),
    "named tuple": lambda x: ops.format_(Point(x, 2)),
    "enum beside a tensor": lambda x: ops.fstring(ops.format_(Color.RED), ops.format_([Color.RED, x])),
    "shape, dtype and class": lambda x: ops.format_([x.shape, x.dtype, float, range(3), ..., x]),
    "a number": lambda x: ops.fstring(ops.format_(ops.call(int, x)), ops.format_(ops.call(float, x), None, "g")),
    "an exception": lambda x: ops.fstring(ops.format_(ValueError("bad", x)), ops.format_([KeyError(x), TypeError()])),
    "a set of one": lambda x: ops.format_([{1}, frozenset("a"), x]),
}


@pytest.mark.parametrize("name", FORMATTING)
def test_text_after_a_launch_is_what_eager_makes(name: str) -> None:
    fn, x = FORMATTING[name], tf.constant(2.5)
    eager = fn(x)
    assert type(eager) is str
    assert (eager, []) == after_launch(fn, x)


@pytest.mark.parametrize("name", FORMATTING)
def test_text_in_a_trace_passes_for_a_string(name: str) -> None:
    def fn(x: Any) -> Any:
        text = FORMATTING[name](x)
        assert type(text) is Text
        assert ops.call(isinstance, text, str)
        assert ops.call(type, text) is str
        return x

    in_trace(fn, tf.constant(2.5))


NEEDS: Mapping[str, Callable[[Any], Any]] = {
    "truth": lambda text: ops.truth(text),
    "not": lambda text: ops.not_(text),
    "equality": lambda text: ops.eq(text, "a"),
    "equality, the other way": lambda text: ops.ne("a", text),
    "order": lambda text: ops.binary("<", text, "b"),
    "length": lambda text: len(text),
    "membership": lambda text: ops.in_("a", text),
    "membership in a list": lambda text: ops.in_(text, ["a"]),
    "hash": lambda text: hash(text),
    "dict key": lambda text: {text: 1},
    "characters": lambda text: list(ops.iterate(text)),
    "a method with another result": lambda text: ops.attr(text, "split"),
    "number": lambda text: float(text),
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_needs_the_string_gives_the_trace_up(name: str) -> None:
    with pytest.raises(Unstageable, match="text"):
        in_trace(lambda x: NEEDS[name](ops.format_(x)), tf.constant(1.0))


@pytest.mark.parametrize(
    "value", [object(), {1, 2} | {"a"}, tf.TensorArray, bytearray(b"a"), len], ids=lambda value: type(value).__name__
)
def test_objects_whose_text_may_change_are_left_to_the_observer(value: Any) -> None:
    shown: list[Any] = []

    class Asked(Watcher):
        def show(self, x: Any, how: Callable[[Any], str] | None) -> Any:
            shown.append(x)
            return Verbatim("<shown>")

        def iterate(self, obj: Any) -> Any:
            return list(obj)  # as for a container that is older than the trace

    outside = observer.observe(Asked())
    try:
        if isinstance(value, set):
            with pytest.raises(Unstageable, match="set"):
                ops.format_(value)
        elif isinstance(value, type):
            assert ops.format_(value) == str(value)
        else:
            assert ops.format_(value) == "<shown>"
            assert shown == [value]
    finally:
        observer.observe(outside)


def test_bytes_of_symbolic_values_give_the_trace_up() -> None:
    with pytest.raises(Unstageable, match="bytes"):
        in_trace(lambda x: ops.mod(b"%f", x), tf.constant(1.0))


def test_plain_values_are_formatted_at_once() -> None:
    def fn(x: Any) -> Any:
        made = ops.fstring("a", ops.format_([1, "b"], "r", ">10")), ops.mod("%d", 3), ops.call(str, (1.5, None))
        assert made == ("a" + " " * 2 + "[1, 'b']", "3", "(1.5, None)")
        return x

    in_trace(fn, tf.constant(1))


def test_containers_are_shown_as_they_were() -> None:
    def fn(x: Any) -> Any:
        values = [x]
        before = ops.format_(values)
        values.append(1)
        ops.call(print, values)
        values.clear()
        return before

    x = tf.constant(1.0)
    result, printed = after_launch(fn, x)
    assert result == str([x])
    assert lines(printed) == [str([x, 1])]


def test_fields_are_formatted_in_their_turn() -> None:
    def fn(x: Any) -> Any:
        values = [x, 1]
        return ops.fstring(ops.format_(values), ops.format_(values.pop()), ops.format_(values))

    x = tf.constant(1.0)
    assert after_launch(fn, x)[0] == fn(x)


def test_a_variable_is_shown_with_the_value_that_it_had() -> None:
    variable = tf.Variable([1.0, 2.0], name="weights")
    before = repr(variable)

    def fn(x: Any) -> Any:
        texts = ops.format_(variable), ops.call(repr, [variable])
        variable.assign_add([x, x])
        return texts, ops.call(str, variable)

    shown, later = after_launch(fn, tf.constant(1.0))[0]
    assert shown == (before, f"[{before}]")
    assert later == str(variable) != before


def test_prints_under_a_condition_happen_where_it_holds() -> None:
    def fn(x: Any) -> None:
        def then() -> None:
            ops.call(print, "positive", ops.format_(x * 2.0, None, ".1f"))

            def deeper() -> None:
                ops.call(print, "large", x, sep="-")

            ops.if_(x > 10.0, deeper, lambda: None, tuple, lambda _: None, (), 0)
            ops.call(print, "end")

        def orelse() -> None:
            ops.call(print, "negative", x)

        ops.if_(x > 0.0, then, orelse, tuple, lambda _: None, (), 0)
        ops.call(print, "after")

    small, large, negative = (tf.constant(value) for value in (1.0, 11.0, -1.0))
    assert lines(after_launch(fn, small)[1]) == ["positive 2.0", "end", "after"]
    assert lines(after_launch(fn, large)[1]) == ["positive 22.0", f"large-{large!s}", "end", "after"]
    assert lines(after_launch(fn, negative)[1]) == [f"negative {negative!s}", "after"]


def test_strings_that_differ_by_branch() -> None:
    def fn(x: Any) -> Any:
        small = ops.if_exp(x > 1.0, lambda: ops.format_(x, None, ".1f"), lambda: "small")
        return small + ops.if_exp(x > 2.0, lambda: "!", lambda: ops.if_exp(x > 1.0, lambda: "?", lambda: "."))

    for value in (0.5, 1.5, 2.5):
        x = tf.constant(value)
        assert after_launch(fn, x)[0] == fn(x)


def test_prints_in_a_loop_over_tensors_give_the_trace_up() -> None:
    def fn(x: Any) -> Any:
        ops.for_(x, None, lambda item: ops.call(print, item), tuple, lambda _: None, (), 0, None)
        return x

    with pytest.raises(Unstageable, match="loop"):
        in_trace(fn, tf.constant([1.0, 2.0]))


def test_formatting_in_the_graphs_of_the_person_is_pythons() -> None:
    shown: list[Any] = []

    def fn(x: Any) -> Any:
        shown.append(ops.fstring("<", ops.format_(x.dtype), ">", ops.mod("%s", x)))
        return x

    in_function(fn, tf.constant(1.0))
    assert shown[0].startswith("<<dtype: 'float32'>>Tensor(")
