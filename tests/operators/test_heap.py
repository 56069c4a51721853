"""Changes of objects in symbolic branches and loops: as if only what Python would have run had run."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import heap
from tests.operators.names import Names
from tests.operators.ways import in_function, in_trace, same

ONE, MINUS = tf.constant(1.0), tf.constant(-1.0)
state: Any = None


class Box:
    """An object with attributes."""


class Slotted:
    """An object with a slot."""

    __slots__ = ("value",)


def branch(x: Any, then: Any, orelse: Any = lambda: None) -> None:
    Names().if_(x > 0, then, orelse)


@pytest.mark.parametrize("cls", [Box, Slotted])
@pytest.mark.parametrize("x", [ONE, MINUS])
def test_attributes_end_with_the_value_of_the_branch_taken(cls: type, x: Any) -> None:
    def fn(x: Any) -> Any:
        box = cls()
        ops.set_attr(box, "value", x)
        branch(x, lambda: ops.set_attr(box, "value", ops.attr(box, "value") * 3))
        branch(x, lambda: None, lambda: ops.set_attr(box, "value", x * 5))
        return box.value

    assert same(fn, x) == (3.0 if x > 0 else -5.0)


def test_the_other_branch_sees_the_object_as_it_was() -> None:
    def fn(x: Any) -> Any:
        box, items, table, chosen = Box(), [x], {"a": x}, set()
        box.value = x

        def then() -> None:
            ops.set_attr(box, "value", x * 2)
            ops.set_item(items, 0, x * 2)
            ops.set_item(table, "a", x * 2)

        def orelse() -> None:
            assert box.value is x and items == [x] and table == {"a": x} and not chosen

        branch(x, then, orelse)
        return box.value, items[0], table["a"]

    assert [in_function(fn, x) for x in (ONE, MINUS)] == [(2.0, 2.0, 2.0), (-1.0, -1.0, -1.0)]
    assert [in_trace(fn, x) for x in (ONE, MINUS)] == [(2.0, 2.0, 2.0), (-1.0, -1.0, -1.0)]


@pytest.mark.parametrize("x", [ONE, MINUS])
def test_python_numbers_in_objects_follow_the_branch_in_a_trace(x: Any) -> None:
    def fn(x: Any) -> Any:
        box, table = Box(), {"n": 1, "name": "t"}
        box.n = 0
        branch(x, lambda: (ops.set_attr(box, "n", 5), ops.set_item(table, "n", 7)))
        assert table["name"] == "t"
        return box.n, table["n"]

    assert in_trace(fn, x) == fn(x)


def test_python_effects_of_the_persons_graph_stay_what_they_are() -> None:
    box = Box()
    box.built = ""

    def fn(x: Any) -> Any:
        def note():
            return ops.set_attr(box, "built", ops.attr(box, "built") + "x")

        branch(x, note, note)
        Names().for_(tf.range(3), lambda i: note())
        return x

    in_function(fn, ONE)
    assert box.built == "xxx"  # once for each time that it was built


@pytest.mark.parametrize("x", [ONE, MINUS])
def test_numbers_are_part_of_the_persons_graph_and_are_as_they_were_after_it(x: Any) -> None:
    box, table = Box(), {"n": 1, "name": "t"}

    def fn(x: Any) -> Any:
        box.n, table["n"] = 0, 1
        branch(x, lambda: ops.set_attr(box, "n", box.n + 2), lambda: ops.set_item(table, "n", table["n"] - 5))
        Names().for_(tf.range(3), lambda i: ops.set_attr(box, "n", box.n + 1))
        return box.n, table["n"]

    expected = fn(x)
    assert in_function(fn, x) == expected
    heap.graph_finished()
    assert (box.n, table) == (0, {"n": 1, "name": "t"})


def test_globals_and_cells_end_with_the_value_of_the_branch_taken() -> None:
    def fn(x: Any) -> Any:
        total = x
        ops.set_global("state", x)

        def then() -> None:
            ops.set_global("state", ops.global_("state") * 2)
            ops.set_free(lambda: total, ops.free(lambda: total) * 3)

        branch(x, then)
        result = state, total
        ops.set_global("state", None)
        return result

    assert [same(fn, x) for x in (ONE, MINUS)] == [(2.0, 3.0), (-1.0, -1.0)]


def test_an_attribute_that_one_branch_makes_has_no_value_elsewhere() -> None:
    def fn(x: Any) -> Any:
        box = Box()
        branch(x, lambda: ops.set_attr(box, "value", x), lambda: ops.set_attr(box, "value", x + 1))
        return box.value

    assert same(fn, MINUS) == 0.0


@pytest.mark.parametrize("n", [0, 3])
def test_attributes_and_items_are_carried_through_loops(n: int) -> None:
    def fn(n: Any) -> Any:
        box, table, row = Box(), {"sum": tf.constant(0), "name": "t"}, [tf.constant(1), "x"]
        box.value = tf.constant(1)

        def body(i: Any) -> None:
            ops.set_attr(box, "value", ops.attr(box, "value") * 2)
            ops.set_item(table, "sum", ops.item(table, "sum") + i)
            ops.set_item(row, 0, ops.item(row, 0) + ops.attr(box, "value"))

        Names().for_(tf.range(n), body)
        assert table["name"] == "t" and row[1] == "x"
        return box.value, table["sum"], row[0]

    assert same(fn, tf.constant(n)) == ((1, 0, 1) if n == 0 else (8, 3, 15))


def test_numbers_in_objects_have_no_bounds_in_a_loop() -> None:
    def fn(n: Any) -> Any:
        table = {"n": 1}

        def body(i: Any) -> None:
            ops.set_item(table, "n", ops.item(table, "n") * 2)
            assert type(table["n"]) is int or table["n"].reach() > 2**31

        Names().for_(tf.range(n), body)
        return table["n"]

    assert in_trace(fn, tf.constant(40)) == 2**40


def test_nested_statements_hand_their_changes_on() -> None:
    def fn(x: Any) -> Any:
        box = Box()
        box.value = x

        def body(i: Any) -> None:
            branch(box.value - 3, lambda: None, lambda: ops.set_attr(box, "value", ops.attr(box, "value") + 1))

        Names().for_(tf.range(5), body)
        branch(x, lambda: branch(x - 10, lambda: None, lambda: ops.set_attr(box, "value", box.value * 2)))
        return box.value

    assert [same(fn, tf.constant(x)) for x in (1.0, 20.0, -4.0)] == [8.0, 20.0, 1.0]


def test_an_exception_undoes_what_its_branch_did() -> None:
    box = Box()
    box.value = "before"

    def fn(x: Any) -> Any:
        def then() -> None:
            ops.set_attr(box, "value", x)
            raise KeyError("mine")

        branch(x, then)

    with pytest.raises(KeyError, match="mine"):
        in_function(fn, ONE)
    assert box.value == "before"


def test_properties_are_journaled_by_their_own_assignments() -> None:
    class Guarded:
        def __init__(self) -> None:
            self._value = tf.constant(0.0)

        @property
        def value(self) -> Any:
            return self._value

        @value.setter
        def value(self, value: Any) -> None:
            ops.set_attr(self, "_value", value)

    def fn(x: Any) -> Any:
        guarded = Guarded()
        branch(x, lambda: ops.set_attr(guarded, "value", x * 2))
        return guarded.value

    assert [in_function(fn, x) for x in (ONE, MINUS)] == [2.0, 0.0]


def test_nothing_is_recorded_outside_of_symbolic_code() -> None:
    assert not heap.in_symbolic_body()
    heap.before_attr(Box(), "value")
    with heap.journal() as journal:
        assert heap.in_symbolic_body()
    assert not journal.before


def test_a_journal_gives_every_kind_of_place_back() -> None:
    box, items, table, chosen = Box(), [1], {"a": 1}, {1}
    box.kept = 1
    cell = (lambda: items).__closure__[0]  # type: ignore[index]
    with heap.journal() as journal:
        heap.before_attr(box, "kept")
        heap.before_attr(box, "made")
        box.kept, box.made = 2, 3
        heap.before_container(items)
        items.append(2)
        heap.before_item(table, "a")
        table.clear()
        heap.before_container(chosen)
        chosen.add(2)
        heap.before_cell(cell)
        assert len(journal.changes()) == 5
        journal.undo()
    assert (vars(box), items, table, chosen) == ({"kept": 1}, [1], {"a": 1}, {1})
