"""`ast` tree of a module -> the same tree with a gate in front of each function and region that has a graph form.

    def scale(x, by=2):
        "doc"
        if @on:KEY[7] and @enter("KEY", 7, None, x, by): return @take()
        return x * by

The tree is changed in place: the eager forms are the last to read it. All of a gate stands at the position of the
first instruction behind it, so that a tracer sees the lines that it sees without the gate.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from autoimport.convert.facts import PART
from autoimport.convert.functions import Function, Position, is_generator
from autoimport.convert.region_jumps import landing
from autoimport.convert.regions import Crossing, Region
from autoimport.convert.strips import Strip, gate_arguments


def insert_gate(fn: Function, key: str, index: int) -> None:
    """Put the gate of site `index` into the eager form of `fn`."""
    node = fn.node
    answer: ast.expr = _call("@take", [])
    test = _test("@enter", key, index, fn.code.co_freevars if fn.code else (), fn.parameters)
    if isinstance(node, ast.Lambda):
        body = node.body
        node.body = ast.IfExp(test=test, body=answer, orelse=body)
        _place(node.body, fn.start or _position(body), stop=body)
        ast.copy_location(node.body, body)  # the `return` of a lambda stands at its whole body
        return
    if is_generator(fn):
        answer = ast.YieldFrom(value=answer)
    has_docstring = ast.get_docstring(node, clean=False) is not None
    gate = ast.If(test=test, body=[ast.Return(value=answer)], orelse=[])
    _place(gate, fn.start or _position(node.body[has_docstring]))
    node.body.insert(has_docstring, gate)


def insert_region_gate(region: Region, container: list[ast.stmt], key: str, index: int) -> list[ast.stmt]:
    """Put the gate of site `index` around the statements of a region, which are part of `container`.

    Returns:
      The list that they are part of now.
    """
    names = region.crossing
    # A name of its own: `@enter` in a code object says that the whole function has a gate.
    test = _test("@region", key, index, names.free, names.parameters)
    gate = ast.If(test=test, body=[_take(names), *landing(names.jumps)], orelse=[])
    _place(gate, region.start)
    gate.orelse = list(region.statements)
    first = next(place for place, node in enumerate(container) if node is region.statements[0])
    container[first : first + len(gate.orelse)] = [gate]
    return gate.orelse


def insert_strip_gate(region: Region, strip: Strip, key: str, index: int) -> None:
    """Put the gate of site `index` in front of a loop's body, and what it needs to know of the loop into its head."""
    names, loop = region.crossing, strip.loop
    parameters = tuple(name for name in names.parameters if name != PART)
    test = _test("@strip", key, index, names.free, parameters, gate_arguments(strip))
    gate = ast.If(test=test, body=[_take(names), ast.Continue()], orelse=[])
    _place(gate, region.start)
    loop.body.insert(0, gate)
    items = _call("@items", [ast.Constant(key), ast.Constant(index), loop.iter])
    head = ast.IfExp(test=_is_open(key, index), body=items, orelse=loop.iter)
    _place(head, _position(loop.iter), stop=loop.iter)
    loop.iter = head


def _take(names: Crossing) -> ast.stmt:
    """What gives the results of a region to their names."""
    answer = _call("@land" if names.jumps else "@take", [])
    if not names.results:
        return ast.Expr(value=answer)
    targets: list[ast.expr] = [ast.Name(id=name, ctx=ast.Store()) for name in names.results]
    return ast.Assign(targets=[ast.Tuple(elts=targets, ctx=ast.Store())], value=answer)


def _test(
    enter: str, key: str, index: int, free: tuple[str, ...], parameters: tuple[str, ...], more: Sequence[ast.expr] = ()
) -> ast.expr:
    """`@on:KEY[index] and @enter("KEY", index, cells, *more, *parameters)`"""
    values = [_name(parameter) for parameter in parameters]
    call = _call(enter, [ast.Constant(key), ast.Constant(index), _cells(free), *more, *values])
    return ast.BoolOp(op=ast.And(), values=[_is_open(key, index), call])


def _is_open(key: str, index: int) -> ast.expr:
    return ast.Subscript(value=_name("@on:" + key), slice=ast.Constant(index), ctx=ast.Load())


def _cells(free: tuple[str, ...]) -> ast.expr:
    """`lambda: (cell, ...)`, which is never called: it carries the cells, and nothing else could carry all of them."""
    if not free:
        return ast.Constant(None)
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=ast.Tuple(elts=[_name(name) for name in free], ctx=ast.Load()))


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _call(name: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(func=_name(name), args=args, keywords=[])


def _position(node: ast.expr | ast.stmt) -> Position:
    return node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or 0


def _place(gate: Any, start: Position, stop: ast.expr | None = None) -> None:
    """Give all nodes of the gate, but not those of `stop`, the position of the first instruction behind it."""
    gate.lineno, gate.end_lineno, gate.col_offset, gate.end_col_offset = start
    for child in ast.iter_child_nodes(gate):
        if child is not stop:
            _place(child, start, stop)
