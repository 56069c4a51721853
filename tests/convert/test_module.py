"""A whole module converts: CPython's errors and warnings, our own faults, and what the facts say."""

from __future__ import annotations

import ast
import inspect
import marshal
import subprocess
import sys
import types
import warnings
from types import CodeType
from typing import Any

import gast
import pytest

from autoimport.convert import forms, module
from autoimport.convert.module import convert_module
from tests.convert.code_equality import differences, is_gated

SOURCE = """
def first(x):
    return g(x)
def second(x, *rest, k=1, **more):
    while x:
        x = g(x)
def third():
    yield 1
async def fourth(x):
    await x
"""


DOUBTFUL = """\
def f(x):
    for y in x:
        try: g(y)
        finally: break
"""


def fails(fn: gast.FunctionDef, context: forms.Context) -> gast.FunctionDef:
    raise RuntimeError("a pass is wrong")


def test_forms_and_facts_stand_in_site_order() -> None:
    converted = convert_module(SOURCE, "m.py")
    assert ["first", "second", "third", "fourth"] == [facts.name for facts in converted.functions]
    assert [True, True, True, False] == [form is not None for form in converted.forms]
    assert [True, True, True, False] == [facts.has_form for facts in converted.functions]
    assert [True, True, False, False] == [facts.can_launch for facts in converted.functions]
    second = converted.functions[1]
    assert (4, 6, ("x", "rest", "k", "more"), True) == (
        second.line,
        second.end_line,
        second.parameters,
        second.has_loop,
    )
    assert [("a generator", 8), ("a coroutine", 10)] == [
        (facts.reason, facts.reason_line) for facts in converted.functions[2:]
    ]


def test_forms_take_the_parameters_plainly_and_can_be_kept() -> None:
    form = convert_module(SOURCE, "m.py").forms[1]
    assert form is not None
    assert (4, 0, 0) == (form.co_argcount, form.co_kwonlyargcount, form.co_flags & 0x0C)
    assert ("x", "rest", "k", "more") == form.co_varnames[:4]
    assert form == marshal.loads(marshal.dumps(form))


def test_a_key_can_be_given() -> None:
    converted = convert_module(SOURCE, "m.py", key="0abc")
    assert "0abc" == converted.key
    functions = [const for const in converted.code.co_consts if isinstance(const, CodeType)]
    assert [True, True, True, False] == ["@on:0abc" in code.co_names for code in functions]


def test_a_module_without_functions_is_what_cpython_compiles() -> None:
    source = "x = 1\nfor y in range(x): print(y)\n"
    converted = convert_module(source, "m.py")
    assert compile(source, "m.py", "exec", dont_inherit=True) == converted.code
    assert () == tuple(converted.forms) == converted.functions


@pytest.mark.parametrize(
    "source", ["def f(:\n", "def f():\n    x\n    return 1\nreturn 2\n", "def f(x):\n    global x\n"]
)
def test_syntax_errors_are_those_of_cpython(source: str) -> None:
    with pytest.raises(SyntaxError) as theirs:
        compile(source, "m.py", "exec", dont_inherit=True)
    with pytest.raises(SyntaxError) as ours:
        convert_module(source, "m.py")
    assert theirs.value.args == ours.value.args
    assert None is ours.value.__context__


def test_a_fault_that_looks_like_a_syntax_error_is_not_the_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(fn: Any, key: str, index: int) -> None:
        fn.node.body.append(ast.Break(lineno=1, col_offset=0))

    monkeypatch.delenv("AUTOIMPORT_STRICT", raising=False)
    monkeypatch.setattr(module, "insert_gate", breaks)
    assert compile(SOURCE, "m.py", "exec", dont_inherit=True) == convert_module(SOURCE, "m.py").code


def test_a_source_with_a_null_byte_fails_as_in_cpython() -> None:
    with pytest.raises((ValueError, SyntaxError)) as theirs:
        compile("x = 1\0", "m.py", "exec")
    with pytest.raises(type(theirs.value), match=str(theirs.value)):
        convert_module("x = 1\0", "m.py")


def test_warnings_of_the_compiler_are_given_as_often_as_by_cpython() -> None:
    source = "def f(x):\n    assert (x, 'never fails')\n    return x is 1, '\\d'\n"

    def warned(do: Any) -> list[tuple[str, int]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            do(source, "m.py")
        return [(str(warning.message), warning.lineno) for warning in caught]

    theirs = warned(lambda text, path: compile(text, path, "exec", dont_inherit=True))
    assert 3 == len(theirs)
    assert theirs == warned(convert_module)


def test_warnings_that_are_errors_are_errors_here_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SyntaxError, match="is"):
            convert_module("def f(x):\n    return x is 1\n", "m.py")


def test_a_fault_in_one_form_costs_only_that_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOIMPORT_STRICT", raising=False)
    real = forms.graph_form
    monkeypatch.setattr(forms, "graph_form", lambda fn, context: (fails if fn.name == "first" else real)(fn, context))
    converted = convert_module(SOURCE, "m.py")
    assert [] == converted.faults
    assert [False, True, True, False] == [form is not None for form in converted.forms]
    assert ["a pass is wrong"] == [str(fault) for fault in converted.faults]
    assert {0: ("internal: RuntimeError: a pass is wrong", None)} == converted.forms.reasons
    assert [] == list(differences(converted.code, compile(SOURCE, "m.py", "exec", dont_inherit=True)))


def test_a_fault_in_one_form_is_raised_when_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    monkeypatch.setattr(forms, "graph_form", fails)
    with pytest.raises(RuntimeError, match="a pass is wrong"):
        convert_module(SOURCE, "m.py").forms[0]
    with pytest.raises(RuntimeError, match="a pass is wrong"):
        convert_module(DOUBTFUL, "m.py")


