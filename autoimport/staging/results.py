"""What a traced function returned -> how to build the same from a launch's outputs.

In: a Python structure with symbolic leaves. Out: the flat tensors that the graph must return, and a function from the
launch's inputs and outputs to the structure that eager would have returned: tensors, Python numbers, None, constants,
fresh containers, and arguments and old objects as themselves.
"""

from __future__ import annotations

import collections
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators import copies, lists
from autoimport.operators.either import Either
from autoimport.operators.errors import Unstageable
from autoimport.operators.heap import MISSING
from autoimport.operators.numbers import Number
from autoimport.operators.numpy_values import Later, NumpyValue
from autoimport.operators.streams import Each
from autoimport.operators.text import Text, Verbatim
from autoimport.operators.undefined import MaybeNone, MaybeUndefined
from autoimport.staging import gradients, objects, tf_internals, trust
from autoimport.staging.arrays import Array
from autoimport.staging.guarding import SCALARS
from autoimport.staging.host import Host
from autoimport.staging.launch import Build
from autoimport.staging.log import Held
from autoimport.staging.reading import Reader
from autoimport.staging.sources import Source
from autoimport.staging.values import Shape


class ResultPlan:
    """Takes one trace's result apart.

    Attributes:
      tensors: what the graph must return.
      expressions: old objects, arguments and host values in the result, in the check function's words, which returns
        their values behind the graph's inputs.
      whole: the places of those that the program gets as they are.
      has_items: what was put into a list of symbolic length is in the result, with tensors that may have gradients.
      slots: how many places the builds need behind the outputs, for objects that are at several places of the result.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.tensors: list[Any] = []
        self.whole: set[int] = set()
        self.expressions: list[str] = []
        self.has_items = False
        self.slots = 0
        self._fresh: dict[int, _Shared] = {}
        self._copies: set[int] = set()
        self._kept: list[Any] = []

    def plan(self, value: Any) -> Build:
        """How to build `value` after a launch."""
        if type(value) in SCALARS:
            return lambda old, new: value
        if type(value) in {Host, Array} and id(value) not in self._reader.origins:
            return self.again(value.code)
        if type(value) is Text:
            return self._text(value)
        if type(value) in {Later, NumpyValue} and copies.is_copy(value):
            copies.hand_out(value, self._copies)
        if type(value) is Later:
            return self._once(value, lambda: self._text(value))
        if type(value) is Held:
            return self.old(value.source)
        if type(value) is Verbatim:
            return lambda old, new: value
        if type(value) is list and copies.is_copy(value):
            copies.hand_out(value, self._copies)
        value = lists.stand_in(value)
        if isinstance(value, lists.TensorList):
            if next(copies.changeable(value.structure), None) is not None:
                copies.hand_out(value, self._copies)
            return self._once(value, lambda: self._list(value))
        if isinstance(value, MaybeUndefined):
            return self._maybe(value, MISSING)
        source = self._reader.origins.get(id(value)) or self._reader.source_of(value)
        if source is not None:
            return self.old(source)
        if type(value) is NumpyValue:
            return self._once(value, lambda: self._numpy(value))
        if isinstance(value, Number):
            return self._number(value)
        if isinstance(value, Either):
            return self._either(value)
        if isinstance(value, MaybeNone):
            return self._maybe(value)
        if isinstance(value, Shape):
            return self._shape(value)
        if isinstance(value, tf.Tensor):
            return self._tensor(value)
        if isinstance(value, tf.__internal__.CompositeTensor) and not isinstance(value, tf.Variable):
            return self._once(value, lambda: self._composite(value))
        if isinstance(value, tf.Variable) or trust.owns_state(type(value)):
            ref = weakref.ref(value)
            return lambda old, new: ref()
        if isinstance(value, (tf.DType, tf.TensorShape, tf.TypeSpec, type)):
            return lambda old, new: value
        return self._container(value)

    def old(self, source: Source) -> Build:
        """What is at a source when the graph is launched."""
        return self.again(self._reader.builder.value(source))

    def again(self, expression: str) -> Build:
        """A value that the check function knows."""
        if expression not in self.expressions:
            self.expressions.append(expression)
        place = self.expressions.index(expression)
        return lambda old, new: old[place]

    def _output(self, tensor: Any) -> int:
        for index, known in enumerate(self.tensors):
            if known is tensor:
                return index
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def _tensor(self, tensor: Any) -> Build:
        index = self._output(tensor)
        self.whole.add(index)
        is_symbolic = type(tensor) is tf_internals.SymbolicTensor
        self.has_items |= is_symbolic and gradients.carries(tensor.dtype) and gradients.is_item(tensor)
        return lambda old, new: new[index]

    def _number(self, number: Number) -> Build:
        index, kind = self._output(number.tensor), number.kind
        return lambda old, new: kind(new[index].numpy())

    def _numpy(self, value: NumpyValue) -> Build:
        index = self._output(value.tensor)
        return lambda old, new: new[index].numpy()

    def _maybe(self, maybe: MaybeNone | MaybeUndefined, otherwise: Any = None) -> Build:
        flag, inner = self._output(maybe.present), self.plan(maybe.value)
        return lambda old, new: inner(old, new) if bool(new[flag]) else otherwise

    def _either(self, either: Either) -> Build:
        flag, value, other = self._output(either.present), self.plan(either.value), self.plan(either.other)
        return lambda old, new: value(old, new) if bool(new[flag]) else other(old, new)

    def _list(self, contents: lists.TensorList) -> Build:
        """A list whose length only the graph knows: its columns come out, and are taken apart in Python."""
        columns = [self._output(column) for column in contents.columns()]
        structure = contents.structure
        self.has_items |= any(
            leaf.kind is None and (leaf.inner is not None or gradients.carries(leaf.dtype))
            for leaf in tf.nest.flatten(structure)
        )
        cls: Any = tuple if isinstance(contents, lists.TensorTuple) else list

        def build(old: Sequence[Any], new: Sequence[Any]) -> Any:
            return cls(_items([new[column] for column in columns], structure))

        return build

    def _text(self, text: Text) -> Build:
        fn, parts = text.fn, [self.plan(arg) for arg in text.args]
        return lambda old, new: fn(*[part(old, new) for part in parts])

    def _shape(self, shape: Shape) -> Build:
        index = self._output(tf.convert_to_tensor(shape, tf.int64))
        return lambda old, new: tf.TensorShape(new[index].numpy().tolist())

    def _composite(self, value: Any) -> Build:
        indexes = [self._output(part) for part in tf.nest.flatten(value, expand_composites=True)]
        spec = tf.type_spec_from_value(value)
        return lambda old, new: tf.nest.pack_sequence_as(spec, [new[i] for i in indexes], expand_composites=True)

    def _once(self, value: Any, plan: Callable[[], Build]) -> Build:
        """How to build an object that the trace has made: at all its places in the result it is one."""
        shared = self._fresh.get(id(value))
        if shared is None:
            self._kept.append(value)  # or another object could get its id
            shared = self._fresh[id(value)] = _Shared()
            shared.build = plan()
        elif shared.build is None:
            raise Unstageable("returns a new object that holds itself")
        elif shared.slot is None:
            self.slots += 1
            shared.slot = -self.slots
        return shared

    def _container(self, value: Any) -> Build:
        if type(value) is tuple and not value:
            return lambda old, new: ()
        if copies.is_copy(value):
            copies.hand_out(value, self._copies)
        return self._once(value, lambda: self._new(value))

    def _new(self, value: Any) -> Build:
        cls = type(value)
        if cls is Each:
            raise Unstageable("returns a new iterator, which a graph cannot hand over", "return a list")
        if cls in {dict, collections.OrderedDict}:
            items = [(key, self.plan(item)) for key, item in value.items()]
            return lambda old, new: cls((key, build(old, new)) for key, build in items)
        if cls in {list, tuple}:
            parts = [self.plan(item) for item in value]
            return lambda old, new: cls([build(old, new) for build in parts])
        if cls is collections.deque:
            parts, most = [self.plan(item) for item in value], value.maxlen
            return lambda old, new: cls([build(old, new) for build in parts], most)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [self.plan(item) for item in value]
            return lambda old, new: cls(*[build(old, new) for build in parts])
        if cls in {set, frozenset} and all(type(item) in SCALARS for item in value):
            return lambda old, new: cls(value)
        held = objects.attributes(value)
        if held is None:
            raise Unstageable(f"returns a new {cls.__qualname__}, which a graph cannot hand over")
        attributes = [(name, self.plan(item)) for name, item in held.items()]
        return lambda old, new: objects.rebuild(cls, [(name, build(old, new)) for name, build in attributes])


def _items(columns: list[Any], structure: Any) -> list[Any]:
    """The items of a list whose length is known now."""
    length = _length(columns[0]) if columns else 0
    if not length:
        return []
    leaves = tf.nest.flatten(structure)
    values = [_values(column, leaf, length) for column, leaf in zip(columns, leaves, strict=True)]
    rows = [tf.nest.pack_sequence_as(structure, list(parts)) for parts in zip(*values, strict=True)]
    return list(map(_opened, rows)) if any(leaf.inner is not None for leaf in leaves) else rows


def _length(column: Any) -> int:
    if column.dtype != tf.variant:
        return int(column.shape[0])
    return int(tf.raw_ops.TensorListLength(input_handle=column))


class _Inner:
    """A list that is an item, where `tf.nest` must not see its own items."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


