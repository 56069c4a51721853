"""What a trace would change outside -> a log that the trace reads through, and that is committed after each launch.

In: stores to attributes, globals, cells and dict items, and appends to lists, of objects older than the trace. Out:
while tracing, the new values wherever the form reads them again; after a launch, the same changes made for real, with
concrete values, in program order.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from autoimport.operators import heap
from autoimport.operators.calls import call
from autoimport.operators.errors import Unstageable
from autoimport.operators.undefined import MaybeUndefined
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


@dataclass(frozen=True)
class Held:
    """What is at a source when the graph is launched, whatever a branch makes of it."""

    source: Source


def set_item(holder: Any, key: Any, value: Any) -> None:
    """`holder[key] = value`."""
    holder[key] = value


def set_cell(holder: Any, key: Any, value: Any) -> None:
    """Store to a cell."""
    holder.cell_contents = value


def extend(holder: Any, key: Any, value: Any) -> None:
    """`holder.append` of each item."""
    for item in value:
        holder.append(item)


def act(holder: Any, key: Any, value: Any) -> None:
    """Make a call that was noted."""
    if value is not None:  # not under a condition that was false
        value()


class Log:
    """The changes of one trace, each place once, in the order of the first change.

    Attributes:
      of_classes: attributes that were stored to classes, which instances and subclasses show too.
    """

    def __init__(self) -> None:
        self.entries: dict[tuple[str, int, Any], Entry] = {}
        self.of_classes: set[str] = set()
        self._hidden: set[int] = set()

    def attribute(self, obj: Any, at: Source, name: str, value: Any) -> None:
        """`obj.name = value`."""
        self.store(("attribute", id(obj), name), Entry(obj, at, name, value, setattr))

    def item(self, obj: Any, at: Source, key: Any, value: Any) -> None:
        """`obj[key] = value` of a dict (a namespace, too)."""
        self.store(("item", id(obj), key), Entry(obj, at, key, value, set_item))

    def cell(self, cell: types.CellType, at: Source, value: Any) -> None:
        """A variable of an enclosing function."""
        self.store(("cell", id(cell), None), Entry(cell, at, None, value, set_cell))

    def store(self, place: tuple[str, int, Any], entry: Entry) -> None:
        """Note a change; a later one of the same place takes its turn in the order."""
        known = self.entries.setdefault(place, entry)
        if type(known.value) is MaybeUndefined and known.value is not entry.value:
            self._require_last(place)
        known.value = entry.value
        if place[0] == "attribute" and isinstance(entry.holder, type):
            self.of_classes.add(entry.key)

    def _require_last(self, place: tuple[str, int, Any]) -> None:
        """What a branch may have stored is stored again: a new key of the same holder may stand before or behind it."""
        kind, holder, _ = place
        later = itertools.islice(self.entries, list(self.entries).index(place) + 1, None)
        if any(other[:2] == (kind, holder) and _is_new(self.entries[other]) for other in later):
            raise Unstageable(f"the order of what is in {self.entries[place].at.text} follows from conditions")

    def append(self, items: list[Any], at: Source, value: Any) -> None:
        """`items.append(value)`: the trace has a list of its own for what is appended; it may grow in graph loops."""
        entry = self.entries.setdefault(("append", id(items), None), Entry(items, at, None, [], extend))
        call(entry.value.append, value)

    def act(self, acted: Any) -> None:
        """A call that tells the world something; see `text.hand_on`."""
        self.entries["act", id(acted), None] = Entry(None, Source("None", ""), None, acted, act)

    def has_acted(self) -> bool:
        """Whether there are such calls."""
        return any(kind == "act" for kind, _, _ in self.entries)

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
        changed = any(kind != "attribute" and identity == id(holder) for kind, identity, _ in self.entries)
        return changed or self.hides(holder)

    def hide(self, holder: Any) -> None:
        """A call will change a container after the launch: what is in it is not known from here on."""
        self._hidden.add(id(holder))

    def hides(self, holder: Any) -> bool:
        """Whether there is such a call."""
        return id(holder) in self._hidden


def _is_new(entry: Entry) -> bool:
    """Whether there is nothing yet at a place of a dict or object, whose order may be looked at."""
    held = entry.holder if isinstance(entry.holder, dict) else getattr(entry.holder, "__dict__", ())
    return entry.key not in held and not heap.is_namespace(held)


class Logged(heap.Place):
    """A place outside, as branches and loops of the graph see it: its new value is in the log.

    Args:
      log: where the new value is.
      kind: as in the keys of the log.
      entry: the change, with what the place held before as its value (MISSING for nothing).
    """

    def __init__(self, log: Log, kind: str, entry: Entry) -> None:
        super().__init__(entry.holder, (kind, entry.key))
        self._log = log
        self._entry = entry
        self._place = (kind, id(entry.holder), entry.key)
        self._original = entry.value
        self._is_changed = self._place in log.entries

    def read(self) -> Any:
        entry = self._log.entries.get(self._place)
        return self._original if entry is None else entry.value

    def write(self, value: Any) -> None:
        if value is self._original and not self._is_changed:
            self._log.entries.pop(self._place, None)
        else:
            self._log.store(self._place, replace(self._entry, value=value))

    def __str__(self) -> str:
        return f"{self._entry.at.text}.{self._entry.key}" if self._entry.at.text else str(self._entry.key)
