"""A function of a module that was not opted in -> the same function with a gate, over its own globals and cells.

In: a plain Python function whose source file can be read. Out: a twin whose code object is converted. The module itself
stays as it is; its file is converted once, for all functions that are asked for.
"""

from __future__ import annotations

import inspect
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

from autoimport.convert.module import convert_module
from autoimport.convert.parse import compile_source
from autoimport.staging import registry, trust
from autoimport.staging.ours import converted, gated


class NoSourceError(ValueError):
    """A function cannot be converted: its source is not to be found, or no longer what it was made from."""


# Path -> CPython's code objects of the file, each with its gated twin.
_files: dict[str, list[tuple[types.CodeType, types.CodeType]]] = {}


def twin(fn: types.FunctionType) -> types.FunctionType:
    """`fn` with a gate in front of its body; `fn` itself if it has one, or needs none.

    Raises:
      NoSourceError: there is no source for it (made by exec, typed into the interactive shell, file changed).
    """
    if gated(fn.__code__):
        return fn
    code = _gated_code(fn.__code__)
    if not gated(code):
        return fn
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__dict__.update(fn.__dict__)
    for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(made, name, getattr(fn, name))
    return made


def on_demand(fn: Any) -> Any:
    """`fn`, or its twin if it is a person's function that has not been converted but can be."""
    function = getattr(fn, "__func__", fn)
    if type(function) is not types.FunctionType:
        function = type(fn).__call__
    if type(function) is not types.FunctionType or converted(function.__code__) or not _is_persons(function):
        return fn
    try:
        made = twin(function)
    except NoSourceError:
        return fn
    if function is fn:
        return made
    return types.MethodType(made, getattr(fn, "__self__", fn))


def _is_persons(fn: types.FunctionType) -> bool:
    module = str(fn.__globals__.get("__name__"))
    return not trust.is_library(module) and trust.root(module) not in sys.stdlib_module_names


def source_of(fn: types.FunctionType) -> tuple[str, str]:
    """The text and path of the file that `fn` comes from.

    Raises:
      NoSourceError: it cannot be read.
    """
    path = fn.__code__.co_filename
    try:
        lines, _ = inspect.findsource(fn)
    except (OSError, TypeError, IndexError) as error:
        raise NoSourceError(f"{path}: the source of {fn.__qualname__} cannot be read ({error})") from None
    return "".join(lines), path


def _gated_code(code: types.CodeType) -> types.CodeType:
    for plain, with_gate in _files.get(code.co_filename) or _convert_file(code):
        if plain == code:
            return with_gate
    raise NoSourceError(
        f"{code.co_filename}:{code.co_firstlineno}: the file is no longer what {code.co_name} was made from"
    )


def _convert_file(code: types.CodeType) -> list[tuple[types.CodeType, types.CodeType]]:
    probe = types.FunctionType(code, {}, None, None, tuple(types.CellType() for _ in code.co_freevars))
    text, path = source_of(probe)
    start = time.perf_counter()
    try:
        plain = compile_source(text, path)
        module = convert_module(text, path)
    except SyntaxError as error:
        raise NoSourceError(f"{path}: {error}") from None
    registry.register_module(
        module.key,
        path,
        path,
        module.functions,
        lambda: module.forms,
        cached=False,
        convert_ms=1e3 * (time.perf_counter() - start),
    )
    pairs = _files[path] = list(_pairs(plain, module.code))
    return pairs


def _pairs(plain: types.CodeType, with_gates: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """The code objects below two code objects of one source, side by side."""
    theirs = iter(_below(with_gates))
    for mine in _below(plain):
        other = next((code for code in theirs if _are_twins(mine, code)), None)
        if other is None:
            return
        yield mine, other
        yield from _pairs(mine, other)


def _are_twins(plain: types.CodeType, other: types.CodeType) -> bool:
    """Whether `other` is `plain`, with or without a gate, and not a lambda that carries the cells for a gate."""
    if other.co_name == "<lambda>" and other.co_freevars and not other.co_names:
        return plain == other
    return (plain.co_name, plain.co_firstlineno, plain.co_argcount) == (
        other.co_name,
        other.co_firstlineno,
        other.co_argcount,
    )


def _below(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
