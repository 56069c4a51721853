"""A loop whose body is work for a graph except now and then -> the region of the iterations in between.

    for i in range(9):                       for i in @items("KEY", 8, range(9)) if @on:KEY[8] else range(9):
        x = step(x, i)                           if @on:KEY[8] and @strip("KEY", 8, cells, stops, (i, n), x):
        if i % n == 0:                ->             x, = @take()
            print(x)                                 continue
                                                 x = step(x, i)
                                                 if i % n == 0:
                                                     print(x)

`stops` is `lambda i, n: i % n == 0`. As long as it is false the statements under such conditions do nothing, and the
form is a loop over the others. The conditions are arithmetic on numbers that these do not change, so Python can tell
beforehand for how many iterations. `@items` gives the same items, and lets `@strip` take some away from the loop.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.facts import PART
from autoimport.convert.graph_form.build import OPS
from autoimport.convert.trees import walk

# Kinds of nodes, `ast` or gast.
_ARITHMETIC = {
    "BoolOp", "UnaryOp", "BinOp", "Compare", "Name", "Load", "Constant", "Tuple", "And", "Or", "Not", "USub", "UAdd",
    "Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "In", "NotIn",
}  # fmt: skip
_SCOPES = (gast.Lambda, *naming.COMPREHENSIONS)


@dataclass(frozen=True)
class Strip:
    """What makes a region of a loop's iterations.

    Attributes:
      loop: the loop as written.
      special: the places of its statements that do nothing as long as some conditions are false.
      stops: the conditions under which an iteration does something else.
      given: the locals in them, the loop's target first.
    """

    loop: ast.For
    special: frozenset[int]
    stops: tuple[ast.expr, ...]
    given: tuple[str, ...]

    @property
    def iterations(self) -> ast.For:
        """The loop of the form."""
        loop_over = ast.Attribute(value=ast.Name(id=OPS, ctx=ast.Load()), attr="part", ctx=ast.Load())
        made = ast.For(
            target=self.loop.target,
            iter=ast.Call(func=loop_over, args=[ast.Name(id=PART, ctx=ast.Load())], keywords=[]),
            body=[statement for place, statement in enumerate(self.loop.body) if place not in self.special],
            orelse=[],
        )
        ast.fix_missing_locations(ast.copy_location(made.iter, self.loop.iter))
        return ast.copy_location(made, self.loop)


def conditions(statement: Any) -> list[Any] | None:
    """The conditions of an `if` (`ast` or gast) that does nothing unless one is true; None for another statement."""
    found: list[Any] = []
    while type(statement).__name__ == "If" and _is_arithmetic(statement.test):
        found.append(statement.test)
        if not statement.orelse:
            return found
        if len(statement.orelse) > 1:
            return None
        statement = statement.orelse[0]
    return None


def _is_arithmetic(test: Any) -> bool:
    return all(
        type(node).__name__ in _ARITHMETIC and isinstance(getattr(node, "value", 0), (int, float))
        for node in ast.walk(test)
    )


def is_over_range(loop: gast.AST) -> bool:
    """Whether a loop gives the items of what looks like a `range` to a name."""
    if not isinstance(loop, gast.For) or not isinstance(loop.target, gast.Name) or not isinstance(loop.iter, gast.Call):
        return False
    callee = loop.iter.func
    if not isinstance(callee, gast.Name) or callee.id != "range" or loop.iter.keywords:
        return False
    odd = (gast.Starred, gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await, *_SCOPES)
    return not any(isinstance(part, odd) for part in walk(loop.iter))


def gate_arguments(strip: Strip) -> list[ast.expr]:
    """What `@strip` is told besides: the conditions as one function, and the values of the locals in them."""
    names = [ast.arg(arg=name, annotation=None, type_comment=None) for name in strip.given]
    parameters = ast.arguments(
        posonlyargs=[], args=names, vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    tests = [copy.deepcopy(test) for test in strip.stops]
    stops = ast.Lambda(args=parameters, body=ast.BoolOp(op=ast.Or(), values=tests) if len(tests) > 1 else tests[0])
    values: list[ast.expr] = [ast.Name(id=name, ctx=ast.Load()) for name in strip.given]
    return [stops, ast.Tuple(elts=values, ctx=ast.Load())]
