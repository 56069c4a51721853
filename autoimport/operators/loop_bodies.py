"""The body of a loop of the graph -> a tf.while_loop over the variables and places that an iteration changes.

The body is built with the types that its variables start with. Where it ends with other ones, the attempt is undone and
made again with types that hold both; where no type does, `Peel` asks for the first iteration to be taken out.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from autoimport.operators import aliases, copies, heap, observer
from autoimport.operators.accumulators import is_accumulated, widened
from autoimport.operators.carried import Carried, origins
from autoimport.operators.checks import refuse
from autoimport.operators.conditionals import Get, Set
from autoimport.operators.driver import Driver
from autoimport.operators.either import Either
from autoimport.operators.errors import Diverged
from autoimport.operators.growing import known_length, plain_list
from autoimport.operators.holders import known_elsewhere, known_holders
from autoimport.operators.structures import Node, Path, capture, unbounded
from autoimport.operators.undefined import MaybeNone, MaybeUndefined
from autoimport.operators.unification import Mismatch, Unifier, has_items, mismatch_error, note_items

Options = Mapping[str, Any] | None

_ATTEMPTS = 8
_PLAIN_LIST = 256  # the longest list that becomes a Python list again after the loop
_WHERE = "two iterations of a symbolic loop"
# To what a variable has held: of the frame that builds the body, and of its node.
_REFERENCES = 2
# The name of a loop of the graph that is sure to have an iteration: its gradients are there then.
SURE = "autoimport_sure"


class _Again(Exception):
    """An iteration ended with other types than it started with; the attempt is to be repeated with these."""

    def __init__(self, nodes: list[Node], places: list[heap.Place]) -> None:
        super().__init__()
        self.nodes = nodes
        self.places = places


class Peel(Exception):
    """The first iteration is unlike the others: it has to be taken out of the loop. Otherwise `error` is raised."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


