"""Source text of a module -> its code object with gates, facts, and forms to be made: the pipeline, step by step."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from types import CodeType

from autoimport.convert.facts import Converted, FunctionFacts
from autoimport.convert.forms import build_form, function_blueprint, future_flags, region_blueprint
from autoimport.convert.functions import Function, find_functions, is_generator, obstacle
from autoimport.convert.gates import insert_gate, insert_region_gate, insert_strip_gate
from autoimport.convert.graph_form import Unconvertible
from autoimport.convert.key import content_key
from autoimport.convert.making import Forms
from autoimport.convert.parse import Source, compile_source, compile_tree, parse
from autoimport.convert.regions import Region, find_regions

# Changes a module's tree in place, in a way that its graph forms need not follow.
Rewrite = Callable[[ast.Module], None]
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
    with_forms: bool = False,
) -> Converted:
    """Compile a module into eager forms with gates; `rewrite` may change their tree.

    Graph forms are made on first use, or now if `with_forms`.

    Raises what CPython raises for the same source. A fault of our own costs the gates, not the module, and is told in
    `faults`; it is raised if `strict` (None: as AUTOIMPORT_STRICT in the environment says). `is_main` tells that the
    module is run as a program, so that nobody but itself looks at its globals.
    """
    key = key or content_key(source, is_main=is_main)
    strict = os.environ.get("AUTOIMPORT_STRICT") == "1" if strict is None else strict
    try:
        return _convert(source, path, key, is_main, strict, rewrite, with_forms)
    except Exception as error:
        fault = error
    code = compile_source(source, path)  # where the source is at fault, CPython says so here
    if strict:
        raise fault
    return Converted(key, code, Forms(source, path, 0), (), [fault])


class Workshop:
    """A module's functions and regions, in whose tree no gate stands: what its graph forms are made of."""

    def __init__(self, source: Source, path: str, is_main: bool, faults: Faults = None) -> None:
        self.path = path
        self.tree = parse(source, path)
        self.functions = find_functions(self.tree, path)
        self._may_have_regions = _may_use_library(source)
        self._is_main, self._faults = is_main, faults

    @cached_property
    def regions(self) -> list[Region]:
        """Found on first need, which the form of a function is not."""
        if not self._may_have_regions:
            return []
        return _regions(self.tree, self.functions, self._is_main, self._faults)

    def form(self, index: int) -> CodeType:
        """The graph form of a site. Raises Unconvertible if there can be none."""
        count = len(self.functions)
        if index < count:
            return build_form(function_blueprint(self.functions[index]), self.path)
        return build_form(region_blueprint(self.regions[index - count], future_flags(self.tree)), self.path)


def _convert(
    source: Source, path: str, key: str, is_main: bool, strict: bool, rewrite: Rewrite | None, with_forms: bool
) -> Converted:
    faults: list[Exception] = []
    told = None if strict else faults
    shop = Workshop(source, path, is_main, told)
    functions, regions = shop.functions, shop.regions
    facts = [*map(function_facts, functions), *map(region_facts, regions)]
    made: dict[int, CodeType | None] = {}
    for index, fact in enumerate(facts):
        if fact.has_form and (with_forms or _is_doubtful(functions, regions, index)):
            # No gate is put in before, since forms are made of the same nodes.
            made[index], facts[index] = _outcome(partial(shop.form, index), fact, told)
        elif not fact.has_form:
            made[index] = None
    for index, fn in enumerate(functions):
        if facts[index].has_form:
            insert_gate(fn, key, index)
    sites = {region: index if facts[index].has_form else None for index, region in enumerate(regions, len(functions))}
    inner = {alternative for region in regions for alternative in region.alternatives}
    for region in regions:
        if region not in inner and region.strip is None:
            _insert_gates(region, region.container, key, sites)
    for region, site in sites.items():  # when everything else in the loops has its gates
        if region.strip is not None and site is not None:
            insert_strip_gate(region, region.strip, key, site)
    if rewrite is not None:
        rewrite(shop.tree)
    stored = sorted(set().union(*(fn.stored for fn in functions), _stored_at_top_level(shop.tree, regions)))
    forms = Forms(
        source,
        path,
        len(facts),
        is_main=is_main,
        stored=tuple(stored),
        made=made,
        tell=None if strict else faults.append,
    )
    return Converted(key, compile_tree(shop.tree, path), forms, tuple(facts), faults)


def _is_doubtful(functions: list[Function], regions: list[Region], index: int) -> bool:
    """Whether a form may be impossible, so that making it is the only way to know whether there is a gate."""
    if index < len(functions):
        return functions[index].is_doubtful
    region = regions[index - len(functions)]
    if region.owner is not None:
        return region.owner.is_doubtful
    return any(isinstance(node, ast.NamedExpr) for statement in region.statements for node in ast.walk(statement))


def _stored_at_top_level(tree: ast.Module, regions: list[Region]) -> set[str]:
    """The attributes and globals that regions of the module itself store, and the numbers that its loops count."""
    own = [region for region in regions if region.owner is None]
    stored = set().union(*(region.crossing.globals for region in own))
    for node in (node for region in own for statement in region.statements for node in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            stored.add(node.attr)
    for statement in tree.body if own else ():
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            counting = (node for node in ast.walk(statement) if isinstance(node, (ast.For, ast.AugAssign)))
            names = (part for node in counting for part in ast.walk(node.target))
            stored.update(part.id for part in names if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    return stored


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


def function_facts(fn: Function) -> FunctionFacts:
    """What is known of a function before its form is made."""
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
        return replace(facts, has_form=False, reason=against[0], reason_line=against[1])
    if is_generator(fn):
        return replace(facts, kind="generator", reason="a generator", reason_line=fn.pauses)
    return facts


def region_facts(region: Region) -> FunctionFacts:
    """The same of a region."""
    return FunctionFacts(
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


def _outcome(
    build: Callable[[], CodeType], facts: FunctionFacts, faults: Faults
) -> tuple[CodeType | None, FunctionFacts]:
    """A graph form, None if there is none, and the facts; a fault of ours goes to `faults`, if any."""
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
