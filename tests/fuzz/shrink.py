"""A program with a difference -> a smaller one with a difference, by leaving out and unwrapping what is not needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator


def shrink(source: str, differs: Callable[[str], bool], most: int = 400) -> str:
    """The smallest program found in at most so many runs; `differs` runs one."""
    source = ast.unparse(ast.parse(source))
    runs = 0
    found = True
    while found:
        found = False
        index = 0
        while runs < most:
            smaller = next(_smaller(source, index), None)
            if smaller is None:
                break
            if _compiles(smaller) and len(smaller) < len(source):
                runs += 1
                if differs(smaller):
                    source, found = smaller, True
                    continue  # what came behind has taken this place
            index += 1
    return source


def _compiles(source: str) -> bool:
    try:
        compile(source, "program.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _smaller(source: str, start: int) -> Iterator[str]:
    """The `start`th way to make a program smaller, larger parts first, and those after it."""
    count = len(_places(ast.parse(source)))
    for index in range(start, count):
        tree = ast.parse(source)
        _places(tree)[index]()
        yield ast.unparse(ast.fix_missing_locations(tree))


def _places(tree: ast.Module) -> list[Callable[[], None]]:
    """All changes that make a tree smaller: a statement left out or replaced by its body, an expression by a part."""
    changes: list[Callable[[], None]] = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for index, statement in enumerate(block):
                    changes.extend(_without(block, index, statement))
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(node, ast.expr_context):
                changes.extend(_simpler(node, name, value))
    return changes


def _without(block: list[ast.AST], index: int, statement: ast.AST) -> Iterator[Callable[[], None]]:
    empty = [ast.Pass()] if isinstance(statement, ast.stmt) and len(block) == 1 else []
    if not isinstance(statement, ast.Pass) and (len(block) > 1 or isinstance(statement, ast.stmt)):
        yield lambda: block.__setitem__(slice(index, index + 1), empty)
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
        yield lambda: block.__setitem__(slice(index, index + 1), statement.body)
        if getattr(statement, "orelse", None):
            yield lambda: block.__setitem__(slice(index, index + 1), statement.orelse)


def _simpler(node: ast.AST, name: str, value: ast.expr) -> Iterator[Callable[[], None]]:
    parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
    if isinstance(getattr(value, "ctx", None), ast.Store):
        return
    for part in parts:
        yield lambda part=part: setattr(node, name, part)  # type: ignore[misc]
    if not isinstance(value, (ast.Constant, ast.Name)):
        yield lambda: setattr(node, name, ast.Constant(1))
