"""Graph forms: a function as a person wrote it in, the same function in calls of operators out.

The form is made by small passes, one construct each. First the structure of each function: its jumps, then the
outlines of its branches and loops, from the outermost function inwards. Then the constructs, in one walk each over
the whole tree; last what only a trace needs to see (reads, stores, calls), which a readable form leaves out.
"""

from __future__ import annotations

from dataclasses import replace

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.access import access
from autoimport.convert.graph_form.arithmetic import arithmetic
from autoimport.convert.graph_form.augmented import augmented
from autoimport.convert.graph_form.booleans import booleans
from autoimport.convert.graph_form.calls import calls
from autoimport.convert.graph_form.comparisons import comparisons
from autoimport.convert.graph_form.comprehensions import comprehensions
from autoimport.convert.graph_form.conditionals import Words, conditionals
from autoimport.convert.graph_form.context import Context, TooDeep, Unconvertible
from autoimport.convert.graph_form.formats import formats
from autoimport.convert.graph_form.loops import loop_options, loops
from autoimport.convert.graph_form.pauses import YIELDS, restored
from autoimport.convert.graph_form.raises import raises
from autoimport.convert.graph_form.structure import LOOPS, structure
from autoimport.convert.graph_form.undefined import checked_reads, deletes
from autoimport.convert.graph_form.unpacking import unpacking
from autoimport.convert.graph_form.walk import kinds_in
from autoimport.convert.graph_form.withs import protocols

__all__ = ["Context", "TooDeep", "Unconvertible", "graph_form"]


def graph_form(fn: gast.FunctionDef, context: Context, *, readable: bool = False) -> gast.FunctionDef:
    """Turn `fn` into its graph form.

    Args:
      fn: the function, whose nodes become part of the form; a lambda is given as a function that returns its body.
      context: where it comes from.
      readable: leave out what only a trace needs to see.
    Raises:
      Unconvertible: a construct of it cannot be in a form.
    """
    try:
        return _graph_form(fn, context, readable)
    except RecursionError:
        raise TooDeep("code nested too deeply", fn.lineno) from None


def _graph_form(fn: gast.FunctionDef, context: Context, readable: bool) -> gast.FunctionDef:
    fresh = naming.Fresh(naming.used_names(fn) | context.free | set(context.parameters))
    words = Words.choose(fresh)
    scopes = replace(context, free=context.free | naming.scope_of(fn).nonlocals)
    kinds = kinds_in(fn)
    if kinds & LOOPS:
        fn = loop_options(fn)
    has_marks = structure(fn, fresh, context, kinds)
    kinds = kinds_in(fn)
    if gast.Delete in kinds:
        fn = deletes(fn, scopes)
    if gast.AugAssign in kinds:
        fn = augmented(fn, scopes, fresh)
    if has_marks:
        fn = checked_reads(fn)
    if kinds & LOOPS:
        fn = loops(fn, words)
    if gast.If in kinds:
        fn = conditionals(fn, words)
    if kinds & YIELDS:
        fn = restored(fn)
    if kinds & {gast.Assign, gast.For}:
        fn = unpacking(fn, scopes, fresh)
    if kinds & {gast.comprehension, gast.match_case}:
        fn = comprehensions(fn, fresh)
    if gast.Compare in kinds:
        fn = comparisons(fn)
    if kinds & {gast.BoolOp, gast.UnaryOp, gast.IfExp, gast.For}:  # a loop may stop at one of several flags
        fn = booleans(fn)
    if kinds & {gast.FormattedValue, gast.Mod}:
        fn = formats(fn)
    if kinds & {gast.Assert, gast.Raise}:
        fn = raises(fn, guarded=not readable)
    if not readable:
        if kinds & {gast.BinOp, gast.Compare}:
            fn = arithmetic(fn)
        if kinds & {gast.With, gast.Try, gast.TryStar}:
            fn = protocols(fn)
        fn = calls(fn)
        fn = access(fn, scopes, fresh)
    return fn
