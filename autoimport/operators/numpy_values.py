"""`.numpy()` of a tensor in a trace of ours -> a `NumpyValue`, which is numpy's from the launch on.

In: a tensor whose values the launch will give, and numpy's arithmetic on it. Out: the same computed by TensorFlow, with
numpy's dtypes, wherever no bit can differ; a result is a numpy scalar or array again. Where numpy would warn, which
tells the person's line, a check sends the call back to eager; what else numpy can do is done after the launch (a
`Later`), and may only be shown, stored or returned.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from autoimport.operators import symbolic
from autoimport.operators.checks import fail_if, refuse
from autoimport.operators.numbers import DTYPES, Known, Number, Outranking

# Methods of arrays, and functions, that make something new of ordinary numbers and never warn about them.
METHODS = frozenset(
    {
        "all", "any", "argmax", "argmin", "argsort", "copy", "cumsum", "flatten", "item", "max", "mean", "min",
        "round", "std", "sum", "tobytes", "tolist", "trace", "var", "decode",
    }
)  # fmt: skip
# Those of them that hand on the numbers as they are.
_COPIES = frozenset({"copy", "flatten", "tobytes", "tolist"})
FUNCTIONS: frozenset[Any] = frozenset(
    {
        np.abs, np.all, np.amax, np.amin, np.any, np.argmax, np.argmin, np.argsort, np.around, np.array, np.ceil,
        np.concatenate, np.cumsum, np.floor, np.isfinite, np.isnan, np.max, np.mean, np.median, np.min, np.round,
        np.sign, np.sort, np.stack, np.std, np.sum, np.var,
    }
)  # fmt: skip
# Of these the result depends on the sum of squares, so the numbers have to be this small.
_ORDINARY = {tf.float32: 2.0**50, tf.float64: 2.0**450}
_NOT_SHOWN = "only print, store or return it"


@symbolic.register
class NumpyValue(Outranking):
    """A numpy scalar or array with the values of a tensor.

    Attributes:
      tensor: its values; no gradient flows through it.
    """

    __slots__ = ("tensor",)
    __array_ufunc__ = None  # numpy leaves operators to us

    def __init__(self, tensor: Any) -> None:
        self.tensor = tf.stop_gradient(tensor) if tensor.dtype.is_floating else tensor

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._example())

    def _example(self) -> Any:
        """An array or scalar of this type."""
        if self.tensor.dtype == tf.string:
            return b"" if self.tensor.shape.rank == 0 else np.array([b""], object)
        example = np.zeros([size or 1 for size in self.tensor.shape], self.tensor.dtype.as_numpy_dtype)
        return example[()]

    @property
    def dtype(self) -> Any:
        """As of the array."""
        return self._example().dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the array, where it is known."""
        shape = self.tensor.shape
        if not shape.is_fully_defined():
            refuse("reads the shape of a numpy array that depends on values")
        return tuple(shape.as_list())

    @property
    def size(self) -> int:
        """The number of items."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return len(np.empty(self.shape))

    def __getattr__(self, name: str) -> Any:
        if name in METHODS and hasattr(self._example(), name):
            return NumpyMethod(self, name)
        if name.startswith("__") or not hasattr(self._example(), name):
            raise AttributeError(f"{type(self._example()).__name__!r} object has no attribute {name!r}")
        refuse(f"reads .{name} of a numpy value that only the graph knows")

    def __getitem__(self, key: Any) -> Any:
        place = key if type(key) is tuple else (key,)
        if any(type(part) is not int for part in place) or len(place) != self.ndim:
            refuse("takes a part of a numpy array that only the graph knows", "take it of the tensor")
        for part, size in zip(place, self.shape, strict=True):
            range(size)[part]
        return NumpyValue(self.tensor[key])

    def __iter__(self) -> Any:
        return iter([self[index] for index in range(len(self))])

    def __round__(self, digits: Any = None) -> Any:
        return Later.of(round, (self,) if digits is None else (self, digits), {})

    def __neg__(self) -> NumpyValue:
        if self.tensor.dtype not in _ORDINARY:
            refuse(f"computes with {self.tensor.dtype.name} numbers of numpy")
        return NumpyValue(-self.tensor)

    def can_be_changed(self) -> bool:
        """Whether the program could change it after the launch, and all who hold it would see that."""
        return _is_changeable(self._example())

    def scalar(self) -> Any:
        """Its tensor, where a Python number can be made of it."""
        if self.tensor.shape.rank != 0 or not (self.tensor.dtype in _ORDINARY or self.tensor.dtype.is_integer):
            refuse("makes a Python number of a numpy array that only the graph knows")
        return self.tensor

    def _values_needed(self, *_: Any) -> NoReturn:
        refuse("needs the values of a numpy array that only the graph knows", _NOT_SHOWN)

    __setitem__ = __delitem__ = __contains__ = __index__ = __array__ = _values_needed
    __str__ = __repr__ = __format__ = __bool__ = __int__ = __float__ = __hash__ = _values_needed


class NumpyMethod:
    """A method of a `NumpyValue` or `Later`; `numpy` itself, of a tensor or variable."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner = self.owner
        if self.name == "numpy":
            tensor = tf.convert_to_tensor(owner)
            if tensor.shape.rank is None:
                refuse("makes a numpy array of a tensor whose rank depends on its values")
            return NumpyValue(tensor)
        if self.name in ("item", "tolist") and not args and type(owner) is NumpyValue and _is_number(owner.tensor):
            return python_number(owner)
        return Later.of(_method, (owner, self.name, *args), kwargs, computes=self.name not in _COPIES)


