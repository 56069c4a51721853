"""Definite assignment and liveness: a function without jumps in, its statements annotated out.

Python is structured: one forward walk tells which names surely have a value, one backward walk which values are read
later. The walks leave on every `if`, `while` and `for` what its generated functions need (`Outline`), and a mark on
every read that may find no value.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.trees import children, walk

Known = frozenset[str] | None  # names that have a value for sure; None where control never comes
COMPOUND = (gast.If, gast.While, gast.For)
TRY = (gast.Try, gast.TryStar)


@dataclass
class Outline:
    """What the functions made from one compound statement need to know.

    Attributes:
      known: names with a value in front of the statement.
      names: the state variables, those live afterwards first.
      n_out: how many are live afterwards.
      nonlocals, globals: per block, names that it assigns and that belong to a scope around it.
      inits: per block, names that must start as Undefined in it.
    """

    known: Known = frozenset()
    names: tuple[str, ...] = ()
    n_out: int = 0
    nonlocals: dict[str, list[str]] = field(default_factory=dict)
    globals: dict[str, list[str]] = field(default_factory=dict)
    inits: dict[str, list[str]] = field(default_factory=dict)


class Flow:
    """The two walks over one function.

    Args:
      fn: the function; its jumps are lowered.
      scope: its scope as the person wrote it, plus generated names.
      outer: names that belong to enclosing functions of the same form.
      doubtful: those of them that may hold an Undefined.
      captured: names that something nested in it reads, assigns and deletes later.
    """

    def __init__(
        self,
        fn: gast.FunctionDef,
        scope: naming.Scope,
        outer: frozenset[str],
        doubtful: frozenset[str],
        captured: naming.Captured,
    ) -> None:
        self.scope = scope
        read, assigned, deleted = captured
        shared = scope.nonlocals & outer
        self.tracked = scope.bound | shared
        self.captured = frozenset(read | assigned) | shared
        self.assigned_elsewhere = frozenset(assigned)
        self.deleted_elsewhere = frozenset(deleted)
        self.unbound: set[str] = set()
        self.compounds: list[gast.AST] = []
        start = frozenset(naming.parameters(fn.args)) | (shared - doubtful)
        self.forward(fn.body, start - self.deleted_elsewhere)
        if self.compounds:
            self.backward(fn.body, self.captured, frozenset())

    # -- forward: which names have a value ---------------------------------------------------------------------------

    def forward(self, body: Iterable[gast.AST], known: Known) -> Known:
        """Walk a block; return what is known after it."""
        for statement in body:
            known = self.forward_statement(statement, known)
        return known

    def evaluate(self, parts: Any, known: Known) -> Known:
        """Follow the events of expressions and targets; mark reads that may find nothing."""
        if known is None:
            return None
        now = set(known)
        skipped: set[str] = set()  # assigned in an operand that may be skipped
        for event in naming.events(parts):
            if event.kind == "store":
                (now if event.certain else skipped).add(event.name)
                continue
            if event.name in self.tracked and event.name not in now:
                self.unbound.add(event.name)
                free = event.name not in self.scope.bound or (event.inner and sys.version_info < (3, 12))
                event.node.unbound = "free" if free else "own"
            if event.kind == "del":
                now.discard(event.name)
        return frozenset(now) - self.deleted_elsewhere

    def forward_statement(self, node: gast.AST, known: Known) -> Known:
        """What is known after one statement."""
        method = getattr(self, f"forward_{type(node).__name__}", None)
        if method is not None:
            result: Known = method(node, known)
            return result
        if isinstance(node, naming.DEFINITIONS):
            parts = naming.class_parts(node) if isinstance(node, gast.ClassDef) else naming.definition_parts(node)
            return _with(self.evaluate(parts, known), [node.name])
        if isinstance(node, (gast.Import, gast.ImportFrom)):
            return _with(known, naming.bound_by(node))
        return self.evaluate(statement_parts(node), known)

    def begin(self, node: gast.AST, known: Known) -> None:
        """Start the outline of a compound statement."""
        node.outline = Outline(known)
        self.compounds.append(node)

    def forward_Return(self, node: gast.AST, known: Known) -> Known:
        self.evaluate(statement_parts(node), known)
        return None

    forward_Raise = forward_KeptReturn = forward_KeptJump = forward_Return

    def forward_If(self, node: gast.If, known: Known) -> Known:
        known = self.evaluate(node.test, known)
        self.begin(node, known)
        return _join(self.forward(node.body, known), self.forward(node.orelse, known))

    def forward_While(self, node: gast.While, known: Known) -> Known:
        known = _without(known, deleted_names(node.body))
        self.begin(node, known)
        known = self.evaluate(node.test, known)
        self.forward(node.body, known)
        return known

    def forward_For(self, node: gast.For, known: Known) -> Known:
        known = _without(self.evaluate(node.iter, known), deleted_names(node.body))
        self.begin(node, known)
        known = self.evaluate(list(node.options.values()), known)
        self.forward(node.body, self.evaluate(node.target, known))
        return known

    def forward_KeptIf(self, node: gast.AST, known: Known) -> Known:
        known = self.evaluate(node.test, known)
        return _join(self.forward(node.body, known), self.forward(node.orelse, known))

    def forward_KeptWhile(self, node: gast.AST, known: Known) -> Known:
        known = self.evaluate(node.test, _without(known, deleted_names(node.body)))
        self.forward(node.body, known)
        self.forward(node.orelse, known)
        return known

    def forward_KeptFor(self, node: gast.AST, known: Known) -> Known:
        known = _without(self.evaluate(node.iter, known), deleted_names(node.body))
        self.forward(node.body, self.evaluate(node.target, known))
        self.forward(node.orelse, known)
        return known

    def forward_With(self, node: gast.With, known: Known) -> Known:
        # __exit__ may swallow an exception, so nothing that happens inside is sure afterwards, but for a first name.
        after: Known = None
        for index, item in enumerate(node.items):
            known = self.evaluate([item.context_expr, item.optional_vars], known)
            if index == 0:
                after = known
        self.forward(node.body, known)
        return _without(after, deleted_names(node.body))

    def forward_Try(self, node: gast.AST, known: Known) -> Known:
        ended = [self.forward(node.orelse, self.forward(node.body, known))]
        start = _without(known, deleted_names(node.body))
        for handler in node.handlers:
            inside = self.evaluate([handler.type, handler.name], start)
            after = self.forward(handler.body, inside)
            ended.append(_without(after, {handler.name.id}) if handler.name is not None else after)
        joined = ended[0]
        for other in ended[1:]:
            joined = _join(joined, other)
        if not node.finalbody:
            return joined
        start = _without(known, deleted_names([node]))
        after = self.forward(node.finalbody, start)
        if after is None or joined is None or start is None:
            return None
        return (joined - deleted_names(node.finalbody)) | (after - start)

    forward_TryStar = forward_Try

    def forward_Match(self, node: gast.Match, known: Known) -> Known:
        known = self.evaluate(node.subject, known)
        after: Known = known
        for case in node.cases:
            inside = _with(known, pattern_names(case.pattern))
            inside = self.evaluate(case.guard, inside)
            ended = self.forward(case.body, inside)
            after = _join(after, ended)
        return after

    # -- backward: which values are read later -----------------------------------------------------------------------

    def backward(self, body: list[gast.AST], live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        """Walk a block from its end; `exc` is live wherever an exception would go. Return what is live in front."""
        for statement in reversed(body):
            live = self.backward_statement(statement, live, exc) | exc | self.captured
        return live

    def consume(self, parts: Any, live: frozenset[str]) -> frozenset[str]:
        """Liveness in front of expressions and targets that are evaluated in the given order."""
        now = set(live)
        for event in reversed(naming.events(parts)):
            if event.kind == "load" or event.kind == "del":
                now.add(event.name)
            elif event.certain:
                now.discard(event.name)
        return frozenset(now) & self.tracked

    def backward_statement(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        """What is live in front of one statement."""
        method = getattr(self, f"backward_{type(node).__name__}", None)
        if method is not None:
            result: frozenset[str] = method(node, live, exc)
            return result
        if isinstance(node, naming.DEFINITIONS):
            parts = naming.class_parts(node) if isinstance(node, gast.ClassDef) else naming.definition_parts(node)
            return self.consume(parts, live - {node.name})
        if isinstance(node, (gast.Import, gast.ImportFrom)):
            return live - set(naming.bound_by(node))
        return self.consume(statement_parts(node), live)

    def backward_Return(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        return self.consume(statement_parts(node), exc | self.captured)

    backward_Raise = backward_KeptReturn = backward_Return

    def backward_KeptJump(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        return exc | self.captured

    def backward_KeptIf(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        live = live | exc
        return self.consume(node.test, self.backward(node.body, live, exc) | self.backward(node.orelse, live, exc))

    def backward_KeptWhile(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        return self.kept_loop(node, live | exc, exc, [], node.test)

    def backward_KeptFor(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        return self.consume(node.iter, self.kept_loop(node, live | exc, exc, node.target, []))

    def kept_loop(
        self, node: gast.AST, live: frozenset[str], exc: frozenset[str], target: Any, test: Any
    ) -> frozenset[str]:
        """What is live at the head of a loop that jumps leave anywhere, like exceptions."""
        head = self.consume(test, live | self.backward(node.orelse, live, exc))
        for _ in range(2):
            body = self.backward(node.body, head, exc | live | head)
            head |= self.consume(test, self.consume(target, body))
        return head

    def backward_If(self, node: gast.If, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        live = live | exc
        then = self.backward(node.body, live, exc)
        orelse = self.backward(node.orelse, live, exc)
        self.carry(node, self.assigned([*node.body, *node.orelse]), live, live | then | orelse)
        return self.consume(node.test, then | orelse)

    def backward_While(self, node: gast.While, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        live = live | exc
        head = self.consume(node.test, live)
        head |= self.consume(node.test, live | self.backward(node.body, head, exc))
        self.backward(node.body, head, exc)
        self.carry(node, self.assigned(node.body), live, head)
        return head

    def backward_For(self, node: gast.For, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        live = live | exc
        head = live | {name for name in node.stop if name in self.tracked}
        head |= self.consume(list(node.options.values()), head)
        head |= self.consume(node.target, self.backward(node.body, head, exc))
        self.consume(node.target, self.backward(node.body, head, exc))
        self.carry(node, self.assigned([node.target, *node.body]), live, head)
        return self.consume(node.iter, head)

    def backward_With(self, node: gast.With, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        live = self.backward(node.body, live, exc)
        parts = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
        return self.consume(parts, live)

    def backward_Try(self, node: gast.AST, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        if node.finalbody:
            escape = self.backward(node.finalbody, exc, exc)
            live = self.backward(node.finalbody, live | exc, exc)
            exc = exc | escape
        caught = exc
        for handler in node.handlers:
            inside = self.backward(handler.body, live, exc)
            caught = caught | self.consume([handler.type, handler.name], inside)
        ended = self.backward(node.orelse, live, exc)
        return self.backward(node.body, ended, caught)

    backward_TryStar = backward_Try

    def backward_Match(self, node: gast.Match, live: frozenset[str], exc: frozenset[str]) -> frozenset[str]:
        before = live
        for case in node.cases:
            inside = self.consume(case.guard, self.backward(case.body, live, exc))
            before = before | (inside - set(pattern_names(case.pattern)))
        return self.consume(node.subject, before)

    # -- the outlines ------------------------------------------------------------------------------------------------

    def assigned(self, body: list[gast.AST]) -> set[str]:
        """Names of this function that a block may change, through its closures too when it calls anything."""
        found: set[str] = set()
        calls = False
        for node in naming.walk_scope(body):
            found.update(naming.bound_by(node))
            calls = calls or isinstance(node, gast.Call)
        found &= self.tracked
        return found | self.assigned_elsewhere if calls else found

    def carry(self, node: gast.AST, assigned: set[str], after: frozenset[str], read: frozenset[str]) -> None:
        """Decide the state variables of a statement."""
        out = sorted(assigned & after)
        node.outline.names = (*out, *sorted((assigned & read) - after))
        node.outline.n_out = len(out)


def outline(
    fn: gast.FunctionDef,
    scope: naming.Scope,
    outer: frozenset[str],
    doubtful: frozenset[str],
    captured: naming.Captured,
) -> tuple[list[str], bool]:
    """Annotate one function; return the names that must start as Undefined at its top, and whether a read is marked."""
    flow = Flow(fn, scope, outer, doubtful, captured)
    parameters = set(naming.parameters(fn.args))
    mine = scope.bound - flow.captured - parameters
    needed = flow.unbound & scope.bound
    for node in flow.compounds:
        if node.outline.known is not None:
            needed |= (set(node.outline.names) & scope.bound) - node.outline.known
    total = Counter(_mentions(fn.body)[0]) if flow.compounds else Counter()
    inits = _settle(fn.body, scope.bound - parameters, frozenset(mine), needed - parameters, total, scope)
    return inits, bool(flow.unbound)


def _settle(
    body: list[gast.AST],
    owned: frozenset[str],
    movable: frozenset[str],
    needed: set[str],
    total: Counter[str],
    scope: naming.Scope,
) -> list[str]:
    """Give each name the innermost generated functions that hold its uses; return what `body` must initialise.

    A name that several of them use, for a value of its own in each (`for row in rows` twice), is one in each.

    `owned` are the names that belong to the scope of `body`; `movable` those of them that nothing else holds on to;
    `total` tells how often each of these is mentioned in it.
    """
    direct: set[str] = set()
    found: list[tuple[Any, set[str], list[tuple[str, list[gast.AST], list[str], set[str]]]]] = []
    count: Counter[str] = Counter()
    for node in direct_nodes(body):
        if not isinstance(node, COMPOUND):
            direct.update(naming.bound_by(node))
            continue
        inside = [(key, block, *_mentions(block)) for key, block in blocks(node)]
        found.append((node, set(node.outline.names), inside))
        count.update(name for _, _, mentions, _ in inside for name in mentions)
    states = {name for _, state, _ in found for name in state}
    given = frozenset(name for name in movable & count.keys() - states if count[name] == total[name])
    for node, _, inside in found:
        for key, block, mentions, assigned in inside:
            node.outline.nonlocals[key] = sorted(assigned - given - scope.globals)
            node.outline.globals[key] = sorted(assigned & scope.globals)
            here = given.intersection(mentions)
            node.outline.inits[key] = _settle(block, here, here, needed & here, Counter(mentions), scope)
    return sorted(name for name in owned - given if name in needed or name not in direct)


def blocks(node: gast.AST) -> list[tuple[str, list[gast.AST]]]:
    """The blocks of a compound statement that become functions of their own."""
    if isinstance(node, gast.If):
        return [("body", node.body), ("orelse", node.orelse)]
    if isinstance(node, gast.For):
        return [("body", [node.target, *node.body])]
    return [("body", node.body)]


def direct_nodes(body: list[gast.AST]) -> Iterable[gast.AST]:
    """Nodes of a block that stay in its own function: not below `if`, `while` or `for`, which are given themselves."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (gast.If, gast.While)):
            stack.extend(naming.walk_scope([node.test]))
        elif isinstance(node, gast.For):
            stack.extend(naming.walk_scope([node.iter]))
        elif isinstance(node, (*naming.FUNCTIONS, gast.ClassDef, *naming.COMPREHENSIONS)):
            stack.extend(list(naming.walk_scope([node]))[1:])
        else:
            stack.extend(children(node))


