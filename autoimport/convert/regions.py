"""`ast` tree of a TensorFlow module -> its regions: runs of statements that may become a graph of their own.

    for x, y in data:
        if @on:KEY[8] and @region("KEY", 8, None, model, x, y): loss, = @take()
        else:
            with tf.GradientTape() as tape: ...        # as written
        plot.update(loss)

A region takes the locals that it needs as parameters and gives back those that are read after it. Locals that nested
functions share are cells, reached as in a function's form. At the top level of a module a region has neither: what
anybody else may look at it reads and writes as globals. A run that holds something unknown, or only likely, has smaller
alternatives inside its eager form. Where a name stands in the way, the run is cut at the statement that brings it in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.effects import EFFECT, PLAUSIBLE, UNKNOWN, Effects, Verdict, lasting_captures
from autoimport.convert.facts import PART
from autoimport.convert.functions import Function, Position, may_roll, start_of
from autoimport.convert.graph_form.context import mangle
from autoimport.convert.graph_form.flow import pattern_names
from autoimport.convert.liveness import NOTHING, Liveness, Names
from autoimport.convert.region_jumps import jumps_out, kind_of
from autoimport.convert.strips import Strip, conditions, is_over_range
from autoimport.convert.trees import to_gast, walk

# With less than one call of a library, or a few operations, there is nothing to gain.
WORTH = 3

# Functions whose loops may hold regions, but whose bodies run too seldom to be one.
_RUN_ONCE = {"main", "__init__", "build"}

# Names by which a program may look at any of its globals.
_LOOKS_AT_GLOBALS = {"globals", "locals", "vars", "dir", "exec", "eval", "__dict__", "modules", "__main__"}


@dataclass(frozen=True)
class Crossing:
    """The names that a run of statements has in common with what is around it.

    Attributes:
      parameters: locals that have a value in front of it, which it needs.
      results: locals that are read behind it.
      free: cells that it uses, spelled as the compiler spells them.
      globals, nonlocals: names that it assigns and that live elsewhere.
      jumps: how it may be left other than by its end, as in `region_jumps`.
    """

    parameters: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    nonlocals: tuple[str, ...] = ()
    jumps: tuple[int, ...] = ()


@dataclass(eq=False)
class Region:
    """A run of statements.

    Attributes:
      owner: the function around it; None at the top level of a module.
      container: the list in the tree that its statements are part of.
      statements: nodes of the tree.
      crossing: the names that go in and out.
      start: the position of its first instruction.
      has_loop: a `while` or `for` statement that may be a loop of a graph is among its statements.
      alternatives: smaller regions among the same statements, for when this one turns out to be impossible.
      end: the line and the expression, or the names, in front of which it had to stop.
      strip: of the iterations of a loop that do nothing special: how they are told.
    """

    owner: Function | None
    container: list[ast.stmt]
    statements: list[ast.stmt]
    crossing: Crossing
    start: Position
    has_loop: bool
    alternatives: list[Region] = field(default_factory=list)
    end: tuple[int, str] | None = None
    strip: Strip | None = None

    @property
    def line(self) -> int:
        """The first line."""
        return self.statements[0].lineno

    @property
    def end_line(self) -> int:
        """The last line."""
        return self.statements[-1].end_lineno or self.line


@dataclass(frozen=True)
class _Cut:
    """A statement of a run, by index, with names that cannot go in or out of a region."""

    index: int
    names: Names = NOTHING


@dataclass(frozen=True)
class _Block:
    """A run of statements, twice: in the tree, and as gast."""

    container: list[ast.stmt]
    written: list[ast.stmt]
    statements: list[gast.AST]

    def part(self, first: int, last: int) -> _Block:
        return _Block(self.container, self.written[first:last], self.statements[first:last])


def find_regions(tree: ast.Module, functions: list[Function], *, is_main: bool) -> list[Region]:
    """The regions of a module, in the order of their sites.

    Args:
      tree: the module; not changed.
      functions: its functions.
      is_main: it is run as a program, so that nobody but itself looks at its globals.
    """
    if not _may_use_library(tree.body):
        return []
    whole: Any = to_gast(tree)
    effects = Effects(whole)
    if not effects.uses_library:
        return []
    nodes = {(node.lineno, node.col_offset): node for node in walk(whole) if type(node) in naming.DEFINITIONS}
    module = partial(_module_scope, whole, effects, is_main)
    found = _Search(effects, None, module).search(tree.body, whole.body, PLAUSIBLE)
    for fn in functions:
        if fn.code is None or isinstance(fn.node, ast.Lambda) or fn.frame_calls:
            continue
        may_repeat = fn.name not in _RUN_ONCE and (not is_main or fn.name in effects.repeated)
        if not fn.has_loop and fn.pauses is None and not may_repeat:
            continue
        node: Any = nodes[fn.node.lineno, fn.node.col_offset]
        fn.long_loops = tuple((loop.lineno, loop.end_lineno) for loop in effects.long_loops(node.body))
        # What is in the way of the whole function: runs of what is better may become graphs instead of it.
        worst = EFFECT if fn.pauses is not None else effects.worst(node) if may_repeat else PLAUSIBLE
        obstacle = worst if worst >= UNKNOWN else PLAUSIBLE
        scope = partial(_function_scope, fn, node, effects)
        found += _Search(effects, fn, scope).search(fn.node.body, node.body, obstacle)
    return found


def _may_use_library(body: list[ast.stmt]) -> bool:
    """Whether TensorFlow or Keras is imported in some statements: most modules do not, and are left alone at once."""
    for node in body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
        if any(name.split(".")[0] in ("tensorflow", "keras", "tf_keras") for name in names):
            return True
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [part.body for name in ("handlers", "cases") for part in getattr(node, name, ())]
        if any(map(_may_use_library, blocks)):
            return True
    return False


@dataclass(frozen=True)
class _Scope:
    """One function, or the module.

    Attributes:
      liveness: what is known and live around its statements.
      cells: its names that nested functions share, and those that it shares with functions around it.
      globals: names that it declares global.
      class_name: the class around it.
    """

    liveness: Liveness
    cells: Names = NOTHING
    globals: Names = NOTHING
    class_name: str | None = None


def _module_scope(tree: Any, effects: Effects, is_main: bool) -> _Scope:
    scope = naming.scope_of(tree)
    tracked = scope.bound | scope.globals
    shared = tracked & frozenset(lasting_captures(tree.body) | _annotation_names(tree))
    if not is_main or any(_looks_at_globals(node) for node in walk(tree)):
        shared = tracked
    return _Scope(Liveness(tree.body, tracked, NOTHING, shared, effects.is_safe_manager))


def _looks_at_globals(node: gast.AST) -> bool:
    if isinstance(node, gast.Name):
        return node.id in _LOOKS_AT_GLOBALS or node.id == "__all__"
    if isinstance(node, gast.Attribute):
        return node.attr in _LOOKS_AT_GLOBALS
    if isinstance(node, (gast.Import, gast.ImportFrom)):
        return getattr(node, "module", None) == "__main__" or any(alias.name == "__main__" for alias in node.names)
    return False


def _annotation_names(tree: Any) -> set[str]:
    """Names in the annotations of functions, which the walks leave out."""
    annotations = [getattr(node, field, None) for node in walk(tree) for field in ("annotation", "returns")]
    return {part.id for node in annotations if node for part in walk(node) if isinstance(part, gast.Name)}


def _function_scope(fn: Function, node: Any, effects: Effects) -> _Scope:
    assert fn.code is not None
    scope = naming.scope_of(node)
    shared = frozenset(lasting_captures(node.body)) & scope.bound
    start = frozenset(naming.parameters(node.args))
    free = frozenset(fn.code.co_freevars)
    around = {name for name in naming.used_names(node) - scope.bound if mangle(name, fn.class_name) in free}
    return _Scope(
        Liveness(node.body, scope.bound, start, shared, effects.is_safe_manager),
        shared | around | scope.nonlocals,
        scope.globals,
        fn.class_name,
    )


class _Search:
    """Looks for the regions in one function, or at the top level of the module."""

    def __init__(self, effects: Effects, owner: Function | None, scope: Callable[[], _Scope]) -> None:
        self.effects, self.owner, self._make_scope = effects, owner, scope
        self.found: list[Region] = []
        self.tapes = 0  # that stay open around the statements looked at

    @cached_property
    def scope(self) -> _Scope:
        """What is known of names: asked where there is something to cut out, and most functions have nothing."""
        return self._make_scope()

    def search(self, written: list[ast.stmt], statements: list[gast.AST], obstacle: int) -> list[Region]:
        """The regions in a body, its own statements that are better than `obstacle` among them."""
        self.block(_Block(written, written, statements), obstacle, EFFECT)
        return self.found

    def block(self, block: _Block, obstacle: int, inner: int) -> list[Region]:
        """Look in a block for runs of statements that are better than `obstacle`.

        In its other statements those better than `inner` count.

        Returns:
          The regions made of the block's own statements.
        """
        regions: list[Region] = []
        if obstacle == PLAUSIBLE:
            for index in range(len(block.statements)):
                self.inside(block.part(index, index + 1), obstacle, inner)
            return []
        verdicts = [self.judge(statement) for statement in block.statements]
        first = 0
        while first < len(verdicts):
            last = first
            while last < len(verdicts) and verdicts[last].kind < obstacle:
                last += 1
            if last == first:
                self.inside(block.part(first, first + 1), obstacle, inner)
                first += 1
                continue
            made = self.run(block.part(first, last), verdicts[first:last], inner)
            if made and made[-1].end is None and last < len(verdicts):
                blamed = verdicts[last].node or block.statements[last]
                made[-1].end = blamed.lineno, _in_words(blamed)
            regions += made
            first = last
        return regions

    def judge(self, statement: gast.AST) -> Verdict:
        owner = self.owner
        if owner is not None and owner.pauses is not None:
            # The caller of a generator gets what it returns in other ways.
            returned = next((jump for jump in jumps_out([statement]) if isinstance(jump, gast.Return)), None)
            if returned is not None:
                return Verdict(EFFECT, returned)
        return self.effects.judge(statement, at_module_level=owner is None)

    def inside(self, statement: _Block, obstacle: int, inner: int) -> None:
        """Look in the blocks of one statement that is in no region itself; what runs seldom has no `obstacle`."""
        (written,), (node,) = statement.written, statement.statements
        if isinstance(node, naming.DEFINITIONS):
            return
        has_tape = isinstance(node, gast.With) and any(self.effects.is_tape(item.context_expr) for item in node.items)
        self.tapes += has_tape
        is_loop = isinstance(node, (gast.For, gast.AsyncFor, gast.While))
        if is_over_range(node) and self.effects.is_long(node) and not self.tapes:
            self.strip(written, node)
        for name in ("body", "orelse", "finalbody"):
            self.named_block(
                written, node, name, inner if obstacle or (is_loop and name == "body") else PLAUSIBLE, inner
            )
        for name in ("handlers", "cases"):
            for part, part_node in zip(getattr(written, name, ()), getattr(node, name, ()), strict=True):
                self.named_block(part, part_node, "body", inner if obstacle else PLAUSIBLE, inner)
        self.tapes -= has_tape

    def named_block(self, written: Any, node: Any, name: str, obstacle: int, inner: int) -> None:
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            container = getattr(written, name)
            self.block(_Block(container, container, statements), obstacle, inner)

    def run(self, run: _Block, verdicts: list[Verdict], inner: int) -> list[Region]:
        """Make regions of a run of statements, as large as names allow; `inner` is for what is left over."""
        while run.statements and not _has_code(run.statements[0]):
            run, verdicts = run.part(1, len(run.statements)), verdicts[1:]
        if self.effects.weight(run.statements) < WORTH:
            for index in range(len(run.statements)):
                self.inside(run.part(index, index + 1), inner, inner)
            return []
        crossing = self.crossing(run.statements)
        if isinstance(crossing, _Cut):
            culprit = crossing.index
            before = self.run(run.part(0, culprit), verdicts[:culprit], inner)
            if before:
                stuck = f"{', '.join(sorted(crossing.names))} cannot go in or out"
                before[-1].end = run.statements[culprit].lineno, stuck
            self.inside(run.part(culprit, culprit + 1), inner, inner)
            size = len(run.statements)
            return before + self.run(run.part(culprit + 1, size), verdicts[culprit + 1 :], inner)
        return [self.region(run, verdicts, crossing)]

    def region(self, run: _Block, verdicts: list[Verdict], crossing: Crossing) -> Region:
        first = run.written[0]
        region = Region(
            self.owner,
            run.container,
            run.written,
            crossing,
            start_of(first) or (first.lineno, first.end_lineno or first.lineno, first.col_offset, 0),
            any(
                isinstance(node, (gast.For, gast.While)) and may_roll(node)
                for node in naming.walk_scope(run.statements)
            ),
        )
        self.found.append(region)
        worst = max(verdict.kind for verdict in verdicts)
        if self.tapes:
            region.alternatives = self.unchained(run, verdicts)
        if worst != PLAUSIBLE and not region.alternatives:
            region.alternatives = self.block(run, worst, worst)
        return region

    def unchained(self, run: _Block, verdicts: list[Verdict]) -> list[Region]:
        """Parts of a run, none of whose results another one is made of, if it is none itself.

        To a tape that stays open around, a graph is one operation; eager code adds up the gradients in between.
        """
        found: list[Region] = []
        first, size = 0, len(run.statements)
        for last in range(1, size + 1):
            if last == size or self.is_chained(run.statements[first : last + 1]):
                if (first, last) != (0, size):
                    found += self.run(run.part(first, last), verdicts[first:last], EFFECT)
                first = last
        return found

    def is_chained(self, run: list[gast.AST]) -> bool:
        """Whether a statement reads what an earlier one made and others read, too, behind the run."""
        crossing = self.crossing(run)
        if isinstance(crossing, _Cut):
            return True
        results = {*crossing.results, *crossing.globals, *crossing.nonlocals}
        made: set[str] = set()
        for node in run:
            if made & results & naming.loaded([node]):
                return True
            made |= _assigned_by(node)
        return False

    def strip(self, written: Any, node: Any) -> None:
        """Make a region of the iterations of a loop in which some conditions are false."""
        special = self.special(node)
        run = [statement for statement in node.body if statement not in special]
        if not special or not run or any(jumps_out(run)) or self.effects.weight(run) < WORTH:
            return
        if any(self.judge(statement).kind >= UNKNOWN for statement in run):
            return
        crossing = self.crossing_of_strip(node, run)
        if crossing is None:
            return
        places = [place for place, statement in enumerate(node.body) if statement in special]
        stops = tuple(test for place in places for test in conditions(written.body[place]) or ())
        used = naming.loaded(test for statement in special for test in conditions(statement) or ())
        locals_ = used & self.scope.liveness.tracked if self.owner is not None else set[str]()
        given = (node.target.id, *sorted(locals_ - {node.target.id}))
        strip = Strip(written, frozenset(places), stops, given)
        first = written.body[0]
        start = start_of(first) or (first.lineno, first.end_lineno or first.lineno, first.col_offset, 0)
        statements: list[ast.stmt] = [strip.iterations]
        self.found.append(Region(self.owner, written.body, statements, crossing, start, True, strip=strip))

    def special(self, loop: Any) -> set[Any]:
        """The statements of a loop that do nothing as long as conditions are false, on names that no other changes."""
        scope, known = self.scope, loop.body[0].place.known
        unsure = scope.cells | scope.globals | self.effects.stored_from_afar
        if known is None or "range" in scope.liveness.tracked | unsure:
            return set()
        if self.owner is not None:
            unsure |= scope.liveness.tracked - known
        special = {statement for statement in loop.body if conditions(statement) is not None}
        while True:
            mine = {name for statement in loop.body if statement not in special for name in _assigned_by(statement)}
            if loop.target.id in mine | unsure:
                return set()
            fewer = {node for node in special if naming.loaded(conditions(node) or ()).isdisjoint(mine | unsure)}
            if fewer == special:
                return special
            special = fewer

    def crossing_of_strip(self, loop: Any, run: list[gast.AST]) -> Crossing | None:
        """The names that go in and out of some iterations of a loop, which do no more than a run of its statements."""
        scope, target = self.scope, frozenset({loop.target.id})
        head, end = loop.body[0].place, loop.body[-1].place
        if head.known is None or end.known_after is None:
            return None
        assigned = target.union(*map(_assigned_by, run))
        mine = assigned & scope.liveness.tracked
        results = mine & (end.live | head.caught)
        needed = (scope.liveness.needed(run, results) | self.object_of_super(run)) - target
        elsewhere = (mine & (results | needed)) if self.owner is None else assigned & (scope.cells | scope.globals)
        is_stuck = (results | needed) & self.effects.tapes or results & self.effects.compared
        if is_stuck or elsewhere & _captured_by_patterns(run):
            return None
        if self.owner is None:
            return Crossing((PART,), globals=tuple(sorted(elsewhere)))
        results, needed = results - scope.cells, needed - scope.cells
        if (mine & head.caught) - scope.cells or needed - head.known or results - end.known_after:
            return None
        crossing = self.in_function(run, assigned, needed, results)
        return replace(crossing, parameters=(PART, *crossing.parameters))

    # -- names -------------------------------------------------------------------------------------------------------

    def crossing(self, run: list[gast.AST]) -> Crossing | _Cut:
        """The names that go in and out of a run, or where to cut it since they cannot."""
        scope = self.scope  # which marks the statements' places
        assigned = frozenset(name for node in naming.walk_scope(run) for name in naming.bound_by(node))
        place, last = run[0].place, run[-1].place
        if place.known is None:
            return _Cut(0)
        is_module = self.owner is None
        mine = assigned & scope.liveness.tracked
        jumps = [jump for jump in jumps_out(run) if jump.place.known is not None]
        after = NOTHING if last.known_after is None else last.live
        results = mine & after.union(place.caught, *(jump.place.target for jump in jumps))
        needed = scope.liveness.needed(run, results) | self.object_of_super(run)
        stuck_out = results & (self.effects.tapes | self.effects.compared)
        stuck_in = needed & self.effects.tapes
        if not is_module:
            cells = scope.cells
            results, needed = results - cells, needed - cells
            if last.known_after is not None:
                stuck_out |= results - last.known_after
            stuck_out |= mine & place.caught - cells
            for jump in jumps:
                if results - jump.place.known:
                    index = next(i for i, node in enumerate(run) if jump in set(jumps_out([node])))
                    return _Cut(index, results - jump.place.known)
            stuck_in |= needed - place.known
        elsewhere = (mine & (results | needed)) if is_module else assigned & (scope.cells | scope.globals)
        stuck_out |= elsewhere & _captured_by_patterns(run)
        if stuck_out:
            return _Cut(_first(run, lambda node: bool(stuck_out & _assigned_by(node))), stuck_out)
        if stuck_in:
            return _Cut(_first(run, lambda node: bool(stuck_in & _mentioned_by(node))), stuck_in)
        kinds = tuple(sorted({kind_of(jump) for jump in jumps_out(run)}))
        if is_module:
            return Crossing(globals=tuple(sorted(mine & (results | needed))), jumps=kinds)
        return replace(self.in_function(run, assigned, needed, results), jumps=kinds)

    def in_function(self, run: list[gast.AST], assigned: Names, needed: Names, results: Names) -> Crossing:
        used = frozenset().union(*(_mentioned_by(node) for node in run))
        cells = {mangle(name, self.scope.class_name) for name in used & self.scope.cells}
        if self.object_of_super(run):
            cells.add("__class__")
        return Crossing(
            tuple(sorted(needed)),
            tuple(sorted(results)),
            tuple(sorted(cells)),
            tuple(sorted(assigned & self.scope.globals)),
            tuple(sorted(assigned & self.scope.cells)),
        )

    def object_of_super(self, run: list[gast.AST]) -> Names:
        """The first parameter, where `super()` takes its object from it unseen."""
        fn = self.owner
        if fn is None or fn.code is None or "__class__" not in fn.code.co_freevars or fn.first_parameter is None:
            return NOTHING
        calls = (node for statement in run for node in walk(statement) if isinstance(node, gast.Call))
        has_super = any(isinstance(call.func, gast.Name) and call.func.id == "super" for call in calls)
        return frozenset({fn.first_parameter}) if has_super else NOTHING


def _has_code(node: gast.AST) -> bool:
    """Whether a statement is sure to have an instruction, on whose line a gate can stand."""
    if isinstance(node, gast.Expr):
        return not isinstance(node.value, gast.Constant)
    if isinstance(node, (gast.Pass, gast.Break, gast.Continue)) or (isinstance(node, gast.Return) and not node.value):
        return False
    return not (isinstance(node, gast.AnnAssign) and node.value is None)


def _in_words(node: Any) -> str:
    """What ended a run, as the report quotes it."""
    if isinstance(node, gast.Call):
        return f"{gast.unparse(node.func)}(...)"
    if isinstance(node, gast.expr):
        return str(gast.unparse(node))
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()


def _first(run: list[gast.AST], is_culprit: Callable[[gast.AST], bool]) -> int:
    return next((index for index, node in enumerate(run) if is_culprit(node)), 0)


def _captured_by_patterns(run: list[gast.AST]) -> set[str]:
    """Names that `case` binds by itself: it can only bind locals of the form."""
    patterns = (node for statement in run for node in walk(statement) if isinstance(node, gast.match_case))
    return {name for case in patterns for name in pattern_names(case.pattern)}


def _assigned_by(node: gast.AST) -> set[str]:
    return {name for part in naming.walk_scope([node]) for name in naming.bound_by(part)}


def _mentioned_by(node: gast.AST) -> set[str]:
    return naming.loaded([node]) | _assigned_by(node)
