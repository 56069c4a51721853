"""A walk that knows where it is: each name it meets is local to the form, free in the function, or global."""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.context import Context, mangle
from autoimport.convert.graph_form.walk import Pass, is_plain


class Scoped(Pass):
    """A pass that resolves names, and knows the class whose private names it sees."""

    def __init__(self, context: Context, known: dict[gast.AST, naming.Scope] | None = None) -> None:
        self.context = context
        self.around: list[gast.AST] = []
        self.known = {} if known is None else known  # scopes, worked out when a name is first looked for in them
        self.class_name = context.class_name

    def resolve(self, name: str) -> str:
        """Return "local", "free" or "global"."""
        for node in reversed(self.around):
            scope = self.scope(node)
            if name in scope.bound:
                return "local"
            if name in scope.globals:
                return "global"
        return "free" if name in self.context.free else "global"

    def scope(self, node: gast.AST) -> naming.Scope:
        """The scope that a node opens."""
        scope = self.known.get(node)
        if scope is None:
            scope = self.known[node] = naming.scope_of(node)
        return scope

    def pin(self) -> None:
        """Work out the innermost scope now: what is taken apart next may bind names in it."""
        self.scope(self.around[-1])

    def mangled(self, name: str) -> str:
        """`name` as the compiler spells it here."""
        return mangle(name, self.class_name)

    def enter(self, node: gast.FunctionDef) -> None:
        self.around.append(node)
        node.body = self.body(node.body)
        self.around.pop()

    def enter_lambda(self, node: gast.Lambda) -> None:
        if getattr(node, "binds_nothing", False):
            node.body = self.visit(node.body)
            return
        self.around.append(node)
        node.body = self.visit(node.body)
        self.around.pop()

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        outer, self.class_name = self.class_name, node.name
        type_names = (parameter.name for parameter in getattr(node, "type_params", None) or ())
        self.known[node] = naming.Scope(frozenset({"__class__", *type_names}), frozenset(), frozenset())
        self.around.append(node)
        for statement in node.body:
            if isinstance(statement, gast.FunctionDef) and not is_plain(statement):
                self.enter(statement)
        self.around.pop()
        self.class_name = outer
        return node

    def comprehension(self, node: Any) -> Any:
        """The first iterable belongs to the scope around, everything else to the comprehension's own."""
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        targets = {
            name
            for generator in node.generators
            for part in naming.walk_scope([generator.target])
            for name in naming.bound_by(part)
        }
        self.known[node] = naming.Scope(frozenset(targets), frozenset(), frozenset())
        self.around.append(node)
        for generator in node.generators:
            if generator is not first:
                generator.iter = self.visit(generator.iter)
            generator.target = self.visit(generator.target)
            generator.ifs = [self.visit(condition) for condition in generator.ifs]
        if isinstance(node, gast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.around.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension
