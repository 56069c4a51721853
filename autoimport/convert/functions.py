"""`ast` tree of a module -> its functions in source order, each with its code object and the reasons against a gate.

What CPython's compiler knows (free names, kind, position of the first instruction) is asked of CPython: the tree is
compiled once with a number in place of each function's first line, by which code objects and nodes find each other.
"""

from __future__ import annotations

import ast
import copy
import inspect
import opcode
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from types import CodeType
from typing import Any, cast

from autoimport.convert.graph_form.context import mangle
from autoimport.convert.parse import FunctionNode, compile_tree, quietly

Position = tuple[int, int, int, int]  # lineno, end_lineno, col_offset, end_col_offset


@dataclass(eq=False)
class Function:
    """A function, method or lambda.

    Attributes:
      node: its node in the module's tree.
      qualified_name: as `__qualname__` gives it; for a lambda that is assigned to a name, that name.
      parameters: names as written, in gate order.
      class_name: the innermost class around it, which decides how private names are mangled.
      parent: the function around it.
      can_differ: it contains something that a graph form would do in another way.
      has_loop: a `while` or `for` statement is in its body.
      rolls: one of them may be a loop of a graph.
      long_loops: first and last lines of the loops that no graph could hold as a whole, filled in by `regions.py`.
      pauses: line of its first `yield` or `await`.
      frame_calls: calls of what looks at the caller's frame, as (name, line).
      is_doubtful: it contains something that may have no graph form; only making one can tell.
      stored: names of the attributes and globals that it stores, but for what `__init__` does, and keys of items, as
        `['name']`.
      code: CPython's code object, with untrue line numbers; None if it never runs (in the annotation of a local).
      start: position of the first instruction of its body.
    """

    node: FunctionNode
    qualified_name: str
    parameters: tuple[str, ...]
    class_name: str | None
    parent: Function | None
    can_differ: bool = False
    has_loop: bool = False
    rolls: bool = False
    long_loops: tuple[tuple[int, int], ...] = ()
    pauses: int | None = None
    frame_calls: list[tuple[str, int]] = field(default_factory=list)
    is_doubtful: bool = False
    stored: set[str] = field(default_factory=set)
    code: CodeType | None = None
    start: Position | None = None

    @property
    def name(self) -> str:
        """As `__name__` gives it."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def first_parameter(self) -> str | None:
        """What `super()` without arguments takes as its object."""
        plain = [*self.node.args.posonlyargs, *self.node.args.args]
        return plain[0].arg if plain else None

    @property
    def opening(self) -> ast.expr | FunctionNode:
        """The first decorator, or the function itself: where its code object begins."""
        decorators = [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list
        return decorators[0] if decorators else self.node


def find_functions(tree: ast.Module, path: str) -> list[Function]:
    """All functions of a module, by position; a function's index in the list is its site index."""
    finder = _Finder()
    finder.visit(tree)
    functions = sorted(finder.found, key=lambda fn: (fn.node.lineno, fn.node.col_offset))
    _match_code(tree, path, functions)
    _share_frame_calls(functions)
    return functions


def start_of(statement: ast.stmt) -> Position | None:
    """The position of the first instruction of a statement that makes sense outside its function."""
    with quietly():
        try:
            code = compile_tree(ast.Module(body=[statement], type_ignores=[]), "")
        except SyntaxError:  # a jump that leads out of it
            code = compile_tree(ast.Module(body=[_head(statement)], type_ignores=[]), "")
    return _first_position(code)


def _head(statement: Any) -> ast.stmt:
    """A statement without its blocks."""
    if isinstance(statement, ast.Return) and statement.value is not None:
        return cast(ast.stmt, ast.copy_location(ast.Expr(value=statement.value), statement))
    head = copy.copy(statement)
    nothing: list[ast.stmt] = [ast.copy_location(ast.Pass(), statement)]
    if isinstance(head, ast.Match):
        head.cases = [ast.match_case(pattern=part.pattern, guard=part.guard, body=nothing) for part in head.cases]
    else:
        head.body = nothing
    if hasattr(head, "orelse"):
        head.orelse = []
    return cast(ast.stmt, head)


def may_roll(loop: Any) -> bool:
    """Whether a loop (`ast` or gast) may be one loop of a graph; over a few Python objects it is unrolled."""
    items: Any = getattr(loop, "iter", None)
    kind = type(items).__name__
    if kind == "Call":
        callee = items.func
        name = getattr(callee, "id", None) or getattr(callee, "attr", None)
        return name not in ("zip", "enumerate", "reversed", "sorted", "items", "keys", "values")
    return kind not in ("Tuple", "List", "Attribute")


