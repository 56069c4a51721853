"""Generators that are left in the middle: what stands in `finally` happens once a call, whatever becomes of the trace."""

from __future__ import annotations

import pytest

from tests.staging.programs import same

GENERATORS = """
import gc, sys
log = []
def halves(x):
    try:
        yield x
        yield x / 2
    finally:
        log.append("closed")
def told(fn):
    for i in range(4):
        show(fn(tf.constant(i - 1.0)))
        gc.collect(1)  # what is new
        show(log)
"""


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("return next(halves(x)) + 1", "graph"),
        ("for y in halves(x): break\n    return y", "graph"),
        ("g = halves(x); y = next(g); del g; log.append('after')\n    return y", "graph"),
        ("return [a + b for a, b in zip(halves(x), [1])]", "graph"),
        ("g = halves(x); y = next(g); sys.getrefcount(y)\n    return y", "eager"),
        ("g = halves(x); y = next(g); held = [g]; held.append(held)\n    return y", "eager"),
        ("g = halves(x); y = next(g)\n    if x > 0: y = y + next(g)\n    return y", "eager"),
    ],
)
def test_it_is_closed_once_a_call(body: str, state: str) -> None:
    run = same(GENERATORS + f"def take(x):\n    {body}\ndef main():\n    told(take)\n", take=state)
    assert run.lines[-1].count("closed") == 4


@pytest.mark.parametrize("last", ["raise ValueError('bad')", "yield 5", "np.random.seed(3)"])
def test_what_fails_or_has_effects_at_the_end_does_so_at_each_call(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"""
import sys
def odd(x):
    try: yield x
    finally: {last}
def take(x):
    return next(odd(x)) + 1
def main():
    told = []
    sys.unraisablehook = lambda error: told.append(str(error.exc_value))
    try:
        for i in range(3):
            show(take(tf.constant(1.0 * i)), np.random.rand(), told)
    finally:
        sys.unraisablehook = sys.__unraisablehook__
"""
    same(source, take="eager")


def test_generators_in_generators_are_closed_from_within() -> None:
    source = """
def take(xs):
    def inner():
        try:
            yield xs[0]
            yield xs[1]
        finally:
            log.append("inner")
    def outer():
        try: yield from inner()
        finally: log.append("outer")
    return next(outer()) * 2
def main():
    for i in range(3):
        show(take([tf.constant(1.0 * i), tf.constant(2.0)]), list(log))
"""
    same(GENERATORS + source, take="graph")
