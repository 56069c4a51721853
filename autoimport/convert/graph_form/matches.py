"""`match` -> a chain of `if`, so that what a pattern compares may be known to the graph only.

In: a function. Out: the same without `match`, but for those with very many alternatives that bind names.
`ops.take_apart` finds the shape of a pattern in the subject and gives the values at its leaves, which are compared and
bound one by one. Of alternatives that bind names the first one that matches sets a flag.

>>> show(matches, '''
... def f(p):
...     match p:
...         case 0 | 1:
...             return p
...         case (x, 1, *rest) if rest:
...             return x
...         case Point(x=y):
...             return y
... ''')
def f(p):
    subject = p
    if subject == 0 or subject == 1:
        return p
    else:
        found = ops.take_apart(subject, ops.Items(None, None, None, rest=2))
        if found is not None and found[1] == 1 and ((x := found[0]), (rest := found[2]), True)[-1] and rest:
            return x
        else:
            found_1 = ops.take_apart(subject, ops.Fields(Point, x=None))
            if found_1 is not None:
                y = found_1[0]
                return y
>>> show(matches, '''
... def f(p):
...     match p:
...         case [1, x] | [x]:
...             return x
... ''')
def f(p):
    subject = p
    matched = False
    found = ops.take_apart(subject, ops.Items(None, None))
    if found is not None and found[0] == 1:
        x = found[1]
        matched = True
    else:
        found_1 = ops.take_apart(subject, ops.Items(None))
        if found_1 is not None:
            x = found_1[0]
            matched = True
    if matched:
        return x
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.build import assign, constant, if_, load, op, place, store
from autoimport.convert.graph_form.walk import Pass
from autoimport.convert.trees import walk

# A case with more alternatives that bind names, all in all, is left to Python's `match`.
_MOST_WAYS = 64


class _Matches(Pass):
    def __init__(self, fresh: naming.Fresh) -> None:
        self.fresh = fresh

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        return node  # has its own turn

    def visit_Match(self, node: gast.Match) -> Any:
        for case in node.cases:
            case.body = self.body(case.body)
        if any(_ways(case.pattern) > _MOST_WAYS for case in node.cases):
            return node
        subject = self.fresh("subject")
        return [place(assign(subject, node.subject), node.subject), *self.chain(node.cases, load(subject))]

    def chain(self, cases: list[gast.match_case], subject: gast.AST) -> list[gast.AST]:
        """The cases from the first of `cases` on."""
        if not cases:
            return []
        if _ways(cases[0].pattern) > 1:
            return self.alternatives(cases, subject)
        case, pattern = cases[0], _Pattern(subject)
        shape = pattern.shape(case.pattern)
        statements: list[gast.AST] = []
        tests: list[gast.AST] = []
        if shape is not None:
            found = self.fresh("found")
            statements.append(assign(found, op("take_apart", subject, shape)))
            pattern.found = load(found)
            tests.append(_is_not_none(load(found)))
        tests += [test for make in pattern.tests if (test := make()) is not None]
        bound = [(name, value()) for name, value in pattern.bound]
        body = case.body
        if case.guard is not None:
            if tests and bound:
                walruses = [gast.NamedExpr(store(name), value) for name, value in bound]
                last = gast.Constant(-1, None)
                tests.append(gast.Subscript(gast.Tuple([*walruses, constant(True)], gast.Load()), last, gast.Load()))
            else:
                statements += [assign(name, value) for name, value in bound]
            tests.append(case.guard)
        else:
            body = [*(place(assign(name, value), case.pattern) for name, value in bound), *body]
        statements = [place(statement, case.pattern) for statement in statements]
        if not tests:
            return [*statements, *body]
        test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        return [*statements, place(if_(test, body, self.chain(cases[1:], subject)), case.pattern)]

    def alternatives(self, cases: list[gast.match_case], subject: gast.AST) -> list[gast.AST]:
        """The same where the first case has alternatives that bind names."""
        case, matched = cases[0], self.fresh("matched")
        ways = [gast.match_case(way, None, [assign(matched, constant(True))]) for way in _expanded(case.pattern)]
        test: gast.AST = load(matched)
        if case.guard is not None:
            test = gast.BoolOp(gast.And(), [test, case.guard])
        return [
            place(assign(matched, constant(False)), case.pattern),
            *(place(statement, case.pattern) for statement in self.chain(ways, subject)),
            place(if_(test, case.body, self.chain(cases[1:], subject)), case.pattern),
        ]


class _Pattern:
    """What one pattern asks of the subject: a shape, tests of the values at its leaves, and names for them.

    Attributes:
      found: the name of the values at the leaves; None where the subject itself is the only leaf.
    """

    def __init__(self, subject: gast.AST) -> None:
        self.subject = subject
        self.found: gast.AST | None = None
        self.leaves = 0
        self.tests: list[Any] = []
        self.bound: list[tuple[str, Any]] = []

    def leaf(self) -> Any:
        """The next leaf: a function that makes the expression for its value."""
        index = self.leaves
        self.leaves += 1

        def value() -> gast.AST:
            if self.found is None:
                return copy.deepcopy(self.subject)
            return gast.Subscript(copy.deepcopy(self.found), constant(index), gast.Load())

        return value

    def shape(self, node: gast.AST) -> gast.AST | None:
        """The expression of the shape of a pattern, None for a leaf."""
        if isinstance(node, gast.MatchAs) and node.pattern is not None and not _is_leaf(node.pattern):
            # The name is for the whole, of which the parts are other leaves.
            self.bound.append((node.name, self.leaf()))
            return op("Whole", self.part(node.pattern))
        if _is_leaf(node):
            self.at_leaf(node, self.leaf())
            return None
        if isinstance(node, gast.MatchSequence):
            stars = [index for index, part in enumerate(node.patterns) if isinstance(part, gast.MatchStar)]
            star = [gast.keyword("rest", constant(index)) for index in stars]
            return op("Items", *map(self.part, node.patterns), keywords=star)
        if isinstance(node, gast.MatchMapping):
            pairs = zip(node.keys, map(self.part, node.patterns), strict=True)
            parts = [gast.Tuple([*pair], gast.Load()) for pair in pairs]
            if node.rest is None:
                return op("Entries", *parts)
            self.bound.append((node.rest, self.leaf()))
            return op("Entries", *parts, keywords=[gast.keyword("rest", constant(True))])
        positional = [self.part(part) for part in node.patterns]
        named = [gast.keyword(*pair) for pair in zip(node.kwd_attrs, map(self.part, node.kwd_patterns), strict=True)]
        return op("Fields", node.cls, *positional, keywords=named)

    def part(self, node: gast.AST) -> gast.AST:
        return self.shape(node) or constant(None)

    def at_leaf(self, node: gast.AST, value: Any) -> None:
        """Test and bind what a pattern without parts asks of the value."""
        if isinstance(node, gast.MatchAs) and node.pattern is not None:
            self.at_leaf(node.pattern, value)
        elif not isinstance(node, (gast.MatchAs, gast.MatchStar)):
            self.tests.append(lambda: _test(node, value))
        if isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            self.bound.append((node.name, value))


def _test(node: gast.AST, value: Any) -> gast.AST | None:
    """Whether a value is as a pattern that binds nothing wants it; None for always."""
    if isinstance(node, gast.MatchValue):
        return gast.Compare(value(), [gast.Eq()], [node.value])
    if isinstance(node, gast.MatchSingleton):
        return gast.Compare(value(), [gast.Is()], [constant(node.value)])
    if isinstance(node, gast.MatchOr):
        tests = [_test(part, value) for part in node.patterns]
        if None in tests:
            del tests[tests.index(None) :]  # always true, and the last one
            return gast.BoolOp(gast.Or(), [*tests, constant(True)])
        return gast.BoolOp(gast.Or(), tests)
    pattern = _Pattern(value())
    shape = pattern.shape(node)
    if shape is None:
        return None
    pattern.found = op("take_apart", value(), shape)
    tests = [_is_not_none(copy.deepcopy(pattern.found)), *(make() for make in pattern.tests)]
    return gast.BoolOp(gast.And(), [test for test in tests if test is not None])


def _is_leaf(node: gast.AST) -> bool:
    if isinstance(node, gast.MatchAs):
        return node.pattern is None or _is_leaf(node.pattern)
    return isinstance(node, (gast.MatchValue, gast.MatchSingleton, gast.MatchStar, gast.MatchOr))


def _is_not_none(value: gast.AST) -> gast.Compare:
    return gast.Compare(value, [gast.IsNot()], [constant(None)])


def _binds(pattern: gast.AST) -> bool:
    return any(naming.bound_by(part) for part in walk(pattern))


def _parts(pattern: Any) -> list[gast.AST]:
    """The patterns in a pattern, one level down, in the order in which they match."""
    inner = [] if getattr(pattern, "pattern", None) is None else [pattern.pattern]
    return [*inner, *getattr(pattern, "patterns", []), *getattr(pattern, "kwd_patterns", [])]


def _ways(pattern: gast.AST) -> int:
    """How many patterns without alternatives that bind names say the same as this one."""
    ways = list(map(_ways, _parts(pattern)))
    return sum(ways) if isinstance(pattern, gast.MatchOr) and _binds(pattern) else math.prod(ways)


def _expanded(pattern: Any) -> Iterator[gast.AST]:
    """Those patterns, in the order in which Python tries them."""
    if isinstance(pattern, gast.MatchOr) and _binds(pattern):
        for part in pattern.patterns:
            yield from _expanded(part)
        return
    parts = _parts(pattern)
    for ways in itertools.product(*map(_expanded, parts)):
        # What is compared is in a place of its own in each of them.
        yield copy.deepcopy(pattern, {id(part): copy.deepcopy(way) for part, way in zip(parts, ways, strict=True)})


def matches(fn: gast.FunctionDef, fresh: naming.Fresh) -> gast.FunctionDef:
    """Rewrite the `match` statements of `fn`, not of functions nested in it."""
    fn.body = _Matches(fresh).body(fn.body)
    return fn
