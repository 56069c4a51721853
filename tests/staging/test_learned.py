"""What one run has learned, the next one knows from the start: it only stages sooner, and prints the same."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autoimport import config, hook
from autoimport.staging import learned, registry
from tests.staging import programs
from tests.staging.programs import Run, staging_after

ROOT = Path(__file__).resolve().parents[2]
_numbers = itertools.count(1_000_000)
Again = Callable[[], Run]


@pytest.fixture
def cached(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the cache holds, by the key of a module."""
    held: dict[str, Any] = {}

    def save(key: str, value: Any) -> bool:
        held[key] = value
        return True

    monkeypatch.setattr(registry, "cache", (held.get, save))
    monkeypatch.setattr(learned, "_known", {})
    monkeypatch.setattr(registry, "modules", {})
    yield held


def runs_of(source: str, monkeypatch: pytest.MonkeyPatch, stage_after: int | None = None) -> Again:
    """What runs a program as a new process would, and keeps what it has learned; its output is plain Python's."""
    number = next(_numbers)
    monkeypatch.setattr(programs, "_numbers", itertools.repeat(number))

    def again() -> Run:
        plain = programs.run(source, converted=False)
        registry.modules.clear()
        learned._known.clear()
        ours = programs.run(source, converted=True, stage_after=stage_after)  # type: ignore[arg-type]
        assert plain.lines == ours.lines
        with staging_after(stage_after):
            learned.keep_all()
        return ours

    return again


STEP = """
class Model:
    steps = 0
def step(model, x, rates):
    for _ in range(5): x = tf.sin(x) * rates[0] + tf.cos(x)
    model.steps += 1
    return x
def main():
    model = Model()
    for i in range(40): show(step(model, tf.ones(3 + i % 4), [0.5 + i]))
    show(model.steps)
"""


