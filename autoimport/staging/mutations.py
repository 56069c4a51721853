"""A change of a container older than the trace -> what the log does instead.

In: a method of a list, dict, set or deque, and its arguments. Out: its result, with the change noted: as new values
that the trace can read (appended items, items stored), or, where that would take all that is in the container, as a
call that is made after each launch, behind which the trace does not read the container any more.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from autoimport.operators import heap, text
from autoimport.operators.access import item, iterate, set_item
from autoimport.operators.calls import call
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.undefined import MaybeUndefined
from autoimport.staging.guarding import SCALARS
from autoimport.staging.log import MISSING, Held, Log
from autoimport.staging.reading import Reader
from autoimport.staging.sources import Source

# Methods that change their object whatever is in it, and tell nothing about it.
_BLIND: dict[type, frozenset[str]] = {
    list: frozenset({"insert", "clear", "reverse"}),
    dict: frozenset({"clear"}),
    set: frozenset({"add", "discard", "clear", "update"}),
    collections.deque: frozenset({"append", "appendleft", "extend", "extendleft", "clear", "reverse", "rotate"}),
}
_TAKES_ITEMS = frozenset({"extend", "extendleft", "update"})


class Mutations:
    """The changes of old containers in one trace."""

    def __init__(self, reader: Reader, log: Log, happens: Callable[[str], None]) -> None:
        self._reader = reader
        self._log = log
        self._happens = happens

    def change(self, obj: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any] | None:
        """The result of `obj.method(*args, **kwargs)` in a tuple; None for what is no change of an old container, or
        one that the log cannot make."""
        source = self._reader.source_of(obj)
        if source is not None and method == "append" and isinstance(obj, list) and type(obj) is not list:
            return self._append(obj, source, *args)  # a library's list that tracks its items
        if source is None or type(obj) not in _BLIND or (kwargs and method != "update"):
            return None
        seen = _SEEN.get((type(obj), method))
        if seen is not None and not self._log.hides(obj):
            return seen(self, obj, source, *args, **kwargs)
        if not kwargs and (method in _BLIND[type(obj)] or method in ("append", "extend")):
            return self._blindly(obj, source, method, *args)
        return None

    def look(self, obj: Any, method: str, args: tuple[Any, ...]) -> tuple[Any] | None:
        """The result of `obj.method(*args)`, in a tuple, where it tells of one key of an old dict, or of the length of
        an old list, as the trace has changed them; None for all else."""
        source = self._reader.source_of(obj)
        if source is None or self._log.hides(obj):
            return None
        if method == "__len__" and type(obj) is list and self._log.tail(obj):
            return (self._reader.size(obj, source) + call(len, self._log.tail(obj)),)
        if type(obj) is not dict or not args or type(args[0]) not in SCALARS:
            return None
        if method == "__contains__":
            written = self._log.read("item", obj, args[0])
            if type(written) is MaybeUndefined:  # stored under a condition
                return (Number(bool, written.present),)
            return (written is not MISSING or self._reader.has_key(obj, source, args[0]),)
        if method == "get":
            try:
                return (item(obj, args[0]),)
            except KeyError:
                return args[1:] or (None,)
        return None

    def _blindly(self, obj: Any, source: Source, method: str, *args: Any) -> tuple[Any]:
        self._happens(f"changes {source.text}")
        if method in _TAKES_ITEMS:
            args = tuple(list(iterate(arg)) for arg in args)
        self._log.hide(obj)
        act = text.Act(f"changes {source.text}", getattr(type(obj), method), 1 + len(args), ())
        text.hand_on(text.Text(act, (Held(source), *args)))
        return (None,)

    def _append(self, obj: Any, source: Source, value: Any) -> tuple[Any]:
        self._happens(f"changes {source.text}")
        self._log.append(obj, source, value)
        return (None,)

    def _extend(self, obj: Any, source: Source, values: Any) -> tuple[Any]:
        for value in list(iterate(values)):
            self._append(obj, source, value)
        return (None,)

    def _pop(self, obj: Any, source: Source, index: Any = -1) -> tuple[Any] | None:
        tail = self._log.tail(obj)
        if tail and index == -1:
            return (call(tail.pop),)
        if self._log.touches(obj) or type(index) is not int:
            return None
        value = self._reader.item(obj, index)
        self._blindly(obj, source, "pop", index)
        return (value,)

    def _update(self, obj: Any, source: Source, *given: Any, **named: Any) -> tuple[Any] | None:
        if any(type(mapping) is not dict for mapping in given):
            return None
        for mapping in (*given, named):
            for key in list(iterate(mapping)):
                set_item(obj, key, item(mapping, key))
        return (None,)

    def _set_default(self, obj: Any, source: Source, key: Any, value: Any = None) -> tuple[Any]:
        try:
            return (item(obj, key),)
        except KeyError:
            set_item(obj, key, value)
            return (value,)

    def _pop_key(self, obj: Any, source: Source, key: Any, *default: Any) -> tuple[Any] | None:
        if type(key) not in SCALARS:
            return None
        try:
            value = item(obj, key)
        except KeyError:
            if not default:
                raise
            return default
        self._blindly(obj, source, "pop", key)
        return (value,)

    # Items of lists.

    def store(self, items: list[Any], source: Source, key: int, value: Any) -> None:
        """`items[key] = value` of an old list."""
        if heap.in_symbolic_body() or self._log.tail(items):
            raise Unstageable(f"stores to an item of {source.text}, which was made outside this function")
        self._happens(f"changes {source.text}")
        if self._log.hides(items):
            self._blindly(items, source, "__setitem__", key, value)
            return
        key = self.position(items, key)
        self._reader.builder.require(source, f"{key} < len({{v}})", f"had more than {key} items")
        self._log.item(items, source, key, value)

    def position(self, items: list[Any], key: int) -> int:
        """The place of an item counted from the front."""
        place = range(len(items))[key]
        source = self._reader.source_of(items)
        if key < 0 and source is not None:
            self._reader.builder.require(source, f"len({{v}}) == {len(items)}", f"had {len(items)} items")
        return place


_SEEN: dict[tuple[type, str], Callable[..., tuple[Any] | None]] = {
    (list, "append"): Mutations._append,
    (list, "extend"): Mutations._extend,
    (list, "+="): Mutations._extend,
    (list, "pop"): Mutations._pop,
    (dict, "update"): Mutations._update,
    (dict, "|="): Mutations._update,
    (dict, "setdefault"): Mutations._set_default,
    (dict, "pop"): Mutations._pop_key,
}
