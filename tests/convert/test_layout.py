"""Long lines are broken where brackets allow it; the program stays the same."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from autoimport.convert.layout import WIDTH, wrapped

NAMES = st.sampled_from(
    ["a", "items", "a_name_that_is_long_enough_to_fill_half_of_a_line", "'text, (with) brackets'", "7"]
)


def call(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.lists(parts, max_size=6)
    return st.one_of(
        items.map(lambda found: f"f({', '.join(found)})"),
        items.map(lambda found: f"[{', '.join(found)}]"),
        parts.map(lambda found: f"(lambda x, y: {found})"),
        parts.map(lambda found: f"f(x for x in {found})"),
        parts.map(lambda found: f"({found},)"),
        st.tuples(parts, parts).map(lambda found: f"{{{found[0]}: {found[1]}}}"),
        st.tuples(parts, parts).map(lambda found: f"{{k: v for k, v in {found[0]} for k in v if {found[1]} if k}}"),
    )


EXPRESSIONS = st.recursive(NAMES, call, max_leaves=30)


@given(EXPRESSIONS)
def test_a_wrapped_program_is_the_same_program(expression: str) -> None:
    text = f"def f(x):\n    if {expression}:\n        return {expression}\n"
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(wrapped(text)))


def test_lines_that_fit_stay_as_they_are() -> None:
    text = "x = f(" + "a" * (WIDTH - 7) + ")"
    assert text == wrapped(text)


def test_an_item_a_line_when_the_items_do_not_fit_on_one() -> None:
    names = [letter * 30 for letter in "abc"]
    assert "f(\n    " + ",\n    ".join(names) + ",\n)" == wrapped(f"f({', '.join(names)})")


def test_a_clause_a_line_when_a_comprehension_does_not_fit_on_one() -> None:
    element, items, test = (letter * 30 for letter in "abc")
    expected = f"x = [\n    {element}\n    for i, j in {items}\n    if {test}\n]"
    assert expected == wrapped(f"x = [{element} for i, j in {items} if {test}]")


def test_the_last_bracket_of_a_line_is_broken_first() -> None:
    text = f"first(a, b).second({'c' * 80})"
    assert f"first(a, b).second(\n    {'c' * 80}\n)" == wrapped(text)


def test_the_text_of_strings_is_never_broken() -> None:
    text = "def f():\n    '''\n    " + "f(a, b) " * 20 + "\n    '''\n    x = '" + "f(a, b) " * 20 + "'"
    assert text == wrapped(text)
