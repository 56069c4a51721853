"""An object that a trace has made -> its attributes, and another object with the same attributes.

In: an instance of a class of the person's. Out: what it holds, where that is all there is to it; None where a copy
would not be the same.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable
from typing import Any

from autoimport.operators.heap import MISSING
from autoimport.staging import trust
from autoimport.staging.guarding import class_attribute
from autoimport.staging.ours import harmless


def attributes(value: Any) -> dict[str, Any] | None:
    """All that the object holds, by name; None if its class has more than Python's own idea of an object."""
    cls = type(value)
    if cls.__module__ == "builtins" or trust.is_library(cls.__module__) or trust.is_library_type(cls):
        return None
    if type(cls).__call__ is not type.__call__ or hasattr(cls, "__del__") or not _stores_plainly(cls):
        return None
    try:
        object.__new__(cls)
    except TypeError:  # it is built on a list, an exception, ...
        return None
    held = dict(getattr(value, "__dict__", {}))
    for base in cls.__mro__:
        for name, slot in base.__dict__.items():
            if isinstance(slot, types.MemberDescriptorType) and hasattr(value, name):
                held[name] = slot.__get__(value)
    return held


def _stores_plainly(cls: type) -> bool:
    setter, _ = class_attribute(cls, "__setattr__")
    if setter is object.__setattr__ or hasattr(cls, "__attrs_attrs__"):
        return True
    is_frozen = dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return is_frozen or (isinstance(setter, types.FunctionType) and harmless(setter.__code__))


def rebuild(cls: type, held: Iterable[tuple[str, Any]]) -> Any:
    """An object with these attributes, but for those that no branch taken has stored."""
    made: Any = object.__new__(cls)
    for name, value in held:
        if value is not MISSING:
            object.__setattr__(made, name, value)
    return made
