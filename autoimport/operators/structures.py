"""Two values of one variable -> one type that holds both, as tensors to pass through a cond or while and a way back.

`capture` takes a value apart into a tree of nodes with tensors as leaves; `unify` makes two trees alike, by weak
promotion of Python numbers, relaxed shapes, and flags where a value may be missing; `Node.build` puts a value together
again from tensors. Conditionals unify their branches, loops their start with what an iteration made of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.errors import BranchMismatch, Unstageable
from autoimport.operators.heap import MISSING
from autoimport.operators.lists import Leaf as ItemLeaf
from autoimport.operators.lists import TensorList
from autoimport.operators.numbers import DTYPES, FAR, Number
from autoimport.operators.undefined import MaybeNone, MaybeUndefined, Undefined

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), tf.DType, tf.TensorShape)


class Mismatch(Exception):
    """Two values that no variable of a graph can hold both of; `left` and `right` describe them."""

    def __init__(self, left: str, right: str) -> None:
        super().__init__(f"{left} and {right}")
        self.left = left
        self.right = right


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
    """

    kind: str
    label: Any = None
    value: Any = None
    children: tuple[Node, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    bounds: tuple[int, int] = (-FAR, FAR)

    def flat(self) -> list[Leaf]:
        """All leaves below, in the order in which `build` wants their tensors."""
        return [*self.leaves, *(leaf for child in self.children for leaf in child.flat())]

    def held(self) -> Iterator[int]:
        """The ids of the objects that this node and those below keep alive."""
        yield id(self.value)
        for child in self.children:
            yield from child.held()

    def signature(self) -> tuple[Any, ...]:
        """Equal for nodes that the same loop variables can carry."""
        constant = id(self.value) if self.kind == "constant" else None
        leaves = tuple((leaf.dtype, _shape_key(leaf.shape)) for leaf in self.leaves)
        label = repr(self.label) if self.kind in ("composite", "items") else self.label
        return self.kind, label, constant, leaves, tuple(child.signature() for child in self.children)

    def build(self, tensors: Iterator[Any]) -> Any:
        """The value whose tensors these are."""
        own = [next(tensors) for _ in self.leaves]
        children = [child.build(tensors) for child in self.children]
        if self.kind == "tensor":
            return own[0]
        if self.kind == "number":
            return Number(self.label, own[0], *self.bounds)
        if self.kind == "composite":
            return _build_composite(self.label, own)
        if self.kind == "items":
            return TensorList(self.label, own)
        if self.kind == "container":
            return _build_container(self.label, children)
        if self.kind == "maybe":
            cls, name = self.label
            return cls(name, children[0], own[0])
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
        return f"None or {inner}" if node.label[0] is MaybeNone else f"{inner} or nothing"
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
    if isinstance(value, TensorList):
        handles = tuple(_variant(lambda handle=handle: handle) for handle in value.handles)  # type: ignore[misc]
        return Node("items", value.structure, value, leaves=handles)
    if isinstance(value, (MaybeNone, MaybeUndefined)):
        flag = Leaf(lambda: value.present, tf.bool, tf.TensorShape([]))
        return Node("maybe", (type(value), value.name), value, (capture(value.value),), (flag,))
    if isinstance(value, (tf.__internal__.CompositeTensor, tf.TensorArray)) and not _is_resource(value):
        return _composite_node(value)
    keys = _container_keys(value)
    if keys is None:
        return Node("constant", value=value)
    return Node("container", (type(value), keys), value, tuple(capture(item) for item in _items(value, keys)))


def promote(node: Node) -> Node:
    """A Python number, also inside a structure, as one that may change: where a loop starts."""
    if node.kind == "constant" and type(node.value) in DTYPES and _fits(node.value):
        return _as_number(node)
    if node.kind == "number":
        return dataclasses.replace(node, bounds=(-FAR, FAR))
    if node.kind in ("container", "maybe"):
        return dataclasses.replace(node, children=tuple(promote(child) for child in node.children))
    return node


def _fits(value: Any) -> bool:
    return type(value) is not int or -FAR <= value <= FAR


def _tensor_node(value: Any) -> Node:
    return Node("tensor", None, value, leaves=(Leaf(lambda: value, value.dtype.base_dtype, value.shape),))


def _as_number(node: Node) -> Node:
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
    if type(value) in (list, tuple):
        return tuple(range(len(value)))
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
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value[key] if isinstance(value, dict) else getattr(value, key) for key in keys]


