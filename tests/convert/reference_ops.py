"""Every operator of a graph form with plain Python's semantics: what operators do when no value is symbolic."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

slice = builtins.slice


class Undefined:
    """A local without a value."""

    def __init__(self, name: str) -> None:
        self.name = name


def if_(cond: Any, then: Any, orelse: Any, get: Any, set: Any, names: Any, n_out: int) -> None:
    assert len(get()) == len(names) >= n_out
    set(get())
    then() if cond else orelse()
    set(get())


def while_(test: Any, body: Any, get: Any, set: Any, names: Any, n_out: int, options: Any) -> None:
    assert len(get()) == len(names) >= n_out
    while test():
        body()
        set(get())


def for_(iterable: Any, more: Any, body: Any, get: Any, set: Any, names: Any, n_out: int, options: Any) -> None:
    assert len(get()) == len(names) >= n_out
    iterator = iter(iterable)
    while more is None or more():
        try:
            item = next(iterator)
        except StopIteration:
            return
        body(item)
        del item
        set(get())


def if_exp(cond: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    return then() if cond else orelse()


def and_(value: Any, then: Callable[[], Any]) -> Any:
    return value and then()


def or_(value: Any, then: Callable[[], Any]) -> Any:
    return value or then()


def not_(value: Any) -> Any:
    return not value


def binary(symbol: str, x: Any, y: Any) -> Any:
    return eval(f"x {symbol} y", {"x": x, "y": y})


def subject(value: Any) -> Any:
    return value


def Whole(part: Any) -> Any:
    return lambda x: [(x, None), (x, part)]


def Items(*parts: Any, rest: int | None = None) -> Any:
    def take(x: Any) -> Any:
        if not isinstance(x, Sequence) or isinstance(x, (str, bytes)):
            return None
        least = len(parts) - (rest is not None)
        if len(x) < least or rest is None and len(x) > least:
            return None
        values = list(x)
        if rest is not None:
            end = len(values) - (least - rest)
            values = [*values[:rest], values[rest:end], *values[end:]]
        return list(zip(values, parts, strict=True))

    return take


def Entries(*entries: Any, rest: bool = False) -> Any:
    def take(x: Any) -> Any:
        if not isinstance(x, Mapping) or not all(key in x for key, _ in entries):
            return None
        others = {key: x[key] for key in x if key not in dict(entries)}
        return [*((x[key], part) for key, part in entries), *[(others, None)] * rest]

    return take


def Fields(cls: Any, /, *positional: Any, **named: Any) -> Any:
    def take(x: Any) -> Any:
        if not isinstance(x, cls) or not all(hasattr(x, name) for name in named):
            return None
        names = getattr(cls, "__match_args__", None)
        values = [x] * len(positional) if names is None else [getattr(x, name) for name in names[: len(positional)]]
        return [*zip(values, positional, strict=True), *((getattr(x, name), part) for name, part in named.items())]

    return take


def take_apart(x: Any, shape: Any) -> Any:
    if shape is None:
        return [x]
    found: list[Any] | None = []
    for value, part in (taken := shape(x)) or ():
        leaves = take_apart(value, part)
        found = None if found is None or leaves is None else found + leaves
    return None if taken is None else found


def truth(value: Any) -> bool:
    return bool(value)


eq, ne, is_, is_not = operator.eq, operator.ne, operator.is_, operator.is_not


def in_(item: Any, container: Any) -> Any:
    return item in container


def not_in(item: Any, container: Any) -> Any:
    return item not in container


_COMPARE: dict[str, Any] = {
    "==": eq,
    "!=": ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": in_,
    "not in": not_in,
    "is": is_,
    "is not": is_not,
}


def chain(left: Any, *links: Any) -> Any:
    result = None
    for sign, operand in links:
        right = operand()
        result = _COMPARE[sign](left, right)
        if (sign, operand) != links[-1] and not result:
            return result
        left = right
    return result


def assert_(test: Any, message: Callable[[], Any] | None) -> None:
    if not test:
        raise AssertionError(*([] if message is None else [message()]))


def raise_(error: Callable[[], Any], cause: Callable[[], Any] | None) -> None:
    if cause is None:
        raise error()
    raise error() from cause()


def call(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def iterate(value: Any) -> Any:
    return value


def kept(stream: Any) -> Any:
    return stream


def spread(value: Any) -> Any:
    return value


def spliced(display: Any) -> Any:
    return display


def each(source: Any, step: Callable[..., Any], parts: int | None = None) -> Any:
    for item in source:
        yield from step(item) if parts is None else step(*_taken_apart(item, parts))


def _taken_apart(value: Any, count: int) -> list[Any]:
    """The items as Python's own unpacking takes them."""
    found = {"value": value}
    names = [f"item_{index}" for index in range(count)]
    exec("".join(f"{name}, " for name in names) + "= value", found)
    return [found[name] for name in names]


def when(condition: Any, then: Callable[[], Any]) -> Any:
    return then() if condition else ()


def one(value: Any) -> Any:
    return (value,)


def listed(stream: Any) -> list[Any]:
    return list(stream)


def unpack(value: Any, before: int, after: int | None) -> Any:
    return value


def fstring(*parts: str) -> str:
    return "".join(parts)


def format_(value: Any, conversion: str | None = None, spec: str = "") -> str:
    converted = {"s": str, "r": repr, "a": ascii}[conversion](value) if conversion else value
    return format(converted, spec)


mod = operator.mod

_AUGMENT: dict[str, Any] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}


def augment(sign: str, value: Any, other: Any) -> Any:
    return _AUGMENT[sign](value, other)


def defined(value: Any, name: str, free: bool = False) -> Any:
    if isinstance(value, Undefined):
        raise (NameError if free else UnboundLocalError)(name)
    return value


attr, set_attr, del_attr = getattr, setattr, delattr
item, set_item, del_item = operator.getitem, operator.setitem, operator.delitem


def global_(name: str) -> Any:
    frame = sys._getframe(1)
    if name in frame.f_globals:
        return frame.f_globals[name]
    if name in frame.f_builtins:
        return frame.f_builtins[name]
    raise NameError(f"name {name!r} is not defined")


def set_global(name: str, value: Any) -> None:
    sys._getframe(1).f_globals[name] = value


def del_global(name: str) -> None:
    namespace = sys._getframe(1).f_globals
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    del namespace[name]


def free(read: Callable[[], Any]) -> Any:
    return read()


def set_free(read: Any, value: Any) -> None:
    (cell,) = read.__closure__
    cell.cell_contents = value


def context(manager: Any) -> Any:
    return manager


def handlers() -> None:
    pass


def mapping(obj: Any) -> Any:
    return obj


def caught() -> None:
    pass


def forbid(what: str) -> None:
    pass


def part(bounds: tuple[int, ...]) -> range:
    return range(*bounds)
