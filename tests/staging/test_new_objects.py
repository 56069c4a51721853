"""Objects that a function makes and returns or stores: after each launch of their own class, one where eager has one."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging import programs

_PROGRAM = """
import collections, dataclasses, weakref
class Plain:
    kind = "plain"
    def __init__(self, a, b):
        self.a = a
        self.b = b
    @property
    def both(self): return [self.a, self.b]
class Child(Plain): pass
class Slots:
    __slots__ = ("a", "b", "__dict__")
    def __init__(self, a, b):
        self.a = a
        self.more = b
class Finalized(Plain):
    def __del__(self): pass
class Watched:
    def __init__(self, a): self.a = a
    def __setattr__(self, name, value):
        watched.append(name)
        object.__setattr__(self, name, value)
class Listed(list): pass
class Failed(Exception): pass
@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: int = 3
@dataclasses.dataclass
class Data:
    a: object
    b: list = dataclasses.field(default_factory=list)
    c: int = dataclasses.field(default=0, init=False)
    def __post_init__(self): self.c = len(self.b)
@dataclasses.dataclass(slots=True)
class SlotData:
    a: object
    b: int = 0
class Generated:
    # What attrs makes: an __init__ that is not converted, over plain attributes.
    __attrs_attrs__ = ()
    exec("def __init__(self, a): self.a = a")
Named = collections.namedtuple("Named", "a b")
class State: pass
state = State(); state.kept = None; state.more = None
watched = []
def step(x, k):
    y = tf.reduce_sum(x * x + 2.0) - 1.0
BODY
def told(v, seen):
    if id(v) in seen and type(v).__module__ == __name__: return seen[id(v)]
    number = seen.setdefault(id(v), len(seen))
    if isinstance(v, (list, tuple, collections.deque)):
        held = [told(i, seen) for i in v] + [getattr(v, "maxlen", None)]
    elif isinstance(v, dict):
        held = [(key, told(i, seen)) for key, i in v.items()]
    elif type(v).__module__ == __name__:
        names = [*getattr(v, "__dict__", ()), *("a b".split() if not hasattr(v, "__dict__") else ())]
        held = [(n, told(getattr(v, n), seen)) for n in names if hasattr(v, n)]
        if hasattr(type(v), "__slots__") and hasattr(v, "a"): held.append(told(v.a, seen))
    else:
        return repr(v) if not tf.is_tensor(v) else (number, v.numpy().tolist())
    return type(v).__name__, number, held
def main():
    for k in range(5):
        print(told(step(tf.constant([1.0, 2.0]) * k, k), {}))
        print(told([state.kept, state.more], {}), watched)
