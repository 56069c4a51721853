"""Comprehensions, subjects and conditions of `match` -> the same, over operators that know symbolic values.

>>> show(comprehensions, '''
... def f(xs):
...     return [x for x in xs if x > 0]
... ''')
def f(xs):
    return [x for x in ops.iterate(xs) if ops.truth(x > 0)]
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import op, place
from autoimport.convert.graph_form.walk import Pass


class _Comprehensions(Pass):
    def visit_comprehension(self, node: gast.comprehension) -> Any:
        self.generic_visit(node)
        node.iter = place(op("iterate", node.iter), node.iter)
        node.ifs = [place(op("truth", condition), condition) for condition in node.ifs]
        return node

    def visit_Match(self, node: gast.Match) -> Any:
        self.generic_visit(node)
        node.subject = place(op("subject", node.subject), node.subject)
        return node

    def visit_match_case(self, node: gast.match_case) -> Any:
        super().visit_match_case(node)
        if node.guard is not None:
            node.guard = place(op("truth", node.guard), node.guard)
        return node


def comprehensions(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite comprehensions and guards in `fn` and everything nested in it."""
    _Comprehensions().enter(fn)
    return fn
