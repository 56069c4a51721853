"""A store to an attribute or item of an old object -> whether the log may do it later, as Python would do it now."""

from __future__ import annotations

import types
from typing import Any

import tensorflow as tf

from autoimport.operators import heap
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Known, Number
from autoimport.staging import tf_internals, trust
from autoimport.staging.guarding import SCALARS, class_attribute, has_dict
from autoimport.staging.ours import harmless
from autoimport.staging.reading import Reader
from autoimport.staging.sources import Source

# Setters of the libraries that do no more than assign a variable: part of the graph, as in tf.function.
_ASSIGNING = frozenset({"keras.src.optimizers.base_optimizer.BaseOptimizer.learning_rate"})
# The flag of classes that take no new attributes, as CPython's `Py_TPFLAGS_IMMUTABLETYPE`.
_IMMUTABLE_TYPE = 1 << 8


def runs_converted_setter(obj: Any, name: str, reader: Reader) -> bool:
    """Whether the store is a call of a property's setter, or of a descriptor's, that the trace can watch."""
    raw, owner = class_attribute(type(obj), name)
    setter = raw.fset if isinstance(raw, property) else class_attribute(type(raw), "__set__")[0]
    if not isinstance(setter, types.FunctionType) or not harmless(setter.__code__):
        return False
    if not isinstance(raw, property):
        reader.know_descriptor(name, raw, owner, "__set__")
    return True


def assigns_variable(obj: Any, name: str) -> bool:
    """Whether the store assigns a variable of a library object."""
    raw, owner = class_attribute(type(obj), name)
    return isinstance(raw, property) and f"{owner.__module__}.{owner.__qualname__}.{name}" in _ASSIGNING


def keeps(obj: Any, kind: type, value: Any) -> bool:
    """Whether `obj[key] = value` does no more than that of a `kind`: containers of libraries track other values.

    Those are no places of branches and loops of the graph.
    """
    if type(obj) is kind:
        return True
    if not isinstance(obj, kind) or not tf_internals.tracks_items(type(obj)) or heap.in_symbolic_body():
        return False
    return _is_untracked(value)


def kept(obj: Any, value: Any) -> Any:
    """What to store for `value` after the launch: a layer copies lists and dicts when they are stored."""
    return value.copy() if type(value) in {list, dict} and _is_layer(type(obj)) else value


def _is_wrapped_later(obj: Any, value: Any) -> bool:
    """Whether a list or dict, with nothing in it that wants tracking, may be stored after the launch."""
    if type(value) not in {list, dict} or not (isinstance(obj, tf.Module) or _is_layer(type(obj))):
        return False
    return all(map(_is_untracked, value.values() if type(value) is dict else value)) and not heap.in_symbolic_body()


def _has_room(obj: Any, raw: Any, owner: type) -> bool:
    """Whether Python can keep an attribute, which the class `owner` may know as `raw`: in a slot or a dictionary."""
    if isinstance(raw, types.MemberDescriptorType):
        return "__slots__" in owner.__dict__  # those of C code may be for reading only
    if isinstance(obj, type):
        return not obj.__flags__ & _IMMUTABLE_TYPE
    return has_dict(obj)


def _is_layer(cls: type) -> bool:
    return any(f"{base.__module__}.{base.__qualname__}" == "keras.src.layers.layer.Layer" for base in cls.__mro__)


def _is_untracked(value: Any) -> bool:
    return type(value) in SCALARS or isinstance(value, (Known, Number, tf.Tensor))


def require_plain(obj: Any, name: str, value: Any, source: Source) -> None:
    """Give the trace up unless the store does nothing but keep `value`.

    Raises:
      Unstageable: a descriptor or `__setattr__` would run, or library code may look at the attribute.
    """
    cls = type(obj)
    place = f"{source.text}.{name}"
    raw, owner = class_attribute(cls, name)
    if hasattr(type(raw), "__set__") and not isinstance(raw, types.MemberDescriptorType):
        raise Unstageable(f"stores to {place}, which a descriptor takes")
    setter, setter_owner = class_attribute(cls, "__setattr__")
    if not trust.owns_state(cls):
        is_plain = setter in (object.__setattr__, type.__setattr__) or isinstance(obj, types.FunctionType)
        if not is_plain or (isinstance(obj, type) and (name.startswith("__") or trust.is_library(obj.__module__))):
            raise Unstageable(f"stores to {place} through a __setattr__ of its own")
        if not _has_room(obj, raw, owner):
            raise Unstageable(f"stores to {place}, for which the object has no room")
        return
    if not trust.is_library(setter_owner.__module__) and setter_owner is not object:
        raise Unstageable(f"stores to {place} through a __setattr__ of its own")
    if name in owner.__dict__ and trust.is_library(owner.__module__):
        raise Unstageable(f"stores to {place}, which a library may read")
    if trust.owns_state(type(value)) or (isinstance(value, (list, dict, set)) and not _is_wrapped_later(obj, value)):
        raise Unstageable(f"stores a {type(value).__name__} to {place}, which would be tracked")


def require_last(obj: Any, before: Any, value: Any, place: Source) -> None:
    """Give up where `value` replaces what the trace itself has stored, and somebody has noted that: it stores the last.

    A list or dict that a module or layer has had stays among what TensorFlow tracks of it.
    """
    if type(before) in {list, dict} and type(value) not in {list, dict} and trust.owns_state(type(obj)):
        raise Unstageable(f"stores to {place.text} what replaces a {type(before).__name__} that is tracked")