def test_a_fault_outside_forms_costs_only_the_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOIMPORT_STRICT", raising=False)
    monkeypatch.setattr(module, "insert_gate", fails)
    converted = convert_module(SOURCE, "m.py")
    assert compile(SOURCE, "m.py", "exec", dont_inherit=True) == converted.code
    assert () == tuple(converted.forms)


def test_a_form_that_needs_a_cell_which_the_gate_has_not_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")

    def reads_the_class(fn: gast.FunctionDef, context: forms.Context) -> gast.FunctionDef:
        fn.body.append(gast.parse("__class__").body[0])
        return fn

    monkeypatch.setattr(forms, "graph_form", reads_the_class)
    with pytest.raises(forms.ForeignCell, match="A.f needs __class__"):
        convert_module("class A:\n    def f(self): return g(self)\n", "m.py").forms[0]


@pytest.mark.parametrize(
    "body",
    [
        "return g(x) and (y := x) and y",
        "return [y for y in x if g(y) and (z := y)]",
        "for y in x:\n        try: g(y)\n        finally: break",
        "for y in x:\n        try: g(y)\n        finally:\n            if y: return y",
        "x = g((yield x))",
        "return [g((yield))]",
        "return g(y async for y in x)",
        "return g(y for y in x if await y)",
        "def inner(): return g(x) and (y := x) and y\n    return inner",
    ],
)
def test_whether_there_is_a_gate_is_known_at_once(body: str) -> None:
    """What may have no form is told by making it, so that no gate leads nowhere."""
    converted = convert_module(f"def f(x):\n    {body}\n", "m.py")
    assert [form is not None for form in converted.forms] == [facts.has_form for facts in converted.functions]
    assert {} == converted.forms.reasons
    for facts in converted.functions:
        assert facts.has_form or (facts.reason is not None and facts.reason_line is not None)


def test_a_construct_without_graph_form_is_the_reason_in_the_facts() -> None:
    facts = convert_module(DOUBTFUL, "m.py").functions[0]
    assert (False, "a jump out of a finally clause", 4) == (facts.has_form, facts.reason, facts.reason_line)


def test_forms_are_made_on_first_use_of_the_text_that_was_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = forms.graph_form
    monkeypatch.setattr(forms, "graph_form", lambda fn, context: made.append(fn.name) or real(fn, context))
    converted = convert_module(SOURCE, "m.py")
    assert [] == made
    assert converted.forms[1] is converted.forms[1]
    assert 1 == len(made)
    converted.forms.close()
    kept: list[Any] = []
    converted.forms.keep = kept.append
    converted.forms.close()
    assert [] == kept  # nothing new
    converted.forms[0]
    converted.forms.close()
    assert [converted.forms] == kept
    assert not converted.forms.is_complete
    assert 4 == len(tuple(converted.forms))
    assert converted.forms.is_complete


def test_all_forms_can_be_made_at_once() -> None:
    converted, later = convert_module(SOURCE, "m.py", with_forms=True), convert_module(SOURCE, "m.py")
    assert converted.forms.is_complete
    assert tuple(later.forms) == tuple(converted.forms)
    assert (later.code, later.functions) == (converted.code, converted.functions)


def test_a_form_is_made_in_the_depth_of_a_recursion() -> None:
    arms = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(40))
    converted = convert_module(f"def f(x):\n    if x:\n        y = 0\n{arms}    return y\n", "m.py")

    def form_below(levels: int) -> CodeType | None:
        return form_below(levels - 1) if levels else converted.forms[0]

    assert form_below(sys.getrecursionlimit() - len(inspect.stack(0)) - 100) is not None


def test_names_that_functions_store_are_told() -> None:
    source = """
import tensorflow as tf
class A:
    def __init__(self): self.started = 0
    def f(self, other):
        self.count += 1
        other.__hidden = 2
        (other.first, [other.second]) = g()
        other["frames"] += other["read"] + other.items["more"]
        other.items["total"], other[0], other[g], {}["in"].out["x.y"] = g()
    def h(self):
        global total
        total = self.read
options.size = 7
for x in data:
    steps = steps + tf.abs(x) * tf.exp(x)
    state.step = tf.add(x, tf.exp(steps))
    if x: seen += 1
def g(y):
    for local in y: inner += local
"""
    names = ("_A__hidden", "count", "first", "second", "seen", "step", "steps", "total", "x")
    assert ("['frames']", "['total']", "['x.y']", *names) == convert_module(source, "m.py").forms.stored


def test_asserts_are_in_no_form_under_python_o() -> None:
    program = """
from autoimport.convert.module import convert_module
form = convert_module("def f(x):\\n    assert g(x)\\n    return h(x)\\n", "m.py").forms[0]
print("assert_" in form.co_names)
"""
    outputs = [
        subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, check=True).stdout
        for options in ([], ["-O"])
    ]
    assert ["True\n", "False\n"] == outputs


def test_conversion_loads_no_tensorflow() -> None:
    program = "import sys, autoimport.convert.module, autoimport.convert.to_code; print('tensorflow' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "False\n" == run.stdout


def test_future_annotations_hold_in_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "graph_form", lambda fn, context: fn)
    source = "from __future__ import annotations\ndef f(x):\n    def g(y: not_there): return y\n    return g\n"
    form = convert_module(source, "m.py").forms[0]
    assert form is not None
    assert {"y": "not_there"} == types.FunctionType(form, {})(1).__annotations__


def test_two_conversions_give_the_same_code() -> None:
    once, twice = convert_module(SOURCE, "m.py"), convert_module(SOURCE.encode(), "m.py")
    assert (once.key, once.code, once.functions) == (twice.key, twice.code, twice.functions)
    assert tuple(once.forms) == tuple(twice.forms)
    assert not is_gated(once.code)
