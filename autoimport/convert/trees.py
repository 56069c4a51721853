"""`ast` tree -> gast tree and back, and the children of a gast node: what gast does, in a third of the time.

A conversion is mostly walks over trees. gast's own converters and walks ask each node for its fields by name; here
a table has them by class. The nodes are gast's, and so is every decision about them.
"""

from __future__ import annotations

import ast
from typing import Any, cast

import gast

_Position = tuple[int, int, int, int]  # lineno, col_offset, end_lineno, end_col_offset


class UnknownNode(Exception):
    """The tree holds a node that gast would drop."""


def _classes(module: Any) -> dict[str, type[Any]]:
    found = vars(module).values()
    return {kind.__name__: kind for kind in found if isinstance(kind, type) and issubclass(kind, ast.AST)}


# Fields that hold no node, and those that hold a context or an operator, which has no parts and is asked for directly.
_NO_NODES = {
    "id", "attr", "arg", "module", "level", "conversion", "kind", "type_comment", "asname", "is_async", "simple",
    "rest", "kwd_attrs", "ctx", "ops", "type_ignores",
}  # fmt: skip
_NO_NODES_OF = {
    gast.Constant: {"value"},
    gast.MatchSingleton: {"value"},
    gast.Global: {"names"},
    gast.Nonlocal: {"names"},
}


def _may_hold_nodes(kind: type[Any], field: str) -> bool:
    if field == "name":
        return kind in (gast.ExceptHandler, getattr(gast, "TypeAlias", None))
    return field not in _NO_NODES and field not in _NO_NODES_OF.get(kind, ())


_GAST = _classes(gast)
FIELDS: dict[type[Any], tuple[str, ...]] = {
    kind: tuple(field for field in getattr(kind, "_fields", ()) if _may_hold_nodes(kind, field))
    for kind in _GAST.values()
}
"""The fields of each class of gast's that may hold nodes, contexts apart."""


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly below `node`, in the order of its fields; contexts and comparison signs are left out."""
    found: list[gast.AST] = []
    values = node.__dict__
    for field in FIELDS[type(node)]:
        value = values.get(field)
        if value is not None:
            found += filter(None, value) if type(value) is list else (value,)
    return found


def walk(root: gast.AST) -> list[gast.AST]:
    """`root` and all nodes below it, from the top downwards."""
    found = [root]
    for node in found:  # which grows
        fields = FIELDS[type(node)]
        if fields:
            values = node.__dict__
            for field in fields:
                value = values.get(field)
                if value is not None:
                    found += filter(None, value) if type(value) is list else (value,)
    return found


# -- conversion ------------------------------------------------------------------------------------------------------

# Names that `ast` keeps for nodes that its parser has not made since Python 3.9.
_HISTORY = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "ExtSlice", "Index"}
_AST = {name: kind for name, kind in _classes(ast).items() if name not in _HISTORY}
_TO_GAST = {kind: _GAST[name] for name, kind in _AST.items() if name in _GAST}
_TO_AST = {_GAST[name]: kind for name, kind in _AST.items() if name in _GAST}
UNKNOWN_TO_GAST = frozenset(kind for name, kind in _AST.items() if name not in _GAST and name != "arg")
"""Nodes of this Python that gast turns into None, silently."""

# Contexts and operators have neither parts nor a position: one of each is enough.
_SHARED = {
    kind: made() for kind, made in (*_TO_GAST.items(), *_TO_AST.items()) if not kind._fields and not kind._attributes
}
# Of each class in `ast`: the fields with nodes in them, and what gast adds.
_PARTS = {
    kind: tuple(field for field in kind._fields if field in ("ctx", "op", "ops") or _may_hold_nodes(made, field))
    for kind, made in _TO_GAST.items()
}
_ADDED = {kind: set(getattr(made, "_fields", ())) - set(kind._fields) for kind, made in _TO_GAST.items()}
_PARAMETERS = ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg")


def to_gast(node: ast.AST) -> Any:
    """A fresh gast copy of `node`, positions included."""
    kind = type(node)
    shared = _SHARED.get(kind)
    if shared is not None:
        return shared
    if kind is ast.arg:
        return _parameter(node)
    made = _TO_GAST.get(kind)
    if made is None:
        raise UnknownNode(f"gast does not know {kind.__name__}")
    new: Any = ast.AST.__new__(made)
    values = new.__dict__
    values.update(node.__dict__)
    for field in _PARTS[kind]:
        value = values.get(field)
        if type(value) is list:
            values[field] = [part and to_gast(part) for part in value]
        elif isinstance(value, ast.AST):
            values[field] = to_gast(value)
    for field in _ADDED[kind]:
        values[field] = [] if field == "type_params" else None
    if kind is ast.ExceptHandler and new.name is not None:
        new.name = gast.Name(new.name, gast.Store(), None, None)
    return new


def _parameter(node: Any) -> Any:
    annotation = node.annotation and to_gast(node.annotation)
    return ast.copy_location(gast.Name(node.arg, gast.Param(), annotation, node.type_comment), node)


def to_ast(node: gast.AST) -> ast.AST:
    """A fresh `ast` copy of `node`; a node without position gets that of the node around it."""
    tree: ast.AST = _to_ast(node, (1, 0, 1, 0))
    return tree


def _to_ast(node: gast.AST, around: _Position) -> Any:
    shared = _SHARED.get(type(node))
    if shared is not None:
        return shared
    kind = _TO_AST[type(node)]
    new: Any = ast.AST.__new__(kind)
    values = new.__dict__
    values.update(node.__dict__)  # with notes of the passes, which the compiler does not look at
    if kind._attributes:
        around = _place(values, around)
    is_signature = kind is ast.arguments
    for field in _PARTS[kind]:
        value = values.get(field)
        if type(value) is list:
            convert = _argument if is_signature and field in _PARAMETERS else _to_ast
            values[field] = [part and convert(part, around) for part in value]
        elif isinstance(value, ast.AST):
            convert = _argument if is_signature and field in _PARAMETERS else _to_ast
            values[field] = convert(value, around)
    if kind is ast.ExceptHandler:
        values["name"] = node.name and node.name.id
    return new


def _argument(node: gast.Name, around: _Position) -> ast.arg:
    new = ast.arg(arg=node.id)
    new.__dict__.update(node.__dict__)
    around = _place(new.__dict__, around)
    new.annotation = node.annotation and _to_ast(node.annotation, around)
    return new


def _place(values: dict[str, Any], around: _Position) -> _Position:
    """Complete a node's position from that of the node around it; return it."""
    own: Any = values.get("lineno"), values.get("col_offset"), values.get("end_lineno"), values.get("end_col_offset")
    if None in own:
        own = around if own[0] is None else tuple(map(_either, own, around))
        values["lineno"], values["col_offset"], values["end_lineno"], values["end_col_offset"] = own
    return cast(_Position, own)


def _either(own: int | None, other: int) -> int:
    return other if own is None else own
