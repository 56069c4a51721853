"""Source to tree, tree to code."""

from __future__ import annotations

import ast
import warnings

from autoimport.convert.parse import compile_tree, parse, quietly


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
