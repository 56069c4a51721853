"""The Python state of library objects (layers, optimizers, metrics) that a trace went through -> a guard, and an undo.

Library code is not converted, so what it reads of its objects is not seen. Its numbers, flags and parts are compared as
a whole instead: a changed dropout rate, a frozen layer or another activation makes a new trace.
"""

from __future__ import annotations

import dis
import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals, trust

_SCALARS = (bool, int, float, str, bytes, type(None))
# Bookkeeping of Keras and tf.Module that calls change by themselves.
_CHURN = frozenset(
    {"_called", "_losses", "_loss_ids", "_lock", "_build_shapes_dict", "_inbound_nodes", "_outbound_nodes"}
)


def _parts(obj: Any) -> Iterable[Any]:
    """An object and the library objects that it is made of."""
    flatten = getattr(obj, "_flatten_layers", None)
    if flatten is not None:
        return [obj, *(layer for layer in flatten() if layer is not obj)]
    if isinstance(obj, tf.Module):
        return [obj, *obj.submodules]
    return [obj]


class State:
    """The attributes of one object at the end of the trace."""

    def __init__(self, obj: Any) -> None:
        cls: type = type(obj)
        names = _library_names(cls)
        held = {name: value for name, value in vars(obj).items() if name in names and _counts(name)}
        self.ref = weakref.ref(obj)
        self.scalars = [(name, value) for name, value in held.items() if isinstance(value, _SCALARS)]
        # Objects by identity; what owns state is not kept alive.
        self.objects = [(k, id(v), _size(v)) for k, v in held.items() if not isinstance(v, _SCALARS)]
        self.keep = [value for value in held.values() if callable(value) and not hasattr(value, "variables")]

    def unchanged(self) -> bool:
        held = vars(self.ref())
        for name, value in self.scalars:
            now = held[name]
            if now is not value and (now.__class__ is not value.__class__ or now != value):
                return False
        return all(id(held[name]) == identity and _size(held[name]) == size for name, identity, size in self.objects)


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


def _counts(name: str) -> bool:
    return name not in _CHURN and not name.startswith("_self_")


class LibraryStates:
    """The library objects of one trace."""

    def __init__(self) -> None:
        self._parts: dict[int, Any] = {}
        self._losses: dict[int, tuple[Any, list[Any]]] = {}

    def note(self, obj: Any) -> None:
        """Library code is about to work on `obj`."""
        if id(obj) in self._parts or not hasattr(obj, "__dict__"):
            return
        for part in _parts(obj):
            if id(part) not in self._parts:
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
        states = [State(part) for part in self._parts.values()]
        settings = tf_internals.settings()
        return lambda: tf_internals.settings() == settings and all(state.unchanged() for state in states)

    def forget(self) -> None:
        """Let go of the objects."""
        self._parts.clear()
        self._losses.clear()
