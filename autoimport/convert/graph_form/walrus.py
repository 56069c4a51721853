"""Walruses in operands that may be skipped -> statements, since a generated lambda cannot bind for its function.

>>> show(no_lazy_walrus, '''
... def f(x):
...     if x and (y := g(x)):
...         return y
... ''')
def f(x):
    value = x
    if value:
        value = (y := g(x))
    if value:
        return y
>>> show(no_lazy_walrus, '''
... def f(read):
...     while (n := read()) > 0:
...         print(n)
... ''')
def f(read):
    while True:
        if not (n := read()) > 0:
            break
        print(n)
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import assign, constant, header, if_, load, not_, place
from autoimport.convert.graph_form.context import Unconvertible
from autoimport.convert.graph_form.walk import Pass, is_plain
from autoimport.convert.names import Fresh
from autoimport.convert.trees import walk


class _Walrus(Pass):
    """Works on one function; statements come out as lists."""

    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        return node

    def value(self, node: Any) -> Any:
        """A statement whose `value` is evaluated first."""
        if not _lazy(node.value):
            return node
        before: list[gast.AST] = []
        node.value = self.lower(node.value, before)
        return [*before, node]

    visit_Assign = visit_Expr = visit_Return = value

    def visit_If(self, node: gast.If) -> Any:
        node.body, node.orelse = self.body(node.body), self.body(node.orelse)
        before: list[gast.AST] = []
        if _lazy(node.test):
            node.test = self.lower(node.test, before)
        return [*before, node]

    def visit_While(self, node: gast.While) -> Any:
        node.body, node.orelse = self.body(node.body), self.body(node.orelse)
        if not _binds(node.test):
            return node
        if node.orelse:
            raise Unconvertible("a walrus in the test of a while with an else", node.test.lineno)
        before: list[gast.AST] = []
        test = self.lower(node.test, before) if _lazy(node.test) else node.test
        where = header(node, node.test)
        leave = place(if_(not_(test), [gast.Break()]), where)
        node.test, node.body = place(constant(True), where), [*before, leave, *node.body]
        return node

    def lower(self, node: gast.AST, before: list[gast.AST]) -> gast.AST:
        """Move what comes before the skippable walrus into `before`; return what is left of the expression."""
        if not _lazy(node):
            return node
        if isinstance(node, gast.UnaryOp):
            node.operand = self.lower(node.operand, before)
            return node
        if isinstance(node, gast.NamedExpr):
            node.value = self.lower(node.value, before)
            return node
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and not _binds(node.comparators[0]):
            node.left = self.lower(node.left, before)
            return node
        name = self.fresh("value")
        if isinstance(node, gast.BoolOp):
            self.chain(node.values, isinstance(node.op, gast.Or), name, before)
        elif isinstance(node, gast.IfExp):
            test = self.lower(node.test, before)
            arms = [self.arm(name, node.body), self.arm(name, node.orelse)]
            before.append(place(if_(test, *arms), node))
        elif isinstance(node, gast.Compare):
            self.comparison(node, name, before)
        else:
            raise Unconvertible("a walrus in an operand that may be skipped", node.lineno)
        return place(load(name), node)

    def arm(self, name: str, node: gast.AST) -> list[gast.AST]:
        inside: list[gast.AST] = []
        value = self.lower(node, inside)
        return [*inside, place(assign(name, value), node)]

    def chain(self, values: list[gast.AST], is_or: bool, name: str, before: list[gast.AST]) -> None:
        before += self.arm(name, values[0])
        if len(values) > 1:
            inside: list[gast.AST] = []
            self.chain(values[1:], is_or, name, inside)
            test = not_(load(name)) if is_or else load(name)
            before.append(place(if_(test, inside), values[1]))

    def comparison(self, node: gast.Compare, name: str, before: list[gast.AST]) -> None:
        left = self.fresh("left")
        before += self.arm(left, node.left)
        block = before
        for index, (operator, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.fresh("right")
            block += self.arm(right, operand)
            compared = gast.Compare(load(left), [operator], [load(right)])
            block.append(place(assign(name, compared), node))
            if index + 1 < len(node.ops):
                branch = place(if_(load(name), [gast.Pass()]), node)
                block.append(branch)
                branch.body = block = []
            left = right


def _binds(node: gast.AST) -> bool:
    """Whether an expression binds a name of the function."""
    return any(event.kind == "store" for event in naming.events(node))


def _lazy(node: gast.AST | None) -> bool:
    """Whether an expression has a walrus in an operand that may be skipped."""
    if node is None:
        return False
    kinds = (gast.BoolOp, gast.IfExp, gast.Compare)
    return any(isinstance(part, kinds) and any(map(_binds, _skippable(part))) for part in naming.walk_scope([node]))


def _skippable(node: gast.AST) -> list[gast.AST]:
    if isinstance(node, gast.BoolOp):
        return list(node.values[1:])
    if isinstance(node, gast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, gast.Compare):
        return list(node.comparators) if len(node.ops) > 1 else []
    if isinstance(node, gast.Assert):
        return [node.msg] if node.msg is not None else []
    if isinstance(node, gast.Raise):
        return [part for part in (node.exc, node.cause) if part is not None]
    return []


def no_lazy_walrus(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Lower the walruses of `fn` (not of functions nested in it) that no generated lambda may hold."""
    fn.body = _Walrus(fresh).body(fn.body)
    for node in walk(fn):
        check = not isinstance(node, gast.stmt) or isinstance(node, (gast.Assert, gast.Raise))
        if check and any(map(_binds_at_all, _skippable(node))) and not is_plain(fn):
            raise Unconvertible("a walrus in an operand that may be skipped", node.lineno)
    return fn


def _binds_at_all(node: gast.AST) -> bool:
    return any(isinstance(part, gast.NamedExpr) for part in walk(node))