def _is_number(tensor: Any) -> bool:
    return bool(
        tensor.shape.rank == 0 and (tensor.dtype in _ORDINARY or tensor.dtype.is_integer or tensor.dtype.is_bool)
    )


def python_number(value: NumpyValue) -> Number:
    """`value.item()`."""
    from autoimport.operators.conversions import to_bool, to_float, to_int

    dtype = value.tensor.dtype
    return (to_bool if dtype.is_bool else to_float if dtype.is_floating else to_int)(value.tensor)


def _method(owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(owner, name)(*args, **kwargs)


@symbolic.register
class Later(Outranking):
    """What a pure function makes of numpy values after the launch: `fn(*args)`.

    Attributes:
      example: what it makes of other numbers of the same types.
    """

    __slots__ = ("args", "example", "fn")
    __array_ufunc__ = None

    def __init__(self, fn: Callable[..., Any], args: Iterable[Any], example: Any) -> None:
        self.fn = fn
        self.args = tuple(args)
        self.example = example

    @classmethod
    def of(
        cls, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], *, computes: bool = True
    ) -> Later:
        """`fn(*args, **kwargs)`; if it computes, over ordinary numbers: others go back to eager."""
        if computes:
            require_ordinary(args)
        call = _Call(fn, len(args), tuple(kwargs))
        values = (*args, *kwargs.values())
        return cls(call, map(_snapshot, values), call(*map(_example, values)))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.example)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS and isinstance(self.example, (np.ndarray, np.generic)):
            return NumpyMethod(self, name)
        if name.startswith("__") or not hasattr(self.example, name):
            raise AttributeError(f"{type(self.example).__name__!r} object has no attribute {name!r}")
        self._value_needed()

    def __round__(self, digits: Any = None) -> Any:
        return Later.of(round, (self,) if digits is None else (self, digits), {})

    def can_be_changed(self) -> bool:
        """As of a `NumpyValue`."""
        return _is_changeable(self.example)

    def _value_needed(self, *_: Any) -> NoReturn:
        refuse(f"needs the {type(self.example).__name__} that numpy makes after the launch", _NOT_SHOWN)

    __setitem__ = __delitem__ = __contains__ = __index__ = __array__ = _value_needed
    __str__ = __repr__ = __format__ = __bool__ = __int__ = __float__ = __len__ = __iter__ = __hash__ = _value_needed
    __getitem__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _value_needed
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _value_needed
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _value_needed
    __matmul__ = __rmatmul__ = __tf_tensor__ = _value_needed


