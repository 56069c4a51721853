"""f-string fields and `%` -> text; where a symbolic value would show, a trace of ours gives up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoimport.operators import observer
from autoimport.operators.access import iterate
from autoimport.operators.checks import refuse
from autoimport.operators.lists import stand_in
from autoimport.operators.symbolic import is_symbolic

_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None)})


def format_(x: Any, conversion: str | None = None, spec: str = "") -> str:
    """The text of one field of an f-string: `{x!conversion:spec}`."""
    check_text(x)
    if conversion:
        x = _CONVERSIONS[conversion](x)
    return format(x, spec)


def mod(x: Any, y: Any) -> Any:
    """`x % y`, which formats if `x` is a string."""
    if isinstance(x, (str, bytes)):
        check_text(y)
    return x % y


def check_text(x: Any) -> None:
    """Give a trace of ours up if the text of `x` is not known while the graph is built."""
    trace = observer.current()
    if trace is None or type(x) in _PLAIN:
        return
    if is_symbolic(stand_in(x)):
        refuse("the text of a symbolic value is needed while the graph is built")
    if type(x) in (tuple, list, set, frozenset):
        for value in iterate(x):
            check_text(value)
    elif type(x) is dict:
        for key in iterate(x):
            check_text(key)
            check_text(trace.read_item(x, key))
    else:  # its `__str__`, `__repr__` or `__format__` is somebody's code
        trace.call(str, (x,), {})
