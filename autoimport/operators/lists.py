"""A Python list that grows in a symbolic loop or branch -> tensors that hold its items, and list operations on them.

The list object stays the person's: while its length is symbolic its only item is a `TensorList`, which holds the true
items. A TensorList never changes; an operation on the list makes a new one and puts it in the old one's place, so that
the heap journal, branches and loops treat it like any other value (`to_state`, `with_state`). It is built on
TensorFlow's tensor lists, one a leaf of the items' structure: they grow, and have gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autoimport.operators import copies, observer, places, symbolic
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.numbers import _PLAIN_DTYPES, DTYPES, Number
from autoimport.operators.numpy_values import NumpyValue
from autoimport.operators.recipes import Recipe, Sealed, sealed

# The name of what reads items that are there: it cannot fail.
SURE_ITEM = "autoimport_sure_item"
# The name of what takes a list apart: in eager code the items are the very tensors that were put into it.
ITEMS = "autoimport_items"


@dataclass(frozen=True)
class Leaf:
    """The type of one leaf of the items: a tensor (`kind` None), a Python number of `kind`, or what a recipe makes.

    Attributes:
      inner: of a list of symbolic length, the structure of its own items. It is in the list as one variant tensor.
    """

    kind: type | Recipe | None
    dtype: Any
    shape: Any
    inner: Any = None

    @classmethod
    def of(cls, value: Any) -> Leaf:
        if isinstance(value, Leaf):
            return value
        if type(value) in {Sealed, NumpyValue}:
            recipe, tensor = Recipe.of(_unsealed(value))
            return cls(recipe, tensor.dtype, tensor.shape)
        if isinstance(value, Number) or type(value) in DTYPES:
            kind = value.kind if isinstance(value, Number) else type(value)
            return cls(kind, DTYPES[kind], tf.TensorShape([]))
        if type(value) is TensorList and value.handles:
            return cls.of_list(value.structure)
        if isinstance(value, (tf.Tensor, tf.TensorSpec)) and value.dtype not in (tf.variant, tf.resource):
            return cls(None, value.dtype, value.shape)
        refuse(f"a {type(value).__name__} is put into a list of symbolic length")

    @classmethod
    def of_list(cls, structure: Any) -> Leaf:
        """The type of a list of symbolic length whose items are such structures."""
        return cls(None, tf.variant, tf.TensorShape(None), structure)

    def __str__(self) -> str:
        if self.inner is not None:
            return "a list"
        if type(self.kind) is Recipe:
            return f"what numpy makes of a tensor of {self.dtype.name}"
        return f"a Python {self.kind.__name__}" if isinstance(self.kind, type) else f"a tensor of {self.dtype.name}"

    def merged(self, other: Leaf) -> Leaf:
        """The type that holds both."""
        is_array = type(self.kind) is Recipe and self.shape.rank != other.shape.rank  # which is no scalar of numpy's
        if self.kind != other.kind or self.dtype != other.dtype or is_array:
            refuse(f"a list of symbolic length gets {self} and {other} as items", "give all items one type")
        if self.inner is not None:
            return Leaf.of_list(_merged(self.inner, other.inner))
        return Leaf(self.kind, self.dtype, self.shape.most_specific_compatible_shape(other.shape))

    def to_tensor(self, value: Any) -> Any:
        if self.inner is not None:
            return _bundled(value.handles)
        if type(self.kind) is Recipe:
            return Recipe.of(_unsealed(value))[1]
        return Number.of(value).tensor if self.kind is not None else tf.convert_to_tensor(value, self.dtype)

    def from_tensor(self, tensor: Any) -> Any:
        if self.inner is not None:
            return TensorList(self.inner, self.handles(tensor))
        tensor.set_shape(self.shape)
        if type(self.kind) is Recipe:
            return self.kind.value(tensor)
        return Number(self.kind, tensor) if isinstance(self.kind, type) else tensor

    def can_be_changed(self) -> bool:
        """Whether what is there after the launch can be changed by the program."""
        return type(self.kind) is Recipe and self.kind.can_be_changed

    def handles(self, tensor: Any) -> list[Any]:
        """The variant tensors of a list that is in a list as this one."""
        width = len(tf.nest.flatten(self.inner))
        get = tf.raw_ops.TensorListGetItem
        return [tensor] if width == 1 else [
            get(input_handle=tensor, index=k, element_shape=-1, element_dtype=tf.variant) for k in range(width)
        ]  # fmt: skip


def _unsealed(value: Any) -> Any:
    return value.value if type(value) is Sealed else value


def _bundled(handles: Sequence[Any]) -> Any:
    """Several variant tensors in one."""
    if len(handles) == 1:
        return handles[0]
    bundle = _empty(Leaf(None, tf.variant, tf.TensorShape(None)))
    for handle in handles:
        bundle = _push(bundle, handle)
    return bundle


@symbolic.register
class TensorList:
    """The items of a list whose length only the graph knows.

    Attributes:
      structure: one item, with a `Leaf` for each tensor or number in it; None while no item is known.
      handles: a variant tensor a leaf.
    """

    __slots__ = ("handles", "structure")

    def __init__(self, structure: Any, handles: Sequence[Any]) -> None:
        self.structure = structure
        self.handles = list(handles)

    @classmethod
    def of(cls, items: Sequence[Any], example: Any) -> TensorList:
        """The items of a Python list; `example` is one more item of the kind that will be added."""
        structure = _structure(example)
        for item in items:
            structure = _merged(structure, _structure(item))
        result = cls(structure, [_empty(leaf) for leaf in tf.nest.flatten(structure)])
        for item in items:
            result = result._pushed(item)
        return result

    # What loops and branches need.
    def to_state(self) -> list[Any]:
        """The tensors to carry."""
        return list(self.handles)

    def with_state(self, state: Sequence[Any]) -> TensorList:
        """The list of the same type over other tensors."""
        return type(self)(self.structure, state)

    def merged_structure(self, other: TensorList) -> Any:
        """The item type that holds the items of both lists."""
        return _merged(self.structure, other.structure)

    # What Python's lists do.
    def count(self) -> Any:
        """The number of items as an int32 tensor."""
        return tf.raw_ops.TensorListLength(input_handle=self.handles[0])

    def length(self) -> Number:
        """`len` of the list."""
        return Number(int, self.count(), 0, 2**31)

    def append(self, item: Any) -> TensorList:
        """The list with one more item."""
        copies.put(item)
        return self._pushed(item)

    def _pushed(self, item: Any) -> TensorList:
        structure = _merged(self.structure, _structure(item))
        leaves = zip(tf.nest.flatten(structure), self.handles, tf.nest.flatten(sealed(item)), strict=True)
        return TensorList(structure, [_push(handle, leaf.to_tensor(x)) for leaf, handle, x in leaves])

    def pop(self) -> tuple[TensorList, Any]:
        """The list without its last item, and that item."""
        self.check(self.count() < 1, "pop from empty list")
        handles, values = [], []
        for leaf, handle in zip(tf.nest.flatten(self.structure), self.handles, strict=True):
            popped = tf.raw_ops.TensorListPopBack(
                input_handle=handle, element_shape=_shape(leaf), element_dtype=leaf.dtype
            )
            handles.append(popped[0])
            values.append(leaf.from_tensor(popped[1]))
        return TensorList(self.structure, handles), self._item(values)

    def set_item(self, key: Any, item: Any) -> TensorList:
        """The list with another item at `key`."""
        copies.put(item)
        structure = _merged(self.structure, _structure(item))
        index = places.inside(key, self.count(), "list assignment index out of range")
        leaves = zip(tf.nest.flatten(structure), self.handles, tf.nest.flatten(sealed(item)), strict=True)
        set_ = tf.raw_ops.TensorListSetItem
        handles = [set_(input_handle=h, index=index, item=leaf.to_tensor(x)) for leaf, h, x in leaves]
        return TensorList(structure, handles)

    def __getitem__(self, key: Any) -> Any:
        if type(key) is slice:
            part = self.permuted(places.of_slice(key, self.count()))
            return part if isinstance(self, TensorTuple) else [part]
        return self.at(places.inside(key, self.count(), "list index out of range"))

    def at(self, place: Any) -> Any:
        """The item at a place that is known to be inside, an int32 tensor."""
        leaves = tf.nest.flatten(self.structure)
        tensors = self._tensors_at(place)
        return self._item([leaf.from_tensor(tensor) for leaf, tensor in zip(leaves, tensors, strict=True)])

    def _tensors_at(self, place: Any) -> list[Any]:
        get = tf.raw_ops.TensorListGetItem
        return [
            get(
                input_handle=handle,
                index=place,
                element_shape=_shape(leaf),
                element_dtype=leaf.dtype,
                name=SURE_ITEM,
            )
            for leaf, handle in zip(tf.nest.flatten(self.structure), self.handles, strict=True)
        ]

    def column(self) -> Any:
        """The items as the rows of a tensor, where they are numbers or tensors of one shape; else None."""
        leaf = self.structure
        is_plain = isinstance(leaf, Leaf) and type(leaf.kind) is not Recipe and leaf.shape.is_fully_defined()
        return self.columns()[0] if is_plain else None

    def permuted(self, order: Any) -> TensorList:
        """The items at the places that the index tensor `order` tells."""
        leaves = tf.nest.flatten(self.structure)
        if not all(leaf.shape.is_fully_defined() for leaf in leaves):
            return self._permuted_one_by_one(order)
        made = tf.raw_ops.TensorListFromTensor
        return self.with_state(
            [
                made(tensor=tf.gather(column, order), element_shape=_shape(leaf))
                for leaf, column in zip(leaves, self.columns(), strict=True)
            ]
        )

    def _permuted_one_by_one(self, order: Any) -> TensorList:
        """The same, where the items have no fixed shape."""

        def body(i: Any, *handles: Any) -> Any:
            tensors = self._tensors_at(tf.gather(order, i))
            return i + 1, *(_push(handle, tensor) for handle, tensor in zip(handles, tensors, strict=True))

        start = [tf.constant(0), *self.emptied().handles]
        _, *handles = tf.while_loop(lambda i, *_: i < tf.size(order), body, start, maximum_iterations=tf.size(order))
        return self.with_state(handles)

    def emptied(self) -> TensorList:
        """A list for the same items that has none."""
        return self.with_state([_empty(leaf) for leaf in tf.nest.flatten(self.structure)])

    def columns(self) -> list[Any]:
        """A tensor a leaf: its values as rows where all have one shape, else the tensor list that holds them."""
        return [
            tf.raw_ops.TensorListStack(
                input_handle=handle, element_shape=_shape(leaf), element_dtype=leaf.dtype, name=SURE_ITEM
            )
            if leaf.shape.is_fully_defined()
            else handle
            for leaf, handle in zip(tf.nest.flatten(self.structure), self.handles, strict=True)
        ]

    def items(self) -> list[Any]:
        """The items as a Python list, where their number is known."""
        count = tf.get_static_value(self.count())
        if count is None:
            refuse("Python iterates over a list of symbolic length")
        return [self[i] for i in range(int(count))]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items())

    # What TensorFlow's functions make of it.
    def stack(self, axis: int = 0, dtype: Any = None) -> Any:
        """`tf.stack` of the items."""
        if isinstance(self.structure, Leaf) and type(self.structure.kind) is not Recipe:
            leaf = self.structure
            self.check(self.count() < 1, "an empty list is stacked")
            rows = tf.raw_ops.TensorListStack(
                input_handle=self.handles[0], element_shape=_shape(leaf), element_dtype=leaf.dtype
            )
            if isinstance(leaf.kind, type):
                rows = tf.cast(rows, dtype or _PLAIN_DTYPES[leaf.kind])
            if axis == 0:
                return rows
            rank = rows.shape.rank
            if rank is not None and type(axis) is int and -rank <= axis < rank:
                axis %= rank
                return tf.transpose(rows, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
        what = "a tensor of a list of symbolic length is needed, whose items are lists, tuples or dicts"
        if isinstance(self.structure, Leaf):
            what = f"a list of symbolic length, of {self.structure} each, is stacked along axis {axis!r}"
        refuse(what, "stack each part of the items by itself: tf.stack([part for part, _ in items])")

    def concat(self, axis: Any = 0) -> Any:
        """`tf.concat` of the items."""
        leaf = self.structure
        rank = leaf.shape.rank if isinstance(leaf, Leaf) and leaf.kind is None else None
        if not rank or type(axis) is not int or not -rank <= axis < rank:
            what = leaf if isinstance(leaf, Leaf) else "a structure"
            refuse(f"a list of symbolic length, of {what} each, is concatenated along axis {axis!r}")
        axis %= rank
        if axis:
            sizes = leaf.shape.as_list()
            if None in sizes:
                refuse(f"items of several sizes are concatenated along axis {axis}, and only the graph knows how many")
            return tf.reshape(self.stack(axis), [*sizes[:axis], self.count() * sizes[axis], *sizes[axis + 1 :]])
        self.check(self.count() < 1, "an empty list is concatenated")
        return tf.raw_ops.TensorListConcatV2(
            input_handle=self.handles[0],
            element_shape=_shape(Leaf(None, leaf.dtype, tf.TensorShape([None, *leaf.shape[1:]]))),
            leading_dims=tf.constant([], tf.int64),
            element_dtype=leaf.dtype,
        )[0]

    def _item(self, leaves: list[Any]) -> Any:
        return copies.taken(tf.nest.pack_sequence_as(self.structure, leaves))

    def check(self, failing: Any, why: str) -> None:
        """What the kernels find by themselves when the graph runs; only a trace of ours has to be told."""
        if observer.current() is not None:
            fail_if(failing, why, failing)


class TensorTuple(TensorList):
    """The items of a tuple whose length only the graph knows."""

    __slots__ = ()


def _shape(leaf: Leaf) -> Any:
    shape = leaf.shape
    if shape.rank is None:
        return tf.constant(-1, tf.int32)
    return tf.constant([-1 if size is None else size for size in shape], tf.int32)


def _push(handle: Any, tensor: Any) -> Any:
    return tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=tensor)


def _empty(leaf: Leaf) -> Any:
    any_shape, no_limit = tf.constant(-1, tf.int32), tf.constant(-1, tf.int32)
    return tf.raw_ops.EmptyTensorList(element_shape=any_shape, max_num_elements=no_limit, element_dtype=leaf.dtype)


def _structure(item: Any) -> Any:
    return tf.nest.map_structure(Leaf.of, sealed(item))


def _merged(a: Any, b: Any) -> Any:
    try:
        tf.nest.assert_same_structure(a, b)
    except (TypeError, ValueError):
        refuse("a list of symbolic length gets items of unlike structures")
    return tf.nest.map_structure(Leaf.merged, a, b)


def stand_in(x: Any) -> Any:
    """The TensorList that stands for the list `x`, or `x` itself."""
    if type(x) is list and len(x) == 1 and type(x[0]) is TensorList:
        return x[0]
    return x


def is_unknown(x: Any) -> bool:
    """Whether `x` is a list or tuple whose length only the graph knows."""
    return isinstance(stand_in(x), TensorList)


def become(items: list[Any], contents: TensorList) -> None:
    """Make a Python list stand for `contents`."""
    items[:] = [contents]


def set_element_type(items: Any, dtype: Any, shape: Any = None) -> None:
    """Say what a list will hold before it holds anything, as AutoGraph's `set_element_type`.

    A list takes the type of what is appended, so this only checks that what it holds already agrees.
    """
    dtype, shape = tf.as_dtype(dtype), tf.TensorShape(shape)
    contents = stand_in(items)
    if isinstance(contents, TensorList) and isinstance(contents.structure, Leaf):
        if contents.structure.dtype != dtype:
            raise TypeError(f"the list holds {contents.structure.dtype.name}, not {dtype.name}")
        if not contents.structure.shape.is_compatible_with(shape):
            raise ValueError(f"the list holds items of shape {contents.structure.shape}, not {shape}")


def stack(items: Any, strict: bool = True) -> Any:
    """The items of a list stacked into one tensor, as AutoGraph's `stack`.

    Args:
      items: a list of tensors or numbers, or a tensor, which is returned as it is.
      strict: raise ValueError if `items` cannot be stacked, instead of returning it as it is.
    """
    contents = stand_in(items)
    if isinstance(contents, TensorList):
        return contents.stack()
    if isinstance(items, tf.TensorArray):
        return items.stack()
    if isinstance(items, (tf.Tensor, tf.Variable)):
        return items
    try:
        return tf.stack([Number.of(x) if isinstance(x, Number) else x for x in items])
    except (TypeError, ValueError) as error:
        if strict:
            raise ValueError(
                f"{items!r} is no list of tensors of one type and shape, so it cannot be stacked; "
                "with strict=False it is returned as it is"
            ) from error
        return items


def _to_tensor(value: TensorList, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    result = value.stack(dtype=dtype)
    if dtype is not None and result.dtype != dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for a list with dtype {result.dtype.name}")
    return result


tf.register_tensor_conversion_function(TensorList, _to_tensor, 0)
