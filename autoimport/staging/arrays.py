"""Numpy arrays from outside a trace: host values like Python numbers, computed by numpy itself before each launch.

In: an array read from a source, and what the person's code does with it. Out: more lines of the check function
(`x_train[idx]`, `np.mean(a)`, `a.astype("float32")`), and an input of the graph where such an array meets a tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Outranking
from autoimport.operators.numpy_values import NumpyValue
from autoimport.staging import trust
from autoimport.staging.host import Host, Hosts

# Methods that compute something new and change nothing.
_METHODS = frozenset(
    {
        "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "copy", "cumprod", "cumsum", "diagonal", "dot",
        "flatten", "item", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round", "squeeze",
        "std", "sum", "swapaxes", "take", "tobytes", "tolist", "trace", "transpose", "var",
    }
)  # fmt: skip
# Of these, numpy warns about an empty array, and tells the line that called.
_WARN_IF_EMPTY = frozenset({"mean", "std", "var", "average", "median"})
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type, np.dtype)


class Array:
    """A numpy array or scalar that is known before each launch.

    Attributes:
      code: its name in the check function; value: what it is in the call that is traced; text: for messages.
    """

    __slots__ = ("_hosts", "code", "text", "value")
    # Makes numpy leave binary operators to us.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, hosts: Hosts, code: str, value: Any, text: str) -> None:
        self._hosts = hosts
        self.code = code
        self.value = value
        self.text = text

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # `isinstance(x, np.ndarray)` in the person's code answers as it does in eager.
        return type(self.value)

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        self._fixed("dtype")
        self._fixed("shape")
        return self._hosts.tensor(self, None if dtype is None else tf.as_dtype(dtype), tf.convert_to_tensor)

    def _fixed(self, name: str) -> Any:
        """The shape or dtype, on which the graph then depends."""
        value = getattr(self.value, name)
        constant = self._hosts.builder.constant(value)
        self._hosts.builder.require_that(
            f"{self.code}.{name} == {constant}", f"{self.text} was an array of {name} {value}"
        )
        return value

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the array; the graph depends on it."""
        shape: tuple[int, ...] = self._fixed("shape")
        return shape

    @property
    def dtype(self) -> Any:
        """As of the array; the graph depends on it."""
        return self._fixed("dtype")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of items."""
        self._fixed("shape")
        return int(self.value.size)

    @property
    def T(self) -> Any:
        """The array transposed."""
        return compute(self._hosts, _transposed, (self,), {})

    def __len__(self) -> int:
        return self.shape[0] if self.ndim else len(self.value)

    def __getitem__(self, key: Any) -> Any:
        return compute(self._hosts, operator.getitem, (self, key), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _METHODS and hasattr(self.value, name):
            return Method(self, name)
        raise Unstageable(f"reads .{name} of a numpy array", "do it outside the function")

    def __bool__(self) -> bool:
        truth = bool(self.value)
        test = self.code if truth else f"not {self.code}"
        self._hosts.builder.require_that(test, f"a condition on {self.text} was {truth}")
        return truth

    def __iter__(self) -> Any:
        return iter([self[index] for index in range(len(self))])

    def _settled(self, *_args: Any) -> Any:
        raise Unstageable(f"needs the values of {self.text}, a numpy array", "do it outside the function")

    __setitem__ = __contains__ = __int__ = __float__ = __index__ = __array__ = _settled
    __str__ = __repr__ = __format__ = _settled


class Method:
    """A method of an array, to be called before the launch."""

    def __init__(self, array: Array, name: str) -> None:
        self._array = array
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self._name
        return compute(self._array._hosts, operator.methodcaller, (), {}, method=(self._array, name, args, kwargs))


def _transposed(array: Any) -> Any:
    return array.T


def is_known(value: Any) -> bool:
    """Whether Python knows a value before the launch."""
    if type(value) in {Array, Host} or isinstance(value, _CONSTANTS):
        return True
    if type(value) in {list, tuple}:
        return all(is_known(item) for item in value)
    if type(value) is slice:
        return is_known((value.start, value.stop, value.step))
    return False


def involves_host(values: Any) -> bool:
    """Whether an array or host value is among arguments."""
    if type(values) in {list, tuple}:
        return any(involves_host(value) for value in values)
    return type(values) in {Array, Host}


def is_numpy_function(fn: Any) -> bool:
    """Whether `fn` is a function of numpy's that only computes."""
    module = "numpy" if isinstance(fn, np.ufunc) else getattr(fn, "__module__", None)
    return trust.root(module) == "numpy" and trust.objection(fn) is None


