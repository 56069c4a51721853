"""Source to tree, tree to gast and back."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

from autoimport.convert import parse as parsing
from autoimport.convert.parse import UnknownNode, compile_tree, parse, quietly, to_ast, to_gast
from tests.convert.code_equality import differences

LIBRARY = Path(sysconfig.get_path("stdlib"))


def test_gast_knows_every_node_of_this_python() -> None:
    assert set() == set(parsing.UNKNOWN_TO_GAST)


def test_a_node_that_gast_would_drop_is_met_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "UNKNOWN_TO_GAST", frozenset({ast.Lambda}))
    assert to_gast(ast.parse("x = 1"))
    with pytest.raises(UnknownNode, match="Lambda"):
        to_gast(ast.parse("x = lambda: 1"))


@pytest.mark.parametrize("name", ["argparse", "dataclasses", "typing", "contextlib", "asyncio/tasks", "enum", "ast"])
def test_the_way_to_gast_and_back_keeps_code_and_positions(name: str) -> None:
    file = LIBRARY / f"{name}.py"
    tree = parse(file.read_bytes(), str(file))
    again = to_ast(to_gast(tree))
    assert isinstance(again, ast.Module)
    assert [] == list(differences(compile_tree(again, str(file)), compile_tree(tree, str(file))))


def test_an_encoding_cookie_is_honoured() -> None:
    tree = parse("# coding: latin-1\nx = 'ä'\n".encode("latin-1"), "m.py")
    assert "x = 'ä'" == ast.unparse(tree)


def test_a_byte_order_mark_is_no_part_of_the_program() -> None:
    assert "x = 1" == ast.unparse(parse(b"\xef\xbb\xbfx = 1\n", "m.py"))


def test_quietly_swallows_warnings_of_the_compiler_only_inside() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with quietly():
            compile("1 is 1", "m.py", "eval")
        assert [] == caught
        compile("1 is 1", "m.py", "eval")
        assert 1 == len(caught)


def test_names_that_nobody_can_write_compile() -> None:
    tree = ast.parse("x = NAME")
    next(node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "NAME").id = "@on:key"
    namespace = {"@on:key": 7}
    exec(compile_tree(tree, "m.py"), namespace)
    assert 7 == namespace["x"]
