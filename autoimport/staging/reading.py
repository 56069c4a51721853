"""What a trace reads of an object from outside -> its attributes, under guards, as eager would find them.

In: an object that has a source, and a name. Out: the attribute with a source of its own, whatever way Python finds it:
on the object, on its class, by a property or descriptor, or in library code.
"""

from __future__ import annotations

import types
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numpy_values import NumpyMethod
from autoimport.operators.symbolic import is_symbolic
from autoimport.staging import tf_internals, trust
from autoimport.staging.guarding import CONTAINERS, MISSING, class_attribute, has_dict
from autoimport.staging.ours import gated, harmless
from autoimport.staging.sources import Source
from autoimport.staging.values import Shape
from autoimport.staging.wrapping import Wrapper

# Attributes that a tensor in a graph answers otherwise than an eager one.
_NOT_OF_EAGER_TENSORS = frozenset(
    {"backing_device", "consumers", "device", "graph", "name", "op", "ref", "value_index"}
)
# Methods of a wrapped dict that change nothing; they are those of the dict itself.
_READING = frozenset({"get", "items", "keys", "values"})
# What functions and classes are called.
_NAMES = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})


class Reader(Wrapper):
    """What one trace reads from outside."""

    def attribute(self, obj: Any, name: str) -> Any:
        """`obj.name`, as eager would read it, with a source if `obj` has one."""
        if isinstance(obj, tf_internals.SymbolicTensor) and type(obj) is not tf_internals.EagerTensor:
            if name == "shape" and not obj.shape.is_fully_defined():
                return Shape.of(obj)
            if name == "numpy":
                return NumpyMethod(obj, name)
            if name in _NOT_OF_EAGER_TENSORS:
                raise Unstageable(f"reads .{name} of a tensor")
            return getattr(obj, name)
        if name == "element_shape" and isinstance(obj, tf.TensorArray):
            raise Unstageable("reads .element_shape of a TensorArray, which says whether something has been written")
        if name == "numpy" and hasattr(type(obj), "assign") and is_symbolic(obj):
            return NumpyMethod(obj, name)
        if type(obj) is super:
            self._guard_inherited(obj, name)
        source = self.source_of(obj)
        if source is None:
            return getattr(obj, name)
        if type(obj) is tf_internals.DictWrapper:
            if name not in _READING:
                raise Unstageable(f"reads .{name} of {source.text}, a dict that TensorFlow tracks")
            self._untouched(obj, source)
            self.remember(obj.__wrapped__, source.attribute("__wrapped__"))
            return getattr(obj.__wrapped__, name)
        if isinstance(obj, types.ModuleType) and trust.is_library(obj.__name__):
            value = getattr(obj, name)
            self.builder.require_name(vars(obj), name, f"{obj.__name__}.{name}")
            return value
        if isinstance(obj, types.ModuleType):
            if name not in vars(obj):
                raise Unstageable(f"reads {source.text}.{name}, which the module computes")
            return self.wrap(getattr(obj, name), source.attribute(name))
        if isinstance(class_attribute(type(obj), "__getattribute__")[0], types.FunctionType) and not trust.is_library(
            type(obj).__module__
        ):
            raise Unstageable(f"reads {source.text}.{name} through a __getattribute__ of its own")
        held = object.__getattribute__(obj, "__dict__") if hasattr(type(obj), "__dict__") and has_dict(obj) else {}
        raw, owner = class_attribute(obj if isinstance(obj, type) else type(obj), name)
        of_metaclass = isinstance(obj, type) and raw is MISSING and hasattr(type(obj), name)
        if of_metaclass or (isinstance(raw, types.GetSetDescriptorType) and name in _NAMES):
            return self.wrap(getattr(obj, name), source.attribute(name))
        if isinstance(raw, property) and not isinstance(obj, type):
            return self._property(obj, source, name, raw, owner)
        if raw is not MISSING and not isinstance(raw, types.MemberDescriptorType) and hasattr(type(raw), "__set__"):
            if trust.is_library(owner.__module__):
                return self._library_attribute(obj, source, name)
            return self._descriptor(obj, source, name, raw, owner)
        if name in held and not isinstance(obj, type):
            return self.wrap(held[name], source.attribute(name))
        if isinstance(raw, (types.FunctionType, classmethod, staticmethod)) or _is_builtin_method(raw):
            return self._method(obj, source, name, raw, owner)
        if hasattr(type(raw), "__get__") and not isinstance(raw, types.MemberDescriptorType):
            if trust.is_library_type(type(raw)) or trust.is_library(owner.__module__):
                return self._library_attribute(obj, source, name)
            return self._descriptor(obj, source, name, raw, owner)
        if raw is not MISSING:
            return self.wrap(getattr(obj, name), source.attribute(name))
        if isinstance(obj, types.FunctionType) or trust.is_library(type(obj).__module__):
            return self._library_attribute(obj, source, name)
        self._guard_absence(obj, source, name)
        if _gated_method(type(obj), "__getattr__") or not hasattr(type(obj), "__getattr__"):
            return getattr(obj, name)
        raise Unstageable(f"reads {source.text}.{name}, which __getattr__ of unknown effect computes")

    def _property(self, obj: Any, source: Source, name: str, raw: property, owner: type) -> Any:
        getter = raw.fget
        if isinstance(getter, types.FunctionType) and harmless(getter.__code__):
            self._guard_class_attribute(type(obj), name, raw)
            return getattr(obj, name)
        if trust.is_library(owner.__module__):
            return self._library_attribute(obj, source, name)
        raise Unstageable(f"reads the property {source.text}.{name}, whose effects are unknown")

    def _method(self, obj: Any, source: Source, name: str, raw: Any, owner: type) -> Any:
        value = getattr(obj, name)
        if _is_builtin_method(raw):
            if has_dict(obj) and not isinstance(obj, type):
                self.builder.require(source, f"{name!r} not in {{v}}.__dict__", f"had no {name} of its own")
        elif not trust.is_library(owner.__module__) and owner.__module__ != "builtins":
            # Replaced while the program runs on the object, its class, or a class between that and the owner.
            function = getattr(value, "__func__", value)
            bound = ".__func__" if function is not value else ""
            self.builder.require(
                source.attribute(name), self._is_function("{v}" + bound, function), "was another function"
            )
        if isinstance(value, types.FunctionType) and gated(value.__code__):
            self.remember(value, source.attribute(name))
        return value

    def _descriptor(self, obj: Any, source: Source, name: str, raw: Any, owner: type) -> Any:
        """What a descriptor of the person's computes, in code that the trace can watch."""
        if not _gated_method(type(raw), "__get__"):
            raise Unstageable(f"reads {source.text}.{name}, which a descriptor computes")
        self.know_descriptor(name, raw, owner, "__get__")
        return getattr(obj, name)

    def _library_attribute(self, obj: Any, source: Source, name: str) -> Any:
        """What library code computes from an object's state: read again before each launch where that is cheap."""
        value = getattr(obj, name)
        if isinstance(value, CONTAINERS):
            self.states.note(obj)
            return value
        if isinstance(value, types.MethodType) and value.__self__ is obj:
            return value
        return self.wrap(value, source.attribute(name))


def _is_builtin_method(raw: Any) -> bool:
    return isinstance(
        raw,
        (
            types.MethodDescriptorType,
            types.WrapperDescriptorType,
            types.ClassMethodDescriptorType,
            types.BuiltinFunctionType,
        ),
    )


def _gated_method(cls: type, name: str) -> bool:
    raw, _ = class_attribute(cls, name)
    return isinstance(raw, types.FunctionType) and gated(raw.__code__)
