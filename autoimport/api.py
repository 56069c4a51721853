"""AutoGraph's public functions, on our own converter: they also work on modules that were not opted in.

In: a function of the person's. Out: its converted twin, or the text of its graph form.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])


class ConversionError(ValueError):
    """A function cannot be converted; the message names file, line, cause and remedy."""


@overload
def convert(fn: F) -> F: ...
@overload
def convert(fn: None = None) -> Callable[[F], F]: ...
def convert(fn: F | None = None) -> F | Callable[[F], F]:
    """Convert one function, also as a decorator, with or without parentheses.

    Args:
      fn: a function, method, functools.partial, or an object with `__call__`.

    Returns:
      A function with the same name, signature, globals, cells and defaults. Called eagerly it becomes a graph where
      that pays; called while a graph is built, its `if`, `while` and `for` over tensors become part of that graph.
      A function of an opted-in module is returned as it is.

    Raises:
      ConversionError: its source cannot be read, or it holds something that has no graph form.
    """
    if fn is None:
        return convert
    converted: F = _convert(fn)
    return converted


def _convert(fn: Any) -> Any:
    from autoimport.staging import foreign

    if isinstance(fn, functools.partial):
        return functools.partial(_convert(fn.func), *fn.args, **fn.keywords)
    if isinstance(fn, types.MethodType):
        return types.MethodType(_convert(fn.__func__), fn.__self__)
    if isinstance(fn, types.FunctionType):
        try:
            return foreign.twin(fn)
        except foreign.NoSourceError as error:
            raise ConversionError(f"{error}; define it in a file") from None
    if callable(fn) and isinstance(getattr(type(fn), "__call__", None), types.FunctionType):  # noqa: B004
        return _convert(types.MethodType(type(fn).__call__, fn))
    raise ConversionError(f"{fn!r} is not a Python function, so there is nothing to convert")


def to_graph(fn: F) -> F:
    """The converted twin of `fn`, for use in `tf.function`, `tf.Graph().as_default()` or any other graph.

    Args:
      fn: as for `convert`.

    Raises:
      ConversionError: as for `convert`, and also where `fn` has no graph form (a coroutine, for one).
    """
    made: F = _convert(fn)
    _require_form(made)
    return made


def _require_form(fn: Any) -> None:
    from autoimport.staging.ours import gated

    function = _function(fn)
    if not gated(function.__code__):
        # Either it has nothing to convert, or something that cannot be: telling which means asking the converter.
        to_code(function)


def _function(fn: Any) -> types.FunctionType:
    found = fn
    while isinstance(found, functools.partial):
        found = found.func
    if not isinstance(getattr(found, "__func__", found), types.FunctionType):
        found = inspect.unwrap(found)  # what tf.function and functools.cache make is no function itself
    found = getattr(found, "__func__", found)
    if not isinstance(found, types.FunctionType):
        found = getattr(type(found), "__call__", None)  # noqa: B004
    if not isinstance(found, types.FunctionType):
        raise ConversionError(f"{fn!r} is not a Python function, so there is nothing to convert")
    return found


def to_code(fn: Callable[..., Any]) -> str:
    """The graph form of `fn` as Python text for people; `ops` stands for `autoimport.operators`.

    Args:
      fn: as for `convert`, or a `tf.function`.

    Raises:
      ConversionError: as for `to_graph`.
    """
    from autoimport.convert.graph_form import Unconvertible
    from autoimport.convert.to_code import form_source
    from autoimport.staging import foreign

    function = _function(fn)
    try:
        text, path = foreign.source_of(function)
        return form_source(text, path, function.__code__.co_firstlineno, function.__qualname__)
    except foreign.NoSourceError as error:
        raise ConversionError(f"{error}; define it in a file") from None
    except Unconvertible as error:
        raise ConversionError(
            f"{function.__code__.co_filename}:{error.line}: {function.__qualname__} has no graph form: {error.reason}"
        ) from None


def do_not_convert(fn: F) -> F:
    """Decorator: `fn`, and what it calls, runs as written, never as a graph of ours.

    Args:
      fn: a function or another callable, or a class, which stays itself: what is defined in it runs as written.

    Raises:
      TypeError: it is neither.
    """
    left_alone: F = _left_alone(fn)
    return left_alone


def _left_alone(fn: Any) -> Any:
    if isinstance(fn, type):
        for name, member in list(vars(fn).items()):
            is_nested = isinstance(member, type) and member.__qualname__ == f"{fn.__qualname__}.{name}"
            if is_nested or isinstance(member, (types.FunctionType, staticmethod, classmethod, property)):
                setattr(fn, name, _left_alone(member))
        return fn
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(_left_alone(fn.__func__))
    if isinstance(fn, property):
        get, set_, delete = (accessor and _left_alone(accessor) for accessor in (fn.fget, fn.fset, fn.fdel))
        return type(fn)(get, set_, delete, fn.__doc__)
    if not callable(fn):
        raise TypeError(f"{fn!r} is not a function")
    return _as_written(fn)


def _as_written(fn: Callable[..., Any]) -> Callable[..., Any]:
    from autoimport.staging import declared, gate

    if hasattr(fn, "__qualname__"):
        declared.leave_alone(fn.__module__, fn.__qualname__)

    @functools.wraps(fn)
    def as_written(*args: Any, **kwargs: Any) -> Any:
        with gate.suspended():
            return fn(*args, **kwargs)

    with contextlib.suppress(TypeError, ValueError):  # a builtin function that tells none
        # Keras asks for the parameters of `__init__` without looking through wrappers.
        as_written.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
    return as_written


def pure(fn: F) -> F:
    """Decorator: `fn` only computes its result from its arguments, so a graph may call it although its code is unknown.

    With arguments that Python knows it is called before each launch, with tensors once while the graph is built.
    """
    return _declared(fn, "pure")


def effectful(fn: F) -> F:
    """Decorator: `fn` has effects, so it never becomes a graph, nor part of one."""
    return _declared(fn, "effectful")


def _declared(fn: F, kind: str) -> F:
    from autoimport.staging import declared

    function: Any = getattr(fn, "__func__", fn)
    if not callable(function) or not hasattr(function, "__qualname__"):
        raise TypeError(f"{fn!r} is not a function")
    declared.declare(function.__module__, function.__qualname__, kind)
    return fn


def set_element_type(list_: Any, dtype: Any, shape: Any = None) -> None:
    """State what a list will hold, so that it can grow in a symbolic loop and be stacked although it is empty.

    Args:
      list_: a Python list.
      dtype: a tf.DType or what converts to one.
      shape: the shape of an element; unknown if None.
    """
    from autoimport.operators import lists

    lists.set_element_type(list_, dtype, shape)


def stack(list_: Any, strict: bool = True) -> Any:
    """A list of tensors as one tensor with a new first dimension.

    Args:
      list_: a list, as it is after any loop.
      strict: raise if it is empty and no element type was stated; otherwise return it as it is.

    Raises:
      ValueError: see `strict`.
    """
    from autoimport.operators import lists

    return lists.stack(list_, strict)


def explain(fn: Callable[..., Any]) -> str:
    """What became of `fn` in this process: a graph or not, since when, what it saved, and what stood in the way."""
    from autoimport.insight import explain as insight

    return insight.explain(fn)
