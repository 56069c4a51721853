"""`==`, `!=`, `in`, `is` and chains of comparisons, on Python or symbolic values -> what Python gives."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Sequence
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import tensorflow as tf

from autoimport.operators import copies, heap, lists, logic, observer
from autoimport.operators.access import iterate
from autoimport.operators.arithmetic import binary
from autoimport.operators.checks import refuse
from autoimport.operators.conditionals import if_exp
from autoimport.operators.either import Either
from autoimport.operators.iterators import before_advance
from autoimport.operators.numbers import Known, Number
from autoimport.operators.ranges import SymbolicRange
from autoimport.operators.streams import Each, One
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.text import Text, equal
from autoimport.operators.undefined import MaybeNone

_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None), type})
_SINGLETONS = (type(None), bool, type(Ellipsis), type(NotImplemented))
_VALUES = (int, float, complex, str, bytes, Known)


def eq(x: Any, y: Any) -> Any:
    """`x == y`."""
    if type(x) in _SCALARS and type(y) in _SCALARS:
        return x == y
    if type(x) is Text or type(y) is Text:
        return equal(x, y)
    if lists.is_unknown(x) or lists.is_unknown(y):
        return _unknown_equal(x, y)
    if is_symbolic(x) or is_symbolic(y):
        return _tensors(x, y, operator.eq, tf.raw_ops.Equal, False)
    if _are_sequences(x, y):
        return _sequences_equal(_items(x), _items(y))
    return _python(operator.eq, x, y)


def ne(x: Any, y: Any) -> Any:
    """`x != y`."""
    if type(x) in _SCALARS and type(y) in _SCALARS:
        return x != y
    if type(x) is Text or type(y) is Text:
        return logic.not_(equal(x, y))
    if lists.is_unknown(x) or lists.is_unknown(y):
        return logic.not_(_unknown_equal(x, y))
    if is_symbolic(x) or is_symbolic(y):
        return _tensors(x, y, operator.ne, tf.raw_ops.NotEqual, True)
    if _are_sequences(x, y):
        return logic.not_(_sequences_equal(_items(x), _items(y)))
    return _python(operator.ne, x, y)


def _are_sequences(x: Any, y: Any) -> bool:
    """Whether both are lists, or both are tuples, named or not: Python compares their items."""
    of_tuples: Any = tuple.__eq__
    return type(x) is type(y) is list or type(x).__eq__ is type(y).__eq__ is of_tuples


def _unknown_equal(x: Any, y: Any) -> Any:
    """`==` where one side is a list or tuple of symbolic length."""
    from autoimport.operators import list_methods  # which compares by way of this module

    if isinstance(x, (tf.Tensor, tf.Variable)) or isinstance(y, (tf.Tensor, tf.Variable)):
        return lists.stand_in(x) == lists.stand_in(y)
    return list_methods.equal(x, y) if list_methods.kind_of(x) is list_methods.kind_of(y) else False


def resolve(x: Any) -> Any:
    """The value of a variable that is None or a tensor, checked not to be None."""
    return x.resolve() if isinstance(x, MaybeNone) else x


def _items(x: Any) -> list[Any]:
    return list(iterate(x))


def _python(compare: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    trace = observer.current()
    if trace is None:
        return compare(x, y)
    if _compares_identity(x) and _compares_identity(y):
        return _same(x, y) is (compare is operator.eq)
    if _compares_without_effects(x) and _compares_without_effects(y):
        return compare(x, y)
    if type(x) is type(y) and type(x) in {dict, set, frozenset}:
        method = x.__eq__ if compare is operator.eq else x.__ne__
        return trace.call(method, (y,), {})
    return trace.call(compare, (x, y), {})


def _compares_identity(x: Any) -> bool:
    cls: Any = type(x)
    return cls.__eq__ is object.__eq__ and cls.__ne__ is object.__ne__


def _compares_without_effects(x: Any) -> bool:
    """Whether `==` on `x` runs no code but Python's and the libraries', and reads nothing that could change unseen."""
    cls: Any = type(x)
    if cls in _SCALARS or cls is BuiltinFunctionType or _compares_identity(x):
        return True
    if isinstance(x, (list, dict)):
        return False
    if cls is tuple:
        return all(_compares_without_effects(item) for item in x)
    return cls.__module__.partition(".")[0] in ("tensorflow", "keras", "numpy", "ml_dtypes", "autoimport")


def _tensors(x: Any, y: Any, python: Callable[[Any, Any], Any], graph: Any, unlike: bool) -> Any:
    """`==` or `!=` where a side is symbolic; `unlike` is the answer for values that cannot be equal.

    In a v1 graph the operators of tensors compare identity, so the operation is built by hand, as
    `tensor_equals` in TensorFlow does for eager tensors.
    """
    x, y = resolve(x), resolve(y)
    if (isinstance(x, Number) and isinstance(y, Number)) or tf.compat.v1.executing_eagerly_outside_functions():
        return python(x, y)
    if x is None or y is None:
        return unlike
    if not (isinstance(x, (tf.Tensor, tf.Variable)) or isinstance(y, (tf.Tensor, tf.Variable))):
        return python(x, y)
    try:
        if isinstance(x, (tf.Tensor, tf.Variable)):
            left = tf.convert_to_tensor(x)
            right = tf.convert_to_tensor(y, dtype_hint=left.dtype)
        else:
            right = tf.convert_to_tensor(y)
            left = tf.convert_to_tensor(x, dtype_hint=right.dtype)
    except (TypeError, ValueError):
        return unlike
    return graph(x=left, y=right, incompatible_shape_error=False)


def _sequences_equal(x: Sequence[Any], y: Sequence[Any]) -> Any:
    """`==` of two lists or tuples: item by item, the first difference decides."""
    if len(x) != len(y):
        return False
    return _all_equal(list(zip(x, y, strict=True)))


def _all_equal(pairs: list[tuple[Any, Any]]) -> Any:
    """A bool, or a symbolic one if that depends on symbolic items."""
    unknown = []
    for a, b in pairs:
        same = True if a is b else eq(a, b)
        if is_symbolic(same):
            unknown.append(logic.condition(same))
        elif not logic.python_truth(same):
            return False
    return Number(bool, tf.reduce_all(tf.stack(unknown))) if unknown else True


def in_(x: Any, container: Any) -> Any:
    """`x in container`: a bool, or a symbolic one."""
    container = lists.stand_in(container)
    if isinstance(container, lists.TensorList):
        from autoimport.operators import list_methods  # which compares by way of this module

        return list_methods.contains(container, x)
    if is_symbolic(container):
        return _in_symbolic(x, container)
    if type(container) in {list, tuple}:
        return _in_sequence(x, iterate(container))
    if isinstance(container, Each):
        from autoimport.operators.folds import any_  # which compares by way of this module

        return any_(Each(container, lambda item: One(item is x or eq(item, x))))
    if type(container) is range and is_symbolic(x):
        return _in_range(x, container)
    return _contains(container, x)


def not_in(x: Any, container: Any) -> Any:
    """`x not in container`."""
    return logic.not_(in_(x, container))


def _contains(container: Any, x: Any) -> Any:
    if isinstance(getattr(type(container), "__contains__", None), FunctionType):
        from autoimport.operators.calls import call

        return logic.not_(logic.not_(call(MethodType(type(container).__contains__, container), x)))
    before_advance(container, heap.body())
    trace = observer.current()
    if trace is None or type(container) in _SCALARS or type(container) is range:
        return x in container
    if type(container) in {dict, set, frozenset}:
        return trace.call(container.__contains__, (x,), {})
    return trace.call(operator.contains, (container, x), {})


def _in_sequence(x: Any, values: Any) -> Any:
    unknown = []
    for value in values:
        same = True if value is x else eq(value, x)
        if is_symbolic(same):
            unknown.append(logic.condition(same))
        elif logic.python_truth(same):
            return True
    return Number(bool, tf.reduce_any(tf.stack(unknown))) if unknown else False


def _in_symbolic(x: Any, container: Any) -> Any:
    container = resolve(container)
    if isinstance(container, SymbolicRange):
        return container.contains(x)
    if not isinstance(container, (tf.Tensor, tf.Variable)):
        refuse(f"`in` on a symbolic {type(container).__name__}")
    if container.shape.rank != 1:
        return _in_sequence(x, iterate(container))
    rows = tf.convert_to_tensor(container)
    if is_symbolic(x) and not isinstance(x, Number) and tf.convert_to_tensor(x).shape.rank != 0:
        return _in_sequence(x, iterate(container))
    return Number(bool, tf.reduce_any(tf.equal(rows, x)))


def _in_range(x: Any, values: range) -> Any:
    if isinstance(x, Number) and x.kind is not float:
        if not values:
            return False
        low, high = min(values[0], values[-1]), max(values[0], values[-1])
        inside = (Number.of(low) <= x) & (x <= Number.of(high))  # type: ignore[operator]
        if abs(values.step) == 1:
            return inside
        return inside & ((x - low) % abs(values.step) == 0)  # type: ignore[operator]
    if len(values) > 64:
        refuse("`in` on a long range")
    return _in_sequence(x, values)


def is_(x: Any, y: Any) -> Any:
    """`x is y`. A symbolic bool may be `True` or `False`; other symbolic numbers have no identity."""
    for value, other in ((x, y), (y, x)):
        if isinstance(value, MaybeNone) and other is None:
            return value.is_none()
        if isinstance(value, MaybeNone):
            return _maybe_is(value, other)
    if isinstance(x, Number) or isinstance(y, Number):
        return _number_is(x, y)
    return _same(x, y)


def _maybe_is(value: MaybeNone, other: Any) -> Any:
    instead = value.other if isinstance(value, Either) else None
    return if_exp(value.present, lambda: is_(value.value, other), lambda: is_(instead, other))


def _same(x: Any, y: Any) -> bool:
    """`x is y` of objects: which they are may be another thing at the next call of a graph."""
    trace = observer.current()
    if x is not y and type(x) not in _SINGLETONS and type(y) not in _SINGLETONS:
        copies.before_identity(x, y)
    if trace is None or type(x) in _SINGLETONS or type(y) in _SINGLETONS:
        return x is y
    if any(isinstance(value, _VALUES) and not isinstance(value, enum.Enum) for value in (x, y)):
        if type(x) is type(y) and x == y and not (type(x) is int and -5 <= x <= 256):
            refuse("`is` on numbers or strings, which Python may share or not")
        return x is y
    return trace.same(x, y)


def _number_is(x: Any, y: Any) -> Any:
    if x is y:
        return True
    number, other = (x, y) if isinstance(x, Number) else (y, x)
    if number.kind is bool and (type(other) is bool or (isinstance(other, Number) and other.kind is bool)):
        return eq(number, other)
    if type(other) in {int, float, bool} or isinstance(other, Number):
        refuse("`is` on a symbolic number")
    return False


def is_not(x: Any, y: Any) -> Any:
    """`x is not y`."""
    return logic.not_(is_(x, y))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    **{symbol: partial(binary, symbol) for symbol in ("<", "<=", ">", ">=")},
    "==": eq,
    "!=": ne,
    "in": in_,
    "not in": not_in,
    "is": is_,
    "is not": is_not,
}


def chain(left: Any, *links: tuple[str, Callable[[], Any]]) -> Any:
    """`left < a <= b ...`: `links` pairs each operator with its right operand; stops at the first that is false."""
    (symbol, operand), *rest = links
    right = operand()
    result = _COMPARE[symbol](left, right)
    if not rest:
        return result
    cheap = all(logic.is_harmless(thunk) for _, thunk in rest)
    return logic.and_(result, lambda: chain(right, *rest), cheap=cheap)
