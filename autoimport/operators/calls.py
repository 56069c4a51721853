"""A call in a graph form -> an operator for builtins, the journal for changes of containers, else the call itself."""

from __future__ import annotations

from collections.abc import Callable
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

import tensorflow as tf

from autoimport.operators import (
    dataclass_functions,
    heap,
    iterators,
    known_lists,
    list_methods,
    lists,
    math_functions,
    observer,
    operator_functions,
    python_builtins,
    sorting,
)
from autoimport.operators.access import iterate
from autoimport.operators.comprehensions import Sink, described, push
from autoimport.operators.either import Either
from autoimport.operators.formatting import method_of_string
from autoimport.operators.mutation import MUTATING, before_mutation, is_mutable
from autoimport.operators.numbers import Known, Number
from autoimport.operators.numpy_values import NumpyMethod
from autoimport.operators.streams import Each
from autoimport.operators.symbolic import A_VIEW, in_graph, is_symbolic
from autoimport.operators.undefined import MaybeNone

Operator = Callable[..., Any]


def _identity(input: Any, name: str | None = None) -> Any:
    """`tf.identity`, which can be told from what TensorFlow itself puts into a graph by that operation."""
    trace = observer.current()
    return tf.identity(input, name) if trace is None else trace.call(tf.identity, (input,), {"name": A_VIEW})


# By identity, so that a name that was given another meaning calls that.
_OPERATORS: dict[int, tuple[Any, Operator]] = {
    id(fn): (fn, operator)
    for table in (
        python_builtins.OPERATORS,
        math_functions.OPERATORS,
        operator_functions.OPERATORS,
        dataclass_functions.OPERATORS,
        {tf.identity: _identity},
    )
    for fn, operator in table.items()
}


# To these a list and a tuple are alike; the first take the items later, or some of them.
_WALK = frozenset(map(id, (zip, enumerate, map, filter, iter)))
_READ = frozenset(map(id, (list, tuple, len, sum, any, all, max, min, sorted, reversed)))


def _constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """`tf.constant`, which in eager mode also takes tensors, and here also Numbers."""
    if not any(is_symbolic(part) for part in tf.nest.flatten(value)):
        trace = observer.current()
        made = (value,), {"dtype": dtype, "shape": shape, "name": name or "Const"}
        return tf.constant(*made[0], **made[1]) if trace is None else trace.call(tf.constant, *made)
    tensor = tf.convert_to_tensor(value, dtype, name=name)
    if shape is None:
        return tensor
    return tf.fill(shape, tf.reshape(tensor, [])) if tensor.shape.num_elements() == 1 else tf.reshape(tensor, shape)


# These read the items of their list themselves and would see the stand-in.
_OF_LISTS: dict[int, tuple[Any, Operator]] = {
    id(tf.stack): (tf.stack, lambda values, axis=0, name=None: lists.stand_in(values).stack(axis)),
    id(tf.concat): (tf.concat, lambda values, axis, name=None: lists.stand_in(values).concat(axis)),
}


