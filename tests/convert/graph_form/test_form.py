"""What a form promises besides behaviour: positions, free names, mangled names, loop options, refusals."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

import gast
import pytest

from autoimport.convert.graph_form import Context, Unconvertible, graph_form


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"graph_form_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


harness = _load("harness")


def form(source: str, context: Context | None = None, **kwargs: Any) -> str:
    tree = graph_form(gast.parse(source).body[0], context or Context(), **kwargs)
    text = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(tree)))
    return text.replace("@ops", "ops").replace("lambda :", "lambda:")


def test_free_names_of_the_function_go_through_their_cells() -> None:
    source = """
def make(value):
    other = 2
    def step(by):
        nonlocal value
        if by > 1:
            value += by
        for value in range(by):
            pass
        def deeper():
            nonlocal value
            value *= other
            return value
        if (value := value + 1) > 3:
            return deeper(), other
        return value
    return step, lambda: value
def run(*steps):
    step, read = make(1)
    return [step(by) for by in steps], read()
"""
    harness.check(source, "run(0)", "run(1, 2, 3)", "run(5, 0)", nested=True)
    text = ast.unparse(harness.forms(source, nested=True)).replace("lambda :", "lambda:")
    assert "@ops.set_free(lambda: value, " in text
    assert "@ops.free(lambda: other)" in text


def test_private_names_given_as_strings_are_mangled() -> None:
    found = form("def f(self):\n    self.__n = __g", Context(class_name="_Net"))
    assert "'_Net__n'" in found and "'_Net__g'" in found


def test_a_name_read_before_its_assignment_raises_what_python_raises() -> None:
    code = compile(harness.forms("def f():\n    if g():\n        x = 1\n    return x\ndef g(): return 0"), "p", "exec")
    namespace: dict[str, Any] = {"@ops": harness.reference_ops}
    exec(code, namespace)
    with pytest.raises(UnboundLocalError):
        namespace["f"]()


SOURCE = """
def f(x):
    for i in range(3):
        if i == 2:
            total = (1 +
                     x[i])
        elif (
            x[5]
        ):
            pass
"""


@pytest.mark.parametrize(("argument", "line"), [("[1, 1, 1, 1, 1, 0]", 6), ("[]", 8)])
def test_a_traceback_points_at_the_lines_of_the_person(argument: str, line: int) -> None:
    namespace: dict[str, Any] = {"@ops": harness.reference_ops}
    exec(compile(harness.forms(SOURCE), "program.py", "exec"), namespace)
    if line == 6:
        argument = "type('T', (), {'__getitem__': lambda self, i: self.bad if i == 2 else 0})()"
    with pytest.raises((IndexError, AttributeError)) as caught:
        namespace["f"](eval(argument))
    lines = [frame.lineno for frame in traceback.extract_tb(caught.tb) if frame.filename == "program.py"]
    assert lines[-1] == line
    assert lines[0] == 3


def test_every_node_of_a_form_has_a_position_inside_the_function() -> None:
    fn = gast.parse(SOURCE).body[0]
    for node in ast.walk(gast.gast_to_ast(graph_form(fn, Context()))):
        if isinstance(node, (ast.expr, ast.stmt, ast.excepthandler, ast.keyword)):
            assert fn.lineno <= node.lineno <= (node.end_lineno or 0) <= fn.end_lineno, ast.dump(node)


def test_options_of_a_loop_are_collected() -> None:
    source = """
def f(n, x):
    while n > 0:
        tf.autograph.experimental.set_loop_options(maximum_iterations=n, shape_invariants=[(x, None)])
        n -= 1
    return n
"""
    found = form(source, readable=True)
    assert "{'maximum_iterations': lambda: n, 'shape_invariants': lambda: [(x, None)]}" in found
    assert "set_loop_options" not in found


def test_assertions_obey_the_optimize_flag() -> None:
    tree = harness.forms("def f(x):\n    assert x\n    return 1")
    namespace: dict[str, Any] = {"@ops": harness.reference_ops}
    exec(compile(tree, "program.py", "exec", optimize=1), namespace)
    assert namespace["f"](0) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("g((yield x) and x)", "a yield inside an expression"),
        ("for i in x:\n        try: pass\n        finally:\n            return 1", "a jump out of a finally clause"),
        ("g(1, x and (y := 2))", "a walrus in an operand that may be skipped"),
        ("return [y for i in x if i or (y := i)]", "a walrus in an operand that may be skipped"),
    ],
)
def test_what_has_no_form_is_refused_with_its_reason(body: str, reason: str) -> None:
    with pytest.raises(Unconvertible, match=reason) as caught:
        form(f"def f(x):\n    {body}")
    assert caught.value.line >= 2


def test_code_that_is_nested_too_deeply_is_refused() -> None:
    arms = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(60))
    fn = gast.parse(f"def f(x):\n    if x:\n        y = 0\n{arms}    return y").body[0]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        with pytest.raises(Unconvertible, match="nested too deeply"):
            graph_form(fn, Context())
    finally:
        sys.setrecursionlimit(limit)


def test_a_variable_assigned_and_read_in_one_branch_is_no_state() -> None:
    found = form("def f(x):\n    if x:\n        t = x * 2\n        g(t)\n    return x", readable=True)
    assert "Undefined" not in found
    assert "get_state, set_state, (), 0)" in found


def test_state_that_only_a_branch_reads_comes_after_what_is_live() -> None:
    source = "def f(x, a, b):\n    if x:\n        a = b + 1\n        b = a\n    else:\n        a = b\n    return a"
    assert "('a', 'b'), 1)" in form(source, readable=True)
