"""A loop over the rows of a matrix against its vectorised form: the same numbers, and with `--time` the price.

The loop is what one writes first. As a graph it is no longer an order of magnitude slower to run line by line, but
what can be one operation on the whole matrix still is fastest as that.
"""

import sys
import time

import tensorflow as tf


def farthest_by_loop(points, centre):
    """The number of the point farthest from `centre` and its distance, point by point."""
    best = tf.constant(-1)
    best_distance = tf.constant(-1.0)
    index = tf.constant(0)
    for point in points:
        distance = tf.reduce_sum(tf.abs(point - centre))
        if distance > best_distance:
            best_distance = distance
            best = index
        index += 1
    return best, best_distance


def farthest_at_once(points, centre):
    """The same by operations on the whole matrix."""
    distances = tf.reduce_sum(tf.abs(points - centre), axis=1)
    best = tf.argmax(distances, output_type=tf.int32)
    return best, distances[best]


def timed(fn, points, centres):
    """Call `fn` for each centre; the last result of each, and the median time of a call in ms."""
    results, took = [], []
    for centre in centres:
        start = time.perf_counter()
        results.append(fn(points, centre))
        took.append(time.perf_counter() - start)
    return results, sorted(took)[len(took) // 2] * 1e3


def main():
    numbers = tf.range(400 * 4, dtype=tf.int32)
    points = tf.reshape(tf.cast((numbers * 7919) % 1009, tf.float32) / 8.0, [400, 4])
    centres = points[:6]
    by_loop, loop_ms = timed(farthest_by_loop, points, centres)
    at_once, once_ms = timed(farthest_at_once, points, centres)
    for (index, distance), (same_index, same_distance) in zip(by_loop, at_once):
        agree = "both ways" if index == same_index and distance == same_distance else "by one way only"
        print(f"point {index} is farthest, at {distance:.3f}, {agree}")
    if "--time" in sys.argv[1:]:
        print(f"time: {loop_ms:.3f} ms by the loop, {once_ms:.3f} ms at once")


if __name__ == "__main__":
    main()
