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
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals, trust

_SCALARS = (bool, int, float, str, bytes, type(None))
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
    """The attributes of one object at the end of the trace."""

    def __init__(self, obj: Any) -> None:
        cls: type = type(obj)
        names = _library_names(cls)
        held = {
            name: value
            for name, value in vars(obj).items()
            if (name in names and _counts(name)) or isinstance(getattr(cls, name, None), types.FunctionType)
        }
        self.ref = weakref.ref(obj)
        # An attribute more may hide one of the class.
        self.size = len(vars(obj))
        self.scalars = [(name, value) for name, value in held.items() if isinstance(value, _SCALARS)]
        # Objects by identity. None is kept alive: an id may come again for another one, so functions are watched.
        self.objects = [(k, id(v), _size(v)) for k, v in held.items() if not isinstance(v, _SCALARS)]
        self.settings = [(k, type(v)(v)) for k, v in held.items() if isinstance(v, dict) and _is_plain(v)]
        self.watched = [(name, ref) for name, v in held.items() if callable(v) and (ref := _weakly(v)) is not None]

    def unchanged(self) -> bool:
        held = vars(self.ref())
        for name, value in self.scalars:
            now = held[name]
            if now is not value and (now.__class__ is not value.__class__ or now != value):
                return False
        return (
            len(held) == self.size
            and all(id(held[name]) == identity and _size(held[name]) == size for name, identity, size in self.objects)
            and all(held[name] == settings for name, settings in self.settings)
            and all(watched() is held[name] for name, watched in self.watched)
        )


class ClassState:
    """What a class looked like at the end of the trace: of a library's all, of the person's its methods."""

    def __init__(self, cls: type) -> None:
        self._values = vars(cls).values()
        self._is_library = trust.is_library(cls.__module__)
        self._before = self._now()

    def _now(self) -> list[Any]:
        if self._is_library:
            return [*self._values]
        return [value for value in self._values if hasattr(type(value), "__get__")]

    def unchanged(self) -> bool:
        now, before = self._now(), self._before
        return len(now) == len(before) and all(map(operator.is_, now, before))


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


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (list, dict, set, tuple)) else -1


def _weakly(value: Any) -> Callable[[], Any] | None:
    """A weak reference: layers hold wrappers of their own methods, which lead back to them."""
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def _is_plain(settings: dict[Any, Any]) -> bool:
    return all(isinstance(value, _SCALARS) for value in settings.values())


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
        states: list[State | ClassState] = [*map(State, parts), *map(ClassState, classes)]
        settings = tf_internals.settings()
        return lambda: tf_internals.settings() == settings and all(state.unchanged() for state in states)

    def forget(self) -> None:
        """Let go of the objects."""
        self._parts.clear()
        self._losses.clear()
