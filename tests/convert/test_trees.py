"""Trees to gast and back: as gast itself does it."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path
from typing import Any

import gast
import pytest

from autoimport.convert import trees
from autoimport.convert.parse import compile_tree, parse
from autoimport.convert.trees import UnknownNode, children, to_ast, to_gast, walk
from tests.convert.code_equality import differences

LIBRARY = Path(sysconfig.get_path("stdlib"))
NAMES = ["argparse", "dataclasses", "typing", "contextlib", "asyncio/tasks", "enum", "ast"]
SYNTAX = """
def f(a, /, b: int = 1, *c, d: str, e=2, **g) -> int:
    try:
        del a.b, c[1:2, ...]
    except* E as error:
        global x
    match b:
        case {"k": [1, *rest], **others} | P(1, q=None) as name if b: pass
    async def h(): return [i async for i in a if await i]
    return f"{a!r:>{b}}", {**g, 1: 2}, lambda *y, z: (yield), b"c", (w := a) < b <= 3
""".replace("except*", "except*" if hasattr(ast, "TryStar") else "except")
GENERIC = "type A[T: int] = T\nclass B[**P]: pass\ndef f[*T](): pass"


def dumped(tree: Any) -> str:
    return ast.dump(tree, include_attributes=True)


def sources() -> list[str]:
    return [SYNTAX, *([GENERIC] if hasattr(ast, "TypeAlias") else [])]


def test_gast_knows_every_node_of_this_python() -> None:
    assert set() == set(trees.UNKNOWN_TO_GAST)


def test_a_node_that_gast_would_drop_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(trees._TO_GAST, ast.Lambda)
    assert to_gast(ast.parse("x = 1"))
    with pytest.raises(UnknownNode, match="Lambda"):
        to_gast(ast.parse("x = lambda: 1"))


@pytest.mark.parametrize("source", sources())
def test_a_gast_tree_is_what_gast_makes(source: str) -> None:
    tree = ast.parse(source)
    assert dumped(gast.ast_to_gast(tree)) == dumped(to_gast(tree))


@pytest.mark.parametrize("source", sources())
def test_the_way_back_is_what_gast_makes_of_it(source: str) -> None:
    tree = ast.parse(source)
    assert dumped(gast.gast_to_ast(to_gast(tree))) == dumped(to_ast(to_gast(tree))) == dumped(tree)


def test_a_copy_shares_no_list_with_its_original() -> None:
    tree = ast.parse("def f(): return g()")
    to_gast(tree).body[0].body.clear()
    assert "return g()" in ast.unparse(tree)


@pytest.mark.parametrize("source", sources())
def test_a_walk_meets_what_gast_meets_but_contexts_and_signs(source: str) -> None:
    tree = to_gast(ast.parse(source))
    expected = [node for node in gast.walk(tree) if not isinstance(node, (gast.expr_context, gast.cmpop))]
    assert expected == walk(tree)
    assert [node for node in gast.iter_child_nodes(tree)] == children(tree)


def test_a_node_without_position_gets_that_of_the_node_around_it() -> None:
    tree = to_gast(ast.parse("\n  \nf(x)").body[0])
    tree.value.args = [gast.Name("y", gast.Load(), None, None)]
    placed = ast.parse("\n  \nf(y)").body[0]
    placed.value.args[0].col_offset, placed.value.args[0].end_col_offset = 0, 4  # type: ignore[attr-defined]
    assert dumped(placed) == dumped(to_ast(tree))


@pytest.mark.parametrize("name", NAMES)
def test_the_way_to_gast_and_back_keeps_code_and_positions(name: str) -> None:
    file = LIBRARY / f"{name}.py"
    tree = parse(file.read_bytes(), str(file))
    again = to_ast(to_gast(tree))
    assert isinstance(again, ast.Module)
    assert [] == list(differences(compile_tree(again, str(file)), compile_tree(tree, str(file))))
