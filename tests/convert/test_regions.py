"""Runs of statements become regions: which ones, which names they cross, and programs that stay as they were."""

from __future__ import annotations

import dis
import random
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any

import pytest

from autoimport.convert.facts import FunctionFacts
from autoimport.convert.module import convert_module
from tests.convert.region_runs import Play, is_region


def regions(body: str, *, is_main: bool = True) -> list[FunctionFacts]:
    """The regions of a module that imports TensorFlow."""
    source = "import tensorflow as tf\n" + textwrap.dedent(body)
    return [facts for facts in convert_module(source, "m.py", is_main=is_main).functions if facts.kind == "region"]


def lines(found: list[FunctionFacts]) -> list[tuple[int, int]]:
    """First and last line of each, as lines of the body."""
    return [(facts.line - 1, facts.end_line - 1) for facts in found]


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")


# -- whole programs --------------------------------------------------------------------------------------------------

PIECES = [
    "x = tf.add(x, y)",
    "y = tf.add(x, 1); z = tf.add(y, x)",
    "x = tf.check(x)",
    "w = tf.add(x, 3)",
    "if tf.add(x, y) % 3 == 0:\n    w = tf.add(y, y)\n    z = w",
    "x, y = tf.add(y, x), tf.add(x, x)",
    "bag.append(tf.add(x, z))",
    "box[tf.add(x, 0) % 3] = tf.add(x, z)",
    "x += tf.add(z, 1)",
    "print(tf.add(x, y), z)",
    "print(w)",
    "z = sum(tf.add(item, x) for item in bag[-3:])",
    "z = sum([tf.add(item, y) for item in bag[-3:]])",
    "late.append(lambda: tf.add(x, z))",
    "print([fn() for fn in late[-3:]])",
    "for k in (1, 2):\n    y = tf.add(y, k)",
    "for k in tf.range(2):\n    if k == x % 2:\n        break\n    w = tf.add(k, z)",
    "with tf.GradientTape() as tape:\n    y = tf.add(x, y)\n    z = tf.add(y, tape)",
    "with tf.GradientTape() as tape:\n    y = tf.add(x, y)\n    time.time()\n    z = tf.add(y, tape)\n    z = tf.add(z, y)",
    "with swallowing():\n    z = tf.add(z, 5)\n    x = tf.check(z)\n    z = tf.add(x, 1)",
    "time.time()",
    "unknown.thing(x)",
    "if unknown.thing(x):\n    y = tf.add(y, 8)\n    z = tf.add(y, 9)",
    "if x % 4 == 1: continue",
    "if i % every == 0: print(i, x, y, z)",
    "if i == 7: every = 5\nelif i == 9:\n    every = 2; w = x",
    "if i in (5, 11): break",
    "if (i + 1) % every == 0 and i > 3:\n    x = tf.check(x)\n    continue",
    "if x % 11 == 7: break",
    "if tf.add(x, 2) % 7 == 3:\n    w = tf.add(y, 1)\n    break",
    "if tf.add(y, 2) % 5 == 3:\n    y = tf.add(y, 1)\n    continue\nz = tf.add(z, y)",
    "for k in (1, 2):\n    if k == x % 3: continue\n    y = tf.add(y, k)\nelse:\n    if y % 13 == 1: break\n    z = y",
    "try:\n    z = tf.add(x, 7)\n    y = tf.check(z)\n    z = tf.add(y, 1)\nexcept Failure:\n    print('caught', z)",
    "try:\n    z = tf.add(x, 7)\n    y = tf.check(z)\nfinally:\n    print('at last', y)",
    "del w",
    "(v := tf.add(x, y), tf.add(v, v))",
    "match tf.add(x, 1) % 3:\n    case 0:\n        y = tf.add(y, 1)\n    case other:\n        z = tf.add(other, 2)",
]
RETURNS = [
    "if tf.add(x, y) % 9 == 5:\n    print('returned', x, y, z)\n    return x",
    "if x % 8 == 3:\n    y = tf.add(y, 2)\n    return",
    "with tf.name_scope('s'):\n    z = tf.add(x, z)\n    if z % 8 == 3: return tf.add(z, y)",
]
TOP = """
import time
import tensorflow as tf
class Unknown:
    def thing(self, value):
        time.time()
        return value % 2
unknown = Unknown()
late = []
"""
START = "x, y, z, every = 1, 2, 3, 4\nbag, box = [1], {}\n"


