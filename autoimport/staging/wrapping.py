"""Values that a trace finds outside, and what is in containers -> graph inputs, host values, and objects under guards.

In: a value and its source. Out: what the graph form works with instead: a symbolic input for a tensor, a stand-in for
a numpy array, the value itself under a guard for a Python number, and for an object the object, remembered with its
source so that what is read below it has a source too.
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
from autoimport.staging import datasets, special_methods, tf_internals, trust
from autoimport.staging.arrays import Array
from autoimport.staging.guarding import CONTAINERS, FIXED, NUMBERS, SCALARS, Guards
from autoimport.staging.host import Hosts
from autoimport.staging.ours import gated, stored_names
from autoimport.staging.sources import Changing, Source
from autoimport.staging.values import is_numpy

# What they hold is no attribute or item that a guard would read again.
_HIDES_CONTENTS = (
    collections.deque, collections.ChainMap, collections.UserDict, collections.UserList, array.array, bytearray,
    memoryview, types.MappingProxyType, MappingView,
)  # fmt: skip
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
_BY_VALUE = (tf.TensorShape, tf.TypeSpec, np.dtype, range, slice, decimal.Decimal, fractions.Fraction)
_WRAPPERS = (tf_internals.DictWrapper, tf_internals.TupleWrapper)
# A container with more items than this is not read item by item.
MOST_ITEMS = 1000


class Wrapper(Guards):
    """What the graph form gets for the values of one trace.

    Attributes:
      inputs: the placeholders of the graph, `expressions` what the check function returns for each.
      seen: what may be another at the next call, by the text of its source, with the source: the shapes of tensors in
        this trace (None: any size), and numbers.
    """

    def __init__(self, graph: Callable[[], Any], changing: Changing, touched: Callable[[Any], bool]) -> None:
        super().__init__()
        self.inputs: list[Any] = []
        self.expressions: list[str] = []
        self.seen: dict[str, Any] = {}
        self.seen_at: dict[str, Source] = {}
        self._graph = graph
        self._changing = changing
        self._touched = touched
        self.hosts = Hosts(self.builder, self._input)
        self._tensors: dict[tuple[Source, Any], Any] = {}
        self._wrapped: dict[int, tuple[Any, Source, Any]] = {}

    def forget(self) -> None:
        """Let go of everything that was read."""
        super().forget()
        self._tensors.clear()
        self._wrapped.clear()

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
        if special_methods.is_looked_at_by_code(cls):
            raise Unstageable(f"uses a {cls.__name__}, whose attributes are all computed")
        if isinstance(value, tf.data.Dataset):
            return self._dataset(value, source)
        if isinstance(value, tf.__internal__.CompositeTensor) and not isinstance(value, tf.Variable):
            return self._composite(value, source)
        if is_numpy(value):
            return self._array(value, source)
        if isinstance(value, _HIDES_CONTENTS) and cls is not collections.deque:
            raise Unstageable(f"reads {source.text}, a {cls.__name__}, which may change unseen")
        if isinstance(value, NUMBERS) and not isinstance(value, enum.Enum):
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
        elif isinstance(value, FIXED):
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

    # Containers -------------------------------------------------------------------------------------------------

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

    def may_be_watched(self, items: list[Any]) -> bool:
        """Whether a tape may watch one of the tensors in a list by what stands in for it in the graph."""
        return tf_internals.recording() and any(id(item) in self._wrapped for item in items)

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
