"""Early returns -> a result, and a flag where it must be.

In: a function body with `return` inside branches, loops, `with` and `try`.
Out: a body that ends in its only `return`. Returns that stand in no branch and no loop stay as they are.

>>> show(single_return, '''
... def f(x):
...     if x > 0:
...         return x
...     return -x
... ''')
def f(x):
    if x > 0:
        result = x
    else:
        result = -x
    return result
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autoimport.convert.graph_form.build import after_docstring, assign, constant, if_, load, place
from autoimport.convert.graph_form.jumps import (
    LOOPS,
    NESTED,
    Lowering,
    jumps_in,
    loop_head,
    lower_flags,
    statements_below,
)
from autoimport.convert.names import Fresh


def single_return(fn: gast.FunctionDef, fresh: Fresh) -> gast.FunctionDef:
    """Lower the returns of `fn` (not of functions nested in it)."""
    if not _return_in_branch(fn.body, False):
        return fn
    returns = list(jumps_in(fn.body, gast.Return))
    valued = any(node.value is not None for node in returns)
    result = fresh("result") if valued else ""
    flags: list[str] = []

    def flag(_: gast.AST) -> str:
        if not flags:
            flags.append(fresh("returned"))
        return flags[0]

    def replace(node: gast.AST) -> list[gast.AST]:
        if getattr(node, "is_set", False):
            return []
        if not valued:
            return [] if node.value is None else [place(gast.Expr(node.value), node)]
        return [place(assign(result, node.value or constant(None)), node)]

    def finish() -> list[gast.AST]:
        return [assign(result, constant(None))] if valued else []

    fn.body = _Loops(replace, flag).block(fn.body, False)
    body = Lowering(gast.Return, replace, flag, finish).block(fn.body, True)
    start = after_docstring(body)
    head = [place(node, fn) for node in lower_flags(flags)]
    last = [place(gast.Return(load(result)), returns[-1])] if valued else []
    fn.body = [*body[:start], *head, *body[start:], *last]
    return fn


def _return_in_branch(body: list[gast.AST], inside: bool) -> bool:
    for node in body:
        if isinstance(node, gast.Return):
            if inside:
                return True
        elif isinstance(node, gast.stmt) and not isinstance(node, NESTED):
            # A match stays Python, but a return from one of its arms is still only one of several ends.
            deeper = inside or isinstance(node, (gast.If, *LOOPS))
            if _return_in_branch(statements_below(node), deeper):
                return True
    return False


class _Loops:
    """Turns a return inside a loop into a break that remembers the flag, and after the loop into a jump again."""

    def __init__(self, replace: Callable[[gast.AST], list[gast.AST]], flag: Callable[[gast.AST], str]) -> None:
        self.replace = replace
        self.flag = flag

    def block(self, body: list[gast.AST], in_loop: bool) -> list[gast.AST]:
        result: list[gast.AST] = []
        for node in body:
            if isinstance(node, gast.Return) and in_loop:
                flag = self.flag(node)
                result += [*self.replace(node), place(assign(flag, constant(True)), node)]
                result.append(_jump(gast.Break(), flag, node))
            elif isinstance(node, LOOPS):
                result += self.loop(node, in_loop)
            else:
                result.append(self.nested(node, in_loop))
        return result

    def loop(self, node: gast.AST, in_loop: bool) -> list[gast.AST]:
        leaves = any(True for _ in jumps_in(node.body, gast.Return))
        # After `while True` without a break the return is certain, and no end is left where the result is None.
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
        endless = endless and not any(True for _ in jumps_in(node.body, gast.Break))
        node.body = self.block(node.body, True)
        if not leaves:
            return [node]
        flag = self.flag(node)
        onward = _jump(gast.Break() if in_loop else gast.Return(None), flag, node)
        onward.late = True
        return [node, place(onward if endless else if_(load(flag), [onward]), loop_head(node))]

    def nested(self, node: gast.AST, in_loop: bool) -> gast.AST:
        if isinstance(node, gast.stmt) and not isinstance(node, NESTED):
            for field in ("body", "orelse", "finalbody"):
                if getattr(node, field, None):
                    setattr(node, field, self.block(getattr(node, field), in_loop))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                part.body = self.block(part.body, in_loop)
        return node


def _jump(node: gast.AST, flag: str, like: gast.AST) -> gast.AST:
    node.flag, node.is_set = flag, True
    return place(node, like)