@dataclasses.dataclass
class Loop:
    """One loop under construction: its variables and changed places with the types that are tried at present."""

    driver: Driver
    get: Get
    set: Set
    names: list[str]
    places: list[heap.Place]
    nodes: list[Node]
    options: Options
    lengths: dict[int, int] = dataclasses.field(default_factory=dict)
    accumulators: dict[int, tf.DType] = dataclasses.field(default_factory=dict)
    puts: int = 0
    is_first: bool = True
    given: frozenset[int] = frozenset()  # what every iteration gives a value, and there is one
    replaced: frozenset[int] = frozenset()  # what is older than the trace, and every iteration puts something new for
    carried: Carried = dataclasses.field(default_factory=Carried)

    def build(self) -> list[Any]:
        """Try until an iteration ends with the types that it started with; the tensors after the loop."""
        self.puts = copies.puts()
        for attempt in range(_ATTEMPTS):
            self.is_first = attempt == 0
            try:
                return self._attempt(last=attempt == _ATTEMPTS - 1)
            except _Again as again:
                self.nodes, self.places = again.nodes, again.places
        raise AssertionError("the last attempt does not ask for another one")

    def _attempt(self, *, last: bool) -> list[Any]:
        leaves = [leaf for node in self.nodes for leaf in node.flat()]
        start = [*self.driver.start, *(leaf.make() for leaf in leaves)]
        start = [tf.convert_to_tensor(tensor) for tensor in start]
        shapes = [tensor.shape for tensor in start[: len(self.driver.start)]] + [leaf.shape for leaf in leaves]
        n_driver = len(self.driver.start)

        def cond(*tensors: Any) -> Any:
            return self.driver.more(*tensors[:n_driver])

        def body(*tensors: Any) -> list[Any]:
            return self._iteration(tensors[:n_driver], tensors[n_driver:], last)

        outputs = tf.while_loop(cond, body, start, shape_invariants=shapes, **self._keywords())
        return list(outputs)[n_driver:]

    def _keywords(self) -> dict[str, Any]:
        given = {key: value() if callable(value) else value for key, value in (self.options or {}).items()}
        keywords = {key: given[key] for key in ("parallel_iterations", "swap_memory") if given.get(key) is not None}
        most = given.get("maximum_iterations", self.driver.most)
        if self.driver.is_sure and most == self.driver.most:
            keywords["name"] = SURE
        return keywords if most is None else {**keywords, "maximum_iterations": most}

    def _iteration(self, state: tuple[Any, ...], tensors: tuple[Any, ...], last: bool) -> list[Any]:
        outside = self.get()
        with heap.holding(outside), aliases.passing(), heap.journal() as journal:
            try:
                following, ends, changes = self._run_body(journal, state, tensors)
            except Diverged:
                journal.undo()
                self.set(outside)
                return [*self.driver.stop(*state), *tensors]
            except BaseException:
                journal.undo()
                self.set(outside)
                raise
            self.set(outside)
            try:
                pairs = self._unify(self._accumulated(tensors, ends), changes, journal, last)
            except BaseException:
                journal.undo()  # the attempt did not happen
                raise
            journal.undo(list({**dict.fromkeys(self.places), **changes}))
        if self.driver.is_exact:
            self._measure(tensors, [end for _, end in pairs])
        if self.driver.is_sure:
            self.given = frozenset(k for k, end in enumerate(ends) if end.kind not in ("maybe", "constant"))
        return observer.complete([*following, *(tf.identity(leaf.make()) for _, end in pairs for leaf in end.flat())])

    def _measure(self, tensors: tuple[Any, ...], ends: list[Node]) -> None:
        """Note how long the lists will be to which every iteration adds the same number of items."""
        flat = iter(tensors)
        for k, (start, end) in enumerate(zip(self.nodes, ends, strict=True)):
            placeholders = [next(flat) for _ in start.flat()]
            if not has_items(end):
                continue
            before = known_length(start.flat()[0].make(), None)
            growth = known_length(end.flat()[0].make(), placeholders[0])
            if before is not None and growth is not None and self.driver.most is not None:
                self.lengths[k] = before + self.driver.most * growth

    def _accumulated(self, tensors: tuple[Any, ...], ends: list[Node]) -> list[Node]:
        """Let a Python number be carried as one that becomes a tensor in the first iteration (`s = 0.0`, `s += x`).

        This spares a second attempt. It is exact where the body does nothing with the number but to convert it to the
        tensor's type, and where Python's number holds every value of that type.
        """
        self.accumulators.clear()
        flat = iter(tensors)
        result = []
        for k, (start, end) in enumerate(zip(self.nodes, ends, strict=True)):
            placeholders = [next(flat) for _ in start.flat()]
            if start.kind == "number" and is_accumulated(start.label, placeholders[0], end):
                self.accumulators[k] = end.leaves[0].dtype
                end = widened(start.label, end)
            result.append(end)
        return result

    def outcomes(self, tensors: Iterator[Any]) -> list[Any]:
        """The values of the variables and places after the loop."""
        made: dict[Path, Any] = {}
        built = [node.build(tensors, made, (k,)) for k, node in enumerate(self.nodes)]
        starts = [*self.get(), *(place.read() for place in self.places)]
        self.carried.note(self._changeable(made), without=[starts[k] for k in self.replaced])
        return [self._outcome(k, value) for k, value in enumerate(built)]

    def _outcome(self, k: int, value: Any) -> Any:
        """The value of variable or place `k`; a list whose length is known is a Python list again."""
        if k in self.accumulators:
            tensor = tf.cast(value.tensor, self.accumulators[k])
            if observer.current() is None or self.driver.is_sure:
                return tensor
            name = [*self.names, *map(str, self.places)][k]
            start = self.nodes[k].build(iter([leaf.make() for leaf in self.nodes[k].flat()]))
            return Either(name, tensor, start, self.driver.more(*self.driver.start))
        if k in self.given and type(value) in (MaybeNone, MaybeUndefined):
            return value.value
        length = self.lengths.get(k)
        items = None if length is None or length > _PLAIN_LIST else plain_list(value[0], length)
        aliases.join([(value, None, items)] if items else [])
        return items or value

    def _run_body(
        self, journal: heap.Journal, state: tuple[Any, ...], tensors: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], list[Node], dict[heap.Place, Node]]:
        """One iteration: the driver's next tensors, how each variable ends, and what happened to other places."""
        flat = iter(tensors)
        made: dict[Path, Any] = {}
        values = [node.build(flat, made, (k,)) for k, node in enumerate(self.nodes)]
        self.carried.begin(self._changeable(made))
        del made  # so that nobody is thought to know what is in it
        outside, inner = self.get(), self._inner_containers(values)
        old = self._old()
        self.set(tuple(values[: len(self.names)]))
        for place, value in zip(self.places, values[len(self.names) :], strict=True):
            journal.record(place)
            place.write(value)
        with heap.holding(values), heap.holding(self.carried.stand_ins):
            following = self.driver.step(*state)
        if observer.current() is not None:
            self._keep_identity(outside, values, journal)
            if any(id(place.holder) in inner for place in journal.before):
                refuse("a loop changes in place what is in a list, dict or object that it carries")
        ends = [capture(value) for value in self.get()]
        ends += [capture(place.read()) for place in self.places]
        self.replaced = frozenset(k for k in old if _is_new(ends[k], values[k]))
        changes = heap.graph_changes(journal)
        return following, ends, {place: capture(value) for place, value in changes.items() if place not in self.places}

    def _old(self) -> list[int]:
        """Which variables and places the loop starts with what is older than the trace in."""
        starts = [*self.get(), *(place.read() for place in self.places)]
        return [k for k, start in enumerate(starts) if copies.is_changeable(start) and copies.is_old(start)]

    def _changeable(self, objects: dict[Path, Any]) -> dict[Path, Any]:
        """Those of the objects, by position, that a program can change. What is in an object as a whole is none."""
        contents = [(len(self.names) + k,) for k, place in enumerate(self.places) if isinstance(place, heap.Container)]
        return {path: obj for path, obj in objects.items() if path not in contents and copies.is_changeable(obj)}

    def _inner_containers(self, stand_ins: list[Any]) -> dict[int, Any]:
        """What is in the containers that stand in for others in the body."""
        made = [value for node, value in zip(self.nodes, stand_ins, strict=True) if node.kind == "container"]
        return {id(each): each for value in made for each in capture(value).containers() if each is not value}

    def _keep_identity(self, outside: tuple[Any, ...], stand_ins: list[Any], journal: heap.Journal) -> None:
        """Where an iteration has changed a container of a name in place (`items += [x]`), let it change the container
        itself, which others may know, instead of one that stands in for it."""
        nodes, now = list(self.nodes), self.get()
        for k in range(len(now)):
            if stand_ins[k] is outside[k] or heap.Container(stand_ins[k]) not in journal.before:
                continue
            if now[k] is stand_ins[k]:
                nodes[k] = Node("constant", value=outside[k])
            elif heap.is_known_elsewhere(outside[k], _REFERENCES):
                refuse(f"{self.names[k]} is changed in place, and replaced, in a loop")
            else:
                journal.record(heap.Container(outside[k]))  # which may stand in for another one in a loop around
        if any(node is not before for node, before in zip(nodes, self.nodes, strict=True)):
            raise _Again(nodes, self.places)

    def _unify(
        self, ends: list[Node], changes: dict[heap.Place, Node], journal: heap.Journal, last: bool
    ) -> list[tuple[Node, Node]]:
        """Start and end of every variable as one type, if that is the type the attempt was made with."""
        new = self._new_places(changes, journal, ends)
        names = [*self.names, *map(str, self.places)]
        unifier = Unifier(identity=False)
        for start, end in zip(self.nodes, ends, strict=True):
            note_items(start, end)
        pairs = []
        for name, start, end in zip(names, self.nodes, ends, strict=True):
            try:
                pairs.append(unifier.unify(name, start, end))
            except Mismatch as mismatch:
                raise Peel(mismatch_error(name, mismatch, _WHERE)) from None
        _keep_apart(unifier, ", ".join(self.names))
        has_learned = self._learn(pairs, ends, journal)
        same = [start.signature() == node.signature() for (start, _), node in zip(pairs, self.nodes, strict=True)]
        is_done = all(same) and not new
        if is_done and not has_learned:
            if self.is_first and copies.puts() > self.puts:
                raise _Again(self.nodes, self.places)  # what comes from outside the loop is put into its list again
            return pairs
        if is_done and last:
            refuse(f"which of {', '.join(names)} are one object depends on the iteration")
        if last:
            changing = [name for name, is_same in zip(names, same, strict=True) if not is_same]
            changing += [str(place) for place in new]
            error = Mismatch("of one type", "of another one, again and again,")
            raise mismatch_error(", ".join(changing), error, _WHERE)
        starts = [start for start, _ in pairs]
        starts += [self._start_of(place, journal.before[place], changes[place]) for place in new]
        raise _Again([unbounded(start) for start in starts], [*self.places, *new])

    def _learn(self, pairs: list[tuple[Node, Node]], ends: list[Node], journal: heap.Journal) -> bool:
        """Whether the iteration shows that more objects may be one than it was built for."""
        starts, others = ([pair[side] for pair in pairs] for side in (0, 1))
        if observer.current() is None:
            known: frozenset[int] = frozenset()
        else:
            nodes = [*starts, *others, *self.nodes, *ends]
            replaced = *self.get(), *(journal.before[place] for place in self.places)
            known = known_elsewhere(nodes, replaced, Counter(id(place.read()) for place in self.places))
        return self.carried.learn(self._changeable(origins(starts)), self._changeable(origins(others)), known)

    def _new_places(self, changes: dict[heap.Place, Node], journal: heap.Journal, ends: list[Node]) -> list[heap.Place]:
        known = known_holders([*ends, *changes.values()], journal.before, held=self.carried.stand_ins)
        return [place for place in changes if not heap.is_forgotten(place, known)]

    def _start_of(self, place: heap.Place, before: Any, end: Node) -> Node:
        """What a place that the body changes starts with: only the parts of it that change are carried."""
        unifier = Unifier(identity=False)
        start = capture(before)
        note_items(start, end)
        try:
            start, _ = unifier.unify(str(place), start, end)
        except Mismatch as mismatch:
            raise Peel(mismatch_error(str(place), mismatch, _WHERE)) from None
        _keep_apart(unifier, str(place))
        return start


def _is_new(end: Node, stand_in: Any) -> bool:
    """Whether an iteration ends with a list, dict or object that it has made."""
    is_made = end.kind == "container" and end.value is not None and end.value is not stand_in
    return is_made and not copies.is_copy(end.value)


def _keep_apart(unifier: Unifier, name: str) -> None:
    """In traces of our own a Python number stays one where there is no iteration that makes it a tensor."""
    if unifier.weak and observer.current() is not None:
        raise Peel(mismatch_error(name, Mismatch("a Python number", "a tensor"), _WHERE))
