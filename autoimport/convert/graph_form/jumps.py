"""A block with jumps to its own end in, a block without out: what `return`, `break` and `continue` have in common.

All three mean "skip the rest". Where an `if` decides alone whether the rest is skipped, the rest moves into its other
arm, which costs nothing. Where that is not enough (the jump leaves a `with`, a `try`, an `if` with two open ends), a
flag remembers the jump, and the rest is guarded by it.

A jump node may carry `flag` (the name that remembers it), `is_set` (the flag is true already) and `late` (it only
continues a jump that began inside an inner loop).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import gast

from autoimport.convert.graph_form.build import assign, constant, header, if_, load, not_, place
from autoimport.convert.graph_form.context import Unconvertible
from autoimport.convert.trees import walk

JUMPS = (gast.Return, gast.Break, gast.Continue)
LOOPS = (gast.For, gast.While)
TRY = (gast.Try, gast.TryStar)
NESTED = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)


class Lowering:
    """Lowers the jumps of one kind in one block.

    Args:
      kind: the node class of the jump.
      replace: a jump -> the statements that do what it does besides jumping (`result = value`).
      flag: a jump -> the name of its flag; called only where a flag is needed.
      finish: the statements at an end that is reached without a jump (`result = None`).
    """

    def __init__(
        self,
        kind: type[gast.AST],
        replace: Callable[[gast.AST], list[gast.AST]],
        flag: Callable[[gast.AST], str],
        finish: Callable[[], list[gast.AST]] = list,
    ) -> None:
        self.kind = kind
        self.replace = replace
        self.flag = flag
        self.finish = finish

    def block(self, body: list[gast.AST], tail: bool) -> list[gast.AST]:
        """Lower a block; in `tail` position falling off its end is already where the jumps lead."""
        result: list[gast.AST] = []
        for index, node in enumerate(body):
            rest = body[index + 1 :]
            if isinstance(node, self.kind):
                result += self.replace(node)
                if not tail and not getattr(node, "is_set", False):
                    result.append(place(assign(self.flag(node), constant(True)), node))
                return result
            if isinstance(node, JUMPS):
                return [*result, node]
            jumps = list(jumps_in([node], self.kind))
            if not jumps:
                result.append(node)
                continue
            if isinstance(node, gast.If) and (not rest or ends(node.body) or ends(node.orelse)):
                result.append(self.either(node, rest, tail))
                return result
            self.inside(node)
            result.append(node)
            guarded = self.block(rest, tail)
            if guarded:
                where = rest[0] if rest else node
                result.append(place(if_(self.none_of(jumps), guarded), where))
            return result
        if tail and not (body and ends(body)):
            result += [place(node, body[-1]) if body else node for node in self.finish()]
        return result

    def either(self, node: gast.If, rest: list[gast.AST], tail: bool) -> gast.If:
        """An `if` with the rest of its block moved into the arms that go on."""
        body = node.body if ends(node.body) else [*node.body, *rest]
        orelse = node.orelse if ends(node.orelse) else [*node.orelse, *rest]
        node.body = [place(new, node) for new in self.block(body, tail)]
        node.orelse = [place(new, node) for new in self.block(orelse, tail)]
        if not node.body and node.orelse:
            node.test, node.body, node.orelse = place(_opposite(node.test), node.test), node.orelse, []
        node.body = node.body or [place(gast.Pass(), node)]
        return node

    def none_of(self, jumps: Iterable[gast.AST]) -> gast.AST:
        """`not flag`, over all flags of some jumps."""
        return none_of(dict.fromkeys(self.flag(jump) for jump in jumps))

    def inside(self, node: gast.AST) -> None:
        """Lower the jumps inside a statement after which the rest is guarded."""
        if isinstance(node, gast.If):
            node.body = self.block(node.body, False) or [place(gast.Pass(), node)]
            node.orelse = self.block(node.orelse, False)
        elif isinstance(node, gast.With):
            self.in_with(node)
        elif isinstance(node, TRY):
            self.in_try(node)
        elif isinstance(node, gast.Match):
            for case in node.cases:
                case.body = self.block(case.body, False)
        else:
            raise AssertionError(f"a jump out of {type(node).__name__} must have become a break of it")

    def in_with(self, node: gast.With) -> None:
        """A context manager may swallow what a nested exit raises: then the jump did not happen."""
        crossing = [jump for jump in jumps_in(node.body, self.kind) if crosses(node.body, jump)]
        if len(node.items) > 1:
            crossing = list(jumps_in(node.body, self.kind))
        flags = dict.fromkeys(self.flag(jump) for jump in crossing)
        node.body = self.block(node.body, False)
        if flags and len(node.items) > 1:
            inner = place(gast.With(node.items[1:], node.body, None), node)
            node.items, node.body = node.items[:1], [inner]
        if flags:
            handler = place(gast.ExceptHandler(None, None, [*lower_flags(flags), gast.Raise(None, None)]), node)
            node.body = [place(gast.Try(node.body, [handler], [], []), node)]

    def in_try(self, node: gast.AST) -> None:
        """Jumps skip the `else` clause; a caught exception takes back a jump that was on its way."""
        for jump in jumps_in(node.finalbody, self.kind):
            raise Unconvertible("a jump out of a finally clause", jump.lineno)
        jumps = list(jumps_in(node.body, self.kind))
        crossing = [jump for jump in jumps if crosses(node.body, jump)]
        flags = dict.fromkeys(self.flag(jump) for jump in crossing)
        node.body = self.block(node.body, False)
        orelse = self.block(node.orelse, False)
        if orelse and jumps:
            orelse = [place(if_(self.none_of(jumps), orelse), orelse[0])]
        node.orelse = orelse
        for handler in node.handlers:
            handler.body = [*(place(new, handler) for new in lower_flags(flags)), *self.block(handler.body, False)]


def _opposite(test: gast.AST) -> gast.AST:
    """What is true where `test` is not: `x` for `not x`."""
    is_negated = isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not)
    return test.operand if is_negated else not_(test)


def lower_flags(flags: Iterable[str]) -> list[gast.AST]:
    """`flag = False` for each flag."""
    return [assign(flag, constant(False)) for flag in flags]


def none_of(flags: Iterable[str]) -> gast.AST:
    """`not a`, or `not (a or b)`."""
    loads: list[gast.AST] = [load(flag) for flag in flags]
    return not_(loads[0] if len(loads) == 1 else gast.BoolOp(gast.Or(), loads))


def jumps_in(body: Iterable[gast.AST], kind: type[gast.AST]) -> Iterable[gast.AST]:
    """The jumps of a kind that leave a block: a loop keeps its own breaks and continues."""
    for node in body:
        if isinstance(node, kind):
            yield node
        elif isinstance(node, LOOPS):
            if kind is gast.Return:
                yield from jumps_in(node.body, kind)
            yield from jumps_in(node.orelse, kind)
        elif isinstance(node, gast.stmt) and not isinstance(node, NESTED):
            yield from jumps_in(statements_below(node), kind)


def loop_head(node: gast.AST) -> gast.AST:
    """The position of the first line of a loop."""
    return header(node, node.test if isinstance(node, gast.While) else node.iter)


def statements_below(node: gast.AST) -> list[gast.AST]:
    """The statements directly inside a compound statement."""
    found: list[gast.AST] = []
    for field in ("body", "orelse", "finalbody"):
        found += getattr(node, field, None) or []
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        found += part.body
    return found


def ends(body: list[gast.AST]) -> bool:
    """Whether control never falls off the end of a block."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (*JUMPS, gast.Raise)):
        return True
    if isinstance(last, gast.If):
        return ends(last.body) and ends(last.orelse)
    return any(isinstance(node, JUMPS) for node in body)


def crosses(body: list[gast.AST], jump: gast.AST) -> bool:
    """Whether a jump leaves a `with` or a `finally` inside `body`, whose exit may raise when it is on its way."""
    if getattr(jump, "late", False):
        return True
    for node in body:
        exits = isinstance(node, gast.With) or (isinstance(node, TRY) and node.finalbody)
        if exits and any(inner is jump for inner in walk(node)):
            return True
        if not isinstance(node, NESTED) and isinstance(node, gast.stmt) and crosses(statements_below(node), jump):
            return True
    return False
