"""`ast` tree of a module -> the same tree with a gate in front of the body of each function that has a graph form.

    def scale(x, by=2):
        "doc"
        if @on:KEY[7] and @enter("KEY", 7, None, x, by): return @take()
        return x * by

The tree is changed in place: the eager forms are the last to read it. All of a gate stands at the position of the
first instruction behind it, so that a tracer sees the lines that it sees without the gate.
"""

from __future__ import annotations

import ast
from typing import Any

from autoimport.convert.functions import Function


def insert_gate(fn: Function, key: str, index: int) -> None:
    """Put the gate of site `index` into the eager form of `fn`."""
    node = fn.node
    answer = _call("@take", [])
    if isinstance(node, ast.Lambda):
        body = node.body
        node.body = ast.IfExp(test=_test(fn, key, index), body=answer, orelse=body)
        _place(node.body, fn, body, stop=body)
        ast.copy_location(node.body, body)  # the `return` of a lambda stands at its whole body
        return
    has_docstring = ast.get_docstring(node, clean=False) is not None
    gate = ast.If(test=_test(fn, key, index), body=[ast.Return(value=answer)], orelse=[])
    _place(gate, fn, node.body[has_docstring])
    node.body.insert(has_docstring, gate)


def _test(fn: Function, key: str, index: int) -> ast.expr:
    """`@on:KEY[index] and @enter("KEY", index, cells, *parameters)`"""
    is_open = ast.Subscript(value=_name("@on:" + key), slice=ast.Constant(index), ctx=ast.Load())
    parameters = [_name(parameter) for parameter in fn.parameters]
    enter = _call("@enter", [ast.Constant(key), ast.Constant(index), _cells(fn), *parameters])
    return ast.BoolOp(op=ast.And(), values=[is_open, enter])


def _cells(fn: Function) -> ast.expr:
    """`lambda: (cell, ...)`, which is never called: it carries the cells, and nothing else could carry all of them."""
    free = fn.code.co_freevars if fn.code else ()
    if not free:
        return ast.Constant(None)
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=ast.Tuple(elts=[_name(name) for name in free], ctx=ast.Load()))


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _call(name: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(func=_name(name), args=args, keywords=[])


def _place(gate: Any, fn: Function, first: Any, stop: ast.expr | None = None) -> None:
    """Give all nodes of the gate, but not those of `stop`, the position of the first instruction of the body."""
    start = fn.start or (first.lineno, first.end_lineno, first.col_offset, first.end_col_offset)
    gate.lineno, gate.end_lineno, gate.col_offset, gate.end_col_offset = start
    for child in ast.iter_child_nodes(gate):
        if child is not stop:
            _place(child, fn, first)
