"""Two values of one variable -> one type that holds both: what branches and iterations need to agree on.

Python numbers that meet tensors are promoted as TensorFlow would, shapes are relaxed, lists of different length become
tensor lists, and what may be missing, or None, gets a flag. Where nothing of that helps there is a `Mismatch`.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import copies, observer
from autoimport.operators.either import Either
from autoimport.operators.errors import BranchMismatch, TypesDiffer, Unstageable
from autoimport.operators.heap import MISSING
from autoimport.operators.lists import Leaf as ItemLeaf
from autoimport.operators.lists import TensorList
from autoimport.operators.numbers import DTYPES, Known, Number
from autoimport.operators.numpy_values import Later, NumpyValue
from autoimport.operators.recipes import sealed
from autoimport.operators.structures import Leaf, Node, as_number, build_container, capture, describe, fits, variant
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.text import Text, whichever
from autoimport.operators.undefined import MaybeNone, MaybeUndefined, Undefined

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), tf.DType, tf.TensorShape)


class Mismatch(Exception):
    """Two values that no variable of a graph can hold both of; `left` and `right` describe them."""

    def __init__(self, left: str, right: str) -> None:
        super().__init__(f"{left} and {right}")
        self.left = left
        self.right = right


@dataclasses.dataclass
class Unifier:
    """How two sides become one.

    Attributes:
      identity: whether the same tensor on both sides stays that tensor (in branches; loops carry it).
      weak: set when a Python number met a tensor in a loop: what comes out is then a tensor, where Python might have
        the number. Branches keep them apart, in traces of our own.
    """

    identity: bool = True
    weak: bool = False

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
        if self.identity and observer.current() is not None and _is_text(left) and _is_text(right):
            return self._texts(name, left, right)
        try:
            if _is_maybe(left, Either) or _is_maybe(right, Either):
                return self._either(name, left, right)
            if left.kind == right.kind == "container":
                return self._containers(name, left, right)
            return self._single(name, left, right)
        except Mismatch:
            # A loop would have to carry both, whatever an iteration does with them: its first iteration is taken out.
            if observer.current() is None or not self.identity:
                raise
            return _either_node(name, (left, zeros(right)), True), _either_node(name, (zeros(left), right), False)

    def _is_same(self, left: Node, right: Node) -> bool:
        if isinstance(left.value, tf.TensorArray) and "constant" in (left.kind, right.kind):
            return True  # a loop carries what is in it; see tensor_arrays.py
        if "container" in (left.kind, right.kind) and left.value is not None and observer.current() is not None:
            # What is in it is carried by its place in the heap.
            return self.identity or "constant" in (left.kind, right.kind)
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

    def _either(self, name: str, left: Node, right: Node) -> tuple[Node, Node]:
        """One of two types on one side at least."""
        if _is_maybe(left, Either) and _is_maybe(right, Either):
            pairs = [self.unify(name, a, b) for a, b in zip(left.children, right.children, strict=True)]
            return (
                dataclasses.replace(left, value=None, children=tuple(a for a, _ in pairs)),
                dataclasses.replace(right, value=None, children=tuple(b for _, b in pairs)),
            )
        if _is_maybe(right, Either):
            b, a = self._either(name, right, left)
            return a, b
        alike = [child for child in left.children if _are_alike(child, right)]
        if not alike:
            raise Mismatch(describe(left), describe(right))
        place = left.children.index(alike[0])
        inner, given = self.unify(name, alike[0], right)
        other = left.children[1 - place]
        lefts, rights = (inner, other), (given, zeros(other))
        if place == 1:
            lefts, rights = (other, inner), (zeros(other), given)
        return (
            dataclasses.replace(left, value=None, children=lefts),
            _either_node(name, rights, place == 0),
        )

    def _containers(self, name: str, left: Node, right: Node) -> tuple[Node, Node]:
        if _is_list(left) and _is_list(right) and (left.label != right.label or has_items(left) != has_items(right)):
            try:
                return _as_items(left, right)
            except Unstageable:
                if not self.identity:
                    raise
                raise Mismatch(describe(left), describe(right)) from None  # of two branches it may be either's
        if left.label != right.label:
            raise Mismatch(describe(left), describe(right))
        pairs = [
            self.unify(f"{name}[{key!r}]", a, b)
            for key, a, b in zip(left.label[1], left.children, right.children, strict=True)
        ]
        return (
            Node("container", left.label, None, tuple(a for a, _ in pairs), was=left.origin),
            Node("container", left.label, None, tuple(b for _, b in pairs), was=right.origin),
        )

    def _texts(self, name: str, left: Node, right: Node) -> tuple[Node, Node]:
        """Two strings: the one that is there after the launch, unless both are made in the same way."""
        if _equal_constants(left, right):
            return left, left
        with contextlib.suppress(Mismatch):
            if left.kind == right.kind == "container":
                return self._containers(name, left, right)
        fn, nothing = Node("constant", value=whichever), Node("constant")
        label = (Text, (0, 1, 2))
        return self._containers(
            name,
            Node("container", label, None, (fn, left, nothing)),
            Node("container", label, None, (fn, nothing, right)),
        )

    def _single(self, name: str, left: Node, right: Node) -> tuple[Node, Node]:
        if _equal_constants(left, right):
            return left, left
        a, b = _numeric(left), _numeric(right)
        if a.kind == b.kind == "number" and a.label is b.label:
            bounds = min(a.bounds[0], b.bounds[0]), max(a.bounds[1], b.bounds[1])
            return _bare(a, bounds=bounds), _bare(b, bounds=bounds)
        if a.kind == b.kind == "number" and observer.current() is None:
            # In the person's graph it is a tensor to the outside, which can hold both as the wider one.
            kind = float if float in (a.label, b.label) else int
            return _widened(a, kind), _widened(b, kind)
        for number, tensor in ((a, b), (b, a)):
            if number.kind != "number" or tensor.kind != "tensor" or not _is_weak(number.label, tensor.leaves[0].dtype):
                continue
            if self.identity and observer.current() is not None:
                break
            self.weak = True
            promoted = _weak_tensor(number, tensor.leaves[0].dtype)
            return self._single(name, *((promoted, b) if number is a else (a, promoted)))
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


def _is_text(node: Node) -> bool:
    return type(node.value) is str if node.kind == "constant" else node.kind == "container" and node.label[0] is Text


# Lists that differ in length: their items become a TensorList, the only item of the Python list (see lists.py).


def note_items(left: Node, right: Node) -> None:
    """Note what will be in such lists, before any of it is unified under another name."""
    if left.kind == "maybe" or right.kind == "maybe":
        parts = [node.children[0] if node.kind == "maybe" else node for node in (left, right)]
        note_items(parts[0], parts[1])
    elif left.kind == right.kind == "container":
        if left.label == right.label and has_items(left) == has_items(right):
            for a, b in zip(left.children, right.children, strict=True):
                note_items(a, b)
        elif _is_list(left) and _is_list(right):
            for node in (left, right):
                copies.become_items([child.value for child in node.children])


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
            parts = dataclasses.replace(node, value=None, was=None)  # without the list: to keep it would count

            def handle(k: int) -> Any:
                graph = tf.compat.v1.get_default_graph()
                if graph not in made:
                    values = parts.build(iter([leaf.make() for leaf in parts.flat()]))
                    made[graph] = TensorList.of(values, structure).handles
                return made[graph][k]

            leaves = tuple(variant(lambda k=k: handle(k)) for k in range(width))  # type: ignore[misc]
            items = Node("items", structure, leaves=leaves)
        return Node("container", (list, (0,)), None, (items,), was=node.origin)

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
    if node.kind == "container" and node.label[0] in {NumpyValue, Later}:
        return ItemLeaf.of(sealed(node.value))
    if node.kind == "container":
        return build_container(node.label, [_structure(child) for child in node.children])
    return ItemLeaf.of_list(node.label) if node.kind == "items" else ItemLeaf.of(node.value)


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
    return (node if is_there else None), _flag(is_there)


def _flag(value: bool) -> Leaf:
    return Leaf(lambda: tf.constant(value), tf.bool, tf.TensorShape([]))


def _equal_constants(left: Node, right: Node) -> bool:
    if left.kind != "constant" or right.kind != "constant" or type(left.value) is not type(right.value):
        return False
    if isinstance(left.value, Known):
        return False  # to ask would be a guard
    if isinstance(left.value, float):
        return bool(left.value.hex() == right.value.hex())  # tells 0.0 from -0.0 and holds for NaN
    if isinstance(left.value, _CONSTANTS):
        return bool(left.value == right.value)
    return False


def _numeric(node: Node) -> Node:
    """A constant as a number or tensor node, where that is what it stands for."""
    if node.kind != "constant":
        return node
    value = node.value
    if isinstance(value, tf.TensorArray):
        return capture(value)
    if isinstance(value, Known):
        return capture(value.number())
    if type(value) in DTYPES and fits(value):
        return as_number(node)
    if observer.current() is None and isinstance(value, (str, bytes)):
        return Node("tensor", leaves=(Leaf(lambda: tf.constant(value), tf.string, tf.TensorShape([])),))
    # A variable, TensorFlow's or Keras's, and an array of numpy's can be told from a tensor; the person's own graph
    # converts them.
    if observer.current() is None and (isinstance(value, (np.ndarray, np.generic)) or _is_variable(value)):
        shape = tf.TensorShape(value.shape)
        return Node("tensor", leaves=(Leaf(lambda: tf.convert_to_tensor(value), tf.as_dtype(value.dtype), shape),))
    return node


def _is_variable(value: Any) -> bool:
    return isinstance(value, tf.Variable) or (is_symbolic(value) and hasattr(value, "assign"))


def _widened(node: Node, kind: type) -> Node:
    """A number node as one of another kind."""
    make = node.leaves[0].make
    leaf = Leaf(lambda: Number(node.label, make()).cast(DTYPES[kind]), DTYPES[kind], tf.TensorShape([]))
    return Node("number", kind, leaves=(leaf,), bounds=node.bounds)


def _either_node(name: str, children: tuple[Node, Node], is_first: bool) -> Node:
    return Node("maybe", (Either, name), None, children, (_flag(is_first),))


def _are_alike(left: Node, right: Node) -> bool:
    """Whether both nodes are of one type, without a conversion that could be told."""
    a, b = _numeric(left), _numeric(right)
    if a.kind != b.kind:
        return False
    if a.kind == "constant":
        return a.value is b.value or _equal_constants(a, b)
    if a.kind == "tensor":
        return bool(a.leaves[0].dtype == b.leaves[0].dtype)
    return bool(a.label == b.label)


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
        make = lambda: _empty_array(node.label).flow  # noqa: E731
        return dataclasses.replace(node, value=None, leaves=(dataclasses.replace(node.leaves[0], make=make),))
    if node.kind == "constant":
        return node
    if node.kind == "items":
        empty = Node("container", (list, ()))
        return _as_items(empty, Node("container", (list, (0,)), None, (node,)))[0].children[0]
    return dataclasses.replace(
        node,
        value=None,
        was=None,
        children=tuple(zeros(child) for child in node.children),
        leaves=tuple(dataclasses.replace(leaf, make=_zero_maker(leaf)) for leaf in node.leaves),
    )


def _empty_array(spec: Any) -> Any:
    return tf.TensorArray(spec._dtype, 0, spec._dynamic_size, element_shape=spec._element_shape)


def _zero_maker(leaf: Leaf) -> Callable[[], Any]:
    if leaf.dtype in (tf.variant, tf.resource):
        raise Mismatch("no value", f"a {leaf.dtype.name} tensor")
    shape = [] if leaf.shape.rank is None else [size or 0 for size in leaf.shape.as_list()]
    return lambda: tf.zeros(shape, leaf.dtype) if leaf.dtype != tf.string else tf.fill(shape, "")


def mismatch_error(name: str, mismatch: Mismatch, where: str) -> BaseException:
    """What to raise where a variable has no common type: it depends on whose graph is being built."""
    words = f"`{name}` is {mismatch.left} in one and {mismatch.right} in the other of {where}"
    if observer.current() is not None:
        return TypesDiffer(words, "give it the same type on both ways")
    return BranchMismatch(words)
