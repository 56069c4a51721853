"""`assert` and `raise` that depend on a tensor: the caller catches them as usual, whichever call they end."""

import tensorflow as tf


def mean_of_positives(values):
    """The mean of the positive values; it is a mistake if there are none."""
    total = tf.constant(0.0)
    count = tf.constant(0.0)
    for value in values:
        if value > 0:
            total += value
            count += 1
    assert count > 0, "no positive value"
    return total / count


def square_root(x):
    """Newton's method; refuses negative numbers."""
    if x < 0:
        raise ValueError("the square root of a negative number is not real")
    guess = x + 1.0
    while tf.abs(guess * guess - x) > 1e-4 * (x + 1.0):
        guess = 0.5 * (guess + x / guess)
    return guess


def main():
    for values in ([1.0, 2.0, 3.0], [-1.0, 5.0, -2.0], [4.0, -4.0, 8.0], [-1.0, -2.0, -3.0], [0.5, 0.5, 0.0]):
        try:
            print(f"mean of the positives of {values}: {mean_of_positives(tf.constant(values)):.3f}")
        except AssertionError as error:
            print(f"mean of the positives of {values}: AssertionError: {error}")
    for number in (2.0, 9.0, 10.0, -1.0, 16.0):
        try:
            print(f"square root of {number}: {square_root(tf.constant(number)):.2f}")
        except ValueError as error:
            print(f"square root of {number}: ValueError: {error}")


if __name__ == "__main__":
    main()
