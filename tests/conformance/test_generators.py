"""Generator functions and generator expressions that are consumed where a graph is built."""

from __future__ import annotations

import tensorflow as tf

from tests.conformance.harness import check

X = tf.constant(2.0)
VECTOR = tf.constant([1.0, -3.0, 2.0, 4.0])
OTHER = tf.constant([3.0, 1.0, -2.0, 0.5])
TABLE = tf.constant([[3.0, 1.0], [-1.0, 0.0], [4.0, 3.0]])


def neighbours(values):
    """Each value with the one before it."""
    previous = None
    for value in values:
        if previous is not None:
            yield previous, value
        previous = value


def rising_sum(values):
    total = tf.constant(0.0)
    for a, b in neighbours(values):
        if b > a:
            total += b - a
    return total


def first_rise(values):
    found = tf.constant(-1.0)
    for a, b in neighbours(values):
        if b > a:
            found = b - a
            break
    return found


def test_a_generator_over_a_tensor() -> None:
    check(rising_sum, (VECTOR,), (OTHER,), session=True)


def test_a_generator_that_is_left_by_a_tensor() -> None:  # what is behind its last `yield` does not happen then
    check(first_rise, (VECTOR,), (-VECTOR,), (OTHER,), staged=False, session=True)


def running(values, scale=1.0, *, start=0.0):
    total = start
    for value in values:
        if value > 0:
            total = total + value * scale
        else:
            total = total - 1.0
        yield total


def consumed_by_builtins(values):
    start = tf.constant(1.0)
    as_list = list(running(values, start=start))
    as_tuple = tuple(running(values, 2.0))
    first, *rest = running(values, start=tf.constant(5.0))
    return (
        as_list,
        as_tuple,
        sum(running(values)),
        max(running(values)),
        first,
        len(rest),
        sorted(running(values, start=start)),
    )


def consumed_by_iterators(values):
    total = tf.constant(0.0)
    for k, value in enumerate(running(values), start=1):
        total += value * k
    for a, b in zip(running(values), running(values, 3.0)):
        total += a * b
    for value in map(lambda v: v * 2, running(values)):
        total -= value
    start = tf.constant(0.0)
    return total, any(v > 3.0 for v in running(values, start=start)), all(running(values, start=start))


def consumed_by_next(values):
    items = running(values)
    first = next(items)
    second = next(items)
    for rest in items:
        second = second + rest
    return first, second, next(items, None) is None


def test_what_consumes_a_generator() -> None:
    check(consumed_by_builtins, (VECTOR,), (OTHER,))
    check(consumed_by_iterators, (VECTOR,), (OTHER,))
    check(consumed_by_next, (VECTOR,), (OTHER,))


def delegating(table):
    for row in table:
        count = yield from counted(row)
        yield count * 10.0
    yield from (v + 1.0 for v in table[0])
    yield from [1.0, 2.0]


def counted(row):
    yield row[0]
    yield from row[1:]
    return len(row)


def delegates(table):
    return list(delegating(table))


def flattened(table):
    def cells():
        for k, row in enumerate(table):
            for j, value in enumerate(row):
                if k == j:
                    continue
                if k > 1 and j > 0:
                    break
                yield value * scale

    scale = tf.reduce_max(table)
    return tf.stack(list(cells()))


def test_generators_that_delegate_and_nest() -> None:
    check(delegates, (TABLE,))
    check(flattened, (TABLE,), session=True)


class Rows:
    """Iterates by a generator method."""

    def __init__(self, table):
        self.table = table

    def __iter__(self):
        for row in self.table:
            yield self.scaled(row)

    def scaled(self, row):
        return row * 2.0 if tf.reduce_sum(row) > 1.0 else row

    @property
    def squares(self):
        for row in self.table:
            yield row * row

    @staticmethod
    def of(row):
        yield from row


def iterates_an_object(table):
    rows = Rows(table)
    total = tf.zeros([2])
    for row in rows:
        total += row
    for row in rows.squares:
        total += row
    return total, [tf.reduce_sum(row) for row in rows], list(Rows.of(total))


ROWS = Rows(TABLE)


def iterates_an_old_object(x):
    total = tf.zeros([2])
    for row in ROWS:
        total += row * x
    return total


def test_objects_with_generators() -> None:
    check(iterates_an_object, (TABLE,))
    check(iterates_an_old_object, (X,))


def cleaned_up(values):
    log = []

    def items():
        try:
            for value in values:
                log.append("item")
                yield value
        finally:
            log.append("closed")

    total = tf.constant(0.0)
    for value in items():
        total += value
    for value in items():
        total += value
        break
    return total, log


def returning(values, stop):
    def items():
        for k, value in enumerate(values):
            if k == stop:
                return
            yield value
        yield tf.constant(100.0)

    return sum(items())


def sent(x):
    def accumulates():
        total = x
        while True:
            got = yield total
            if got is None:
                return
            total = total + got

    total = accumulates()
    first = next(total)
    return first, total.send(x * 2), total.send(x * 3), next(total, "over")


def endless(x):
    def doubling():
        value = x
        while True:
            yield value
            value = value * 2

    found = []
    for k, value in enumerate(doubling()):
        if k > 3:
            break
        found.append(value)
    return found, [v for _, v in zip(range(3), doubling())]


def test_ends_of_generators() -> None:
    check(cleaned_up, (VECTOR,))
    check(returning, (VECTOR, 2), (VECTOR, 9))
    check(endless, (X,))


def raising(values):
    def items():
        for k, value in enumerate(values):
            if k == 2:
                raise ValueError("third")
            yield value

    total = tf.constant(0.0)
    for value in items():
        total += value
    return total


def empty(values):
    def items():
        for _ in ():
            yield values

    return sum(items()), list(items()), max(items(), default=values[0]), next(items(), None)


def exhausted(values):
    items = running(values)
    for _ in range(9):
        next(items)


def test_generators_without_items_and_that_raise() -> None:
    check(raising, (VECTOR,))
    check(empty, (VECTOR,))
    check(exhausted, (VECTOR,))
