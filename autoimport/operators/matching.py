"""The subject of a `match` -> the same, once all that patterns may look at in it has been read through the observer.

Patterns are matched by the interpreter, out of sight: what they compare, unpack and bind must be read beforehand.
"""

from __future__ import annotations

import enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.access import item, iterate
from autoimport.operators.checks import refuse
from autoimport.operators.lists import stand_in
from autoimport.operators.symbolic import is_symbolic

# A guard on such an object says all about it.
_WHOLE = (bool, int, float, complex, str, bytes, type(None), type, enum.Enum, FunctionType, BuiltinFunctionType)


def subject(x: Any) -> Any:
    """The value to match instead of `x`.

    In the person's graph that is `x`. In a trace of ours tuples with tensors of old objects come back with the tensors
    of the graph.
    """
    if observer.current() is None:
        return x
    if is_symbolic(stand_in(x)):
        if isinstance(x, tf.Tensor):
            return x  # patterns that compare it fail as the truth of a symbolic tensor does
        refuse(f"`match` on a symbolic {type(x).__name__}")
    if isinstance(x, (*_WHOLE, ModuleType)):
        return x
    if type(x) in (list, tuple):
        old, new = list(x), [subject(part) for part in iterate(x)]
    elif type(x) is dict:
        old, new = list(x.values()), [subject(item(x, key)) for key in iterate(x)]
    else:
        refuse(f"`match` on a {type(x).__name__}")
    if all(a is b for a, b in zip(old, new, strict=True)):
        return x
    if type(x) is tuple:
        return tuple(new)
    refuse(f"`match` on a {type(x).__name__} of tensors that was made outside")
