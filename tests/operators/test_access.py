"""Attributes, items, globals, cells: plain Python, seen by the observer and the journal."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import heap, observer
from autoimport.operators.errors import Diverged, Unstageable
from autoimport.operators.numbers import Number
from tests.operators.ways import Bailed, Watcher, in_function, in_trace, same

counter = 1


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    result = Watcher()
    before = observer.observe(result)
    yield result
    observer.observe(before)


def everything() -> Any:
    """Each access once; what is left of the objects."""
    thing, items, cell = SimpleNamespace(a=1, b=2), {"a": 1, "b": 2}, 5
    ops.set_attr(thing, "a", ops.attr(thing, "a") + 1)
    ops.del_attr(thing, "b")
    ops.set_item(items, "a", ops.item(items, "a") + 1)
    ops.del_item(items, "b")
    ops.set_global("counter", ops.global_("counter") + 1)
    ops.set_global("gone", 1)
    ops.del_global("gone")
    ops.set_free(lambda: cell, ops.free(lambda: cell) + 1)
    return vars(thing), items, counter, cell, ops.global_("len")


def test_accesses_are_pythons() -> None:
    ops.set_global("counter", 1)
    assert everything() == ({"a": 2}, {"a": 2}, 2, 6, len)
    assert "gone" not in globals()


def test_the_observer_sees_every_access(watcher: Watcher) -> None:
    everything()
    kinds = {"attr", "item", "global", "cell"}
    expected = {f"{act}_{kind}" for act in ("read", "write", "delete") for kind in kinds} - {"delete_cell"}
    assert {event[0] for event in watcher.seen} == expected


def test_the_journal_undoes_every_store() -> None:
    thing, items, cell = SimpleNamespace(a=1), [1, 2], 5
    ops.set_global("counter", 1)
    with heap.journal() as journal:
        ops.set_attr(thing, "a", 2)
        ops.set_item(items, 0, 3)
        ops.del_item(items, 1)
        ops.set_global("counter", 9)
        ops.set_free(lambda: cell, 6)
        same_list = ops.augment("+=", items, [4])
        assert (thing.a, items, counter, cell) == (2, [3, 4], 9, 6)
        assert same_list is items
        journal.undo()
    assert (thing.a, items, counter, cell) == (1, [1, 2], 1, 5)


def test_missing_names_raise_as_in_python() -> None:
    with pytest.raises(NameError, match="name 'nowhere' is not defined"):
        ops.global_("nowhere")
    with pytest.raises(NameError, match="name 'nowhere' is not defined"):
        ops.del_global("nowhere")
    with pytest.raises(AttributeError):
        ops.attr(1, "nowhere")
    with pytest.raises(KeyError):
        ops.item({}, 1)


@pytest.mark.parametrize(
    ("op", "x", "value"),
    [("+=", 1, 2), ("*=", [1], 2), ("//=", 7, 2), ("|=", {1}, {2}), ("%=", "%d", 3), ("**=", 2, 3)],
)
def test_augmented_assignment_is_pythons(op: str, x: Any, value: Any) -> None:
    expected = type(x)(x)
    names = {"x": expected, "v": value}
    exec(f"x {op} v", names)
    assert ops.augment(op, x, value) == names["x"]


@pytest.mark.parametrize("i", [0, 2, -1, -3])
def test_a_list_is_indexed_by_a_tensor(i: int) -> None:
    def fn(i: Any) -> Any:
        return ops.item([10, 20, 30], i), ops.item((1.5, 2.5, 3.5), i), ops.item([i, i + 1, i + 2], i)

    values = [i, i + 1, i + 2]
    assert same(fn, tf.constant(i)) == ([10, 20, 30][i], (1.5, 2.5, 3.5)[i], values[i])


def test_an_index_out_of_range_goes_back_to_eager() -> None:
    with pytest.raises(Bailed):
        in_trace(lambda i: ops.item([1, 2], i), tf.constant(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="index out of range"):
        in_function(lambda i: ops.item([1, 2], i), tf.constant(2))


def test_unlike_items_are_not_indexed_by_a_tensor() -> None:
    with pytest.raises(Unstageable, match="unlike"):
        in_trace(lambda i: ops.item([1, "a"], i), tf.constant(0))


def test_a_tensor_is_indexed_by_numbers() -> None:
    def fn(x: Any) -> Any:
        n = Number(int, tf.constant(1))
        return ops.item(x, n), ops.item(x, slice(n, None, None)), ops.item(x, (0, n)), ops.item(x, (slice(None), n))

    result = in_function(fn, tf.constant([[1, 2], [3, 4]]))
    assert [np.asarray(value).tolist() for value in result] == [[3, 4], [[3, 4]], 2, [2, 4]]


def test_rows_are_unpacked_into_python_where_their_number_is_known() -> None:
    assert same(lambda x: [y * 2 for y in ops.iterate(x)], tf.constant([1, 2])) == [2, 4]
    with pytest.raises(Unstageable, match="number of rows"):
        in_trace(lambda x: [*ops.iterate(x)], tf.constant([1]), specs=[tf.TensorSpec([None], tf.int32)])
    with pytest.raises(TypeError, match="iterate over a scalar"):
        in_function(lambda x: [*ops.iterate(x)], tf.constant(1))


def test_what_no_trace_can_hold_gives_it_up(watcher: Watcher) -> None:
    with pytest.raises(Unstageable):
        ops.forbid("class definition")


def test_handlers_are_announced_with_what_they_take(watcher: Watcher) -> None:
    try:
        ops.handlers()
        raise KeyError(1)
    except KeyError:
        ops.caught()
    assert watcher.seen == [("handles",), ("caught", KeyError)]


@pytest.mark.parametrize("signal", [Unstageable("reason"), Diverged()])
def test_a_bare_except_keeps_nothing_that_operators_say_to_each_other(signal: BaseException) -> None:
    with pytest.raises(type(signal)):
        try:
            raise signal
        except:  # noqa: E722
            ops.caught()


def test_what_no_trace_can_hold_is_plain_python_elsewhere() -> None:
    ops.handlers()
    ops.forbid("class definition")
    manager = object()
    assert ops.context(manager) is manager


def test_what_is_spread_over_keywords_is_read_item_by_item(watcher: Watcher) -> None:
    options = {"a": 1}
    assert ops.mapping(options) == options
    assert ("read_item", "a") in watcher.seen
    with pytest.raises(Unstageable, match="of a SimpleNamespace"):
        ops.mapping(SimpleNamespace(a=1))