@dataclass(frozen=True)
class _Call:
    """`fn` with the last arguments by name."""

    fn: Callable[..., Any]
    positional: int
    names: tuple[str, ...]

    def __call__(self, *args: Any) -> Any:
        named = dict(zip(self.names, args[self.positional :], strict=True))
        return self.fn(*args[: self.positional], **named)


def _is_changeable(example: Any) -> bool:
    if isinstance(example, tuple):
        return any(map(_is_changeable, example))
    return not isinstance(example, (*_PLAIN, bytes, np.generic))


def _snapshot(value: Any) -> Any:
    """A list as it is now."""
    return type(value)(map(_snapshot, value)) if type(value) in {list, tuple} else value


def _example(value: Any) -> Any:
    if type(value) in {list, tuple}:
        return type(value)(map(_example, value))
    if type(value) is Later:
        return value.example
    if type(value) is NumpyValue:
        return value._example()
    if type(value) is Number:
        return value.kind(0)
    if type(value) in _PLAIN:
        return value
    refuse(f"computes with a numpy value and a {type(value).__name__} that only the graph knows")


_PLAIN = (bool, int, float, str, type(None), type)


def involved(values: Any) -> bool:
    """Whether a numpy value that only the graph knows is among arguments."""
    if type(values) in {list, tuple}:
        return any(map(involved, values))
    return type(values) in {NumpyValue, Later}


def of_tensors(value: Any) -> Any:
    """What numpy makes of a tensor that only the graph knows, or of such tensors in a list or tuple."""
    if type(value) in {list, tuple}:
        return type(value)(map(of_tensors, value))
    is_tensor = isinstance(value, (tf.Tensor, tf.Variable)) and symbolic.is_symbolic(value)
    return NumpyMethod(value, "numpy")() if is_tensor else value


def require_own_types(values: list[Any] | tuple[Any, ...]) -> None:
    """Give up where TensorFlow makes one tensor of numbers, and numpy's among them would get another type there."""
    numbers = [value for value in values if type(value) is NumpyValue]
    if not numbers or not all(type(value) is NumpyValue or type(value) in DTYPES for value in values):
        return
    with tf.init_scope():
        dtype = tf.convert_to_tensor(list(map(_example, values))).dtype
    if any(value.tensor.dtype != dtype for value in numbers):
        refuse(f"makes {dtype.name} numbers of numpy's in a list, as its other numbers are", "stack tensors")


def require_ordinary(values: Any) -> None:
    """Send the call back to eager where numpy might warn about numbers, or raise."""
    if type(values) in {list, tuple}:
        for value in values:
            require_ordinary(value)
    elif type(values) is NumpyValue:
        tensor = values.tensor
        if tensor.dtype in _ORDINARY:
            limit = tf.constant(_ORDINARY[tensor.dtype], tensor.dtype)
            is_ordinary = tf.reduce_all(tf.abs(tensor) < limit)
            fail_if(tf.equal(is_ordinary, False), "numpy meets a number that it may warn about", tensor)
            if not tensor.shape.is_fully_defined():
                fail_if(tf.equal(tf.size(tensor), 0), "numpy meets an empty array", tensor)
            elif 0 in tensor.shape.as_list():
                refuse("numpy meets an empty array")
        elif not (tensor.dtype.is_bool or tensor.dtype.is_integer or tensor.dtype == tf.string):
            refuse(f"computes with {tensor.dtype.name} numbers of numpy")


# Arithmetic and comparisons: numpy's dtypes, and the same bits.

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": tf.less, "le": tf.less_equal, "gt": tf.greater, "ge": tf.greater_equal, "eq": tf.equal, "ne": tf.not_equal,
}  # fmt: skip