def _build_container(label: tuple[type, tuple[Any, ...]], children: list[Any]) -> Any:
    cls, keys = label
    if cls in (list, tuple):
        return cls(children)
    if issubclass(cls, dict):
        return dict(zip(keys, children, strict=True))
    if issubclass(cls, tuple):
        return cls(*children)
    made = object.__new__(cls)
    for key, child in zip(keys, children, strict=True):
        object.__setattr__(made, key, child)
    return made


# Unification.


@dataclasses.dataclass
class Unifier:
    """How two sides become one.

    Attributes:
      identity: whether the same tensor on both sides stays that tensor (in branches; loops carry it).
      weak: set when a Python number met a tensor, by side: "left", "right". What comes out is then a tensor, where
        Python would have the number.
    """

    identity: bool = True
    weak: set[str] = dataclasses.field(default_factory=set)

    def unify(self, name: str, left: Node, right: Node) -> tuple[Node, Node]:
        """`left` and `right` as nodes of equal signature.

        Raises:
          Mismatch: there is no such type.
        """
        if left.value is right.value and (left.kind == right.kind == "constant" or self._is_same(left, right)):
            constant = Node("constant", value=left.value)
            return constant, constant
        for cls, absent in ((MaybeUndefined, _is_undefined), (MaybeNone, _is_none)):
            if absent(left) or absent(right) or _is_maybe(left, cls) or _is_maybe(right, cls):
                if absent(left) and absent(right):
                    return left, left
                return self._maybe(cls, absent, name, left, right)
        if left.kind == right.kind == "container":
            return self._containers(name, left, right)
        return self._single(left, right)

    def _is_same(self, left: Node, right: Node) -> bool:
        return self.identity and left.value is not None and left.kind in ("tensor", "number", "composite")

    def _maybe(
        self, cls: type, absent: Callable[[Node], bool], name: str, left: Node, right: Node
    ) -> tuple[Node, Node]:
        inner_left, flag_left = _split(left, cls, absent)
        inner_right, flag_right = _split(right, cls, absent)
        if inner_left is None or inner_right is None:
            present = inner_left or inner_right
            assert present is not None
            # What is not there takes the other side's type, Python numbers and strings included.
            inner_left = inner_left or zeros(present)
            inner_right = inner_right or zeros(present)
        inner = self.unify(name, inner_left, inner_right)
        nodes = [Node("maybe", (cls, name), None, (child,), (flag,))
                 for child, flag in zip(inner, (flag_left, flag_right), strict=True)]  # fmt: skip
        return nodes[0], nodes[1]

    def _containers(self, name: str, left: Node, right: Node) -> tuple[Node, Node]:
        if _is_list(left) and _is_list(right) and (left.label != right.label or has_items(left) != has_items(right)):
            return _as_items(left, right)
        if left.label != right.label:
            raise Mismatch(describe(left), describe(right))
        pairs = [
            self.unify(f"{name}[{key!r}]", a, b)
            for key, a, b in zip(left.label[1], left.children, right.children, strict=True)
        ]
        return (
            Node("container", left.label, None, tuple(a for a, _ in pairs)),
            Node("container", left.label, None, tuple(b for _, b in pairs)),
        )

    def _single(self, left: Node, right: Node) -> tuple[Node, Node]:
        if _equal_constants(left, right):
            return left, left
        a, b = _numeric(left), _numeric(right)
        if a.kind == b.kind == "number" and a.label is b.label:
            bounds = min(a.bounds[0], b.bounds[0]), max(a.bounds[1], b.bounds[1])
            return _bare(a, bounds=bounds), _bare(b, bounds=bounds)
        if a.kind == "number" and b.kind == "tensor" and _is_weak(a.label, b.leaves[0].dtype):
            self.weak.add("left")
            return self._single(_weak_tensor(a, b.leaves[0].dtype), b)
        if a.kind == "tensor" and b.kind == "number" and _is_weak(b.label, a.leaves[0].dtype):
            self.weak.add("right")
            return self._single(a, _weak_tensor(b, a.leaves[0].dtype))
        if a.kind == b.kind == "tensor" and a.leaves[0].dtype == b.leaves[0].dtype:
            shape = _common_shape(a.leaves[0].shape, b.leaves[0].shape)
            return _bare(a, shape=shape), _bare(b, shape=shape)
        if a.kind == b.kind == "composite":
            spec = _common_spec(a.label, b.label)
            if spec is not None:
                return _respec(a, spec), _respec(b, spec)
        if a.kind == b.kind == "items":
            structure = TensorList(a.label, []).merged_structure(TensorList(b.label, []))
            return dataclasses.replace(_bare(a), label=structure), dataclasses.replace(_bare(b), label=structure)
        raise Mismatch(describe(left), describe(right))


