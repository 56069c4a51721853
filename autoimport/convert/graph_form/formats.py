"""f-strings and `%` -> operators, since a formatted symbolic value must stay unformatted until it is known.

>>> show(formats, '''
... def f(x):
...     return f"{x!r:>8} of {x}", "%d" % x
... ''')
def f(x):
    return (ops.fstring(ops.format_(x, 'r', '>8'), ' of ', ops.format_(x)), ops.mod('%d', x))
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import constant, op, place
from autoimport.convert.graph_form.walk import Pass


class _Formats(Pass):
    def visit_JoinedStr(self, node: gast.JoinedStr) -> Any:
        """Fields are formatted one after the other, as Python does it, and joined by an operator."""
        self.generic_visit(node)
        if all(isinstance(part, gast.Constant) for part in node.values):
            return place(constant("".join(part.value for part in node.values)), node)
        return place(op("fstring", *node.values), node)

    def visit_FormattedValue(self, node: gast.FormattedValue) -> Any:
        self.generic_visit(node)
        args = [node.value]
        if node.conversion >= 0 or node.format_spec is not None:
            args.append(constant(None if node.conversion < 0 else chr(node.conversion)))
        if node.format_spec is not None:
            args.append(node.format_spec)
        return place(op("format_", *args), node)

    def visit_BinOp(self, node: gast.BinOp) -> Any:
        self.generic_visit(node)
        return place(op("mod", node.left, node.right), node) if isinstance(node.op, gast.Mod) else node


def formats(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the formatting in `fn` and everything nested in it."""
    _Formats().enter(fn)
    return fn
