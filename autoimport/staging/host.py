"""Host values: Python numbers that change from call to call, computed by Python itself before each launch.

In: a number read from a source whose guard has failed before, and what the person's code does with it. Out: more lines
of the check function, with Python's own arithmetic (so its digits are Python's), and inputs of the graph where such a
number meets a tensor. Asking for its truth guards the outcome, asking for the number itself guards the number.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Known, Number
from autoimport.staging import tf_internals
from autoimport.staging.sources import GuardBuilder, Source

# Functions that Python may apply to host values before the launch.
PURE: frozenset[Any] = frozenset(
    {abs, round, int, float, bool, divmod, pow, min, max, operator.index}
    | {fn for name, fn in vars(math).items() if callable(fn) and not name.startswith("_")}
)


_FAR = 2**52


class Hosts:
    """The host values of one trace: makes them, and gives them to the graph.

    Args:
      builder: the check function under construction.
      add_input: makes a placeholder of a dtype and shape for an expression of the check function.
    """

    def __init__(self, builder: GuardBuilder, add_input: Callable[[Any, Any, str], Any]) -> None:
        self.builder = builder
        self._add_input = add_input
        self._inputs: dict[tuple[str, Any], Any] = {}

    def read(self, value: Any, source: Source) -> Host:
        """The number at `source`, which is `value` in the call that is traced."""
        self.builder.require(
            source, f"{{v}}.__class__ is {self.builder.constant(type(value))}", f"was a {type(value).__name__}"
        )
        return Host(self, self.builder.value(source), value, source.text)

    def apply(self, fn: Callable[..., Any], template: str, *operands: Any) -> Any:
        """`fn(*operands)`, now and, by `template`, before each launch."""
        try:
            value = fn(*(operand.value if isinstance(operand, Host) else operand for operand in operands))
        except Exception as error:
            # Or the person's handler would be taken in the graph, whatever the next number is.
            raise Unstageable(f"computes with a number, and Python says: {type(error).__name__}: {error}") from None
        texts = [self.code(operand) for operand in operands]
        if value is NotImplemented:
            return value
        names = [operand.text for operand in operands if isinstance(operand, Host)]
        return Host(self, self.builder.compute(template.format(*texts)), value, names[0])

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """`fn(*args)` for one of `PURE`."""
        holes = ", ".join(f"{{{index}}}" for index in range(len(args)))
        result = self.apply(fn, f"{self.builder.constant(fn)}({holes})", *args)
        if isinstance(result.value, tuple):
            return tuple(
                Host(self, self.builder.compute(f"{result.code}[{i}]"), item, result.text)
                for i, item in enumerate(result.value)
            )
        return result

    def code(self, operand: Any) -> str:
        """An operand in the check function's words."""
        if isinstance(operand, Host):
            return operand.code
        return self.builder.constant(operand)

    def tensor(self, host: Any, dtype: Any, convert: Callable[..., Any] = tf.constant) -> Any:
        """The input by which the graph gets a host value, converted before each launch as TensorFlow converts it."""
        return self.converted(host.code, host.value, dtype, convert)

    def converted(self, code: str, value: Any, dtype: Any, convert: Callable[..., Any] = tf.constant) -> Any:
        """The input for what `code` computes before each launch, `value` now."""
        found = self._inputs.get((code, dtype))
        if found is None:
            with tf.init_scope():
                example = convert(value, dtype)
            make = self.builder.constant(tf_internals.eager_tensor)
            expression = f"{make}({code}, {self.builder.constant(example.dtype)})"
            found = self._inputs[code, dtype] = self._add_input(example.dtype, example.shape, expression)
        return found

    def settle(self, host: Host) -> Any:
        """The number itself: from now on the graph holds for this number only."""
        value = host.value
        test = f"repr({host.code}) == {repr(value)!r}" if isinstance(value, float) else f"{host.code} == {value!r}"
        self.builder.require_that(test, f"{host.text} was {value!r}")
        return value


