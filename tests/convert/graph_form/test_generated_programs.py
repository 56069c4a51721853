"""Programs of nested control flow with jumps, made up by hypothesis, do the same as a form."""

from __future__ import annotations

import importlib.util
import textwrap
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"graph_form_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


harness = _load("harness")

PRELUDE = """
class CM:
    def __init__(self, swallow, fail):
        self.swallow, self.fail = swallow, fail
    def __enter__(self):
        print("enter")
        return 2
    def __exit__(self, *exc):
        print("exit", exc[0] and (issubclass(exc[0], NameError) or exc[0].__name__))
        if self.fail:
            raise IndexError("exit")
        return self.swallow
FUEL = [40]
def tick():
    FUEL[0] -= 1
    if FUEL[0] < 0:
        raise MemoryError
    return True
"""

NAMES = st.sampled_from("abcxy")
ATOMS = st.one_of(NAMES, st.integers(-1, 3).map(str))
EXPRESSIONS = st.one_of(
    ATOMS,
    st.tuples(ATOMS, st.sampled_from(["+", "-", "<", "==", "and", "or", "//"]), ATOMS).map(" ".join),
    ATOMS.map("not {}".format),
    st.tuples(ATOMS, ATOMS, ATOMS).map(lambda parts: "({} if {} else {})".format(*parts)),
    st.tuples(ATOMS, ATOMS, ATOMS).map(lambda parts: "({} < {} <= {})".format(*parts)),
    NAMES.map("(lambda: {})()".format),
    st.tuples(NAMES, ATOMS).map(lambda parts: "sum([{0} for {0} in range({1})])".format(*parts)),
)
SIMPLE = st.one_of(
    st.tuples(NAMES, EXPRESSIONS).map(" = ".join),
    st.tuples(NAMES, ATOMS).map(" += ".join),
    EXPRESSIONS.map("print({})".format),
    NAMES.map("del {}".format),
    st.tuples(NAMES, NAMES).map(lambda parts: "{0}, {1} = {1}, {0}".format(*parts)),
    st.just("raise ValueError(1)"),
    st.just("assert a, b"),
    EXPRESSIONS.map("return {}".format),
    st.just("return"),
)
JUMPS = st.sampled_from(["break", "continue"])


@st.composite
def blocks(draw: Any, depth: int, in_loop: bool, in_final: bool = False) -> str:
    """A block of statements; `in_final` forbids the jumps that may not leave a finally clause."""
    return "\n".join(draw(st.lists(statements(depth, in_loop, in_final), min_size=1, max_size=3)))


@st.composite
def statements(draw: Any, depth: int, in_loop: bool, in_final: bool) -> str:
    """One statement."""
    kinds = ["simple", "simple"] + (["jump"] if in_loop else [])
    kinds += ["if", "if", "else", "for", "while", "try", "with", "def"] if depth else []
    kind = draw(st.sampled_from(kinds))
    if kind == "jump":
        return str(draw(JUMPS))
    if kind == "simple":
        return str(draw(SIMPLE.filter(lambda text: not (in_final and text.startswith("return")))))

    def block(loop: bool = in_loop, final: bool = in_final) -> str:
        return textwrap.indent(draw(blocks(depth - 1, loop, final)), "    ")

    test = draw(EXPRESSIONS)
    if kind == "if":
        return f"if {test}:\n{block()}"
    if kind == "else":
        return f"if {test}:\n{block()}\nelse:\n{block()}"
    if kind in ("for", "while"):
        count = draw(st.integers(0, 3))
        head = f"for {draw(NAMES)} in range({count}):" if kind == "for" else f"while tick() and {test}:"
        orelse = f"\nelse:\n{block()}" if draw(st.booleans()) else ""
        return f"{head}\n{block(loop=True)}{orelse}"
    if kind == "with":
        many = draw(st.booleans())
        managers = [f"CM({draw(st.booleans())}, {draw(st.booleans())})" for _ in range(1 + many)]
        return f"with {managers[0]} as {draw(NAMES)}{', ' + managers[1] if many else ''}:\n{block()}"
    if kind == "def":
        name = draw(st.sampled_from("gh"))
        shared = f"    nonlocal {draw(NAMES)}\n" if draw(st.booleans()) else ""
        return f"def {name}():\n{shared}{block(loop=False, final=False)}\nprint({name}())"
    text = f"try:\n{block()}"
    handled = draw(st.booleans())
    if handled:
        name = draw(st.sampled_from(["", " as x", " as e"]))
        text += f"\nexcept (ValueError, IndexError, AssertionError){name}:\n{block()}"
        if draw(st.booleans()):
            text += f"\nelse:\n{block()}"
    if not handled or draw(st.booleans()):
        text += f"\nfinally:\n{block(loop=False, final=True)}"
    return text


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(blocks(3, False))
def test_a_made_up_program_does_the_same_as_a_form(body: str) -> None:
    binding = "    if a is None: b = c = x = y = 0\n"
    source = f"def f(a):\n{binding}{textwrap.indent(body, '    ')}\n    return a, b\n"
    try:
        compile(source, "program.py", "exec")
    except SyntaxError:  # `nonlocal` of a name that is used before
        return
    harness.check(source, "f(0)", "f(2)", prelude=PRELUDE)
