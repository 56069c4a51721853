"""Source in, what it does out: as Python runs it, and with every function replaced by its graph form."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import types
from pathlib import Path
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form import Context, graph_form

_SPEC = importlib.util.spec_from_file_location("reference_ops", Path(__file__).parents[1] / "reference_ops.py")
assert _SPEC is not None and _SPEC.loader is not None
reference_ops = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference_ops)


class _Forms(gast.NodeTransformer):
    """Replaces functions by their forms; with `nested`, those inside a top-level function rather than itself."""

    def __init__(self, nested: bool) -> None:
        self.nested = nested
        self.class_name: str | None = None

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        outer, self.class_name = self.class_name, node.name
        self.generic_visit(node)
        self.class_name = outer
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        if self.nested:
            bound = naming.scope_of(node).bound
            node.body = [self.form(part, bound) if isinstance(part, gast.FunctionDef) else part for part in node.body]
            return node
        return self.form(node, frozenset())

    def form(self, node: gast.FunctionDef, around: frozenset[str]) -> gast.FunctionDef:
        free = naming.free_names(node) & (around | {"__class__", "super"})
        if self.class_name and "super" in free:
            free = free | {"__class__"}
        first = naming.parameters(node.args)[:1]
        context = Context(
            tuple(naming.parameters(node.args)),
            frozenset(free) - {"super"},
            self.class_name,
            first[0] if first else None,
        )
        return graph_form(node, context)


def forms(source: str, nested: bool = False) -> ast.Module:
    """The module with graph forms in the place of its functions."""
    tree = _Forms(nested).visit(gast.parse(source))
    return ast.fix_missing_locations(gast.gast_to_ast(tree))


def outcome(code: types.CodeType, call: str, prelude: str = "") -> tuple[str, str, str]:
    """What running a module and then evaluating `call` prints, returns and raises."""
    namespace: dict[str, Any] = {"@ops": reference_ops, "__name__": "program"}
    printed = io.StringIO()
    result, error = "", ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(prelude, namespace)
            exec(code, namespace)
            result = repr(eval(call, namespace))
        except Exception as caught:
            error = _describe(caught)
    visible = sorted((name, repr(value)) for name, value in namespace.items() if re.fullmatch("[A-Z]+", name))
    return printed.getvalue(), result, error + repr(visible)


def _describe(error: BaseException | None) -> str:
    if error is None:
        return ""
    # A closure's read of a name without value is a NameError in Python, an UnboundLocalError in a form.
    kind = "NameError" if isinstance(error, UnboundLocalError) else type(error).__name__
    text = "" if isinstance(error, NameError) else str(error)
    return f"{kind}({text}) from [{_describe(error.__cause__)}] while [{_describe(error.__context__)}]"


def check(source: str, *calls: str, nested: bool = False, prelude: str = "") -> None:
    """Assert that a program does the same with and without graph forms."""
    plain = compile(source, "program.py", "exec")
    form = compile(forms(source, nested), "program.py", "exec")
    for call in calls:
        expected, found = outcome(plain, call, prelude), outcome(form, call, prelude)
        assert found == expected, f"{call}\n{source}\n{ast.unparse(forms(source, nested))}"
