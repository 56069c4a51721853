"""Loops in loops with `break`, `continue` and early `return`: prime numbers below a bound, and the first long gap."""

import sys
import time

import tensorflow as tf


def count_primes(bound):
    """The number of primes below `bound`, and their sum, by trial division."""
    count = tf.constant(0)
    total = tf.constant(0)
    for candidate in tf.range(2, bound):
        if candidate > 2 and candidate % 2 == 0:
            continue
        is_prime = True
        divisor = tf.constant(3)
        while divisor * divisor <= candidate:
            if candidate % divisor == 0:
                is_prime = False
                break
            divisor += 2
        if is_prime:
            count += 1
            total += candidate
    return count, total


def first_gap(bits, length):
    """Where the first `length` zeros in a row start in `bits`, or -1."""
    position = 0
    zeros = 0
    for bit in bits:
        position += 1
        if bit == 0:
            zeros += 1
            if zeros == length:
                return position - length
        else:
            zeros = 0
    return tf.constant(-1)


def main():
    start = time.perf_counter()
    for bound in (10, 50, 100, 200):
        count, total = count_primes(tf.constant(bound))
        print(f"below {bound}: {count} primes, their sum is {total}")
    took = time.perf_counter() - start
    bits = tf.constant([1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    for length in range(1, 6):
        print(f"the first {length} zeros in a row start at {first_gap(bits, tf.constant(length))}")
    if "--time" in sys.argv[1:]:
        print(f"time: {took * 1e3:.1f} ms for the primes")


if __name__ == "__main__":
    main()