def compute(
    hosts: Hosts,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    method: tuple[Array, str, tuple[Any, ...], Mapping[str, Any]] | None = None,
) -> Any:
    """`fn(*args, **kwargs)`, or a method, now and before each launch.

    Raises:
      Unstageable: an argument is not known before the launch.
    """
    if method is not None:
        owner, name, args, kwargs = method
    if not is_known(args) or not is_known(tuple(kwargs.values())) or "out" in kwargs:
        raise Unstageable("computes with a numpy array and a tensor in Python", "do it in TensorFlow")
    operands = args if method is None else (owner, *args)
    _require_silence(hosts, getattr(fn, "__name__", "") if method is None else name, operands, kwargs)
    now, names = [_value(arg) for arg in args], {key: _value(arg) for key, arg in kwargs.items()}
    texts = [_code(hosts, arg) for arg in args] + [f"{key}={_code(hosts, arg)}" for key, arg in kwargs.items()]
    try:
        with warnings_as_errors():
            value = fn(*now, **names) if method is None else getattr(_value(owner), name)(*now, **names)
    except Exception as error:
        # Or the person's handler would be taken in the graph, whatever the next array is.
        raise Unstageable(f"computes with a numpy array, and numpy says: {type(error).__name__}: {error}") from None
    hosts.builder.within = hosts.builder.constant(warnings_as_errors)
    if method is not None:
        code, text = f"{owner.code}.{name}({', '.join(texts)})", owner.text
    else:
        code = f"{hosts.builder.constant(fn)}({', '.join(texts)})"
        text = next((arg.text for arg in args if type(arg) in {Array, Host}), "an array")
    return made(hosts, hosts.builder.compute(code), value, text)


def warnings_as_errors() -> Any:
    """A context in which numpy raises what it would warn about, since the warning would tell our line: eager warns."""
    return np.errstate(**{kind: "raise" for kind, how in np.geterr().items() if how != "ignore"})  # type: ignore[arg-type]


