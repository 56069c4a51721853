"""A call and its graph -> both are run from the same state, and whatever differs is told (`--verify`).

In: a specialisation in one of its first launches. The graph runs first, and what it would change in Python is kept, not
changed; then variables and random generators are put back, and plain Python makes the call. Out: what plain Python made
of it, which the program goes on with.

Results, variables, random generators, prints, and the places that either of them changes are compared: to the bit, but
for floats. There the last bits may differ, since TensorFlow's threads split sums of convolutions and products as they
please, in eager mode too: up to `TOLERANCE` units in the last place of a tensor's largest value pass, and are counted
at the end of the program. Of a region it is the graph form, run eagerly, that stands for plain Python. What a launch
leaves to eager is not compared, but must have changed nothing. Not seen: `tf.print`, which prints both times,
logging and warnings.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import inspect
import io
import os
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport import config
from autoimport.operators.heap import MISSING
from autoimport.staging import gate, log, objects, randomness, registry, tf_internals, trust
from autoimport.staging.launch import EAGER, MISS, Specialisation
from autoimport.staging.wording import counted, counted_sites

# In units in the last place of the largest value of a tensor; with fidelity = "fast" TensorFlow may do as it likes.
TOLERANCE = {"exact": 256, "fast": 1 << 14}
_EXIT_CODE = 2


@dataclass(frozen=True)
class Difference:
    """What a graph does otherwise: where, and both sides as text."""

    where: str
    graph: str
    python: str


@dataclass
class Tally:
    """What has been verified in this process.

    Attributes:
      launches: that were compared; sites: of these.
      rounded: how many values differed in the last bits, and by how many units at most.
    """

    launches: int = 0
    sites: set[registry.Site] = dataclasses.field(default_factory=set)
    rounded: int = 0
    units: float = 0.0


tally = Tally()


def launch(site: registry.Site, held: Specialisation, frame: types.FrameType, cells: Any, args: tuple[Any, ...]) -> Any:
    """As `Specialisation.call`, with what plain Python returns instead of the graph's result.

    Raises:
      SystemExit: there is a difference, and it is to stop the program.
      Whatever the call raises in plain Python.
    """
    closure = cells.__closure__ if cells is not None else ()
    before = State.now(held)
    try:
        answer = held.answer(frame.f_globals, closure, args)
    except tf.errors.OpError:
        answer = EAGER  # which says it better
        before.restore()
    if answer is MISS:
        return MISS
    held.unverified -= 1
    after = State.now(held)
    if answer is EAGER:
        _judge(site, list(before.differences(after, "when its call is left to plain Python")))
        return EAGER
    before.restore()
    result, changes = answer
    places = Places.now(frame.f_globals, closure, args)
    with _plainly(), _noting_prints() as printed:
        try:
            in_python = _body(site, frame, cells, args)()
        except Exception as error:
            _judge(site, [Difference("what it raises", "nothing", f"{type(error).__name__}: {error}")])
            raise
    tally.launches += 1
    tally.sites.add(site)
    differences = [*compare("its result", result, in_python), *after.differences(State.now(held), "after the call")]
    _judge(site, [*differences, *_prints(changes, printed), *places.differences(changes)])
    return in_python


def summary() -> str:
    """One line about all that has been verified."""
    text = f"autoimport: verify: compared {counted(tally.launches, 'launch')} of {counted_sites(tally.sites)}"
    if tally.rounded:
        return f"{text}; {tally.rounded} floats differ in the last bits, by {tally.units:.3g} units at most"
    return f"{text}, nothing differs"


def _judge(site: registry.Site, differences: list[Difference]) -> None:
    if not differences:
        return
    first = differences[0]
    stops = config.current().verify == "stop"
    then = "stops here" if stops else f"goes on, {site.facts.name} runs eagerly from now on"
    print(
        f"autoimport: {site.module.file}:{site.facts.line}: verify: {site.facts.name} as a graph differs from plain"
        f" Python in {first.where}; the program {then}. Please report this.\n"
        f"  graph:        {first.graph}\n  plain Python: {first.python}",
        file=sys.stderr,
        flush=True,
    )
    site.close("eager", f"verify: as a graph it differs in {first.where} ({first.graph}, not {first.python})")
    if not stops:
        return
    if threading.current_thread() is not threading.main_thread():
        sys.stdout.flush()
        os._exit(_EXIT_CODE)  # an exception would end this thread only
    raise SystemExit(_EXIT_CODE)


# Both ways ----------------------------------------------------------------------------------------------------------


def _body(site: registry.Site, frame: types.FrameType, cells: Any, args: tuple[Any, ...]) -> Callable[[], Any]:
    """The call as plain Python: of a function the code whose gate it is, of a region its form."""
    if site.kind == "region":
        form = registry.form_of(site, frame.f_globals, cells)
        return lambda: form(*args)
    code = frame.f_code
    held = dict(zip(cells.__code__.co_freevars, cells.__closure__, strict=True)) if cells is not None else {}
    closure = tuple(held[name] for name in code.co_freevars)
    function = types.FunctionType(code, frame.f_globals, code.co_name, None, closure)
    rest = list(args)
    positional = [rest.pop(0) for _ in range(code.co_argcount)]
    if code.co_flags & inspect.CO_VARARGS:
        positional.extend(rest.pop(0))
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    keywords = {name: rest.pop(0) for name in names}
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords.update(rest.pop(0))
    return lambda: function(*positional, **keywords)


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    gate.results.plain += 1
    try:
        yield
    finally:
        gate.results.plain -= 1


@contextlib.contextmanager
def _noting_prints() -> Iterator[list[str]]:
    """The texts that this thread prints."""
    printed: list[str] = []
    original, thread = builtins.print, threading.get_ident()

    def noting(*args: Any, **kwargs: Any) -> None:
        if threading.get_ident() == thread:
            printed.append(_printed(args, kwargs))
        original(*args, **kwargs)

    builtins.print = noting
    try:
        yield printed
    finally:
        builtins.print = original


def _printed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    out = io.StringIO()
    _print(*args, **{**kwargs, "file": out, "flush": False})
    return out.getvalue()


_print = builtins.print


def _prints(changes: list[Any], printed: list[str]) -> Iterator[Difference]:
    acts = [value for _, _, value, store in changes if store is log.act and value is not None]
    claimed = [_printed(act.args, act.keywords) for act in acts if act.func is _print]
    if claimed != printed:
        yield Difference("what it prints", repr("".join(claimed)), repr("".join(printed)))


@dataclass(frozen=True)
class State:
    """Variables and random generators at one time."""

    variables: list[tuple[Any, Any]]
    of_tensorflow: Any
    of_python: Any
    of_numpy: Any

    @classmethod
    def now(cls, held: Specialisation) -> State:
        """The state, with the variables that a graph may change."""
        variables = [(each, each.read_value()) for each in held.function.graph.variables]
        legacy = np.random.get_state(legacy=True)
        return cls(variables, randomness.snapshot(), random.getstate(), legacy)

    def restore(self) -> None:
        """Make it the state again."""
        for variable, value in self.variables:
            variable.assign(value)
        randomness.restore(self.of_tensorflow)
        random.setstate(self.of_python)
        np.random.set_state(self.of_numpy)

    def differences(self, later: State, when: str) -> Iterator[Difference]:
        """Where another state differs from this one."""
        for (variable, ours), (_, theirs) in zip(self.variables, later.variables, strict=True):
            yield from compare(f"the variable {variable.name} {when}", ours, theirs)
        streams = (
            ("TensorFlow's", randomness.ahead(self.of_tensorflow), randomness.ahead(later.of_tensorflow)),
            ("Python's", hash(self.of_python), hash(later.of_python)),
            ("numpy's", hash(str(self.of_numpy)), hash(str(later.of_numpy))),
        )
        for whose, ours, theirs in streams:
            if ours != theirs:
                yield Difference(f"the state of {whose} random numbers {when}", f"{ours}", f"{theirs}")


@dataclass(frozen=True)
class Places:
    """What the namespace, the cells, and the objects among the arguments hold, before plain Python makes the call."""

    held: list[tuple[Any, str, dict[Any, Any]]]
    lengths: list[tuple[list[Any], str, int]]

    @classmethod
    def now(cls, namespace: dict[str, Any], cells: tuple[Any, ...], args: tuple[Any, ...]) -> Places:
        """As they are now."""
        held: list[tuple[Any, str, dict[Any, Any]]] = [(namespace, "the global ", dict(namespace))]
        lengths: list[tuple[list[Any], str, int]] = []

        def note(value: Any, name: str) -> None:
            if type(value) is list:
                lengths.append((value, name, len(value)))
            elif type(value) is dict:
                held.append((value, f"{name}, item ", dict(value)))
            elif _is_plain_object(value):
                held.append((value, f"attribute {name}.", dict(vars(value))))
                for key, item in vars(value).items():
                    if type(item) in {list, dict}:
                        note(item, f"{name}.{key}")

        for name, value in namespace.items():
            if not name.startswith("__"):
                note(value, name)
        for cell in cells:
            with contextlib.suppress(ValueError):
                held.append((cell, "a variable of the enclosing function", {None: cell.cell_contents}))
        for value in args:
            note(value, f"a {type(value).__name__}")
        return cls(held, lengths)

    def differences(self, changes: list[Any]) -> Iterator[Difference]:
        """Where the changes that a graph would make are not those that plain Python has made since."""
        told: set[tuple[int, Any]] = set()
        # Calls that change a container name it first; what becomes of it is not looked at.
        called = {id(value.args[0]) for *_, value, store in changes if store is log.act and value and value.args}
        for holder, key, value, store in changes:
            if store is log.extend:
                told.add((id(holder), None))
                yield from compare("a list that it appends to", value, holder[len(holder) - len(value) :])
            elif store is not log.act and value is not MISSING:
                told.add((id(holder), key))
                yield from compare(f"what it stores to {key or 'a variable outside'}", value, _read(holder, key))
        for holder, name, before in self.held:
            if id(holder) in called:
                continue
            now = _contents(holder)
            for key in before.keys() | now.keys():
                is_other = before.get(key, MISSING) is not now.get(key, MISSING)
                if is_other and (id(holder), key) not in told and list(compare("", before.get(key), now.get(key))):
                    yield Difference(f"{name}{key or ''}, which it changes", "unchanged", _short(now.get(key)))
        for items, name, length in self.lengths:
            if len(items) != length and (id(items), None) not in told and id(items) not in called:
                yield Difference(f"the length of {name}", str(length), str(len(items)))


def _is_plain_object(value: Any) -> bool:
    cls = type(value)
    if issubclass(cls, (type, types.ModuleType, types.FunctionType)) or not hasattr(value, "__dict__"):
        return False
    return not trust.is_library_type(cls) and not trust.owns_state(cls)


def _contents(holder: Any) -> dict[Any, Any]:
    if isinstance(holder, types.CellType):
        return {None: holder.cell_contents}
    return dict(holder) if type(holder) is dict else dict(vars(holder))


def _read(holder: Any, key: Any) -> Any:
    if isinstance(holder, types.CellType):
        return holder.cell_contents
    if isinstance(holder, list):
        return holder[key] if -len(holder) <= key < len(holder) else MISSING
    return holder.get(key, MISSING) if isinstance(holder, dict) else getattr(holder, key, MISSING)


# Values -------------------------------------------------------------------------------------------------------------


def compare(where: str, ours: Any, theirs: Any) -> Iterator[Difference]:
    """Where a graph's value is not what plain Python's is."""
    if ours is theirs:
        return
    if type(ours) is not type(theirs):
        yield Difference(where, _short(ours), _short(theirs))
    elif isinstance(ours, (tf_internals.EagerTensor, np.ndarray, np.generic, float)):
        yield from _compare_arrays(where, ours, theirs)
    elif isinstance(ours, tf.__internal__.CompositeTensor) and not isinstance(ours, tf.Variable):
        flat = (tf.nest.flatten(each, expand_composites=True) for each in (ours, theirs))
        yield from compare(where, *flat)
    elif isinstance(ours, dict):
        yield from compare(f"the keys of {where}", list(ours), list(theirs))
        for key in ours.keys() & theirs.keys():
            yield from compare(f"{where}[{key!r}]", ours[key], theirs[key])
    elif isinstance(ours, (list, tuple)):
        if len(ours) != len(theirs):
            yield Difference(f"the length of {where}", str(len(ours)), str(len(theirs)))
        for index, (mine, their) in enumerate(zip(ours, theirs, strict=False)):
            yield from compare(f"{where}[{index}]", mine, their)
    elif isinstance(ours, collections.deque):
        yield from compare(where, [*ours, ours.maxlen], [*theirs, theirs.maxlen])
    elif (held := objects.attributes(ours)) is not None and _is_new_each_time(ours):
        yield from compare(where, held, objects.attributes(theirs))
    elif ours != theirs:  # objects are equal if they are the same, unless their class knows better
        yield Difference(where, _short(ours), _short(theirs))


def _is_new_each_time(value: Any) -> bool:
    """Whether it tells nothing that two objects of this class are two."""
    cls: Any = type(value)
    return dataclasses.is_dataclass(cls) or cls.__eq__ is object.__eq__


def _compare_arrays(where: str, ours: Any, theirs: Any) -> Iterator[Difference]:
    kinds = [(getattr(each, "dtype", float), getattr(each, "shape", ())) for each in (ours, theirs)]
    if kinds[0] != kinds[1]:
        yield Difference(where, *(f"{dtype} of shape {tuple(shape)}" for dtype, shape in kinds))
        return
    if getattr(ours, "dtype", None) in (tf.variant, tf.resource):
        return
    mine, their = np.asarray(ours), np.asarray(theirs)
    is_same = (mine == their) & (np.signbit(mine) == np.signbit(their)) if mine.dtype.kind == "f" else mine == their
    is_same = is_same | ((mine != mine) & (their != their))
    if is_same.all():
        return
    units = _units_apart(mine, their)
    if units <= TOLERANCE[config.current().fidelity]:
        tally.rounded += int((~is_same).sum())
        tally.units = max(tally.units, units)
        return
    at = tuple(int(i) for i in np.argwhere(~is_same)[0])
    place = f"{where}, element {list(at)}" if at else where
    yield Difference(place, f"{mine[at]!r}", f"{their[at]!r}")


def _units_apart(mine: Any, their: Any) -> float:
    """How far floats are apart at most, in units in the last place of the largest of them; infinite if not floats."""
    precision = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
    precision |= {"complex64": 2.0**-23, "complex128": 2.0**-52}
    if mine.dtype.name not in precision:
        return float("inf")
    wide = np.complex128 if mine.dtype.kind == "c" else np.float64
    x, y = mine.astype(wide), their.astype(wide)
    if not (np.isfinite(x) == np.isfinite(y)).all():
        return float("inf")
    finite = np.isfinite(x)
    if not (x[~finite].astype(str) == y[~finite].astype(str)).all():
        return float("inf")
    largest = float(np.abs(y[finite]).max(initial=0.0))
    apart = float(np.abs(x[finite] - y[finite]).max(initial=0.0))
    return apart / (largest * precision[mine.dtype.name]) if largest else (0.0 if apart == 0 else float("inf"))


def _short(value: Any) -> str:
    text = "nothing" if value is MISSING else " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}..."
