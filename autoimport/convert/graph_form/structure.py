"""The shape of every function in a form: jumps lowered, branches and loops outlined, first values given.

In: a function; nested functions are done after the one around them, which decides about the names that they share.
Out: a function whose jumps are gone, whose `if`, `while` and `for` know their state variables, and whose doubtful
names start as Undefined.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.breaks import flagged_breaks
from autoimport.convert.graph_form.build import after_docstring, place, undefined
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.continues import no_continue
from autoimport.convert.graph_form.flow import deleted_names, outline
from autoimport.convert.graph_form.loop_else import no_loop_else
from autoimport.convert.graph_form.matches import matches
from autoimport.convert.graph_form.normalize import normalize
from autoimport.convert.graph_form.returns import single_return
from autoimport.convert.graph_form.walk import is_plain
from autoimport.convert.graph_form.walrus import no_lazy_walrus
from autoimport.convert.graph_form.withs import plain_with


def structure(fn: gast.FunctionDef, fresh: naming.Fresh, context: Context) -> gast.FunctionDef:
    """Give a function and everything nested in it its shape."""
    in_class = "__class__" in context.free
    _structure(fn, fresh, context.first_parameter if in_class else None, in_class, frozenset(), frozenset(), context)
    return fn


def _structure(
    fn: gast.FunctionDef,
    fresh: naming.Fresh,
    super_object: str | None,
    in_class: bool,
    outer: frozenset[str],
    doubtful: frozenset[str],
    context: Context,
) -> None:
    """Shape `fn`; `outer` are the names of the functions around it, `doubtful` those that may hold an Undefined."""
    written = naming.scope_of(fn)
    normalize(fn, fresh, super_object)
    matches(fn, fresh)
    no_lazy_walrus(fn, fresh)
    present = {type(node) for node in gast.walk(fn)}
    if gast.With in present:
        plain_with(fn, context, fresh)
    if present & {gast.For, gast.While}:
        no_loop_else(fn, fresh)
    single_return(fn, fresh)
    if present & {gast.For, gast.While}:
        flagged_breaks(fn, fresh)
        no_continue(fn, fresh)
    now = naming.scope_of(fn)
    scope = naming.Scope(written.bound | now.bound, written.globals, written.nonlocals)
    inits = outline(fn, scope, outer, doubtful)
    hollow = (frozenset(inits) | deleted_names(fn.body) | naming.captured_names(fn)[2]) & scope.bound
    nested = list(nested_scopes(fn))
    for node in nested:
        for read in naming.free_loads(node, set(hollow)):
            read.unbound = "inner"
    start = after_docstring(fn.body)
    while start < len(fn.body) and isinstance(fn.body[start], (gast.Global, gast.Nonlocal)):
        start += 1
    fn.body[start:start] = [place(undefined(name), fn) for name in inits]
    outer = (outer - scope.globals) | scope.bound
    doubtful = (doubtful - scope.bound) | hollow
    for node in nested:
        for inner, is_method in functions_in(node):
            first = naming.parameters(inner.args)[:1] if inner.args.args or inner.args.posonlyargs else []
            knows_class = in_class or is_method
            owner = first[0] if first and knows_class else None
            _structure(inner, fresh, owner, knows_class, outer, doubtful, context)


def nested_scopes(fn: gast.FunctionDef) -> Iterator[gast.AST]:
    """Functions, lambdas, classes and generator expressions directly in `fn`."""
    late = (*naming.FUNCTIONS, gast.ClassDef, gast.GeneratorExp)
    return (node for node in naming.nested_scopes(fn.body) if isinstance(node, late))


def functions_in(node: gast.AST) -> Iterator[tuple[gast.FunctionDef, bool]]:
    """The functions to shape for one nested scope, and whether they are methods of a class in it."""
    if isinstance(node, gast.FunctionDef):
        if not is_plain(node):
            yield node, False
    elif isinstance(node, gast.ClassDef):
        for statement in node.body:
            if isinstance(statement, gast.FunctionDef) and not is_plain(statement):
                yield statement, True
