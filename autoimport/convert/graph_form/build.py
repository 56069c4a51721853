"""Small pieces of tree in, placed pieces of tree out: the bricks that the passes build with.

Every new node gets the position of the person's construct that it stands for, so that tracebacks point there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import gast

from autoimport.convert.trees import children

OPS = "@ops"
"""The name under which a form finds its operators; nobody can write it in Python."""

POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")

Node = TypeVar("Node", bound=gast.AST)


def place(new: Node, like: gast.AST) -> Node:
    """Give every node of `new` that has no position the position of `like`; return `new`."""
    position = {field: getattr(like, field, None) for field in POSITION}
    stack: list[gast.AST] = [new]
    while stack:
        node = stack.pop()
        values = node.__dict__
        if values.get("lineno") is None:
            values.update(position)
            if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id == OPS:
                # CPython counts the call of a method to the line where the method's name ends.
                values["end_lineno"], values["end_col_offset"] = node.lineno, node.col_offset
            stack += children(node)
    return new


def header(node: gast.AST, last: gast.AST) -> gast.AST:
    """A position from the start of `node` to the end of `last`, for the first line of a compound statement."""
    span = gast.Pass()
    span.lineno, span.col_offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    span.end_lineno = getattr(last, "end_lineno", None) or span.lineno
    span.end_col_offset = getattr(last, "end_col_offset", None) or span.col_offset
    return span


def load(name: str) -> gast.Name:
    """`name`, read."""
    return gast.Name(name, gast.Load(), None, None)


def store(name: str) -> gast.Name:
    """`name`, assigned."""
    return gast.Name(name, gast.Store(), None, None)


def constant(value: Any) -> gast.Constant:
    """A literal."""
    return gast.Constant(value, None)


def names_tuple(names: Iterable[str]) -> gast.Tuple:
    """A tuple of string literals."""
    return gast.Tuple([constant(name) for name in names], gast.Load())


def assign(target: str | gast.AST, value: gast.AST) -> gast.Assign:
    """`target = value`."""
    return gast.Assign([store(target) if isinstance(target, str) else target], value, None)


def op(name: str, *args: gast.AST, keywords: Sequence[gast.AST] = ()) -> gast.Call:
    """`ops.name(*args)`."""
    return gast.Call(gast.Attribute(load(OPS), name, gast.Load()), list(args), list(keywords))


def is_op(node: gast.AST, *names: str) -> bool:
    """Whether `node` is a call of an operator (of one of `names`, when given)."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
        return False
    root = node.func.value
    return isinstance(root, gast.Name) and root.id == OPS and (not names or node.func.attr in names)


def arguments(*parameters: str) -> gast.arguments:
    """Plain positional parameters."""
    args = [gast.Name(name, gast.Param(), None, None) for name in parameters]
    return gast.arguments(args, [], None, [], [], None, [])


def lambda_(body: gast.AST, *parameters: str) -> gast.Lambda:
    """`lambda *parameters: body`; no walrus is in the body, so that it binds nothing."""
    new = gast.Lambda(arguments(*parameters), body)
    new.binds_nothing = not parameters
    return new


def function(name: str, parameters: Sequence[str], body: list[gast.AST]) -> gast.FunctionDef:
    """`def name(*parameters): body`; an empty body becomes `pass`."""
    return gast.FunctionDef(name, arguments(*parameters), body or [gast.Pass()], [], None, None, [])


def if_(test: gast.AST, body: list[gast.AST], orelse: list[gast.AST] | None = None) -> gast.If:
    """`if test: body else: orelse`."""
    return gast.If(test, body or [gast.Pass()], orelse or [])


def not_(value: gast.AST) -> gast.UnaryOp:
    """`not value`."""
    return gast.UnaryOp(gast.Not(), value)


def undefined(name: str) -> gast.Assign:
    """`name = ops.Undefined("name")`."""
    return assign(name, op("Undefined", constant(name)))


def after_docstring(body: list[gast.AST]) -> int:
    """The index of the first statement that is not the docstring."""
    first = body[0] if body else None
    if not isinstance(first, gast.Expr) or not isinstance(first.value, gast.Constant):
        return 0
    return int(isinstance(first.value.value, str))
