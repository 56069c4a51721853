"""f-strings and `%` -> operators, since a formatted symbolic value must stay unformatted until it is known.

>>> show(formats, '''
... def f(x):
...     return f"{x!r:>8}", "%d" % x
... ''')
def f(x):
    return (f"{ops.format_(x, 'r', '>8')}", ops.mod('%d', x))
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import constant, op, place
from autoimport.convert.graph_form.walk import Pass


class _Formats(Pass):
    def visit_FormattedValue(self, node: gast.FormattedValue) -> Any:
        self.generic_visit(node)
        conversion = constant(None if node.conversion < 0 else chr(node.conversion))
        spec = constant("") if node.format_spec is None else _plain(node.format_spec)
        node.value, node.conversion, node.format_spec = op("format_", node.value, conversion, spec), -1, None
        return place(node, node) if node.value is None else _placed(node)

    def visit_BinOp(self, node: gast.BinOp) -> Any:
        self.generic_visit(node)
        return place(op("mod", node.left, node.right), node) if isinstance(node.op, gast.Mod) else node


def _placed(node: gast.FormattedValue) -> gast.FormattedValue:
    node.value = place(node.value, node)
    return node


def _plain(spec: gast.AST) -> gast.AST:
    """A format specification without fields as a plain string."""
    values = getattr(spec, "values", [])
    if len(values) == 1 and isinstance(values[0], gast.Constant):
        return values[0]
    return spec


def formats(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the formatting in `fn` and everything nested in it."""
    _Formats().enter(fn)
    return fn