def _pauses(comprehension: Any, fn: Function) -> bool:
    """Whether a comprehension of `fn` has an `async for` or, anywhere in it, an `await`."""
    if any(generator.is_async for generator in comprehension.generators):
        return True
    return fn.pauses is not None and any(isinstance(part, ast.Await) for part in ast.walk(comprehension))


def obstacle(fn: Function) -> tuple[str, int | None] | None:
    """Why `fn` gets no gate, and on which line; None if it gets one."""
    if fn.code is None:
        return "never runs", None
    if fn.code.co_name in _LOOKS:
        return "every look at an object calls it", None
    for flag, kind in _KINDS.items():
        if fn.code.co_flags & flag and not is_generator(fn):
            return kind, fn.pauses
    if fn.frame_calls:
        name, line = fn.frame_calls[0]
        return f"{name}() looks at the frame of its caller", line
    if not fn.can_differ and not fn.code.co_names and not _uses(fn, fn.code.co_freevars):
        return "nothing in it can differ in a graph", None
    return None


def is_generator(fn: Function) -> bool:
    """Whether `fn` is a generator function with a gate, which opens in graphs only: eagerly its items wait."""
    generates = fn.code is not None and bool(fn.code.co_flags & inspect.CO_GENERATOR)
    return generates and not isinstance(fn.node, ast.Lambda)


def _uses(fn: Function, free: tuple[str, ...]) -> bool:
    names = (mangle(node.id, fn.class_name) for node in ast.walk(fn.node) if isinstance(node, ast.Name))
    return bool(free) and any(name in free for name in names)


_KINDS = {
    inspect.CO_COROUTINE: "a coroutine",
    inspect.CO_ASYNC_GENERATOR: "an async generator",
    inspect.CO_GENERATOR: "a generator",
}

# Methods that run whenever somebody looks at an object: be it a gate of theirs.
_LOOKS = {"__getattribute__", "__class__"}
# Functions that show or change the names of the frame that calls them; `vars` and `dir` do so without arguments.
_FRAME_BUILTINS = {"locals", "globals", "eval", "exec", "breakpoint"}
_FRAME_GETTERS = {"_getframe", "currentframe"}

# A body of these alone, over local names, is the same in both forms.
_HARMLESS: frozenset[type] = frozenset().union(
    (ast.Expr, ast.Return, ast.Assign, ast.AnnAssign, ast.Pass, ast.Global, ast.Nonlocal),
    (ast.Compare, ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.Set),
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Load, ast.Store),
)


@dataclass(frozen=True)
class _Scope:
    """Where a name is defined: what its qualified name starts with, and the names declared global."""

    prefix: str = ""
    globals: set[str] = field(default_factory=set)

    def qualify(self, name: str) -> str:
        return name if name in self.globals else self.prefix + name


