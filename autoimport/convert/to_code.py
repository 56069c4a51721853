"""Source text and a line -> the graph form of the function there, as text that a person can read.

The form is shown without the operators that watch reads, stores and calls, with the function's own signature, and with
a comment where a function stands for a branch or for the body of a loop.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from autoimport.convert.forms import context, definition, function_blueprint
from autoimport.convert.functions import Function, find_functions, obstacle
from autoimport.convert.graph_form import Unconvertible, graph_form
from autoimport.convert.layout import WIDTH, inside_strings, wrapped
from autoimport.convert.parse import FunctionNode, Source, parse, quietly
from autoimport.convert.trees import to_ast


def form_source(source: Source, path: str, line: int, qualified_name: str | None = None) -> str:
    """The text of the graph form of the function that starts (with its first decorator, or its `def`) on `line`.

    Raises:
      LookupError: no function starts there.
      Unconvertible: the function has no graph form.
    """
    with quietly():
        functions = find_functions(parse(source, path), path)
    fn = _function_at(functions, line, qualified_name)
    against = obstacle(fn)
    if against is not None:
        raise Unconvertible(against[0], against[1] or fn.node.lineno)
    plan = function_blueprint(fn)
    form: Any = to_ast(graph_form(definition(plan), context(plan), readable=True))
    form.name = "lambda_" if form.name == "<lambda>" else form.name
    form.decorator_list = []
    _Readable(fn.node).visit(form)
    return wrapped(_spaced(ast.unparse(form))) + "\n"


def _function_at(functions: list[Function], line: int, qualified_name: str | None) -> Function:
    here = [fn for fn in functions if fn.opening.lineno <= line <= fn.node.lineno]
    named = [fn for fn in here if fn.qualified_name == qualified_name]
    if not here:
        raise LookupError(f"no function starts on line {line}")
    return (named or here)[0]


class _Readable(ast.NodeTransformer):
    """`@ops` becomes `ops`; a comment says what a generated function was made of."""

    def __init__(self, original: FunctionNode) -> None:
        self.headers: dict[tuple[int, int], str] = {}
        for node in ast.walk(original):
            if isinstance(node, (ast.If, ast.While, ast.For)):
                self.headers[node.lineno, node.col_offset] = _header(node)
            elif isinstance(node, ast.match_case):
                self.headers[node.pattern.lineno, node.pattern.col_offset] = _header(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = node.id.removeprefix("@")
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        header = self.headers.pop((node.lineno, node.col_offset), None)
        if header is None:
            return node
        text = f"# {header} (line {node.lineno})"
        # A name can be any text to ast.unparse, which knows no comments.
        return [ast.Expr(value=ast.Name(id=text, ctx=ast.Load())), node]


def _header(node: ast.If | ast.While | ast.For | ast.match_case) -> str:
    """The first line of a statement or case, as written but for spaces, cut if it is long."""
    head: Any = copy.copy(node)
    head.body, head.orelse = [ast.Pass()], []
    first = ast.unparse(head).strip().partition("\n")[0]
    return first if len(first) <= WIDTH // 2 else first[: WIDTH // 2 - 3] + "..."


def _spaced(text: str) -> str:
    """One empty line in front of a comment and behind a function, none behind a comment or at the start of a block."""
    lines: list[str] = []
    functions: list[int] = []  # indentations of the functions that are not over yet
    in_string = inside_strings(text)
    for index, line in enumerate(text.split("\n")):
        before = lines[-1].strip() if lines else ""
        start = line.lstrip()
        if index in in_string:
            lines.append(line)
            continue
        if not start:
            if not before.startswith("#") and not before.endswith(":"):
                lines.append(line)
            continue
        indent = len(line) - len(start)
        function_over = bool(functions) and indent <= functions[-1]
        while functions and indent <= functions[-1]:
            functions.pop()
        if before and not before.endswith(":") and (function_over or start.startswith("#")):
            lines.append("")
        if start.startswith("def "):
            functions.append(indent)
        lines.append(line)
    return "\n".join(lines)
