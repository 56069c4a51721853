"""`break` -> a flag that stops the loop.

In: loops with `break`, without `else`.
Out: loops that look at a flag before each iteration (`while not did_break and ...`; a `for` keeps the flags in its
`stop` list), whose breaks have become `continue`.

>>> show(flagged_breaks, '''
... def f(x):
...     while x > 0:
...         if x == 3:
...             break
...         x -= 1
... ''')
def f(x):
    did_break = False
    while not did_break and x > 0:
        if x == 3:
            did_break = True
            continue
        x -= 1
"""

from __future__ import annotations

import gast

from autoimport.convert.graph_form.build import assign, constant, place
from autoimport.convert.graph_form.jumps import LOOPS, NESTED, jumps_in, loop_head, none_of
from autoimport.convert.names import Fresh


def flagged_breaks(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Lower the breaks in `fn` (not in functions nested in it)."""
    fn.body = _Breaks(fresh).block(fn.body, "")
    return fn


class _Breaks:
    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh

    def block(self, body: list[gast.AST], flag: str) -> list[gast.AST]:
        """Rewrite a block inside the loop whose own breaks set `flag`."""
        result: list[gast.AST] = []
        for node in body:
            if isinstance(node, gast.Break):
                result += self.jump(node, flag)
            elif isinstance(node, LOOPS):
                result += self.loop(node)
            else:
                if isinstance(node, gast.stmt) and not isinstance(node, NESTED):
                    self.nested(node, flag)
                result.append(node)
        return result

    def nested(self, node: gast.AST, flag: str) -> None:
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field), flag))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.block(part.body, flag)

    def jump(self, node: gast.Break, flag: str) -> list[gast.AST]:
        jump = place(gast.Continue(), node)
        jump.flag, jump.is_set, jump.late = getattr(node, "flag", flag), True, getattr(node, "late", False)
        if hasattr(node, "flag"):
            return [jump]
        return [place(assign(flag, constant(True)), node), jump]

    def loop(self, node: gast.AST) -> list[gast.AST]:
        breaks = list(jumps_in(node.body, gast.Break))
        own = any(not hasattr(jump, "flag") for jump in breaks)
        flag = self.fresh("did_break") if own else ""
        flags = list(dict.fromkeys(getattr(jump, "flag", flag) for jump in breaks))
        node.body = self.block(node.body, flag)
        if flags and isinstance(node, gast.While):
            endless = isinstance(node.test, gast.Constant) and bool(node.test.value)
            test = none_of(flags) if endless else gast.BoolOp(gast.And(), [none_of(flags), node.test])
            node.test = place(test, node.test)
        elif flags:
            node.stop = flags
        return [place(assign(flag, constant(False)), loop_head(node)), node] if own else [node]
