"""What a trace would have changed outside -> a log that the trace reads through, and that is committed after each launch.

In: stores to attributes, globals, cells and dict items, and appends to lists, of objects older than the trace. Out: while tracing, the new
values wherever the form reads them again; after a launch, the same changes made for real, with concrete values, in program order.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autoimport.operators import heap
from autoimport.operators.errors import Unstageable
from autoimport.staging.sources import Source

MISSING: Any = heap.MISSING


@dataclass
class Entry:
    """A place that is changed.

    Attributes:
      holder: the object, its source `at`, and the attribute, key or name in it.
      value: what it holds at the end of the trace.
      commit: `(holder, key, value)` makes the change.
    """

    holder: Any
    at: Source
    key: Any
    value: Any
    commit: Callable[[Any, Any, Any], None]


def _set_item(holder: Any, key: Any, value: Any) -> None:
    holder[key] = value


def _set_cell(holder: Any, key: Any, value: Any) -> None:
    holder.cell_contents = value


def _extend(holder: Any, key: Any, value: Any) -> None:
    for item in value:
        holder.append(item)


class Log:
    """The changes of one trace, each place once, in the order of the first change."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, int, Any], Entry] = {}

    def _store(self, kind: str, holder: Any, at: Source, key: Any, value: Any, commit: Any) -> None:
        if heap.in_symbolic_body():
            raise Unstageable(f"changes {at.text or 'a global'} under a condition on tensors", "return the value instead")
        entry = self.entries.get((kind, id(holder), key))
        if entry is None:
            self.entries[kind, id(holder), key] = Entry(holder, at, key, value, commit)
        else:
            entry.value = value

    def attribute(self, obj: Any, at: Source, name: str, value: Any) -> None:
        """`obj.name = value`."""
        self._store("attribute", obj, at, name, value, setattr)

    def item(self, obj: Any, at: Source, key: Any, value: Any) -> None:
        """`obj[key] = value` of a dict (a namespace, too)."""
        self._store("item", obj, at, key, value, _set_item)

    def cell(self, cell: types.CellType, at: Source, value: Any) -> None:
        """A variable of an enclosing function."""
        self._store("cell", cell, at, None, value, _set_cell)

    def append(self, items: list[Any], at: Source, value: Any) -> None:
        """`items.append(value)`."""
        tail = self.tail(items)
        self._store("append", items, at, None, [*tail, value], _extend)

    def read(self, kind: str, holder: Any, key: Any) -> Any:
        """The new value of a place, or MISSING."""
        entry = self.entries.get((kind, id(holder), key))
        return MISSING if entry is None else entry.value

    def tail(self, items: Any) -> list[Any]:
        """What has been appended to a list."""
        tail = self.read("append", items, None)
        return [] if tail is MISSING else tail

    def touches(self, holder: Any) -> bool:
        """Whether an item of a container, or the container, was changed."""
        return any(kind != "attribute" and identity == id(holder) for kind, identity, _ in self.entries)