class _Finder:
    """One walk over the module's tree."""

    def __init__(self) -> None:
        self.found: list[Function] = []
        self.function: Function | None = None
        self.class_name: str | None = None
        self.scope = _Scope()
        self.names: dict[ast.Lambda, str] = {}

    def visit(self, node: Any) -> None:
        kind = type(node)
        fn = self.function
        if _is_constant(node):
            return
        if fn is not None and kind not in _HARMLESS:
            fn.can_differ = True
        special = _SPECIAL.get(kind)
        if special is not None:
            special(self, node)
        else:
            self.visit_fields(node)

    def visit_fields(self, node: Any) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self.visit(value)
            elif isinstance(value, list):
                self.visit_all(value)

    def visit_all(self, nodes: list[Any]) -> None:
        for node in nodes:
            if isinstance(node, ast.AST):
                self.visit(node)

    def visit_function(self, node: Any) -> None:
        is_lambda = isinstance(node, ast.Lambda)
        if not is_lambda:
            self.visit_all(node.decorator_list)
            self.visit_all(getattr(node, "type_params", []))
            if node.returns is not None:
                self.visit(node.returns)
        self.visit(node.args)  # defaults and annotations
        qualified_name = self.scope.qualify(self.names.get(node, "<lambda>") if is_lambda else node.name)
        fn = Function(node, qualified_name, _parameters(node.args), self.class_name, self.function)
        self.found.append(fn)
        before = self.function, self.scope
        self.function, self.scope = fn, _Scope(f"{qualified_name}.<locals>.")
        if is_lambda:
            self.visit(node.body)
        else:
            self.visit_all(node.body)
            fn.is_doubtful |= fn.pauses is not None and _has_odd_yield(node)
        self.function, self.scope = before

    def visit_class(self, node: ast.ClassDef) -> None:
        self.visit_all(node.decorator_list)
        self.visit_all(getattr(node, "type_params", []))
        self.visit_all(node.bases)
        self.visit_all(node.keywords)
        before = self.class_name, self.scope
        self.class_name, self.scope = node.name, _Scope(f"{self.scope.qualify(node.name)}.")
        self.visit_all(node.body)
        self.class_name, self.scope = before

    def visit_comprehension(self, node: Any) -> None:
        self.visit(node.generators[0].iter)
        before = self.scope
        if isinstance(node, ast.GeneratorExp) or sys.version_info < (3, 12):
            self.scope = _Scope(f"{before.prefix}{_COMPREHENSIONS[type(node)]}.")
        first = node.generators[0]
        self.visit(first.target)
        self.visit_all(first.ifs)
        self.visit_all(node.generators[1:])
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                self.visit(getattr(node, part))
        if self.function is not None and _pauses(node, self.function):
            self.function.is_doubtful = True
        self.scope = before

    def visit_assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.name_lambdas(target, node.value)
        self.visit_fields(node)

    def name_lambdas(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and isinstance(value, ast.Lambda):
            self.names[value] = target.id
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            for inner, part in zip(target.elts, value.elts, strict=False):
                self.name_lambdas(inner, part)

    def visit_global(self, node: ast.Global) -> None:
        self.scope.globals.update(node.names)
        if self.function is not None:
            self.function.stored.update(node.names)

    def visit_attribute(self, node: ast.Attribute) -> None:
        fn = self.function
        if fn is not None and type(node.ctx) is ast.Store and fn.name != "__init__":
            fn.stored.add(mangle(node.attr, self.class_name))
        self.visit(node.value)

    def visit_subscript(self, node: ast.Subscript) -> None:
        fn, key = self.function, node.slice
        if fn is not None and type(node.ctx) is ast.Store and type(key) is ast.Constant and type(key.value) is str:
            fn.stored.add(f"[{key.value!r}]")
        self.visit_fields(node)

    def visit_walrus(self, node: ast.NamedExpr) -> None:
        self.doubt()
        self.visit_fields(node)

    def visit_try(self, node: Any) -> None:
        jumps = (ast.Return, ast.Break, ast.Continue)
        if any(isinstance(part, jumps) for statement in node.finalbody for part in ast.walk(statement)):
            self.doubt()
        self.visit_fields(node)

    def doubt(self) -> None:
        """The form of a function holds those of the functions nested in it."""
        fn = self.function
        while fn is not None:
            fn.is_doubtful, fn = True, fn.parent

    def visit_annotated(self, node: ast.AnnAssign) -> None:
        fn = self.function
        is_code = node.value is not None or not isinstance(node.target, ast.Name)
        before = fn is not None and fn.can_differ
        self.visit_fields(node)
        if fn is not None:  # which does not evaluate the annotation of a local
            fn.can_differ = before or is_code

    def visit_loop(self, node: Any) -> None:
        if self.function is not None:
            self.function.has_loop = True
            self.function.rolls |= may_roll(node)
        self.visit_fields(node)

    def visit_pause(self, node: Any) -> None:
        if self.function is not None and self.function.pauses is None:
            self.function.pauses = node.lineno
        self.visit_fields(node)

    def visit_call(self, node: ast.Call) -> None:
        if self.function is not None:
            name = _frame_function(node)
            if name is not None:
                self.function.frame_calls.append((name, node.lineno))
        self.visit_fields(node)

    def visit_compare(self, node: ast.Compare) -> None:
        if self.function is not None and len(node.ops) > 1:
            self.function.can_differ = True
        self.visit_fields(node)

    def visit_display(self, node: Any) -> None:
        if self.function is not None and isinstance(node.ctx, ast.Store):
            self.function.can_differ = True
        self.visit_fields(node)


_COMPREHENSIONS: dict[type, str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_SPECIAL: dict[type, Any] = {
    ast.FunctionDef: _Finder.visit_function,
    ast.AsyncFunctionDef: _Finder.visit_function,
    ast.Lambda: _Finder.visit_function,
    ast.ClassDef: _Finder.visit_class,
    **dict.fromkeys(_COMPREHENSIONS, _Finder.visit_comprehension),
    ast.Global: _Finder.visit_global,
    ast.Attribute: _Finder.visit_attribute,
    ast.Subscript: _Finder.visit_subscript,
    ast.NamedExpr: _Finder.visit_walrus,
    ast.Try: _Finder.visit_try,
    getattr(ast, "TryStar", ast.Try): _Finder.visit_try,  # since Python 3.11
    ast.Assign: _Finder.visit_assign,
    ast.AnnAssign: _Finder.visit_annotated,
    ast.While: _Finder.visit_loop,
    ast.For: _Finder.visit_loop,
    ast.Yield: _Finder.visit_pause,
    ast.YieldFrom: _Finder.visit_pause,
    ast.Await: _Finder.visit_pause,
    ast.AsyncFor: _Finder.visit_pause,
    ast.AsyncWith: _Finder.visit_pause,
    ast.Call: _Finder.visit_call,
    ast.Compare: _Finder.visit_compare,
    ast.Tuple: _Finder.visit_display,
    ast.List: _Finder.visit_display,
}


def _has_odd_yield(fn: ast.AST) -> bool:
    """Whether a `yield` is only a part of an expression."""
    nodes = list(ast.walk(fn))
    whole = {node.value for node in nodes if isinstance(node, _WITH_VALUE)}
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) and node not in whole for node in nodes)


