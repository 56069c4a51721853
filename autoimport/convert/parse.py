"""Source text -> `ast` tree, and `ast` tree -> code object.

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

Source = bytes | str
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


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
