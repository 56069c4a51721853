"""Lists, dicts and objects in the variables of a loop under construction -> what they may be in any of its iterations.

The first attempt to build the body assumes that they are what nobody else knows, and each another one. What the loop
starts with and how the iteration ends tell more, and the body is built again, as long as there is more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoimport.operators import aliases, copies, heap
from autoimport.operators.structures import Node, Path

Objects = Mapping[Path, Any]


class Carried:
    """What the objects at each position in the variables may be: the number of the variable, and what leads there.

    Attributes:
      outside: the ids of objects from outside the loop that one may be; pairs: which two may be one; firm: those that
        are copies whatever others know; kept: the objects from outside, by id.
      positions, stand_ins: those of the present iteration.
    """

    def __init__(self) -> None:
        self.outside: dict[Path, set[int]] = {}
        self.pairs: set[frozenset[Path]] = set()
        self.firm: set[Path] = set()
        self.kept: dict[int, Any] = {}
        self.positions: list[Path] = []
        self.stand_ins: list[Any] = []

    def begin(self, stand_ins: Objects) -> None:
        """An iteration is going to be built with objects made for the positions."""
        self.note(stand_ins)
        self.positions, self.stand_ins = [*stand_ins], [*stand_ins.values()]

    def note(self, made: Objects, without: Sequence[Any] = ()) -> None:
        """Note it for objects that are made for the positions; `without` says what is outside and they are not."""
        left_out = set(map(id, without))
        for position, obj in made.items():
            for key in self.outside.get(position, set()) - left_out:
                aliases.relate(obj, self.kept[key])
            if position in self.firm:
                copies.carried(obj)
        for pair in self.pairs:
            if all(position in made for position in pair):
                aliases.relate(*(made[position] for position in pair))

    def learn(self, starts: Objects, ends: Objects, known: frozenset[int]) -> bool:
        """Add what the loop starts with and the iteration ends with; whether that is new.

        Args:
          known: the ids of those among `starts` and `ends` that somebody has outside the loop.
        """
        aliases.forget()  # what is gone, and has in it what is not
        ours = {id(obj) for side in (starts, ends) for obj in side.values()}

        def is_outside(obj: Any) -> bool:
            # Three references are of our caller's tuple and name, and our parameter.
            return id(obj) in known if id(obj) in ours else heap.is_known_elsewhere(obj, 3)

        before = self._size()
        stands_at = {id(obj): position for position, obj in zip(self.positions, self.stand_ins, strict=True)}
        for side in (starts, ends):
            for position, obj in side.items():
                outside = self.outside.setdefault(position, set())
                for each in (obj, *aliases.of(obj)):
                    if id(each) in stands_at:
                        outside.update(self.outside.get(stands_at[id(each)], set()))
                    elif is_outside(each):
                        outside.add(id(each))
                        self.kept[id(each)] = each
                if copies.is_firm(obj):
                    self.firm.add(position)
            at = [*side]
            self.pairs.update(frozenset((at[one], at[other])) for one, other in aliases.pairs([*side.values()]))
        return self._size() != before

    def _size(self) -> tuple[int, ...]:
        return sum(map(len, self.outside.values())), len(self.pairs), len(self.firm)


def origins(nodes: Sequence[Node]) -> dict[Path, Any]:
    """The objects that the containers in nodes were made of, or None, by position."""
    return {path: node.origin for k, one in enumerate(nodes) for path, node in one.places((k,))}