# Lists that differ in length: their items become a TensorList, the only item of the Python list (see lists.py).


def _is_list(node: Node) -> bool:
    return bool(node.label[0] is list)


def has_items(node: Node) -> bool:
    """Whether `node` is a list that stands for a TensorList."""
    return node.kind == "container" and _is_list(node) and len(node.children) == 1 and node.children[0].kind == "items"


def _as_items(left: Node, right: Node) -> tuple[Node, Node]:
    structures = [structure for node in (left, right) for structure in _structures(node)]
    merged = TensorList(structures[0], [])
    for structure in structures[1:]:
        merged = TensorList(merged.merged_structure(TensorList(structure, [])), [])
    structure = merged.structure
    width = len(tf.nest.flatten(structure))

    def stand_in(node: Node) -> Node:
        if has_items(node):
            items = dataclasses.replace(_bare(node.children[0]), label=structure)
        else:
            made: dict[Any, list[Any]] = {}  # the handles, by the graph that they were made in

            def handle(k: int) -> Any:
                graph = tf.compat.v1.get_default_graph()
                if graph not in made:
                    values = node.build(iter([leaf.make() for leaf in node.flat()]))
                    made[graph] = TensorList.of(values, structure).handles
                return made[graph][k]

            leaves = tuple(_variant(lambda k=k: handle(k)) for k in range(width))  # type: ignore[misc]
            items = Node("items", structure, leaves=leaves)
        return Node("container", (list, (0,)), None, (items,))

    return stand_in(left), stand_in(right)


def _structures(node: Node) -> list[Any]:
    """The item structures of a list, with a `lists.Leaf` for each tensor or number."""
    if has_items(node):
        return [node.children[0].label]
    return [_structure(child) for child in node.children]


def _structure(node: Node) -> Any:
    if node.kind == "tensor":
        return ItemLeaf(None, node.leaves[0].dtype, node.leaves[0].shape)
    if node.kind == "number":
        return ItemLeaf(node.label, DTYPES[node.label], tf.TensorShape([]))
    if node.kind == "container":
        return _build_container(node.label, [_structure(child) for child in node.children])
    return ItemLeaf.of(node.value)


def _variant(make: Callable[[], Any]) -> Leaf:
    return Leaf(make, tf.variant, tf.TensorShape([]))


def _shape_key(shape: tf.TensorShape) -> Any:
    return None if shape.rank is None else tuple(shape.as_list())


def _is_undefined(node: Node) -> bool:
    return node.kind == "constant" and (isinstance(node.value, Undefined) or node.value is MISSING)


def _is_none(node: Node) -> bool:
    return node.kind == "constant" and node.value is None


def _is_maybe(node: Node, cls: type) -> bool:
    return node.kind == "maybe" and node.label[0] is cls


def _split(node: Node, cls: type, absent: Callable[[Node], bool]) -> tuple[Node | None, Leaf]:
    """The value inside a maybe, and its flag."""
    if _is_maybe(node, cls):
        return node.children[0], node.leaves[0]
    is_there = not absent(node)
    flag = Leaf(lambda: tf.constant(is_there), tf.bool, tf.TensorShape([]))
    return (node if is_there else None), flag


def _equal_constants(left: Node, right: Node) -> bool:
    if left.kind != "constant" or right.kind != "constant" or type(left.value) is not type(right.value):
        return False
    if isinstance(left.value, float):
        return left.value.hex() == right.value.hex()  # tells 0.0 from -0.0 and holds for NaN
    if isinstance(left.value, _CONSTANTS):
        return bool(left.value == right.value)
    return False