def call(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`fn(*args, **kwargs)`."""
    if isinstance(fn, MaybeNone):
        return fn.each(lambda part: call(part, *args, **kwargs))
    trace = observer.current()
    # What is made of a number, or of one of two values, for a tape has no gradients: they are for the trace to see.
    is_for_tape = trace is not None and isinstance(getattr(fn, "__self__", None), tf.GradientTape)
    either = next((arg for arg in (*args, *kwargs.values()) if isinstance(arg, Either)), None)
    if either is not None and (id(fn) in _WALK or id(fn) in _READ):
        items = either.walked()
        if items is not None:
            lend = list if id(fn) in _READ else lambda items: iterators.made(either.lent(items), heap.body())
            args = tuple(lend(items) if arg is either else arg for arg in args)
            return call(fn, *args, **{name: lend(items) if arg is either else arg for name, arg in kwargs.items()})
    if either is not None and fn is not print and not is_for_tape and (id(fn) in _OPERATORS or _is_library(fn)):
        return either.each(lambda part: call(fn, *_replaced(args, either, part), **_replaced(kwargs, either, part)))
    known = _OPERATORS.get(id(fn))
    takes_streams = fn in python_builtins.OF_STREAMS if known is not None else _is_extend(fn)
    takes_items = not isinstance(fn, (FunctionType, MethodType)) or _is_library(fn)
    if not takes_streams:
        args = tuple(arg.given(takes_items) if type(arg) is Each else arg for arg in args)
    if known is not None:
        return iterators.made(known[1](*args, **kwargs), heap.body())
    if type(fn) is NumpyMethod:
        return fn(*args, **kwargs)
    getter = operator_functions.GETTERS.get(type(fn))
    if getter is not None:
        return getter(fn, *args, **kwargs)
    if type(fn) in {MethodDescriptorType, WrapperDescriptorType} and args and is_mutable(args[0]):
        return call(fn.__get__(args[0]), *args[1:], **kwargs)  # `list.append(items, x)`
    if type(fn) in {BuiltinMethodType, MethodWrapperType}:
        owner = fn.__self__
        iterators.before_advance(owner, heap.body())
        if type(owner) in {list, tuple} and known_lists.asks(owner, fn.__name__, args):
            return known_lists.ask(owner, fn.__name__, args)
        if is_mutable(owner):
            if fn.__name__ in MUTATING:
                return _mutate(fn, owner, args, kwargs)
            owner = lists.stand_in(owner)
            if isinstance(owner, lists.TensorList):
                if fn.__name__ in list_methods.QUESTIONS:
                    return list_methods.QUESTIONS[fn.__name__](owner, *args, **kwargs)
                owner.items()  # gives up, unless the length is known after all
    if trace is not None:
        text = method_of_string(fn, args)
        if text is not None:
            return text[0](*text[1], **kwargs)
    if not is_for_tape:
        args = tuple(_argument(fn, arg) for arg in args)
        kwargs = {name: _argument(fn, arg) for name, arg in kwargs.items()}
    if fn is tf.constant:
        return _constant(*args, **kwargs)
    if any(isinstance(arg, lists.TensorList) for arg in (*args, *kwargs.values())):
        known = _OF_LISTS.get(id(fn))
        if known is not None:
            return known[1](*args, **kwargs)
    if takes_items and heap.in_symbolic_body():
        for arg in (*args, *kwargs.values()):
            iterators.before_advance(arg, heap.body())
    if trace is not None:
        result = trace.call(fn, args, kwargs)
    else:
        # AutoGraph would convert what our converted code calls, opted in or not.
        result = (observer.convert_on_demand(fn) if in_graph() else fn)(*args, **kwargs)
    return iterators.made(result, heap.body())


def _is_extend(fn: Any) -> bool:
    return type(fn) is BuiltinMethodType and type(fn.__self__) is list and fn.__name__ == "extend"


def _replaced(arguments: Any, either: Either, part: Any) -> Any:
    """Arguments with one of the values in place of both."""
    if isinstance(arguments, dict):
        return {name: part if arg is either else arg for name, arg in arguments.items()}
    return tuple(part if arg is either else arg for arg in arguments)


def _mutate(fn: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method that changes a builtin container in place."""
    name = fn.__name__
    trace = observer.current()
    logged = None if trace is None else trace.logs(owner, name, args, kwargs)
    if logged is not None:
        return logged[0]
    before_mutation(owner, f"{type(owner).__name__}.{name}")
    if name == "extend" and len(args) == 1 and type(owner) is list:
        args = (described(args[0]),)
        if isinstance(args[0], Each) and args[0].is_fresh:
            push(args[0], Sink(lambda item: call(owner.append, item)))
            return None
    if lists.stand_in(owner) is not owner:
        return list_methods.change(owner, name, args, kwargs)
    if type(owner) is list and known_lists.handles(owner, name, args):
        return known_lists.change(owner, name, args)
    if name == "remove" and type(owner) is list and trace is not None:
        del owner[trace.call(owner.index, args, kwargs)]
        return None
    if name == "sort":
        return sorting.sort_list(owner, *args, **kwargs)
    if name in ("extend", "update", "extendleft") or name.endswith("_update"):
        args = tuple(arg if isinstance(arg, dict) else iterate(arg) for arg in args)
    return fn(*args, **kwargs)


def _argument(fn: Any, arg: Any) -> Any:
    """An argument as a library takes it: TensorFlow packs lists of tensors, not of Numbers."""
    if type(arg) is list and _is_library(fn):  # others may change the list, or keep it
        arg = lists.stand_in(arg)
    if isinstance(arg, MaybeNone) and _is_library(fn):
        return arg.to_tensor(None)
    if type(arg) not in {list, tuple} or not _is_library(fn):
        return arg
    return packed(arg)


def _is_library(fn: Any) -> bool:
    module = getattr(fn, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in ("tensorflow", "keras")


def _holds(values: Any, kinds: type | tuple[type, ...]) -> bool:
    """Whether something of these kinds is in a list or tuple, however deep."""
    return any(_holds(value, kinds) if type(value) in {list, tuple} else isinstance(value, kinds) for value in values)


def _with_numbers(values: Any) -> Any:
    """A list or tuple with inputs of the graph for what Python knows before each launch; itself where there is none."""
    if not _holds(values, Known):
        return values
    return type(values)(
        _with_numbers(value) if type(value) in {list, tuple} else value.number() if isinstance(value, Known) else value
        for value in values
    )


def packed(values: Any) -> Any:
    """A list or tuple with its Numbers as tensors of the dtype of the tensors beside them; itself where it has none.

    What is older than the trace has none: it stays what it is, for the trace to read what the library will read.
    """
    if not any(isinstance(value, (Number, MaybeNone)) or type(value) in {list, tuple} for value in values):
        return values
    if _holds(values, (Number, tf.Tensor)):
        values = _with_numbers(values)
    dtypes = [value.dtype for value in values if isinstance(value, (tf.Tensor, tf.Variable))]
    kinds = {value.kind if isinstance(value, Number) else type(value) for value in values}

    def convert(value: Any) -> Any:
        if isinstance(value, Number):
            if dtypes:
                return value.cast(dtypes[0])
            return tf.cast(value.tensor, tf.float32) if float in kinds else tf.convert_to_tensor(value)
        if isinstance(value, MaybeNone):
            return value.to_tensor(dtypes[0] if dtypes else None)
        return packed(value) if type(value) in {list, tuple} else value

    parts = [convert(value) for value in values]
    is_same = all(part is value for part, value in zip(parts, values, strict=True))
    return values if is_same else type(values)(parts)
