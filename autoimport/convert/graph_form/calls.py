"""Calls and decorators -> `ops.call`; what no trace can hold gets a warning in front.

>>> show(calls, '''
... def f(g, a, b):
...     return g(a, *b, k=1, **{**b})
... ''')
def f(g, a, b):
    return ops.call(g, a, *ops.iterate(b), k=1, **ops.mapping({**ops.mapping(b)}))
>>> show(calls, '''
... def f(dec):
...     @dec
...     def g():
...         pass
...     import os
... ''')
def f(dec):
<BLANKLINE>
    @(lambda decorator: lambda fn: ops.call(decorator, fn))(dec)
    def g():
        pass
    ops.forbid('import')
    import os
>>> show(calls, '''
... def f(a, b):
...     return [*a, b]
... ''')
def f(a, b):
    return ops.spliced([*ops.spread(a), b])
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import OPS, constant, is_op, lambda_, load, op, place
from autoimport.convert.graph_form.walk import Pass, is_plain


class _Calls(Pass):
    def visit_Call(self, node: gast.Call) -> Any:
        self.generic_visit(node)
        if is_op(node) or getattr(node, "built", False):
            return node
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = place(op("mapping", keyword.value), keyword.value)
        called = place(op("call", node.func, *node.args, keywords=node.keywords), node)
        if isinstance(node.func, gast.Attribute) or is_op(node.func, "attr"):
            called.func.end_lineno = node.func.end_lineno  # see `place`
            called.func.end_col_offset = node.func.end_col_offset
        return called

    def visit_Dict(self, node: gast.Dict) -> Any:
        self.generic_visit(node)
        node.values = [
            place(op("mapping", value), value) if key is None else value
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return node

    def visit_List(self, node: Any) -> Any:
        self.generic_visit(node)
        stars = [element for element in node.elts if isinstance(element, gast.Starred)]
        if not stars or not isinstance(node.ctx, gast.Load):
            return node
        for star in stars:
            star.value.func.attr = "spread"  # instead of "iterate"
        return place(op("spliced", node), node)

    visit_Tuple = visit_List

    def visit_Starred(self, node: gast.Starred) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, gast.Load):
            node.value = place(op("iterate", node.value), node.value)
        return node

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        if isinstance(node.value, gast.Name) and node.value.id == OPS:
            return node
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        super().visit_FunctionDef(node)
        node.decorator_list = [self.decorator(decorator) for decorator in node.decorator_list]
        if is_plain(node):
            return [_forbid("a generator or coroutine", node), node]
        return node

    def decorator(self, node: gast.AST) -> gast.AST:
        apply = lambda_(op("call", load("decorator"), load("fn")), "fn")
        return place(gast.Call(lambda_(apply, "decorator"), [node], []), node)

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        super().visit_ClassDef(node)
        return [_forbid("class definition", node), node]

    def visit_Import(self, node: gast.AST) -> Any:
        return [_forbid("import", node), node]

    visit_ImportFrom = visit_Import

    def visit_TypeAlias(self, node: gast.AST) -> Any:
        return [_forbid("type alias", node), node]


def _forbid(what: str, node: gast.AST) -> gast.AST:
    return place(gast.Expr(op("forbid", constant(what))), node)


def calls(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the calls in `fn` and everything nested in it."""
    _Calls().enter(fn)
    return fn
