"""A function's graph form (gast tree) -> its code object, compiled apart from the module.

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
from types import CodeType
from typing import Any, cast

import gast

from autoimport.convert.functions import Function
from autoimport.convert.graph_form import Context, graph_form
from autoimport.convert.parse import compile_tree, quietly, to_ast, to_gast

_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag
_FUTURE_FLAGS &= ~0x10  # `nested_scopes`, which on a code object says that the function is nested


class ForeignCell(Exception):
    """A graph form needs a free name that the original has not."""


def build_form(fn: Function, path: str) -> CodeType:
    """The code object of the graph form of `fn`. Raises graph_form.Unconvertible if it can have none."""
    form = graph_form(definition(fn), context(fn))
    return _compiled(fn, form, path)


def context(fn: Function) -> Context:
    """What the passes know about the function besides its tree."""
    assert fn.code is not None
    args = fn.node.args
    plain = [*args.posonlyargs, *args.args]
    return Context(
        parameters=fn.parameters,
        free=frozenset(fn.code.co_freevars),
        class_name=fn.class_name,
        first_parameter=plain[0].arg if plain else None,
    )


def definition(fn: Function) -> gast.FunctionDef:
    """A fresh gast copy of the function; a lambda becomes a `def` whose body is one `return`."""
    node = fn.node
    if isinstance(node, ast.Lambda):
        value = ast.copy_location(ast.Return(value=node.body), node.body)
        node = ast.copy_location(_def("<lambda>", node.args, [value]), node)
    copy = to_gast(node)
    return _NoAsserts().visit(copy) if sys.flags.optimize else copy


def _compiled(fn: Function, form: gast.FunctionDef, path: str) -> CodeType:
    original = fn.code
    assert original is not None
    node = cast(Any, to_ast(form))
    node.name, node.decorator_list, node.returns = "@form", [], None
    node.args = _plain_arguments(fn.parameters)
    node.type_params = []
    node.lineno, node.col_offset = fn.opening.lineno, fn.opening.col_offset
    free = [_bind(name) for name in original.co_freevars if name != "__class__"]
    scaffold = _def("@scaffold", _plain_arguments(()), free + _in_class(fn, node))
    tree = ast.fix_missing_locations(ast.Module(body=[scaffold], type_ignores=[]))
    with quietly():
        code = compile_tree(tree, path, original.co_flags & _FUTURE_FLAGS)
    code = _find(code)
    code = _renamed(code, _scaffold_name(fn), fn.qualified_name).replace(co_name=original.co_name)
    strangers = set(code.co_freevars) - set(original.co_freevars)
    if strangers:
        raise ForeignCell(f"the graph form of {fn.qualified_name} needs {', '.join(sorted(strangers))}")
    return code


def _in_class(fn: Function, node: ast.stmt) -> list[ast.stmt]:
    """`node` in a class that is called like its own, but does not hide a global of that name."""
    if fn.class_name is None:
        return [node]
    parts: dict[str, Any] = {"name": fn.class_name, "bases": [], "keywords": [], "body": [node], "decorator_list": []}
    statement = ast.ClassDef(**parts, **_TYPE_PARAMS)
    return [statement] if _class_is_free(fn) else [ast.Global(names=[fn.class_name]), statement]


def _class_is_free(fn: Function) -> bool:
    return fn.code is not None and fn.class_name in fn.code.co_freevars


def _scaffold_name(fn: Function) -> str:
    """The qualified name of `@form` in the scaffold."""
    if fn.class_name is None:
        return "@scaffold.<locals>.@form"
    return f"@scaffold.<locals>.{fn.class_name}.@form" if _class_is_free(fn) else f"{fn.class_name}.@form"


# Python 3.12 wants the field, earlier ones have none.
_TYPE_PARAMS: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}


def _def(name: str, args: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    return ast.FunctionDef(name=name, args=args, body=body, decorator_list=[], **_TYPE_PARAMS)


def _plain_arguments(names: tuple[str, ...]) -> ast.arguments:
    args = [ast.arg(arg=name) for name in names]
    return ast.arguments(posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=[])


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