def _opened(item: Any) -> Any:
    """The item with its lists, each of which is the only part of the list that stood for it."""
    if type(item) is list and len(item) == 1 and type(item[0]) is _Inner:
        return item[0].items
    if isinstance(item, dict):
        return type(item)((key, _opened(part)) for key, part in item.items())
    if isinstance(item, tuple) and hasattr(item, "_make"):
        return item._make(map(_opened, item))
    return type(item)(map(_opened, item)) if type(item) in {list, tuple} else item


def _values(column: Any, leaf: Any, length: int) -> list[Any]:
    """What a column holds, all at once where the values are of one shape."""
    if leaf.shape.is_fully_defined():
        if column.dtype == tf.variant:  # of a list in a list
            column = tf.raw_ops.TensorListStack(
                input_handle=column,
                element_shape=leaf.shape.as_list(),
                element_dtype=leaf.dtype,
                num_elements=length,
            )
        return list(tf.unstack(column)) if leaf.kind is None else [leaf.kind(value) for value in column.numpy()]
    get = functools.partial(tf.raw_ops.TensorListGetItem, input_handle=column, element_dtype=leaf.dtype)
    values = [get(index=index, element_shape=-1) for index in range(length)]
    if leaf.inner is not None:
        return [_Inner(_items(leaf.handles(value), leaf.inner)) for value in values]
    return values if leaf.kind is None else [leaf.kind(value.numpy()) for value in values]


class _Shared:
    """Builds an object once a launch.

    Attributes:
      slot: where it waits behind the launch's outputs, if it is needed again.
    """

    def __init__(self) -> None:
        self.build: Build | None = None
        self.slot: int | None = None

    def __call__(self, old: Sequence[Any], new: Sequence[Any]) -> Any:
        assert self.build is not None
        if self.slot is None:
            return self.build(old, new)
        if new[self.slot] is MISSING:
            new[self.slot] = self.build(old, new)  # type: ignore[index]
        return new[self.slot]