def _require_silence(hosts: Hosts, name: str, operands: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Guard against the warnings that are no floating-point errors."""
    arrays = [arg for arg in operands if type(arg) is Array]
    if name in _WARN_IF_EMPTY:
        for array in arrays:
            hosts.builder.require_that(f"{array.code}.size", f"{array.text} was not empty")
    if name in ("int", "float"):
        for array in arrays:
            array._fixed("shape")
    if name == "astype":
        for array in arrays:
            array._fixed("dtype")
    require_no_warning(name, [_value(arg) for arg in operands], kwargs)


def require_no_warning(name: str, operands: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Give up before numpy warns about what is no floating-point error.

    Args:
      name: of a function of numpy's, or of a method.
      operands: what it gets, with the object of the method; kwargs: by name.
    """
    arrays = [value for value in operands if isinstance(value, (np.ndarray, np.generic))]
    is_dubious = (
        (name in _WARN_IF_EMPTY and ("ddof" in kwargs or len(operands) > 4 or any(not a.size for a in arrays)))
        or (name in ("int", "float") and any(a.ndim for a in arrays))
        or (name == "astype" and any(a.dtype.kind == "c" for a in arrays))
    )
    if is_dubious:
        raise Unstageable(f"calls {name}() with a numpy array that it may warn about")


def made(hosts: Hosts, code: str, value: Any, text: str) -> Any:
    """What a computation before the launch gave: `value` now, `code` in the check function."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Array(hosts, code, value, text)
    if type(value) in {bool, int, float}:
        kind = hosts.builder.constant(type(value))
        hosts.builder.require_that(f"{code}.__class__ is {kind}", f"{text} gave a {type(value).__name__}")
        return Host(hosts, code, value, text)
    if type(value) in {list, tuple}:
        hosts.builder.require_that(f"len({code}) == {len(value)}", f"{text} gave {len(value)} items")
        return type(value)(made(hosts, f"{code}[{index}]", item, text) for index, item in enumerate(value))
    if isinstance(value, _CONSTANTS):
        hosts.builder.require_that(f"{code} == {hosts.builder.constant(value)}", f"{text} gave {value!r}"[:100])
        return value
    raise Unstageable(f"makes a {type(value).__name__} of a numpy array")


def vector(hosts: Hosts, items: list[Any] | tuple[Any, ...], dtype: Any) -> Any:
    """The input for numbers and arrays of which some are known before each launch only: what TensorFlow makes of it."""
    for leaf in tf.nest.flatten(items):
        if type(leaf) is Array:
            leaf._fixed("dtype")
            leaf._fixed("shape")
    return hosts.converted(_code(hosts, items), _value(items), dtype)


def _value(arg: Any) -> Any:
    """The value of an argument in the call that is traced; an array so that nothing can change it."""
    if type(arg) is Host:
        return arg.value
    if type(arg) is Array:
        if not isinstance(arg.value, np.ndarray):
            return arg.value
        view = arg.value.view()
        view.flags.writeable = False
        return view
    if type(arg) in {list, tuple}:
        return type(arg)(_value(item) for item in arg)
    if type(arg) is slice:
        return slice(_value(arg.start), _value(arg.stop), _value(arg.step))
    return arg


def _code(hosts: Hosts, arg: Any) -> str:
    if type(arg) in {Array, Host}:
        return str(arg.code)
    if type(arg) is tuple:
        return "(" + "".join(_code(hosts, item) + ", " for item in arg) + ")"
    if type(arg) is list:
        return "[" + ", ".join(_code(hosts, item) for item in arg) + "]"
    if type(arg) is slice:
        return f"slice({_code(hosts, arg.start)}, {_code(hosts, arg.stop)}, {_code(hosts, arg.step)})"
    return hosts.builder.constant(arg)


def _binary(name: str) -> None:
    fn: Any = getattr(operator, name, None) or getattr(operator, name + "_")

    def forward(self: Array, other: Any) -> Any:
        if isinstance(other, Outranking):
            return NotImplemented
        if isinstance(other, (tf.Tensor, tf.Variable)):
            return fn(tf.convert_to_tensor(self, other.dtype), other)
        return compute(self._hosts, fn, (self, other), {})

    def backward(self: Array, other: Any) -> Any:
        if isinstance(other, (tf.Tensor, tf.Variable)):
            return fn(other, tf.convert_to_tensor(self, other.dtype))
        return compute(self._hosts, fn, (other, self), {})

    setattr(Array, f"__{name}__", forward)
    if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Array, f"__r{name}__", backward)


for _name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
    "lt", "le", "gt", "ge", "eq", "ne",
):  # fmt: skip
    _binary(_name)


def _unary(name: str) -> None:
    fn: Any = getattr(operator, name)
    setattr(Array, f"__{name}__", lambda self: compute(self._hosts, fn, (self,), {}))


for _name in ("neg", "pos", "abs", "invert"):
    _unary(_name)


def as_tensors(value: Any) -> Any:
    """`value` with each Array in it replaced by a tensor, as TensorFlow would convert the numpy array."""
    if type(value) is Array:
        return value.__tf_tensor__()
    if type(value) is NumpyValue:
        return value.tensor
    if type(value) in {list, tuple}:
        return type(value)(as_tensors(item) for item in value)
    if type(value) is dict:
        return {key: as_tensors(item) for key, item in value.items()}
    return value
