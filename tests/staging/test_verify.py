"""`--verify`: a graph is held against plain Python, and what differs is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from autoimport import config
from autoimport.staging import randomness, tf_internals, verify
from autoimport.staging.trace import Trace
from tests.staging import programs

HONEST = """
    w = tf.Variable([1., 2.])
    rate = .5
    H = []
    import collections
    Q, D, S, T = [], collections.deque(maxlen=3), set(), {}
    class Pair:
        def __init__(self, a, b): self.a, self.b = a, b
    class Trainer:
        def __init__(self):
            self.step, self.last, self.slots = 0, None, [tf.zeros([]), 0]
        def train(self, x, *more, k=2, **others):
            global rate
            self.step += 1
            rate *= .9
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((w * x + tf.random.normal([2])) ** 2) * rate
            w.assign_sub(.01 * tape.gradient(loss, w))
            self.last = loss
            self.slots[0] = 0.5 * self.slots[0] + loss
            self.slots[1] = self.step
            H.append(float(loss))
            Q.insert(0, k); D.appendleft(loss); S.add(self.step); T.update(step=self.step); T.setdefault("k", k)
            self.kept = Pair(loss.numpy(), [x.numpy()])
            print("step", self.step, f"{loss:.3f}")
            assert loss < 60., f"{loss:.1f}"
            return {"loss": loss, "k": k, "more": more}
    def main():
        t = Trainer()
        for i in range(9):
            attempt(t.train, tf.constant([1., float(i)]), i, k=3, z=4)
            show(t.step, t.last, t.slots, rate, H, w, Q, list(D), S, T, vars(t.kept))
"""


@pytest.fixture
def told() -> Iterator[verify.Tally]:
    """A tally of this test's own."""
    before, verify.tally = verify.tally, verify.Tally()
    yield verify.tally
    verify.tally = before


def run(source: str, how: str) -> programs.Run:
    before = config.current()
    config.use(dataclasses.replace(before, verify=how))
    try:
        return programs.run(source, converted=True)
    finally:
        config.use(before)


def test_a_program_without_a_difference_does_what_it_does_without_verification(told: verify.Tally) -> None:
    plain, ours = programs.run(HONEST, converted=False), run(HONEST, "stop")
    assert plain.lines == ours.lines
    assert "graph" == ours.states()["Trainer.train"]
    assert 3 <= told.launches
    assert 0 == told.rounded


def test_a_region_is_verified(told: verify.Tally) -> None:
    source = """
    def main():
        total, H = tf.constant(0.), []
        for i in range(6):
            total += tf.reduce_sum(tf.ones([3])) * i
            if total > 3.:
                total *= .5
            H.append(total)
        show(H)
    """
    plain, ours = programs.run(source, converted=False), run(source, "stop")
    assert plain.lines == ours.lines
    assert 3 <= told.launches
    assert {"region"} == {site.kind for site in told.sites}


def test_without_a_global_seed_draws_are_free(told: verify.Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf_internals, "global_seed", lambda: None)  # a seed can be changed, but not taken back
    source = """
    def f(x):
        return tf.reduce_sum(x * x) + 1.
    def main():
        for i in range(5):
            show(f(tf.constant([1., float(i)])))
    """
    assert programs.run(source, converted=False).lines == run(source, "stop").lines
    assert 3 == told.launches


def test_a_launch_that_is_left_to_python_is_not_compared(told: verify.Tally) -> None:
    source = """
    w = tf.Variable(0.)
    def f(x):
        if x > 1.:
            raise ValueError(f"{x:.1f}")
        w.assign_add(x)
        return w * 2.
    def main():
        for x in (1., 1., 2., 1., 3.):
            attempt(f, tf.constant(x))
            show(w)
    """
    plain, ours = programs.run(source, converted=False), run(source, "stop")
    assert plain.lines == ours.lines
    assert 2 == told.launches


# -- planted faults --------------------------------------------------------------------------------------------------


def freeze(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Trace.read_global

    def read_global(self: Trace, namespace: dict[str, Any], name: str) -> Any:
        return namespace[name] if name == "G" else original(self, namespace, name)

    monkeypatch.setattr(Trace, "read_global", read_global)


def swallow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trace, "acts", lambda self, acted: None)


def draw_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    original = randomness.Launcher.draw

    def draw(self: randomness.Launcher) -> Any:
        tf_internals.seed_generator().randint(0, 9)
        return original(self)

    monkeypatch.setattr(randomness.Launcher, "draw", draw)


def lose(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Trace.write_attr

    def write_attr(self: Trace, obj: Any, name: str, value: Any) -> None:
        if name != "step":
            original(self, obj, name, value)

    monkeypatch.setattr(Trace, "write_attr", write_attr)


def forget_appends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trace, "logs", lambda self, obj, method, args, kwargs: (None,))


def assign_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    original = tf_internals.run

    def launched(*args: Any) -> Any:
        original(*args)
        return original(*args)

    monkeypatch.setattr(tf_internals, "run", launched)


