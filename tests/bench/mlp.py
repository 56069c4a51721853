"""A training step of a Keras MLP as a closure over its model, as many programs have it. A subject of steps.py."""

import keras
import numpy as np
import tensorflow as tf


def make_step():
    """A training step on one batch, and a batch."""
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    model = keras.Sequential(
        [
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-3)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train_step(inputs, labels):
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(inputs, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    batch = tf.constant(rng.normal(size=(32, 20)), tf.float32), tf.constant(rng.integers(0, 10, size=32))
    return train_step, batch