def test_a_function_that_became_a_graph_is_traced_at_the_second_call_for_any_size_and_number(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    again = runs_of(STEP, monkeypatch)
    first, second = again().sites["step"], again().sites["step"]
    assert first.traces > 1
    assert first.graph_calls < 35
    assert (second.traces, second.graph_calls) == (1, 39)


NOW_AND_THEN = """
class Task: step = 0
def step(x, task):
    task.step += 1
    if task.step % 10 == 0:
        print(task.step)
    for _ in range(12): x = tf.sin(x) * 0.9 + 0.1
    return x
def main():
    task = Task()
    for i in range(TIMES): show(step(tf.constant(float(i)), task))
"""


@pytest.mark.parametrize(("times", "second"), [(125, (2, 123)), (60, (1, 53))])
def test_a_graph_for_what_happens_now_and_then_comes_sooner_if_there_was_one(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch, times: int, second: tuple[int, int]
) -> None:
    again = runs_of(NOW_AND_THEN.replace("TIMES", str(times)), monkeypatch)
    first = again().sites["step"]
    assert first.traces == second[0]
    last = again().sites["step"]
    assert (last.traces, last.graph_calls) == second


def test_a_function_that_is_too_small_or_cannot_be_a_graph_is_left_alone_from_the_start(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    again = runs_of(
        """
        import random
        def small(x): return x + 1.0
        def noisy(x):
            for _ in range(6): x = tf.sin(x) * 0.9 + 0.1
            x = x + 0.0 * random.random()
            return x
        def main():
            for i in range(40): show(noisy(small(tf.constant(float(i)))))
        """,
        monkeypatch,
    )
    first, second = again().sites, again().sites
    assert first["noisy"].traces > 0
    for name in ("small", "noisy"):
        assert (second[name].own_calls, second[name].traces) == (1, 0)
        assert (second[name].state, second[name].reason) == ("eager", first[name].reason)
        assert second[name].reason_line == first[name].reason_line


CHANGEABLE = """
import random
def step(x):
    for _ in range(6): x = tf.sin(x) * 0.9 + 0.1
    if is_noisy: x = x + 0.0 * random.random()
    return x
def main():
    for i in range(40): show(step(tf.constant(float(i))))
"""


def test_a_graph_that_cannot_be_made_any_more_costs_a_try_and_is_forgotten(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.is_noisy", False, raising=False)
    again = runs_of(CHANGEABLE, monkeypatch)
    assert again().sites["step"].state == "graph"
    monkeypatch.setattr("builtins.is_noisy", True)
    second, third = again().sites["step"], again().sites["step"]
    assert (second.state, second.traces) == ("eager", 1)  # its loop is a graph by then
    assert (third.state, third.traces) == ("eager", 0)


def test_a_verdict_eager_is_tried_again_after_some_runs(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.is_noisy", True, raising=False)
    again = runs_of(CHANGEABLE, monkeypatch)
    assert again().sites["step"].traces == 1
    monkeypatch.setattr("builtins.is_noisy", False)
    states = [again().sites["step"].state for _ in range(learned.TRIED_AGAIN_AFTER + 1)]
    assert states == ["eager"] * learned.TRIED_AGAIN_AFTER + ["graph"]
    assert again().sites["step"].graph_calls == 39


WITH_A_HELPER = f"""
from autoimport.staging import registry
for name, key in HELPERS.items():
    registry.register_module(key, name, name + ".py", (), lambda: None, cached=False, convert_ms=0.0)
{CHANGEABLE}
"""


@pytest.mark.parametrize(
    ("helpers", "tries"),
    [
        ({"a": "1"}, [0, 0, 0]),
        ({}, [0, 0, 0]),
        ({"a": "2"}, [1, 1, 1]),
        ({"a": "1", "b": "9"}, [1, 0, 0]),
    ],
    ids=["as it was", "not loaded", "changed to and fro", "now and then one more"],
)
def test_a_verdict_eager_is_not_believed_if_another_module_has_changed(
    helpers: dict[str, str], tries: list[int], cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.is_noisy", True, raising=False)
    monkeypatch.setattr("builtins.HELPERS", {"a": "1"}, raising=False)
    again = runs_of(WITH_A_HELPER, monkeypatch)
    assert again().sites["step"].traces == 1
    found = []
    for now in (helpers, {"a": "1"}, helpers):
        monkeypatch.setattr("builtins.HELPERS", now)
        found.append(again().sites["step"].traces)
    assert found == tries


def test_what_was_learned_with_other_packages_is_not_believed(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.is_noisy", True, raising=False)
    again = runs_of(CHANGEABLE, monkeypatch)
    before = config.current()
    try:
        for exclude, traces in (((), 1), ((), 0), (("helper",), 1), ((), 1)):
            config.use(dataclasses.replace(before, exclude=exclude))
            assert again().sites["step"].traces == traces
    finally:
        config.use(before)


def test_what_was_not_called_is_remembered(cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    again = runs_of(STEP.replace("range(40)", "range(CALLS)"), monkeypatch)
    monkeypatch.setattr("builtins.CALLS", 40, raising=False)
    again()
    for calls in (0, 1):
        monkeypatch.setattr("builtins.CALLS", calls)
        again()
    monkeypatch.setattr("builtins.CALLS", 40)
    assert again().sites["step"].graph_calls == 39


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: {"elsewhere.py": next(iter(entry.values()))},
        lambda entry: {program: (("another version", *now), *held) for program, (now, *held) in entry.items()},
        lambda entry: {program: (now, {0: ("fields",) * 20}, {}) for program, (now, *held) in entry.items()},
        lambda entry: {program: (now, 7) for program, (now, *held) in entry.items()},
        lambda entry: dict.fromkeys(entry, b"damaged"),
        lambda entry: [entry],
    ],
)
def test_what_others_have_learned_or_cannot_be_read_is_not_learned(
    spoil: Callable[[Any], Any], cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    again = runs_of(STEP, monkeypatch)
    first = again().sites["step"]
    cached.update({key: spoil(entry) for key, entry in cached.items()})
    assert again().sites["step"].graph_calls == first.graph_calls
    assert again().sites["step"].graph_calls == 39


def test_a_number_of_calls_that_the_person_has_given_is_neither_learned_nor_changed(
    cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = runs_of(STEP, monkeypatch, stage_after=7)
    first = fixed().sites["step"]
    assert cached == {}
    again = runs_of(STEP, monkeypatch)
    again()
    assert cached
    assert fixed().sites["step"].graph_calls == first.graph_calls


def test_a_forked_child_keeps_nothing(cached: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    runs_of(STEP, monkeypatch)()
    for process, kept in ((os.getpid() + 1, False), (os.getpid(), True)):
        cached.clear()
        learned._known.clear()
        with staging_after(None):
            hook._keep_learned(process)
        assert bool(cached) is kept


def test_a_second_run_prints_the_same_and_stages_sooner_also_after_an_exception(tmp_path: Path) -> None:
    source = "import tensorflow as tf\ndef show(x): print(x)\n" + textwrap.dedent(STEP)
    (tmp_path / "train.py").write_text(source + "main()\nraise ValueError('at the end')\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AUTOIMPORT")}
    environment |= {"PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(tmp_path / "cache")}
    calls = []
    outputs = []
    for options in (["--learn=false"], [], []):
        command = [sys.executable, "-m", "autoimport", "--report-json", "report.json", *options, "train.py"]
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (run.returncode, "ValueError: at the end" in run.stderr) == (1, True)
        outputs.append(run.stdout)
        sites = json.loads((tmp_path / "report.json").read_text())["sites"]
        calls.append(next(site["graph_calls"] for site in sites if site["name"] == "step"))
    assert outputs[0] == outputs[1] == outputs[2] != ""
    assert calls[0] == calls[1] < calls[2]
