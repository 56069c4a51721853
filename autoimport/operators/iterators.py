"""A Python iterator -> whether it is where it would be in Python, when items are taken from it.

A branch that is not taken, or a body that runs many times, would advance it once all the same, when it is built. And
where a tensor decides when to stop, Python takes all items while it builds the graph; how many there are left only the
graph knows.
"""

from __future__ import annotations

import threading
from types import WrapperDescriptorType
from typing import Any

from autoimport.operators import observer
from autoimport.operators.checks import refuse


class _State(threading.local):
    """Where iterators are.

    Attributes:
      made: by id, in which branch or body an iterator was made, and how many have been left until then.
      left: how often an iterator has been left by a tensor.
    """

    def __init__(self) -> None:
        self.made: dict[int, tuple[int, int]] = {}
        self.left = 0


_state = _State()


def made(obj: Any, body: int) -> Any:
    """`obj` is what a call has returned in the branch or body `body`, perhaps an iterator."""
    if _is_iterator(obj):
        _state.made[id(obj)] = now(body)
    return obj


def now(body: int) -> tuple[int, int]:
    """What is to be known of an iterator that is made now."""
    return body, _state.left


def leave() -> None:
    """A tensor decides how many items have been taken from an iterator, and it from others perhaps."""
    _state.left += 1


def before_advance(obj: Any, body: int) -> None:
    """Somebody is about to take items from `obj`, if that is an iterator, in the branch or body `body`."""
    if (body or _state.left) and _is_iterator(obj):
        known = _state.made.get(id(obj))
        if known is not None:
            require_there(known, body)
        elif body and observer.current() is not None:  # of others a person's graph takes items as ever
            _refuse_elsewhere()


def require_there(known: tuple[int, int], body: int) -> None:
    """Give up if an iterator, of which this is known, is another one in Python."""
    made_in, left = known
    if made_in != body:
        _refuse_elsewhere()
    if left < _state.left:
        refuse_left()


def _refuse_elsewhere() -> None:
    refuse(
        "an iterator is advanced in a branch or loop of the graph that it was not made in",
        "take its items in front of that, into a list",
    )


def refuse_left() -> None:
    """Give up: nobody knows which items are left."""
    refuse("an iterator is used after one was left where only the graph knows", "take its items into a list")


def _is_iterator(obj: Any) -> bool:
    """Whether `obj` is one of Python's own, a generator above all; what a class of the person's does is seen."""
    return isinstance(getattr(type(obj), "__next__", None), WrapperDescriptorType)


def graph_finished() -> None:
    """The last graph under construction in this thread is done."""
    _state.made.clear()
    _state.left = 0
