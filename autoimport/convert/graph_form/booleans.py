"""`and`, `or`, `not`, `a if c else b` -> operators with the skippable operands in lambdas.

>>> show(booleans, '''
... def f(a, b, c):
...     return a and b or not c
... ''')
def f(a, b, c):
    return ops.or_(ops.and_(a, lambda: b), lambda: ops.not_(c))
>>> show(booleans, '''
... def f(a, b, c):
...     return a if c else b
... ''')
def f(a, b, c):
    return ops.if_exp(c, lambda: a, lambda: b)
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import lambda_, op, place
from autoimport.convert.graph_form.walk import Pass


class _Booleans(Pass):
    def visit_BoolOp(self, node: gast.BoolOp) -> Any:
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, gast.And) else "or_"
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = place(op(name, value, lambda_(result)), node)
        return result

    def visit_UnaryOp(self, node: gast.UnaryOp) -> Any:
        self.generic_visit(node)
        return place(op("not_", node.operand), node) if isinstance(node.op, gast.Not) else node

    def visit_IfExp(self, node: gast.IfExp) -> Any:
        self.generic_visit(node)
        return place(op("if_exp", node.test, lambda_(node.body), lambda_(node.orelse)), node)


def booleans(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the boolean operators and conditional expressions in `fn` and everything nested in it."""
    _Booleans().enter(fn)
    return fn
