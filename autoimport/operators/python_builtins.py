"""Python's builtin functions -> Python's own results, or graph where an argument is symbolic.

`OPERATORS` maps each builtin to its operator, which takes the builtin's own arguments. In a trace of ours the items of
containers that are older than the trace are read through the observer, and what no trace can hold gives it up.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from autoimport.operators import access, folds, heap, observer, sorting
from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.comprehensions import collect, described
from autoimport.operators.conversions import to_bool, to_float, to_int
from autoimport.operators.iterators import before_advance
from autoimport.operators.lists import TensorList, TensorTuple, stand_in
from autoimport.operators.logic import python_truth
from autoimport.operators.loops_over import is_stream
from autoimport.operators.numbers import Known, Number, Outranking
from autoimport.operators.numpy_values import Later, NumpyValue
from autoimport.operators.ranges import (
    SymbolicEnumerate,
    SymbolicFilter,
    SymbolicMap,
    SymbolicRange,
    SymbolicReversed,
    SymbolicZip,
)
from autoimport.operators.streams import Each, One, When
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.text import Text, later, show
from autoimport.operators.undefined import MaybeNone

_MISSING: Any = object()


def plain_call(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """The builtin itself, seen by the observer."""
    trace = observer.current()
    return fn(*args, **kwargs) if trace is None else trace.call(fn, args, kwargs)


def len_(x: Any, /) -> Any:
    """`len(x)`."""
    x = stand_in(x)
    if not is_symbolic(x):
        return plain_call(len, x)
    if isinstance(x, Outranking):
        return len(x)  # type: ignore[arg-type]
    if isinstance(x, MaybeNone):
        return len_(x.resolve())
    if isinstance(x, (TensorList, SymbolicRange)):
        return x.length()
    if isinstance(x, Number):
        raise TypeError(f"object of type {x.kind.__name__!r} has no len()")
    if isinstance(x, (tf.Tensor, tf.Variable)):
        if x.shape.rank == 0:
            raise TypeError("Scalar tensor has no `len()`")
        if x.shape.rank is not None and x.shape[0] is not None:
            return x.shape[0]
        return Number(int, tf.shape(x, tf.int64)[0], 0, 2**40)
    if isinstance(x, tf.data.Dataset):
        count = x.cardinality()
        return Number(int, fail_if(count < 0, "the length of the dataset is infinite or unknown", count), 0)
    return plain_call(len, x)


def range_(*args: Any) -> Any:
    """`range(...)`; a `SymbolicRange` if a bound is symbolic."""
    if not any(is_symbolic(arg) for arg in args) or not 1 <= len(args) <= 3:
        return range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return SymbolicRange(_bound(start), _bound(stop), _bound(step))


def _bound(x: Any) -> Number:
    if isinstance(x, MaybeNone):
        x = x.resolve()
    if isinstance(x, Known):
        x = x.number()
    kind = x.kind if isinstance(x, Number) else type(x)
    if kind is bool:
        return Number.of(to_int(x))
    if kind is int:
        return Number.of(x)
    if isinstance(x, (tf.Tensor, tf.Variable)) and x.dtype.is_integer:
        return Number.of(to_int(x))
    name = kind.__name__ if isinstance(kind, type) else str(kind)
    raise TypeError(f"{name!r} object cannot be interpreted as an integer")


def _once(symbolic: Any) -> Any:
    """An iterator, from which items can be taken once; over datasets `stream` looks for that."""
    return symbolic if is_stream(symbolic) else Each(symbolic, One, is_shared=True)


def _lent(iterable: Any) -> Any:
    """What another iterator takes its items from."""
    if isinstance(iterable, Each) and iterable.is_plain and iterable.is_fresh:
        iterable.take(all_of_them=False)
        return iterable.source
    return stand_in(iterable)


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate(iterable, start)`."""
    iterable = _lent(iterable)
    if is_symbolic(iterable) or is_symbolic(start):
        return _once(SymbolicEnumerate(iterable, start))
    return enumerate(iterate(iterable), start)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip(*iterables)`."""
    iterables = tuple(map(_lent, iterables))
    if any(map(is_symbolic, iterables)):
        return _once(SymbolicZip(iterables, strict))
    return zip(*(iterate(iterable) for iterable in iterables), strict=strict)


def reversed_(x: Any, /) -> Any:
    """`reversed(x)`."""
    x = stand_in(x)
    if is_symbolic(x):
        return _once(SymbolicReversed(x))
    return reversed(list(iterate(x))) if isinstance(x, (list, tuple)) else plain_call(reversed, x)


def map_(fn: Any, *iterables: Any) -> Any:
    """`map(fn, *iterables)`."""
    from autoimport.operators.calls import call

    if any(map(is_stream, iterables)):
        return SymbolicMap(fn, iterables)
    if len(iterables) == 1:
        return Each(iterables[0], lambda item: One(call(fn, item)), is_shared=True)
    return Each(zip_(*iterables), lambda items: One(call(fn, *items)), is_shared=True)


def filter_(fn: Any, iterable: Any, /) -> Any:
    """`filter(fn, iterable)`."""
    from autoimport.operators.calls import call

    if is_stream(iterable):
        return SymbolicFilter(fn, iterable)

    def step(item: Any) -> When:
        return When(item if fn is None else call(fn, item), lambda: One(item))

    return Each(iterable, step, is_shared=True)


def iter_(x: Any, /, *sentinel: Any) -> Any:
    """`iter(x)`."""
    x = stand_in(x)
    if sentinel or (is_symbolic(x) and isinstance(x, (tf.data.Dataset, tf.data.Iterator))):
        return plain_call(iter, x, *sentinel)
    if isinstance(x, Each):
        return x
    return iter(iterate(x))


def next_(iterator: Any, /, *default: Any) -> Any:
    """`next(iterator)`; a dataset's iterator may have a default in the person's own graph."""
    if is_symbolic(iterator) and default and observer.current() is None:
        from autoimport.operators.conditionals import if_exp

        optional = iterator.get_next_as_optional()
        return if_exp(optional.has_value(), optional.get_value, lambda: default[0])
    if isinstance(iterator, Each) and not iterator.is_shared:
        return _first(iterator, *default)
    before_advance(iterator, heap.body())
    trace = observer.current()
    if trace is not None:
        trace.mutate(iterator, "next")
    return next(iterator, *default)


def _first(stream: Each, *default: Any) -> Any:
    """`next(...)` of a generator expression that nobody else has."""
    from autoimport.operators.conditionals import if_exp

    found = collect(stream, at_most_one=True)
    contents = stand_in(found)
    if not isinstance(contents, TensorList):
        return next(iter(found), *default)
    if default:
        return if_exp(found, lambda: contents[0], lambda: default[0])
    fail_if(tf.equal(contents.count(), 0), "next() of a generator expression without items", contents.count())
    return contents[0]


def list_(*args: Any) -> Any:
    """`list(iterable)`."""
    if len(args) == 1 and type(args[0]) is Later:
        return Later.of(list, args, {})
    return collect(described(args[0])) if len(args) == 1 else list(*args)


def tuple_(*args: Any) -> Any:
    """`tuple(iterable)`."""
    if len(args) == 1 and type(args[0]) is Later:
        return Later.of(tuple, args, {})
    if len(args) != 1:
        return tuple(*args)
    contents = stand_in(collect(described(args[0])))
    return TensorTuple(contents.structure, contents.handles) if isinstance(contents, TensorList) else tuple(contents)


def set_(*args: Any) -> Any:
    """`set(iterable)`."""
    return set(*(iterate(arg) for arg in args))


def dict_(*args: Any, **kwargs: Any) -> Any:
    """`dict(mapping_or_pairs, **kwargs)`."""
    if args and type(args[0]) is dict:
        return {**{key: access.item(args[0], key) for key in iterate(args[0])}, **kwargs}
    if args and hasattr(args[0], "keys"):
        return plain_call(dict, *args, **kwargs)
    return dict(*(iterate(arg) for arg in args), **kwargs)


def abs_(x: Any, /) -> Any:
    """`abs(x)`."""
    return abs(x.resolve() if isinstance(x, MaybeNone) else x)


def divmod_(x: Any, y: Any, /) -> Any:
    """`divmod(x, y)`."""
    return plain_call(divmod, x, y) if not isinstance(x, Number) and not isinstance(y, Number) else divmod(x, y)


def pow_(base: Any, exp: Any, mod: Any = None) -> Any:
    """`pow(base, exp, mod)`."""
    return pow(base, exp) if mod is None else pow(base, exp, mod)


def round_(number: Any, ndigits: Any = None) -> Any:
    """`round(number, ndigits)`."""
    if type(number) is Number and ndigits is not None and observer.current() is not None:
        return number if _rounds_nothing(number, ndigits) else Later.of(round, (number, ndigits), {})
    if isinstance(number, (Number, NumpyValue, Later)):
        return number.__round__(ndigits)
    if is_symbolic(number) and observer.current() is not None:
        refuse("`round` of a tensor")
    return plain_call(round, number) if ndigits is None else plain_call(round, number, ndigits)


def _rounds_nothing(number: Number, ndigits: Any) -> bool:
    return number.kind is int and type(ndigits) is int and ndigits >= 0


def int_(*args: Any, **kwargs: Any) -> Any:
    """`int(x)`."""
    return to_int(args[0]) if len(args) == 1 and is_symbolic(args[0]) else plain_call(int, *args, **kwargs)


def float_(*args: Any) -> Any:
    """`float(x)`."""
    return to_float(args[0]) if len(args) == 1 and is_symbolic(args[0]) else plain_call(float, *args)


def bool_(*args: Any) -> Any:
    """`bool(x)`."""
    if len(args) != 1:
        return bool(*args)
    x = stand_in(args[0])
    return to_bool(x) if is_symbolic(x) else python_truth(x)


def print_(*args: Any, **kwargs: Any) -> None:
    """`print(...)`: at once in the person's graph, as today; after each launch of a trace of ours."""
    if observer.current() is None:
        print(*args, **kwargs)  # the person's own print
    else:
        show(args, kwargs)


def str_(*args: Any, **kwargs: Any) -> Any:
    """`str(x)`."""
    if len(args) != 1 or kwargs:
        return plain_call(str, *args, **kwargs)
    return later(str, *args, how=str)


def repr_(x: Any, /) -> Any:
    """`repr(x)`."""
    return later(repr, x, how=repr)


def format_builtin(x: Any, spec: Any = "", /) -> Any:
    """`format(x, spec)`."""
    return later(format, x, spec, how=str)


def getattr_(obj: Any, name: str, /, *default: Any) -> Any:
    """`getattr(obj, name, default)`."""
    if isinstance(obj, MaybeNone) and default:
        refuse("an attribute of what may be None")
    try:
        return access.attr(obj, name)
    except AttributeError:
        if not default:
            raise
        _only_if_fixed(obj, name)
        return default[0]


def hasattr_(obj: Any, name: str, /) -> bool:
    """`hasattr(obj, name)`."""
    return getattr_(obj, name, _MISSING) is not _MISSING


def _only_if_fixed(obj: Any, name: str) -> None:
    """Give a trace up that rests on a missing attribute, which could be there at the next call."""
    if observer.current() is not None and (hasattr(obj, "__dict__") or is_symbolic(obj)):
        refuse(f"the attribute {name} is missing")


def setattr_(obj: Any, name: str, value: Any, /) -> None:
    """`setattr(obj, name, value)`."""
    access.set_attr(obj, name, value)


def delattr_(obj: Any, name: str, /) -> None:
    """`delattr(obj, name)`."""
    access.del_attr(obj, name)


def isinstance_(obj: Any, classes: Any, /) -> bool:
    """`isinstance(obj, classes)`: a symbolic number is an int, float or bool."""
    if isinstance(obj, Number):
        return issubclass(obj.kind, classes)
    if isinstance(obj, MaybeNone):
        refuse("the class of what may be None")
    if isinstance(obj, (SymbolicRange, TensorTuple)):
        return issubclass(tuple if isinstance(obj, TensorTuple) else range, classes)
    return isinstance(obj, classes) if is_symbolic(obj) else bool(plain_call(isinstance, obj, classes))


def type_(*args: Any, **kwargs: Any) -> Any:
    """`type(x)`."""
    if len(args) != 1:
        access.forbid("class definition")
        return type(*args, **kwargs)
    if isinstance(args[0], Number):
        return args[0].kind
    if type(args[0]) is Text:
        return str
    if is_symbolic(args[0]) and observer.current() is not None and not isinstance(args[0], Outranking):
        refuse("the type of a symbolic value")
    kind = type(args[0])
    # Our stand-ins for Python numbers and numpy arrays say what they stand for.
    return args[0].__class__ if kind.__module__.startswith("autoimport.") else kind


def id_(x: Any, /) -> int:
    """`id(x)`."""
    if is_symbolic(x) and observer.current() is not None:
        refuse("the identity of a symbolic value")
    return int(plain_call(id, x))


def _world(name: str) -> Callable[..., Any]:
    """A builtin that acts on the world: never in a trace of ours."""
    fn = getattr(builtins, name)

    def operator(*args: Any, **kwargs: Any) -> Any:
        access.forbid(f"{name}()")
        return fn(*args, **kwargs)

    return operator


def _super(*args: Any) -> Any:
    return super(*args)


def frozenset_(iterable: Iterable[Any] = (), /) -> Any:
    """`frozenset(iterable)`."""
    return frozenset(iterate(iterable))


OPERATORS: dict[Any, Callable[..., Any]] = {
    len: len_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
    reversed: reversed_,
    map: map_,
    filter: filter_,
    iter: iter_,
    next: next_,
    list: list_,
    tuple: tuple_,
    set: set_,
    frozenset: frozenset_,
    dict: dict_,
    abs: abs_,
    divmod: divmod_,
    pow: pow_,
    round: round_,
    int: int_,
    float: float_,
    bool: bool_,
    print: print_,
    str: str_,
    repr: repr_,
    format: format_builtin,
    getattr: getattr_,
    hasattr: hasattr_,
    setattr: setattr_,
    delattr: delattr_,
    isinstance: isinstance_,
    type: type_,
    id: id_,
    sorted: sorting.sorted_,
    super: _super,
    min: folds.min_,
    max: folds.max_,
    sum: folds.sum_,
    any: folds.any_,
    all: folds.all_,
    functools.reduce: folds.reduce_,
    **{getattr(builtins, name): _world(name) for name in ("input", "open", "breakpoint", "__import__")},
}

# These take the items of a generator expression, `map` or `filter` from its description.
OF_STREAMS: frozenset[Any] = frozenset(
    {
        list,
        tuple,
        set,
        frozenset,
        sum,
        min,
        max,
        any,
        all,
        sorted,
        next,
        iter,
        map,
        filter,
        zip,
        enumerate,
        functools.reduce,
    }
)
