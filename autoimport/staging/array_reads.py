"""TensorArrays that forget what is read from them, as arrays do in eager mode, in a graph, where none forgets anything.

In: each array that a trace makes, each method called on it, and in the end the graph with its loops. Out: nothing, or
the trace is given up, where eager code would find zeros in the array, or raise.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals

_CONSTRUCTOR = inspect.signature(tf.TensorArray)
# What asks for all elements, also those that were read: they are zeros then.
_ASK_FOR_ALL = frozenset({"stack", "concat", "gather"})
_GIVE_ELEMENTS = _ASK_FOR_ALL | {"read"}

# The name scope of an element that is forgotten when it has been read.
_FORGETTING = "autoimport_forgetting"

# The index, if it is known, and the graph where it was read.
_Read = tuple[Any, Any]


class Reads:
    """What was read from the arrays of one trace.

    An array that `tf.while_loop` hands on, or that a branch chooses among two, is another one to it.
    """

    def __init__(self) -> None:
        self._reads: dict[int, tuple[Any, list[_Read]]] = {}
        self._kept: dict[int, Any] = {}
        self._of_any_shape: dict[int, Any] = {}

    def made(self, array: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """An array has been made with these arguments."""
        given = _CONSTRUCTOR.bind(*args, **kwargs).arguments
        if given.get("clear_after_read") is False:
            self._kept[id(array)] = array
        else:
            self._reads[id(array)] = (array, [])
        if given.get("infer_shape") is False:
            self._of_any_shape[id(array)] = array

    def called(self, array: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """A method of an array is called. Returns whether it forgets what is read from it.

        Raises:
          Unstageable: it asks for an element that may have been read, or joins elements of different sizes, which eager
            code would not have taken; all others who meet them fail.
        """
        if method == "concat" and id(array) not in self._of_any_shape and not array.element_shape.is_fully_defined():
            raise Unstageable(
                "joins the elements of a TensorArray, whose sizes may differ", "make it with `infer_shape=False`"
            )
        if id(array) in self._kept or not self._reads:
            return False
        _, reads = self._reads.setdefault(id(array), (array, []))
        if method == "read":
            read = (tf.get_static_value(args[0] if args else kwargs["index"]), tf.compat.v1.get_default_graph())
            is_lost = any(_may_be_same(read, earlier) for earlier in reads)
            reads.append(read)
        else:
            is_lost = method in _ASK_FOR_ALL and bool(reads)
        if is_lost:
            raise _read_before()
        return True

    def require_new(self, graph: Any, file: str) -> None:
        """Give up where an iteration of a loop may read what another one has read.

        Args:
          graph: of the traced function, with all its loops in it. file: the person's, for the line of the read.
        Raises:
          Unstageable: it may.
        """
        for around in _surroundings(_Around(graph)) if self._reads else ():
            for operation in around.graph.get_operations():
                if operation.type == "TensorListGetItem" and _FORGETTING in operation.name:
                    handle, index = operation.inputs[:2]
                    loops = _loops_since_made(handle, around)
                    if loops > 1 or (loops == 1 and (around.course(index) != _NEW or around.is_in_condition)):
                        error = _read_before()
                        error.line = tf_internals.user_line(operation, file)
                        raise error


def _read_before() -> Unstageable:
    return Unstageable("reads from a TensorArray what has been read before", "make it with `clear_after_read=False`")


def read(array: Any, method: str, forgets: bool, call: Callable[[], Any]) -> Any:
    """The result of `call`, which calls an array's method: where nothing has been written it fails, as eager does."""
    shape = array.element_shape
    if method not in _GIVE_ELEMENTS:
        return call()
    with tf.name_scope(_FORGETTING) if forgets else contextlib.nullcontext():
        if shape.rank is None:
            return call()
        with tf_internals.unknown_elements(array):
            result = call()
    if method != "read":
        shape = [None, *(shape[1:] if method == "concat" else shape)]
    result.set_shape(shape)
    return result


def _may_be_same(read: _Read, earlier: _Read) -> bool:
    (index, graph), (before, graph_before) = read, earlier
    if index is not None and before is not None and index != before:
        return False
    # A branch or body may be traced again, in a graph beside the first one.
    return tf_internals.is_inside(graph, graph_before) or tf_internals.is_inside(graph_before, graph)


# What the iterations of a loop find in a tensor: all of them the same, or each one something new. None: nobody knows.
_SAME, _NEW = "same", "new"

_LOOPS = frozenset({"While", "StatelessWhile"})
_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
# What gives something new for something new in its first input, and no less than that for the others.
_TELLS_APART = frozenset({"Identity", "Cast", "Neg"})
# What is different at all its places if its first input is.
_REARRANGES = frozenset({"Identity", "Cast", "ReverseV2", "StridedSlice", "TensorListFromTensor"})


