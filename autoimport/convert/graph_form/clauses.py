"""A walrus that opens a condition of a comprehension, for names of its own -> a clause of the comprehension.

>>> show(own_clauses, '''
... def f(xs):
...     return [y for x in xs if (y := g(x)) > 0 and y < 9]
... ''')
def f(xs):
    return [y for x in xs for y in (g(x),) if y > 0 and y < 9]
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import load, place, store
from autoimport.convert.trees import walk


def own_clauses(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the comprehensions of `fn` whose walruses bind names that nothing else mentions."""
    scope = naming.scope_of(fn)
    own = scope.bound.difference(naming.parameters(fn.args))
    for node in walk(fn):
        if isinstance(node, naming.COMPREHENSIONS):
            position = 0
            while position < len(node.generators):  # which grow
                _split(fn, node, position, own)
                position += 1
    return fn


def _split(fn: gast.FunctionDef, node: Any, position: int, own: frozenset[str]) -> None:
    """Let the first such walrus among the conditions of a clause begin a new clause."""
    generator = node.generators[position]
    for index, condition in enumerate(generator.ifs):
        holder, field = _opening(condition)
        walrus = condition if holder is None else field
        if not isinstance(walrus, gast.NamedExpr):
            continue
        name = walrus.target.id
        later = [condition, *generator.ifs[index + 1 :], *node.generators[position + 1 :], *_results(node)]
        mentioned = _mentions(fn, name)
        inside = sum(_mentions(part, name) for part in later)
        if name not in own or mentioned != inside or _mentions(walrus.value, name) or _stores(fn, name) > 1:
            continue
        rest = generator.ifs[index:]
        del generator.ifs[index:]
        read = place(load(name), walrus)
        if holder is None:
            rest[0] = read
        else:
            _replace(holder, walrus, read)
        items = gast.Tuple([walrus.value], gast.Load())
        clause = place(gast.comprehension(store(name), items, rest, False), walrus)
        node.generators.insert(position + 1, clause)
        return


def _results(node: Any) -> list[gast.AST]:
    return [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]


def _opening(condition: gast.AST) -> tuple[Any, gast.AST]:
    """What is evaluated first in a condition, and the node around it (None: it is the condition)."""
    holder: Any = None
    node: Any = condition
    while (part := _first(node)) is not None:
        holder, node = node, part
    return holder, node


def _first(node: Any) -> gast.AST | None:
    for kind, field in _FIRST.items():
        if isinstance(node, kind):
            first: Any = getattr(node, field)
            return first[0] if isinstance(first, list) else first
    if isinstance(node, gast.Call):
        if not isinstance(node.func, gast.Name):
            return node.func
        return node.args[0] if node.args else None
    return None


_FIRST: dict[type[Any], str] = {
    gast.Compare: "left",
    gast.BoolOp: "values",
    gast.UnaryOp: "operand",
    gast.BinOp: "left",
    gast.Attribute: "value",
    gast.Subscript: "value",
}


def _replace(holder: Any, old: gast.AST, new: gast.AST) -> None:
    for field, value in vars(holder).items():
        if value is old:
            setattr(holder, field, new)
        elif isinstance(value, list):
            value[:] = [new if part is old else part for part in value]


def _mentions(node: gast.AST, name: str) -> int:
    return sum(isinstance(part, gast.Name) and part.id == name for part in walk(node))


def _stores(fn: gast.AST, name: str) -> int:
    return sum(
        isinstance(part, gast.Name) and part.id == name and not isinstance(part.ctx, gast.Load) for part in walk(fn)
    )
