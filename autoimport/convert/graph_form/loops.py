"""`while` and `for` -> `ops.while_` and `ops.for_`.

>>> show(loops, '''
... def f(xs):
...     total = 0
...     for x in xs:
...         total = total + x
...     return total
... ''')
def f(xs):
    total = 0
<BLANKLINE>
    def loop_body(item):
        nonlocal total
        x = item
        total = total + x
<BLANKLINE>
    def get_state():
        return (total,)
<BLANKLINE>
    def set_state(values):
        nonlocal total
        (total,) = values
    ops.for_(xs, None, loop_body, get_state, set_state, ('total',), 1, None)
    return total
"""

from __future__ import annotations

from typing import Any

import gast

from autoimport.convert.graph_form.build import assign, constant, function, header, lambda_, load, op, place
from autoimport.convert.graph_form.conditionals import Words, block, state, state_arguments
from autoimport.convert.graph_form.jumps import none_of
from autoimport.convert.graph_form.walk import Pass

OPTIONS = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")


class _Options(Pass):
    """Moves a leading `set_loop_options(...)` from the body of a loop to its `options`."""

    def loop(self, node: Any) -> Any:
        self.generic_visit(node)
        first = node.body[0]
        node.options = {}
        if isinstance(first, gast.Expr) and _sets_options(first.value):
            node.options = {keyword.arg: keyword.value for keyword in first.value.keywords}
            node.body = node.body[1:] or [place(gast.Pass(), first)]
        return node

    visit_For = visit_While = loop


def _sets_options(node: gast.AST) -> bool:
    if not isinstance(node, gast.Call) or node.args or not isinstance(node.func, gast.Attribute):
        return False
    owner = node.func.value
    named = node.func.attr == "set_loop_options" and isinstance(owner, gast.Attribute) and owner.attr == "experimental"
    return named and all(keyword.arg in OPTIONS for keyword in node.keywords)


def loop_options(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Collect the options of every loop in `fn` and in functions nested in it."""
    _Options().enter(fn)
    return fn


class _Loops(Pass):
    def __init__(self, words: Words) -> None:
        self.words = words

    def options(self, node: Any) -> gast.AST:
        if not node.options:
            return constant(None)
        keys: list[gast.AST] = [constant(key) for key in node.options]
        return gast.Dict(keys, [lambda_(value) for value in node.options.values()])

    def visit_While(self, node: gast.While) -> Any:
        self.generic_visit(node)
        words, outline = self.words, node.outline
        where = header(node, node.test)
        functions = [
            function(words.loop_test, [], [place(gast.Return(node.test), node.test)]),
            block(words.loop_body, [], node.body, outline, "body"),
            *state(outline, words),
        ]
        arguments = [load(words.loop_test), load(words.loop_body), *state_arguments(outline, words)]
        call = gast.Expr(op("while_", *arguments, self.options(node)))
        return [place(new, where) for new in (*functions, call)]

    def visit_For(self, node: gast.For) -> Any:
        self.generic_visit(node)
        words, outline = self.words, node.outline
        where = header(node, node.iter)
        first = place(assign(node.target, load(words.item)), node.target)
        functions = [
            block(words.loop_body, [words.item], [first, *node.body], outline, "body"),
            *state(outline, words),
        ]
        more: gast.AST = constant(None)
        if node.stop:
            functions.append(function(words.loop_more, [], [gast.Return(none_of(node.stop))]))
            more = load(words.loop_more)
        arguments = [node.iter, more, load(words.loop_body), *state_arguments(outline, words)]
        call = gast.Expr(op("for_", *arguments, self.options(node)))
        return [place(new, where) for new in (*functions, call)]


def loops(fn: gast.FunctionDef, words: Words) -> gast.FunctionDef:
    """Rewrite every annotated loop in `fn` and in functions nested in it."""
    _Loops(words).enter(fn)
    return fn
