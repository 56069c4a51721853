"""Lists that are filled, changed and read, and items and slices of tensors."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

import autoimport
from tests.conformance.harness import check, compiled

X = tf.constant(2.0)
VECTOR = tf.constant([1.0, -2.0, 3.0])
MATRIX = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# Python lists -----------------------------------------------------------------------------------------------------------


def changed(x):
    items = [x, x * 2]
    items.append(x * 3)
    last = items.pop()
    items[0] = last
    items.insert(1, x)
    items.extend([1.0, x])
    items += [x]
    del items[2]
    items.reverse()
    return items, last, items[-1], items[1:3], items.index(1.0, 0, 2) if False else len(items)


def pops_of_pops(x):
    stack = [x, [x * 2, [x * 3]]]
    return stack.pop().pop().pop(), stack


def filled_by_index(x):
    table = [None] * 3
    for i in range(3):
        table[i] = x * i
    return table


def slices_of_lists(x):
    items = [x, x * 2, x * 3, 4]
    items[1:3] = [x]
    return items[::-1], items[:1] + items[-1:], items * 2


def dictionary(x):
    table = {"a": x}
    table["b"] = table["a"] * 2
    table.update(c=x * 3)
    table.setdefault("d", x * 4)
    removed = table.pop("a")
    return table, removed, list(table), [v * 2 for v in table.values()], table.get("z", x)


@pytest.mark.parametrize("fn", [changed, pops_of_pops, filled_by_index, slices_of_lists, dictionary])
def test_changes_of_containers_made_here(fn: Callable[..., Any]) -> None:  # LST-1, LST-2, LST-3
    check(fn, (X,), session=fn is not dictionary)


HISTORY: list[Any] = []


def appended_outside(x):
    HISTORY.append(x * 2)
    return x * 3


def test_an_old_list_grows_at_every_call() -> None:
    check(appended_outside, (X,), state=lambda module: list(module.HISTORY), function=False)


# Lists in loops and branches over tensors -------------------------------------------------------------------------------


def filled_in_loop(n):
    items = []
    for i in tf.range(n):
        items.append(tf.cast(i, tf.float32) * 2.0)
    return tf.stack(items)


def filled_with_stated_type(n):
    items = []
    autoimport.set_element_type(items, tf.float32, ())
    for i in tf.range(n):
        items.append(tf.cast(i, tf.float32))
    return autoimport.stack(items)


def read_and_written_in_loop(n):
    items = [tf.constant(0), tf.constant(1)]
    for i in tf.range(n):
        items.append(items[-1] + items[-2])
        items[0] = i
    return tf.stack(items)


def popped_in_loop(n):
    items = [tf.constant(1), tf.constant(2), tf.constant(3)]
    total = tf.constant(0)
    for _ in tf.range(n):
        total = total + items.pop()
    return total, len(items)


def appended_in_branch(x):
    items = [x]
    if x > 0:
        items.append(x * 2)
    total = x * 0
    for item in items:
        total = total + item
    return total


def nested_fill(n):
    rows = []
    for i in tf.range(n):
        row = []
        for j in tf.range(3):
            row.append(i * j)
        rows.append(tf.stack(row))
    return tf.stack(rows)


def mixed_in_loop(n):
    items = [0, 1]
    for i in tf.range(n):
        items.append(items[-1] + items[-2])
        items[0] = i
    return tf.stack(items)


def test_a_list_of_unlike_items_is_left_to_python() -> None:
    check(mixed_in_loop, (tf.constant(3),), staged=False, function=TypeError)


@pytest.mark.parametrize(
    "fn", [filled_in_loop, filled_with_stated_type, read_and_written_in_loop, popped_in_loop, nested_fill]
)
def test_lists_that_change_in_a_loop_over_a_tensor(fn: Callable[..., Any]) -> None:  # LST-4, LST-5, LST-12, C1
    for n in (1, 3):
        check(fn, (tf.constant(n),), session=True)


def test_a_list_that_grows_in_a_branch() -> None:  # LST-12, C6
    check(appended_in_branch, (X,), (-X,), session=True)


def noted(items, value):
    items.append(value)
    return items


class Notes:
    def __init__(self, items):
        self.items = items

    def note(self, value):
        if value > 0:
            self.items.append(value)
        return self


def grows_in_callees(n):
    items = []
    notes, also = Notes(items), functools.partial(noted, items)

    def inner(values, value):
        values.append(value * 2)

    for i in tf.range(n):
        noted(items, i).append(i + 1)
        notes.note(i)
        also(i * 3)
        inner(items, i)
    return tf.stack(items), len(notes.items)


def shrinks_in_a_callee(n):
    items = [tf.constant(1), tf.constant(2), tf.constant(3)]
    total = tf.constant(0)
    for _ in tf.range(n):
        total += last_of(items)
    return total, len(items)


def last_of(items):
    return items.pop()


def handed_to_tensorflow(n):
    items = []
    for i in tf.range(n):
        items.append(tf.cast(i, tf.float32))
    return tf.reduce_sum(items), tf.convert_to_tensor(items), tf.stack(items)


def test_a_list_changes_in_the_functions_that_are_given_it() -> None:
    for fn in (grows_in_callees, shrinks_in_a_callee, handed_to_tensorflow):
        check(fn, (tf.constant(1),), (tf.constant(3),))


def kept_by_partial(x):
    items = []
    by_place, by_name = functools.partial(noted, items), functools.partial(noted, items=items)
    by_place(x)
    by_name(value=x * 2)
    return items, by_place.args[0] is items


def kept_by_namespace(x):
    items = []
    space = types.SimpleNamespace(items=items)
    space.items.append(x)
    return items


def kept_by_mappings(x):
    items, table = [x], {}
    collections.OrderedDict([("a", items)])["a"].append(x * 2)
    collections.defaultdict(list, a=items)["a"].append(x * 3)
    collections.deque([items])[0].append(x * 4)
    collections.ChainMap(table)["b"] = x
    return items, table


def test_what_keeps_a_list_keeps_that_list() -> None:
    check(kept_by_partial, (X,))
    for fn in (kept_by_namespace, kept_by_mappings):
        check(fn, (X,), staged=False)


def stacked_outside(x):
    return autoimport.stack([x, x * 2]), autoimport.stack(x), autoimport.stack([x, "a"], strict=False)[1]


def stacks_unlike(x):
    return autoimport.stack([x, "text"])


def test_stack_of_a_list_without_loop() -> None:  # LST-6
    check(stacked_outside, (VECTOR,), session=False, function=False)
    check(stacks_unlike, (X,))


def stated_wrongly(n):
    items = []
    for i in tf.range(n):
        items.append(i)
    autoimport.set_element_type(items, tf.float32)
    return tf.stack(items)


def test_a_wrong_statement_about_a_list_is_an_error_in_the_persons_graph() -> None:  # LST-8
    _, converted = compiled(__file__).load()
    with pytest.raises(TypeError, match="the list holds int32, not float32"):
        tf.function(converted.stated_wrongly)(tf.constant(2))


def unlike_dtypes(x):
    items = []
    autoimport.set_element_type(items, tf.float32)
    items.append(x)
    items.append(tf.constant(1))
    return autoimport.stack(items)


def unlike_shapes_in_loop(n):
    items = []
    for i in tf.range(n):
        items.append(tf.zeros([i]))
    return autoimport.stack(items)


def nothing_to_stack(x):
    return autoimport.stack([]), x


def test_what_cannot_be_stacked_raises_what_eager_raises() -> None:  # LST-6, LST-8
    check(unlike_dtypes, (X,))
    check(unlike_shapes_in_loop, (tf.constant(3),))
    check(nothing_to_stack, (X,))


def stated_shape_is_wrong(n):
    items = []
    for i in tf.range(n):
        items.append(i)
    autoimport.set_element_type(items, tf.int32, (2,))
    return tf.stack(items)


def test_a_wrong_shape_is_an_error_in_the_persons_graph() -> None:  # LST-8
    _, converted = compiled(__file__).load()
    with pytest.raises(ValueError, match="the list holds items of shape"):
        tf.function(converted.stated_shape_is_wrong)(tf.constant(2))


def list_after_loop(n):
    items = []
    for i in tf.range(n):
        items.append(i * 2)
    items[0] = items[-1] + 1
    return items[0], len(items), tf.stack(items)


def stacked_though_empty(n):
    items = []
    for i in tf.range(n):
        items.append(i * 2)
    return tf.stack(items)


def test_a_list_filled_in_a_loop_is_a_list_afterwards() -> None:  # C5
    check(list_after_loop, (tf.constant(3),))
    check(stacked_though_empty, (tf.constant(0),), staged=False)


# Keys that change -------------------------------------------------------------------------------------------------------


def item_by_tensor(i):
    return [10, 20, 30][i], (1.0, 2.0, 3.0)[i]


def item_in_loop(n):
    weights, total = [1.0, 2.0, 4.0], 0.0
    for i in tf.range(n):
        total = total + weights[i]
    return total


def stored_by_tensor(n):
    counts = [0, 0, 0]
    for i in tf.range(n):
        counts[i] = counts[i] + 1
    return counts


def test_items_at_the_place_of_a_tensor() -> None:
    for i in (0, 2, -1, 3):
        check(item_by_tensor, (tf.constant(i),))
    check(item_in_loop, (tf.constant(3),), session=True)


def test_a_store_at_the_place_of_a_loop_variable() -> None:  # C3
    check(stored_by_tensor, (tf.constant(3),), (tf.constant(0),), session=True)


def stored_at_both_ends(n):
    items = [n, n * 2, n * 3, n * 0]
    items[n] = tf.constant(7)
    items[-n] += 1
    return items


def moved_by_a_tensor(n):
    items = [n, n * 2, n * 3, n * 4, n * 5]
    taken = items.pop(n)
    del items[n]
    items.insert(n, n * 100)
    return items, taken


def looked_up(n):
    items = [n * 0, n * 0 + 1, n * 0 + 3, n]
    items.remove(n)
    return items, items.index(3), items.count(n), (n, n + 1).index(n + 1), [n, n].index(n, 1)


def removed_from_numbers(n):
    items = [0, 1, 2, 3, 4]
    items.remove(n)
    return items


def test_the_place_in_a_list_of_known_length_is_a_tensor() -> None:
    for fn in (stored_at_both_ends, moved_by_a_tensor, looked_up, removed_from_numbers):
        check(fn, *[(tf.constant(n),) for n in (0, 1, 3)])


def looked_up_in_vain(n):
    return [n, n + 1].index(n + 5)


def stored_outside(n):
    items = [n, n * 2]
    items[n] = tf.constant(7)
    return items


def test_a_place_that_is_not_in_the_list() -> None:
    check(looked_up_in_vain, (tf.constant(0),))
    check(stored_outside, *[(tf.constant(n),) for n in (0, 1, 2)])


def stored_beside_other_types(n):
    items = [0, n, "a"]
    items[n] = 5
    return items[0]


def stored_in_a_dict(n):
    table = {0: n, 1: n}
    table[int(n)] = n * 2
    return table


def test_a_store_that_could_change_the_type_of_an_item_is_left_to_python() -> None:
    for fn in (stored_beside_other_types, stored_in_a_dict):
        check(fn, (tf.constant(1),), staged=False, function=TypeError)


# Lists and objects of the call, in the person's graph ------------------------------------------------------------------------


def taken_or_added(x):
    items = [x]
    if x > 0:
        items.append(x * 2)
    else:
        items.pop()
    return len(items), sum(items, x * 0)


def emptied(x):
    items = [x, x]
    if x > 0:
        items.clear()
    return len(items), sum(items, x * 0)


def replaced_by_a_number(x):
    items, table, box = [x], {"a": x}, Box(x)
    if x > 0:
        items[0] = 1.0
        table["a"] = 2.0
        box.value = 3.0
    return items[0] * 2, table["a"] * 2, box.value * 2


class Box:
    """Holds a value."""

    def __init__(self, value):
        self.value = value


def test_a_tensor_is_taken_out_in_one_branch() -> None:
    for fn in (taken_or_added, emptied, replaced_by_a_number):
        check(fn, (X,), (-X,))


# Arrays of tensors ------------------------------------------------------------------------------------------------------


def array_in_loop(n):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        array = array.write(i, i * i)
    return array.stack()


def array_in_place(x):
    array = tf.TensorArray(tf.float32, size=2)
    array.write(0, x)
    array.write(1, x * 2)
    return array.stack()


def test_arrays_of_tensors() -> None:  # LST-7, H3
    check(array_in_loop, (tf.constant(3),), session=True)
    check(array_in_loop, (tf.constant(0),), function=tf.errors.OpError)
    check(array_in_place, (X,), function=False)


# Slices of tensors ------------------------------------------------------------------------------------------------------


def slices(x):
    return x[:, :], x[0, :], x[:, 0], x[:, tf.newaxis], x[..., 1:], x[::-1], tf.transpose(x)[1:, :]


def slices_by_tensor(x, i):
    return x[i], x[:i], x[i:, 0], x[..., i]


def text_items(words):
    return words[1], words[:1]


def character(text):
    return text[1]


def test_items_and_slices_of_tensors() -> None:  # LST-9, LST-11
    check(slices, (MATRIX,), session=True)
    check(slices_by_tensor, (MATRIX, tf.constant(1)), session=True)
    check(text_items, (tf.constant(["a", "b"]),), session=True)


def test_a_text_in_a_scalar_tensor_has_no_items() -> None:  # LST-10
    check(character, (tf.constant("abc"),))


def unpacked(x):
    first, (second, *rest) = x[0], x[1:]
    a, *_, b = x
    return first, second, rest, a, b, [*x], max(*x)


def test_tensors_are_unpacked() -> None:
    check(unpacked, (VECTOR,), session=True)
