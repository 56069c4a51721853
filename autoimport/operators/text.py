"""Text of values that a graph under construction does not know yet -> a `Text`: a call that is made after each launch.

In: formatting, string methods and `print`, over tensors, Numbers and whatever else has no text while a trace of ours
builds its graph. Out: a tree of pure calls over such values, each caught as it is at this point of the program, which
staging evaluates with the values of a launch; or a plain `str` at once where nothing in it is unknown.
"""

from __future__ import annotations

import collections
import enum
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import access, heap, observer
from autoimport.operators.checks import refuse
from autoimport.operators.either import Either
from autoimport.operators.lists import TensorList, stand_in
from autoimport.operators.numbers import Known, Number, Outranking
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone

PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented)})
# Values of a graph that are shown as their eager twins are, once their tensors are known.
_TENSORS = (Number, tf.Tensor, tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)
_FIXED = (tf.DType, tf.TensorShape, tf.TypeSpec)
# Methods of `str` whose result is a string.
METHODS = frozenset(
    {
        "capitalize", "casefold", "center", "expandtabs", "format", "format_map", "join", "ljust", "lower", "lstrip",
        "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate",
        "upper", "zfill",
    }
)  # fmt: skip


class Text:
    """A string that is `fn(*args)` once the graph has run.

    It can be joined, repeated, formatted, sliced and shown; whatever needs the string itself gives the trace up.
    """

    __slots__ = ("args", "fn")

    def __init__(self, fn: Callable[..., Any], args: Iterable[Any]) -> None:
        self.fn = fn
        self.args = tuple(args)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return str  # for `isinstance(message, str)` in the person's code

    def __add__(self, other: Any) -> Any:
        return later(_add, self, other)

    def __radd__(self, other: Any) -> Any:
        return later(_add, other, self)

    def __mul__(self, count: Any) -> Any:
        return later(_repeat, self, count)

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> Any:
        return percent(self, values)

    def __getitem__(self, key: Any) -> Any:
        parts = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
        return later(_item, self, *parts)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return TextMethod(self, name)
        if hasattr(str, name):
            _needed()
        raise AttributeError(f"'str' object has no attribute {name!r}")

    def __str__(self) -> str:
        if observer.current() is None:
            return "<a text that only the graph knows>"  # where a given up trace is reported
        _needed()

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def _needed(self, *_: Any) -> NoReturn:
        _needed()

    __bool__ = __len__ = __iter__ = __contains__ = __int__ = __float__ = __index__ = __hash__ = _needed
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _needed


class TextMethod:
    """A method of a `Text`, or of a string that may get unknown arguments."""

    __slots__ = ("name", "text")

    def __init__(self, text: Any, name: str) -> None:
        self.text = text
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.name == "join" and len(args) == 1:
            args = (list(access.iterate(args[0])),)
        return later(_method, self.text, self.name, tuple(kwargs), *args, *kwargs.values())


