"""`continue` -> the rest of the loop body in the other arm, or behind a flag.

In: loops with `continue` (and breaks that have become one).
Out: loops whose bodies run to their end.

>>> show(no_continue, '''
... def f(xs):
...     for x in xs:
...         if x < 0:
...             continue
...         print(x)
... ''')
def f(xs):
    for x in xs:
        if not x < 0:
            print(x)
"""

from __future__ import annotations

import gast

from autoimport.convert.graph_form.build import assign, constant, place
from autoimport.convert.graph_form.jumps import LOOPS, NESTED, Lowering, jumps_in, statements_below
from autoimport.convert.names import Fresh


def no_continue(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Lower the continues in `fn` (not in functions nested in it)."""
    _block(fn.body, fresh)
    return fn


def _block(body: list[gast.AST], fresh: Fresh) -> None:
    for node in body:
        if not isinstance(node, gast.stmt) or isinstance(node, NESTED):
            continue
        if isinstance(node, LOOPS) and any(True for _ in jumps_in(node.body, gast.Continue)):
            _loop(node, fresh)
        _block(statements_below(node), fresh)


def _loop(node: gast.AST, fresh: Fresh) -> None:
    own: list[str] = []

    def flag(jump: gast.AST) -> str:
        if hasattr(jump, "flag"):
            return str(jump.flag)
        if not own:
            own.append(fresh("did_continue"))
        return own[0]

    where = node.body[0]
    body = Lowering(gast.Continue, lambda jump: [], flag).block(node.body, True)
    node.body = [*(place(assign(name, constant(False)), where) for name in own), *body] or [place(gast.Pass(), where)]
