"""A function of the trace's own that is handed to a library -> whether calling it more or less than once would show.

`tf.map_fn` and `tf.while_loop` call their function once for a graph and many times in eager code, and both functions
of a `tf.cond` are called for a graph. What such a function changes outside the trace is seen when it does so (see
`Trace.happens`); the variables around it and what they hold belong to the trace itself, so its code is asked.
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from autoimport.operators import aliases, copies, observer
from autoimport.operators.errors import Unstageable
from autoimport.operators.mutation import MUTATING, is_mutable
from autoimport.staging import tf_internals

# The operators that change an object.
_STORES = frozenset({"set_item", "del_item", "set_attr", "del_attr", "augment"})


def changed_variable(fn: types.FunctionType, is_old: Callable[[Any], bool]) -> str | None:
    """A variable of an enclosing function that `fn`, or a function that it can call by such a variable, may change."""
    for function in _with_enclosed(fn, {}):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        codes = list(_nested(function.__code__))
        for name, cell in cells.items():
            if any(_assigns(code, name) for code in codes):
                return name
            try:
                held = cell.cell_contents
            except ValueError:
                continue  # not assigned yet
            if is_mutable(held) and not is_old(held) and any(map(_changes_objects, codes)):
                return name
    return None


def _with_enclosed(fn: types.FunctionType, seen: dict[int, Any]) -> Iterator[types.FunctionType]:
    if id(fn) in seen:
        return
    seen[id(fn)] = fn
    yield fn
    for cell in fn.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:
            continue
        if isinstance(held, types.FunctionType):
            yield from _with_enclosed(held, seen)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _assigns(code: types.CodeType, name: str) -> bool:
    if name not in code.co_freevars:
        return False
    return any(
        step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval == name for step in dis.get_instructions(code)
    )


def _changes_objects(code: types.CodeType) -> bool:
    return not _STORES.isdisjoint(code.co_names) or any(type(c) is str and c in MUTATING for c in code.co_consts)


def run(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of `fn`, whose functions may return nothing but tensors if `fn` hands their results on.

    In eager mode that may be numbers, arrays and variables; a graph makes tensors of them.
    """
    if fn is tf.while_loop:
        return _while_loop(**inspect.signature(fn).bind(*args, **kwargs).arguments)
    if any(fn is each for each in _CALLING):
        results: list[Any] = []
        args, kwargs = tf.nest.map_structure(
            lambda part: _watched(fn, part, results) if callable(part) else part, (args, dict(kwargs))
        )
        chosen = fn(*args, **kwargs)
        parts = [part for result in results for part in copies.changeable(result)]
        aliases.join_permuted(parts, [*copies.changeable(chosen)])
        return chosen
    return fn(*args, **kwargs)


def _while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None, **options: Any) -> Any:
    """Eager code has what the body has returned last, be it a list or a tuple, and without an iteration `loop_vars`."""
    kinds = []

    def watched(*args: Any) -> Any:
        result = _watched(tf.while_loop, body, [])(*args)
        kinds.append(type(result))
        return result

    test = _watched(tf.while_loop, cond, [])
    result = tf.while_loop(test, watched, loop_vars, maximum_iterations=maximum_iterations, **options)
    kind, before = kinds[-1], type(loop_vars)
    if kind is before:
        return result
    trace = observer.current()
    count = tf_internals.iterations_of(result)
    if {kind, before} != {list, tuple} or maximum_iterations is not None or count is None or trace is None:
        raise Unstageable(f"calls tf.while_loop with a {before.__name__} and a body that returns a {kind.__name__}")
    trace.bail_if(tf.equal(count, 0), f"no iteration of tf.while_loop, which leaves its {before.__name__}")
    return kind(result)


def _watched(fn: Callable[..., Any], part: Callable[..., Any], results: list[Any]) -> Callable[..., Any]:
    """`part`, which gives up where it returns what a graph makes a tensor of, and adds what it returns to `results`."""

    def called(*args: Any) -> Any:
        result = part(*args)
        results.append(result)
        if fn is tf.case and isinstance(result, (list, tuple)) and len(result) == 1:
            raise Unstageable("hands a function that returns one item to tf.case, which unpacks it in eager mode")
        for leaf in tf.nest.flatten(result):
            if not isinstance(leaf, (*_TENSORS, type(None))) and not (fn is tf.while_loop and type(leaf) is bool):
                raise Unstageable(f"hands a function that returns a {type(leaf).__name__} to {fn.__name__}")
        return result

    return called


_CALLING = (tf.cond, tf.case, tf.switch_case)
_TENSORS = (tf.Tensor, tf.TensorArray, tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)
