"""`x += v` -> an assignment that evaluates object and index once.

>>> show(augmented, '''
... def f(x, v):
...     x += v
...     x.n += v
...     x.a[v + 1] += 1
... ''')
def f(x, v):
    x = ops.augment('+=', x, v)
    x.n = ops.augment('+=', x.n, v)
    owner = x.a
    key = v + 1
    owner[key] = ops.augment('+=', owner[key], 1)
    del owner, key
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import assign, constant, load, op, place
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.scoped import Scoped
from autoimport.convert.names import Fresh
from autoimport.convert.trees import walk

SIGNS = {
    "Add": "+=",
    "Sub": "-=",
    "Mult": "*=",
    "Div": "/=",
    "FloorDiv": "//=",
    "Mod": "%=",
    "Pow": "**=",
    "MatMult": "@=",
    "BitAnd": "&=",
    "BitOr": "|=",
    "BitXor": "^=",
    "LShift": "<<=",
    "RShift": ">>=",
}


class _Augmented(Scoped):
    def __init__(self, context: Context, owner: str, key: str, moving: set[str]) -> None:
        super().__init__(context)
        self.owner = owner
        self.key = key
        self.moving = moving

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        self.generic_visit(node)
        sign = constant(SIGNS[type(node.op).__name__])
        target = node.target
        if isinstance(target, gast.Name):
            read = getattr(node, "read", None) or load(target.id)
            return place(assign(target, op("augment", sign, read, node.value)), node)
        self.pin()
        held: list[gast.AST] = []
        moving = self.moving | {event.name for event in naming.events(node.value) if event.kind == "store"}
        target.value = self.hold(target.value, self.owner, moving, held)
        if isinstance(target, gast.Subscript):
            target.slice = self.hold(target.slice, self.key, moving, held)
        source = copy.deepcopy(target)
        source.ctx = gast.Load()
        result = [*held, assign(target, op("augment", sign, source, node.value))]
        if held:
            result.append(gast.Delete([gast.Name(let.targets[0].id, gast.Del(), None, None) for let in held]))
        return [place(new, node) for new in result]

    def hold(self, part: gast.AST, name: str, moving: set[str], held: list[gast.AST]) -> gast.AST:
        """Return something that can be evaluated twice: the part itself, or a name that holds it."""
        stays = isinstance(part, gast.Name) and part.id not in moving and self.resolve(part.id) == "local"
        if stays or isinstance(part, gast.Constant):
            return part
        held.append(assign(name, as_value(part)))
        return load(name)


def as_value(key: gast.AST) -> gast.AST:
    """An index as an expression of its own: slices as calls of `slice`, which `reads` tells from the person's name."""
    if isinstance(key, gast.Slice):
        parts = [part or constant(None) for part in (key.lower, key.upper, key.step)]
        call = place(gast.Call(load("slice"), parts, []), key)
        call.built = True
        return call
    if isinstance(key, gast.Tuple):
        key.elts = [as_value(part) for part in key.elts]
    return key


def augmented(fn: gast.FunctionDef, context: Context, fresh: Fresh) -> gast.FunctionDef:
    """Rewrite the augmented assignments in `fn` and in functions nested in it."""
    moving = {name for node in walk(fn) if isinstance(node, gast.Nonlocal) for name in node.names}
    _Augmented(context, fresh("owner"), fresh("key"), moving).enter(fn)
    return fn
