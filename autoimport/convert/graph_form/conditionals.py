"""`if` -> `ops.if_`, and what loops share with it: blocks as functions over named state.

>>> show(conditionals, '''
... def f(x):
...     if x > 0:
...         y = x
...     else:
...         y = 0
...     return y
... ''')
def f(x):
    y = ops.Undefined('y')
<BLANKLINE>
    def then_branch():
        nonlocal y
        y = x
<BLANKLINE>
    def else_branch():
        nonlocal y
        y = 0
<BLANKLINE>
    def get_state():
        return (y,)
<BLANKLINE>
    def set_state(values):
        nonlocal y
        (y,) = values
    ops.if_(x > 0, then_branch, else_branch, get_state, set_state, ('y',), 1)
    return y
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from autoimport.convert.graph_form.build import (
    assign,
    constant,
    function,
    header,
    load,
    names_tuple,
    op,
    place,
    store,
    undefined,
)
from autoimport.convert.graph_form.flow import Outline
from autoimport.convert.graph_form.walk import Pass
from autoimport.convert.names import Fresh


@dataclass(frozen=True)
class Words:
    """The names of generated functions and of their parameters, unique against the person's names."""

    then_branch: str
    else_branch: str
    loop_test: str
    loop_body: str
    loop_more: str
    get_state: str
    set_state: str
    values: str
    item: str

    @staticmethod
    def choose(fresh: Fresh) -> Words:
        """Choose them once a form: each statement defines its functions right in front of their use."""
        return Words(**{word: fresh(word) for word in Words.__dataclass_fields__})


def block(name: str, parameters: list[str], body: list[gast.AST], outline: Outline, key: str) -> gast.FunctionDef:
    """A block as a function, with the declarations and first values that its names need."""
    head: list[gast.AST] = []
    if outline.globals.get(key):
        head.append(gast.Global(outline.globals[key]))
    if outline.nonlocals.get(key):
        head.append(gast.Nonlocal(outline.nonlocals[key]))
    head += [undefined(local) for local in outline.inits.get(key, ())]
    return function(name, parameters, [*head, *body])


def state(outline: Outline, words: Words) -> list[gast.AST]:
    """`get_state` and `set_state` over the state variables."""
    names = list(outline.names)
    get = function(words.get_state, [], [gast.Return(gast.Tuple([load(name) for name in names], gast.Load()))])
    body: list[gast.AST] = []
    if names:
        targets = gast.Tuple([store(name) for name in names], gast.Store())
        body = [gast.Nonlocal(names), assign(targets, load(words.values))]
    both = [get, function(words.set_state, [words.values], body)]
    for part in both:
        part.is_state = True
    return both


def state_arguments(outline: Outline, words: Words) -> list[gast.AST]:
    """The arguments that every statement operator ends with."""
    return [load(words.get_state), load(words.set_state), names_tuple(outline.names), constant(outline.n_out)]


class _Conditionals(Pass):
    def __init__(self, words: Words) -> None:
        self.words = words

    def visit_If(self, node: gast.If) -> Any:
        self.generic_visit(node)
        words, outline = self.words, node.outline
        where = header(node, node.test)
        functions = [
            block(words.then_branch, [], node.body, outline, "body"),
            block(words.else_branch, [], node.orelse, outline, "orelse"),
            *state(outline, words),
        ]
        branches = [load(words.then_branch), load(words.else_branch)]
        call = gast.Expr(op("if_", node.test, *branches, *state_arguments(outline, words)))
        return [place(new, where) for new in (*functions, call)]


def conditionals(fn: gast.FunctionDef, words: Words) -> gast.FunctionDef:
    """Rewrite every annotated `if` in `fn` and in functions nested in it."""
    _Conditionals(words).enter(fn)
    return fn
