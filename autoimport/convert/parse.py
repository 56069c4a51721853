"""Source text -> `ast` tree, `ast` <-> gast for single functions, and `ast` tree -> code object.

The eager form is CPython's own tree with gates in it, so what has no gate cannot differ from what CPython compiles.
Only a function that gets a graph form passes through gast, one at a time; the gast tree is a fresh copy, which the
passes of the graph form may keep.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

import gast

Source = bytes | str
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# gast turns a node it has never heard of into None, silently: such nodes of this Python must be met before it does.
# `arg` becomes a gast Name; the parser has not made the others since Python 3.9, though `ast` still names them.
_NO_CONCERN = {"arg", "Num", "Str", "Bytes", "NameConstant", "Ellipsis", "ExtSlice", "Index"}
UNKNOWN_TO_GAST = frozenset(
    node
    for node in vars(ast).values()
    if isinstance(node, type) and issubclass(node, ast.AST) and not hasattr(gast, node.__name__)
    if node.__name__ not in _NO_CONCERN
)


class UnknownNode(Exception):
    """The tree holds a node that gast would drop."""


def parse(source: Source, path: str) -> ast.Module:
    """The module's tree; a SyntaxError (and a warning about the text) is CPython's own."""
    tree = compile(source, path, "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


def compile_source(source: Source, path: str) -> CodeType:
    """What CPython's import makes of a source file."""
    code: CodeType = compile(source, path, "exec", dont_inherit=True, optimize=-1)
    return code


def compile_tree(tree: ast.Module, path: str, flags: int = 0) -> CodeType:
    """Compile as CPython's import does; `flags` are those of `from __future__` imports outside `tree`."""
    code: CodeType = compile(tree, path, "exec", flags=flags, dont_inherit=True, optimize=-1)
    return code


@contextmanager
def quietly() -> Iterator[None]:
    """Swallow the compiler's warnings: a module is compiled more than once, but must warn as often as in CPython.

    Not `warnings.catch_warnings`, which also makes Python forget which warnings it has shown already.
    """
    before = warnings.filters
    warnings.filters = [("ignore", None, Warning, None, 0)]
    try:
        yield
    finally:
        warnings.filters = before


def to_gast(node: ast.AST) -> gast.AST:
    """A fresh gast copy of `node`, positions included."""
    if UNKNOWN_TO_GAST:
        for part in ast.walk(node):
            if type(part) in UNKNOWN_TO_GAST:
                raise UnknownNode(f"gast does not know {type(part).__name__}")
    return gast.ast_to_gast(node)


def to_ast(node: gast.AST) -> ast.AST:
    """A fresh `ast` copy of `node`; a node without position gets that of the node around it."""
    tree: ast.AST = gast.gast_to_ast(node)
    return ast.fix_missing_locations(tree)
