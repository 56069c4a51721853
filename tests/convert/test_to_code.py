"""The readable graph form: golden texts, and what is asked of each."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from autoimport.convert.graph_form import Unconvertible
from autoimport.convert.layout import WIDTH
from autoimport.convert.to_code import form_source

GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = sorted(GOLDEN.glob("*.in"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_readable_form_is_the_golden_one(program: Path, update_golden: bool) -> None:
    text = form_source(program.read_bytes(), str(program), 1)
    golden = program.with_suffix(".out")
    if update_golden:
        golden.write_text(text, "utf-8")
    assert comparable(golden.read_text("utf-8")) == comparable(text)


def comparable(text: str) -> object:
    """The text; on Python 3.10, which writes tuples with more brackets, the program and its comments."""
    if sys.version_info >= (3, 11):
        return text
    comments = [line for line in text.split("\n") if line.lstrip().startswith("#")]
    return ast.dump(ast.parse(text)), [comment.replace("(", "").replace(")", "") for comment in comments]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_readable_form_is_python_of_limited_width(program: Path) -> None:
    text = form_source(program.read_bytes(), str(program), 1)
    assert ast.parse(text)
    assert WIDTH >= max(map(len, text.split("\n")))
    assert "@ops" not in text


def test_there_are_golden_programs() -> None:
    assert 12 <= len(PROGRAMS)


def test_a_method_is_found_by_its_decorator_or_its_def() -> None:
    source = "class A:\n    @property\n    def f(self):\n        return not self.x\n"
    by_decorator, by_def = (form_source(source, "m.py", line) for line in (2, 3))
    assert by_decorator == by_def
    assert by_def.startswith("def f(self):\n")


def test_one_of_several_functions_of_a_line_is_found_by_its_name() -> None:
    source = "def f(x): return [lambda: not x, not x]\n"
    assert "def f(x):" in form_source(source, "m.py", 1, "f")
    assert "def lambda_():" in form_source(source, "m.py", 1, "f.<locals>.<lambda>")


def test_no_function_on_a_line_is_an_error_that_names_the_line() -> None:
    with pytest.raises(LookupError, match="line 2"):
        form_source("def f(x):\n    return not x\n", "m.py", 2)


def test_a_function_without_form_is_an_error_that_says_why() -> None:
    with pytest.raises(Unconvertible, match="a coroutine"):
        form_source("async def f(x):\n    return not x\n", "m.py", 1)


def test_defaults_and_annotations_stay_in_the_signature() -> None:
    text = form_source("def f(a: int, /, b=1, *c, d: str = 'x', **e) -> int:\n    return not a\n", "m.py", 1)
    assert "def f(a: int, /, b=1, *c, d: str='x', **e) -> int:" == text.split("\n")[0]


def test_a_docstring_stays_as_it_was() -> None:
    doc = '"""First line:\n\n    # not a comment\n    def not_a_function():\n        pass\n    """'
    assert doc in form_source(f"def f(x):\n    {doc}\n    return not x\n", "m.py", 1)
