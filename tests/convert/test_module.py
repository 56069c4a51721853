"""A whole module converts: CPython's errors and warnings, our own faults, and what the facts say."""

from __future__ import annotations

import ast
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
    assert () == converted.forms == converted.functions


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
    assert ("internal: RuntimeError: a pass is wrong", 2) == (
        converted.functions[0].reason,
        converted.functions[0].reason_line,
    )
    assert [False, True, True, False] == [form is not None for form in converted.forms]
    assert [] == list(differences(converted.code, compile(SOURCE, "m.py", "exec", dont_inherit=True)))


def test_a_fault_in_one_form_is_raised_when_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    monkeypatch.setattr(forms, "graph_form", fails)
    with pytest.raises(RuntimeError, match="a pass is wrong"):
        convert_module(SOURCE, "m.py")


def test_a_fault_outside_forms_costs_only_the_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOIMPORT_STRICT", raising=False)
    monkeypatch.setattr(module, "insert_gate", fails)
    converted = convert_module(SOURCE, "m.py")
    assert compile(SOURCE, "m.py", "exec", dont_inherit=True) == converted.code
    assert () == converted.forms


def test_a_form_that_needs_a_cell_which_the_gate_has_not_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")

    def reads_the_class(fn: gast.FunctionDef, context: forms.Context) -> gast.FunctionDef:
        fn.body.append(gast.parse("__class__").body[0])
        return fn

    monkeypatch.setattr(forms, "graph_form", reads_the_class)
    with pytest.raises(forms.ForeignCell, match="A.f needs __class__"):
        convert_module("class A:\n    def f(self): return g(self)\n", "m.py")


def test_a_construct_without_graph_form_is_the_reason_in_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(fn: gast.FunctionDef, context: forms.Context) -> gast.FunctionDef:
        raise module.Unconvertible("a construct", 5)

    monkeypatch.setattr(forms, "graph_form", refuses)
    facts = convert_module(SOURCE, "m.py").functions[1]
    assert (False, "a construct", 5) == (facts.has_form, facts.reason, facts.reason_line)


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
    assert once == twice
    assert not is_gated(once.code)
