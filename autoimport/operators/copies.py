"""Lists, dicts and objects among the items of a list of symbolic length -> which of them are no longer themselves.

The graph keeps what such an item holds, not the object: one that was put in and one that is taken out are copies, where
Python has one object. So is what a condition or loop chooses (see `aliases`), as long as somebody else knows what it
may be. Nobody can tell as long as no copy is changed or compared by identity, which gives up here, and no two of them
are handed out together, nor one that others know, which `hand_out` looks for.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autoimport.operators import aliases, observer
from autoimport.operators.checks import refuse
from autoimport.operators.errors import Unstageable


class _State(threading.local):
    """What one graph under construction knows.

    Attributes:
      copies: by id, each object and the number of the item that it is a part of.
      puts: how many items that can be changed have gone into such lists.
      are_shared: one object is in such lists twice, or comes from outside.
      are_carried: a copy has left a branch or loop, as the value of a variable.
    """

    def __init__(self) -> None:
        self.copies: dict[int, tuple[Any, int]] = {}
        self.puts = 0
        self.are_shared = False
        self.are_carried = False


_state = _State()
# The method of our own classes that knows whether what becomes of them can be changed.
_SAYS_ITSELF = "can_be_changed"
_numbers = itertools.count()


def put(item: Any) -> None:
    """`item` goes into a list of symbolic length."""
    parts = list(changeable(item))
    _state.puts += bool(parts)
    _state.are_shared |= any(is_copy(part) or is_old(part) for part in parts)
    _add(parts)


def become_items(items: Sequence[Any]) -> None:
    """Such a list is made of a Python list with these items."""
    parts = [part for item in items for part in changeable(item)]
    _state.are_shared |= len(set(map(id, parts))) < len(parts) or any(map(is_old, parts))
    _add(parts)


def taken(item: Any) -> Any:
    """`item` has been made of what is in such a list."""
    _add(changeable(item))
    return item


def made_plain(items: list[Any]) -> list[Any]:
    """All that is in such a list, as Python objects again: the only ones, unless others may be left."""
    return taken(items) if _state.are_shared or _state.are_carried else items


def share() -> None:
    """Such a list gets an item that it has twice."""
    _state.are_shared = True


def carried(obj: Any) -> None:
    """`obj` stands for one that has been put into such a list, or taken out."""
    _state.are_carried = True
    _add([obj])


def _add(parts: Iterable[Any]) -> None:
    number = next(_numbers)
    for part in parts:
        for each in (part, *aliases.of(part)):  # a change of what the part may be is none of the copy either
            _state.copies.setdefault(id(each), (each, number))


def is_old(obj: Any) -> bool:
    """Whether `obj`, which a program can change, is older than the trace of ours."""
    trace = observer.current()
    if trace is None or hasattr(type(obj), _SAYS_ITSELF):
        return False
    try:
        trace.mutate(obj, "a copy")
    except Unstageable:
        return True
    return False


def changeable(item: Any) -> Iterator[Any]:
    """The objects in an item, itself included, that a program could change."""
    is_one = is_changeable(item)
    if is_one:
        yield item
    if hasattr(type(item), _SAYS_ITSELF):
        return  # what is in it is made after the launch
    if isinstance(item, (list, tuple)):
        parts: Iterable[Any] = item
    elif is_one:
        parts = item.values() if isinstance(item, dict) else getattr(item, "__dict__", {}).values()
    else:
        return
    for part in parts:
        yield from changeable(part)


def is_changeable(obj: Any) -> bool:
    """Whether `obj` is what a list of symbolic length can hold and a program can change."""
    says = getattr(type(obj), _SAYS_ITSELF, None)
    if says is not None:
        return bool(says(obj))
    return isinstance(obj, (list, dict)) or any(
        hasattr(type(obj), name) for name in ("__attrs_attrs__", "__tf_flatten__")
    )


def is_firm(obj: Any) -> bool:
    """Whether `obj` is a copy for as long as the graph is built."""
    return id(obj) in _state.copies


def is_copy(obj: Any) -> bool:
    """Whether `obj` is in a list of symbolic length, was taken out of one, or may be what others know."""
    if is_firm(obj) or not _are_known(aliases.of(obj)):
        return is_firm(obj)
    aliases.forget()  # what is gone may have kept them
    return _are_known(aliases.of(obj))


def _are_known(objects: list[Any]) -> bool:
    from autoimport.operators import heap  # which notes its changes here

    return any(heap.is_known_elsewhere(each, 2) for each in objects)  # the list's, and `each`


def references(obj: Any) -> int:
    """How many references to an object are kept to know what is a copy."""
    return aliases.references(obj) + is_firm(obj)


def puts() -> int:
    """How many items that can be changed have been put into such lists."""
    return _state.puts


def before_change(obj: Any) -> None:
    """`obj` is about to be changed in place."""
    if is_copy(obj):
        _refuse(obj, "is changed")


def before_identity(x: Any, y: Any) -> None:
    """`x is y` is asked, and they are two objects."""
    for obj in (x, y):
        if is_copy(obj):
            _refuse(obj, "is compared by `is`")


def _refuse(obj: Any, what: str) -> None:
    refuse(
        f"a {type(obj).__name__} {what} that is an item of a list whose length only the graph knows, or one of two",
        "make a changed copy instead",
    )


def hand_out(obj: Any, others: set[int]) -> None:
    """`obj` leaves a trace of ours, as the `others` do: such a list with its items, or a copy."""
    others.add(_state.copies[id(obj)][1] if is_firm(obj) else -id(obj))
    if _state.are_shared or len(others) > 1 or any(map(is_old, aliases.of(obj))):
        raise Unstageable(
            "hands out lists, dicts or objects that may be one: items of lists of symbolic length, or one of two"
        )


def graph_finished() -> None:
    """The last graph under construction in this thread is done."""
    _state.__init__()  # type: ignore[misc]
