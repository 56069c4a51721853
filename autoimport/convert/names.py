"""Scopes: a function in, who binds, reads and captures which name out.

Everything here follows Python's own rules (`symtable`), on gast trees, which `symtable` cannot read. What happens to
the names as the function runs (definite assignment, liveness) is worked out in `flow.py` from the events given here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import gast

from autoimport.convert.trees import children, walk

DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


class Event(NamedTuple):
    """A name is read, assigned or deleted at some point of an evaluation.

    Attributes:
      name: the name.
      kind: "load", "store" or "del".
      node: the node that carries it: a Name mostly.
      certain: false in an operand that may be skipped.
      inner: the read happens in the frame of a comprehension.
    """

    name: str
    kind: str
    node: gast.AST
    certain: bool = True
    inner: bool = False


@dataclass(frozen=True)
class Scope:
    """The names of one function: bound in it, or declared to live elsewhere."""

    bound: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


def parameters(args: gast.arguments) -> list[str]:
    """All parameter names of a function."""
    named = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [parameter.id for parameter in named if parameter is not None]


def body_of(fn: gast.AST) -> list[gast.AST]:
    """The statements of a function or class; of a lambda its expression."""
    return fn.body if isinstance(fn.body, list) else [fn.body]


def scope_of(fn: gast.AST) -> Scope:
    """The scope of a function, lambda or class."""
    bound: set[str] = set(parameters(fn.args)) if isinstance(fn, FUNCTIONS) else set()
    bound.update(parameter.name for parameter in getattr(fn, "type_params", None) or [])
    global_names: set[str] = set()
    nonlocal_names: set[str] = set()
    for node in walk_scope(body_of(fn)):
        kind = type(node)
        if kind is gast.Name:
            if type(node.ctx) is not gast.Load:
                bound.add(node.id)
        elif kind is gast.Global:
            global_names.update(node.names)
        elif kind is gast.Nonlocal:
            nonlocal_names.update(node.names)
        elif kind in _BOUND:
            bound.update(_BOUND[kind](node))
    return Scope(frozenset(bound - global_names - nonlocal_names), frozenset(global_names), frozenset(nonlocal_names))


def bound_by(node: gast.AST) -> Iterable[str]:
    """The names that this node itself (not what is below it) binds in its scope."""
    kind = type(node)
    if kind is gast.Name:
        return () if type(node.ctx) is gast.Load else (node.id,)
    bound = _BOUND.get(kind)
    return () if bound is None else bound(node)


def _imported(node: gast.AST) -> list[str]:
    return [alias.asname or alias.name.split(".")[0] for alias in node.names]


def _captured(node: gast.AST) -> tuple[str, ...]:
    return (node.name,) if node.name else ()


_BOUND: dict[type[Any], Callable[[gast.AST], Iterable[str]]] = {
    **dict.fromkeys(DEFINITIONS, _captured),
    **dict.fromkeys((gast.Import, gast.ImportFrom), _imported),
    **dict.fromkeys((gast.MatchAs, gast.MatchStar), _captured),
    gast.MatchMapping: lambda node: (node.rest,) if node.rest else (),
}


def walk_scope(roots: Iterable[gast.AST]) -> list[gast.AST]:
    """All nodes that are evaluated in the scope of `roots`, in no particular order; contexts are left out.

    Nested functions and classes are given themselves, with what their definition evaluates, without their bodies.
    Of comprehensions the first iterable is given, and the walruses in them, which bind here.
    """
    found: list[gast.AST] = []
    stack = list(roots)
    while stack:
        node = stack.pop()
        found.append(node)
        kind = type(node)
        if kind is not gast.Name and kind is not gast.Constant:
            stack += NESTED.get(kind, children)(node)
    return found


def definition_parts(fn: gast.AST) -> list[gast.AST]:
    """What the definition of a function or lambda evaluates at once, annotations aside."""
    defaults = [*fn.args.defaults, *(default for default in fn.args.kw_defaults if default is not None)]
    return [*getattr(fn, "decorator_list", ()), *defaults]


def walrus_targets(comprehension: gast.AST) -> list[gast.AST]:
    """Targets of the walruses in a comprehension, nested comprehensions included."""
    found: list[gast.AST] = []
    stack = children(comprehension)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is gast.NamedExpr:
            found.append(node.target)
        if kind is not gast.Lambda:
            stack += children(node)
    return found


def class_parts(node: gast.ClassDef) -> list[gast.AST]:
    """What a class statement evaluates in the scope around it."""
    return [*node.decorator_list, *node.bases, *node.keywords]


def _comprehension_parts(node: gast.AST) -> list[gast.AST]:
    return [node.generators[0].iter, *walrus_targets(node)]


# Of each class of node that opens a scope: what is evaluated in the scope around it.
NESTED: dict[type[Any], Callable[[gast.AST], list[gast.AST]]] = {
    **dict.fromkeys(FUNCTIONS, definition_parts),
    gast.ClassDef: class_parts,
    **dict.fromkeys(COMPREHENSIONS, _comprehension_parts),
}


def free_names(node: gast.AST) -> set[str]:
    """The names that a nested function, lambda, class or comprehension takes from the scopes around it.

    Globals that it reads without declaring them are among them: only the scope around can tell the difference.
    """
    if isinstance(node, COMPREHENSIONS):
        return comprehension_names(node)
    scope = scope_of(node)
    used = loaded(body_of(node)) | set(scope.nonlocals)
    return used - scope.bound - scope.globals - ({"__class__"} if isinstance(node, gast.ClassDef) else set())


def comprehension_names(node: gast.AST) -> set[str]:
    """Names that a comprehension reads in its own frame (all but those of its first iterable), without its targets."""
    targets: set[str] = set()
    parts: list[gast.AST] = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
    for index, generator in enumerate(node.generators):
        targets.update(name for part in walk_scope([generator.target]) for name in bound_by(part))
        parts.extend([generator.target, *generator.ifs, *([generator.iter] if index else [])])
    return loaded(parts) - targets


def loaded(roots: Iterable[gast.AST]) -> set[str]:
    """Names read or deleted below `roots`, nested scopes included, as seen from the scope of `roots`."""
    found: set[str] = set()
    for node in walk_scope(roots):
        if type(node) is gast.Name:
            if type(node.ctx) in (gast.Load, gast.Del):
                found.add(node.id)
        elif type(node) in NESTED:
            found |= free_names(node)
    return found


Captured = tuple[set[str], set[str], set[str]]


def captured_names(fn: gast.AST, scope: Scope) -> Captured:
    """Names that outlive a statement of `fn` in something nested: (read later, assigned later, deleted later).

    Functions, lambdas, classes and generator expressions read at any time; list comprehensions are over at once.
    """
    read: set[str] = set()
    assigned: set[str] = set()
    deleted: set[str] = set()
    for node in nested_scopes(body_of(fn)):
        if isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.GeneratorExp)):
            read |= free_names(node)
            late_changes(node, assigned, deleted)
    return read & scope.bound, assigned & scope.bound, deleted & scope.bound


def nested_scopes(roots: Iterable[gast.AST]) -> Iterator[gast.AST]:
    """Functions, lambdas, classes, comprehensions directly below `roots`; those inside comprehensions too."""
    for node in walk_scope(roots):
        if isinstance(node, COMPREHENSIONS):
            yield node
            yield from (inner for inner in nested_scopes(children(node)))
        elif isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            yield node


def late_changes(node: gast.AST, assigned: set[str], deleted: set[str]) -> None:
    """Collect the names that functions in `node` declare nonlocal and change."""
    for inner in walk(node):
        if isinstance(inner, gast.Nonlocal):
            assigned.update(inner.names)
        elif isinstance(inner, gast.Name) and isinstance(inner.ctx, gast.Del):
            deleted.add(inner.id)
    if isinstance(node, gast.GeneratorExp):
        assigned.update(target.id for target in walrus_targets(node))
    deleted &= assigned


def events(node: Any, certain: bool = True) -> list[Event]:
    """What an expression (or a target, or a list of these) does with the names of its scope, in order of evaluation."""
    found: list[Event] = []
    _collect(node, certain, found)
    return found


def _collect(node: Any, certain: bool, found: list[Event]) -> None:
    kind = type(node)
    if kind is gast.Name:
        context = type(node.ctx)
        found.append(Event(node.id, _USES.get(context, "store"), node, certain))
    elif kind is list:
        for part in node:
            _collect(part, certain, found)
    elif kind is gast.NamedExpr:
        _collect(node.value, certain, found)
        _collect(node.target, certain, found)
    elif kind is gast.BoolOp:
        _collect(node.values[0], certain, found)
        _collect(node.values[1:], False, found)
    elif kind is gast.Compare:
        _collect([node.left, node.comparators[0]], certain, found)
        _collect(node.comparators[1:], False, found)
    elif kind is gast.IfExp:
        _collect(node.test, certain, found)
        _collect([node.body, node.orelse], False, found)
    elif kind is gast.Lambda:
        _collect(definition_parts(node), certain, found)
    elif kind in COMPREHENSIONS:
        _collect_comprehension(node, certain, found)
    elif node is not None:
        for part in children(node):
            _collect(part, certain, found)


_USES = {gast.Load: "load", gast.Del: "del"}


def _collect_comprehension(node: gast.AST, certain: bool, found: list[Event]) -> None:
    """The first iterable, then what the comprehension's frame reads from its surroundings and binds there."""
    _collect(node.generators[0].iter, certain, found)
    if not isinstance(node, gast.GeneratorExp):
        for read in free_loads(node, comprehension_names(node)):
            found.append(Event(read.id, "load", read, certain, inner=True))
    for target in walrus_targets(node):
        found.append(Event(target.id, "store", target, False))


