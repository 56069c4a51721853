"""What has no gate is CPython's code; what has one is CPython's code behind a gate. Over the standard library."""

from __future__ import annotations

import sysconfig
import warnings
from pathlib import Path
from types import CodeType

import pytest

from autoimport.convert.module import convert_module
from autoimport.convert.parse import quietly
from tests.convert.code_equality import differences, is_gated

LIBRARY = Path(sysconfig.get_path("stdlib"))
SKIPPED = ("site-packages", "lib2to3", "bad_", "badsyntax", "idlelib")
FILES = [file for file in sorted(LIBRARY.rglob("*.py")) if not any(part in str(file) for part in SKIPPED)]
SAMPLE = FILES[:: max(1, len(FILES) // 150)]


def different(source: bytes | str, path: str) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = compile(source, path, "exec", dont_inherit=True)
        return list(differences(convert_module(source, path).code, theirs))


@pytest.mark.parametrize("part", range(10))
def test_standard_library_converts_to_the_same_code_behind_gates(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    for file in SAMPLE[part::10]:
        assert [] == different(file.read_bytes(), str(file))


@pytest.mark.parametrize("part", range(5))
def test_standard_library_converts_without_a_fault(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    with quietly():
        for file in SAMPLE[part::20]:
            converted = convert_module(file.read_bytes(), str(file))
            assert [facts.has_form for facts in converted.functions] == [form is not None for form in converted.forms]


def compiled(source: str) -> CodeType:
    return compile(source, "m.py", "exec", dont_inherit=True)


def test_a_difference_is_found() -> None:
    ours = compiled("def f(x):\n return g(x)")
    assert [] == list(differences(ours, ours))
    assert [] != list(differences(ours, compiled("def f(x):\n return h(x)")))
    assert [] != list(differences(ours, compiled("def f(x):\n\n return g(x)")))


def test_a_difference_behind_a_gate_is_found() -> None:
    ours = convert_module("def f(x):\n return g(x)", "m.py").code
    assert any(is_gated(const) for const in ours.co_consts if isinstance(const, CodeType))
    assert [] == list(differences(ours, compiled("def f(x):\n return g(x)")))
    assert [] != list(differences(ours, compiled("def f(x):\n return g(x, 1)")))
    assert [] != list(differences(ours, compiled("def f(x):\n\n return g(x)")))


CORNERS = {
    "comprehensions": """
def f(xs):
    return [[(lambda: x + y + i)() for x in y] for i, y in xs if i], {x: g(x) for x in xs}
""",
    "lambdas on a line": """
fs = [lambda: g(), lambda x: g(x), lambda x, *y: g(x, *y), (lambda: (lambda: g()))()]
""",
    "a branch in front of a short end": """
fs = [lambda x: (x.a if x is None else x.b, g), lambda x: x.a if x is None else x.b, lambda x: [x.a and x.b, x]]
""",
    "decorated by lambdas": """
@lambda f: g(f)
@(lambda f: g(f))
def h(x): return g(x)
""",
    "dead code": """
if 0:
    def f(): return g()
def h():
    return g()
    def never(): return g()
""",
    "finally": """
def f():
    try: return g()
    finally:
        h(lambda: g(f))
""",
    "classes": """
class __A:
    def f(self, __x): return super().f(self.__y, __x)
    class B:
        def f(self): return __class__, g()
""",
    "docstrings": """
def f():
    'doc'
    return g()
def h():
    'doc'
    'more'
    g()
""",
    "nonlocal first": """
def f():
    x = g()
    def h():
        nonlocal x
        x = g(x)
    def nothing():
        nonlocal x
    return h
""",
    "positions": """
def f(x):
    return (
        g(x)
        + 1)
h = lambda x: (
    g(x)
    + 1)
""",
    "no code": """
def f():
    x: int
def g():
    x: (lambda: h[1])
    return f(x)
""",
    "future": """
from __future__ import annotations
def f(x: A.b) -> C:
    def g(y: h(x)): return g(y)
    return g(x)
""",
    "many constants": "def f(x):\n" + "".join(f"    x = g(x, {i}.5)\n    while x: x = h(x)\n" for i in range(300)),
}
GENERIC = """
def f[T: (lambda: 1)](x: T, /) -> T:
    return g(T, x)
class A[T]:
    def f(self): return g(T)
"""


@pytest.mark.parametrize("name", CORNERS)
def test_corners_convert_to_the_same_code_behind_gates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    assert [] == different(CORNERS[name], "m.py")


def test_generic_functions_convert_where_python_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    try:
        compiled(GENERIC)
    except SyntaxError:
        with pytest.raises(SyntaxError):
            convert_module(GENERIC, "m.py")
    else:
        assert [] == different(GENERIC, "m.py")
