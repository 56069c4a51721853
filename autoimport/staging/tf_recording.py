"""A launch that gradient tapes may watch -> its outputs, and what the tapes need: the private names for that.

TensorFlow builds a function that also gives what the gradient needs, and the function of the gradient, and calls both
by way of `ConcreteFunction`; that takes several times as long as a small graph runs. Where one tape watches, which is
the rule, the same two functions are executed by name here. All else (persistent tapes, tapes in tapes, accumulators,
gradients that are no tensors) takes TensorFlow's own way.

To a tape a launch is one operation, or its gradient would be computed several times; but of one result eager code has
no gradient for what only the others are made of. So tapes are told of results in groups, by what they are made of, and
the operation learns which of them a gradient has come to.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop_util, context, tape
from tensorflow.python.framework import indexed_slices
from tensorflow.python.ops import default_gradient, gradients_util

from autoimport.staging import gradients, tf_internals, threads
from autoimport.staging.tf_operations import neutral_zeros, sums_in_order

Wait: TypeAlias = Callable[[Callable[[Any], Any]], Any] | None

_context = context.context()
_first_order: int = gradients_util.POSSIBLE_GRADIENT_TYPES_FIRST_ORDER
_none: int = gradients_util.POSSIBLE_GRADIENT_TYPES_NONE
# Elements of a tensor that a tape may fill with zeros without much ado.
_SMALL = 1024


class Accumulated(LookupError):
    """Nothing has run: TensorFlow cannot launch for an accumulator and a tape, nor, of branches and loops, for one."""


class _Configured(tf_internals.ConcreteFunction):  # type: ignore[misc]
    """A concrete function that runs under a configuration of its own, and so do the functions of its gradients.

    Tapes run those when nobody is there any more to say how; with the usual rewriter their last bits are not eager's.
    """

    _configuration: bytes
    _pair: _Pair | None = None

    @functools.cached_property
    def has_functions(self) -> bool:
        """Whether there is a loop, a branch or another call in its graph."""
        return bool(self.graph._functions)

    def _call_flat(self, *args: Any) -> Any:
        before = _context.function_call_options
        options = config_pb2.ConfigProto()
        options.ParseFromString(self._configuration)
        _context.function_call_options = context.FunctionCallOptions(config_proto=options)
        try:
            return super()._call_flat(*args)
        finally:
            _context.function_call_options = before
            for cache in (self._first_order_tape_functions, self._higher_order_tape_functions):
                for made in cache.values():
                    if made._backward is not None:
                        _configure(made._backward, self._configuration)

    def _select_forward_and_backward_functions(self, *args: Any) -> Any:
        call = super()._select_forward_and_backward_functions(*args)
        if getattr(call._functions, "_forward", call) is None:
            with sums_in_order(), neutral_zeros():
                call.forward()
        return _Call(call) if args[2] and call._tape_watching and not call._input_tangents else call


class _Call:
    """A call that TensorFlow makes in eager mode, whose results are told to tapes in groups."""

    def __init__(self, call: Any) -> None:
        self._functions = call._functions
        self._inputs = call._inference_args
        self.forward = call.forward

    def record(self, outputs: Any) -> None:
        """After the call, what TensorFlow does for it."""
        if isinstance(outputs, list) and outputs:
            functions = self._functions
            backward, recorded = functions._wrap_backward_function(
                functions._forward_graph, functions._backward, outputs
            )
            label = functions._forward.cached_definition.signature.name
            if not hasattr(functions, "groups"):
                functions.groups = _grouped(functions, len(recorded))
            _record(label, recorded, self._inputs, backward, functions.groups)


@dataclass(frozen=True)
class _Group:
    """The outputs at some places, which are made of the same inputs: the bits of a mask.

    Attributes:
      sign: what says to the launch, in place of a gradient, that the group has one.
    """

    mask: int
    places: list[int]
    sign: Any


def _grouped(functions: Any, count: int) -> list[_Group]:
    """The first outputs of a function that also gives what gradients need, in groups."""
    graph = functions._forward_graph
    groups: dict[int, list[int]] = {}
    for index, mask in enumerate(gradients.reached(graph, graph.outputs[:count])):
        if mask:
            groups.setdefault(mask, []).append(index)
    return [_Group(mask, places, _fresh()) for mask, places in groups.items()]


def _fresh() -> Any:
    """A tensor that no tape knows."""
    return tf_internals.eager_tensor(np.float32(1.0), tf.float32)


def _record(
    label: str,
    outputs: list[Any],
    inputs: Any,
    backward: Callable[..., Any],
    groups: list[_Group],
    unseen: Sequence[Any] = (),
) -> None:
    """Tell the tapes of a launch.

    Args:
      backward: from the gradient of each output, or None, to those of the inputs.
      unseen: small tensors of floats of this launch that nobody else gets.
    """
    count = len(outputs)  # no more of them is to be kept

    def of_inputs(mask: int, given: dict[int, Any]) -> list[Any]:
        found = backward(*map(given.get, range(count)))
        return [each if mask >> index & 1 else None for index, each in enumerate(found)]

    if len(groups) == 1:
        [group] = groups
        made = [outputs[place] for place in group.places]
        run = lambda *given: of_inputs(group.mask, dict(zip(group.places, given, strict=True)))  # noqa: E731
        pywrap_tfe.TFE_Py_TapeSetRecordOperation(label, made, list(inputs), run, None)
        return
    # What each group is made of, to the tapes: the gradient of that only says that the group has one.
    whole = [*unseen[: len(groups)], *(_fresh() for _ in groups[len(unseen) :])]
    arrived: dict[int, dict[int, Any]] = {}

    def of_launch(*signs: Any) -> list[Any]:
        # Others have zeros from the tape, also those that another call has left, which has failed.
        those = [number for number, group in enumerate(groups) if signs[number] is group.sign]
        mask = functools.reduce(int.__or__, (groups[number].mask for number in those))
        given = {place: gradient for number in those for place, gradient in arrived[number].items()}
        arrived.clear()
        return of_inputs(mask, given)

    def of_group(number: int, *given: Any) -> list[Any]:
        arrived[number] = dict(zip(groups[number].places, given, strict=True))
        return [groups[number].sign]

    pywrap_tfe.TFE_Py_TapeSetRecordOperation(label, whole, list(inputs), of_launch, None)
    for number, group in enumerate(groups):
        made, of_these = [outputs[place] for place in group.places], functools.partial(of_group, number)
        pywrap_tfe.TFE_Py_TapeSetRecordOperation(label, made, whole[number : number + 1], of_these, None)


def _is_small_float(tensor: Any) -> bool:
    """Whether a tensor may stand for a group of results."""
    size = tensor.shape.num_elements()
    return size is not None and size <= _SMALL and backprop_util.IsTrainable(tensor)


def _configure(function: Any, config: bytes) -> None:
    function.__class__, function._configuration = _Configured, config


def run_recorded(
    function: Any, inputs: Sequence[Any], config: bytes, wait: Wait, in_one_thread: Any = None
) -> list[Any]:
    """Launch a concrete function so that tapes and accumulators see it; `wait` makes its launch if there is one.

    `in_one_thread`: as for `tf_internals.run`, where no tape looks at any of the inputs.

    Raises:
      LookupError: nothing has run, since something in it has no gradient; or `Accumulated`.
    """
    if function.__class__ is not _Configured:
        _configure(function, config)
    tape.variables_accessed(function.graph.variables)
    if pywrap_tfe.TFE_Py_PackJVPs(inputs)[0]:
        if function.has_functions or pywrap_tfe.TFE_Py_TapeSetShouldRecordBackprop(inputs):
            raise Accumulated("a forward accumulator is open around it")
    else:
        watched = pywrap_tfe.TFE_Py_TapeSetPossibleGradientTypes(inputs)
        if watched == _none:
            name, outputs = function.inference_fn.name, tf_internals.outputs_of(function)
            return _run(name, inputs, outputs, config, wait, in_one_thread)
        if watched == _first_order:
            pair: _Pair = function._pair or _Pair(function, inputs)
            function._pair = pair
            if pair.is_plain:
                return pair.run(inputs, wait)
    if wait is None:
        return list(function._call_flat([], list(inputs)) or ())
    _hand_over_next_call(wait, config)
    try:
        return list(function._call_flat([], list(inputs)) or ())
    finally:
        vars(_context).pop("call_function", None)


def _run(name: bytes, inputs: Sequence[Any], outputs: int, config: bytes, wait: Wait, in_one_thread: Any) -> list[Any]:
    if wait is None:
        return list(tf_internals.run(name, inputs, outputs, config, in_one_thread))
    return list(wait(tf_internals.cancellable(name, inputs, outputs, config)))


class _Pair:
    """The two functions by which a concrete function runs below a single tape.

    Attributes:
      is_plain: all gradients are tensors of a known type or None, so that `run` will do.
    """

    def __init__(self, function: Any, inputs: Sequence[Any]) -> None:
        self._config = function._configuration
        functions = function._select_forward_and_backward_functions(list(inputs), _first_order, True)._functions
        forward = functions.forward(list(inputs), [])
        self._backward = backward = functions._backward
        _configure(backward, self._config)
        outputs = functions._forward_graph.outputs
        self._forward = threads.attributes(forward.name, functions._forward_graph, self._config)
        self._back = threads.attributes(backward.inference_fn.name, backward.graph, self._config)
        self._name, self._label = forward.name, forward.cached_definition.signature.name
        self._results, self._outputs = tf_internals.outputs_of(function), len(outputs)
        captured = backward.captured_inputs
        places = {id(tensor): index for index, tensor in enumerate(outputs)}
        # Of each tensor that the gradient needs, its place among the outputs; or itself, if it is none of them.
        self._kept = [places.get(id(tensor), tensor) for tensor in captured]
        # What it takes besides: the gradients of the first outputs that have one.
        self._asked = backward.inputs[: len(backward.inputs) - len(captured)]
        trainable = [index for index, tensor in enumerate(outputs) if backprop_util.IsTrainable(tensor)]
        self._places = trainable[: len(self._asked)]
        self._recorded = self._places[-1] + 1 if self._places else 0
        self._groups = _grouped(functions, self._recorded)
        others = range(self._results, self._outputs)
        self._unseen = [place for place in others if _is_small_float(outputs[place])][: len(self._groups)]
        self._gradients = backward.structured_outputs
        self.is_plain = (
            isinstance(self._gradients, (list, tuple))
            and all(each is None or isinstance(each, tf.Tensor) for each in self._gradients)
            and sum(each is not None for each in self._gradients) == len(backward.outputs) > 0
            and len(self._places) == len(self._asked)
            and not any(tensor.dtype == tf.variant for tensor in outputs)
            and all(type(each) is int or isinstance(each, tf_internals.EagerTensor) for each in self._kept)
        )

    def run(self, inputs: Sequence[Any], wait: Wait) -> list[Any]:
        """The results of one launch, after telling the tape."""
        outputs = _run(self._name, inputs, self._outputs, self._config, wait, self._forward)
        kept = [outputs[each] if type(each) is int else each for each in self._kept]

        def backward(*gradients: Any) -> list[Any]:
            return self._run_backward(gradients, kept)

        recorded, unseen = outputs[: self._recorded], [outputs[place] for place in self._unseen]
        _record(self._label, recorded, inputs, backward, self._groups, unseen)
        return outputs[: self._results]

    def _run_backward(self, gradients: Sequence[Any], kept: list[Any]) -> list[Any]:
        given = []
        for place, asked in zip(self._places, self._asked, strict=True):
            gradient = gradients[place]
            if gradient is None:
                gradient = tf.zeros(*default_gradient.shape_and_dtype(asked))
            elif isinstance(gradient, indexed_slices.IndexedSlices):
                gradient = tf.convert_to_tensor(gradient)
            given.append(gradient)
        function = self._backward
        if tf_internals.recording() or not tf_internals.executing_eagerly():
            return list(function._call_flat(given, kept))
        name, outputs = function.inference_fn.name, len(function.outputs)
        found = iter(tf_internals.run(name, [*given, *kept], outputs, self._config, self._back))
        return [None if each is None else next(found) for each in self._gradients]


def _hand_over_next_call(wait: Callable[[Callable[[Any], Any]], Any], config: bytes) -> None:
    """Have `wait` make the launch of the next function that this thread calls."""
    thread = threading.get_ident()

    def call_function(name: bytes, inputs: Sequence[Any], outputs: int) -> Any:
        if threading.get_ident() != thread:
            return type(_context).call_function(_context, name, inputs, outputs)
        del _context.call_function
        return wait(tf_internals.cancellable(name, inputs, outputs, config)) or None

    _context.call_function = call_function
