"""Functions of modules that were not opted in: convert, to_graph and to_code."""

from __future__ import annotations

import functools
import re

import pytest
import tensorflow as tf

import autoimport
from autoimport.api import ConversionError
from tests.staging.programs import same, staging_after

SCALE = 3.0


def halve(x):
    while x > 1.0:
        x = x / 2.0
    return x


def outer(x, limit=2.0, *, add=1.0):
    """Its text."""
    if x > limit:
        y = halve(x)
    else:
        y = x * SCALE
    return y + add


class Model:
    def __init__(self, k):
        self.k = k

    def apply(self, x):
        if x > 0:
            return x * self.k
        return -x

    def __call__(self, x):
        return self.apply(x) + 1


def make(k):
    def inner(x):
        if x > k:
            return x - k
        return x

    return inner


async def numbers(n):
    return range(n)


@pytest.mark.parametrize("value", [1.0, 5.0, 40.0])
def test_a_converted_function_gives_what_the_function_gives_everywhere(value: float) -> None:  # F11
    x, expected = tf.constant(value), outer(tf.constant(value)).numpy()
    graph_form = autoimport.to_graph(outer)
    assert autoimport.convert(outer)(x).numpy() == expected
    assert tf.function(graph_form, autograph=False)(x).numpy() == expected
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        placeholder = tf.compat.v1.placeholder(tf.float32, [])
        assert session.run(graph_form(placeholder), {placeholder: value}) == expected


def test_a_converted_function_becomes_a_graph_and_follows_its_globals(monkeypatch) -> None:
    with staging_after(1):
        fn = autoimport.convert(outer)
        assert [fn(tf.constant(1.0)).numpy() for _ in range(3)] == [4.0] * 3
        monkeypatch.setitem(outer.__globals__, "SCALE", 5.0)
        assert [fn(tf.constant(1.0)).numpy() for _ in range(3)] == [6.0] * 3
    assert "graph" in autoimport.explain(fn)


def test_name_signature_defaults_and_attributes_are_the_functions() -> None:
    fn = autoimport.convert(outer)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__globals__"):
        assert getattr(fn, name) == getattr(outer, name)
    assert fn(tf.constant(1.0), 0.5, add=2.0).numpy() == outer(tf.constant(1.0), 0.5, add=2.0).numpy()


def test_the_function_itself_stays_as_it_is() -> None:
    code = outer.__code__
    autoimport.convert(outer)
    assert outer.__code__ is code


def test_closures_share_their_cells() -> None:
    made = make(tf.constant(2.0))
    fn = autoimport.convert(made)
    assert fn.__closure__[0] is made.__closure__[0]
    assert tf.function(fn, autograph=False)(tf.constant(5.0)).numpy() == 3.0
    made.__closure__[0].cell_contents = tf.constant(4.0)
    assert fn(tf.constant(5.0)).numpy() == 1.0


def test_methods_partials_and_callable_objects() -> None:
    model = Model(4.0)
    for fn, expected in (
        (model.apply, 8.0),
        (functools.partial(model.apply), 8.0),
        (model, 9.0),
        (functools.partial(outer, add=0.0), 6.0),
    ):
        converted = autoimport.to_graph(fn)
        assert tf.function(converted, autograph=False)(tf.constant(2.0)).numpy() == expected


def test_convert_as_a_decorator_with_and_without_parentheses() -> None:
    @autoimport.convert
    def one(x):
        return x + 1 if x > 0 else x

    @autoimport.convert()
    def two(x):
        return x + 2 if x > 0 else x

    assert [tf.function(fn, autograph=False)(tf.constant(1.0)).numpy() for fn in (one, two)] == [2.0, 3.0]


def test_converting_twice_is_converting_once() -> None:  # CAL-24
    fn = autoimport.convert(outer)
    assert autoimport.convert(fn) is fn
    assert autoimport.convert(outer).__code__ is fn.__code__


