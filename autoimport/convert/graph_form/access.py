"""Reads, stores and deletes outside the function's own names -> operators.

>>> show(stores, '''
... def f(o, v):
...     global g
...     g = o.a[1:2]
...     o.a[0] = v
...     del o.a
... ''')
def f(o, v):
    global g
    ops.set_global('g', o.a[1:2])
    ops.set_item(o.a, 0, v)
    ops.del_attr(o, 'a')
>>> show(reads, '''
... def f(o):
...     return g(o.a[1:2])
... ''')
def f(o):
    return ops.global_('g')(ops.item(ops.attr(o, 'a'), ops.slice(1, 2, None)))
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.augmented import as_value
from autoimport.convert.graph_form.build import OPS, assign, constant, is_op, lambda_, load, op, place, store
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.scoped import Scoped
from autoimport.convert.names import Fresh, Scope


class _Stores(Scoped):
    def __init__(self, context: Context, known: dict[gast.AST, Scope], value: str) -> None:
        super().__init__(context, known)
        self.value = value

    def visit_Assign(self, node: gast.Assign) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or isinstance(target, (gast.Tuple, gast.List)):
            return node  # local names only, since `unpacking`
        if isinstance(target, gast.Name):
            kind = self.resolve(target.id)
            return node if kind == "local" else place(gast.Expr(self.set_name(target.id, node.value)), node)
        if self.is_settled(node.value):
            return place(gast.Expr(_set(target, node.value, self)), node)
        # Python evaluates the value first; it is let go at once, as Python's stack does.
        statements = [
            assign(self.value, node.value),
            gast.Expr(_set(target, load(self.value), self)),
            gast.Delete([gast.Name(self.value, gast.Del(), None, None)]),
        ]
        return [place(statement, node) for statement in statements]

    def is_settled(self, value: gast.AST) -> bool:
        """Whether evaluating `value` after the target changes nothing."""
        if isinstance(value, gast.Name):
            return self.resolve(value.id) == "local"
        # The object and the index of an augmented assignment wait in names of ours.
        return isinstance(value, gast.Constant) or is_op(value, "augment")

    def set_name(self, name: str, value: gast.AST) -> gast.Call:
        if self.resolve(name) == "free":
            return op("set_free", lambda_(load(name)), value)
        return op("set_global", constant(self.mangled(name)), value)

    def visit_NamedExpr(self, node: gast.NamedExpr) -> Any:
        self.generic_visit(node)
        if self.resolve(node.target.id) == "local":
            return node
        held = gast.NamedExpr(store(self.value), node.value)
        both = gast.Tuple([self.set_name(node.target.id, held), load(self.value)], gast.Load())
        return place(gast.Subscript(both, constant(1), gast.Load()), node)

    def visit_Delete(self, node: gast.Delete) -> Any:
        self.generic_visit(node)
        target = node.targets[0]  # one a statement since `deletes`, but for names of ours
        if isinstance(target, gast.Attribute):
            deletion: gast.AST = op("del_attr", target.value, constant(self.mangled(target.attr)))
        elif isinstance(target, gast.Subscript):
            deletion = op("del_item", target.value, as_value(target.slice))
        elif self.resolve(target.id) == "global":
            deletion = op("del_global", constant(self.mangled(target.id)))
        elif self.resolve(target.id) == "free":
            return [place(gast.Expr(op("forbid", constant("del of a free name"))), node), node]
        else:
            return node
        return place(gast.Expr(deletion), node)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        super().visit_FunctionDef(node)
        if self.resolve(node.name) == "local":
            return node
        return [place(gast.Expr(op("forbid", constant("a function that is not local"))), node), node]


def _set(target: gast.AST, value: gast.AST, scopes: Scoped) -> gast.Call:
    if isinstance(target, gast.Attribute):
        return op("set_attr", target.value, constant(scopes.mangled(target.attr)), value)
    return op("set_item", target.value, as_value(target.slice), value)


def stores(fn: gast.FunctionDef, context: Context, fresh: Fresh) -> gast.FunctionDef:
    """Rewrite the stores and deletes in `fn` and everything nested in it."""
    _Stores(context, {}, fresh("stored")).enter(fn)
    return fn


class _Reads(Scoped):
    def __init__(self, context: Context, known: dict[gast.AST, Scope], value: str) -> None:
        super().__init__(context, known)
        self.value = value

    def visit_Name(self, node: gast.Name) -> Any:
        if type(node.ctx) is not gast.Load or node.id in (OPS, "__debug__", self.value):
            return node
        kind = self.resolve(node.id)
        if kind == "local":
            return node
        if kind == "free":
            return place(op("free", lambda_(load(node.id))), node)
        return place(op("global_", constant(self.mangled(node.id))), node)

    def visit_Call(self, node: gast.Call) -> Any:
        if is_op(node, "free", "set_free"):
            node.args[1:] = [self.visit(value) for value in node.args[1:]]
            return node
        if isinstance(node.func, gast.Name) and node.func.id == "slice" and getattr(node, "built", False):
            node.args = [self.visit(value) for value in node.args]
            return place(op("slice", *node.args), node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        if isinstance(node.value, gast.Name) and node.value.id == OPS:
            return node
        self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        return place(op("attr", node.value, constant(self.mangled(node.attr))), node)

    def visit_Subscript(self, node: gast.Subscript) -> Any:
        ours = isinstance(node.value, gast.Tuple) and isinstance(node.slice, gast.Constant)
        if ours or not isinstance(node.ctx, gast.Load):
            return self.generic_visit(node)
        node.slice = as_value(node.slice)
        self.generic_visit(node)
        return place(op("item", node.value, node.slice), node)


def reads(fn: gast.FunctionDef, context: Context) -> gast.FunctionDef:
    """Rewrite the reads of attributes, items, globals and free names in `fn` and everything nested in it."""
    _Reads(context, {}, "").enter(fn)
    return fn


def access(fn: gast.FunctionDef, context: Context, fresh: Fresh) -> gast.FunctionDef:
    """Both, over the same scopes: stores are rewritten first, and bind no name but one of ours."""
    known: dict[gast.AST, Scope] = {}
    value = fresh("stored")
    _Stores(context, known, value).enter(fn)
    _Reads(context, known, value).enter(fn)
    return fn
