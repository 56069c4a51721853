"""Loops over datasets that give the same elements every time, in the function that gets the dataset."""

from __future__ import annotations

import tensorflow as tf

from tests.conformance.harness import check

WORDS = tf.data.Dataset.from_tensor_slices((["oak", "birch", "fir", "maple"], [1, 2, 3, 4]))
INTEGERS = tf.data.Dataset.range(7)
FLOATS = INTEGERS.map(lambda x: tf.cast(x, tf.float32))
NUMBERS = FLOATS.filter(lambda x: x != 3.0)
PAIRS = tf.data.Dataset.zip((NUMBERS, NUMBERS.skip(1))).enumerate().prefetch(2)
EMPTY = NUMBERS.take(0)
BATCHES = NUMBERS.concatenate(NUMBERS.repeat(2)).batch(4)
RAGGED = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1.0], [2.0, 3.0], []]))
PADDED = tf.data.Dataset.range(4).map(lambda n: tf.range(n)).padded_batch(2)
STOP = tf.constant(4.0)


def total_until(dataset, stop):
    total = tf.constant(0.0)
    used = 0
    for x in dataset:
        if x == 1.0:
            continue
        if total + x > stop:
            break
        total += x
        used += 1
    return total, used


def words_until(dataset, stop):
    text = tf.constant("")
    for word, number in dataset:
        if tf.strings.length(word) > 3:
            kind = "long"
        else:
            kind = "short"
        if number > stop:
            return text, kind
        text = text + word + kind
    return text, "end"


def test_a_loop_over_a_dataset() -> None:
    check(total_until, (NUMBERS, STOP), (NUMBERS, STOP * 9), (EMPTY, STOP))
    check(words_until, (WORDS, 2), (WORDS, tf.constant(3)), (WORDS, 9))


def nested(dataset):
    total = tf.constant(0.0)
    for x in dataset:
        for y in dataset:
            if y > x:
                break
            total += x * y
    return total


def side_by_side(dataset, other):
    total = tf.constant(0.0)
    for k, (x, (i, (a, b))) in enumerate(zip(dataset, other)):
        total += x * tf.cast(i + k, tf.float32) + a * b
    return total, len(list(zip([1, 2], [3, 4])))


def twice(dataset):
    first = tf.constant(0.0)
    for x in dataset:
        first += x
        break
    for x in dataset:
        first = first * 10.0 + x
    return first, x


def test_each_loop_starts_at_the_beginning() -> None:
    check(nested, (NUMBERS,))
    check(side_by_side, (NUMBERS, PAIRS))
    check(twice, (NUMBERS,))


def batched(dataset):
    total = tf.constant(0.0)
    shortest = 100
    for batch in dataset:
        total += tf.reduce_sum(batch * batch)
        shortest = min(shortest, int(tf.shape(batch)[0]))
    return total, shortest


def of_rows(dataset):
    total = tf.constant(0.0)
    for row in dataset:
        total += tf.reduce_sum(tf.cast(row, tf.float32)) + tf.cast(tf.size(row), tf.float32)
    return total


def collected(dataset):
    found = []
    for x in dataset:
        found.append(x * 2.0)
    return tf.stack(found)


def test_elements_of_many_shapes() -> None:
    check(batched, (BATCHES,))
    check(of_rows, (PADDED,))
    check(collected, (NUMBERS,))


GLOBAL = NUMBERS


class Holder:
    def __init__(self, dataset):
        self.dataset = dataset
        self.seen = tf.Variable(0.0)

    def epoch(self):
        for x in self.dataset:
            self.seen.assign_add(x)
        return self.seen.read_value()


def walks_a_global(x):
    for y in GLOBAL:
        x = x * y + 1.0
    return x


HOLDER = Holder(NUMBERS)


def walks_an_attribute(x):
    return HOLDER.epoch() + x


def test_where_the_dataset_comes_from() -> None:
    check(walks_a_global, (STOP,))
    check(walks_an_attribute, (STOP,))


FAILING = NUMBERS.map(lambda x: tf.debugging.check_numerics(tf.math.log(4.5 - x), "bad"))


def fails_late(dataset):
    total = tf.constant(0.0)
    for x in dataset:
        total += x
    return total


def stops_before(dataset, stop):
    total = tf.constant(0.0)
    for x in dataset:
        if x <= stop:
            break
        total += x
    return total


def test_an_element_that_cannot_be_made() -> None:
    check(fails_late, (FAILING,), function=tf.errors.InvalidArgumentError)
    check(stops_before, (FAILING, tf.constant(0.0)))


def shows(x):
    tf.print("never seen by the graph")
    return x


STATE = tf.Variable(1.0)
OTHERS = {
    "shuffled": NUMBERS.shuffle(3, seed=1),
    "cached": NUMBERS.cache(),
    "printing": NUMBERS.map(lambda x: shows(x)),
    "random": NUMBERS.map(lambda x: x + tf.random.uniform([], seed=3)),
    "variable": NUMBERS.map(lambda x: x + STATE),
    "generated": tf.data.Dataset.from_generator(
        lambda: iter([1.0, 2.0]), output_signature=tf.TensorSpec([], tf.float32)
    ),
    "unordered": NUMBERS.map(lambda x: x, num_parallel_calls=2, deterministic=False),
    "windows": NUMBERS.window(2).flat_map(lambda window: window),
}


def makes_its_own(x):
    for y in tf.data.Dataset.from_tensor_slices(x):
        x = x + y
    return x


def takes_the_first(dataset):
    return next(iter(dataset))


def test_what_else_there_is_stays_python() -> None:
    for dataset in OTHERS.values():
        check(fails_late, (dataset,), staged=False, function=False)
    check(makes_its_own, (tf.constant([1.0, 2.0]),), staged=False)
    check(takes_the_first, (NUMBERS,), staged=False, function=False)
    check(fails_late, lambda: (iter(NUMBERS),), staged=False, function=False)