def _apply(name: str, value: NumpyValue, other: Any, reflected: bool) -> Any:
    if isinstance(other, (tf.Tensor, tf.Variable)):
        return NotImplemented  # TensorFlow's own operators take both
    if type(other) is Later:
        return other._value_needed()
    operands = _operands(value, other, divides=name == "truediv")
    x, y = reversed(operands) if reflected else operands
    if name in _COMPARISONS:
        return NumpyValue(_COMPARISONS[name](x, y))
    if x.dtype not in _ORDINARY and not (name in ("add", "sub") and x.dtype in (tf.int32, tf.int64)):
        refuse(f"computes with {x.dtype.name} numbers of numpy")
    result = _ARITHMETIC[name](x, y)
    if x.dtype.is_integer:
        if result.shape.rank == 0:
            # The signs tell: the sum of two numbers of one sign has that sign.
            z = y if name == "add" else tf.bitwise.invert(y)
            overflow = tf.bitwise.bitwise_and(tf.bitwise.bitwise_xor(x, result), tf.bitwise.bitwise_xor(z, result)) < 0
            fail_if(overflow, "an integer of numpy overflows", result)
    else:
        is_finite = tf.reduce_all(tf.math.is_finite(result))
        fail_if(tf.equal(is_finite, False), "numpy meets a number that it may warn about", result)
    return NumpyValue(result)


def _operands(value: NumpyValue, other: Any, divides: bool) -> tuple[Any, Any]:
    """Both sides as tensors of the dtype in which numpy (from 2.0 on) computes with them."""
    mine = value.tensor.dtype.as_numpy_dtype
    if type(other) is NumpyValue:
        theirs, given = other.tensor.dtype.as_numpy_dtype, other.tensor
    elif isinstance(other, Known) or type(other) is Number or type(other) in DTYPES:
        given = other.number() if isinstance(other, Known) else other
        kind = given.kind if type(given) is Number else type(given)
        theirs = np.bool_ if kind is bool else kind(0)
        if kind is int and value.tensor.dtype.is_integer and type(given) is Number:
            given = _fitting(given, value.tensor.dtype)
    elif isinstance(other, (np.generic, np.ndarray)):
        given = tf.convert_to_tensor(other)
        theirs = given.dtype.as_numpy_dtype
    else:
        refuse(f"computes with a numpy value and a {type(other).__name__}")
    dtype = tf.as_dtype(np.result_type(mine, theirs))
    if divides and dtype.is_integer:
        dtype = tf.float64
    if dtype not in _ORDINARY and not dtype.is_integer and not dtype.is_bool:
        refuse(f"computes with {dtype.name} numbers of numpy")
    if type(given) is Number:
        given = given.cast(dtype)
    return tf.cast(value.tensor, dtype), tf.cast(given, dtype) if tf.is_tensor(given) else tf.constant(given, dtype)


def _fitting(number: Number, dtype: Any) -> Any:
    """A Python int for integers of numpy, which raise where it does not fit."""
    tensor = tf.cast(number.int64(), dtype)
    fail_if(tf.not_equal(tf.cast(tensor, tf.int64), number.int64()), "an int does not fit numpy's type", tensor)
    return tensor


def _define_operators() -> None:
    def method(name: str, reflected: bool) -> Callable[[NumpyValue, Any], Any]:
        return lambda self, other: _apply(name, self, other, reflected)

    for name in (*_ARITHMETIC, *_COMPARISONS):
        setattr(NumpyValue, f"__{name}__", method(name, False))
    for name in _ARITHMETIC:
        setattr(NumpyValue, f"__r{name}__", method(name, True))


_define_operators()


def _to_tensor(value: NumpyValue, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if dtype is not None and dtype != value.tensor.dtype:
        refuse("hands a numpy value to TensorFlow as another type")
    return value.tensor


tf.register_tensor_conversion_function(NumpyValue, _to_tensor, 0)
