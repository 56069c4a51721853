"""The walk that every pass shares: a tree in, the same tree with some constructs replaced out.

A pass goes over one function with everything nested in it. It leaves alone what no form may touch: generators and
coroutines (marked `plain`), annotations, and of nested classes everything but the bodies of their methods, since
generated lambdas cannot see the names of a class body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from autoimport.convert.trees import FIELDS, walk

# Statements of a generator that keep Python's control flow while the passes run; see `pauses.py`.


class KeptIf(gast.stmt):  # type: ignore[misc]
    """An `if` that stays one."""

    _fields = ("test", "body", "orelse")


class KeptWhile(KeptIf):
    """A `while` that stays one."""


class KeptFor(gast.stmt):  # type: ignore[misc]
    """A `for` that stays one."""

    _fields = ("iter", "target", "body", "orelse")


class KeptReturn(gast.stmt):  # type: ignore[misc]
    """A `return` of the generator."""

    _fields = ("value",)


class KeptJump(gast.stmt):  # type: ignore[misc]
    """A `break` or `continue` of a kept loop: `jump`."""

    _fields = ()


FIELDS.update({kind: kind._fields for kind in (KeptIf, KeptWhile, KeptFor, KeptReturn, KeptJump)})

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


def is_plain(node: gast.AST) -> bool:
    """Whether a nested function stays as the person wrote it."""
    return isinstance(node, gast.AsyncFunctionDef) or getattr(node, "plain", False)


Kinds = frozenset[type[Any]]


def kinds_in(tree: gast.AST) -> Kinds:
    """The classes of all nodes below one: most functions have no need of most passes."""
    return frozenset(map(type, walk(tree)[1:]))


class Walker:
    """A transformer over everything: as `ast.NodeTransformer`, in a third of its time, by a table of its methods."""

    visitors: dict[type[Any], Callable[[Any, gast.AST], Any]]

    def __init_subclass__(cls) -> None:
        cls.visitors = {}
        for kind, fields in FIELDS.items():
            visitor = getattr(cls, "visit_" + kind.__name__, cls.generic_visit if fields else None)
            if visitor is not None:
                cls.visitors[kind] = visitor

    def visit(self, node: gast.AST) -> Any:
        """Visit a node; what has no parts is not worth a look-up."""
        visitor = self.visitors.get(type(node))
        return node if visitor is None else visitor(self, node)

    def generic_visit(self, node: gast.AST) -> Any:
        """Visit the parts of a node; in a list a visitor may return None, a node or several."""
        values, visitors = node.__dict__, self.visitors
        for field in FIELDS[type(node)]:
            part = values.get(field)
            if type(part) is list:
                if part:
                    part[:] = self.body(part)
            elif part is not None:
                visitor = visitors.get(type(part))
                if visitor is not None:
                    values[field] = visitor(self, part)
        return node

    def body(self, nodes: list[gast.AST]) -> list[gast.AST]:
        """Visit a block, or another list of nodes."""
        result: list[gast.AST] = []
        visitors = self.visitors
        for node in nodes:
            visitor = visitors.get(type(node))
            new = node if visitor is None else visitor(self, node)
            if type(new) is list:
                result += new
            elif new is not None or node is None:
                result.append(new)
        return result


class Pass(Walker):
    """A transformer over the convertible parts of a function."""

    visit_Name: Any = None  # nothing to visit but the annotation of a parameter

    def visit_arguments(self, node: gast.arguments) -> gast.arguments:
        """Defaults only: parameters and their annotations are not expressions of the form."""
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [default and self.visit(default) for default in node.kw_defaults]
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        """What runs at the definition, then the body."""
        if getattr(node, "is_state", False):
            return node  # names of the function's own, and nothing else
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self.visit_arguments(node.args)
        if not is_plain(node):
            self.enter(node)
        return node

    def visit_AsyncFunctionDef(self, node: gast.AsyncFunctionDef) -> Any:
        """What runs at the definition only."""
        return self.visit_FunctionDef(node)

    def enter(self, node: gast.FunctionDef) -> None:
        """Visit the body of a function; passes that follow scopes override this."""
        node.body = self.body(node.body)

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        """What runs at the definition, then the body."""
        self.visit_arguments(node.args)
        if not is_plain(node):
            self.enter_lambda(node)
        return node

    def enter_lambda(self, node: gast.Lambda) -> None:
        """Visit the body of a lambda."""
        node.body = self.visit(node.body)

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        """Only the bodies of its methods."""
        for statement in node.body:
            if isinstance(statement, gast.FunctionDef) and not is_plain(statement):
                self.enter(statement)
        return node

    def visit_AnnAssign(self, node: gast.AnnAssign) -> Any:
        """Target and value: annotations are not evaluated in functions."""
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def visit_match_case(self, node: gast.match_case) -> Any:
        """Guard and body: patterns are Python's."""
        node.guard = node.guard and self.visit(node.guard)
        node.body = self.body(node.body)
        return node