"""


def step_of(body: str) -> registry.Site:
    """The site of `step(x, k)` with this body, after a run that makes what plain Python makes."""
    return programs.same(_PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))).sites["step"]


GRAPHS = {
    "of a plain class": "p = Plain(y, k)\np.c = [x]\nreturn p, Child(x, p), p.both",
    "with slots": "return Slots(y, k), SlotData(y, k)",
    "named tuples and dataclasses": "return Named(y, Frozen(x)), Data(y), Data(x, [k]), dataclasses.replace(Frozen(y), b=k)",
    "of a generated class": "return Generated(y)",
    "dicts in order and deques": """
        d = collections.OrderedDict(b=y)
        d['a'] = k
        q = collections.deque([y], maxlen=2)
        q.append(k)
        q.appendleft(x)
        return d, q, collections.deque()
        """,
    "one list at many places": "a = [y]\nb = a, a\nreturn a, {'a': a, 'b': b}, b, [a]",
    "one object, returned and stored": "p = Plain(y, 1)\nstate.kept = p\nstate.more = [p]\nreturn Plain(p, p), p",
    "stored, then changed": "state.kept = []\nstate.kept.append(y)\nstate.more = state.kept\nreturn state.kept",
    "changed after being stored": "p = Plain(y, 1)\nstate.kept = p\np.b = 2\np.c = x\nreturn p.b",
    "read again": "state.kept = Plain(y, x)\nreturn state.kept.a + tf.reduce_sum(state.kept.b)",
    "one of numpy's": "a = x.numpy()\nstate.kept = a\nreturn [a, a], y.numpy()",
    "in a branch": "r = None\nif y > 20.0:\n    r = Named(y, [x])\nreturn r",
    "the state of the last call": "last = state.kept\nstate.kept = Plain(y if last is None else last.a + y, k)\nreturn k",
}
EAGER = {
    "a setter of the program's": "return Watched(y)",
    "what holds itself": "p = Plain(y, 1)\np.b = p\nstate.kept = p\nreturn k",
    "with a finalizer": "return Finalized(y, 1)",
    "built on a list": "a = Listed()\na.append(y)\nreturn a",
    "an exception": "return Failed(y)",
    "a weak reference": "p = Plain(y, 1)\nreturn p, weakref.ref(p)",
}


@pytest.mark.parametrize("body", GRAPHS.values(), ids=GRAPHS)
def test_new_objects_are_results(body: str) -> None:
    site = step_of(body)
    assert ("graph", None) == (site.state, site.reason)


@pytest.mark.parametrize("body", EAGER.values(), ids=EAGER)
def test_objects_that_a_copy_would_not_equal_stay_eager(body: str) -> None:
    assert "eager" == step_of(body).state


def test_objects_made_on_one_way_of_a_branch_keep_what_that_way_gave_them() -> None:
    programs.same(
        """
        class Plain:
            def __init__(self, x, y): self.x, self.y = x, y
        class Slotted:
            __slots__ = ("x", "y")
            def __init__(self, x, y): self.x, self.y = x, y
        def either(cls, a):
            if a > 0: return cls(a, a * 2)
            return cls(-a, a * 3)
        def instead(cls, a, old):
            new = old
            if a > 0: new = cls(a + 1, a * 2)
            return new
        def perhaps(cls, a):
            new = None
            if a > 0: new = cls(a + 1, a * 2)
            return new
        def changed(cls, a):
            new = cls(a, a)
            if a > 0: new.x = a * 7
            else: new = cls(a - 1, new.y)
            return new
        def told(value): return value if value is None else (type(value).__name__, value.x, value.y)
        def main():
            for v in (1.0, -2.0, 3.0, 4.0, -5.0):
                for cls in (Plain, Slotted):
                    a = tf.constant(v)
                    old = cls(a, a)
                    new = instead(cls, a, old)
                    show(told(either(cls, a)), told(new), new is old, told(perhaps(cls, a)), told(changed(cls, a)))
        """,
        either="graph",
        instead="graph",
        perhaps="graph",
        changed="graph",
    )


def test_a_dataclass_is_replaced_field_by_field() -> None:
    programs.same(
        """
        import dataclasses
        from typing import ClassVar
        @dataclasses.dataclass(frozen=True)
        class State:
            position: tf.Tensor
            velocity: tf.Tensor
            time: int = 0
            notes: list = dataclasses.field(default_factory=list)
            def __post_init__(self):
                if self.time < 0: raise ValueError(self.time)
        @dataclasses.dataclass
        class Counted:
            value: tf.Tensor
            made: ClassVar[int] = 0
        def advance(s, dt):
            velocity = s.velocity - dt * s.position
            return dataclasses.replace(s, position=s.position + dt * velocity, velocity=velocity, time=s.time + 1)
        def doubled(c): return dataclasses.replace(c, value=c.value * 2.0 + 1.0 - c.value)
        def wrong(s, k): return dataclasses.replace(s, **({"speed": 1} if k % 2 else {"time": -k}))
        def main():
            s, c = State(tf.constant(1.0), tf.constant(0.0)), Counted(tf.constant(1.0))
            for k in range(7):
                before, s = s, advance(s, 0.1)
                c = doubled(c)
                s.notes.append(k)
                show(s, s.notes is before.notes, before is s, c)
                attempt(wrong, s, k)
        """,
        advance="graph",
        doubled="eager",
    )
