"""Attributes and keys that only one way stores: what the class shows until then, their order, and where there is no room."""

from __future__ import annotations

import pytest

from tests.staging.programs import run, same

TRACKER = """
class Tracker:
    best = 0.0
    count = 0
    name = "class"
def note(self, x):
    if x > self.best:
        self.best = x
        self.count += 1
        self.name = "own"
    return x * 2, self.best, self.count, self.name
"""


def test_a_branch_not_taken_leaves_the_attribute_to_the_class() -> None:
    main = """
def main():
    trackers = [Tracker(), Tracker()]
    for i, v in enumerate((-1.0, -2.0, -3.0, 1.0, -4.0, 2.0, 0.0)):
        one = trackers[i % 2]
        show(note(one, tf.constant(v)), sorted(vars(one)), one.count, one.name)
        if i == 2:
            Tracker.best, Tracker.count, Tracker.name = 0.5, 10, "other"
"""
    same(TRACKER + main, note="graph")


def test_a_loop_that_may_not_store_it() -> None:
    source = """
def walk(self, xs):
    for x in xs:
        if x > 0:
            self.best = self.best + x
            self.count += 1
    return self.best, self.count
def main():
    for values in ([], [-1.0], [1.0], [-1.0, -2.0], [2.0, -1.0], []):
        one = Tracker()
        show(walk(one, tf.constant(values, tf.float32)), vars(one))
"""
    same(TRACKER + source, walk="graph")


def test_an_object_that_the_function_makes() -> None:
    source = """
class Made:
    kind = "small"
    def __init__(self, x):
        if x > 0: self.sign = x
        self.x = x
        if x > 1: self.kind = "big"
def make(x):
    return Made(x)
def main():
    for v in (1.0, -1.0, 2.0, -3.0, 4.0):
        made = make(tf.constant(v))
        show(vars(made), made.kind)
"""
    same(source, make="graph")


def test_classes_show_what_is_in_their_bases() -> None:
    source = """
class Base:
    rate = 1.0
class Derived(Base): pass
def adapt(cls, x):
    if x > 0:
        cls.rate = x
    return x * 2
def main():
    for v in (-1.0, -2.0, 1.0, -1.0, 2.0):
        show(adapt(Derived, tf.constant(v)), adapt(Base, tf.constant(-v)), "rate" in vars(Derived), Derived.rate)
"""
    same(source, adapt="graph")


def test_slots_beside_a_dictionary() -> None:
    source = """
class Mixed:
    __slots__ = ("a", "__dict__")
    c = 4
def fill(one, x):
    if x > 0:
        one.a, one.b, one.c = x, x * 2, 5
    return one.c
def main():
    for v in (-1.0, -2.0, 1.0, -1.0, 2.0):
        one = Mixed()
        show(fill(one, tf.constant(v)), hasattr(one, "a"), vars(one), fill(one, tf.constant(v)), vars(one))
"""
    same(source, fill="graph")


def test_methods_and_properties_of_the_class() -> None:
    source = """
class Actor:
    def act(self): return 1
    twice = staticmethod(lambda: 5)
def play(x):
    one = Actor()
    if x > 0:
        one.act = lambda: 2
        one.twice = lambda: 9
    return one.act() + x, one.twice()
def main():
    for v in (-1.0, 2.0, -3.0, 1.0):
        show(play(tf.constant(v)))
"""
    same(source)


def test_what_may_be_missing_is_not_deleted_unseen() -> None:
    source = """
class One: pass
def drop(x):
    one = One()
    if x > 0: one.q = x
    del one.q
    return vars(one) if x is None else x
def main():
    for v in (1.0, -1.0, 2.0, -2.0):
        attempt(drop, tf.constant(v))
"""
    same(source)


def test_the_person_s_graphs_go_by_the_class_too() -> None:
    source = """
class One:
    count = 0
def branch(x):
    one = One()
    if x > 0: one.count = 7
    return one.count
def loop(xs):
    one = One()
    for x in xs:
        if x > 0: one.count += 1
    return one.count
def last(xs):
    one = One()
    for x in xs:
        if x > 0: one.last = x
    return one.last
def main():
    for v in (-1.0, 2.0):
        show(float(WRAP(branch)(tf.constant(v))))
    for values in ([], [1.0], [-1.0], [1.0, -1.0, 1.0]):
        show(float(WRAP(loop)(tf.constant(values, tf.float32))))
    show(float(WRAP(last)(tf.constant([1.0, -1.0, 3.0, -2.0]))))
"""
    plain = run(source.replace("WRAP", ""), converted=False).lines
    assert run(source.replace("WRAP", "tf.function"), converted=True).lines == plain


def test_nothing_of_a_person_s_graph_stays_in_a_variable() -> None:
    source = """
def make():
    if False: last = None
    def put(x):
        nonlocal last
        if x > 0: last = x
        return x
    def get():
        return last
    return put, get
def main():
    global later
    put, get = make()
    tf.function(put)(tf.constant(1.0))
    attempt(get)
"""
    (line,) = run(source, converted=True).lines
    assert line.startswith("builtins.NameError: cannot access free variable 'last'")


@pytest.mark.parametrize(
    "body",
    [
        "if x > 0:\n        d['b'] = x; d['a'] = x\n    else:\n        d['a'] = x; d['b'] = x",
        "if x > 0:\n        d['b'] = x\n    else:\n        d['a'] = x\n    d['a'] = d['b'] = x",
        "if x > 0:\n        d['b'] = x\n    d['a'] = x\n    d['b'] = x + 1",
        "for y in tf.stack([x, -x]):\n        if y > 0: d['p'] = y\n        else: d['n'] = y",
    ],
)
def test_keys_stand_in_the_order_in_which_they_came(body: str) -> None:
    source = """
class Holder: pass
def keys(d, x):
    {}
    return x
def names(o, x):
    {}
    return x
def main():
    for v in (1.0, -1.0, 2.0, -2.0, 3.0):
        d, o = {{}}, Holder()
        show(keys(d, tf.constant(v)), d, names(o, tf.constant(v)), vars(o))
        show(keys(d, tf.constant(-v)), d)
"""
    named = body.replace("d['", "o.").replace("']", "")
    same(source.format(body, named))


def test_new_keys_whose_order_is_sure_are_stored_by_a_graph() -> None:
    source = """
def keys(d, x):
    d["first"] = x
    if x > 0: d["plus"] = x
    else: d["minus"] = x
    d["last"] = x
    return x
def main():
    for v in (1.0, -1.0, 2.0, -2.0, 3.0):
        d = {}
        show(keys(d, tf.constant(v)), d)
"""
    same(source, keys="graph")


@pytest.mark.parametrize(
    "value", ["Slots()", "Shown()", "object()", "len", "[1]", "{}", "int", "range(3)", "slice(1)", "Inner()", "print"]
)
def test_a_store_for_which_there_is_no_room_fails_on_its_own_line(value: str) -> None:
    source = """
import traceback
class Slots:
    __slots__ = ("u",)
class Shown(Slots):
    __slots__ = ()
    v = 5
class Inner(list):
    __slots__ = ()
one = {}
def store(x):
    y = x * 2
    one.v = y
    return y
def may_store(x):
    if x > 1: one.v = x
    return x * 2
def main():
    for fn in (store, may_store):
        for i in range(4):
            try:
                show(fn(tf.constant(float(i))))
            except Exception as error:
                show(str(error), [line.lineno for line in traceback.extract_tb(error.__traceback__)][-1])
"""
    same(source.format(value))
