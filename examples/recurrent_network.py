"""A recurrent network that tells whether the numbers of a sequence add up to more than zero, by hand, without Keras.

`train` runs many training steps in one call: a loop over steps around a loop over time, with the gradient inside.
"""

import sys
import time

import numpy as np
import tensorflow as tf

UNITS = 12
LENGTH = 8


class Network(tf.Module):
    """A tanh recurrence over the sequence and a linear score at its end."""

    def __init__(self, rng):
        super().__init__()
        self.into = tf.Variable(rng.normal(0.0, 0.5, (1, UNITS)), dtype=tf.float32)
        self.along = tf.Variable(np.eye(UNITS) + rng.normal(0.0, 0.05, (UNITS, UNITS)), dtype=tf.float32)
        self.bias = tf.Variable(tf.zeros([UNITS]))
        self.out = tf.Variable(rng.normal(0.0, 0.3, (UNITS, 1)), dtype=tf.float32)

    def scores(self, sequences):
        """One score for each sequence; `sequences` is [time, batch]."""
        state = tf.zeros([tf.shape(sequences)[1], UNITS])
        for numbers in sequences:
            state = tf.tanh(numbers[:, tf.newaxis] @ self.into + state @ self.along + self.bias)
        return tf.squeeze(state @ self.out, axis=1)


def train(network, sequences, labels, steps, rate):
    """`steps` steps of gradient descent; the loss of the last one."""
    loss = tf.constant(0.0)
    for _ in tf.range(steps):
        with tf.GradientTape() as tape:
            scores = network.scores(sequences)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, scores))
        variables = network.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(rate * tf.clip_by_value(gradient, -1.0, 1.0))
    return loss


def accuracy(network, sequences, labels):
    """The share of sequences that are told right."""
    right = tf.equal(network.scores(sequences) > 0, labels > 0.5)
    return tf.reduce_mean(tf.cast(right, tf.float32))


def main():
    rng = np.random.default_rng(3)
    network = Network(rng)
    sequences = tf.constant(rng.normal(size=(LENGTH, 64)), tf.float32)
    labels = tf.cast(tf.reduce_sum(sequences, axis=0) > 0, tf.float32)
    took = []
    for call in range(6):
        start = time.perf_counter()
        loss = train(network, sequences, labels, tf.constant(25), 0.5)
        took.append(time.perf_counter() - start)
        print(f"after {25 * (call + 1):3d} steps: loss {loss:.2f}, accuracy {accuracy(network, sequences, labels):.2f}")
    if "--time" in sys.argv[1:]:
        print(f"time: {took[0] / 25 * 1e3:.2f} ms a step in the first call, {took[-1] / 25 * 1e3:.2f} in the last")


if __name__ == "__main__":
    main()
