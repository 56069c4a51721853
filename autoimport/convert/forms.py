"""A function or region -> the code object of its graph form, compiled apart from the module.

    def @scaffold():
        seen = None                      # the free names of the original
        class Layer:                     # for private names and __class__
            def @form(self, x, rate):    # parameters in gate order, all plain
                ...

The code object gets the original's name, qualified name and first line.
"""

from __future__ import annotations
import __future__

import ast
import sys
from dataclasses import dataclass
from types import CodeType
from typing import Any, cast

import gast

from autoimport.convert.facts import FELL_THROUGH
from autoimport.convert.functions import Function
from autoimport.convert.graph_form import Context, graph_form
from autoimport.convert.parse import FunctionNode, compile_tree, quietly
from autoimport.convert.region_jumps import answer_jumps
from autoimport.convert.regions import Region
from autoimport.convert.trees import to_ast, to_gast

_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag
_FUTURE_FLAGS &= ~0x10  # `nested_scopes`, which on a code object says that the function is nested


class ForeignCell(Exception):
    """A graph form needs a free name that the original has not."""


@dataclass(frozen=True)
class Blueprint:
    """What a graph form is made from.

    Attributes:
      node: the function, or one that a region was put into.
      name, qualified_name: what the code object is called.
      parameters: names in gate order.
      free: the free names (cells, `__class__` included), as the compiler spells them.
      class_name: the class around it.
      first_parameter: what `super()` without arguments takes as its object.
      flags: the compiler's flags for the `from __future__` imports of the module.
      line, column: where the code object begins.
      answers: of a region with jumps out of it, the results that go with each.
    """

    node: FunctionNode
    name: str
    qualified_name: str
    parameters: tuple[str, ...]
    free: tuple[str, ...]
    class_name: str | None
    first_parameter: str | None
    flags: int
    line: int
    column: int
    answers: tuple[str, ...] | None = None


def function_blueprint(fn: Function) -> Blueprint:
    """What the graph form of a function is made from."""
    code = fn.code
    assert code is not None
    return Blueprint(
        fn.node,
        fn.name,
        fn.qualified_name,
        fn.parameters,
        code.co_freevars,
        fn.class_name,
        fn.first_parameter,
        code.co_flags & _FUTURE_FLAGS,
        fn.opening.lineno,
        fn.opening.col_offset,
    )


def region_blueprint(region: Region, flags: int) -> Blueprint:
    """What the graph form of a region is made from: a function of its statements that returns its results."""
    names, owner = region.crossing, region.owner
    first, last = region.statements[0], region.statements[-1]
    results: list[ast.expr] = [ast.Name(id=name, ctx=ast.Load()) for name in names.results]
    if names.jumps:
        results = [ast.Constant(FELL_THROUGH), ast.Constant(None), *results]
    declared: list[ast.stmt] = [ast.Global(names=list(names.globals))] if names.globals else []
    if names.nonlocals:
        declared.append(ast.Nonlocal(names=list(names.nonlocals)))
    answer = ast.Return(value=ast.Tuple(elts=results, ctx=ast.Load()))
    node = _def("region", _plain_arguments(names.parameters), [])
    for part, like in [(node, first), *((statement, first) for statement in declared), (answer, last)]:
        ast.fix_missing_locations(ast.copy_location(part, like))
    node.body = [*declared, *region.statements, answer]
    return Blueprint(
        node,
        owner.name if owner else "<module>",
        owner.qualified_name if owner else "<module>",
        names.parameters,
        names.free,
        owner.class_name if owner else None,
        owner.first_parameter if owner else None,
        flags,
        first.lineno,
        first.col_offset,
        names.results if names.jumps else None,
    )


def future_flags(tree: ast.Module) -> int:
    """The compiler's flags for the `from __future__` imports of a module."""
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    flags = 0
    for alias in (alias for node in imports for alias in node.names):
        flags |= getattr(__future__, alias.name).compiler_flag
    return flags & _FUTURE_FLAGS


def build_form(plan: Blueprint, path: str) -> CodeType:
    """The code object of a graph form. Raises graph_form.Unconvertible if there can be none."""
    return _compiled(plan, graph_form(definition(plan), context(plan)), path)


