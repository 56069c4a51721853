"""The Python state of library objects (layers, optimizers, metrics) that a trace went through -> a guard, and an undo.

Library code is not converted, so what it reads of its objects is not seen. Its numbers, flags and parts are compared as
a whole instead: a changed dropout rate, a frozen layer, another activation or a method replaced on the object or on its
class makes a new trace.
"""

from __future__ import annotations

import dis
import functools
import operator
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals, trust

_SCALARS = (bool, int, float, str, bytes, type(None))
_SIZED = (list, dict, set, tuple)
# Bookkeeping of Keras and tf.Module that calls change by themselves.
_CHURN = frozenset(
    {"_called", "_losses", "_loss_ids", "_lock", "_build_shapes_dict", "_inbound_nodes", "_outbound_nodes"}
)


def _parts(obj: Any) -> Iterator[Any]:
    """An object, the library objects that it is made of, and what they are told by: schedules, regularizers, ..."""
    flatten = getattr(obj, "_flatten_layers", None)
    owners: Iterable[Any] = ()
    if flatten is not None:
        owners = flatten()
    elif isinstance(obj, tf.Module):
        owners = obj.submodules
    for part in (obj, *(owner for owner in owners if owner is not obj)):
        yield part
        yield from _tellers(part)


def _tellers(part: Any) -> Iterator[Any]:
    """The objects without variables that library code calls for `part`, and those that they hold."""
    cls: type = type(part)
    names = _library_names(cls)
    for name, value in vars(part).items():
        if name in names and _counts(name) and _tells(value):
            yield value
            yield from _tellers(value)


def _tells(value: Any) -> bool:
    is_object = callable(value) and not isinstance(value, (type, types.FunctionType)) and hasattr(value, "__dict__")
    return is_object and not hasattr(value, "variables")


class State:
    """The attributes of one object at the end of the trace.

    Objects are told by identity, and none is kept alive but tuples of scalars: the id of one that is gone may come
    again for another, so `gone` is given what dies. Sizes tell most lists and dicts that have been changed in place,
    the scalars in them the others; arrays are told by their bytes.
    """

    def __init__(self, obj: Any, gone: list[Any]) -> None:
        cls: type = type(obj)
        library = _library_names(cls)
        held = {
            name: value
            for name, value in vars(obj).items()
            if (name in library and _counts(name)) or isinstance(getattr(cls, name, None), types.FunctionType)
        }
        values = [value for value in held.values() if isinstance(value, _SCALARS)]
        objects = [name for name, value in held.items() if not isinstance(value, _SCALARS)]
        objects.sort(key=lambda name: not isinstance(held[name], _SIZED))
        names = [*objects, *(name for name in held if isinstance(held[name], _SCALARS))]
        self._read: Callable[[Any], Sequence[Any]] = operator.itemgetter(*names, *names[:1]) if names else tuple
        self._ids = [id(held[name]) for name in objects]
        self._sizes = [len(value) for name in objects if isinstance(value := held[name], _SIZED)]
        self._values = values
        plain = {
            name: flat for name in objects if isinstance(held[name], _SIZED) and _is_plain(flat := _flat(held[name]))
        }
        # Nothing can change a tuple of scalars; as long as it is alive, no other one has its id.
        self._kept = [held[name] for name in plain if isinstance(held[name], tuple)]
        self._contents = [(name, items) for name, items in plain.items() if _may_be_changed(name, held[name])]
        self._arrays = [(name, _bytes(held[name])) for name in objects if isinstance(held[name], np.ndarray)]
        self._watches = [ref for name in objects if (ref := _weakly(held[name], gone.append)) is not None]
        self._ref = weakref.ref(obj)
        # An attribute more may hide one of the class.
        self._size = len(vars(obj))

    def unchanged(self) -> bool:
        held = vars(self._ref())
        try:
            now = self._read(held)
        except KeyError:
            return False
        sizes, ids = self._sizes, self._ids
        scalars = now[len(ids) :]
        return (
            len(held) == self._size
            and [*map(id, now[: len(ids)])] == ids
            and [*map(len, now[: len(sizes)])] == sizes
            and (all(map(operator.is_, scalars, self._values)) or all(map(_same, scalars, self._values)))
            and not (self._contents and any(not _are_same(_flat(held[name]), items) for name, items in self._contents))
            and not (self._arrays and any(_bytes(held[name]) != before for name, before in self._arrays))
        )


