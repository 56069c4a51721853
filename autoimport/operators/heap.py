"""Changes of objects inside a symbolic branch or loop -> a journal that can undo them and say what they were.

The access operators call `before_...` ahead of each change. Without an open journal that costs one test. With one, the
place (attribute, cell, global, or container as a whole) is remembered with its old value, once. At the end of the
branch the conditional asks for the changed places, undoes them, and writes each merged value once; a loop carries them.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CellType, MemberDescriptorType
from typing import Any

import tensorflow as tf

from autoimport.operators import aliases, copies, iterators, observer
from autoimport.operators.numbers import DTYPES, Number
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeUndefined


class _Missing:
    def __repr__(self) -> str:
        return "<nothing>"


MISSING: Any = _Missing()


class Place:
    """Somewhere that a value can be stored; two places are equal if they are the same spot of the same object."""

    def __init__(self, holder: Any, name: Any = None) -> None:
        self.holder = holder
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, Any]:
        return id(self.holder), self.name

    def read(self) -> Any:
        """The value stored here, or MISSING."""
        raise NotImplementedError

    def write(self, value: Any) -> None:
        """Store `value`, or remove what is there if it is MISSING."""
        raise NotImplementedError

    def inherited(self) -> Any:
        """What the program finds here while nothing is stored, or MISSING."""
        return MISSING

    def holds_same(self, new: Any, old: Any) -> bool:
        """Whether to store `new` here, where `old` was read, is no change."""
        return new is old

    def __str__(self) -> str:
        raise NotImplementedError


class Attribute(Place):
    """An instance attribute. Written past `__setattr__`, which has already seen the person's own assignment."""

    def read(self) -> Any:
        values = getattr(self.holder, "__dict__", None)
        if values is not None and self.name in values:
            return values[self.name]
        slot = getattr(type(self.holder), self.name, None)
        if isinstance(slot, MemberDescriptorType):
            return getattr(self.holder, self.name, MISSING)
        return MISSING

    def write(self, value: Any) -> None:
        if isinstance(self.holder, type):
            type.__delattr__(self.holder, self.name) if value is MISSING else setattr(self.holder, self.name, value)
        elif value is not MISSING:
            object.__setattr__(self.holder, self.name, value)
        elif self.read() is not MISSING:
            object.__delattr__(self.holder, self.name)

    def inherited(self) -> Any:
        owner = showing_class(self.holder, self.name)
        return MISSING if owner is None else vars(owner)[self.name]

    def __str__(self) -> str:
        return f"{type(self.holder).__name__}.{self.name}"


def showing_class(obj: Any, name: str) -> type | None:
    """The class whose attribute an object, or a class below it, shows as long as it has none of its own."""
    classes = obj.__mro__[1:] if isinstance(obj, type) else type(obj).__mro__
    return next((cls for cls in classes if name in vars(cls)), None)


class Global(Place):
    """A name in a module's namespace."""

    def read(self) -> Any:
        return self.holder.get(self.name, MISSING)

    def write(self, value: Any) -> None:
        if value is MISSING:
            self.holder.pop(self.name, None)
        else:
            self.holder[self.name] = value

    def __str__(self) -> str:
        return f"global {self.name}"


class Cell(Place):
    """The variable of an enclosing function."""

    def read(self) -> Any:
        try:
            return self.holder.cell_contents
        except ValueError:
            return MISSING

    def write(self, value: Any) -> None:
        if value is not MISSING:
            self.holder.cell_contents = value
        elif self.read() is not MISSING:
            del self.holder.cell_contents

    def __str__(self) -> str:
        return "a variable of an enclosing function"


class Container(Place):
    """The contents of a list, dict or set, as a whole."""

    def read(self) -> Any:
        return self.holder.copy() if not isinstance(self.holder, list) else list(self.holder)

    def write(self, value: Any) -> None:
        if isinstance(self.holder, list):
            self.holder[:] = value
        else:
            self.holder.clear()
            self.holder.update(value)

    def holds_same(self, new: Any, old: Any) -> bool:
        if isinstance(new, list):
            return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
        if isinstance(new, dict):
            return list(new) == list(old) and all(new[key] is old[key] for key in new)
        return bool(new == old)

    def __str__(self) -> str:
        return f"a {type(self.holder).__name__} changed in place"


_numbers = itertools.count(1)


