"""What a trace reads from outside -> graph inputs and guards.

In: a value and the source where the trace found it. Out: what the graph form works with instead: a symbolic input for a
tensor, a stand-in for a numpy array, the value itself under a guard for a Python number, and for an object the object,
remembered with its source so that what is read below it has a source too.
"""

from __future__ import annotations

import array
import collections
import decimal
import enum
import fractions
import functools
import operator
import types
from collections.abc import Callable, MappingView
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numpy_values import NumpyMethod
from autoimport.operators.symbolic import is_symbolic
from autoimport.staging import datasets, special_methods, tf_internals, trust
from autoimport.staging.arrays import Array
from autoimport.staging.host import Hosts
from autoimport.staging.library_state import LibraryStates
from autoimport.staging.ours import gated, harmless, stored_names
from autoimport.staging.sources import Changing, GuardBuilder, Source
from autoimport.staging.values import Shape, is_numpy

SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented)})
CONTAINERS = (list, tuple, dict, set, frozenset)
_INTERNED = (enum.Enum, tf.DType)
_FIXED = (type, types.FunctionType, types.BuiltinFunctionType, *_INTERNED)
# What they hold is no attribute or item that a guard would read again.
_HIDES_CONTENTS = (
    collections.deque, collections.ChainMap, collections.UserDict, collections.UserList, array.array, bytearray,
    memoryview, types.MappingProxyType, MappingView,
)  # fmt: skip
_NUMBERS = (int, float, complex, str, bytes)
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
_BY_VALUE = (tf.TensorShape, tf.TypeSpec, np.dtype, range, slice, decimal.Decimal, fractions.Fraction)
# Attributes that a tensor in a graph answers otherwise than an eager one.
_NOT_OF_EAGER_TENSORS = frozenset({"backing_device", "consumers", "device", "graph", "name", "op", "value_index"})
_WRAPPERS = (tf_internals.DictWrapper, tf_internals.TupleWrapper)
# Methods of a wrapped dict that change nothing; they are those of the dict itself.
_READING = frozenset({"get", "items", "keys", "values"})
# What functions and classes are called.
_NAMES = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})
# A container with more items than this is not read item by item.
MOST_ITEMS = 1000
_MISSING = object()


