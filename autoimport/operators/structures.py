"""A value -> a tree of nodes whose leaves are tensors, and the value again from other tensors.

A variable passes through a cond or while as the tensors that `capture` finds in it; `Node.build` puts its value
together again behind it. What is no tensor, number or container of such things goes around the graph as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.checks import refuse
from autoimport.operators.either import Either
from autoimport.operators.errors import Unstageable
from autoimport.operators.heap import MISSING
from autoimport.operators.lists import TensorList, TensorTuple
from autoimport.operators.number_arithmetic import FAR
from autoimport.operators.numbers import DTYPES, Known, Number
from autoimport.operators.numpy_values import Later, NumpyValue
from autoimport.operators.text import Text
from autoimport.operators.undefined import MaybeNone, MaybeUndefined, Undefined

# The keys, indices and attributes that lead from a value to a part of it.
Path = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A tensor of a value; `make` gives it in the graph that its side belongs to."""

    make: Callable[[], Any]
    dtype: tf.DType
    shape: tf.TensorShape


@dataclasses.dataclass(frozen=True)
class Node:
    """A value, or a part of one.

    Attributes:
      kind: "constant" (passed around the graph), "tensor", "number", "composite", "items", "container" or "maybe".
      label: what two nodes of that kind must agree on: the number's kind, the type specification of a composite,
        the item structure of a list's symbolic items, type and keys of a container, class and name of a maybe.
      value: the object itself, where it is one.
      was: the object for which a container stands that is none itself.
    """

    kind: str
    label: Any = None
    value: Any = None
    children: tuple[Node, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    bounds: tuple[int, int] = (-FAR, FAR)
    was: Any = None

    def flat(self) -> list[Leaf]:
        """All leaves below, in the order in which `build` wants their tensors."""
        return [*self.leaves, *(leaf for child in self.children for leaf in child.flat())]

    @property
    def origin(self) -> Any:
        """The object that a container is or was, or None."""
        return self.was if self.value is None else self.value

    def parts(self) -> Iterator[tuple[Path, Node]]:
        """The nodes directly below, each with what leads to it from here."""
        if self.kind == "container":
            for key, child in zip(self.label[1], self.children, strict=True):
                yield (key,), child
        else:
            for k, child in enumerate(self.children):
                yield ((Either, k) if len(self.children) > 1 else ()), child

    def places(self, path: Path = ()) -> Iterator[tuple[Path, Node]]:
        """The containers here and below, each with what leads to it."""
        if self.kind == "container":
            yield path, self
        for step, child in self.parts():
            yield from child.places(path + step)

    def containers(self) -> Iterator[Any]:
        """The objects of the containers here and below."""
        for _, node in self.places():
            if node.origin is not None:
                yield node.origin

    def signature(self) -> tuple[Any, ...]:
        """Equal for nodes that the same loop variables can carry."""
        constant = id(self.value) if self.kind == "constant" else None
        leaves = tuple((leaf.dtype, _shape_key(leaf.shape)) for leaf in self.leaves)
        label = repr(self.label) if self.kind in ("composite", "items") else self.label
        if self.kind == "maybe":
            label = self.label[0]  # whatever it is called
        children = tuple(child.signature() for child in self.children)
        return self.kind, label, constant, leaves, children

    def build(self, tensors: Iterator[Any], made: dict[Path, Any] | None = None, path: Path = ()) -> Any:
        """The value whose tensors these are; `made` gets the new containers, as in `places`."""
        own = [next(tensors) for _ in self.leaves]
        children = [child.build(tensors, made, path + step) for step, child in self.parts()]
        if self.kind == "tensor":
            return own[0]
        if self.kind == "number":
            return Number(self.label, own[0], *self.bounds)
        if self.kind == "composite":
            return _build_composite(self.label, own)
        if self.kind == "items":
            return TensorList(self.label, own)
        if self.kind == "container":
            built = build_container(self.label, children)
            if made is not None:
                made[path] = built
            return built
        if self.kind == "maybe":
            cls, name = self.label
            return cls(name, *children, own[0])
        return self.value


def describe(node: Node) -> str:
    """The type of a node's value, in words for a message."""
    if node.kind == "tensor":
        leaf = node.leaves[0]
        return f"a {leaf.dtype.name} tensor of shape {leaf.shape}"
    if node.kind == "number":
        return f"a Python {node.label.__name__}"
    if node.kind == "composite":
        return f"a {type(node.value).__name__ if node.value is not None else node.label}"
    if node.kind == "container":
        cls, keys = node.label
        return f"a {cls.__name__} of {len(keys)}"
    if node.kind == "maybe":
        inner = describe(node.children[0])
        if node.label[0] is Either:
            return f"{inner} or {describe(node.children[1])}"
        others = {MaybeNone: "None", MaybeUndefined: "nothing"}
        return f"{others[node.label[0]]} or {inner}"
    if isinstance(node.value, Undefined) or node.value is MISSING:
        return "no value"
    if isinstance(node.value, (str, bytes, bool, int, float, type(None))):
        return repr(node.value)
    return f"a {type(node.value).__name__} object"


def capture(value: Any) -> Node:
    """Take a value apart, so that later changes of it do no harm."""
    if isinstance(value, tf.Tensor):
        return _tensor_node(value)
    if isinstance(value, Number):
        leaf = Leaf(lambda: value.tensor, DTYPES[value.kind], tf.TensorShape([]))
        return Node("number", value.kind, value, leaves=(leaf,), bounds=(value.low, value.high))
    if isinstance(value, TensorTuple):
        refuse("a tuple of symbolic length leaves a branch or loop of the graph", "use a list")
    if isinstance(value, TensorList):
        handles = tuple(variant(lambda handle=handle: handle) for handle in value.handles)  # type: ignore[misc]
        return Node("items", value.structure, value, leaves=handles)
    if isinstance(value, (MaybeNone, MaybeUndefined)):
        flag = Leaf(lambda: value.present, tf.bool, tf.TensorShape([]))
        parts = (value.value, value.other) if isinstance(value, Either) else (value.value,)
        return Node("maybe", (type(value), value.name), value, tuple(map(capture, parts)), (flag,))
    if isinstance(value, (tf.__internal__.CompositeTensor, tf.TensorArray)) and not _is_resource(value):
        return _composite_node(value)
    keys = _container_keys(value)
    if keys is None:
        return Node("constant", value=value)
    try:
        items = _items(value, keys)
    except Unstageable:  # older than the trace, and changed in it or long: only itself can stand for it
        return Node("constant", value=value)
    return Node("container", (type(value), keys), value, tuple(map(capture, items)))


def promote(node: Node) -> Node:
    """A Python number, also inside a structure, as one that may change: where a loop starts."""
    if node.kind == "constant" and isinstance(node.value, Known):
        return promote(capture(node.value.number()))
    if node.kind == "constant" and type(node.value) in DTYPES and fits(node.value):
        return dataclasses.replace(as_number(node), bounds=(-FAR, FAR))  # an iteration may make anything of it
    if node.kind == "number":
        return dataclasses.replace(node, bounds=(-FAR, FAR))
    if isinstance(node.value, tf.TensorArray) and observer.current() is not None:
        return Node("constant", value=node.value)  # it is changed in place; see tensor_arrays.py
    if node.kind in ("container", "maybe"):
        return dataclasses.replace(node, children=tuple(promote(child) for child in node.children))
    return node


def unbounded(node: Node) -> Node:
    """The node with numbers of which no bounds are known: iterations may make anything of them."""
    bounds = (-FAR, FAR) if node.kind == "number" else node.bounds
    return dataclasses.replace(node, bounds=bounds, children=tuple(unbounded(child) for child in node.children))


def fits(value: Any) -> bool:
    """Whether a Number can start with this Python number."""
    return type(value) is not int or -FAR <= value <= FAR


def _tensor_node(value: Any) -> Node:
    return Node("tensor", None, value, leaves=(Leaf(lambda: value, value.dtype.base_dtype, value.shape),))


def as_number(node: Node) -> Node:
    """The number node of a constant."""
    value = node.value
    kind = type(value)
    leaf = Leaf(lambda: tf.constant(value, DTYPES[kind]), DTYPES[kind], tf.TensorShape([]))
    return Node("number", kind, leaves=(leaf,), bounds=(value, value) if kind is int else (-FAR, FAR))


def _is_resource(value: Any) -> bool:
    return isinstance(value, (tf.Variable, tf.data.Iterator, tf.data.Dataset))


# Composite tensors: ragged, sparse, tensor arrays. They travel as their component tensors.


def _composite_node(value: Any) -> Node:
    if isinstance(value, tf.TensorArray):
        spec = tf.TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size)
        return Node("composite", spec, value, leaves=(Leaf(lambda: value.flow, tf.variant, tf.TensorShape([])),))
    return _composite_of(tf.type_spec_from_value(value), value)


