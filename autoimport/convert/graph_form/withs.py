"""`with` -> one manager and a plain name a statement, so that targets are assigned as everywhere else.

>>> show(plain_with, '''
... def f(a, b):
...     with a as (x, y), b:
...         return x
... ''')
def f(a, b):
    with a as entered:
        x, y = entered
        with b:
            return x
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import assign, load, op, place, store
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.scoped import Scoped
from autoimport.convert.graph_form.walk import Pass
from autoimport.convert.names import Fresh


class _PlainWith(Scoped):
    def __init__(self, context: Context, fresh: Fresh) -> None:
        super().__init__(context)
        self.fresh = fresh
        self.entered = ""

    def visit_With(self, node: gast.With) -> Any:
        self.generic_visit(node)
        for index, item in enumerate(node.items):
            target = item.optional_vars
            if target is None or (isinstance(target, gast.Name) and self.resolve(target.id) == "local"):
                continue
            self.entered = self.entered or self.fresh("entered")
            if index + 1 < len(node.items):
                inner = self.visit_With(gast.With(node.items[index + 1 :], node.body, None))
                node.items, node.body = node.items[: index + 1], [place(inner, node)]
            item.optional_vars = place(store(self.entered), target)
            node.body = [place(assign(target, load(self.entered)), target), *node.body]
            break
        return node


def plain_with(fn: gast.FunctionDef, context: Context, fresh: Fresh) -> gast.FunctionDef:
    """Rewrite the `with` statements in `fn` and in functions nested in it."""
    _PlainWith(context, fresh).enter(fn)
    return fn


class _Protocols(Pass):
    def visit_With(self, node: gast.With) -> Any:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = place(op("context", item.context_expr), item.context_expr)
        return node

    def visit_Try(self, node: gast.AST) -> Any:
        self.generic_visit(node)
        for handler in node.handlers:
            handler.body = [place(gast.Expr(op("caught")), handler.body[0]), *handler.body]
        if node.handlers:
            node.body = [place(gast.Expr(op("handlers")), node.body[0]), *node.body]
        return node

    visit_TryStar = visit_Try


def protocols(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Announce context managers and handlers to whoever watches a trace.

    >>> show(protocols, '''
    ... def f(a):
    ...     with a as x:
    ...         try:
    ...             x()
    ...         except E:
    ...             pass
    ... ''')
    def f(a):
        with ops.context(a) as x:
            try:
                ops.handlers()
                x()
            except E:
                ops.caught()
                pass
    """
    _Protocols().enter(fn)
    return fn
