"""A training loop at the top level of a script, as one writes it first: no function at all.

A small network learns which of three spiral arms a point belongs to. Batches are drawn with numpy, losses go into a
list, and every hundred steps a line is printed.
"""

import sys
import time

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
keras.utils.set_random_seed(5)

points, arms = [], []
for arm in range(3):
    radius = np.linspace(0.1, 1.0, 400)
    angle = 3.0 * radius + 2.0 * np.pi * arm / 3.0 + rng.normal(0.0, 0.3, 400)
    points.append(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))
    arms.append(np.full(400, arm))
points = np.concatenate(points).astype("float32")
arms = np.concatenate(arms).astype("int32")

model = keras.Sequential(
    [keras.layers.Input((2,)), keras.layers.Dense(48, activation="relu"), keras.layers.Dense(3)],
)
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

losses = []
times = []
for step in range(1, 301):
    start = time.perf_counter()
    chosen = rng.integers(0, len(points), 32)
    x = tf.constant(points[chosen])
    y = tf.constant(arms[chosen])
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    losses.append(float(loss))
    if step % 100 == 0:
        print(f"step {step}: loss {losses[-1]:.3f}, mean of the last hundred {np.mean(losses[-100:]):.3f}")
    times.append(time.perf_counter() - start)

print(f"best loss {min(losses):.3f}")
if "--time" in sys.argv:
    print(f"a step took {1e3 * np.median(times[150:]):.2f} ms")
