"""A list that is older than the trace, handed as a whole to a function -> computed before each launch, in one graph.

`sum(rewards)`, `np.mean(scores)`, `tf.constant(rewards)` and `tf.stack(values)` look at every item. Were each an input
of the graph, it would hold for one length; so would a graph that unrolls what the list is made of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals
from autoimport.staging.arrays import is_numpy_function, made, warnings_as_errors
from autoimport.staging.guarding import SCALARS
from autoimport.staging.reading import Reader

_CONSTANTS = frozenset({*SCALARS, tf.DType})
# Functions of TensorFlow that make one tensor of a list.
_JOIN = (tf.constant, tf.convert_to_tensor, tf.stack, tf.concat, tf.add_n)


def fold(reader: Reader, fn: Callable[[Any], Any], items: list[Any]) -> tuple[Any] | None:
    """`fn(items)` for an old list of numbers, a number or array, in a tuple; else None.

    The list may be longer at each call, and its numbers others.
    """
    source = reader.source_of(items)
    if source is None or not _are_numbers(items) or not reader.is_untouched(items):
        return None
    builder, text = reader.builder, f"{fn.__name__}({source.text})"
    try:
        value = fn(items)
    except ArithmeticError as error:
        raise Unstageable(f"computes {text}, and Python says: {type(error).__name__}: {error}") from None
    builder.require(source, f"{builder.constant(_are_numbers)}({{v}})", "held numbers")
    builder.within = builder.constant(warnings_as_errors)
    code = builder.compute(f"{builder.constant(fn)}({builder.value(source)})")
    builder.require_that(f"{code}.__class__ is {builder.constant(type(value))}", f"{text} was a {type(value).__name__}")
    return (made(reader.hosts, code, value, text),)


def call(reader: Reader, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any] | None:
    """`fn(*args, **kwargs)`, in a tuple, whose first argument is a list; None if it is not to be read as a whole.

    It is if it is an old one, of numbers or of tensors that are alike, and has another length from call to call. Where
    all that is asked is a tensor of floats, their number need not change: they do. What is made of tensors before the
    launch is seen by a tape around it; not by one that the trace has opened, which may watch one of them.
    """
    items, others = args[0], (*args[1:], *kwargs.values())
    joins = any(fn is each for each in _JOIN)
    source = reader.source_of(items) if joins or is_numpy_function(fn) else None
    if source is None or not reader.is_untouched(items):
        return None
    are_numbers = _are_numbers(items)
    if not reader.changes_length(source) and not (joins and are_numbers and _float_among(items)):
        return None
    if not joins:
        return None if others else fold(reader, fn, items)
    if not all(type(each) in _CONSTANTS for each in others):
        return None
    if not are_numbers and (reader.may_be_watched(items) or not _are_alike(items)):
        return None
    builder = reader.builder
    kind = builder.constant(_are_numbers if are_numbers else _are_alike)
    builder.require(source, f"{kind}({{v}})", "held numbers" if are_numbers else "held tensors that are alike")
    join = functools.partial(_join, fn, args[1:], dict(kwargs))
    with tf.init_scope():
        value = join(items)
    place = source.child(f"{builder.constant(join)}({{parent}})", f"{fn.__name__}({source.text})")
    if reader.changes_length(source) and fn is not tf.add_n:
        axis = kwargs.get("axis", args[1] if len(args) > 1 else 0) if fn in (tf.stack, tf.concat) else 0
        reader.note_unbounded(place, len(value.shape), axis)
    return (reader.wrap(value, place),)


def _join(fn: Callable[..., Any], rest: tuple[Any, ...], kwargs: dict[str, Any], items: list[Any]) -> Any:
    return fn(items, *rest, **kwargs)


def _are_alike(items: list[Any]) -> bool:
    """Whether there is something, all of it tensors of one type and shape."""
    if not items or set(map(type, items)) != {tf_internals.EagerTensor}:
        return False
    return len({(item.dtype, tf_internals.shape_tuple(item)) for item in items}) == 1


def _are_numbers(items: list[Any]) -> bool:
    """Whether there is something, all of it Python's or numpy's own numbers."""
    return bool(items) and all(map(_is_number, set(map(type, items))))


def _float_among(items: list[Any]) -> bool:
    return any(issubclass(kind, (float, np.floating)) for kind in set(map(type, items)))


def _is_number(kind: type) -> bool:
    return kind in (int, float) or (issubclass(kind, np.number) and kind.__module__ == "numpy")
