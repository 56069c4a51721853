"""Every function of a module is found, with what CPython's compiler knows about it."""

from __future__ import annotations

import ast
import sysconfig
import types
from pathlib import Path

import pytest

from autoimport.convert.functions import Function, find_functions, obstacle
from autoimport.convert.parse import parse


def found(source: str) -> list[Function]:
    return find_functions(parse(source, "m.py"), "m.py")


def only(body: str, head: str = "def f(x, y):") -> Function:
    indented = "".join(f"    {line}\n" for line in body.split("\n"))
    return found(f"{head}\n{indented}")[0]


def test_functions_are_numbered_in_the_order_of_the_source() -> None:
    source = """
@decorate(lambda: 1)
def f(x=lambda: 2):
    return [lambda: 3 for _ in x], lambda: (lambda: 4)
class A:
    async def g(self): yield
"""
    names = ["<lambda>", "f", "<lambda>", "f.<locals>.<lambda>", "f.<locals>.<lambda>"]
    expected = [*names, "f.<locals>.<lambda>.<locals>.<lambda>", "A.g"]
    assert expected == [fn.qualified_name.replace(".<listcomp>", "") for fn in found(source)]
    assert [2, 3, 3, 4, 4, 4, 6] == [fn.node.lineno for fn in found(source)]


NAMED = """
@seen
def f():
    global g
    @seen
    def g(): return seen(lambda: 1)
    class A:
        @seen
        def h(self): return [seen(lambda: x) for x in seen(lambda: [1])()]
        i = seen(lambda self: {x: list(seen(lambda: y) for y in [1]) for x in [2]})
    g(), A().h(), A().i()
f()
"""


def test_qualified_names_are_those_of_the_running_program() -> None:
    names: list[str] = []

    def seen(fn: types.FunctionType) -> types.FunctionType:
        names.append(fn.__qualname__)
        return fn

    exec(compile(NAMED, "m.py", "exec", dont_inherit=True), {"seen": seen})
    assert sorted(names) == sorted(fn.qualified_name for fn in found(NAMED))


def test_qualified_names_are_those_of_the_compiler() -> None:
    library = Path(sysconfig.get_path("stdlib"))
    for name in ("typing", "functools", "contextlib", "unittest/mock", "asyncio/tasks", "dataclasses"):
        file = library / f"{name}.py"
        for fn in find_functions(parse(file.read_bytes(), str(file)), str(file)):
            if fn.code is None or fn.name == "<lambda>":
                continue  # never runs; goes by the name that it is given
            assert fn.qualified_name == getattr(fn.code, "co_qualname", fn.qualified_name)


def test_a_lambda_goes_by_the_name_that_it_is_given() -> None:
    source = """
low, high = (lambda x: x), (lambda x: -x)
def f():
    part = lambda: 1
    return part, lambda: 2
"""
    assert ["low", "high", "f", "f.<locals>.part", "f.<locals>.<lambda>"] == [fn.qualified_name for fn in found(source)]


def test_a_function_declared_global_has_a_plain_qualified_name() -> None:
    assert ["f", "g"] == [fn.qualified_name for fn in found("def f():\n    global g\n    def g(): pass\n")]


def test_parameters_come_in_gate_order() -> None:
    assert ("a", "b", "c", "d", "e") == only("pass", "def f(a, /, b, *c, d, **e):").parameters


def test_each_lambda_of_a_line_has_its_own_free_names() -> None:
    functions = found("def f(a, b):\n    return lambda: a, lambda: b, lambda: (a, b), lambda: 0\n")
    assert [(), ("a",), ("b",), ("a", "b"), ()] == [fn.code and fn.code.co_freevars for fn in functions]


def test_a_lambda_decorator_and_the_function_it_decorates_are_told_apart() -> None:
    functions = found("def f(a, b):\n    @lambda g: a\n    def g(): return b\n    return g\n")
    assert [(), ("a",), ("b",)] == [fn.code and fn.code.co_freevars for fn in functions]


