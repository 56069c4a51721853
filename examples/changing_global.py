"""Globals that change between calls: every call sees the value of now, whether a tensor, a number or a text.

A graph that was traced once and keeps what it read then would go on with the old ones.
"""

import tensorflow as tf

weights = tf.constant([1.0, 1.0, 1.0])
power = 2
mode = "sum"


def score(values):
    """The sum, or the largest, of the weighted powers of the positive `values`."""
    total = tf.constant(0.0)
    largest = tf.constant(0.0)
    for index in tf.range(len(values)):
        if values[index] > 0:
            term = weights[index] * values[index] ** power
            total += term
            if term > largest:
                largest = term
    if mode == "sum":
        return total
    return largest


def main():
    global weights, power, mode
    values = tf.constant([2.0, -2.0, 3.0])
    for _ in range(3):
        print(f"as it starts: {score(values):.1f}")
    weights = tf.constant([10.0, 1.0, 1.0])
    print(f"heavier first weight: {score(values):.1f}")
    weights = tf.constant([100.0, 1.0, 0.0])
    print(f"other weights again: {score(values):.1f}")
    power = 3
    print(f"third powers: {score(values):.1f}")
    mode = "largest"
    print(f"the largest term: {score(values):.1f}")
    power, mode = 2, "sum"
    print(f"back to the sum of squares: {score(values):.1f}")


if __name__ == "__main__":
    main()
