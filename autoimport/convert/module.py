"""Source text of a module -> its code object with gates, graph forms and facts: the pipeline, step by step."""

from __future__ import annotations

import os
from types import CodeType

from autoimport.convert.facts import Converted, FunctionFacts
from autoimport.convert.forms import build_form
from autoimport.convert.functions import Function, find_functions, obstacle
from autoimport.convert.gates import insert_gate
from autoimport.convert.graph_form import Unconvertible
from autoimport.convert.key import content_key
from autoimport.convert.parse import Source, compile_source, compile_tree, parse

Outcome = tuple[CodeType | None, FunctionFacts]


def convert_module(source: Source, path: str, *, key: str | None = None) -> Converted:
    """Compile a module into eager forms with gates, and graph forms.

    Raises what CPython raises for the same source. A fault of our own costs the gates, not the module; it is raised
    if the environment says AUTOIMPORT_STRICT=1.
    """
    key = key or content_key(source)
    try:
        return _convert(source, path, key)
    except Exception as error:
        fault = error
    code = compile_source(source, path)  # where the source is at fault, CPython says so here
    if _is_strict():
        raise fault
    return Converted(key, code, (), ())


def _convert(source: Source, path: str, key: str) -> Converted:
    tree = parse(source, path)
    functions = find_functions(tree, path)
    outcomes = [convert_function(fn, path) for fn in functions]
    for index, (fn, (form, _)) in enumerate(zip(functions, outcomes, strict=True)):
        if form is not None:
            insert_gate(fn, key, index)
    forms = tuple(form for form, _ in outcomes)
    return Converted(key, compile_tree(tree, path), forms, tuple(facts for _, facts in outcomes))


def convert_function(fn: Function, path: str) -> Outcome:
    """The graph form of one function, None if it has none, and its facts."""
    against = obstacle(fn)
    if against is not None:
        return None, _facts(fn, *against)
    try:
        return build_form(fn, path), _facts(fn)
    except Unconvertible as why:
        return None, _facts(fn, why.reason, why.line)
    except Exception as fault:
        if _is_strict():
            raise
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


def _is_strict() -> bool:
    return os.environ.get("AUTOIMPORT_STRICT") == "1"
