"""The `else` of a loop -> statements behind the loop, guarded by the flag of its breaks.

In: loops with `else`.
Out: loops without; a `return` inside them still skips what stands behind.

>>> show(no_loop_else, '''
... def f(xs):
...     for x in xs:
...         if x == 3:
...             break
...     else:
...         print("end")
... ''')
def f(xs):
    did_break = False
    for x in xs:
        if x == 3:
            did_break = True
            break
    if not did_break:
        print('end')
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import assign, constant, if_, place
from autoimport.convert.graph_form.jumps import LOOPS, NESTED, jumps_in, loop_head, none_of
from autoimport.convert.graph_form.walk import Pass
from autoimport.convert.names import Fresh


class _LoopElse(Pass):
    """Works on one function; a loop comes out as several statements."""

    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh

    def nested(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_ClassDef = nested

    def loop(self, node: Any) -> Any:
        node.body, orelse = self.body(node.body), self.body(node.orelse)
        node.orelse = []
        breaks = [jump for jump in jumps_in(node.body, gast.Break) if not hasattr(jump, "flag")]
        if not orelse or not breaks:
            return [node, *orelse]
        flag = self.fresh("did_break")
        for jump in breaks:
            jump.flag, jump.is_set = flag, True
        _set_flags(node.body, flag)
        return [
            place(assign(flag, constant(False)), loop_head(node)),
            node,
            place(if_(none_of([flag]), orelse), orelse[0]),
        ]

    visit_For = visit_While = loop


def _set_flags(body: list[gast.AST], flag: str) -> None:
    """Set `flag` in front of the breaks that carry it."""
    for index, node in reversed(list(enumerate(body))):
        if isinstance(node, gast.Break):
            if node.flag == flag:
                body.insert(index, place(assign(flag, constant(True)), node))
        elif isinstance(node, gast.stmt) and not isinstance(node, (*NESTED, *LOOPS)):
            for field in ("body", "orelse", "finalbody"):
                _set_flags(getattr(node, field, None) or [], flag)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                _set_flags(part.body, flag)


def no_loop_else(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Move the `else` clauses of the loops in `fn` (not in functions nested in it) behind them."""
    fn.body = _LoopElse(fresh).body(fn.body)
    return fn