class Journal:
    """What was changed since it was opened: each place with the value it had."""

    def __init__(self) -> None:
        self.before: dict[Place, Any] = {}
        self.number = next(_numbers)
        self.graph = tf.compat.v1.get_default_graph()

    def record(self, place: Place) -> None:
        if place not in self.before:
            self.before[place] = place.read()

    def changes(self) -> dict[Place, Any]:
        """The places whose value is now another one, with that value, in the order in which they were changed."""
        now = {place: place.read() for place in self.before}
        return {place: value for place, value in now.items() if not place.holds_same(value, self.before[place])}

    def undo(self, places: list[Place] | None = None) -> None:
        """Give the places (all of them by default) their old values back."""
        for place in reversed(list(self.before) if places is None else places):
            place.write(self.before[place])


class _State(threading.local):
    def __init__(self) -> None:
        self.journals: list[Journal] = []
        self.loops = 0
        self.held: list[Sequence[Any]] = []
        # In graphs of the person's: what places had, a number or nothing, before they became symbolic.
        self.settled: dict[Place, Any] = {}


_state = _State()


def body() -> int:
    """Which branch or body is being built in this thread, the innermost; 0 if none is."""
    return _state.journals[-1].number if _state.journals else 0


def depth() -> int:
    """How many branches and bodies, one in another, are being built in this thread."""
    return len(_state.journals)


def body_graph() -> Any:
    """The graph of the innermost branch or body, or None."""
    return _state.journals[-1].graph if _state.journals else None


def in_symbolic_body() -> bool:
    """Whether a branch of a symbolic conditional or the body of a symbolic loop is being built in this thread."""
    return bool(_state.journals)


def in_symbolic_loop() -> bool:
    """Whether that is, at any depth, in the body of a symbolic loop."""
    return _state.loops > 0


@contextmanager
def symbolic_loop() -> Iterator[None]:
    """The body of a symbolic loop is built in the block, its first iteration apart or not."""
    _state.loops += 1
    try:
        yield
    finally:
        _state.loops -= 1


@contextmanager
def journal() -> Iterator[Journal]:
    """Record changes while the block runs. What is not undone in it is the surrounding journal's business."""
    opened = Journal()
    is_new = opened.graph is not body_graph()
    _state.journals.append(opened)
    try:
        yield opened
    finally:
        _state.journals.pop()
        trace = observer.current()
        if trace is not None and is_new:
            trace.built(opened.graph)
        if _state.journals:
            for place, value in opened.before.items():
                _state.journals[-1].before.setdefault(place, value)


def record(place: Place) -> None:
    """`place` is about to be written."""
    if _state.journals:
        _state.journals[-1].record(place)


@contextmanager
def holding(values: Sequence[Any]) -> Iterator[None]:
    """While the block runs, these are values of variables that we keep for the person's code."""
    _state.held.append(values)
    try:
        yield
    finally:
        _state.held.pop()


def held() -> list[Sequence[Any]]:
    """What `holding` keeps at present."""
    return _state.held


def journals() -> list[dict[Place, Any]]:
    """What each open journal has noted, from the outermost on."""
    return [each.before for each in _state.journals]


def is_known_elsewhere(obj: Any, references: int) -> bool:
    """Whether somebody but us knows an object: the caller has so many `references` to it, besides what is held."""
    ours = sum(value is obj for values in _state.held for value in values) + copies.references(obj)
    noted = {id(place) for journal in _state.journals for place in journal.before if place.holder is obj}
    ours += len(noted)  # journals share their places
    return sys.getrefcount(obj) > references + ours + 2  # our parameter, and getrefcount's argument


def before_attr(obj: Any, name: str) -> None:
    """An attribute of `obj` is about to be set or deleted."""
    copies.before_change(obj)
    if not _state.journals:
        return
    found = getattr(type(obj), name, None)
    if hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType):
        return  # a property: its setter's own assignments count
    record(_place(Attribute, obj, name))


def _place(kind: type[Place], holder: Any, name: Any = None) -> Place:
    """The place itself, or where a trace of ours keeps its new value: what is older than the trace is not touched."""
    trace = observer.current()
    logged = trace.place(kind.__name__.lower(), holder, name) if trace is not None else None
    return kind(holder, name) if logged is None else logged


def before_global(namespace: dict[str, Any], name: str) -> None:
    """A global is about to be set or deleted."""
    if _state.journals:
        record(_place(Global, namespace, name))


