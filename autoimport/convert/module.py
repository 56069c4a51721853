"""Source text of a module -> its code object with gates, graph forms and facts: the pipeline, step by step."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from dataclasses import replace
from types import CodeType

from autoimport.convert.facts import Converted, FunctionFacts
from autoimport.convert.forms import build_form, function_blueprint, future_flags, region_blueprint
from autoimport.convert.functions import Function, find_functions, is_generator, obstacle
from autoimport.convert.gates import insert_gate, insert_region_gate
from autoimport.convert.graph_form import Unconvertible
from autoimport.convert.key import content_key
from autoimport.convert.parse import Source, compile_source, compile_tree, parse
from autoimport.convert.regions import Region, find_regions

# Changes a module's tree in place, in a way that its graph forms need not follow.
Rewrite = Callable[[ast.Module], None]
Outcome = tuple[CodeType | None, FunctionFacts]
# Where faults of ours go to; None to raise them.
Faults = list[Exception] | None


def convert_module(
    source: Source,
    path: str,
    *,
    key: str | None = None,
    is_main: bool = False,
    strict: bool | None = None,
    rewrite: Rewrite | None = None,
) -> Converted:
    """Compile a module into eager forms with gates, and graph forms; `rewrite` may change the tree of the eager forms.

    Raises what CPython raises for the same source. A fault of our own costs the gates, not the module, and is told in
    `faults`; it is raised if `strict` (None: as AUTOIMPORT_STRICT in the environment says). `is_main` tells that the
    module is run as a program, so that nobody but itself looks at its globals.
    """
    key = key or content_key(source, is_main=is_main)
    strict = os.environ.get("AUTOIMPORT_STRICT") == "1" if strict is None else strict
    try:
        return _convert(source, path, key, is_main, strict, rewrite)
    except Exception as error:
        fault = error
    code = compile_source(source, path)  # where the source is at fault, CPython says so here
    if strict:
        raise fault
    return Converted(key, code, (), (), (fault,))


def _convert(source: Source, path: str, key: str, is_main: bool, strict: bool, rewrite: Rewrite | None) -> Converted:
    tree = parse(source, path)
    functions = find_functions(tree, path)
    faults: list[Exception] = []
    told = None if strict else faults
    regions = _regions(tree, functions, is_main, told) if _may_use_library(source) else []
    outcomes = [convert_function(fn, path, told) for fn in functions]
    outcomes += [convert_region(region, future_flags(tree), path, told) for region in regions]
    # Forms are made of the same nodes: no gate is put in before the last form is there.
    has_form = [form is not None for form, _ in outcomes]
    for index, fn in enumerate(functions):
        if has_form[index]:
            insert_gate(fn, key, index)
    sites = {region: index if has_form[index] else None for index, region in enumerate(regions, len(functions))}
    inner = {alternative for region in regions for alternative in region.alternatives}
    for region in regions:
        if region not in inner:
            _insert_gates(region, region.container, key, sites)
    if rewrite is not None:
        rewrite(tree)
    forms = tuple(form for form, _ in outcomes)
    facts = tuple(facts for _, facts in outcomes)
    return Converted(key, compile_tree(tree, path), forms, facts, tuple(faults))


def _may_use_library(source: Source) -> bool:
    """Whether the text names a library whose work may be a graph: most modules do not, and have no regions."""
    text = source.encode(errors="replace") if isinstance(source, str) else source
    return b"tensorflow" in text or b"keras" in text


def _regions(tree: ast.Module, functions: list[Function], is_main: bool, faults: Faults) -> list[Region]:
    try:
        return find_regions(tree, functions, is_main=is_main)
    except Exception as fault:
        if faults is None:
            raise
        faults.append(fault)
        return []


def _insert_gates(region: Region, container: list[ast.stmt], key: str, sites: dict[Region, int | None]) -> None:
    """Put the gates of a region and its alternatives in; without a form of its own it is its alternatives only."""
    site = sites[region]
    if site is not None:
        container = insert_region_gate(region, container, key, site)
    for alternative in region.alternatives:
        _insert_gates(alternative, container, key, sites)


def convert_function(fn: Function, path: str, faults: Faults) -> Outcome:
    """The graph form of one function, None if it has none, and its facts; a fault of ours goes to `faults`, if any."""
    facts = FunctionFacts(
        name=fn.qualified_name,
        line=fn.node.lineno,
        end_line=fn.node.end_lineno or fn.node.lineno,
        parameters=fn.parameters,
        has_form=True,
        has_loop=fn.rolls,
        long_loops=fn.long_loops,
    )
    against = obstacle(fn)
    if against is not None:
        return None, replace(facts, has_form=False, reason=against[0], reason_line=against[1])
    if is_generator(fn):
        facts = replace(facts, kind="generator", reason="a generator", reason_line=fn.pauses)
    return _outcome(lambda: build_form(function_blueprint(fn), path), facts, faults)


def convert_region(region: Region, flags: int, path: str, faults: Faults) -> Outcome:
    """The same for one region; `flags` are those of the compiler."""
    facts = FunctionFacts(
        name=region.owner.qualified_name if region.owner else "<module>",
        line=region.line,
        end_line=region.end_line,
        parameters=region.crossing.parameters,
        has_form=True,
        has_loop=region.has_loop,
        kind="region",
        results=region.crossing.results,
        end=region.end,
    )
    return _outcome(lambda: build_form(region_blueprint(region, flags), path), facts, faults)


def _outcome(build: Callable[[], CodeType], facts: FunctionFacts, faults: Faults) -> Outcome:
    try:
        return build(), facts
    except Unconvertible as why:
        return None, replace(facts, has_form=False, reason=why.reason, reason_line=why.line)
    except Exception as fault:
        if faults is None:
            raise
        faults.append(fault)
        reason = f"internal: {type(fault).__name__}: {fault}"
        return None, replace(facts, has_form=False, reason=reason, reason_line=facts.line)
