"""What each pass makes of a small function: the examples in the docstrings of the passes, and golden files."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import pkgutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gast
import pytest

from autoimport.convert import graph_form as package
from autoimport.convert import names as naming
from autoimport.convert.graph_form.conditionals import Words
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.structure import structure

MODULES = sorted(f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__))
GOLDEN = Path(__file__).with_name("golden")
NEEDS_STRUCTURE = ("conditionals", "loops", "restored")


def text(fn: gast.FunctionDef) -> str:
    """A tree as source, the operators by their readable name."""
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(fn))).replace("@ops", "ops")


def show(apply: Callable[..., gast.FunctionDef], source: str) -> None:
    """Print what a pass makes of a function."""
    fn = gast.parse(source).body[0]
    fresh = naming.Fresh(naming.used_names(fn))
    known = {"context": Context(), "fresh": fresh, "words": Words.choose(naming.Fresh(naming.used_names(fn)))}
    if apply.__name__ in NEEDS_STRUCTURE:
        structure(fn, fresh, Context())
    wanted = list(apply.__annotations__)
    print(text(apply(fn, **{name: value for name, value in known.items() if name in wanted})))


def tree(source: str) -> str:
    """What a source says, however this Python writes it."""
    return ast.dump(ast.parse(textwrap.dedent(source.replace("<BLANKLINE>", ""))))


class SameTree(doctest.OutputChecker):
    """Pythons differ in how they unparse lambdas, tuples and quotes."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        try:
            return tree(want) == tree(got)
        except SyntaxError:
            return False


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_pass_are_true(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(checker=SameTree())
    for example in doctest.DocTestFinder().find(module, extraglobs={"show": show}):
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.src.txt")), ids=lambda path: path.name.partition(".")[0])
@pytest.mark.parametrize("readable", [True, False], ids=["readable", "full"])
def test_a_form_is_what_its_golden_file_says(path: Path, readable: bool, request: Any) -> None:
    fn = gast.parse(path.read_text()).body[0]
    context = Context(tuple(naming.parameters(fn.args)), frozenset({"cell"}), None, None)
    found = text(package.graph_form(fn, context, readable=readable)) + "\n"
    golden = GOLDEN / path.name.replace(".src.", ".readable." if readable else ".full.")
    if request.config.getoption("--update-golden", False) or os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(found)
    assert golden.read_text() == found or tree(golden.read_text()) == tree(found)