_WITH_VALUE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


def _is_constant(node: Any) -> bool:
    """Whether it is a constant, or arithmetic on constants, which CPython does when it compiles."""
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_constant(node.right) and _is_constant(node.left)
    return isinstance(node, ast.Constant)


def _frame_function(call: ast.Call) -> str | None:
    callee = call.func
    if isinstance(callee, ast.Attribute):
        return callee.attr if callee.attr in _FRAME_GETTERS else None
    if not isinstance(callee, ast.Name):
        return None
    if callee.id in ("vars", "dir"):
        return None if call.args or call.keywords else callee.id
    return callee.id if callee.id in _FRAME_BUILTINS or callee.id in _FRAME_GETTERS else None


def _parameters(args: ast.arguments) -> tuple[str, ...]:
    star = [args.vararg] if args.vararg else []
    double_star = [args.kwarg] if args.kwarg else []
    return tuple(arg.arg for arg in chain(args.posonlyargs, args.args, star, args.kwonlyargs, double_star))


def _match_code(tree: ast.Module, path: str, functions: list[Function]) -> None:
    """Give each function its code object and the position of its first instruction."""
    # A decorator that is a lambda shares its number with the function that it decorates, but not the name.
    bearers: list[Any] = [fn.opening for fn in functions]
    positions = [(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) for node in bearers]
    mark = 1 + max((node.end_lineno or 0 for node in (*tree.body, *bearers)), default=0)
    marks: dict[int, Position] = {}
    by_line_and_name: dict[tuple[int, str], Function] = {}
    for number, (fn, node) in enumerate(zip(functions, bearers, strict=True), mark):
        if node.lineno < mark:
            node.lineno = node.end_lineno = number
            node.col_offset = node.end_col_offset = 0
            marks[number] = positions[number - mark]
        by_line_and_name[node.lineno, fn.name] = fn
    try:
        with quietly():
            module = compile_tree(tree, path)
    finally:
        for node, position in zip(bearers, positions, strict=True):
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = position
    for code in _nested_code(module):
        found = by_line_and_name.get((code.co_firstlineno, code.co_name))
        if found is not None:
            found.code = code
            found.start = _unmarked(_first_position(code), marks)


def _nested_code(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _nested_code(const)


_PROLOGUE = {
    opcode.opmap.get(name) for name in ("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "POP_TOP")
}


def _first_position(code: CodeType) -> Position | None:
    if sys.version_info < (3, 11):
        return next(((line, line, 0, 0) for _, _, line in code.co_lines() if line is not None), None)
    for operation, position in zip(code.co_code[::2], code.co_positions(), strict=True):
        if operation not in _PROLOGUE:
            return None if None in position else cast(Position, position)
    return None


def _unmarked(position: Position | None, marks: dict[int, Position]) -> Position | None:
    if position is None or position[0] not in marks:
        return position
    return marks[position[0]]


def _share_frame_calls(functions: list[Function]) -> None:
    """Drop calls of names of the function's own; a nested function's calls count for those around it, whose graph
    form would hold the nested function too."""
    for fn in functions:
        if fn.frame_calls and fn.code is not None:
            own = {*fn.code.co_varnames, *fn.code.co_cellvars, *fn.code.co_freevars}
            fn.frame_calls = [(name, line) for name, line in fn.frame_calls if name not in own]
    for fn in reversed(functions):
        if fn.parent is not None:
            fn.parent.frame_calls.extend(fn.frame_calls)