PLANTED: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, str]] = {
    freeze: ("global G\n    G += 1", "x * G"),
    swallow: ("print('got', x)", "x"),
    draw_once_more: ("pass", "x + tf.random.normal([2])"),
    lose: ("o.step += 1", "x"),
    forget_appends: ("H.append(x)", "x"),
    assign_twice: ("w.assign_add(x)", "x"),
}
PROGRAM = """
class Thing: step = 0
o, G, H, w = Thing(), 1, [], tf.Variable([0., 0.])
o.step = 1
def f(x):
    y = tf.reduce_sum(x * x) + x
    {effect}
    return {result} + 0. * y
def main():
    for i in range(6):
        show(f(tf.constant([1., float(i)])))
    show(o.step, G, H, w)
"""
MESSAGES = {
    freeze: ("its result, element [0]", "np.float32(2.0)", "np.float32(3.0)"),
    swallow: ("what it prints", "''", "'got tf.Tensor([1. 1.], shape=(2,), dtype=float32)\\n'"),
    draw_once_more: ("its result, element [0]", "", ""),
    lose: ("attribute o.step, which it changes", "unchanged", "3"),
    forget_appends: ("the length of H", "1", "2"),
    assign_twice: ("the variable Variable:0 after the call, element [0]", "np.float32(4.0)", "np.float32(3.0)"),
}


def program(fault: Callable[[pytest.MonkeyPatch], None]) -> str:
    effect, result = PLANTED[fault]
    if fault is freeze:  # changed by others: the graph does not know of it
        return PROGRAM.format(effect="pass", result=result).replace("show(f(", "globals()['G'] = max(2, i); show(f(")
    return PROGRAM.format(effect=effect, result=result)


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_stops_the_program(fault: Any, monkeypatch: Any, capsys: Any, told: verify.Tally) -> None:
    fault(monkeypatch)
    with pytest.raises(SystemExit) as stopped:
        run(program(fault), "stop")
    assert 2 == stopped.value.code
    message = capsys.readouterr().err.splitlines()
    where, graph, python = MESSAGES[fault]
    assert f"verify: f as a graph differs from plain Python in {where}; the program stops here" in message[-3]
    assert message[-2].startswith(f"  graph:        {graph}")
    assert message[-1].startswith(f"  plain Python: {python}")


@pytest.mark.parametrize("fault", PLANTED)
def test_with_a_warning_the_function_goes_on_eagerly(fault: Any, monkeypatch: Any, capsys: Any, told: Any) -> None:
    source = program(fault)
    plain = programs.run(source, converted=False)
    fault(monkeypatch)
    ours = run(source, "warn")
    assert plain.lines == ours.lines
    assert "eager" == ours.sites["f"].state
    assert (ours.sites["f"].reason or "").startswith(f"verify: as a graph it differs in {MESSAGES[fault][0]}")
    assert 1 == capsys.readouterr().err.count("f runs eagerly from now on")


# -- values ----------------------------------------------------------------------------------------------------------


def differences(ours: Any, theirs: Any) -> list[str]:
    return [difference.where for difference in verify.compare("it", ours, theirs)]


def test_the_last_bits_of_floats_are_counted_not_told(told: verify.Tally) -> None:
    x = np.array([1.0, 3.0], np.float32)
    assert [] == differences(tf.constant(x), tf.constant(np.nextafter(x, np.float32(9)), tf.float32))
    assert (2, True) == (told.rounded, 0 < told.units < 2)


@pytest.mark.parametrize(
    ("ours", "theirs", "where"),
    [
        (tf.constant([1.0, 2.0]), tf.constant([1.0, 2.1]), "it, element [1]"),
        (tf.constant(1), tf.constant(2), "it"),
        (tf.constant(1.0), tf.constant(1.0, tf.float64), "it"),
        (tf.constant([1.0]), tf.constant([[1.0]]), "it"),
        (tf.constant(1.0), np.float32(1.0), "it"),
        (tf.constant(float("nan")), tf.constant(1.0), "it"),
        (tf.constant(float("inf")), tf.constant(float("-inf")), "it"),
        (tf.constant("a"), tf.constant("b"), "it"),
        (tf.constant(0.0), tf.constant(1e-30), "it"),
        (1, 1.0, "it"),
        (1, True, "it"),
        ("a", "b", "it"),
        ([1, [2]], [1, [3]], "it[1][0]"),
        ([1], [1, 2], "the length of it"),
        ({"a": 1}, {"b": 1}, "the keys of it[0]"),
        ({"a": 1.0}, {"a": 2.0}, "it['a']"),
        (None, 0, "it"),
        (tf.ragged.constant([[1], []]), tf.ragged.constant([[2], []]), "it[0], element [0]"),
        (object(), object(), "it"),
    ],
)
def test_values_that_differ(ours: Any, theirs: Any, where: str) -> None:
    assert [where] == differences(ours, theirs)


@pytest.mark.parametrize(
    "value",
    [tf.constant([float("nan"), float("inf"), -0.0]), (1, "a", None, 2.5), {"a": [tf.constant("x")]}, tf.constant(1j)],
)
def test_equal_values(value: Any) -> None:
    copied = tf.nest.map_structure(lambda x: tf.identity(x) if tf.is_tensor(x) else x, value)
    assert [] == differences(copied, value)


def test_the_summary_says_how_much_was_compared(told: verify.Tally) -> None:
    told.launches = 3
    assert "compared 3 launches of 0 functions and regions, nothing differs" in verify.summary()
    told.rounded, told.units = 2, 1.5
    assert "2 floats differ in the last bits, by 1.5 units at most" in verify.summary()
