"""Sizes that TensorFlow compares in Python before any operation -> a check in the graph, where one is not known yet.

In: a call of a library function in a trace. Out: nothing; where eager code would raise since two sizes are not one, the
graph gives up, and the call runs eagerly. TensorFlow takes sizes that it does not know for granted in a graph, and
broadcasts, or drops, what does not fit. What only tells of sizes gets symbolic ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from autoimport.operators.checks import fail_if
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.staging import tf_internals, trust
from autoimport.staging.values import Shape


def check(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Check in the graph what `fn` would check in eager mode, where `fn` is one of the functions that do.

    Raises:
      Unstageable: a rank is not known.
    """
    fn = vars(fn).get("fn", fn) if trust.full_name(type(fn)) in _LOSSES else fn
    checking = _CHECKS.get(trust.full_name(fn))
    if checking is not None:
        checking(**inspect.signature(fn).bind(*args, **kwargs).arguments)


def given(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `fn`, sizes that are not known as tensors where numpy would ask for their product."""
    if not any(fn is each for each in _MULTIPLYING):
        return args, kwargs
    return tuple(map(_as_tensor, args)), {name: _as_tensor(arg) for name, arg in kwargs.items()}


def _as_tensor(size: Any) -> Any:
    return tf.convert_to_tensor(size, tf.int32) if type(size) in {Shape, Number} else size


def told(fn: Any, args: tuple[Any, ...]) -> Any:
    """What `fn(*args)` tells of the sizes of a tensor, of which some are not known; None for what is no such call.

    Raises:
      Unstageable: it tells of more than sizes, or of the value.
    """
    if not args or not isinstance(args[0], tf_internals.SymbolicTensor):
        return None
    name = trust.full_name(fn)
    is_value = fn is tf.get_static_value
    if is_value and type(args[0]) is not tf_internals.EagerTensor:
        raise Unstageable("asks whether the value of a tensor is known")
    if name in _SPECIFYING:
        raise Unstageable("makes a specification of a tensor")
    if is_value or args[0].shape.is_fully_defined() or name not in _TELLING:
        return None
    shape = Shape.of(args[0])
    return shape if name == "numpy.shape" else tuple(shape)


def check_shape(tensor: Any, shape: Any) -> None:
    """Check that a tensor has the shape that `tensor.set_shape(shape)` gives it."""
    _require(tensor.shape, tf.shape(tensor), tf.TensorShape(shape), None)


def _require(static: Any, sizes: Any, other: Any, other_sizes: Any) -> None:
    """Both shapes, known in part and as tensors, are the same; the second may leave sizes open if it has no tensor."""
    if static.rank is None or (other.rank is None and other_sizes is not None):
        raise Unstageable("compares the sizes of a tensor whose rank depends on its values")
    if other.rank is None or static.rank != other.rank or (static.is_fully_defined() and other.is_fully_defined()):
        return  # what is wrong, TensorFlow says
    for axis, (size, wanted) in enumerate(zip(static.as_list(), other.as_list(), strict=True)):
        if (size is None or wanted is None) and (wanted is not None or other_sizes is not None):
            differs = tf.not_equal(sizes[axis], other_sizes[axis] if wanted is None else wanted)
            fail_if(differs, "sizes that are not the same", differs)


def _same(x: Any, y: Any) -> None:
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    _require(x.shape, tf.shape(x), y.shape, tf.shape(y))


def _boolean_mask(tensor: Any, mask: Any, axis: Any = None, **_: Any) -> None:
    tensor, mask = tf.convert_to_tensor(tensor), tf.convert_to_tensor(mask)
    first = 0 if axis is None else tf.get_static_value(axis)
    if first is None or mask.shape.rank is None:
        return
    window = slice(first, first + mask.shape.rank)
    _require(tensor.shape[window], tf.shape(tensor)[window], mask.shape, tf.shape(mask))


def _cross_entropy(labels: Any = None, logits: Any = None, **_: Any) -> None:
    _same(labels, logits)


def _keras_cross_entropy(y_true: Any, y_pred: Any, **_: Any) -> None:
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    if y_true.shape.rank == y_pred.shape.rank:
        _same(y_true, y_pred)


def _poisson(targets: Any, log_input: Any, **_: Any) -> None:
    _same(targets, log_input)


def _clip(t: Any, clip_value_min: Any, clip_value_max: Any, **_: Any) -> None:
    for bound in (clip_value_min, clip_value_max):
        t, bound = tf.convert_to_tensor(t), tf.convert_to_tensor(bound, t.dtype)
        if bound.shape.rank != 0 and not (t.shape.is_fully_defined() and bound.shape.is_fully_defined()):
            together = tf.broadcast_dynamic_shape(tf.shape(t), tf.shape(bound))
            _require(t.shape, tf.shape(t), tf.TensorShape([None] * (t.shape.rank or 0)), together)


def _walk(elems: Any, **_: Any) -> None:
    """A function of the first items, the second items and so on: there is one number of them."""
    first, *others = [tf.convert_to_tensor(elem) for elem in tf.nest.flatten(elems, expand_composites=True)]
    for other in others if tf.nest.flatten(elems) == tf.nest.flatten(elems, expand_composites=True) else ():
        _require(first.shape[:1], tf.shape(first)[:1], other.shape[:1], tf.shape(other)[:1])


# What tells the shape of its argument, and what else about it.
_TELLING = frozenset({"keras.src.ops.core.shape", "keras.src.legacy.backend.int_shape", "numpy.shape"})
_MULTIPLYING = (tf.zeros, tf.ones, tf.eye)
_SPECIFYING = frozenset(map(trust.full_name, (tf.type_spec_from_value, tf.TensorSpec.from_tensor)))
_CHECKS: dict[str, Callable[..., None]] = {
    "keras.src.losses.losses.binary_crossentropy": _keras_cross_entropy,
    "keras.src.losses.losses.categorical_crossentropy": _keras_cross_entropy,
    **{
        trust.full_name(fn): checking
        for fn, checking in (
            (tf.boolean_mask, _boolean_mask),
            (tf.nn.sigmoid_cross_entropy_with_logits, _cross_entropy),
            (tf.nn.weighted_cross_entropy_with_logits, _cross_entropy),
            (tf.nn.log_poisson_loss, _poisson),
            (tf.clip_by_value, _clip),
            (tf.map_fn, _walk),
            (tf.scan, _walk),
            (tf.foldl, _walk),
            (tf.foldr, _walk),
        )
    },
}
# Objects whose call is that of their function.
_LOSSES = frozenset(f"keras.src.losses.losses.{name}" for name in ("BinaryCrossentropy", "CategoricalCrossentropy"))
