"""Functions that the person has declared pure or effectful, by decorator or by setting."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

import autoimport
from autoimport import config
from autoimport.staging import declared
from tests.staging.programs import same

calls: list[Any] = []


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A module that is not converted."""
    module = types.ModuleType("foreign_code")
    text = """
import tensorflow as tf
def rate(step): return 0.5 ** int(step)
def double(x): return float(len([x])) * (x + x)
def table(): return dict(a=[1, 2])
class Box:
    @staticmethod
    def half(x): return x * float("0.5")
"""
    exec(text, module.__dict__)  # noqa: S102
    monkeypatch.setitem(sys.modules, "foreign_code", module)
    yield module
    calls.clear()


@pytest.fixture
def options() -> Iterator[Any]:
    before = config.current()
    yield lambda **changes: config.use(dataclasses.replace(before, **changes))
    config.use(before)


PROGRAM = """
    import foreign_code
    step = 0
    def f(x):
        global step
        step += 1
        return CALL
    def main():
        for i in range(5):
            show(f(tf.ones(2) * i))
    """
PURE = {
    "a number known before the launch": "x * foreign_code.rate(step)",
    "a tensor": "foreign_code.double(x) + 1.0",
    "a method": "foreign_code.Box.half(tf.sin(x))",
    "a constant": "x * foreign_code.table()['a'][1]",
}


@pytest.mark.parametrize("call", PURE.values(), ids=PURE)
@pytest.mark.parametrize("pattern", ["foreign_code.*", ""])
def test_a_graph_calls_what_is_declared_pure(call: str, pattern: str, foreign: Any, options: Any) -> None:
    options(pure=(pattern,) if pattern else ())
    site = same(PROGRAM.replace("CALL", call)).sites["f"]
    assert site.state == ("graph" if pattern else "eager"), site.reason


def test_a_function_may_be_declared_by_its_own_name_alone(foreign: Any, options: Any) -> None:
    options(pure=("foreign_code.double",))
    same(PROGRAM.replace("CALL", "foreign_code.double(x)"), f="graph")
    same(PROGRAM.replace("CALL", "foreign_code.Box.half(x)"), f="eager")


def test_decorators_give_the_function_back_and_count_as_settings_do() -> None:
    same(
        """
        import autoimport
        @autoimport.pure
        def grid(n):
            return eval("n * 2.0")
        @autoimport.effectful
        def note(x):
            return tf.sin(x) + tf.cos(x)
        class Model:
            @autoimport.effectful
            def call(self, x): return x * 2 + 1
        scale = 1.5
        def f(x):
            global scale
            scale += 1.0
            return x * grid(scale) + 1.0
        def g(x):
            return note(x) * 2.0 + 1.0
        def h(model, x):
            return model.call(x) * 2.0 + 1.0
        def main():
            show(grid.__name__, Model.call.__qualname__)
            for i in range(5):
                show(f(tf.ones(2) * i), g(tf.ones(2)), h(Model(), tf.ones(1)))
        """,
        f="graph",
        g="eager",
        h="eager",
        note="eager",
        **{"Model.call": "eager"},
    )


def test_effectful_wins_over_pure(options: Any, foreign: Any) -> None:
    options(pure=("foreign_code.*",), effectful=("foreign_code.double",))
    run = same(PROGRAM.replace("CALL", "foreign_code.double(x)"), f="eager")
    assert run.sites["f"].reason == "calls double, which is declared effectful"


def test_settings_know_the_main_program_by_its_file(options: Any) -> None:
    options(effectful=("train.Model.step",))
    assert declared.kind_of("__main__", "Model.step", "/home/me/train.py") == declared.EFFECTFUL
    assert declared.kind_of("train", "Model.step") == declared.EFFECTFUL
    assert declared.kind_of("__main__", "Model.step", "/home/me/other.py") is None
    assert declared.kind_of("train", "Model.steps") is None


def test_only_functions_can_be_declared() -> None:
    with pytest.raises(TypeError, match="3 is not a function"):
        autoimport.pure(3)  # type: ignore[type-var]