class ClassState:
    """What a class looked like at the end of the trace: of a library's all, of the person's its methods."""

    def __init__(self, cls: type) -> None:
        self._values = vars(cls).values()
        self._is_library = trust.is_library(cls.__module__)
        self._before = self._now()
        # Comparing lists is quicker than a test of each, and tells as much of values that equal but themselves.
        kinds: set[Any] = {*map(type, self._before)} - {str}
        self._are_compared = all(kind.__eq__ is object.__eq__ for kind in kinds)

    def _now(self) -> list[Any]:
        if self._is_library:
            return [*self._values]
        return [value for value in self._values if hasattr(type(value), "__get__")]

    def unchanged(self) -> bool:
        now = self._now()
        if self._are_compared:
            return now == self._before
        return len(now) == len(self._before) and all(map(operator.is_, now, self._before))


def _are_same(now: Sequence[Any], then: Sequence[Any]) -> bool:
    return all(map(operator.is_, now, then)) or all(map(_same, now, then))


def _same(now: Any, then: Any) -> bool:
    """Whether both are the same number, flag or text."""
    return now.__class__ is then.__class__ and bool(now == then)


@functools.cache
def _library_names(cls: type) -> frozenset[str]:
    """What the library's own bases of a class store; other attributes are the person's, read by converted code."""
    names: set[str] = set()
    for base in cls.__mro__:
        if trust.is_library(base.__module__):
            for member in vars(base).values():
                code = getattr(getattr(member, "fset", member), "__code__", None)
                if code is not None:
                    names.update(i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR")
    return frozenset(names)


def _weakly(value: Any, gone: Callable[[Any], None]) -> weakref.ref[Any] | None:
    """A weak reference: layers hold wrappers of their own methods, which lead back to them."""
    try:
        return weakref.ref(value, gone)
    except TypeError:
        return None


def _may_be_changed(name: str, container: Any) -> bool:
    """Whether a program may change what is in a container, but not how much. Its own lists the library only adds to."""
    return isinstance(container, dict) or not (isinstance(container, tuple) or name.startswith("_"))


def _flat(container: Any) -> list[Any]:
    """What is in a container, keys and values of a dict."""
    return [*container, *container.values()] if isinstance(container, dict) else [*container]


def _is_plain(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, _SCALARS) for item in items)


def _bytes(array: Any) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.tobytes()


def _counts(name: str) -> bool:
    return name not in _CHURN and not name.startswith("_self_")


class LibraryStates:
    """The library objects of one trace."""

    def __init__(self) -> None:
        self._parts: dict[int, Any] = {}
        self._losses: dict[int, tuple[Any, list[Any]]] = {}

    def knows(self, obj: Any) -> bool:
        """Whether `obj` is one of these objects."""
        return id(obj) in self._parts

    def note(self, obj: Any) -> None:
        """Library code is about to work on `obj`."""
        if self.knows(obj) or not hasattr(obj, "__dict__"):
            return
        for part in _parts(obj):
            if not self.knows(part):
                self._parts[id(part)] = part
                losses = vars(part).get("_losses")
                if isinstance(losses, list):
                    self._losses[id(part)] = (part, list(losses))

    def restore(self) -> None:
        """Take symbolic losses off the layers again; Unstageable if there were any."""
        changed = False
        for part, losses in self._losses.values():
            now = vars(part).get("_losses", [])
            if len(now) != len(losses) or any(a is not b for a, b in zip(now, losses, strict=True)):
                changed = True
                part._losses = losses
                part._loss_ids = {id(loss) for loss in losses}
        if changed:
            raise Unstageable("runs a layer that keeps a loss of its own", "add the loss outside the layer")

    def guard(self) -> Callable[[], bool]:
        """A function that tells whether all of it, and the libraries' settings, are as when the trace ended."""
        parts = list(self._parts.values())
        classes = {base: None for part in parts for base in type(part).__mro__[:-1]}
        gone: list[Any] = []
        states: list[State | ClassState] = [State(part, gone) for part in parts]
        states += map(ClassState, classes)
        settings = tf_internals.settings()
        return lambda: not gone and tf_internals.settings() == settings and all(state.unchanged() for state in states)

    def forget(self) -> None:
        """Let go of the objects."""
        self._parts.clear()
        self._losses.clear()
