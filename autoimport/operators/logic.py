"""`and`, `or`, `not` and truth of Python or symbolic values -> what Python gives: operands, not just bools."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any

import tensorflow as tf

from autoimport.operators import lists, observer
from autoimport.operators.checks import CheckNeeded, negation, on_trial, refuse
from autoimport.operators.numbers import Number
from autoimport.operators.predicates import predicate
from autoimport.operators.symbolic import is_symbolic

_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})

# What the code of a right operand may name to be built without need: reads and comparisons, no calls.
_HARMLESS = frozenset(
    {"attr", "item", "global_", "free", "defined", "one", "eq", "ne", "is_", "is_not", "not_", "and_", "or_", "ops"}
    | {"@ops"}
)
# Operations that are cheap, cannot fail and touch no state.
_CHEAP = frozenset(
    {"Const", "Cast", "Identity", "Placeholder", "ReadVariableOp", "Shape", "Size", "Reshape", "IsFinite", "IsNan"}
    | {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr", "LogicalNot"}
    | {"Add", "AddV2", "Sub", "Mul", "Neg", "Abs", "Maximum", "Minimum", "Squeeze", "SelectV2"}
)


def python_truth(x: Any) -> bool:
    """The truth of a value that is not symbolic, seen by the observer."""
    if type(x) in _SCALARS:
        return bool(x)
    trace = observer.current()
    return bool(x) if trace is None or isinstance(x, tf.Tensor) else bool(trace.call(bool, (x,), {}))


def truth(x: Any) -> bool:
    """The truth of `x` for Python code that branches on it (a condition in a comprehension)."""
    x = lists.stand_in(x)
    if is_symbolic(x) and not isinstance(x, tf.__internal__.EagerTensor):
        refuse("Python branches on a symbolic value (in a comprehension or a `case`)")
    return python_truth(x)


def condition(x: Any) -> Any:
    """The truth of a symbolic value as a scalar boolean tensor."""
    return tf.greater(x.count(), 0) if isinstance(x, lists.TensorList) else predicate(x)


def not_(x: Any) -> Any:
    """`not x`: a bool, as in Python."""
    x = lists.stand_in(x)
    if is_symbolic(x):
        return Number(bool, negation(condition(x)))
    return not python_truth(x)


def and_(x: Any, right: Callable[[], Any], *, cheap: bool | None = None) -> Any:
    """`x and right()`; `cheap`, where known, says that building `right` without need does no harm."""
    decide = lists.stand_in(x)
    if not is_symbolic(decide):
        return right() if python_truth(x) else x
    return _either(x, condition(decide), right, is_and=True, cheap=cheap)


def or_(x: Any, right: Callable[[], Any], *, cheap: bool | None = None) -> Any:
    """`x or right()`."""
    decide = lists.stand_in(x)
    if not is_symbolic(decide):
        return x if python_truth(x) else right()
    return _either(x, condition(decide), right, is_and=False, cheap=cheap)


def _either(x: Any, decide: Any, right: Callable[[], Any], *, is_and: bool, cheap: bool | None) -> Any:
    from autoimport.operators.conditionals import if_exp

    if is_harmless(right) if cheap is None else cheap:
        graph = tf.compat.v1.get_default_graph()
        before = len(graph.get_operations())
        try:
            with on_trial():
                y = right()
        except CheckNeeded:
            return _choose(if_exp, decide, x, right, is_and)
        if all(operation.type in _CHEAP for operation in graph.get_operations()[before:]):
            merged = _logical(x, y, tf.logical_and if is_and else tf.logical_or)
            return merged if merged is not None else _choose(if_exp, decide, x, lambda: y, is_and)
    return _choose(if_exp, decide, x, right, is_and)


def _choose(if_exp: Callable[..., Any], decide: Any, x: Any, right: Callable[[], Any], is_and: bool) -> Any:
    return if_exp(decide, right, lambda: x) if is_and else if_exp(decide, lambda: x, right)


def _logical(x: Any, y: Any, graph: Callable[[Any, Any], Any]) -> Any:
    """Two scalar bools combined without a branch; None if they are not."""
    if isinstance(x, Number) and x.kind is bool and (type(y) is bool or (isinstance(y, Number) and y.kind is bool)):
        return Number(bool, graph(x.tensor, Number.of(y).tensor))
    if isinstance(x, tf.Tensor) and isinstance(y, tf.Tensor) and x.dtype.is_bool and y.dtype.is_bool:
        return graph(x, y) if x.shape.rank == 0 and y.shape.rank == 0 else None
    return None


def is_harmless(thunk: Callable[[], Any]) -> bool:
    """Whether `thunk`, a lambda of a graph form, only reads, computes and compares."""
    code = getattr(thunk, "__code__", None)
    return code is not None and _code_is_harmless(code)


@functools.lru_cache(maxsize=4096)
def _code_is_harmless(code: CodeType) -> bool:
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return _HARMLESS.issuperset(code.co_names) and all(_code_is_harmless(inner) for inner in nested)
