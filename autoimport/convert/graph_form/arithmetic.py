"""Operators that may join or compare containers -> `binary`, which reads their items first.

>>> show(arithmetic, '''
... def f(xs, y):
...     return xs + [y], y * 0.5, y < xs, y < 2
... ''')
def f(xs, y):
    return (ops.binary('+', xs, [y]), y * 0.5, ops.binary('<', y, xs), y < 2)
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import constant, op, place
from autoimport.convert.graph_form.walk import Pass

_BINARY = {gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.BitOr: "|", gast.BitAnd: "&", gast.BitXor: "^"}
_COMPARE = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">="}


class _Arithmetic(Pass):
    def visit_BinOp(self, node: gast.BinOp) -> Any:
        self.generic_visit(node)
        symbol = _BINARY.get(type(node.op))
        # A list can be repeated by an int, but nothing else is done to containers with numbers.
        numbers = (float, complex) if symbol == "*" else (int, float, complex)
        if symbol is None or _is_constant(node.left, numbers) or _is_constant(node.right, numbers):
            return node
        return place(op("binary", constant(symbol), node.left, node.right), node)

    def visit_Compare(self, node: gast.Compare) -> Any:
        self.generic_visit(node)
        symbol = _COMPARE.get(type(node.ops[0])) if len(node.ops) == 1 else None
        sides = (node.left, node.comparators[0])
        if symbol is None or any(_is_constant(side, (int, float, complex)) for side in sides):
            return node
        return place(op("binary", constant(symbol), *sides), node)


def _is_constant(node: gast.AST, types: tuple[type, ...]) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, types)


def arithmetic(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the operators in `fn` and everything nested in it."""
    _Arithmetic().enter(fn)
    return fn
