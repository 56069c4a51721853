"""Loops over integers that XLA compiles once they have run for long: the same values, to the bit, at every call."""

from __future__ import annotations

import textwrap
import time
from typing import Any

import pytest

from autoimport.staging import compiled
from tests.staging import programs

_PROGRAM = """
def step(n, m):
BODY
def main():
    for k in range(4):
        for n, m in VALUES:
            attempt(step, n, m)
"""
WHOLE = "[(tf.constant(n), tf.constant(m)) for n, m in ((5, 3), (-7, 2), (0, 40), (2_000_000_011, -1), (27, 9))]"
SMALL = WHOLE.replace("2_000_000_011", "11")
WIDE = WHOLE.replace("(n)", "(n, tf.int64)").replace("(m)", "(m, tf.int64)")
VECTORS = "[(tf.constant([n, -n, 3]), tf.constant(m)) for n, m in ((5, 3), (-7, 12), (0, 40), (2_000_000_011, -1))]"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many loops are compiled, from the first launch on, each time."""
    times: list[int] = []
    original = compiled.compile_loops

    def compile_loops(function: object, loops: list[compiled.Loop]) -> object:
        times.append(len(loops))
        return original(function, loops)

    monkeypatch.setattr(compiled, "compile_loops", compile_loops)
    monkeypatch.setattr(compiled, "COST", 1)
    return times


def held(body: str, values: str) -> programs.Run:
    """`step(n, m)` for pairs of tensors, as a graph."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    ")).replace("VALUES", values)
    run = programs.same(source)
    assert run.sites["step"].state == "graph"
    return run


COMPILED = {
    "counts": "i = 0\nwhile m > 0:\n    m -= 1\n    i += 1\nreturn n + i, i",
    "wraps around": "while m > 0:\n    n = n * 3 + 1\n    m -= 1\nreturn n",
    "divides negative numbers": """
        low = n
        while m > 0:
            n = n // 3 - 5
            low = tf.minimum(low, n % 7)
            m -= 1
        return n, low
        """,
    "branches": """
        odd = tf.constant(False)
        while (m > 0) & (n != 1):
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
                odd = tf.logical_not(odd)
            m -= 1
        return n, odd
        """,
    "a jump": "i = 0\nwhile n != 1:\n    n = n + 1 - 2 * (n % 2)\n    i += 1\n    if i >= m:\n        break\nreturn n, i",
    "a range": "s = n\nfor i in tf.range(tf.abs(m)):\n    if i % 3 == 1:\n        s += i\nreturn s",
    "other widths": "w = tf.cast(n, tf.int64)\nwhile m > 0:\n    w = w * w + tf.cast(m, tf.int64)\n    m -= 1\nreturn w",
}


@pytest.mark.parametrize("values", (WHOLE, WIDE), ids=("int32", "int64"))
@pytest.mark.parametrize("body", COMPILED.values(), ids=COMPILED)
def test_a_compiled_loop_has_the_values_of_eager(body: str, values: str, made: list[int]) -> None:
    if "tf.range" in body and values is WIDE:
        body = body.replace("s += i", "s += tf.cast(i, s.dtype)")
    if "2_000_000_011" in values and "tf.range" in body:
        values = values.replace("-1)", "1)")
    held(body, values)
    assert made == [1]


def test_small_vectors_are_compiled(made: list[int]) -> None:
    held("while m > 0:\n    n = tf.where(n > 9, n // 2, 3 * n + m)\n    m -= 1\nreturn n, tf.reduce_max(n)", VECTORS)
    assert made == [1]


def test_a_loop_goes_on_where_its_compiled_part_comes_back(made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_STRETCH", 20)
    held(COMPILED["wraps around"], WHOLE)
    assert made == [1]


def test_loops_behind_one_another_and_texts_of_their_results(made: list[int]) -> None:
    held(COMPILED["counts"].replace("return n + i, i", "while i < n:\n    i += 2\nprint(n, i)\nreturn n + i"), SMALL)
    assert made == [2]


KEPT = {
    "floats": "x = tf.cast(n, tf.float32)\nwhile m > 0:\n    x = x * 0.3 + 1.0\n    m -= 1\nreturn x",
    "a divisor that may be zero": "s = n\nwhile m > 0:\n    s = s // (m + 1)\n    m -= 1\nreturn s",
    "an assertion": "while m > 0:\n    assert n != 3, 'three'\n    n += 1\n    m -= 1\nreturn n",
    "a list": "l = []\nwhile m > 0:\n    l.append(n + m)\n    m -= 1\nreturn len(l)",
    "a draw": "while m > 0:\n    n += tf.random.stateless_uniform([], [1, m], 0, 9, n.dtype)\n    m -= 1\nreturn n",
}


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_xla_would_compute_in_its_own_way_is_left_to_the_kernels(body: str, made: list[int]) -> None:
    held(body, SMALL)
    assert made == []


def test_a_loop_is_compiled_when_it_has_run_for_long(made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "COST", 1_000)
    held(COMPILED["counts"], "[(tf.constant(1), tf.constant(10))]")
    assert made == []
    held(COMPILED["counts"], "[(tf.constant(1), tf.constant(1_000))]")
    assert made == [1]


def test_gradients_beside_a_compiled_loop(made: list[int]) -> None:
    run = programs.same(
        """
        def step(x, n):
            i = 0
            while n > 1:
                n = n // 2
                i += 1
            y = x * tf.cast(n + i, tf.float32)
            return tf.sin(y) + tf.exp(-y) * tf.cos(x)
        def main():
            x = tf.Variable(0.7)
            for k in range(8):
                with tf.GradientTape() as tape:
                    y = step(x, tf.constant(5 + 3 * k))
                show(y, tape.gradient(y, x))
        """
    )
    assert run.sites["step"].state == "graph"
    assert made == [1]


def test_a_graph_that_was_launched_below_a_tape_is_compiled_for_launches_without_one(made: list[int]) -> None:
    run = programs.same(
        """
        def step(x, n):
            i = 0
            while n > 1:
                n = n // 2
                i += 1
            y = x * tf.cast(n + i, tf.float32)
            return tf.sin(y) + tf.exp(-y) * tf.cos(x)
        def main():
            x = tf.Variable(0.7)
            for k in range(4):
                with tf.GradientTape(): attempt(step, x, tf.constant(5 + 3 * k))
            for k in range(4): attempt(step, x, tf.constant(5 + 3 * k))
        """
    )
    assert run.sites["step"].own_graph_calls == 7
    assert made == [1]


def test_threads_that_launch_a_graph_while_it_is_compiled(made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    original, graphs = compiled.compile_loops, []

    def slowly(function: Any, loops: list[compiled.Loop]) -> object:
        graphs.append(function.graph)
        time.sleep(0.1)
        return original(function, loops)

    monkeypatch.setattr(compiled, "compile_loops", slowly)
    run = programs.same(
        """
        import threading
        def step(x, n):
            i = 0
            while n > 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                i += 1
            return tf.sin(x) * tf.cast(i, tf.float32)
        def main():
            x, found = tf.Variable(0.7), {}
            def work(k):
                for n in range(1, 12):
                    with tf.GradientTape() if k % 2 else tf.GradientTape(watch_accessed_variables=False) as tape:
                        y = step(x, tf.constant(n + k))
                    found[k, n] = y, tape.gradient(y, x)
            for n in range(3): step(x, tf.constant(5))
            threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            show([found[key] for key in sorted(found)])
        """
    )
    assert run.sites["step"].state == "graph"
    assert made and len({id(graph) for graph in graphs}) == len(made)  # each once
