"""Objects that a branch or loop under construction has -> whether anybody else has them, by counting references.

What is held by ourselves while a graph is built is known: nodes, journals, values of variables that are put back later,
and what is in objects that nobody but these has.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autoimport.operators import copies, heap
from autoimport.operators.structures import Node


def known_elsewhere(nodes: Sequence[Node], replaced: tuple[Any, ...], held: Counter[int]) -> frozenset[int]:
    """The ids of the containers in the nodes that others have, too: an object or a name.

    Args:
      replaced: the values of the variables and places that get what is made of the nodes.
      held: how often the caller has some objects, by id, besides.
    """
    kept = {id(values): values for values in (*heap.held(), replaced)}.values()
    known = Counter(id(value) for values in (*kept, replaced) for value in values) + held
    return frozenset(_holders(nodes, heap.journals(), known)[1])


def known_holders(nodes: Iterable[Node], *journaled: Iterable[heap.Place], held: Sequence[Any] = ()) -> Counter[int]:
    """How many references to each object, by its id, are ours: of nodes, places, and objects that only these hold.

    Where `journaled` has the old values of its places, what is in their copies of containers is held by us, too, and
    `held` by the caller.
    """
    return _holders(nodes, journaled, Counter(map(id, held)))[0]


def _holders(
    nodes: Iterable[Node], journaled: Iterable[Iterable[heap.Place]], known: Counter[int]
) -> tuple[Counter[int], list[int]]:
    """The references that are ours, `known` among them, and the ids of the objects to which there are others."""
    places = {id(place): place for some in journaled for place in some}.values()
    known = known + Counter(id(place.holder) for place in places)
    olds = [old for some in journaled if isinstance(some, Mapping) for place, old in some.items()
            if isinstance(place, heap.Container)]  # fmt: skip
    for copy in {id(old): old for old in olds}.values():
        known.update(_parts(copy))
    objects = {id(place.holder): place.holder for place in places}
    for node in _all(nodes):
        known[id(node.origin)] += node.kind != "constant"
        if node.kind == "container" and node.origin is not None:
            objects[id(node.origin)] = node.origin
    waiting = list(objects)
    while waiting:
        # One reference is in `objects`, one is getrefcount's argument.
        ours = [
            key for key in waiting
            if sys.getrefcount(objects[key]) <= known[key] + copies.references(objects[key]) + 2
        ]  # fmt: skip
        if not ours:
            break
        for key in ours:
            waiting.remove(key)
            known.update(_parts(objects[key]))
    return known, waiting


def _all(nodes: Iterable[Node]) -> Iterable[Node]:
    """The nodes and those below, each once."""
    found: dict[int, Node] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if found.setdefault(id(node), node) is node:
            waiting += node.children
    return found.values()


def _parts(holder: Any) -> list[int]:
    """The ids of what an object holds, once for each reference."""
    if isinstance(holder, (list, tuple)):
        return [id(item) for item in holder]
    if isinstance(holder, dict):
        return [id(value) for value in holder.values()]
    if type(holder).__dictoffset__:
        return [id(holder.__dict__), *(id(value) for value in holder.__dict__.values())]
    return []
