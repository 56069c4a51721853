"""TensorArrays: changed by `write` and its kin, whether the result is used or not, as in eager mode."""

from __future__ import annotations

import tensorflow as tf

from tests.conformance.harness import check

VALUES = tf.constant([1.0, 5.0, 2.0])
N = tf.constant(3)


def labelled(numbers):
    out = tf.TensorArray(tf.string, size=tf.size(numbers))
    for k in tf.range(tf.size(numbers)):
        if numbers[k] > 4:
            out.write(k, "many")
        else:
            out.write(k, tf.strings.as_string(numbers[k]))
    return out.stack()


def in_a_branch(values):
    out = tf.TensorArray(tf.float32, size=2)
    out.write(0, values[0])
    if values[1] > 2.0:
        out.write(1, values[1])
    else:
        out.write(1, values[2])
        out.write(0, values[2])
    return out.stack()


def in_one_branch(values):
    out = tf.TensorArray(tf.float32, size=1, clear_after_read=False)
    out.write(0, values[0])
    if values[1] > 2.0:
        out.write(0, values[1])
    return out.read(0), out.stack()


def reassigned(values, n):
    out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for k in tf.range(n):
        out = out.write(k, values[k] * 2.0)
    return out.stack()


def replaced(values, n):
    out = tf.TensorArray(tf.float32, size=3)
    for k in tf.range(n):
        out = tf.TensorArray(tf.float32, size=3).unstack(values * tf.cast(k, tf.float32))
    return out.stack()


def mixed(values, n):
    out = tf.TensorArray(tf.float32, size=6)
    other = tf.TensorArray(tf.float32, size=3)
    for k in tf.range(n):
        out = out.write(k, values[k])
        out.write(k + 3, values[k] * 2.0)
        other.write(k, -values[k])
    return out.stack(), other.stack()


def nested(n):
    out = tf.TensorArray(tf.int32, size=n * n)
    for i in tf.range(n):
        for j in tf.range(n):
            if i > j:
                out.write(i * n + j, i)
            else:
                out.write(i * n + j, -j)
    return out.stack()


def unstacked(values, n):
    out = tf.TensorArray(tf.float32, size=3)
    out.unstack(values)
    k = tf.constant(0)
    while k < n:
        if k > 0:
            out.unstack(values * tf.cast(k, tf.float32))
        k += 1
    return out.concat() if False else out.stack()


class Holder:
    def __init__(self, size):
        self.out = tf.TensorArray(tf.float32, size=size)

    def put(self, k, value):
        self.out.write(k, value)


def held(values, n):
    holder = Holder(3)
    items = [holder.out]
    for k in tf.range(n):
        holder.put(k, values[k])
        if values[k] > 4.0:
            items[0].write(k, 0.0 * values[k])
    return holder.out.stack()


def by_two_names(values):
    out = tf.TensorArray(tf.float32, size=2, clear_after_read=False)
    other = out
    out.write(0, values[0])
    if values[1] > 2.0:
        other.write(1, values[1])
    else:
        out.write(1, values[2])
    return out.read(1) + other.read(0), other.stack()


def test_an_array_at_several_places() -> None:
    check(held, (VALUES, N), function=False)
    check(by_two_names, (VALUES,), (-VALUES,), function=False)


def by_two_names_in_a_loop(values, n):
    out = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
    other = out
    for k in tf.range(n):
        out = out.write(k, values[k])
    return other.stack(), out.stack()


def old_name_in_a_loop(values, n):
    out = tf.TensorArray(tf.float32, size=4, clear_after_read=False)
    out.write(3, values[0])
    for k in tf.range(n):
        other = out
        out = out.write(k, values[k])
        other.write(3, values[k] * 3.0)
    return out.stack()


def test_two_names_in_a_loop() -> None:
    check(by_two_names_in_a_loop, (VALUES, N), function=False)
    check(old_name_in_a_loop, (VALUES, N), function=False)


def test_a_result_that_is_not_used() -> None:
    check(labelled, (tf.constant([1, 9, 4]),), (tf.constant([7]),), function=False)
    check(in_a_branch, (VALUES,), (-VALUES,), function=False)
    check(in_one_branch, (VALUES,), (-VALUES,), function=False)
    check(nested, (N,), function=False)
    check(unstacked, (VALUES, N), function=False)


def test_a_result_that_is_assigned() -> None:
    check(reassigned, (VALUES, N))
    check(replaced, (VALUES, N))
    check(mixed, (VALUES, N), function=False)