def _mentions(block: Iterable[gast.AST]) -> tuple[list[str], set[str]]:
    """Every mention of a name in a block, nested comprehensions included, and the names that it assigns."""
    mentions: list[str] = []
    assigned: set[str] = set()
    for node in naming.walk_scope(block):
        kind = type(node)
        if kind is gast.Name:
            mentions.append(node.id)
            if type(node.ctx) is not gast.Load:
                assigned.add(node.id)
            continue
        if kind in naming.NESTED:
            mentions += naming.free_names(node)
        bound = naming.bound_by(node)
        mentions += bound
        assigned.update(bound)
        if kind is gast.For:
            mentions += node.stop
    return mentions, assigned


def statement_parts(node: gast.AST) -> list[Any]:
    """Expressions and targets of a simple statement, in order of evaluation."""
    if isinstance(node, gast.Assign):
        return [node.value, *node.targets]
    if isinstance(node, gast.AugAssign):
        if isinstance(node.target, gast.Name):
            if not hasattr(node, "read"):
                node.read = gast.Name(node.target.id, gast.Load(), None, None)
            return [node.read, node.value, node.target]
        return [node.target, node.value]
    if isinstance(node, gast.AnnAssign):
        return [node.value, node.target]
    return children(node)


def pattern_names(pattern: gast.AST) -> list[str]:
    """Names that a pattern captures."""
    return [name for node in walk(pattern) for name in naming.bound_by(node)]


def deleted_names(body: Iterable[gast.AST]) -> set[str]:
    """Names that a block may leave without a value."""
    found: set[str] = set()
    for node in naming.walk_scope(body):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Del):
            found.add(node.id)
        elif isinstance(node, gast.ExceptHandler) and node.name is not None:
            found.add(node.name.id)
    return found


def _join(one: Known, other: Known) -> Known:
    if one is None:
        return other
    return one if other is None else one & other


def _with(known: Known, more: Iterable[str]) -> Known:
    return None if known is None else known | frozenset(more)


def _without(known: Known, fewer: Iterable[str]) -> Known:
    return None if known is None else known - frozenset(fewer)
