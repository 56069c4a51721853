"""Gate, cells and graph form fit together, with an `@enter` that simply runs the form where it should."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast
import pytest

from autoimport.convert import forms
from autoimport.convert.facts import Converted
from autoimport.convert.module import convert_module
from tests.convert import reference_ops

PROGRAM = """
import functools

log = []

class Base:
    def scaled(self, x): return x

def note(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        log.append(fn.__name__)
        return fn(*args, **kwargs)
    return wrapper

def make(start):
    seen = start
    class Layer(Base):
        __gain = 3
        made = 0

        def scaled(self, x, *, by=2):
            "doc"
            nonlocal seen
            seen += 1
            return super().scaled(x) * by * self.__gain

        def private(self, __bias, *, __scale=1):
            return log and __bias * __scale

        @staticmethod
        def both(a, /, b, *rest, c=4, **more):
            return a, b, rest, c, sorted(more.items())

        @classmethod
        def build(cls, n=1):
            cls.made += n
            return cls.__name__, __class__ is cls, cls.made

        @property
        def gain(self):
            return self.__gain

        @gain.setter
        def gain(self, value):
            self.__gain = value

        @note
        @note
        def noted(self, x):
            return [self.scaled(y) for y in x]
    return Layer, lambda: seen

def late(n):
    return [lambda: i for i in range(n)], [lambda i=i: log and i for i in range(n)]

def outer(n):
    total = 0
    def add(k):
        nonlocal total
        for i in range(k):
            total += i
            def inner(): return total + n
        return inner()
    return add(n), total, (lambda v: (v, total, n) if v else add)(1)

def forget(x):
    del x
    x = [1 for x in range(3)]
    return x

Layer, seen = make(10)
layer = Layer()
results = [
    layer.scaled(5), layer.scaled(5, by=4), seen(), layer.private(7), layer.private(2, **{"_Layer__scale": 3}),
    layer.both(1, 2), layer.both(1, 2, 3, 5, c=6, z=8, y=9), Layer.build(), layer.build(n=3),
    layer.gain, setattr(layer, "gain", 11), layer.gain, layer.noted([1, 2]), log,
    [f() for f in late(3)[0]], [f() for f in late(3)[1]], outer(4), forget(1),
    Layer.scaled.__doc__, Layer.scaled.__qualname__, layer.both.__qualname__, Layer.noted.__name__,
]
"""


class Runtime:
    """Plays staging: counts the forms that it runs."""

    def __init__(self, converted: Converted, namespace: dict[str, Any]) -> None:
        self.converted, self.namespace = converted, namespace
        self.results: list[Any] = []
        self.ran: list[str] = []

    def enter(self, key: str, index: int, cells: Any, *args: Any) -> bool:
        assert key == self.converted.key
        form = self.converted.forms[index]
        facts = self.converted.functions[index]
        assert form is not None and facts.has_form and len(facts.parameters) == len(args) == form.co_argcount
        by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__, strict=True)) if cells else {}
        closure = tuple(by_name[name] for name in form.co_freevars)
        self.ran.append(facts.name)
        self.results.append(types.FunctionType(form, self.namespace, closure=closure)(*args))
        return True


@pytest.fixture(params=["as written", "graph forms"])
def run(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Callable[..., tuple[Any, list[str]]]]:
    """Runs a program with its gates open or closed; returns its `results` and the names of the forms that ran."""
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    if request.param == "as written":
        monkeypatch.setattr(forms, "graph_form", as_written)
    monkeypatch.setattr(builtins, "@ops", reference_ops, raising=False)

    def run(source: str, *, is_open: bool) -> tuple[Any, list[str]]:
        converted = convert_module(source, "program.py")
        namespace: dict[str, Any] = {"__name__": "program"}
        runtime = Runtime(converted, namespace)
        monkeypatch.setattr(builtins, "@on:" + converted.key, [int(is_open)] * len(converted.forms), raising=False)
        monkeypatch.setattr(builtins, "@enter", runtime.enter, raising=False)
        monkeypatch.setattr(builtins, "@take", runtime.results.pop, raising=False)
        exec(converted.code, namespace)
        return namespace["results"], runtime.ran

    yield run


def as_written(fn: gast.FunctionDef, context: forms.Context) -> gast.FunctionDef:
    """A graph form that does what the eager form does."""
    return fn


def plain(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(source, "program.py", "exec"), namespace)
    return namespace["results"]


def test_closed_gates_leave_the_program_as_it_was(run: Callable[..., tuple[Any, list[str]]]) -> None:
    assert (plain(PROGRAM), []) == run(PROGRAM, is_open=False)


def test_open_gates_run_the_graph_forms_over_the_same_cells(run: Callable[..., tuple[Any, list[str]]]) -> None:
    results, ran = run(PROGRAM, is_open=True)
    assert plain(PROGRAM) == results
    assert {"make", "note", "late", "outer", "forget"} == set(ran)  # what is nested in a form has no gate


def test_methods_made_by_an_eager_function_reach_their_own_forms(run: Callable[..., tuple[Any, list[str]]]) -> None:
    source = PROGRAM.replace("def make(start):\n", "def make(start):\n    locals()\n")
    results, ran = run(source, is_open=True)
    assert plain(source) == results
    assert {f"make.<locals>.Layer.{name}" for name in ("scaled", "private", "both", "build", "gain", "noted")} <= set(
        ran
    )


def test_names_and_nested_names_of_a_form_are_the_original_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "graph_form", as_written)
    converted = convert_module(PROGRAM, "program.py")
    named = {facts.name: form for facts, form in zip(converted.functions, converted.forms, strict=True)}
    make = named["make"]
    assert make is not None
    text = repr([const for const in all_constants(make) if isinstance(const, str)])
    assert "make.<locals>.Layer" in text and "@" not in text
    assert ("make", "program.py", 16) == (make.co_name, make.co_filename, make.co_firstlineno)
    if sys.version_info >= (3, 11):
        names = {const.co_qualname for const in all_constants(make) if isinstance(const, types.CodeType)}
        assert {"make.<locals>.Layer.scaled", "make.<locals>.<lambda>"} <= names


def all_constants(code: types.CodeType) -> Iterator[Any]:
    for const in code.co_consts:
        yield const
        if isinstance(const, types.CodeType):
            yield from all_constants(const)


def test_a_tracer_sees_the_lines_of_the_program_as_written(run: Callable[..., tuple[Any, list[str]]]) -> None:
    def traced(do: Callable[[], Any]) -> list[tuple[str, str, int]]:
        events: list[tuple[str, str, int]] = []

        def tracer(frame: types.FrameType, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename != "program.py":
                return None
            events.append((event, frame.f_code.co_name, frame.f_lineno))
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            do()
        finally:
            sys.settrace(before)
        return events

    source = PROGRAM + LAYOUTS
    assert traced(lambda: plain(source)) == traced(lambda: run(source, is_open=False))


LAYOUTS = """
def first_is_a_decorator(x):
    @note
    def g(): return x
    return g()

def first_is_on_the_second_line(x):
    return (
        len(x)
        + 1)

def first_is_a_loop(x):
    while len(x) < 9:
        x = x + x
    for y in x: pass
    else:
        try:
            return x
        finally:
            log
def first_is_global():
    global log
    with __import__("contextlib").suppress(ValueError):
        log = log + [1]
def one_line(x): return len(x)
def first_is_a_string(x):
    return "%s%r" % (x, len(x))
spread = lambda x: (
    len(x) +
    1)
for fn in (first_is_a_decorator, first_is_on_the_second_line, first_is_a_loop, one_line, first_is_a_string, spread):
    fn([1, 2, 3])
first_is_global()
"""