class Reader:
    """The sources of one trace.

    Attributes:
      builder: the guards so far.
      inputs: the placeholders of the graph, `expressions` what the check function returns for each.
      seen: what may be another at the next call, by the text of its source, with the source: the shapes of tensors in
        this trace (None: any size), and numbers.
      origins: id of a placeholder -> its source, for results that are an argument itself.
    """

    def __init__(self, graph: Callable[[], Any], changing: Changing, touched: Callable[[Any], bool]) -> None:
        self.builder = GuardBuilder()
        self.inputs: list[Any] = []
        self.expressions: list[str] = []
        self.seen: dict[str, Any] = {}
        self.seen_at: dict[str, Source] = {}
        self.origins: dict[int, Source] = {}
        self.states = LibraryStates()
        self._graph = graph
        self._changing = changing
        self._touched = touched
        self.hosts = Hosts(self.builder, self._input)
        self._old: dict[int, tuple[Any, Source]] = {}
        self._originals: dict[int, Any] = {}
        self._tensors: dict[tuple[Source, Any], Any] = {}
        self._wrapped: dict[int, tuple[Any, Source, Any]] = {}

    def forget(self) -> None:
        """Let go of everything that was read."""
        for table in (self.origins, self._old, self._originals, self._tensors, self._wrapped):
            table.clear()
        self.states.forget()

    # Sources ----------------------------------------------------------------------------------------------------

    def remember(self, obj: Any, source: Source) -> None:
        """`obj` is older than the trace and was found at `source`."""
        self._old.setdefault(id(obj), (obj, source))

    def source_of(self, obj: Any) -> Source | None:
        """Where an object older than the trace was found; None for what the trace made."""
        found = self._old.get(id(obj))
        if found is not None:
            return found[1]
        if isinstance(obj, types.ModuleType):
            source = Source(self.builder.constant(obj), obj.__name__)
        elif isinstance(obj, type) or trust.owns_state(type(obj)) or self.states.knows(obj):
            # Reached through library code: known by itself.
            source = self.builder.pinned(obj, getattr(obj, "__name__", type(obj).__name__))
            self.builder.require(source, "{v} is not None", "was freed")
        else:
            return None
        self.remember(obj, source)
        return source

    # Identity ---------------------------------------------------------------------------------------------------

    def same(self, x: Any, y: Any) -> bool:
        """`x is y`, guarded where one of them is older than the trace."""
        old = self._originals.get(id(x), x), self._originals.get(id(y), y)
        answer = old[0] is old[1]
        places = [self.origins.get(id(value)) or self.source_of(value) for value in (x, y)]
        first, second = places
        if first is not None and second is not None:
            if first is not second:
                test = f"({self.builder.value(first)} is {self.builder.value(second)}) is {answer}"
                words = "were one object" if answer else "were two objects"
                self.builder.require_that(test, f"{first.text} and {second.text} {words}")
        elif first is not None or second is not None:
            place, fixed = (first, old[1]) if first is not None else (second, old[0])
            assert place is not None
            # What the trace has made is never what is older; functions and the like may be known without a source.
            if answer or isinstance(fixed, _FIXED):
                self.builder.require(
                    place, f"({{v}} is {self.builder.constant(fixed)}) is {answer}", "was another object"
                )
        return answer

    def identify(self, obj: Any) -> None:
        """Guard that `obj` is the very object it is: its hash, its id or its place in a set says so."""
        if type(obj) in SCALARS:
            return
        if type(obj) is tuple:
            for part in obj:
                self.identify(part)
        found = self._old.get(id(obj))
        if found is not None and type(obj) is not tuple:
            source = found[1]
            pinned = self.builder.pinned(obj, source.text)
            self.builder.require(source, f"{{v}} is {pinned.template} and {{v}} is not None", "was another object")

    # Values -----------------------------------------------------------------------------------------------------

    def wrap(self, value: Any, source: Source) -> Any:
        """The value that the graph form gets for `value`, found at `source`."""
        cls = type(value)
        if cls is int or cls is float:
            if source.text in self._changing.numbers or _name_of(source) in stored_names:
                return self.hosts.read(value, source)
            self.seen[source.text], self.seen_at[source.text] = value, source
        if cls in SCALARS:
            self._guard_scalar(value, source)
            return value
        known = self._wrapped.get(id(value))
        if known is None:
            known = self._wrapped[id(value)] = value, source, self._wrap_object(value, source)
        elif known[1] is not source:
            # One object at two places: a change of it shows in both, and a tape adds up what flows into it.
            self.builder.require(source, f"{{v}} is {self.builder.value(known[1])}", f"was also {known[1].text}")
        return known[2]

    def _wrap_object(self, value: Any, source: Source) -> Any:
        cls = type(value)
        if cls is tf_internals.EagerTensor:
            return self._tensor(value, source)
        compares: Any = type(cls).__eq__
        if compares is not object.__eq__:  # it would run each time that we look at the class
            raise Unstageable(f"uses a {cls.__name__}, whose metaclass compares in its own way")
        if isinstance(value, tf.data.Dataset):
            return self._dataset(value, source)
        if isinstance(value, tf.__internal__.CompositeTensor) and not isinstance(value, tf.Variable):
            return self._composite(value, source)
        if is_numpy(value):
            return self._array(value, source)
        if isinstance(value, _HIDES_CONTENTS) and cls is not collections.deque:
            raise Unstageable(f"reads {source.text}, a {cls.__name__}, which may change unseen")
        if isinstance(value, _NUMBERS) and not isinstance(value, enum.Enum):
            self._guard_number(value, source)
        if cls is tuple or cls is tf_internals.TupleWrapper or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return self._tuple(value, source)
        self.remember(value, source)
        self._guard_object(value, source)
        return value

    def _tuple(self, value: Any, source: Source) -> Any:
        """A tuple is read at once: nothing can change it, and Python takes it apart in more ways than we see."""
        found = self._tensors.get((source, "tuple"))
        if found is None:
            self._guard_object(value, source)
            self.remember(value, source)
            items = self.items(value)
            kind = value.__class__
            found = tuple(items) if kind is tuple else kind(*items)
            if type(value) is tf_internals.TupleWrapper:
                found = tf_internals.TupleWrapper(found)
            self._tensors[source, "tuple"] = found
            if value:
                self._note_origin(found, value, source)
        return found

    def _note_origin(self, stand_in: Any, value: Any, source: Source) -> None:
        """`stand_in` is what the graph form gets for `value`."""
        self.origins[id(stand_in)] = source
        self._originals[id(stand_in)] = value

    def _guard_scalar(self, value: Any, source: Source) -> None:
        if value is None or isinstance(value, bool) or value is Ellipsis or value is NotImplemented:
            self.builder.require(source, f"{{v}} is {value!r}", f"was {value!r}")
            return
        constant = self.builder.constant(value)
        test = f"{{v}} == {constant} and {{v}}.__class__ is {self.builder.constant(type(value))}"
        if isinstance(value, (float, complex)) and (value == 0 or value != value):
            # Zeros of both signs are equal, and nan is not equal to itself.
            test = f"repr({{v}}) == {repr(value)!r} and {{v}}.__class__ is {self.builder.constant(type(value))}"
        self.builder.require(source, test, f"was {value!r}"[:100])

    def _guard_number(self, value: Any, source: Source) -> None:
        """A number or string of a class of its own: what it is worth may not change, whatever its `==` says."""
        base = next(base for base in _NUMBERS if isinstance(value, base))
        to_text = self.builder.constant(base.__repr__)
        self.builder.require(
            source, f"{to_text}({{v}}) == {base.__repr__(value)!r}", f"was {base.__repr__(value)}"[:100]
        )

    def _guard_object(self, value: Any, source: Source) -> None:
        """Objects are told apart by what is read below them; only what is used as a whole by identity."""
        require, constant = self.builder.require, self.builder.constant
        cls = type(value)
        if isinstance(value, types.FunctionType) and gated(value.__code__):
            require(source, f"{{v}}.__code__ is {constant(value.__code__)}", f"was {value.__qualname__}")
        elif isinstance(value, types.MethodType):
            require(source, self._is_function("{v}.__func__", value.__func__), f"was {value.__qualname__}")
            self.wrap(value.__self__, source.attribute("__self__"))
        elif isinstance(value, types.ModuleType):
            require(source, f"{{v}} is {constant(value)}", f"was the module {value.__name__}")
        elif isinstance(value, _BY_VALUE):
            require(source, f"{{v}}.__class__ is {constant(cls)} and {{v}} == {constant(value)}", f"was {value!r}")
        elif isinstance(value, _FIXED):
            require(source, self._is_function("{v}", value), "was another one")
        elif isinstance(value, _GETTERS):
            parts = constant(value.__reduce__())
            require(source, f"{{v}}.__class__ is {constant(cls)} and {{v}}.__reduce__() == {parts}", "was another one")
        elif isinstance(value, (tf.Variable, tf_internals.PolymorphicFunction)) or trust.owns_state(cls):
            pinned = self.builder.pinned(value, source.text)
            require(source, f"{{v}} is {pinned.template} and {{v}} is not None", "was another object")
            self._guard_special_methods(cls)
        else:
            hidden = special_methods.unseen(cls, special_methods.INFIX)
            if hidden is not None:
                raise Unstageable(f"reads {source.text}, a {cls.__name__}, whose {hidden} is not converted")
            self._guard_special_methods(cls)
            test = f"{{v}}.__class__ is {constant(cls)}"
            if cls in _WRAPPERS:
                test = f"{constant(type)}({{v}}) is {constant(cls)}"
            require(source, test, f"was of type {cls.__name__}")
            if not isinstance(value, (tuple, frozenset)):
                self.builder.tell_apart(cls, source)

    def _tensor(self, value: Any, source: Source) -> Any:
        found = self._tensors.get((source, None))
        if found is not None:
            return found
        if value.dtype in (tf.resource, tf.variant):
            self.builder.require(source, f"{{v}} is {self.builder.constant(value)}", "was another resource")
            return value
        now = tf_internals.shape_tuple(value)
        mask = self._changing.shapes.get(source.text, ())
        is_known = len(mask) == len(now)
        shape = tuple(None if free else size for size, free in zip(now, mask, strict=True)) if is_known else now
        fixed = [f"{{v}}._shape_tuple()[{i}] == {size}" for i, size in enumerate(shape) if size is not None]
        same_shape = f"{{v}}._shape_tuple() == {now!r}"
        if None in shape:
            same_shape = " and ".join([f"len({{v}}._shape_tuple()) == {len(shape)}", *fixed])
        self.builder.require(
            source,
            f"{{v}}.__class__ is {self.builder.constant(tf_internals.EagerTensor)}"
            f" and {{v}}._datatype_enum() == {tf_internals.type_number(value)} and {same_shape}",
            f"was a {value.dtype.name} tensor of shape {shape}",
        )
        self.builder.tell_apart((value.dtype, shape), source)
        self.seen[source.text], self.seen_at[source.text] = shape, source
        placeholder = self._input(value.dtype, shape, self.builder.value(source))
        self._note_origin(placeholder, value, source)
        self._tensors[source, None] = placeholder
        return placeholder

    def _input(self, dtype: Any, shape: Any, expression: str) -> Any:
        placeholder = tf_internals.placeholder(self._graph(), dtype, shape)
        self.inputs.append(placeholder)
        self.expressions.append(expression)
        return placeholder

    def _dataset(self, value: Any, source: Source) -> Any:
        why = datasets.objection(value)
        if why is not None:
            raise Unstageable(f"reads {source.text}, a dataset that {why}")
        pinned = self.builder.pinned(value, source.text)
        self.builder.require(source, f"{{v}} is {pinned.template} and {{v}} is not None", "was another dataset")
        self.remember(value, source)
        return value

    def _composite(self, value: Any, source: Source) -> Any:
        found = self._tensors.get((source, "composite"))
        if found is not None:
            return found
        constant = self.builder.constant
        spec = tf.type_spec_from_value(value)
        self.builder.require(
            source,
            f"{{v}}.__class__ is {constant(type(value))} and "
            f"{constant(tf.type_spec_from_value)}({{v}}) == {constant(spec)}",
            f"was a {type(value).__name__} of another type",
        )
        flatten = functools.partial(tf.nest.flatten, expand_composites=True)
        parts = self.builder.compute(f"{constant(flatten)}({self.builder.value(source)})")
        leaves = []
        for index, part in enumerate(flatten(value)):
            if type(part) is not tf_internals.EagerTensor or part.dtype in (tf.resource, tf.variant):
                raise Unstageable(f"reads {source.text}, a {type(value).__name__}, which no graph input can hold")
            leaves.append(self._input(part.dtype, part.shape, f"{parts}[{index}]"))
        built = tf.nest.pack_sequence_as(value, leaves, expand_composites=True)
        self._tensors[source, "composite"] = built
        self._note_origin(built, value, source)
        return built

    def _array(self, value: Any, source: Source) -> Any:
        found = self._tensors.get((source, "array"))
        if found is None:
            self.builder.require(
                source, f"{{v}}.__class__ is {self.builder.constant(type(value))}", f"was a {type(value).__name__}"
            )
            found = self._tensors[source, "array"] = Array(self.hosts, self.builder.value(source), value, source.text)
            self._note_origin(found, value, source)
        return found

    # Below a value ----------------------------------------------------------------------------------------------

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
        held = object.__getattribute__(obj, "__dict__") if hasattr(type(obj), "__dict__") and _has_dict(obj) else {}
        raw, owner = class_attribute(obj if isinstance(obj, type) else type(obj), name)
        of_metaclass = isinstance(obj, type) and raw is _MISSING and hasattr(type(obj), name)
        if of_metaclass or (isinstance(raw, types.GetSetDescriptorType) and name in _NAMES):
            return self.wrap(getattr(obj, name), source.attribute(name))
        if isinstance(raw, property) and not isinstance(obj, type):
            return self._property(obj, source, name, raw, owner)
        if raw is not _MISSING and not isinstance(raw, types.MemberDescriptorType) and hasattr(type(raw), "__set__"):
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
        if raw is not _MISSING:
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
            if _has_dict(obj) and not isinstance(obj, type):
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

    def know_descriptor(self, name: str, raw: Any, owner: type, method: str) -> None:
        """A descriptor of the person's, whose converted `method` is about to run."""
        holder = self.source_of(owner)
        assert holder is not None, "a class always has a source"
        place = holder.child(f"{{parent}}.__dict__[{name!r}]", f"{owner.__name__}.{name}")
        self.builder.require(place, f"{{v}} is {self.builder.constant(raw)}", "was another descriptor")
        self._guard_class_attribute(type(raw), method, class_attribute(type(raw), method)[0])
        self.remember(raw, place)

    def _guard_class_attribute(self, cls: type, name: str, raw: Any) -> None:
        """A property or function is still found on the class under a name."""
        holder = self.source_of(cls)
        assert holder is not None, "a class always has a source"
        self.builder.require(holder.attribute(name), self._is_function("{v}", raw), "was another one")

    def _is_function(self, expression: str, value: Any) -> str:
        """A test for a callable or another class attribute; tools that reload code put new code into old functions."""
        test = f"{expression} is {self.builder.constant(value)}"
        if isinstance(value, types.FunctionType) and not trust.is_library(value.__module__):
            test += f" and {expression}.__code__ is {self.builder.constant(value.__code__)}"
        return test

    def _guard_special_methods(self, cls: type) -> None:
        """Python calls them itself, so the trace does not see where it finds them."""
        for base in cls.__mro__:
            if not trust.is_library(base.__module__):
                for name, raw in base.__dict__.items():
                    if (
                        name.startswith("__")
                        and isinstance(raw, types.FunctionType)
                        and getattr(cls, name, None) is raw
                    ):
                        self._guard_class_attribute(cls, name, raw)

    def _guard_inherited(self, obj: Any, name: str) -> None:
        """`super().name`: the class that has it still has the same."""
        classes = type(obj.__self__).__mro__ if not isinstance(obj.__self__, type) else obj.__self__.__mro__
        for base in classes[classes.index(obj.__thisclass__) + 1 :]:
            if name in base.__dict__ and not trust.is_library(base.__module__) and base.__module__ != "builtins":
                holder = self.source_of(base)
                assert holder is not None, "a class always has a source"
                place = holder.child(f"{{parent}}.__dict__[{name!r}]", f"{base.__name__}.{name}")
                self.builder.require(place, self._is_function("{v}", base.__dict__[name]), "was another one")
                return

    def _guard_absence(self, obj: Any, source: Source, name: str) -> None:
        """The object has no attribute of this name, nor has its class."""
        if _has_dict(obj):
            self.builder.require(source, f"{name!r} not in {{v}}.__dict__", f"had no attribute {name}")
        cls = obj if isinstance(obj, type) else type(obj)
        holder = self.source_of(cls)
        assert holder is not None, "a class always has a source"
        self.builder.require(holder, f"not hasattr({{v}}, {name!r})", f"had no attribute {name}")

    def _library_attribute(self, obj: Any, source: Source, name: str) -> Any:
        """What library code computes from an object's state: read again before each launch where that is cheap."""
        value = getattr(obj, name)
        if isinstance(value, CONTAINERS):
            self.states.note(obj)
            return value
        if isinstance(value, types.MethodType) and value.__self__ is obj:
            return value
        return self.wrap(value, source.attribute(name))

    def item(self, obj: Any, key: Any) -> Any:
        """`obj[key]` of a builtin container."""
        source = self.source_of(obj)
        if source is None:
            return obj[key]
        if isinstance(key, slice):
            items = self.items(obj)[key]
            return tuple(items) if isinstance(obj, tuple) else items
        self.identify(key)
        try:
            if isinstance(obj, dict) and hasattr(type(obj), "__missing__") and key not in obj:
                raise Unstageable(f"looks up what is missing in {source.text}, a {type(obj).__name__}")
            value = obj[key]
        except LookupError:
            if isinstance(obj, dict):
                self.builder.require(source, f"{self.builder.constant(key)} not in {{v}}", f"had no {key!r}"[:100])
            else:
                self.length(obj)
            raise
        return self.wrap(value, self.item_source(source, key))

    def item_source(self, source: Source, key: Any) -> Source:
        """The source of an item of what is at `source`."""
        constant = repr(key) if type(key) in {int, str, bool} else self.builder.constant(key)
        return source.child("{parent}[" + _braces(constant) + "]", f"{source.text}[{key!r}]")

    def items(self, obj: Any) -> list[Any]:
        """All items of a builtin container older than the trace, in order; its length or keys are guarded."""
        source = self.source_of(obj)
        if source is None:
            return list(obj)
        self._untouched(obj, source)
        if len(obj) > MOST_ITEMS:
            raise Unstageable(f"walks over {source.text}, which has {len(obj)} items")
        if isinstance(obj, (list, tuple)):
            length = _length(source)
            self.seen[length.text], self.seen_at[length.text] = len(obj), length
            self.builder.require_that(
                f"{self.builder.value(length)} == {len(obj)}", f"{source.text} had {len(obj)} items"
            )
            return [self.wrap(value, self.item_source(source, index)) for index, value in enumerate(obj)]
        if isinstance(obj, dict):
            keys = tuple(obj)
            self.builder.require(source, f"tuple({{v}}) == {self.builder.constant(keys)}", f"had the keys {keys}"[:100])
            return list(keys)
        if all(type(value) in SCALARS for value in obj):
            self.builder.require(source, f"{{v}} == {self.builder.constant(type(obj)(obj))}", "had other members")
            return list(obj)
        raise Unstageable(f"walks over the set {source.text}")

    def length(self, obj: Any) -> Any:
        """`len(obj)` of a builtin container."""
        source = self.source_of(obj)
        if source is None:
            return len(obj)
        self._untouched(obj, source)
        return self.size(obj, source)

    def size(self, obj: Any, source: Source) -> Any:
        """How many items are in what is at `source`: a host value, where that has changed before."""
        return self.wrap(len(obj), _length(source))

    def changes_length(self, source: Source) -> bool:
        """Whether the list at `source` has had another length in another call."""
        return _length(source).text in self._changing.numbers

    def note_unbounded(self, source: Source, rank: int, axis: int) -> None:
        """The tensor of this rank at `source` has another size along `axis` from call to call."""
        self._changing.shapes.setdefault(source.text, tuple(index == axis for index in range(rank)))

    def is_untouched(self, obj: Any) -> bool:
        """Whether the trace has not changed an old object so far."""
        return not self._touched(obj)

    def truth(self, obj: Any) -> bool:
        """`bool(obj)` of a builtin container."""
        source = self.source_of(obj)
        if source is not None:
            self.builder.require(source, f"(not {{v}}) is {not obj}", f"was {'not ' if obj else ''}empty")
        return bool(obj)

    def has_key(self, obj: dict[Any, Any], source: Source, key: Any) -> bool:
        """`key in obj`."""
        is_there = key in obj
        test = f"({self.builder.constant(key)} in {{v}}) is {is_there}"
        self.builder.require(source, test, f"{'had' if is_there else 'had no'} {key!r}"[:100])
        return is_there

    def _untouched(self, obj: Any, source: Source) -> None:
        if self._touched(obj):
            raise Unstageable(f"changes {source.text} and then reads all of it")

    def snapshot(self, obj: Any) -> Any:
        """A container like `obj`, all of it read: for code that looks at it without our operators."""
        return self._copied(obj, self.snapshot) if isinstance(obj, CONTAINERS) and self.source_of(obj) else obj

    def copy(self, obj: Any) -> Any:
        """A container with the items of `obj`, an old one: for code that hands them out."""
        return self._copied(obj, lambda item: item)

    def _copied(self, obj: Any, part: Callable[[Any], Any]) -> Any:
        if isinstance(obj, dict):
            held = {key: part(self.item(obj, key)) for key in self.items(obj)}
            return type(obj)(held) if type(obj) is tf_internals.DictWrapper else held
        items = [part(item) for item in self.items(obj)]
        if isinstance(obj, tuple) and hasattr(obj, "_fields"):
            return type(obj)(*items)
        for kind in (tuple, set, frozenset):
            if isinstance(obj, kind):
                return kind(items)
        return items


def _name_of(source: Source) -> str:
    """The attribute, global or item at the end of a source."""
    text = source.text
    return text[text.rindex("[") :] if text.endswith("']") else text.rpartition(".")[2]


def _length(source: Source) -> Source:
    """Where the length of the container at `source` is."""
    return source.child("len({parent})", f"len({source.text})")


def _braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _has_dict(obj: Any) -> bool:
    try:
        object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return False
    return True


def class_attribute(cls: type, name: str) -> tuple[Any, type]:
    """A name in the dictionaries of a class and its bases, without running any code, and the class that has it."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name], base
    return _MISSING, cls


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