def test_the_text_of_a_form_names_the_operators() -> None:
    text = autoimport.to_code(outer)
    assert "def outer" in text
    assert "ops.if_(" in text


def test_what_has_no_graph_form_is_refused_with_file_line_and_reason() -> None:
    for ask in (autoimport.to_graph, autoimport.to_code):
        with pytest.raises(ConversionError, match=r"test_foreign\.py:\d+: numbers has no graph form: .*coroutine"):
            ask(numbers)


def test_what_has_no_source_is_refused() -> None:
    space: dict = {}
    exec("def made(x):\n    return x if x > 0 else -x", space)
    with pytest.raises(ConversionError, match="define it in a file"):
        autoimport.convert(space["made"])


@pytest.mark.parametrize("ask", [autoimport.convert, autoimport.to_graph, autoimport.to_code])
def test_what_is_no_python_function_is_refused_by_its_name(ask) -> None:
    for thing in (len, 3, tf.sin.__class__):
        with pytest.raises(ConversionError, match=re.escape(f"{thing!r} is not a Python function")):
            ask(thing)


def test_the_text_of_what_holds_a_function_is_that_of_the_function() -> None:
    class Holder:
        step = tf.function(Model.apply)

    assert autoimport.to_code(tf.function(outer)) == autoimport.to_code(outer)
    assert autoimport.to_code(functools.partial(functools.cache(outer), limit=1.0)) == autoimport.to_code(outer)
    for method in (Holder.step, Holder().step):
        assert autoimport.to_code(method) == autoimport.to_code(Model.apply)


def test_a_class_that_is_not_converted_stays_itself_with_all_in_it_as_written() -> None:
    ours = same(
        """
        import autoimport, inspect
        @autoimport.do_not_convert
        class Model:
            scale = 2.0
            def __init__(self, start): self.start = start
            def call(self, x): return tf.sin(x) * self.scale + self.start
            @staticmethod
            def half(x): return tf.cos(x) * 0.5 + 1.0
            @classmethod
            def made(cls, start): return cls(start)
            @property
            def doubled(self): return tf.sin(self.start) * 2.0 + 1.0
            @doubled.setter
            def doubled(self, value): self.start = value / 2.0
            class Inner:
                def call(self, x): return tf.sin(x) + 1.0
        class Sub(Model):
            def call(self, x): return super().call(x) + 1.0
        def main():
            for i in range(5):
                model = Sub.made(tf.ones(2) * i)
                model.doubled = tf.ones(2)
                show(isinstance(model, Model), isinstance(Model(1.0), Model), Model.__name__)
                show(Model(1.0).call(tf.ones(2)), model.call(tf.ones(2)), model.half(tf.ones(2)), model.doubled)
                show(inspect.getfullargspec(Model.__init__).args)  # as Keras asks
                show(Model.Inner().call(tf.ones(2)), isinstance(Model.Inner(), Model.Inner))
        """,
    )
    assert {name for name, site in ours.sites.items() if name.startswith("Model.") and site.calls} == set()
    assert autoimport.explain("Model.half").endswith("left alone by do_not_convert")


@pytest.mark.parametrize("thing", [3, None])
def test_only_what_can_be_called_can_be_left_alone(thing: object) -> None:
    with pytest.raises(TypeError, match=f"{thing} is not a function"):
        autoimport.do_not_convert(thing)  # type: ignore[type-var]


def test_do_not_convert_runs_as_written() -> None:
    with staging_after(1):
        fn = autoimport.convert(outer)
        as_written = autoimport.do_not_convert(fn)
        with pytest.raises((TypeError, tf.errors.OperatorNotAllowedInGraphError)):
            tf.function(as_written, autograph=False)(tf.constant(5.0))
        assert as_written(tf.constant(5.0)).numpy() == outer(tf.constant(5.0)).numpy()
        assert as_written.__name__ == "outer"
