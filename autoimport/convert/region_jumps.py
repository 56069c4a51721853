"""Jumps out of a region -> answers of its form, and statements behind its gate that do what the answer says.

    while True:
        if @on:KEY[8] and @region("KEY", 8, None, x):
            x, = @land()
            if @jump() == 2: break
        else:
            x = step(x)                    # as written
            if small(x): break

The form of a region that may be left by `break`, `continue` or `return` answers `(jump, value, results...)`: how it was
left, what it returns if it was left by a `return`, and the results of every region.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.facts import BREAKS, CONTINUES, RETURNS

_CODES = {"Continue": CONTINUES, "Break": BREAKS, "Return": RETURNS}
_LOOPS = (gast.For, gast.AsyncFor, gast.While)


def jumps_out(statements: Iterable[Any], *, in_loop: bool = False) -> Iterator[Any]:
    """The jumps that lead out of a run of gast statements."""
    for node in statements:
        if isinstance(node, gast.Return) or (isinstance(node, (gast.Break, gast.Continue)) and not in_loop):
            yield node
        elif not isinstance(node, naming.DEFINITIONS):
            for name, block in _blocks(node):
                yield from jumps_out(block, in_loop=in_loop or (name == "body" and isinstance(node, _LOOPS)))


def _blocks(node: Any) -> Iterator[tuple[str, list[Any]]]:
    """The blocks of a compound statement, by field."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield name, block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield "body", part.body


def kind_of(jump: Any) -> int:
    """How a jump leaves a region."""
    return _CODES[type(jump).__name__]


def answer(jump: Any, results: Iterable[str]) -> gast.Return:
    """The `return` of a form that stands for a jump."""
    value = getattr(jump, "value", None) or gast.Constant(None, None)
    parts = [gast.Constant(kind_of(jump), None), value, *(gast.Name(n, gast.Load(), None, None) for n in results)]
    made = gast.Return(gast.Tuple(parts, gast.Load()))
    return gast.fix_missing_locations(gast.copy_location(made, jump))


def answer_jumps(definition: gast.FunctionDef, results: tuple[str, ...]) -> None:
    """In the form of a region, but for its last statement, put the answers in place of the jumps out of it."""
    _answer_in(definition.body[:-1], definition.body, set(jumps_out(definition.body[:-1])), results)


def _answer_in(statements: list[Any], block: list[Any], jumps: set[Any], results: tuple[str, ...]) -> None:
    for index, node in enumerate(statements):
        if node in jumps:
            block[index] = answer(node, results)
        elif not isinstance(node, naming.DEFINITIONS):
            for _, inner in _blocks(node):
                _answer_in(inner, inner, jumps, results)


def landing(kinds: Iterable[int]) -> list[ast.stmt]:
    """What stands behind the gate: do as the form's answer says."""
    statements: list[ast.stmt] = []
    for kind in sorted(kinds):
        jump: ast.stmt = ast.Break() if kind == BREAKS else ast.Continue()
        if kind == RETURNS:
            jump = ast.Return(value=_call("@take"))
        test = ast.Compare(left=_call("@jump"), ops=[ast.Eq()], comparators=[ast.Constant(kind)])
        statements.append(ast.If(test=test, body=[jump], orelse=[]))
    return statements


def _call(name: str) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[], keywords=[])
