"""Source text of a module -> its code object with gates, graph forms and facts: the pipeline, step by step."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from types import CodeType

from autoimport.convert.facts import Converted, FunctionFacts
from autoimport.convert.forms import build_form
from autoimport.convert.functions import Function, find_functions, obstacle
from autoimport.convert.gates import insert_gate
from autoimport.convert.graph_form import Unconvertible
from autoimport.convert.key import content_key
from autoimport.convert.parse import Source, compile_source, compile_tree, parse

# Changes a module's tree in place, in a way that its graph forms need not follow.
Rewrite = Callable[[ast.Module], None]
Outcome = tuple[CodeType | None, FunctionFacts]


def convert_module(
    source: Source, path: str, *, key: str | None = None, strict: bool | None = None, rewrite: Rewrite | None = None
) -> Converted:
    """Compile a module into eager forms with gates, and graph forms; `rewrite` may change the tree of the eager forms.

    Raises what CPython raises for the same source. A fault of our own costs the gates, not the module, and is told in
    `faults`; it is raised if `strict` (None: as AUTOIMPORT_STRICT in the environment says).
    """
    key = key or content_key(source)
    strict = os.environ.get("AUTOIMPORT_STRICT") == "1" if strict is None else strict
    try:
        return _convert(source, path, key, strict, rewrite)
    except Exception as error:
        fault = error
    code = compile_source(source, path)  # where the source is at fault, CPython says so here
    if strict:
        raise fault
    return Converted(key, code, (), (), (fault,))


def _convert(source: Source, path: str, key: str, strict: bool, rewrite: Rewrite | None) -> Converted:
    tree = parse(source, path)
    functions = find_functions(tree, path)
    faults: list[Exception] = []
    outcomes = [convert_function(fn, path, None if strict else faults) for fn in functions]
    for index, (fn, (form, _)) in enumerate(zip(functions, outcomes, strict=True)):
        if form is not None:
            insert_gate(fn, key, index)
    if rewrite is not None:
        rewrite(tree)
    forms = tuple(form for form, _ in outcomes)
    facts = tuple(facts for _, facts in outcomes)
    return Converted(key, compile_tree(tree, path), forms, facts, tuple(faults))


def convert_function(fn: Function, path: str, faults: list[Exception] | None) -> Outcome:
    """The graph form of one function, None if it has none, and its facts; a fault of ours goes to `faults`, if any."""
    against = obstacle(fn)
    if against is not None:
        return None, _facts(fn, *against)
    try:
        return build_form(fn, path), _facts(fn)
    except Unconvertible as why:
        return None, _facts(fn, why.reason, why.line)
    except Exception as fault:
        if faults is None:
            raise
        faults.append(fault)
        return None, _facts(fn, f"internal: {type(fault).__name__}: {fault}", fn.node.lineno)


def _facts(fn: Function, reason: str | None = None, reason_line: int | None = None) -> FunctionFacts:
    return FunctionFacts(
        name=fn.qualified_name,
        line=fn.node.lineno,
        end_line=fn.node.end_lineno or fn.node.lineno,
        parameters=fn.parameters,
        has_form=reason is None,
        reason=reason,
        reason_line=reason_line,
        has_loop=fn.has_loop,
    )

