"""A program -> what it does as plain Python, and what it does when its regions run as forms; no TensorFlow needed."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from autoimport.convert.facts import RETURNS, Converted, FunctionFacts
from autoimport.convert.module import convert_module
from tests.convert import reference_ops

Answer = Callable[[FunctionFacts], bool]


class Failure(Exception):
    """What the program's own calls raise."""


@contextmanager
def _scope(value: Any = None) -> Iterator[Any]:
    yield value


class _Swallows:
    def __enter__(self) -> int:
        return 1

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        return isinstance(error, Failure)


def _checked(value: int) -> int:
    if value % 5 == 4:
        raise Failure(value)
    return value + 1


def library() -> types.ModuleType:
    """What the programs import as `tensorflow`: functions of whole numbers."""
    module: Any = types.ModuleType("tensorflow")
    module.add = lambda x, y: (x + 2 * y) % 1000
    module.check = _checked
    module.range = range
    module.name_scope = _scope
    module.GradientTape = lambda: _scope(7)
    return module


@cache
def _converted(source: str, **options: Any) -> Converted:
    return convert_module(source, "program.py", **options)


class Play:
    """One run of a program.

    Attributes:
      shown: what it printed, and the error that ended it.
      ran: the facts of the sites whose forms ran, in order.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, source: str, answer: Answer | None, **options: Any) -> None:
        self.shown: list[str] = []
        self.ran: list[FunctionFacts] = []
        self.results: list[Any] = []
        self.walks: dict[tuple[Any, int], tuple[range, Iterator[int]]] = {}
        self.namespace: dict[str, Any] = {
            "__name__": "__main__",
            "print": lambda *values: self.shown.append(" ".join(map(str, values))),
            "swallowing": _Swallows,
            "Failure": Failure,
        }
        self.converted: Converted | None = None
        monkeypatch.setitem(sys.modules, "tensorflow", library())
        if answer is None:
            code = compile(source, "program.py", "exec", dont_inherit=True)
        else:
            self.converted = _converted(source, **options)
            self.answer = answer
            monkeypatch.setattr(builtins, "@ops", reference_ops, raising=False)
            gates = [int(facts.has_form) for facts in self.converted.functions]
            monkeypatch.setattr(builtins, "@on:" + self.converted.key, gates, raising=False)
            for name in ("@enter", "@region"):
                monkeypatch.setattr(builtins, name, self.enter, raising=False)
            monkeypatch.setattr(builtins, "@take", self.results.pop, raising=False)
            monkeypatch.setattr(builtins, "@land", self.land, raising=False)
            monkeypatch.setattr(builtins, "@items", self.items, raising=False)
            monkeypatch.setattr(builtins, "@strip", self.strip, raising=False)
            monkeypatch.setattr(builtins, "@jump", lambda: self.jump, raising=False)
            code = self.converted.code
        try:
            exec(code, self.namespace)
        except Exception as error:
            self.shown.append(type(error).__name__)

    def land(self) -> list[Any]:
        """As staging.gate has it."""
        self.jump, value, *rest = self.results.pop()
        if self.jump == RETURNS:
            self.results.append(value)
        return rest

    def items(self, key: str, index: int, iterable: Any) -> Any:
        """As staging.strips has it."""
        assert type(iterable) is range
        rest = iter(iterable)
        self.walks[sys._getframe(1), index] = iterable, rest
        return rest

    def strip(self, key: str, index: int, cells: Any, stops: Any, given: tuple[Any, ...], /, *args: Any) -> bool:
        """As staging.strips has it, but for what it wins."""
        assert self.converted is not None
        if not self.answer(self.converted.functions[index]):
            return False
        items, rest = self.walks[sys._getframe(1), index]
        first, place = given[0], items.index(given[0])
        end = next((at for at in range(place, len(items)) if stops(items[at], *given[1:])), len(items))
        part = first, first + (end - place) * items.step, items.step
        if end == place or not self.enter(key, index, cells, part, *args, known=True):
            return False
        for _ in range(place + 1, end):
            next(rest)
        return True

    def enter(self, key: str, index: int, cells: Any, /, *args: Any, known: bool = False) -> bool:
        """Run a form if the answer is yes."""
        assert self.converted is not None
        facts, form = self.converted.functions[index], self.converted.forms[index]
        assert form is not None and key == self.converted.key
        assert len(facts.parameters) == len(args) == form.co_argcount
        if not known and not self.answer(facts):
            return False
        by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__, strict=True)) if cells else {}
        closure = tuple(by_name[name] for name in form.co_freevars)
        result = types.FunctionType(form, self.namespace, closure=closure)(*args)
        if facts.kind == "region":
            assert isinstance(result, tuple) and len(result) - len(facts.results) in (0, 2)
        self.ran.append(facts)
        self.results.append(result)
        return True


def is_region(facts: FunctionFacts) -> bool:
    """Answers with all regions, and no function."""
    return facts.kind == "region"
