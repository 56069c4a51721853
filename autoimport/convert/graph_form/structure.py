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
from autoimport.convert.graph_form.clauses import own_clauses
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.continues import no_continue
from autoimport.convert.graph_form.flow import deleted_names, outline
from autoimport.convert.graph_form.loop_else import no_loop_else
from autoimport.convert.graph_form.matches import matches
from autoimport.convert.graph_form.normalize import normalize
from autoimport.convert.graph_form.pauses import YIELDS, kept
from autoimport.convert.graph_form.returns import single_return
from autoimport.convert.graph_form.walk import Kinds, is_plain, kinds_in
from autoimport.convert.graph_form.walrus import no_lazy_walrus
from autoimport.convert.graph_form.withs import plain_with

LOOPS = frozenset({gast.For, gast.While})
LATE = (*naming.FUNCTIONS, gast.ClassDef, gast.GeneratorExp)  # may outlive the statement that makes them


def structure(fn: gast.FunctionDef, fresh: naming.Fresh, context: Context, kinds: Kinds | None = None) -> bool:
    """Give a function and everything nested in it its shape; `kinds` are those of its nodes.

    Returns:
      Whether a read in it may find no value, and is marked.
    """
    in_class = "__class__" in context.free
    super_object = context.first_parameter if in_class else None
    kinds = kinds_in(fn) if kinds is None else kinds
    return _structure(fn, fresh, super_object, in_class, frozenset(), frozenset(), context, kinds)


def _structure(
    fn: gast.FunctionDef,
    fresh: naming.Fresh,
    super_object: str | None,
    in_class: bool,
    outer: frozenset[str],
    doubtful: frozenset[str],
    context: Context,
    kinds: Kinds,
) -> bool:
    """Shape `fn`; `outer` are the names of the functions around it, `doubtful` those that may hold an Undefined."""
    if gast.NamedExpr in kinds and gast.comprehension in kinds:
        own_clauses(fn)
    written = naming.scope_of(fn)
    normalize(fn, fresh, super_object, kinds)
    if gast.Match in kinds:
        matches(fn, fresh)
    if kinds & {gast.NamedExpr, gast.Match}:  # whose patterns may have become walruses
        no_lazy_walrus(fn, fresh)
    if gast.With in kinds:
        plain_with(fn, context, fresh)
    if kinds & YIELDS:
        kept(fn, fresh)
    if kinds & LOOPS:
        no_loop_else(fn, fresh)
    single_return(fn, fresh)
    if kinds & LOOPS:
        flagged_breaks(fn, fresh)
        no_continue(fn, fresh)
    now = naming.scope_of(fn)
    scope = naming.Scope(written.bound | now.bound, written.globals, written.nonlocals)
    captured = naming.captured_names(fn, now) if kinds.intersection(LATE) else (set(), set(), set())
    inits, has_marks = outline(fn, scope, outer, doubtful, captured)
    hollow = (frozenset(inits) | deleted_names(fn.body) | captured[2]) & scope.bound
    nested = list(nested_scopes(fn)) if kinds.intersection(LATE) else []
    for node in nested:
        for read in naming.free_loads(node, set(hollow)):
            read.unbound = "free"
    start = after_docstring(fn.body)
    while start < len(fn.body) and isinstance(fn.body[start], (gast.Global, gast.Nonlocal)):
        start += 1
    fn.body[start:start] = [place(undefined(name), fn) for name in inits]
    outer = (outer - scope.globals) | scope.bound
    doubtful = (doubtful - scope.bound) | hollow
    has_marks = has_marks or bool(hollow)
    for node in nested:
        for inner, is_method in functions_in(node):
            first = naming.parameters(inner.args)[:1] if inner.args.args or inner.args.posonlyargs else []
            knows_class = in_class or is_method
            owner = first[0] if first and knows_class else None
            has_marks |= _structure(inner, fresh, owner, knows_class, outer, doubtful, context, kinds)
    return has_marks


def nested_scopes(fn: gast.FunctionDef) -> Iterator[gast.AST]:
    """Functions, lambdas, classes and generator expressions directly in `fn`."""
    return (node for node in naming.nested_scopes(fn.body) if isinstance(node, LATE))


def functions_in(node: gast.AST) -> Iterator[tuple[gast.FunctionDef, bool]]:
    """The functions to shape for one nested scope, and whether they are methods of a class in it."""
    if isinstance(node, gast.FunctionDef):
        if not is_plain(node):
            yield node, False
    elif isinstance(node, gast.ClassDef):
        for statement in node.body:
            if isinstance(statement, gast.FunctionDef) and not is_plain(statement):
                yield statement, True
