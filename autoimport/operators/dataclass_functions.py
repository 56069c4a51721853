"""The functions of the module `dataclasses` that read an object's fields -> the same reads and calls, one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from autoimport.operators import access, observer


def _replace(obj: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace(obj, **changes)`."""
    from autoimport.operators.calls import call  # which knows of this module

    trace = observer.current()
    if trace is None:
        return dataclasses.replace(obj, **changes)
    known = getattr(type(obj), "__dataclass_fields__", {})
    fields = dataclasses.fields(obj) if known else ()
    if not fields or len(fields) != len(known) or not all(field.init for field in fields):
        # Class variables, what only the constructor is given, and what nobody gives it.
        return trace.call(dataclasses.replace, (obj,), changes)
    kept = {field.name: access.attr(obj, field.name) for field in fields if field.name not in changes}
    return call(type(obj), **kept, **changes)


OPERATORS: dict[Any, Callable[..., Any]] = {dataclasses.replace: _replace}
