"""A body that is nearly all `if` and `while`: where a ball on a table with walls comes to rest.

Each step is a handful of comparisons on scalars, the worst case for TensorFlow line by line and the best for a graph.
Run it with `--time` under plain Python and under autoimport.
"""

import sys
import time

import tensorflow as tf


def bounce(position, speed):
    """Keep `position` between the walls at 0 and 1; every bounce costs a quarter of the speed."""
    if position < 0.0:
        position = -position
        speed = -0.75 * speed
    elif position > 1.0:
        position = 2.0 - position
        speed = -0.75 * speed
    return position, speed


def roll(x, y, speed_x, speed_y):
    """Roll until the ball rests or drops into the hole in the middle: the place, the steps, and whether it dropped."""
    steps = tf.constant(0)
    dropped = False
    while speed_x * speed_x + speed_y * speed_y > 0.0004:
        x, speed_x = bounce(x + speed_x, speed_x)
        y, speed_y = bounce(y + speed_y, speed_y)
        if x > 0.45 and x < 0.55 and y > 0.45 and y < 0.55:
            dropped = True
            break
        if steps % 2 == 0:
            speed_x *= 0.96875
        else:
            speed_y *= 0.96875
        steps += 1
    return x, y, steps, dropped


def main():
    took = []
    for shot in range(48):
        speed_x = tf.constant(0.25 - 0.0078125 * (shot % 21))
        speed_y = tf.constant(0.0625 + 0.00390625 * shot)
        start = time.perf_counter()
        x, y, steps, dropped = roll(tf.constant(0.125), tf.constant(0.25), speed_x, speed_y)
        took.append(time.perf_counter() - start)
        if shot % 4:
            continue
        end = "drops into the hole" if dropped else f"rests at ({x:.2f}, {y:.2f})"
        print(f"shot {shot:2d} {end} after {steps} steps")
    if "--time" in sys.argv[1:]:
        print(f"time: {took[0] * 1e3:.2f} ms for the first shot, {took[-1] * 1e3:.2f} ms for the last")


if __name__ == "__main__":
    main()
