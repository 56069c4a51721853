"""The walk that every pass shares: a tree in, the same tree with some constructs replaced out.

A pass goes over one function with everything nested in it. It leaves alone what no form may touch: generators and
coroutines (marked `plain`), annotations, and of nested classes everything but the bodies of their methods, since
generated lambdas cannot see the names of a class body.
"""

from __future__ import annotations

from typing import Any

import gast

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


LEAVES = frozenset({gast.Constant, gast.Load, gast.Store, gast.Del, gast.Pass})


def is_plain(node: gast.AST) -> bool:
    """Whether a nested function stays as the person wrote it."""
    return isinstance(node, gast.AsyncFunctionDef) or getattr(node, "plain", False)


class Pass(gast.NodeTransformer):  # type: ignore[misc]
    """A transformer over the convertible parts of a function."""

    def visit(self, node: gast.AST) -> Any:
        """Visit a node; leaves that no pass rewrites are not worth a look-up."""
        if type(node) in LEAVES:
            return node
        visitor = getattr(self, "visit_" + type(node).__name__, None)
        return self.generic_visit(node) if visitor is None else visitor(node)

    def visit_Name(self, node: gast.Name) -> Any:
        """A name has no parts to visit."""
        return node

    def body(self, statements: list[gast.AST]) -> list[gast.AST]:
        """Visit a block; a visitor may return None, a statement or several."""
        result: list[gast.AST] = []
        for statement in statements:
            new = self.visit(statement)
            if isinstance(new, list):
                result.extend(new)
            elif new is not None:
                result.append(new)
        return result

    def visit_arguments(self, node: gast.arguments) -> gast.arguments:
        """Defaults only: parameters and their annotations are not expressions of the form."""
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [default and self.visit(default) for default in node.kw_defaults]
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        """What runs at the definition, then the body."""
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
