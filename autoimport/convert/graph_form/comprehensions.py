"""Comprehensions, subjects and conditions of `match` -> the same, over operators that know symbolic values.

A list comprehension or a generator expression becomes a description of its items; `kept`, unless it is handed to a call
or a loop and so taken from in one place. One with a starred target, a walrus, or a function that keeps its targets'
names, a set and a dict keep Python's form.

>>> show(comprehensions, '''
... def f(xs, ys):
...     a = [x for x in xs if x > 0]
...     b = sum(x * y for x, y in zip(xs, ys))
...     return a, b, {x for x in xs if x > 0}
... ''')
def f(xs, ys):
    a = ops.listed(ops.each(xs, lambda x: ops.when(x > 0, lambda: ops.one(x))))
    b = sum(ops.each(zip(xs, ys), lambda x, y: ops.one(x * y), 2))
    return (a, b, {x for x in ops.iterate(xs) if ops.truth(x > 0)})
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import constant, is_op, lambda_, load, op, place
from autoimport.convert.graph_form.walk import Pass
from autoimport.convert.names import Fresh
from autoimport.convert.trees import walk

_SEQUENCES = (gast.Tuple, gast.List)


class _Comprehensions(Pass):
    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh

    def visit_ListComp(self, node: gast.ListComp) -> Any:
        return self.visit(place(op("listed", self.stream(node)), node)) if _fits(node) else self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> Any:
        if not is_op(node) or is_op(node, "for_", "each"):
            node.args = [
                self.stream(arg) if isinstance(arg, gast.GeneratorExp) and _fits(arg) else arg for arg in node.args
            ]
        return self.generic_visit(node)

    def visit_GeneratorExp(self, node: gast.GeneratorExp) -> Any:
        """One that the program may keep, and take items from as it likes."""
        if _fits(node):
            return self.visit(place(op("kept", self.stream(node)), node))
        return place(op("kept", self.generic_visit(node)), node)

    def stream(self, node: Any) -> gast.AST:
        """The description of a comprehension's items; its parts are still to be visited."""
        made: gast.AST = place(op("one", node.elt), node.elt)
        for generator in reversed(node.generators):
            for condition in reversed(generator.ifs):
                made = place(op("when", condition, lambda_(made)), condition)
            made = place(self.each(generator.iter, generator.target, made), node)
        return made

    def each(self, items: gast.AST, target: Any, made: gast.AST) -> gast.AST:
        if isinstance(target, gast.Name):
            return op("each", items, lambda_(made, target.id))
        names: list[str] = []
        for element in reversed(target.elts):
            name = element.id if isinstance(element, gast.Name) else self.fresh("part")
            if name in names:  # the last one wins
                name = self.fresh("part")
            elif not isinstance(element, gast.Name):
                made = self.each(gast.Tuple([load(name)], gast.Load()), element, made)
            names.insert(0, name)
        return op("each", items, lambda_(made, *names), constant(len(names)))

    def visit_comprehension(self, node: gast.comprehension) -> Any:
        self.generic_visit(node)
        node.iter = place(op("iterate", node.iter), node.iter)
        node.ifs = [place(op("truth", condition), condition) for condition in node.ifs]
        return node

    def visit_Match(self, node: gast.Match) -> Any:
        self.generic_visit(node)
        node.subject = place(op("subject", node.subject), node.subject)
        return node

    def visit_match_case(self, node: gast.match_case) -> Any:
        super().visit_match_case(node)
        if node.guard is not None:
            node.guard = place(op("truth", node.guard), node.guard)
        return node


def _fits(node: Any) -> bool:
    """Whether parameters of a lambda can stand for the targets: nobody may see that each item has its own."""
    targets = [part for generator in node.generators for part in walk(generator.target)]
    if any(generator.is_async for generator in node.generators) or naming.walrus_targets(node):
        return False
    if not all(isinstance(part, (gast.Name, *_SEQUENCES)) for part in targets):
        return False
    names = {part.id for part in targets if isinstance(part, gast.Name)}
    parts = walk(node)
    given = {id(arg) for part in parts if isinstance(part, gast.Call) for arg in part.args}
    late = (
        part
        for part in parts[1:]
        if isinstance(part, gast.Lambda) or (isinstance(part, gast.GeneratorExp) and id(part) not in given)
    )
    return not any(names & naming.free_names(part) for part in late)


def comprehensions(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Rewrite comprehensions and guards in `fn` and everything nested in it."""
    _Comprehensions(fresh).enter(fn)
    return fn
