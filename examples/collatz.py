"""The lengths of Collatz sequences: a `while` loop that nobody knows the end of, with an `if` inside."""

import sys
import time

import tensorflow as tf


def collatz(n):
    """The number of steps from `n` down to 1, and the largest value on the way."""
    steps = 0
    peak = n
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        if n > peak:
            peak = n
        steps += 1
    return steps, peak


def main():
    start = time.perf_counter()
    for number in (1, 7, 9, 27, 97, 31, 41, 47):
        steps, peak = collatz(tf.constant(number, tf.int64))
        print(f"{number:3d} takes {steps:4d} steps and climbs to {peak}")
    took = time.perf_counter() - start
    if "--time" in sys.argv[1:]:
        print(f"time: {took / 8 * 1e3:.2f} ms a number")


if __name__ == "__main__":
    main()
