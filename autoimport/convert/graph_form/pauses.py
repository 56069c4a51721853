"""Generators: statements in which a `yield` stands keep Python's control flow, all others become graph as anywhere.

In: a function, normalized. Out: the `if`, `while` and `for` statements that pause, or that a jump of the generator
leaves, as nodes of their own (`Kept...`), which no other pass takes for a branch or loop of the graph; `restored`
makes Python's statements of them again, over operators that know symbolic values.

>>> show(restored, '''
... def f(xs):
...     last = None
...     for x in xs:
...         if last is not None:
...             yield last + x
...         last = x
... ''')
def f(xs):
    last = None
    for x in ops.iterate(xs):
        if ops.truth(last is not None):
            yield (last + x)
        last = x
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import assign, load, op, place, store
from autoimport.convert.graph_form.jumps import JUMPS, LOOPS, NESTED, jumps_in
from autoimport.convert.graph_form.walk import KeptFor, KeptIf, KeptJump, KeptReturn, KeptWhile, Pass
from autoimport.convert.names import Fresh

YIELDS = frozenset({gast.Yield, gast.YieldFrom})
# Statements whose value is evaluated on its own, whatever the form makes of them.
_SIMPLE = (gast.Expr, gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Return)


def odd_yield(fn: gast.AST) -> int | None:
    """The line of a `yield` of `fn` itself that is only a part of an expression, else None."""
    parts = naming.body_of(fn)
    whole = {id(node.value) for node in naming.walk_scope(parts) if isinstance(node, _SIMPLE)}
    lines = (node.lineno for node in naming.walk_scope(parts) if type(node) in YIELDS and id(node) not in whole)
    return next((int(line) for line in lines), None)


def pauses(fn: gast.AST) -> bool:
    """Whether `fn` is a generator."""
    return any(type(node) in YIELDS for node in naming.walk_scope(naming.body_of(fn)))


def kept(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Set the statements of a generator apart that keep Python's control flow."""
    if pauses(fn):
        scope = naming.scope_of(fn)
        fn.body = _Kept(fresh, scope.globals | scope.nonlocals).block(fn.body, False)
    return fn


class _Kept:
    def __init__(self, fresh: Fresh, elsewhere: frozenset[str]) -> None:
        self.fresh = fresh
        self.elsewhere = elsewhere

    def block(self, body: list[gast.AST], in_loop: bool) -> list[gast.AST]:
        """A block of the generator; `in_loop`: a `break` in it leaves a kept loop."""
        return [self.statement(node, in_loop) for node in body]

    def statement(self, node: Any, in_loop: bool) -> gast.AST:
        if isinstance(node, JUMPS):
            return self.jump(node)
        if isinstance(node, NESTED) or not isinstance(node, gast.stmt):
            return node
        if not isinstance(node, (gast.If, *LOOPS)):
            self.parts(node, in_loop)
            return node
        if not self.stays(node):
            return node
        if isinstance(node, gast.If):
            made = KeptIf(node.test, self.block(node.body, in_loop), self.block(node.orelse, in_loop))
        else:
            body, orelse = self.block(node.body, True), self.block(node.orelse, in_loop)
            made = KeptWhile(node.test, body, orelse) if isinstance(node, gast.While) else self.loop(node, body, orelse)
        return gast.copy_location(made, node)

    def stays(self, node: gast.AST) -> bool:
        """Whether a compound statement pauses, or a jump leaves it that no pass lowers."""
        if any(type(part) in YIELDS for part in naming.walk_scope([node])):
            return True
        return any(True for kind in JUMPS for _ in jumps_in([node], kind))

    def loop(self, node: gast.For, body: list[gast.AST], orelse: list[gast.AST]) -> KeptFor:
        target = node.target
        if not isinstance(target, gast.Name) or target.id in self.elsewhere:
            item = self.fresh("item")
            body = [place(assign(target, load(item)), target), *body]
            target = place(store(item), target)
        return KeptFor(node.iter, target, body, orelse)

    def parts(self, node: Any, in_loop: bool) -> None:
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field), in_loop))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.block(part.body, in_loop)

    def jump(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Return):
            made: gast.AST = KeptReturn(node.value)
        else:
            made = KeptJump()
            made.jump = node
        return gast.copy_location(made, node)


class _Restored(Pass):
    def visit_KeptIf(self, node: KeptIf) -> gast.AST:
        self.generic_visit(node)
        return place(gast.If(_truth(node.test), node.body, node.orelse), node)

    def visit_KeptWhile(self, node: KeptWhile) -> gast.AST:
        self.generic_visit(node)
        return place(gast.While(_truth(node.test), node.body, node.orelse), node)

    def visit_KeptFor(self, node: KeptFor) -> gast.AST:
        self.generic_visit(node)
        items = place(op("iterate", node.iter), node.iter)
        return place(gast.For(node.target, items, node.body, node.orelse, None), node)

    def visit_KeptReturn(self, node: KeptReturn) -> gast.AST:
        self.generic_visit(node)
        return place(gast.Return(node.value), node)

    def visit_KeptJump(self, node: KeptJump) -> Any:
        return node.jump

    def visit_YieldFrom(self, node: gast.YieldFrom) -> gast.AST:
        self.generic_visit(node)
        node.value = place(op("iterate", node.value), node.value)
        return node


def _truth(test: gast.AST) -> gast.AST:
    return test if isinstance(test, gast.Constant) else place(op("truth", test), test)


def restored(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Make Python's statements of the kept ones, in `fn` and in functions nested in it."""
    _Restored().enter(fn)
    return fn