def _numeric(node: Node) -> Node:
    """A constant as a number or tensor node, where that is what it stands for."""
    if node.kind != "constant":
        return node
    value = node.value
    if type(value) in DTYPES and _fits(value):
        return _as_number(node)
    # A variable, and whether an array is numpy's, can be told from a tensor; the person's own graph converts them.
    if observer.current() is None and isinstance(value, (tf.Variable, np.ndarray, np.generic)):
        shape = tf.TensorShape(value.shape)
        return Node("tensor", leaves=(Leaf(lambda: tf.convert_to_tensor(value), tf.as_dtype(value.dtype), shape),))
    return node


def _is_weak(kind: type, dtype: tf.DType) -> bool:
    if kind is bool:
        return bool(dtype.is_bool)
    return bool(dtype.is_floating or dtype.is_complex or (dtype.is_integer and kind is int))


def _weak_tensor(node: Node, dtype: tf.DType) -> Node:
    make = node.leaves[0].make
    return Node("tensor", leaves=(Leaf(lambda: tf.cast(make(), dtype), dtype, tf.TensorShape([])),))


def _bare(node: Node, shape: Any = None, bounds: tuple[int, int] | None = None) -> Node:
    """The node without its value, which belongs to one side only."""
    leaves = node.leaves
    if shape is not None:
        leaves = tuple(dataclasses.replace(leaf, shape=shape) for leaf in leaves)
    return dataclasses.replace(node, value=None, leaves=leaves, bounds=bounds or node.bounds)


def _common_shape(left: tf.TensorShape, right: tf.TensorShape) -> tf.TensorShape:
    if left.rank is None or left.rank != right.rank:
        return tf.TensorShape(None)
    return tf.TensorShape([a if a == b else None for a, b in zip(left.as_list(), right.as_list(), strict=True)])


def _common_spec(left: Any, right: Any) -> Any:
    if isinstance(left, tf.TensorArraySpec) and isinstance(right, tf.TensorArraySpec):
        if left.value_type is not right.value_type or _array_dtype(left) != _array_dtype(right):
            return None
        shape = _common_shape(left._element_shape, right._element_shape)
        return tf.TensorArraySpec(shape, _array_dtype(left), left._dynamic_size or right._dynamic_size)
    return left.most_specific_common_supertype([right])


def _array_dtype(spec: Any) -> tf.DType:
    return spec._dtype


def _respec(node: Node, spec: Any) -> Node:
    if isinstance(spec, tf.TensorArraySpec):
        return dataclasses.replace(node, label=spec, value=None)
    components = tf.nest.flatten(spec, expand_composites=True)
    leaves = tuple(
        dataclasses.replace(leaf, shape=component.shape)
        for leaf, component in zip(node.leaves, components, strict=True)
    )
    return dataclasses.replace(node, label=spec, value=None, leaves=leaves)


def zeros(node: Node) -> Node:
    """A node of the same type whose tensors are zeros that nobody will look at."""
    if node.kind == "composite" and isinstance(node.label, tf.TensorArraySpec):
        spec = node.label
        make = lambda: tf.TensorArray(  # noqa: E731
            spec._dtype, size=0, dynamic_size=spec._dynamic_size, element_shape=spec._element_shape
        ).flow
        return dataclasses.replace(node, value=None, leaves=(dataclasses.replace(node.leaves[0], make=make),))
    if node.kind == "constant":
        return node
    if node.kind == "items":
        empty = Node("container", (list, ()))
        return _as_items(empty, Node("container", (list, (0,)), None, (node,)))[0].children[0]
    return dataclasses.replace(
        node,
        value=None,
        children=tuple(zeros(child) for child in node.children),
        leaves=tuple(dataclasses.replace(leaf, make=_zero_maker(leaf)) for leaf in node.leaves),
    )


def _zero_maker(leaf: Leaf) -> Callable[[], Any]:
    if leaf.dtype in (tf.variant, tf.resource):
        raise Mismatch("no value", f"a {leaf.dtype.name} tensor")
    shape = [] if leaf.shape.rank is None else [size or 0 for size in leaf.shape.as_list()]
    return lambda: tf.zeros(shape, leaf.dtype) if leaf.dtype != tf.string else tf.fill(shape, "")


def mismatch_error(name: str, mismatch: Mismatch, where: str) -> BaseException:
    """What to raise where a variable has no common type: it depends on whose graph is being built."""
    words = f"`{name}` is {mismatch.left} in one and {mismatch.right} in the other of {where}"
    if observer.current() is not None:
        return Unstageable(words, "give it the same type on both ways")
    return BranchMismatch(words)