def test_private_names_are_free_as_the_compiler_spells_them() -> None:
    functions = found("class A:\n    def f(self, __x):\n        return lambda: __x\n")
    assert [("__x",), "A", ("_A__x",)] == [
        functions[0].parameters[1:],
        functions[1].class_name,
        functions[1].code and functions[1].code.co_freevars,
    ]


def test_what_never_runs_has_no_gate() -> None:
    functions = found("def f():\n    x: (lambda: g()) = 2\n    return x\n")
    assert ("never runs", None) == obstacle(functions[1])


@pytest.mark.parametrize(
    ("body", "head", "reason", "line"),
    [
        ("g(x)\nawait x", "async def f(x, y):", "a coroutine", 3),
        ("g(x)\nyield x", "async def f(x, y):", "an async generator", 3),
        ("g(x)\nreturn locals()", "def f(x, y):", "locals() looks at the frame of its caller", 3),
        ("return vars()", "def f(x, y):", "vars() looks at the frame of its caller", 2),
        ("return sys._getframe(1)", "def f(x, y):", "_getframe() looks at the frame of its caller", 2),
        ("return [eval(z) for z in x]", "def f(x, y):", "eval() looks at the frame of its caller", 2),
        ("def g():\n    return globals()\nreturn g", "def f(x, y):", "globals() looks at the frame of its caller", 3),
    ],
)
def test_these_have_no_gate(body: str, head: str, reason: str, line: int) -> None:
    assert (reason, line) == obstacle(only(body, head))


def test_a_generator_has_a_gate_unless_it_is_a_lambda() -> None:
    assert None is obstacle(only("g(x)\nyield x"))
    assert ("a generator", 1) == obstacle(found("f = lambda x: (yield g(x))\n")[0])


@pytest.mark.parametrize("body", ["return vars(x)", "return x.eval()", "eval = x\nreturn eval(y)", "return dir(x)"])
def test_what_is_only_called_like_a_look_at_the_frame_has_a_gate(body: str) -> None:
    assert None is obstacle(only(body))


HARMLESS = [
    "pass",
    "'doc'",
    "...",
    "return x",
    "z = x\nreturn z, y",
    "return x <= y",
    "return [x, {y: 1}]",
    "return -1",
    "return x, 2 * (3 + 4j)",
]


@pytest.mark.parametrize("body", HARMLESS)
def test_a_body_in_which_nothing_can_differ_has_no_gate(body: str) -> None:
    assert ("nothing in it can differ in a graph", None) == obstacle(only(body))


@pytest.mark.parametrize(
    "body",
    [
        "g(x)",
        "return x * 2 + y",
        "return -x",
        "return 2 * 3 * x",
        "x.y",
        "x[y]",
        "return g",
        "if x: pass",
        "while x: pass",
        "for x in y: pass",
        "return x and y",
        "return not x",
    ]
    + ["x == y", "x != y", "x in y", "x is y", "x < y < 1", "return f'{x}'", "x % y", "x += y", "x, y = y", "del x"]
    + ["assert x", "raise x", "import g", "class A: pass", "return lambda: x", "[*x]", "x if y else y", "with x: pass"],
)
def test_anything_else_has_a_gate(body: str) -> None:
    assert None is obstacle(only(body))


def test_a_free_name_needs_a_gate_and_a_mere_nonlocal_none() -> None:
    source = "def f(x):\n    def g(): return x\n    def h(): nonlocal x\n    return g(h)\n"
    assert [None, None, "nothing in it can differ in a graph"] == [
        against and against[0] for against in map(obstacle, found(source))
    ]


def test_loops_are_noted_in_the_function_that_they_are_in() -> None:
    functions = found("def f(x):\n    def g():\n        while x: pass\n    return g\ndef h(x):\n    for y in x: pass\n")
    assert [False, True, True] == [fn.has_loop for fn in functions]


def test_finding_functions_leaves_the_tree_as_it_was() -> None:
    source = "@d\n@(lambda: 1)\ndef f(x):\n    return lambda: (\n        x)\n"
    tree = parse(source, "m.py")
    find_functions(tree, "m.py")
    assert ast.dump(parse(source, "m.py"), include_attributes=True) == ast.dump(tree, include_attributes=True)
