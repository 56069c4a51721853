"""A dataset -> whether a graph may walk over it as Python does: each loop from the start, the same elements every time.

In: a dataset. Out: why not, or None; and whether making its elements may fail. The chain of datasets that it is made of
has to be known to be deterministic, and free of effects and of state, down to the functions in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from autoimport.staging import inspection, tf_internals

# Classes of TensorFlow whose elements follow from those of their inputs, or of the tensors that they are made of.
_STEADY = frozenset(
    {
        "_BatchDataset", "_ConcatenateDataset", "_FilterDataset", "_MapDataset", "_OptionsDataset",
        "_PaddedBatchDataset", "_ParallelBatchDataset", "_ParallelMapDataset", "_PrefetchDataset", "_RangeDataset",
        "_RepeatDataset", "_RestructuredDataset", "_ShardDataset", "_SkipDataset", "_TakeDataset", "_TakeWhileDataset",
        "_TensorDataset", "_TensorSliceDataset", "_UnbatchDataset", "_ZipDataset",
    }
)  # fmt: skip
_RANGE = frozenset({"Const", "RangeDataset", "_Retval"})
_FALLIBLE = frozenset({"_PaddedBatchDataset", "_UnbatchDataset"})
_BATCHES = frozenset({"_BatchDataset", "_ParallelBatchDataset"})
_ELEMENTS = (tf.TensorSpec, tf.RaggedTensorSpec, tf.SparseTensorSpec)


def objection(dataset: Any) -> str | None:
    """Why a graph may not walk over `dataset`; None if it may."""
    with tf.init_scope():  # its options are a tensor's value, which no graph knows
        if dataset.options().deterministic is False:
            return "is not deterministic"
    if not all(isinstance(spec, _ELEMENTS) for spec in tf.nest.flatten(dataset.element_spec)):
        return "has elements that are no tensors"
    for part in _chain(dataset):
        name = type(part).__name__
        if name == "_VariantDataset" and tf_internals.dataset_operations(part) <= _RANGE:
            continue
        if not type(part).__module__.startswith("tensorflow.python.data.ops.") or name not in _STEADY:
            return f"may have other elements the next time ({name.strip('_')})"
        if getattr(part, "_deterministic", None) == "false":
            return "is not deterministic"
        for function in tf_internals.dataset_functions(part):
            acting = next((op for op in tf_internals.operations(function.graph) if inspection.acts(op)), None)
            if acting is not None:
                return f"calls a function with effects or state ({acting.type})"
            if any(tensor.dtype in (tf.resource, tf.variant) for tensor in function.captured_inputs):
                return "calls a function that reads a variable"
    return None


def walk_scope(dataset: Any) -> str:
    """The name scope for the operations that walk over a dataset: it tells whether they may fail."""
    return inspection.WALK_UNSURE if _may_fail(dataset) else inspection.WALK_SURE


def _may_fail(dataset: Any) -> bool:
    """Whether making an element may raise."""
    for part in _chain(dataset):
        name = type(part).__name__
        if name in _FALLIBLE:
            return True
        if name in _BATCHES and any(_varies(each) for each in tf_internals.dataset_inputs(part)):
            return True
        for function in tf_internals.dataset_functions(part):
            graph = function.graph
            if any(inspection.may_fail(graph, operation) for operation in graph.get_operations()):
                return True
    return False


def _varies(dataset: Any) -> bool:
    return not all(spec.shape.is_fully_defined() for spec in tf.nest.flatten(dataset.element_spec))


def _chain(dataset: Any) -> Iterator[Any]:
    yield dataset
    for each in tf_internals.dataset_inputs(dataset):
        yield from _chain(each)