@dataclass
class _Around:
    """A graph, the operation whose branch, body or function it is, and what is around that."""

    graph: Any
    operation: Any = None
    outer: _Around | None = None
    _courses: dict[str, str | None] = field(default_factory=dict)

    @property
    def is_of_loop(self) -> bool:
        return self.operation is not None and self.operation.type in _LOOPS

    @property
    def is_in_condition(self) -> bool:
        """Whether the body, too, may read what this graph reads."""
        if self.outer is None:
            return False
        is_condition = self.is_of_loop and tf_internals.called(self.outer.graph, self.operation, "cond") is self.graph
        return bool(is_condition or (not self.is_of_loop and self.outer.is_in_condition))

    def given(self, parameter: Any) -> tuple[Any, _Around]:
        """What a parameter of the graph is outside, in a loop before the first iteration."""
        assert self.outer is not None, "the function itself reads nothing in a loop"
        position = self._position(parameter) + (self.operation.type in _BRANCHES)
        return self.operation.inputs[position], self.outer

    def _position(self, parameter: Any) -> int:
        return next(index for index, each in enumerate(self.graph.inputs) if each is parameter)

    def course(self, tensor: Any) -> str | None:
        """What the iterations of the innermost loop around find in a tensor of the graph."""
        if tensor.name not in self._courses:
            self._courses[tensor.name] = self._course(tensor)
        return self._courses[tensor.name]

    def _course(self, tensor: Any) -> str | None:
        operation = tensor.op
        if operation.type == "Placeholder":
            if self.is_of_loop:
                return self._round(tensor)
            outside, outer = self.given(tensor)
            return outer.course(outside)
        if tf_internals.is_stateful(operation):
            return None
        courses = [self.course(each) for each in operation.inputs]
        if all(course == _SAME for course in courses):
            return _SAME
        if operation.type in _TELLS_APART:
            return courses[0]
        if None in courses or courses.count(_NEW) > 1:
            return None
        if operation.type in ("AddV2", "Sub"):
            return _NEW
        if operation.type == "Mul":
            return _NEW if self._is_number(operation.inputs[courses.index(_SAME)]) else None
        if operation.type in ("GatherV2", "TensorListGetItem") and courses[1] == _NEW:
            return _NEW if self._are_different(operation.inputs[0]) else None
        return None

    def _round(self, parameter: Any) -> str | None:
        """What the iterations find in a parameter of their body."""
        assert self.outer is not None
        body, position = tf_internals.called(self.outer.graph, self.operation, "body"), self._position(parameter)
        parameter, end = body.inputs[position], _behind(body.outputs[position])
        if end is parameter:
            return _SAME
        if end.op.type in ("AddV2", "Sub"):
            first, second = map(_behind, end.op.inputs)
            if first is parameter and self._is_number(second):
                return _NEW
            if second is parameter and end.op.type == "AddV2" and self._is_number(first):
                return _NEW
        return None

    def _is_number(self, tensor: Any) -> bool:
        """Whether a tensor is known to be a number, and not zero."""
        tensor, _ = self._outermost(tensor)
        value = tf.get_static_value(tensor)
        return value is not None and bool(value.all())

    def _are_different(self, tensor: Any) -> bool:
        """Whether what stands at the places of a tensor, which is the same in each iteration, is known to differ."""
        tensor, around = self._outermost(tensor)
        value = tf.get_static_value(tensor)
        if value is not None:
            return bool(len(set(value.flat)) == value.size)
        if tensor.op.type in _REARRANGES:
            return around._are_different(tensor.op.inputs[0])
        return bool(tensor.op.type == "Range")

    def _outermost(self, tensor: Any) -> tuple[Any, _Around]:
        """Where a tensor that is the same in each iteration comes from."""
        around = self
        tensor = _behind(tensor)
        while tensor.op.type == "Placeholder" and around.outer is not None:
            tensor, around = around.given(tensor)
            tensor = _behind(tensor)
        return tensor, around


def _surroundings(around: _Around) -> Iterator[_Around]:
    """A graph with all graphs in it."""
    yield around
    for operation in around.graph.get_operations():
        for inner in tf_internals.inner_graphs(around.graph, operation):
            if not tf_internals.is_gradient_graph(inner):
                yield from _surroundings(_Around(inner, operation, around))


def _loops_since_made(handle: Any, around: _Around) -> int:
    """How many of the loops around go on with the array that they have found; all, where nobody knows."""
    loops = 0
    while True:
        if handle.op.type in ("TensorListSetItem", "TensorListResize", "Identity"):
            handle = handle.op.inputs[0]
        elif handle.op.type in _LOOPS:
            handle = handle.op.inputs[handle.value_index]
        elif handle.op.type == "Placeholder" and around.outer is not None:
            loops += around.is_of_loop
            handle, around = around.given(handle)
        elif handle.op.type in ("TensorListReserve", "TensorListFromTensor", "TensorListSplit", "TensorListScatterV2"):
            return loops
        else:
            while around.outer is not None:
                loops += around.is_of_loop
                around = around.outer
            return loops


def _behind(tensor: Any) -> Any:
    """The tensor that is handed on under another name, or converted."""
    while tensor.op.type in ("Identity", "Cast"):
        tensor = tensor.op.inputs[0]
    return tensor
