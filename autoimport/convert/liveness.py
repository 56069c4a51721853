"""A function or module as written (gast, jumps and all) -> what is known and what is live around each statement.

`graph_form.flow` asks the same of a graph form, in which jumps are gone; a region is cut out before that. Two walks
leave a `Place` on every statement: names that surely have a value, names whose values may be read later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.flow import deleted_names, pattern_names, statement_parts
from autoimport.convert.trees import walk

Known = frozenset[str] | None  # names that have a value for sure; None where control never comes
Names = frozenset[str]
NOTHING: Names = frozenset()


@dataclass
class Place:
    """What holds around one statement.

    Attributes:
      known, known_after: names with a value in front of it and behind it.
      live: names whose value is read behind it.
      caught: names whose value is read where an exception in it would go.
      target: of a jump: names whose value is read where it leads.
    """

    known: Known = NOTHING
    known_after: Known = NOTHING
    live: Names = NOTHING
    caught: Names = NOTHING
    target: Names = NOTHING


@dataclass(frozen=True)
class _Exits:
    """What is live where control may go besides the next statement."""

    caught: Names = NOTHING
    breaks: Names = NOTHING
    continues: Names = NOTHING
    returns: Names = NOTHING

    def through(self, block: Callable[[Names], Names]) -> _Exits:
        """The same exits, by way of a `finally` block."""
        return _Exits(block(self.caught), block(self.breaks), block(self.continues), block(self.returns))


class Liveness:
    """Both walks over one function or module.

    Args:
      body: its statements.
      tracked: the names that belong to it.
      start: those that have a value at its start.
      shared: those that others see at any time: they are live everywhere.
      is_safe: whether a context manager is known to let exceptions pass.
    """

    def __init__(
        self,
        body: list[gast.AST],
        tracked: Names,
        start: Names,
        shared: Names,
        is_safe: Callable[[gast.AST], bool],
    ) -> None:
        self.tracked, self.shared, self.is_safe = tracked, shared, is_safe
        self.loops: list[list[Known]] = []  # of each loop around: what is known at its breaks
        self.is_marking = True
        self.forward(body, start)
        self.backward(body, shared, _Exits(shared, shared, shared, shared))

    def needed(self, run: list[gast.AST], results: Names) -> Names:
        """The names whose values a run of statements needs to begin with, if `results` are read after it."""
        self.is_marking = False
        try:
            return self.backward(run, results, _Exits(NOTHING, results, results, results))
        finally:
            self.is_marking = True

    # -- forward -----------------------------------------------------------------------------------------------------

    def forward(self, body: Iterable[gast.AST], known: Known) -> Known:
        """Walk a block; return what is known after it."""
        for statement in body:
            statement.place = Place(known)
            known = statement.place.known_after = self.step(statement, known)
        return known

    def step(self, node: gast.AST, known: Known) -> Known:
        """What is known after one statement."""
        method = getattr(self, f"step_{type(node).__name__}", None)
        if method is not None:
            result: Known = method(node, known)
            return result
        return _evaluated(_parts(node), known)

    def step_Return(self, node: gast.AST, known: Known) -> Known:
        return None

    step_Raise = step_Continue = step_Return

    def step_Break(self, node: gast.AST, known: Known) -> Known:
        self.loops[-1].append(known)
        return None

    def step_If(self, node: gast.If, known: Known) -> Known:
        known = _evaluated(node.test, known)
        return _join(self.forward(node.body, known), self.forward(node.orelse, known))

    def step_While(self, node: gast.While, known: Known) -> Known:
        known = _evaluated(node.test, _without(known, deleted_names(node.body)))
        forever = isinstance(node.test, gast.Constant) and bool(node.test.value)
        return self.loop(node, known, None if forever else known)

    def step_For(self, node: gast.For, known: Known) -> Known:
        known = _without(_evaluated(node.iter, known), deleted_names(node.body))
        return self.loop(node, _evaluated(node.target, known), known)

    step_AsyncFor = step_For

    def loop(self, node: gast.AST, inside: Known, ended: Known) -> Known:
        self.loops.append([])
        self.forward(node.body, inside)
        breaks = self.loops.pop()
        after = self.forward(node.orelse, ended)
        for known in breaks:
            after = _join(after, known)
        return after

    def step_With(self, node: gast.With, known: Known) -> Known:
        safe = True
        after = known
        for item in node.items:
            known = _evaluated([item.context_expr, item.optional_vars], known)
            after = known if safe else after
            safe = safe and self.is_safe(item.context_expr)
        ended = self.forward(node.body, known)
        # A manager may swallow an exception: then nothing that happened in the block is sure.
        return ended if safe else _without(after, deleted_names(node.body))

    step_AsyncWith = step_With

    def step_Try(self, node: gast.AST, known: Known) -> Known:
        ended = self.forward(node.orelse, self.forward(node.body, known))
        start = _without(known, deleted_names(node.body))
        for handler in node.handlers:
            after = self.forward(handler.body, _evaluated([handler.type, handler.name], start))
            after = _without(after, {handler.name.id}) if handler.name is not None else after
            ended = _join(ended, after)
        if not node.finalbody:
            return ended
        start = _without(known, deleted_names([node]))
        after = self.forward(node.finalbody, start)
        if after is None or ended is None or start is None:
            return None
        return (ended - deleted_names(node.finalbody)) | (after - start)

    step_TryStar = step_Try

    def step_Match(self, node: gast.Match, known: Known) -> Known:
        after = known = _evaluated(node.subject, known)
        for case in node.cases:
            inside = None if known is None else known | frozenset(pattern_names(case.pattern))
            after = _join(after, self.forward(case.body, _evaluated(case.guard, inside)))
        return after

    # -- backward ----------------------------------------------------------------------------------------------------

    def backward(self, body: list[gast.AST], live: Names, exits: _Exits) -> Names:
        """Walk a block from its end; return what is live in front."""
        shared = self.shared if self.is_marking else NOTHING
        for statement in reversed(body):
            if self.is_marking:  # more than once: a loop goes round, `finally` is entered from everywhere
                statement.place.live |= live
                statement.place.caught |= exits.caught
            live = self.back(statement, live, exits) | exits.caught | shared
        return live

    def consume(self, parts: Any, live: Names) -> Names:
        """Liveness in front of expressions and targets that are evaluated in the given order."""
        now = set(live)
        for event in reversed(naming.events(parts)):
            if event.kind != "store":
                now.add(event.name)
            elif event.certain:
                now.discard(event.name)
        return (frozenset(now) | _lazy_reads(parts)) & self.tracked

    def back(self, node: gast.AST, live: Names, exits: _Exits) -> Names:
        """What is live in front of one statement."""
        method = getattr(self, f"back_{type(node).__name__}", None)
        if method is not None:
            result: Names = method(node, live, exits)
            return result
        return self.consume(_parts(node), live)

    def jump(self, node: gast.AST, target: Names) -> Names:
        """Note where a jump leads."""
        if self.is_marking:
            node.place.target |= target
        return target

    def back_Return(self, node: gast.AST, live: Names, exits: _Exits) -> Names:
        return self.consume(statement_parts(node), self.jump(node, exits.returns))

    def back_Raise(self, node: gast.AST, live: Names, exits: _Exits) -> Names:
        return self.consume(statement_parts(node), exits.caught)

    def back_Break(self, node: gast.AST, live: Names, exits: _Exits) -> Names:
        return self.jump(node, exits.breaks)

    def back_Continue(self, node: gast.AST, live: Names, exits: _Exits) -> Names:
        return self.jump(node, exits.continues)

    def back_If(self, node: gast.If, live: Names, exits: _Exits) -> Names:
        return self.consume(node.test, self.backward(node.body, live, exits) | self.backward(node.orelse, live, exits))

    def back_While(self, node: gast.While, live: Names, exits: _Exits) -> Names:
        ended = self.backward(node.orelse, live, exits)
        head = self.consume(node.test, ended)
        return self.rounds(node, head, live, exits, lambda body: self.consume(node.test, ended | body))

    def back_For(self, node: gast.For, live: Names, exits: _Exits) -> Names:
        ended = self.backward(node.orelse, live, exits)
        head = self.rounds(node, ended, live, exits, lambda body: ended | self.consume(node.target, body))
        return self.consume(node.iter, head)

    back_AsyncFor = back_For

    def rounds(
        self, node: gast.AST, head: Names, live: Names, exits: _Exits, in_front: Callable[[Names], Names]
    ) -> Names:
        """Go round a loop until nothing more becomes live at its head."""
        while True:
            inside = _Exits(exits.caught, live, head, exits.returns)
            wider = head | in_front(self.backward(node.body, head, inside))
            if wider == head:
                return head
            head = wider

    def back_With(self, node: gast.With, live: Names, exits: _Exits) -> Names:
        if not all(self.is_safe(item.context_expr) for item in node.items):
            exits = _Exits(exits.caught | live, exits.breaks, exits.continues, exits.returns)
        live = self.backward(node.body, live, exits)
        parts = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
        return self.consume(parts, live)

    back_AsyncWith = back_With

    def back_Try(self, node: gast.AST, live: Names, exits: _Exits) -> Names:
        outside = exits
        if node.finalbody:
            exits = outside.through(lambda names: self.backward(node.finalbody, names, outside))
            live = self.backward(node.finalbody, live, outside)
        caught = exits.caught
        for handler in node.handlers:
            inside = self.backward(handler.body, live, exits)
            caught = caught | self.consume([handler.type, handler.name], inside)
        ended = self.backward(node.orelse, live, exits)
        return self.backward(node.body, ended, _Exits(caught, exits.breaks, exits.continues, exits.returns))

    back_TryStar = back_Try

    def back_Match(self, node: gast.Match, live: Names, exits: _Exits) -> Names:
        before = live
        for case in node.cases:
            inside = self.consume(case.guard, self.backward(case.body, live, exits))
            before = before | (inside - set(pattern_names(case.pattern)))
        return self.consume(node.subject, before)


def _parts(node: gast.AST) -> list[Any]:
    """What a simple statement evaluates and binds, in order."""
    if isinstance(node, gast.ClassDef):
        return [*naming.class_parts(node), _binds(node.name)]
    if isinstance(node, naming.DEFINITIONS):
        return [*naming.definition_parts(node), _binds(node.name)]
    if isinstance(node, (gast.Import, gast.ImportFrom)):
        return [_binds(name) for name in naming.bound_by(node)]
    if isinstance(node, gast.AnnAssign) and node.value is None:
        return []
    return statement_parts(node)


def _lazy_reads(parts: Any) -> set[str]:
    """What generator expressions read: they may be over with their statement, as if they were lists."""
    if isinstance(parts, (list, tuple)):
        return set().union(*(_lazy_reads(part) for part in parts))
    if parts is None:
        return set()
    generators = (node for node in walk(parts) if isinstance(node, gast.GeneratorExp))
    return set().union(*(naming.comprehension_names(node) for node in generators))


def _binds(name: str) -> gast.Name:
    return gast.Name(name, gast.Store(), None, None)


def _evaluated(parts: Any, known: Known) -> Known:
    if known is None:
        return None
    now = set(known)
    for event in naming.events(parts):
        if event.kind == "del":
            now.discard(event.name)
        elif event.kind == "store" and event.certain:
            now.add(event.name)
    return frozenset(now)


def _join(one: Known, other: Known) -> Known:
    if one is None:
        return other
    return one if other is None else one & other


def _without(known: Known, fewer: Iterable[str]) -> Known:
    return None if known is None else known - frozenset(fewer)
