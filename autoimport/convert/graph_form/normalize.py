"""The small print of a function -> fewer kinds of statements for the passes that follow.

* `global` and `nonlocal` stand first in the function, once.
* Annotated assignments lose their annotation, which functions do not evaluate.
* `super()` names its cell and its object, since generated functions have neither.
* `except E as e` becomes an assignment that is taken back, unless `e` lives in such handlers alone.
* Coroutines nested in the function are marked `plain`, generators where a `yield` is part of an expression.

>>> show(normalize, '''
... def f(x):
...     y: int = x
...     z: int
...     return y
... ''')
def f(x):
    y = x
    return y
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import after_docstring, assign, constant, load, place
from autoimport.convert.graph_form.context import Unconvertible
from autoimport.convert.graph_form.pauses import YIELDS, odd_yield, pauses
from autoimport.convert.graph_form.walk import Kinds, Pass, kinds_in
from autoimport.convert.trees import walk

AWAITS = (gast.Await, gast.AsyncFor, gast.AsyncWith)
SUSPENDING = frozenset({*YIELDS, *AWAITS, gast.comprehension})  # which may be `async for`


def normalize(
    fn: gast.FunctionDef, fresh: naming.Fresh, super_object: str | None = None, kinds: Kinds | None = None
) -> gast.FunctionDef:
    """Rewrite `fn`, not the functions nested in it; `super_object` is None where `super()` cannot work."""
    kinds = kinds_in(fn) if kinds is None else kinds
    line = suspends(fn) if kinds & SUSPENDING else None
    if line:
        raise Unconvertible("an await, or a yield inside an expression", line)
    return _Normalize(fn, fresh, super_object, kinds).run()


def suspends(fn: gast.AST) -> int | None:
    """The line of an await of `fn` itself, or of a yield that no form can hold, else None."""
    for node in naming.walk_scope(naming.body_of(fn)):
        if isinstance(node, AWAITS):
            return int(getattr(node, "lineno", 1))
        if isinstance(node, naming.COMPREHENSIONS):
            inside = [part for part in walk(node) if isinstance(part, gast.Await)]
            if inside or any(generator.is_async for generator in node.generators):
                return int(node.lineno)
    return odd_yield(fn)


class _Normalize(Pass):
    def __init__(self, fn: gast.FunctionDef, fresh: naming.Fresh, super_object: str | None, kinds: Kinds) -> None:
        self.fn = fn
        self.fresh = fresh
        self.super_object = super_object
        self.may_suspend = bool(kinds & SUSPENDING)
        self.scope = naming.scope_of(fn)
        self.handler_only = _handler_only(fn, self.scope.bound) if gast.ExceptHandler in kinds else set()

    def run(self) -> gast.FunctionDef:
        body = self.body(self.fn.body)
        declarations: list[gast.AST] = []
        if self.scope.globals:
            declarations.append(place(gast.Global(sorted(self.scope.globals)), self.fn))
        if self.scope.nonlocals:
            declarations.append(place(gast.Nonlocal(sorted(self.scope.nonlocals)), self.fn))
        start = after_docstring(body)
        self.fn.body = [*body[:start], *declarations, *body[start:]] or [place(gast.Pass(), self.fn)]
        return self.fn

    def block(self, body: list[gast.AST], like: gast.AST) -> list[gast.AST]:
        return self.body(body) or [place(gast.Pass(), like)]

    def enter(self, node: gast.AST) -> None:
        node.plain = self.may_suspend and suspends(node) is not None

    def enter_lambda(self, node: gast.Lambda) -> None:
        node.plain = self.may_suspend and (suspends(node) is not None or pauses(node))

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        for statement in node.body:
            if isinstance(statement, gast.FunctionDef):
                self.enter(statement)
        return node

    def visit_Global(self, node: gast.AST) -> None:
        return None

    visit_Nonlocal = visit_Global

    def visit_AnnAssign(self, node: gast.AnnAssign) -> Any:
        target = self.visit(node.target)
        if node.value is not None:
            return place(assign(target, self.visit(node.value)), node)
        if isinstance(target, gast.Name):
            return None
        parts = [target.value, target.slice] if isinstance(target, gast.Subscript) else [target.value]
        return [place(gast.Expr(part), node) for part in parts if not isinstance(part, gast.Slice)]

    def visit_If(self, node: gast.If) -> Any:
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body, node), self.body(node.orelse)
        return node

    def visit_While(self, node: gast.While) -> Any:
        node.options = getattr(node, "options", {})
        return self.visit_If(node)

    def visit_For(self, node: gast.For) -> Any:
        node.iter, node.target = self.visit(node.iter), self.visit(node.target)
        node.body, node.orelse = self.block(node.body, node), self.body(node.orelse)
        node.stop, node.options = [], getattr(node, "options", {})
        return node

    def visit_With(self, node: gast.With) -> Any:
        for item in node.items:
            self.generic_visit(item)
        node.body = self.block(node.body, node)
        return node

    def visit_Try(self, node: gast.AST) -> Any:
        node.body = self.block(node.body, node)
        node.handlers = [self.handler(handler) for handler in node.handlers]
        node.orelse, had_final = self.body(node.orelse), bool(node.finalbody)
        node.finalbody = self.block(node.finalbody, node) if had_final else []
        return node

    visit_TryStar = visit_Try

    def visit_match_case(self, node: gast.match_case) -> Any:
        node.guard = node.guard and self.visit(node.guard)
        node.body = self.block(node.body, node.body[0])
        return node

    def handler(self, node: gast.ExceptHandler) -> gast.ExceptHandler:
        node.type = node.type and self.visit(node.type)
        node.body = self.block(node.body, node)
        if node.name is None or node.name.id in self.handler_only:
            return node
        name = node.name.id
        hidden = self.fresh("error")
        node.name.id = hidden
        taken_back = [assign(name, constant(None)), gast.Delete([gast.Name(name, gast.Del(), None, None)])]
        node.body = [
            place(assign(name, load(hidden)), node),
            place(gast.Try(node.body, [], [], taken_back), node),
        ]
        return node

    def visit_Call(self, node: gast.Call) -> Any:
        self.generic_visit(node)
        is_super = isinstance(node.func, gast.Name) and node.func.id == "super" and not (node.args or node.keywords)
        if is_super and self.super_object is not None and "super" not in self.scope.bound:
            node.args = [place(load("__class__"), node), place(load(self.super_object), node)]
        return node


def _handler_only(fn: gast.FunctionDef, bound: frozenset[str]) -> set[str]:
    """Names whose every mention is in a handler that binds them: Python may bind and delete these itself."""
    inside: dict[str, int] = {}
    total: dict[str, int] = {}
    nested: set[str] = set()
    for node in naming.walk_scope(fn.body):
        if isinstance(node, gast.Name):
            total[node.id] = total.get(node.id, 0) + 1
        elif isinstance(node, gast.ExceptHandler) and node.name is not None:
            mentions = (part for part in naming.walk_scope([node.name, *node.body]) if isinstance(part, gast.Name))
            inside[node.name.id] = inside.get(node.name.id, 0) + sum(part.id == node.name.id for part in mentions)
        elif isinstance(node, (*naming.FUNCTIONS, gast.ClassDef, *naming.COMPREHENSIONS)):
            nested |= naming.free_names(node)
            nested.update(naming.bound_by(node))
    return {name for name, count in inside.items() if count == total[name] and name in bound and name not in nested}