class Verbatim:
    """An object whose text is known before its value is needed."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _needed() -> NoReturn:
    refuse("a text made of symbolic values is needed while the graph is built", "only print, store or return it")


def whichever(x: str | None, y: str | None) -> str | None:
    """The one of two strings that a condition has chosen."""
    return y if x is None else x


# Conditions that choose are nested deeper than this only by a loop, which adds some each time it is built.
_DEEPEST_CHOICE = 3


def each(text: Any, use: Callable[[str], Any], depth: int = 0) -> Any:
    """`use` of a string; of each of several that conditions choose from, in branches on these."""
    if type(text) is not Text:
        return use(text)
    first, second = text.args if text.fn is whichever else (None, None)
    if not (isinstance(first, MaybeNone) and isinstance(second, MaybeNone)) or depth == _DEEPEST_CHOICE:
        _needed()
    from autoimport.operators.conditionals import if_exp  # which knows of this class, to join what branches end with

    return if_exp(first.present, lambda: each(first.value, use, depth + 1), lambda: each(second.value, use, depth + 1))


def equal(x: Any, y: Any) -> Any:
    """`x == y`, one of which is a `Text`."""
    text, other = (x, y) if type(x) is Text else (y, x)
    if type(other) is not str:
        return False if type(other) in PLAIN else _needed()
    return each(text, lambda string: string == other)


def later(fn: Callable[..., Any], *args: Any, how: Callable[[Any], str] | None = None) -> Any:
    """`fn(*args)`, a pure function that makes a string: now, or as a `Text` where an argument is not known yet.

    Args:
      how: which text `fn` takes of an argument: `str` or `repr`; None where that depends.
    """
    if observer.current() is None:
        return fn(*args)
    caught = [catch(arg, how) for arg in args]
    if not any(is_unknown(arg) for arg in caught):
        return fn(*caught)
    if any(type(arg) in {bytes, bytearray} for arg in caught[:1]):
        refuse("bytes made of symbolic values are needed while the graph is built")
    return Text(fn, caught)


def is_unknown(caught: Any) -> bool:
    """Whether something that was caught has no text before the graph has run."""
    cls = type(caught)
    if cls in PLAIN:
        return False
    if cls is dict:
        return any(map(is_unknown, caught.values()))
    if isinstance(caught, (list, tuple)) and cls is not Text:
        return any(map(is_unknown, caught))
    return cls is not Verbatim and not isinstance(caught, (*_FIXED, type))


def catch(x: Any, how: Callable[[Any], str] | None = str) -> Any:
    """`x` as it is now, for a text made later: containers are copied, variables are read.

    Raises:
      Unstageable: its text depends on more than the trace can see.
    """
    cls: Any = type(x)
    if cls in PLAIN or cls is Text or cls is Verbatim or isinstance(x, (Known, Outranking)):
        return x
    if cls is list:
        x = stand_in(x)
    if isinstance(x, Either):
        return Either(x.name, catch(x.value, how), catch(x.other, how), x.present)
    if isinstance(x, MaybeNone):
        return MaybeNone(x.name, catch(x.value, how), x.present)
    if isinstance(x, tf.Variable):
        return _variable(x)
    if is_symbolic(x):
        if not isinstance(x, (*_TENSORS, TensorList)):
            refuse(f"the text of a {cls.__name__} is needed while the graph is built")
        return x
    if isinstance(x, _FIXED) or cls is type:
        return x
    if cls is range:
        return Verbatim(repr(x))
    return _container(x, how)


def _container(x: Any, how: Callable[[Any], str] | None) -> Any:
    cls: Any = type(x)
    if cls in {list, tuple}:
        return cls([catch(item, repr) for item in access.iterate(x)])
    if cls is dict:
        return {_key(key): catch(access.item(x, key), repr) for key in access.iterate(x)}
    if cls in {set, frozenset}:
        items = access.iterate(x)
        if (items is not x and len(x) > 1) or not all(type(item) in PLAIN for item in items):
            refuse("the text of a set is needed, whose order is its own")
        return Verbatim(repr(x))
    if isinstance(x, tuple) and hasattr(x, "_fields") and _has_generated_text(cls):
        return cls(*[catch(item, repr) for item in access.iterate(x)])
    return _object(x, how)


def _key(key: Any) -> Any:
    if type(key) not in PLAIN:
        refuse("the text of a dict is needed whose keys are objects")
    return key


_Named = collections.namedtuple("_Named", ())  # for the code of its methods


def _has_generated_text(cls: Any) -> bool:
    """Whether a named tuple class is shown as `collections.namedtuple` has it."""
    own = getattr(cls.__repr__, "__code__", None)
    return (
        own is not None
        and own.co_filename == _Named.__repr__.__code__.co_filename
        and cls.__str__ is object.__str__
        and cls.__format__ is object.__format__
    )


def _object(x: Any, how: Callable[[Any], str] | None) -> Any:
    """An object of a class with its own idea of its text."""
    cls: Any = type(x)
    if isinstance(x, enum.Enum):
        methods = (cls.__str__, cls.__repr__, cls.__format__)
        # Members that are numbers or strings as well are formatted as either, depending on Python's version.
        if how is None or isinstance(x, (int, str, float)) or any(method.__module__ != "enum" for method in methods):
            refuse(f"the text of a {cls.__qualname__} is needed while the graph is built")
        return Verbatim(how(x))
    if how is not None and isinstance(x, BaseException) and _has_plain_text(cls, how):
        args = access.iterate(access.attr(x, "args"))
        return verbatim(later(_error if how is str else _error_repr, cls.__name__, *args))
    trace = observer.current()
    shown = None if trace is None else trace.show(x, how)
    if shown is None:
        refuse(f"the text of a {cls.__qualname__} is needed while the graph is built")
    return shown


def _has_plain_text(cls: Any, how: Callable[[Any], str]) -> bool:
    """Whether exceptions of this class are shown as `BaseException` has it."""
    is_plain = cls.__str__ is BaseException.__str__ or how is repr
    return is_plain and cls.__repr__ is BaseException.__repr__ and cls.__format__ is object.__format__


def verbatim(text: Any) -> Any:
    """An object that is shown as this string or `Text`, also inside a container."""
    return Text(Verbatim, (text,)) if type(text) is Text else Verbatim(text)


def _error(_: str, *args: Any) -> str:
    return str(args[0] if len(args) == 1 else args) if args else ""


def _error_repr(name: str, *args: Any) -> str:
    return f"{name}({', '.join(map(repr, args))})"


def _variable(variable: Any) -> Any:
    if type(variable).__name__ != "ResourceVariable" or not type(variable).__module__.startswith("tensorflow."):
        refuse(f"the text of a {type(variable).__name__} is needed while the graph is built")
    return Text(VariableNow, (variable.name, variable.shape, variable.dtype.name, variable.read_value()))


class VariableNow:
    """What a variable was at one point of the program, shown as the variable."""

    def __init__(self, name: str, shape: Any, dtype: str, value: Any) -> None:
        self._beginning = f"<tf.Variable '{name}' shape={shape} dtype={dtype}"
        self._value = value

    def __repr__(self) -> str:
        return f"{self._beginning}, numpy={repr(self._value).partition('numpy=')[2]}"

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __index__(self) -> int:
        return int(self._value.__index__())


def _add(x: Any, y: Any) -> Any:
    return x + y


def _repeat(x: Any, count: Any) -> Any:
    return x * count


def percent(x: Any, values: Any) -> Any:
    """`x % values` of a string `x`."""
    if isinstance(values, tuple):
        return later(_percent_items, x, *access.iterate(values))
    if type(values) is dict:
        keys = tuple(access.iterate(values))
        return later(_percent_names, x, keys, *[access.item(values, key) for key in keys])
    return later(_percent, x, values)


def _percent(x: Any, values: Any) -> Any:
    return x % values


def _percent_items(x: Any, *values: Any) -> Any:
    return x % values


def _percent_names(x: Any, names: tuple[Any, ...], *values: Any) -> Any:
    return x % dict(zip(names, values, strict=True))


def _item(x: Any, *key: Any) -> Any:
    return x[key[0] if len(key) == 1 else slice(*key)]


def _method(x: Any, name: str, names: tuple[str, ...], *args: Any) -> Any:
    positional = len(args) - len(names)
    return getattr(x, name)(*args[:positional], **dict(zip(names, args[positional:], strict=True)))


# What the program tells the world: prints and the like. In a branch of a symbolic conditional it is an output.


@dataclass
class _Branch:
    depth: int
    printed: list[Any] = field(default_factory=list)


class _State(threading.local):
    def __init__(self) -> None:
        self.branches: list[_Branch] = []


_state = _State()


@contextmanager
def branch() -> Iterator[list[Any]]:
    """What is printed while a branch is being built ends in this list instead, for the conditional to hand on."""
    opened = _Branch(heap.depth())
    _state.branches.append(opened)
    try:
        yield opened.printed
    finally:
        _state.branches.pop()


def is_acting() -> bool:
    """Whether something was printed or the like in the branches that are being built."""
    return any(branch.printed for branch in _state.branches)


def show(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """`print(*args, **kwargs)` in a trace of ours: at every launch, when the graph has run."""
    trace = observer.current()
    assert trace is not None
    act("prints", print, args, {**kwargs, "file": trace.stream(kwargs.get("file"))})


def act(what: str, fn: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any] | None = None) -> None:
    """Call `fn(*args, **kwargs)` after each launch, with the arguments as they are now (a `file` as it is then).

    Args:
      what: what it does, for messages.
    """
    trace = observer.current()
    assert trace is not None
    trace.happens(what)
    given = list(args)
    named = kwargs or {}
    values = [catch(arg) for arg in given]
    values += [value if name == "file" else catch(value) for name, value in named.items()]
    hand_on(Text(Act(what, fn, len(given), tuple(named)), values))


class Act:
    """Makes a call of `fn` that is to be made later, of its arguments, the last ones by name."""

    def __init__(self, what: str, fn: Callable[..., Any], positional: int, names: tuple[str, ...]) -> None:
        self.what = what
        self._fn = fn
        self._positional = positional
        self._names = names

    def __call__(self, *args: Any) -> Callable[[], Any]:
        named = dict(zip(self._names, args[self._positional :], strict=True))
        return functools.partial(self._fn, *args[: self._positional], **named)


def hand_on(acted: Any) -> None:
    """Do at every launch what `act` has noted: a `Text` that makes a call, or a `MaybeNone` of that."""
    trace = observer.current()
    assert trace is not None
    if not heap.in_symbolic_body():
        trace.acts(acted)
        return
    inner = _state.branches[-1] if _state.branches else None
    if inner is None or inner.depth != heap.depth():
        refuse(f"{_what(acted)} in a loop over tensors")
    inner.printed.append(acted)


def _what(acted: Any) -> str:
    fn = acted.fn if type(acted) is Text else None
    return fn.what if isinstance(fn, Act) else _what(acted.value)
