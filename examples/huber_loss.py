"""The centre of noisy samples by a Huber loss: an `if` over a tensor, called for each item of a loop.

Plain gradient descent. A square loss would be drawn away by the three outliers; beyond `delta` the Huber loss grows
only linearly, so they count for little.
"""

import sys
import time

import tensorflow as tf

SAMPLES = tf.constant([4.8, 5.1, 5.0, 4.9, 5.3, 4.7, 5.2, 60.0, 5.0, 75.0, 4.9, 5.1, -40.0, 5.0])


def huber(residual, delta):
    """Half the square for small residuals, linear beyond `delta`."""
    size = tf.abs(residual)
    if size <= delta:
        return 0.5 * residual * residual
    return delta * (size - 0.5 * delta)


def mean_loss(centre, samples, delta):
    """The mean Huber loss of `samples` around `centre`."""
    total = tf.constant(0.0)
    for sample in samples:
        total += huber(sample - centre, delta)
    return total / tf.cast(len(samples), tf.float32)


def descend(centre, samples, delta, rate):
    """One step of gradient descent: the new centre and the loss before the step."""
    with tf.GradientTape() as tape:
        tape.watch(centre)
        loss = mean_loss(centre, samples, delta)
    return centre - rate * tape.gradient(loss, centre), loss


def main():
    centre = tf.constant(0.0)
    start = time.perf_counter()
    for step in range(60):
        centre, loss = descend(centre, SAMPLES, 1.0, 0.5)
        if step % 10 == 0:
            print(f"step {step:2d}: centre {centre:.3f}, loss {loss:.3f}")
    took = time.perf_counter() - start
    print(f"mean of the samples: {tf.reduce_mean(SAMPLES):.3f}")
    print(f"robust centre:       {centre:.3f}")
    if "--time" in sys.argv[1:]:
        print(f"time: {took / 60 * 1e3:.2f} ms a step")


if __name__ == "__main__":
    main()