def free_loads(node: gast.AST, names: set[str]) -> Iterator[gast.Name]:
    """The Name nodes in a nested scope that read one of `names` from outside it.

    For a comprehension: without its first iterable, whose names belong to the scope around. Nested functions, lambdas
    and classes are searched too, by their own scopes.
    """
    if not names:
        return
    if isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        yield from _loads_below(children(node), names & comprehension_names(node), first)
    else:
        scope = scope_of(node)
        inner = names - scope.bound - scope.globals
        yield from _loads_below(body_of(node), inner, None)


def _loads_below(roots: list[gast.AST], names: set[str], skip: gast.AST | None) -> Iterator[gast.Name]:
    stack = list(roots)
    while stack and names:
        node = stack.pop()
        if node is skip:
            continue
        if isinstance(node, gast.Name):
            if node.id in names and isinstance(node.ctx, (gast.Load, gast.Del)):
                yield node
        elif isinstance(node, COMPREHENSIONS):
            stack.append(node.generators[0].iter)
            yield from free_loads(node, names)
        elif isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            stack.extend(definition_parts(node) if not isinstance(node, gast.ClassDef) else class_parts(node))
            yield from free_loads(node, names)
        else:
            stack.extend(children(node))


def used_names(tree: gast.AST) -> set[str]:
    """Every identifier in a tree that a new name could clash with."""
    used: set[str] = set()
    for node in walk(tree):
        if isinstance(node, gast.Name):
            used.add(node.id)
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            used.update(node.names)
        else:
            used.update(bound_by(node))
    return used


class Fresh:
    """Gives out names that clash neither with the person's nor with each other."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used = set(used)

    def __call__(self, base: str) -> str:
        """Return `base`, or `base_1`, `base_2`, ... if it is taken."""
        name, number = base, 0
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        return name
