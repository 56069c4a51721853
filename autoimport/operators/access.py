"""Reads and stores of attributes, items, globals and cells -> Python's own, seen by the observer and the heap journal.

With neither, each function is the Python operation that it stands for.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import CellType
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import heap, indexing, lists, observer
from autoimport.operators.checks import refuse
from autoimport.operators.iterators import before_advance
from autoimport.operators.mutation import before_mutation, is_mutable
from autoimport.operators.streams import Each
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone, MaybeUndefined


def attr(obj: Any, name: str) -> Any:
    """`obj.name`."""
    if isinstance(obj, MaybeNone):
        return obj.each(lambda part: attr(part, name))
    trace = observer.current()
    value = getattr(obj, name) if trace is None else trace.read_attr(obj, name)
    return _or_inherited(obj, name, value) if type(value) is MaybeUndefined else value


def _or_inherited(obj: Any, name: str, stored: MaybeUndefined) -> Any:
    """What a branch may have stored to an attribute, else what the object's class, or a class's base, shows there."""
    owner = heap.showing_class(obj, name)
    if owner is None or hasattr(type(vars(owner)[name]), "__get__"):
        return stored.resolve()
    from autoimport.operators.conditionals import if_exp  # which reads by way of this module

    return if_exp(stored.present, lambda: stored.value, lambda: attr(owner, name))


def _there(value: Any) -> Any:
    """What was read; where only a branch has stored it, checked to be there."""
    return value.resolve() if type(value) is MaybeUndefined else value


def set_attr(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`."""
    if isinstance(obj, MaybeNone):
        obj.each(lambda part: set_attr(part, name, value))
        return
    heap.before_attr(obj, name)
    trace = observer.current()
    if trace is None:
        setattr(obj, name, value)
    else:
        trace.write_attr(obj, name, value)


def del_attr(obj: Any, name: str) -> None:
    """`del obj.name`."""
    if isinstance(obj, MaybeNone):
        obj.each(lambda part: del_attr(part, name))
        return
    heap.before_attr(obj, name)
    _there(heap.Attribute(obj, name).read())
    trace = observer.current()
    if trace is None:
        delattr(obj, name)
    else:
        trace.delete_attr(obj, name)


def item(obj: Any, key: Any) -> Any:
    """`obj[key]`; tensors, lists and tuples also take symbolic keys."""
    if isinstance(obj, MaybeNone):
        return obj.each(lambda part: item(part, key))
    if type(obj) is list:
        obj = lists.stand_in(obj)
    if isinstance(obj, lists.TensorList) or indexing.is_symbolic_key(key):
        return indexing.item(obj, key)
    if type(key) is not str and key.__class__ is str:
        from autoimport.operators.text import each  # which reads by way of this module

        return each(key, lambda string: item(obj, string))
    trace = observer.current()
    if trace is None:
        return obj[key]
    return obj[indexing.tensor_key(key)] if is_symbolic(obj) else _there(trace.read_item(obj, key))


def set_item(obj: Any, key: Any, value: Any) -> None:
    """`obj[key] = value`."""
    if isinstance(obj, MaybeNone):
        obj.each(lambda part: set_item(part, key, value))
        return
    if type(obj) is list and lists.stand_in(obj) is not obj:
        before_mutation(obj, "__setitem__")
        _of_lists().change(obj, "__setitem__", (key, value))
        return
    if indexing.is_symbolic_key(key):
        if not _at_unknown_place(obj, "__setitem__", key, value):
            indexing.set_item(obj, key, value)
        return
    heap.before_item(obj, key)
    trace = observer.current()
    if trace is None:
        obj[key] = value
    else:
        trace.write_item(obj, key, value)


def _of_lists() -> Any:
    from autoimport.operators import list_methods  # which reads by way of this module

    return list_methods


def _at_unknown_place(obj: Any, method: str, *args: Any) -> bool:
    """Change a list at a place that only the graph knows, if this is one."""
    from autoimport.operators import known_lists  # which reads by way of this module

    if type(obj) is not list or not known_lists.handles(obj, method, args):
        return False
    before_mutation(obj, method)
    known_lists.change(obj, method, args)
    return True


def del_item(obj: Any, key: Any) -> None:
    """`del obj[key]`."""
    if isinstance(obj, MaybeNone):
        obj.each(lambda part: del_item(part, key))
        return
    if type(obj) is list and lists.stand_in(obj) is not obj:
        before_mutation(obj, "__delitem__")
        _of_lists().change(obj, "__delitem__", (key,))
        return
    if _at_unknown_place(obj, "__delitem__", key):
        return
    heap.before_item(obj, key)
    trace = observer.current()
    if trace is None:
        del obj[key]
    else:
        trace.delete_item(obj, key)


