"""A Keras model with `if` and `for` over tensors in its `call`, trained with `fit`.

Keras makes a graph of `fit` and does not convert `call`, so plain `python` raises here; with `--run-eagerly` it works,
slowly. Under autoimport it works as written, and prints what `--run-eagerly` prints.
"""

import sys
import time

import keras
import numpy as np
import tensorflow as tf


class Refining(keras.Model):
    """Refines a guess a few times with the same layer, and damps it where it grows too large."""

    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(8, activation="tanh")
        self.refine = keras.layers.Dense(8, activation="tanh")
        self.last = keras.layers.Dense(1)

    def call(self, inputs):
        state = self.first(inputs)
        for _ in tf.range(3):
            state = state + self.refine(state)
            if tf.reduce_mean(tf.abs(state)) > 1.0:
                state = 0.5 * state
        return self.last(state)


def main():
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    points = rng.uniform(-1.0, 1.0, (256, 2)).astype("float32")
    heights = (points[:, :1] * points[:, 1:]).astype("float32")
    model = Refining()
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse", run_eagerly="--run-eagerly" in sys.argv[1:])
    start = time.perf_counter()
    history = model.fit(points, heights, batch_size=32, epochs=6, shuffle=False, verbose=0)
    took = time.perf_counter() - start
    for epoch, loss in enumerate(history.history["loss"], start=1):
        print(f"epoch {epoch}: loss {loss:.3f}")
    print(f"loss after training: {model.evaluate(points, heights, verbose=0):.3f}")
    print("two predictions:", np.round(model.predict(points[:2], verbose=0)[:, 0], 2))
    if "--time" in sys.argv[1:]:
        print(f"time: {took:.2f} s for the training")


if __name__ == "__main__":
    main()
