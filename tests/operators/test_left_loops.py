"""Python loops that a tensor leaves: what the iterator would have done next does not happen."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

HEAD = """
v = tf.Variable(0.)
seen = []
class Steps:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        seen.append(self.n)
        return float(self.n)
class Watched(list):
    def __iter__(self):
        for n in range(len(self)):
            seen.append(n)
            yield self[n]
def steps():
    for n in (1., 2., 3.):
        yield n
        v.assign_add(n)
        seen.append(n)
def main():
    for k in range(6):
        show(f(tf.constant([float(k), 2., 3.])), v, seen)
"""
WITH_EFFECTS = {
    "a generator": "steps()",
    "a generator in enumerate": "(n for _, n in enumerate(steps()))",
    "an iterator of the person's": "Steps()",
    "zip of a generator": "map(sum, zip(steps(), (0., 0., 0.)))",
    "a list with steps of its own": "Watched([1., 2., 3.])",
    "an iterator that goes on": "rest",
    "one in reverse that goes on": "back",
}
WITHOUT = {
    "a list": "[1., 2., 3.]",
    "a tuple in reverse": "reversed((1., 2., 3.))",
    "a dict": "{1.: 0, 2.: 0, 3.: 0}",
    "values": "{0: 1., 1: 2., 2: 3.}.values()",
}


def _program(items: str) -> str:
    return HEAD + textwrap.dedent(f"""
    def f(x):
        rest = iter([1., 2., 3.])
        back = reversed((1., 2., 3.))
        y = x * 2.
        for n in {items}:
            y = tf.sin(y) + n
            if x[0] > n: break
        return y, list(rest), list(back)
    """)


@pytest.mark.parametrize("items", WITH_EFFECTS.values(), ids=WITH_EFFECTS)
def test_the_next_step_of_an_iterator_does_not_happen(items: str) -> None:
    same(_program(items), f="eager")


@pytest.mark.parametrize("items", WITHOUT.values(), ids=WITHOUT)
def test_a_loop_over_a_container_is_a_graph(items: str) -> None:
    same(_program(items).replace(", list(rest), list(back)", ""), f="graph")


@pytest.mark.parametrize("header", ["i, n in enumerate([1., 2., 3.])", "n, i in zip([1., 2., 3.], range(9))"])
def test_so_is_one_over_its_places(header: str) -> None:
    program = _program("[1.]").replace("n in [1.]", header).replace(", list(rest), list(back)", "")
    same(program, f="graph")
