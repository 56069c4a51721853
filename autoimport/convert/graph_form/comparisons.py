"""Comparisons whose result may be a tensor in disguise -> operators; chains evaluate each operand once.

`<`, `<=`, `>`, `>=` alone mean the same for tensors and stay.

>>> show(comparisons, '''
... def f(a, b):
...     return a == b, a < b, 0 < a <= b
... ''')
def f(a, b):
    return (ops.eq(a, b), a < b, ops.chain(0, ('<', lambda: a), ('<=', lambda: b)))
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import constant, lambda_, op, place
from autoimport.convert.graph_form.walk import Pass

OPERATORS = {"Eq": "eq", "NotEq": "ne", "In": "in_", "NotIn": "not_in", "Is": "is_", "IsNot": "is_not"}
SIGNS = {
    "Eq": "==",
    "NotEq": "!=",
    "In": "in",
    "NotIn": "not in",
    "Is": "is",
    "IsNot": "is not",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
}


class _Comparisons(Pass):
    def visit_Compare(self, node: gast.Compare) -> Any:
        self.generic_visit(node)
        kinds = [type(operator).__name__ for operator in node.ops]
        if len(kinds) == 1:
            name = OPERATORS.get(kinds[0])
            return place(op(name, node.left, node.comparators[0]), node) if name else node
        links = [
            gast.Tuple([constant(SIGNS[kind]), lambda_(operand)], gast.Load())
            for kind, operand in zip(kinds, node.comparators, strict=True)
        ]
        return place(op("chain", node.left, *links), node)


def comparisons(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the comparisons in `fn` and everything nested in it."""
    _Comparisons().enter(fn)
    return fn