def _composite_of(spec: Any, value: Any) -> Node:
    tensors = tf.nest.flatten(value, expand_composites=True)
    specs = tf.nest.flatten(spec, expand_composites=True)
    leaves = tuple(
        Leaf(lambda tensor=tensor: tensor, tensor.dtype, component.shape)  # type: ignore[misc]
        for tensor, component in zip(tensors, specs, strict=True)
    )
    return Node("composite", spec, value, leaves=leaves)


def _build_composite(spec: Any, tensors: list[Any]) -> Any:
    if isinstance(spec, tf.TensorArraySpec):
        return spec._from_components(tensors)  # the hook that type specifications must have
    return tf.nest.pack_sequence_as(spec, tensors, expand_composites=True)


# Containers: what can be rebuilt from its items.


def _container_keys(value: Any) -> tuple[Any, ...] | None:
    if type(value) in {list, tuple}:
        return tuple(range(len(value)))
    if type(value) is Text:
        return tuple(range(1 + len(value.args)))
    if type(value) is NumpyValue:
        return (f"values of rank {value.tensor.shape.rank}",)  # a scalar of numpy's is another type than an array
    if type(value) is Later:
        return tuple(range(2 + len(value.args)))
    if type(value) is dict:
        return tuple(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(value._fields)
    if hasattr(type(value), "__attrs_attrs__"):
        return tuple(attribute.name for attribute in type(value).__attrs_attrs__)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and hasattr(type(value), "__tf_flatten__"):
        return tuple(field.name for field in dataclasses.fields(value))
    return None


def _items(value: Any, keys: tuple[Any, ...]) -> list[Any]:
    """What is in a container; of one that is older than a trace of ours, as the trace reads it."""
    trace = observer.current()
    if type(value) is list:
        return list(value if trace is None else trace.iterate(value))
    if type(value) is dict and trace is not None:
        return [trace.read_item(value, key) for key in trace.iterate(value)]
    if type(value) is Text:
        return [value.fn, *value.args]
    if type(value) is NumpyValue:
        return [value.tensor]
    if type(value) is Later:
        return [value.fn, value.example, *value.args]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    return [getattr(value, key) if trace is None else trace.read_attr(value, key) for key in keys]


def build_container(label: tuple[type, tuple[Any, ...]], children: list[Any]) -> Any:
    """A container of these items."""
    cls, keys = label
    if cls in {list, tuple}:
        return cls(children)
    if cls is Text:
        return Text(children[0], children[1:])
    if cls is NumpyValue:
        return NumpyValue(children[0])
    if cls is Later:
        return Later(children[0], children[2:], children[1])
    if issubclass(cls, dict):
        return dict(zip(keys, children, strict=True))
    if issubclass(cls, tuple):
        return cls(*children)
    made = object.__new__(cls)
    for key, child in zip(keys, children, strict=True):
        object.__setattr__(made, key, child)
    return made


def variant(make: Callable[[], Any]) -> Leaf:
    """The leaf of a variant scalar: a tensor list or array."""
    return Leaf(make, tf.variant, tf.TensorShape([]))


def _shape_key(shape: tf.TensorShape) -> Any:
    return None if shape.rank is None else tuple(shape.as_list())
