"""`assert` and `raise` -> operators that can put the check into a graph.

>>> show(raises, '''
... def f(x):
...     assert x > 0, x
...     raise ValueError(x) from None
... ''')
def f(x):
    ops.assert_(x > 0, lambda: x)
    ops.raise_(lambda: ValueError(x), lambda: None)
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import constant, if_, lambda_, load, op, place
from autoimport.convert.graph_form.walk import Pass


class _Raises(Pass):
    def __init__(self, guarded: bool) -> None:
        self.guarded = guarded

    def visit_Assert(self, node: gast.Assert) -> Any:
        self.generic_visit(node)
        message = constant(None) if node.msg is None else lambda_(node.msg)
        check = gast.Expr(op("assert_", node.test, message))
        # The compiler drops the test under `python -O`, as it drops the statement that it stands for.
        return place(if_(load("__debug__"), [check]) if self.guarded else check, node)

    def visit_Raise(self, node: gast.Raise) -> Any:
        self.generic_visit(node)
        if node.exc is None:
            return node
        cause = constant(None) if node.cause is None else lambda_(node.cause)
        return place(gast.Expr(op("raise_", lambda_(node.exc), cause)), node)


def raises(fn: gast.FunctionDef, guarded: bool = False) -> gast.FunctionDef:
    """Rewrite assertions and raises in `fn` and everything nested; `guarded` assertions obey `-O`."""
    _Raises(guarded).enter(fn)
    return fn
