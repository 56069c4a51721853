"""Assignments with patterns or several targets -> one level and one target at a time.

>>> show(unpacking, '''
... def f(v, o):
...     a, (b, *c) = v
...     o.x, o.y = v
...     a, b = b, a
... ''')
def f(v, o):
    a, part = ops.unpack(v, 2, None)
    b, *c = ops.unpack(part, 1, 0)
    del part
    part, part_1 = ops.unpack(v, 2, None)
    o.x = part
    o.y = part_1
    del part, part_1
    a, b = (b, a)
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import assign, constant, load, op, place, store
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.scoped import Scoped
from autoimport.convert.names import Fresh

SEQUENCES = (gast.Tuple, gast.List)


class _Unpacking(Scoped):
    def __init__(self, context: Context, fresh: Fresh) -> None:
        super().__init__(context)
        self.fresh = fresh
        self.parts: list[str] = []
        self.used = 0

    def visit_Assign(self, node: gast.Assign) -> Any:
        self.generic_visit(node)
        if len(node.targets) == 1 and not isinstance(node.targets[0], SEQUENCES):
            return node
        self.used = 0
        self.pin()
        if all(self.is_local(target) for target in node.targets):
            return node
        if len(node.targets) == 1:
            statements = self.unpack(node.targets[0], node.value)
        else:
            value = self.part()
            statements = [assign(value, node.value)]
            for target in node.targets:
                statements += self.store(target, load(value))
        if self.used:
            parts = [gast.Name(name, gast.Del(), None, None) for name in self.parts[: self.used]]
            statements.append(gast.Delete(parts))
        return [place(statement, node) for statement in statements]

    def is_local(self, target: gast.AST) -> bool:
        return isinstance(target, gast.Name) and self.resolve(target.id) == "local"

    def part(self) -> str:
        """A name for a part that waits for its target; statements share them."""
        if self.used == len(self.parts):
            self.parts.append(self.fresh("part"))
        self.used += 1
        return self.parts[self.used - 1]

    def store(self, target: gast.AST, value: gast.AST) -> list[gast.AST]:
        """Assign one target."""
        return self.unpack(target, value) if isinstance(target, SEQUENCES) else [assign(target, value)]

    def unpack(self, target: gast.AST, value: gast.AST) -> list[gast.AST]:
        """Unpack one level; what cannot be assigned at once, in Python's order, waits in a part."""
        elements = target.elts
        stars = [index for index, element in enumerate(elements) if isinstance(element, gast.Starred)]
        inner = [element.value if isinstance(element, gast.Starred) else element for element in elements]
        later: list[tuple[gast.AST, str]] = []
        for index, element in enumerate(inner):
            if self.is_local(element) and not later:
                continue
            name = self.part()
            later.append((element, name))
            waiting = place(store(name), element)
            elements[index] = place(gast.Starred(waiting, gast.Store()), element) if index in stars else waiting
        before, after = (stars[0], len(elements) - stars[0] - 1) if stars else (len(elements), None)
        if not _is_display(value, len(elements), bool(stars)):
            value = op("unpack", value, constant(before), constant(after))
        statements: list[gast.AST] = [assign(target, value)]
        for element, name in later:
            statements += self.store(element, load(name))
        return statements


def _is_display(value: gast.AST, count: int, starred: bool) -> bool:
    """Whether a tuple is written out with as many items as there are targets."""
    if starred or not isinstance(value, gast.Tuple) or len(value.elts) != count:
        return False
    return not any(isinstance(element, gast.Starred) for element in value.elts)


def unpacking(fn: gast.FunctionDef, context: Context, fresh: Fresh) -> gast.FunctionDef:
    """Rewrite the unpacking assignments in `fn` and in functions nested in it."""
    _Unpacking(context, fresh).enter(fn)
    return fn