def context(plan: Blueprint) -> Context:
    """What the passes know about the function besides its tree."""
    return Context(
        parameters=plan.parameters,
        free=frozenset(plan.free),
        class_name=plan.class_name,
        first_parameter=plan.first_parameter,
    )


def definition(plan: Blueprint) -> gast.FunctionDef:
    """A fresh gast copy of the function; a lambda becomes a `def` whose body is one `return`."""
    node = plan.node
    if isinstance(node, ast.Lambda):
        value = ast.copy_location(ast.Return(value=node.body), node.body)
        node = ast.copy_location(_def("<lambda>", node.args, [value]), node)
    copy = to_gast(node)
    if plan.answers is not None:
        answer_jumps(copy, plan.answers)
    return _NoAsserts().visit(copy) if sys.flags.optimize else copy


def _compiled(plan: Blueprint, form: gast.FunctionDef, path: str) -> CodeType:
    node = cast(Any, to_ast(form))
    node.name, node.decorator_list, node.returns = "@form", [], None
    node.args = _plain_arguments(plan.parameters)
    node.type_params = []
    node.lineno, node.col_offset = plan.line, plan.column
    free = [_bind(name) for name in plan.free if name != "__class__"]
    scaffold = _def("@scaffold", _plain_arguments(()), free + _in_class(plan, node))
    node.body, body = [], node.body  # every node in it has its position
    tree = ast.fix_missing_locations(ast.Module(body=[scaffold], type_ignores=[]))
    node.body = body
    with quietly():
        code = compile_tree(tree, path, plan.flags)
    code = _find(code)
    code = _renamed(code, _scaffold_name(plan), plan.qualified_name).replace(co_name=plan.name)
    strangers = set(code.co_freevars) - set(plan.free)
    if strangers:
        raise ForeignCell(f"the graph form of {plan.qualified_name} needs {', '.join(sorted(strangers))}")
    return code


def _in_class(plan: Blueprint, node: ast.stmt) -> list[ast.stmt]:
    """`node` in a class that is called like its own, but does not hide a global of that name."""
    if plan.class_name is None:
        return [node]
    parts: dict[str, Any] = {"name": plan.class_name, "bases": [], "keywords": [], "body": [node], "decorator_list": []}
    statement = ast.ClassDef(**parts, **_TYPE_PARAMS)
    return [statement] if plan.class_name in plan.free else [ast.Global(names=[plan.class_name]), statement]


def _scaffold_name(plan: Blueprint) -> str:
    """The qualified name of `@form` in the scaffold."""
    if plan.class_name is None:
        return "@scaffold.<locals>.@form"
    is_free = plan.class_name in plan.free
    return f"@scaffold.<locals>.{plan.class_name}.@form" if is_free else f"{plan.class_name}.@form"


# Python 3.12 wants the field, earlier ones have none.
_TYPE_PARAMS: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}


def _def(name: str, args: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    parts: dict[str, Any] = {"decorator_list": [], "returns": None, "type_comment": None, **_TYPE_PARAMS}
    return ast.FunctionDef(name=name, args=args, body=body, **parts)


def _plain_arguments(names: tuple[str, ...]) -> ast.arguments:
    args = [ast.arg(arg=name, annotation=None, type_comment=None) for name in names]
    return ast.arguments(posonlyargs=[], args=args, vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])


def _bind(name: str) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=ast.Constant(None))


def _find(code: CodeType) -> CodeType:
    """The code object named `@form` in the scaffold."""
    while code.co_name != "@form":
        code = next(const for const in code.co_consts if isinstance(const, CodeType))
    return code


def _renamed(code: CodeType, before: str, after: str) -> CodeType:
    """Give `code` and what is nested in it the qualified names that they have outside the scaffold.

    Constants too: class bodies keep their qualified name in one, on Python 3.10 functions do as well.
    """

    def rename(const: Any) -> Any:
        if isinstance(const, CodeType):
            return _renamed(const, before, after)
        return after + const[len(before) :] if isinstance(const, str) and const.startswith(before) else const

    changes: dict[str, Any] = {"co_consts": tuple(rename(const) for const in code.co_consts)}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = rename(code.co_qualname)
    return code.replace(**changes)


class _NoAsserts(ast.NodeTransformer):
    """Under `python -O` an assert is no code, in no form."""

    def visit_Assert(self, node: gast.Assert) -> gast.Pass:
        return gast.copy_location(gast.Pass(), node)