def made_up(seed: int, where: str) -> str:
    """A program of a few loops around pieces, with what every name holds shown now and then."""
    dice = random.Random(seed)

    def loop(depth: int) -> str:
        pieces = PIECES if where == "module" else [*PIECES, *RETURNS]
        parts = [dice.choice(pieces) for _ in range(dice.randrange(2, 7))]
        if depth:
            parts.insert(dice.randrange(len(parts)), loop(depth - 1))
        head = dice.choice(
            [
                "for i in range(4):",
                "for i in range(13):",
                "for i in range(20, z, -every):",
                "while len(bag) < 9 and x < 900:\n    bag.append(x)",
            ]
        )
        ending = dice.choice(["", "", "\nelse:\n    y = tf.add(y, 6)\n    print('else', y, z)"])
        return head + "\n" + textwrap.indent("\n".join(parts), "    ") + ending

    body = START + "\n".join(loop(dice.randrange(2)) for _ in range(2))
    shown = "\nprint(x, y, z, bag, box)"
    reads = dice.choice(["", "\nprint(w)", "\nprint(i)", "\nprint(tape)"])
    if where == "module":
        return TOP + body + shown + reads + "\ndef reads():\n    return [fn() for fn in late], y\nprint(reads())"
    inside = textwrap.indent(body + shown + reads, "    ")
    if where == "function":
        return TOP + f"def run():\n{inside}\nrun()"
    if where == "closure":
        inner = "\n    def inner():\n        nonlocal z\n        z = tf.add(z, y)\n        return z\n    print(inner())"
        return TOP + f"def run():\n{inside}{inner}\nrun()"
    if where == "method":
        return TOP + f"class A:\n    def run(self):\n{textwrap.indent(inside, '    ')}\nA().run()"
    return TOP + f"def run():\n{inside.replace('print(', 'yield (')}\nprint(list(run()))"


PLACES = ["module", "function", "closure", "method", "generator"]