class Host(Known):
    """A Python number known before each launch.

    Attributes:
      code: its name in the check function; value: what it is in the call that is traced; text: for messages.
    """

    __slots__ = ("_hosts", "_number", "code", "text", "value")
    __array_ufunc__ = None

    def __init__(self, hosts: Hosts, code: str, value: Any, text: str) -> None:
        self._hosts = hosts
        self._number: Number | None = None
        self.code = code
        self.value = value
        self.text = text

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.value)

    def number(self) -> Number:
        if self._number is None:
            kind = type(self.value)
            dtype = {bool: tf.bool, int: tf.int64, float: tf.float64}[kind]
            bounds: tuple[int, ...] = ()
            if kind is int and abs(self.value) <= _FAR:
                # Known before the launch to lie within these bounds, its sums need no check in the graph.
                self._hosts.builder.require_that(f"-{_FAR} <= {self.code} <= {_FAR}", f"{self.text} was smaller")
                bounds = (-_FAR, _FAR)
            self._number = Number(kind, self._hosts.tensor(self, dtype), *bounds)
        return self._number

    def settled(self) -> Any:
        return self._hosts.settle(self)

    def __bool__(self) -> bool:
        truth = bool(self.value)
        test = self.code if truth else f"not {self.code}"
        self._hosts.builder.require_that(test, f"a condition on {self.text} was {truth}")
        return truth

    def __index__(self) -> int:
        return operator.index(self.settled())

    def __int__(self) -> int:
        return int(self.settled())

    def __float__(self) -> float:
        return float(self.settled())

    def __hash__(self) -> int:
        return hash(self.settled())

    def __str__(self) -> str:
        return str(self.settled())

    def __repr__(self) -> str:
        return repr(self.settled())

    def __format__(self, spec: str) -> str:
        return format(self.settled(), spec)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        with tf.init_scope():
            return tf.constant(self.settled()).numpy().__array__(*args, **kwargs)

    def __round__(self, digits: Any = None) -> Any:
        return self._hosts.call(round, (self,) if digits is None else (self, digits))

    def __divmod__(self, other: Any) -> Any:
        return self._hosts.call(divmod, (self, other))

    def __getattr__(self, name: str) -> Any:
        if name == "dtype" and tf_internals.is_in_keras_backend(sys._getframe(1)):
            return type(self.value)  # as for a Python number, which has none
        if name.startswith("_") or not hasattr(type(self.value), name):
            raise AttributeError(f"{type(self.value).__name__!r} object has no attribute {name!r}")
        return getattr(self.settled(), name)


_SCALARS = (bool, int, float)


def _binary(name: str, symbol: str) -> None:
    fn: Any = getattr(operator, name, None) or getattr(operator, name + "_")

    def forward(self: Host, other: Any) -> Any:
        if type(other) is Host or type(other) in _SCALARS:
            return self._hosts.apply(fn, f"({{0}} {symbol} {{1}})", self, other)
        return fn(self.number(), other) if isinstance(other, Number) else NotImplemented

    def backward(self: Host, other: Any) -> Any:
        if type(other) in _SCALARS:
            return self._hosts.apply(fn, f"({{0}} {symbol} {{1}})", other, self)
        return fn(other, self.number()) if isinstance(other, Number) else NotImplemented

    setattr(Host, f"__{name}__", forward)
    if symbol not in ("<", "<=", ">", ">=", "==", "!="):
        setattr(Host, f"__r{name}__", backward)


for _name, _symbol in (
    ("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%"), ("pow", "**"),
    ("lshift", "<<"), ("rshift", ">>"), ("and", "&"), ("or", "|"), ("xor", "^"),
    ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!="),
):  # fmt: skip
    _binary(_name, _symbol)


def _unary(name: str, template: str) -> None:
    fn: Any = getattr(operator, name)
    setattr(Host, f"__{name}__", lambda self: self._hosts.apply(fn, template, self))


for _name, _template in (("neg", "(-{0})"), ("pos", "(+{0})"), ("invert", "(~{0})"), ("abs", "abs({0})")):
    _unary(_name, _template)


def _to_tensor(host: Host, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return host._hosts.tensor(host, dtype)


tf.register_tensor_conversion_function(Host, _to_tensor, 0)
