"""Made-up programs do the same with every call a graph; `python -m tests.fuzz` runs many more."""

from __future__ import annotations

import pytest

from tests.fuzz.compare import compare
from tests.fuzz.programs import IMPORTS, Program, generate
from tests.fuzz.shrink import shrink

PROGRAMS = 60


@pytest.mark.filterwarnings("ignore")
def test_made_up_programs_do_what_they_do_in_plain_python() -> None:
    staged = 0
    for number in range(PROGRAMS):
        program = generate(number)
        outcome = compare(program)
        assert not outcome.difference, f"program {number}:\n{outcome.difference}\n{program.source}"
        staged += outcome.staged > 0
    assert PROGRAMS * 2 // 3 <= staged


def test_a_number_makes_the_same_program_each_time() -> None:
    assert generate(3) == generate(3)
    assert generate(3) != generate(4)


def test_a_difference_is_seen_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autoimport.staging.trace.Trace.acts", lambda self, acted: None)  # a graph prints nothing
    body = "    y = x + 1\n    if y > 0:\n        print('got', y)\n    z = y * 2\n    return z\n"
    calls = "attempt(f, tf.constant(1.0))\n" * 3
    source = f"{IMPORTS}\ndef f(x):\n{body}\n\n{calls}"

    def differs(text: str) -> bool:
        return bool(compare(Program(text, False)).difference)

    assert differs(source)
    small = shrink(source, differs, most=60)
    assert differs(small)
    assert "print(" in small
    assert len(small) < len(source) // 2