@pytest.mark.parametrize("where", PLACES)
def test_made_up_programs_do_what_they_do_in_plain_python(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    ran = 0
    for seed in range(8):
        source = made_up(seed, where)
        expected = Play(monkeypatch, source, None).shown
        for answer in (is_region, never, chosen(seed)):
            play = Play(monkeypatch, source, answer, is_main=True)
            assert expected == play.shown, source
            ran += len(play.ran)
    assert ran > 40


def never(facts: FunctionFacts) -> bool:
    """Answers with no region."""
    return False


def chosen(seed: int) -> Callable[[FunctionFacts], bool]:
    """Answers as a coin does."""
    coin = random.Random(seed)
    return lambda facts: is_region(facts) and coin.random() < 0.5


@pytest.mark.parametrize("where", PLACES)
def test_a_tracer_sees_the_lines_of_the_program_as_written(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def traced(source: str, answer: Any) -> list[tuple[str, str, int]]:
        events: list[tuple[str, str, int]] = []

        def tracer(frame: types.FrameType, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename != "program.py":
                return None
            events.append((event, frame.f_code.co_name, frame.f_lineno))
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            Play(monkeypatch, source, answer, is_main=True)
        finally:
            sys.settrace(before)
        return events

    for seed in range(8):
        source = made_up(seed, where)
        assert traced(source, None) == traced(source, never), source


# -- which runs ------------------------------------------------------------------------------------------------------

STEP = """
model, optimizer, data = make()
for x, y in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def test_the_body_of_a_loop_is_a_region() -> None:
    assert (4, 7) == lines(regions(STEP))[0]


def test_what_runs_once_is_no_region() -> None:
    assert [] == lines(regions(textwrap.dedent(STEP).replace("for x, y in data:", "if data:")))


def test_a_module_without_tensorflow_is_left_alone() -> None:
    converted = convert_module("import numpy as tf\n" + STEP, "m.py", is_main=True)
    assert () == converted.functions
    assert compile("import numpy as tf\n" + STEP, "m.py", "exec", dont_inherit=True) == converted.code


@pytest.mark.parametrize("statement", ["x += 1", "print(x)", "bag.append(x)", "own(x)", "x = len(y)", "pass"])
def test_a_run_with_nothing_to_gain_is_no_region(statement: str) -> None:
    assert [] == lines(regions(f"def own(x): return x\nfor x in data:\n    {statement}\n"))


EFFECTS = [
    "import os", "time.time()", "np.random.rand(3)", "rng.normal()", "draw(3)", "random.random()", "open('x')",
    "input()", "next(stream)", "plt.plot(x)", "os.getcwd()", "del x", "def g(): pass",
    "class A: pass", "v: int = 3", "model.fit(x)", "tf.Variable(x)", "keras.layers.Dense(3)", "model.save('x')",
    "for item in bag: f(item)", "for i in range(n): f(i)", "while x < 3: x = f(x)", "y = tf.data.Dataset.range(3)",
    "try:\n        f(x)\n    except E: pass", "logging.basicConfig()", "[next(stream) for _ in x]",
]  # fmt: skip


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_effect_ends_a_run(effect: str) -> None:
    imports = "import time, random, os, logging\nimport numpy as np\nimport matplotlib.pyplot as plt\n"
    imports += "from tensorflow import keras\nfrom random import random as draw\nrng = np.random.default_rng(3)\n"
    body = f"for x in data:\n    a = tf.add(x, 1)\n    {effect}\n    b = tf.add(x, 2)\n"
    first = imports.count("\n") + 2
    found = lines(regions(imports + body))
    last = first + 2 + effect.count("\n")
    assert (first, first) == found[0] and (last, last) == found[-1]


PLAUSIBLE = [
    "x.value = a", "x[0] = a", "del x[0]", "bag.append(float(a))", "print(f'{a:.3f}')", "assert a > 0, 'negative'",
    "if a > 0: print(a)", "for v in (1, 2): a += v", "for g, v in zip(grads, vs): v.assign_sub(g)",
    "for i in tf.range(n): a += i", "for i in tf.where(a)[:, 0]: a += i", "while tf.reduce_any(a > 0): a -= 1", "if a < 0: raise ValueError('low')",
    "with tf.device('cpu'): a = a + 1", "for v in model.trainable_variables: v.assign(a)", "own(a)", "loss_fn(a, x)",
    "math.sqrt(a)", "metric.update_state(a)", "for i in (1, 2):\n        if i: break", "x = a if x else int(a)",
]  # fmt: skip


@pytest.mark.parametrize("statement", PLAUSIBLE)
def test_what_a_graph_or_its_log_may_hold_does_not_end_a_run(statement: str) -> None:
    body = f"import math\ndef own(x): return x\nfor x in data:\n    a = tf.add(x, 1)\n    {statement}\n    b = tf.add(a, 2)\n"
    assert (4, 6 + statement.count("\n")) == lines(regions(body))[0]


@pytest.mark.parametrize(
    "unknown", ["obs = env.step(a)", "noise(a)", "a = np.square(a)", "with pool.lease(): print(a)"]
)
def test_an_unknown_statement_is_tried_and_has_a_way_round(unknown: str) -> None:
    body = f"""
        import time
        import numpy as np
        def noise(x): return x + time.time()
        for x in data:
            a = tf.add(x, 1)
            {unknown}
            b = tf.add(x, 2)
    """
    assert [(6, 8), (6, 6), (8, 8)] == lines(regions(body))


@pytest.mark.parametrize("likely", ["y = model(x)", "y = layers[0](x)", "y = told(x)"])
def test_what_is_only_likely_has_a_way_round_too_and_is_tried_without_what_is_unknown(likely: str) -> None:
    body = f"""
        from .text import told
        def own(model, layers):
            for x in data:
                {likely}
                y = tf.add(y, 1)
                plot.draw(y)
                y = tf.add(y, 2)
    """
    assert [(5, 8), (5, 6), (6, 6), (8, 8)] == lines(regions(body))


def test_where_the_larger_region_fails_the_smaller_ones_run(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        TOP
        + "x = 1\nfor i in range(3):\n    x = tf.add(x, i)\n    y = unknown.thing(x)\n    x = tf.add(x, y)\nprint(x)"
    )
    large, small = (12, 14), [(12, 12), (14, 14)]

    def answer(facts: FunctionFacts) -> bool:
        return is_region(facts) and (facts.line, facts.end_line) != large

    play = Play(monkeypatch, source, answer, is_main=True)
    assert Play(monkeypatch, source, None).shown == play.shown
    assert small * 3 == [(facts.line, facts.end_line) for facts in play.ran]


def test_below_a_tape_that_must_stay_open_the_statements_inside_are_regions() -> None:
    body = """
        import time
        for x in data:
            with tf.GradientTape() as tape:
                a = tf.add(x, 1)
                time.time()
                b = tf.add(a, 2)
            g = tape.gradient(b, a)
            c = tf.add(g, 1)
    """
    assert [(5, 5), (7, 7), (9, 9)] == lines(regions(body))


def test_below_an_open_tape_a_run_has_parts_whose_results_are_not_made_of_one_another() -> None:
    body = """
        import time
        for x in data:
            with tf.GradientTape() as tape:
                h = tf.add(x, 1)
                a = tf.add(h, 1)
                b = tf.add(a, 2)
                c = tf.add(b, a)
                time.time()
                loss = tf.add(a, c)
            g = tape.gradient(loss, x)
    """
    # `h` and `b` are read within their part only, `a` and `c` behind it
    assert [(5, 8), (5, 6), (7, 8), (10, 10)] == lines(regions(body))
    without = body.replace("tf.GradientTape() as tape", "tf.name_scope('s')").replace("tape.", "tf.")
    assert [(5, 8), (10, 10), (11, 11)] == lines(regions(without))


def test_the_body_of_a_generator_is_cut_at_its_yields() -> None:
    body = "def g(x):\n    a = tf.add(x, 1)\n    yield a\n    b = tf.add(a, 1)\n    yield b\n"
    assert [(2, 2), (4, 4)] == lines(regions(body))


TIMED = """
import time
def step(x):
    start = time.time()
    a = tf.add(x, 1)
    print(a, time.time() - start)
"""


def test_a_function_that_can_be_no_graph_as_a_whole_has_regions_if_it_is_called_again_and_again() -> None:
    assert [(5, 5)] == lines(regions(TIMED + "for x in data:\n    step(x)\n"))
    assert [(5, 5)] == lines(
        regions(TIMED + "def run(): return [each(x) for x in data]\ndef each(x): return step(x)\n")
    )
    assert [(5, 5)] == lines(regions(TIMED, is_main=False))
    assert [] == lines(regions(TIMED + "step(1)\n"))
    assert [] == lines(regions(TIMED.replace("step", "main") + "for x in data:\n    main(x)\n"))
    assert [] == lines(regions(TIMED.replace("time.time()", "0") + "for x in data:\n    step(x)\n"))


def test_a_function_with_something_unknown_has_regions_without_it() -> None:
    body = """
def step(x):
    a = tf.add(x, 1)
    b = tf.add(a, x)
    return unknown.thing(b)
for x in data:
    step(x)
"""
    assert [(3, 4)] == lines(regions(body))
    assert [] == lines(regions(body.replace("unknown.thing", "own") + "def own(x): return x"))


def test_coroutines_have_regions_between_their_waits() -> None:
    body = "async def f(x):\n    a = tf.add(x, 1)\n    b = await a\n    async for c in b:\n        d = tf.add(c, a)\n"
    assert [(2, 2), (5, 5)] == lines(regions(body))


def test_arithmetic_alone_must_be_much_to_be_a_region() -> None:
    assert [] == lines(regions("for x in data:\n    a = min(a + x * 2, b - x, c * 3 + 1)\n"))
    assert [(2, 4)] == lines(regions("for k in data:\n    a += v * h\n    v -= h * a * k\n    e = a * a + v * v / 2\n"))


def test_functions_that_show_their_names_to_others_have_no_regions() -> None:
    assert [] == lines(regions("def f(data):\n    for x in data:\n        a = tf.add(x, 1)\n    return locals()\n"))


def test_jumps_lead_out_of_a_region() -> None:
    jumps = "for x in data:\n    a = tf.add(x, 1)\n    if a > 3: break\n    if a < 1: continue\n    b = tf.add(a, 2); print(b)\n"
    assert [(2, 5)] == lines(regions(jumps))
    body = "def f(data):\n" + textwrap.indent(jumps.replace("break", "return a"), "    ")
    assert [(3, 6)] == lines(regions(body))


def test_a_name_that_only_one_way_out_gives_a_value_cuts_the_run() -> None:
    body = "for x in data:\n    a = tf.add(x, z)\n    if a: break\n    b = tf.add(a, z)\nreturn b\n"
    assert [(("x", "z"), ("a",)), (("a", "z"), ("b",))] == crossing(body)


def test_a_generator_returns_outside_its_regions() -> None:
    body = "def g(data):\n    for x in data:\n        a = tf.add(x, 1)\n        if a: return\n        yield a\n"
    assert [(3, 3)] == lines(regions(body))


# -- names -----------------------------------------------------------------------------------------------------------


def crossing(body: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(facts.parameters, facts.results) for facts in regions("def f(data, z):\n" + textwrap.indent(body, "    "))]


def test_locals_go_in_if_read_and_come_out_if_read_later() -> None:
    body = "total = 0\nfor x in data:\n    a = tf.add(x, z)\n    total = total + a\nreturn total\n"
    assert [(("total", "x", "z"), ("total",))] == crossing(body)


def test_what_is_assigned_under_a_condition_goes_in_to_come_out() -> None:
    body = "last = None\nfor x in data:\n    if x: last = tf.add(x, z)\nreturn last\n"
    assert [(("last", "x", "z"), ("last",))] == crossing(body)


def test_a_name_that_may_have_no_value_cuts_the_run() -> None:
    body = "for x in data:\n    a = tf.add(x, z)\n    if a: last = tf.add(a, z)\n    b = tf.add(a, z); print(b)\nreturn last\n"
    found = regions("def f(data, z):\n" + textwrap.indent(body, "    "))
    assert [(3, 3), (4, 4), (5, 5)] == lines(found)
    assert [("a",), ("last",), ()] == [facts.results for facts in found]


def test_what_a_handler_reads_is_not_changed_in_a_region() -> None:
    body = """
        def f(data):
            for x in data:
                seen = 0
                try:
                    other = tf.add(x, 2)
                    seen = tf.add(x, 1)
                    print(tf.add(other, seen))
                except ValueError:
                    print(seen)
    """
    assert [(6, 6), (8, 8)] == lines(regions(body))


def test_a_tape_neither_enters_nor_leaves_a_region() -> None:
    body = """
        import time
        def f(data, z):
            for x in data:
                with tf.GradientTape() as tape:
                    a = tf.add(x, z)
                time.time()
                b = tf.add(a, tape.gradient(a, x))
                c = tf.add(b, 1)
                print(c)
    """
    found = regions(body)
    assert [(6, 6), (9, 10)] == lines(found)
    assert [("x", "z"), ("b",)] == [facts.parameters for facts in found]


def test_what_case_binds_for_others_is_bound_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
        for x in data:
            a = tf.add(x, 1)
            match x:
                case [i, *j]: tf.add(x, 3)
        def looks(): return i
    """
    assert [(3, 3), (5, 5)] == lines(regions(body))


def cells_of(body: str) -> list[tuple[str, ...]]:
    source = "import tensorflow as tf\n" + textwrap.dedent(body)
    converted = convert_module(source, "m.py", is_main=True)
    found = zip(converted.functions, converted.forms, strict=True)
    return [form.co_freevars for facts, form in found if facts.kind == "region" and form is not None]


def test_names_that_nested_functions_share_are_cells_of_the_region() -> None:
    body = """
        def f(data):
            total = 0
            for x in data:
                total = tf.add(total, x)
            return lambda: total
    """
    assert [("total",)] == cells_of(body)


def test_a_comprehension_that_is_over_at_once_shares_nothing() -> None:
    body = """
        def f(data, rate):
            for x in data:
                print(sum(tf.add(v, rate) for v in x), [tf.add(v, rate) for v in x])
    """
    assert [()] == cells_of(body)


METHOD = """
import tensorflow as tf
class Base:
    def scaled(self, x): return tf.add(x, 1)
class Net(Base):
    __gain = 3
    def run(self, data, __by=2):
        total = 0
        for x in data:
            __local = tf.add(super().scaled(x), __by)
            total = tf.add(total, self.__gain * __local)
        return total, __class__
print(Net().run([1, 2, 3]))
"""


def test_private_names_and_super_mean_in_a_region_what_they_mean_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(monkeypatch, METHOD, is_region, is_main=True)
    assert Play(monkeypatch, METHOD, None).shown == play.shown
    assert ["Net.run"] * 3 == [facts.name for facts in play.ran]


# -- the top level of a module ---------------------------------------------------------------------------------------


def stored_globals(body: str, *, is_main: bool = True) -> list[str]:
    """The globals that the regions of a module set."""
    source = "import tensorflow as tf\n" + textwrap.dedent(body)
    converted = convert_module(source, "m.py", is_main=is_main)
    found: set[str] = set()
    for facts, form in zip(converted.functions, converted.forms, strict=True):
        if facts.kind == "region" and form is not None:
            assert () == facts.parameters == facts.results
            found |= set(global_stores(form))
    return sorted(found)


def global_stores(code: types.CodeType) -> list[str]:
    """Names that code sets through the operator; no other way is taken."""
    steps = list(dis.get_instructions(code))
    assert not any(step.opname in ("STORE_GLOBAL", "STORE_NAME") for step in steps)
    found = []
    for index, step in enumerate(steps):
        if step.argval == "set_global":
            found.append(next(later.argval for later in steps[index + 1 :] if later.opname == "LOAD_CONST"))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += global_stores(constant)
    return found


def test_names_that_nobody_looks_at_are_locals_of_a_region_of_the_program() -> None:
    assert [] == stored_globals(STEP)
    assert ["loss"] == stored_globals(STEP, is_main=False)


LOOKS = [
    "print(loss)", "def f(): return loss", "class A:\n    x = loss", "f = lambda: loss", "print(f'{loss}')", "del loss",
    "def f(x: loss): pass", "def f():\n    global loss\n    loss = 1", "print(globals())", "exec('print(loss)')",
    "import __main__", "__all__ = ['loss']", "import sys; sys.modules[__name__].loss",
]  # fmt: skip


@pytest.mark.parametrize("looks", LOOKS)
def test_what_somebody_may_look_at_stays_a_global(looks: str) -> None:
    assert ["loss"] == stored_globals(STEP + looks + "\n")


@pytest.mark.parametrize("looks", ["loss = 1; print(loss)", "def f(loss): return loss", "print(other.loss)"])
def test_another_of_the_same_name_does_not_count(looks: str) -> None:
    assert [] == stored_globals(STEP + looks + "\n")


def test_what_the_next_round_reads_stays_a_global() -> None:
    body = "best = 0\nfor x in data:\n    loss = tf.add(x, 1)\n    best = tf.maximum(best, loss)\n"
    assert ["best"] == stored_globals(body)


def test_every_kind_of_binding_of_a_global_goes_through_the_operator() -> None:
    body = """
        for x in data:
            a, (b, *c) = tf.add(x, 1)
            with tf.name_scope("s") as d:
                (e := tf.add(x, 2))
            for f in (1, 2):
                g = [h := tf.add(x, f) for _ in (1, 2)]
            k += tf.add(x, 1)
        def looks(): return a, b, c, d, e, f, g, h, k
    """
    assert list("abcdefghk") == stored_globals(body)


def test_what_a_region_had_to_stop_at_is_known() -> None:
    body = """
        rng = np.random.default_rng(3)
        for x in data:
            a = tf.add(x, 1)
            i = rng.choice(3, size=8)
            b = tf.add(a, i)
            import os
            c = tf.add(b, 1)
            for k in range(n): print(k)
            d = tf.add(c, 1)
    """
    found = regions("import numpy as np" + textwrap.dedent(body))
    assert [(6, "rng.choice(...)"), (8, "import"), (10, "range(...)"), None] == [facts.end for facts in found]
    tape = "for x in data:\n    a = tf.add(x, z)\n    if a: last = tf.add(a, z)\n    b = tf.add(a, z); print(b)\nreturn last\n"
    found = regions("def f(data, z):\n" + textwrap.indent(tape, "    "))
    assert [(5, "last cannot go in or out"), None, None] == [facts.end for facts in found]