def global_(name: str) -> Any:
    """A global or builtin name, as the calling frame sees it."""
    frame = sys._getframe(1)
    namespace = frame.f_globals
    trace = observer.current()
    if trace is not None:
        return _there(trace.read_global(namespace, name))
    try:
        return _there(namespace[name])
    except KeyError:
        pass
    try:
        return frame.f_builtins[name]
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


def set_global(name: str, value: Any) -> None:
    """`name = value` where `name` is global in the calling frame."""
    namespace = sys._getframe(1).f_globals
    heap.before_global(namespace, name)
    trace = observer.current()
    if trace is None:
        namespace[name] = value
    else:
        trace.write_global(namespace, name, value)


def del_global(name: str) -> None:
    """`del name` where `name` is global in the calling frame."""
    namespace = sys._getframe(1).f_globals
    heap.before_global(namespace, name)
    trace = observer.current()
    if trace is not None:
        trace.delete_global(namespace, name)
    elif name in namespace:
        _there(namespace[name])
        del namespace[name]
    else:
        raise NameError(f"name {name!r} is not defined", name=name)


def free(read: Callable[[], Any]) -> Any:
    """A free name: `read` is `lambda: name`, whose only closure cell is the name's."""
    trace = observer.current()
    return _there(read() if trace is None else trace.read_cell(_cell(read), read.__code__.co_freevars[0]))


def set_free(read: Callable[[], Any], value: Any) -> None:
    """`name = value` for a free name."""
    cell = _cell(read)
    heap.before_cell(cell)
    trace = observer.current()
    if trace is None:
        cell.cell_contents = value
    else:
        trace.write_cell(cell, read.__code__.co_freevars[0], value)


def _cell(read: Callable[[], Any]) -> CellType:
    closure = read.__closure__
    assert closure is not None and len(closure) == 1, "the lambda reads one free name"
    return closure[0]


_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}
# Their in-place operators make a new value, so there is nothing to watch.
_IMMUTABLE = (bool, int, float, complex, str, bytes, tuple, frozenset, np.generic, tf.Tensor, tf.Variable)


def augment(op: str, x: Any, value: Any) -> Any:
    """The new value of `x` after `x op value`, `op` being `+=`, `*=`, ..."""
    if op == "%=" and isinstance(x, (str, bytes)):
        from autoimport.operators.formatting import mod

        return mod(x, value)
    trace = observer.current()
    if type(x) is list and op == "+=" and hasattr(type(value), "__radd__"):
        # Python asks the operand on the right first: `items += tensor` is a sum, or an error.
        if trace is not None:
            trace.effect(f"adds a {type(value).__name__} to a list")
        return _IN_PLACE[op](lists.stand_in(x), value)
    if is_mutable(x):
        if trace is not None and trace.logs(x, op, (value,), {}) is not None:
            return x
        if type(x) is list and op == "+=":
            from autoimport.operators.calls import call

            call(x.extend, value)
            return x
        if type(x) is list and lists.stand_in(x) is not x:
            if isinstance(value, (tf.Tensor, tf.Variable)):
                return _of_lists().combined(op[:-1], x, value)
            before_mutation(x, op)
            _of_lists().change(x, op, (value,))
            return x
        before_mutation(x, op)
    elif trace is not None and not isinstance(x, _IMMUTABLE) and not is_symbolic(x):
        return trace.call(_IN_PLACE[op], (x, value), {})
    return _IN_PLACE[op](x, value)


def iterate(obj: Any) -> Any:
    """Something that plain Python can iterate over: `*obj`, comprehensions, builtins that take an iterable."""
    if type(obj) is list:
        obj = lists.stand_in(obj)
    if is_symbolic(obj):
        return indexing.items(obj)
    before_advance(obj, heap.body())
    trace = observer.current()
    return obj if trace is None or type(obj) is Each else trace.iterate(obj)


def mapping(obj: Any) -> Any:
    """Something that plain Python can take apart for `**obj`."""
    trace = observer.current()
    if trace is None:
        return obj
    if obj.__class__ is not dict:  # a dict, or one that a tf.Module wraps
        refuse(f"`**` of a {type(obj).__name__}")
    return {key: item(obj, key) for key in iterate(obj)}


def context(manager: Any) -> Any:
    """The context manager to enter for `with manager`."""
    trace = observer.current()
    return manager if trace is None else trace.enter_context(manager)


def handlers() -> None:
    """A `try` with handlers begins."""
    trace = observer.current()
    if trace is not None:
        trace.handles()


def caught() -> None:
    """A handler begins: only what eager code would meet there as well may be taken."""
    error = sys.exc_info()[1]
    if not isinstance(error, Exception) and type(error).__module__.startswith("autoimport."):
        raise  # how operators and traces speak to each other: a bare `except:` would keep it
    trace = observer.current()
    if trace is not None and error is not None:
        trace.caught(error)


def forbid(what: str) -> None:
    """`what` follows, which no trace can hold."""
    trace = observer.current()
    if trace is not None:
        trace.effect(what)