def before_cell(cell: CellType) -> None:
    """A variable of an enclosing function is about to be set."""
    if _state.journals:
        record(_place(Cell, cell))


def before_item(container: Any, key: Any) -> None:
    """An item is about to be set or deleted."""
    copies.before_change(container)
    trace = observer.current()
    logged = trace.place("item", container, key) if trace is not None and _state.journals else None
    if logged is None:
        before_container(container)
    else:
        record(logged)


def before_container(obj: Any) -> None:
    """A list, dict or set is about to be changed in place. Other objects answer for themselves."""
    copies.before_change(obj)
    if _state.journals and isinstance(obj, (list, dict, set)):
        record(Container(obj))


def is_forgotten(place: Place, known: Mapping[int, int]) -> bool:
    """Whether nobody but us knows the object that `place` belongs to; `known` counts our references by object id.

    Then the object was made by the branch or body that has just been undone, and its changes concern nobody.
    """
    ours = known.get(id(place.holder), 0) + copies.references(place.holder)
    return sys.getrefcount(place.holder) <= ours + 1  # one is getrefcount's argument


def is_namespace(holder: Any) -> bool:
    """Whether a dict holds a module's globals, at whose order nobody looks."""
    return isinstance(holder, dict) and "__builtins__" in holder


def graph_changes(journal: Journal) -> dict[Place, Any]:
    """The changes that belong to the graph being built.

    In a trace of our own that is all of them. In a graph that the person asked for it is places that hold symbolic
    values, which could not leave the branch otherwise, or have held some of that graph, and numbers. All other Python
    effects stay what they are without us (once, while tracing).
    """
    changes = journal.changes()
    if observer.current() is not None:
        return changes
    counts = {
        place: old
        for place, old in journal.before.items()
        if place in changes and _counts(place.inherited() if old is MISSING else old, changes[place])
    }
    of_graph = {
        place: value
        for place, value in changes.items()
        if place in counts or holds_symbolic(value) or _holds(journal.before[place], _is_of_graph)
    }
    for place in of_graph:
        if place in counts or journal.before[place] is MISSING:
            _state.settled.setdefault(place, journal.before[place])
    return of_graph


def _counts(old: Any, new: Any) -> bool:
    """Whether `new` is `old` with other numbers in it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and _counts(list(old.values()), list(new.values()))
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(a is b or _counts(a, b) for a, b in zip(old, new, strict=True))
    return type(old) in DTYPES and type(new) in DTYPES


def graph_finished() -> None:
    """The last graph under construction in this thread is done: what outlives it may hold no symbolic number, nor what
    only a branch has stored."""
    for place, old in _state.settled.items():
        place.write(_settled(place.read(), old))
    _state.settled.clear()
    aliases.graph_finished()
    copies.graph_finished()
    iterators.graph_finished()


def _settled(value: Any, old: Any) -> Any:
    """`value` with the numbers of `old` instead of symbolic ones."""
    if isinstance(value, dict) and isinstance(old, dict):
        return {key: _settled(item, old.get(key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(old, list):
        return [_settled(*pair) for pair in zip(value, [*old, *value[len(old) :]], strict=False)]
    if old is MISSING:
        return value if isinstance(value, tf.Tensor) else old
    return old if type(old) in DTYPES and isinstance(value, (Number, tf.Tensor)) else value


def holds_symbolic(value: Any) -> bool:
    """Whether `value` is symbolic or a container of something symbolic."""
    return _holds(value, _is_symbolic_value)


def _holds(value: Any, asked: Callable[[Any], bool]) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds(item, asked) for item in value)
    if isinstance(value, dict):
        return any(_holds(item, asked) for item in value.values())
    return asked(value)


def _is_symbolic_value(value: Any) -> bool:
    is_any = is_symbolic(value) or isinstance(value, MaybeUndefined)
    return is_any and not isinstance(value, (tf.Variable, tf.data.Dataset, tf.data.Iterator))


def _is_of_graph(value: Any) -> bool:
    """Whether `value` has been made in the graph under construction."""
    made_in = getattr(value.tensor if isinstance(value, Number) else value, "graph", None)
    graph = tf.compat.v1.get_default_graph()
    while graph is not None and graph is not made_in:
        graph = getattr(graph, "outer_graph", None)
    return graph is not None
