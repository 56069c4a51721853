"""A small convolutional network on generated pictures, trained by a loop and a step of one's own.

The pictures are bars on noise; the network says whether the bar lies or stands.
"""

import sys
import time

import keras
import numpy as np
import tensorflow as tf


def pictures(rng, count):
    """`count` pictures of 12 by 12 with one bar each, and 0 (lying) or 1 (standing)."""
    images = rng.normal(0.0, 0.4, (count, 12, 12, 1)).astype("float32")
    labels = rng.integers(0, 2, count)
    for image, label, where in zip(images, labels, rng.integers(1, 11, count)):
        if label:
            image[:, where] += 1.0
        else:
            image[where, :] += 1.0
    return images, labels.astype("int64")


def build_model():
    """Two convolutions and a decision."""
    return keras.Sequential(
        [
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(16, 3, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(2),
        ]
    )


def train_step(model, optimizer, loss_fn, images, labels):
    """One step on one batch; the loss before it."""
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def count_right(model, images, labels):
    """How many of the pictures are decided correctly."""
    decisions = tf.argmax(model(images, training=False), axis=1)
    return tf.reduce_sum(tf.cast(decisions == labels, tf.int32))


def main():
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    images, labels = pictures(rng, 320)
    test_images, test_labels = (tf.constant(part) for part in pictures(rng, 128))
    batches = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32)
    model = build_model()
    optimizer = keras.optimizers.Adam(0.01)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    took = []
    for epoch in range(5):
        losses = []
        for batch_images, batch_labels in batches:
            start = time.perf_counter()
            losses.append(train_step(model, optimizer, loss_fn, batch_images, batch_labels))
            took.append(time.perf_counter() - start)
        mean = sum(float(loss) for loss in losses) / len(losses)
        right = count_right(model, test_images, test_labels)
        print(f"epoch {epoch + 1}: loss {mean:.2f}, {right} of {len(test_labels)} right")
    if "--time" in sys.argv[1:]:
        print(f"time: {sorted(took)[len(took) // 2] * 1e3:.2f} ms a step")


if __name__ == "__main__":
    main()
