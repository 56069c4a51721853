"""A hundred matrix products in a loop: the largest eigenvalue of a matrix by power iteration."""

import sys
import time

import numpy as np
import tensorflow as tf


def largest_eigenvalue(matrix, count):
    """Multiply a vector `count` times by `matrix`, scaled to length one each time."""
    vector = tf.ones([matrix.shape[0], 1]) / 8.0
    length = tf.constant(1.0)
    for _ in tf.range(count):
        vector = matrix @ vector
        length = tf.norm(vector)
        vector /= length
    return length


def main():
    rng = np.random.default_rng(0)
    took = []
    for trial in range(5):
        half = rng.normal(size=(64, 64))
        matrix = tf.constant(half @ half.T / 64, tf.float32)
        start = time.perf_counter()
        value = largest_eigenvalue(matrix, tf.constant(100))
        took.append(time.perf_counter() - start)
        print(f"matrix {trial}: largest eigenvalue {value:.2f}")
    if "--time" in sys.argv[1:]:
        print(f"time: {took[0] * 1e3:.2f} ms for the first matrix, {took[-1] * 1e3:.2f} ms for the last")


if __name__ == "__main__":
    main()
