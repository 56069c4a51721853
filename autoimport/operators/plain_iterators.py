"""What a Python loop takes its items from -> whether it could take more of them than the program does, unseen."""

from __future__ import annotations

import types
from typing import Any

# Containers that Python walks over itself, also where a class of the person's inherits that.
_CONTAINERS: list[Any] = [
    *(list, tuple, dict, set, frozenset, range, str, bytes),
    *(type({}.keys()), type({}.values()), type({}.items())),
]
_WALKS = {cls.__iter__ for cls in _CONTAINERS}
_ITERATED: list[Any] = [
    *([], (), {}, {}.values(), {}.items(), set(), range(0), range(1 << 70), "", "\u00e4", b""),
    *(reversed([]), reversed(()), reversed({}), reversed({}.values()), reversed({}.items())),
]
_ITERATORS = {type(iter(each)) for each in _ITERATED}


def asks_nobody(items: Any, around: types.FrameType) -> bool:
    """Whether it makes no difference if more items are taken.

    Args:
      items: an iterable. around: the frame of the loop: an iterator that has a name there may be used on behind it.
    """
    if getattr(type(items), "__iter__", None) in _WALKS:
        return True
    return _is_plain(items) and not any(value is items for value in around.f_locals.values())


def _is_plain(iterator: Any) -> bool:
    if type(iterator) is enumerate or type(iterator) is zip:
        parts: Any = iterator.__reduce__()[1]
        return all(_is_plain(part) for part in parts if not isinstance(part, int))
    return type(iterator) in _ITERATORS
