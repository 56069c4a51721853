"""Reads that may find no value -> checked reads.

In: a function whose names start as Undefined where they must, its doubtful reads marked by `flow.py`.
Out: the marked reads go through `ops.defined`, which raises what Python raises: UnboundLocalError, or NameError for a
"free" name, which belongs to the function around the one that reads it.
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import constant, op, place, undefined
from autoimport.convert.graph_form.context import Context
from autoimport.convert.graph_form.scoped import Scoped
from autoimport.convert.graph_form.walk import Walker


class _Reads(Walker):
    """Goes everywhere, class bodies and generators too: a marked read is marked for what stands in the name."""

    def visit_Name(self, node: gast.Name) -> Any:
        kind = getattr(node, "unbound", None)
        if kind is None or not isinstance(node.ctx, gast.Load):
            return node
        node.unbound = None
        free = [gast.keyword("free", constant(True))] if kind == "free" else []
        return place(op("defined", node, constant(node.id), keywords=free), node)


def checked_reads(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the marked reads in `fn` and everything nested in it."""
    fn.body = _Reads().body(fn.body)
    return fn


class _Deletes(Scoped):
    """`del x` of a local -> a read (checked where doubtful) and Undefined; other targets one a statement."""

    def visit_Delete(self, node: gast.Delete) -> Any:
        result: list[gast.AST] = []
        stack = list(reversed(node.targets))
        while stack:
            target = stack.pop()
            if isinstance(target, (gast.Tuple, gast.List)):
                stack.extend(reversed(target.elts))
            elif isinstance(target, gast.Name) and self.resolve(target.id) == "local":
                kind = getattr(target, "unbound", None)
                if kind is not None:
                    read = place(gast.Name(target.id, gast.Load(), None, None), target)
                    read.unbound = kind
                    result.append(place(gast.Expr(read), node))
                result.append(place(undefined(target.id), node))
            else:
                result.append(place(gast.Delete([target]), node))
        return result or place(gast.Pass(), node)


def deletes(fn: gast.FunctionDef, context: Context) -> gast.FunctionDef:
    """Rewrite the `del` statements of `fn` and of everything nested in it.

    >>> show(deletes, '''
    ... def f(x, d):
    ...     del x, d[0]
    ... ''')
    def f(x, d):
        x = ops.Undefined('x')
        del d[0]
    """
    _Deletes(context).enter(fn)
    return fn
