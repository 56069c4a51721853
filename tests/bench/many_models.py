"""Models that are built, trained for some steps and dropped, in the ways in which programs do it. A subject of memory.py."""

import weakref

import keras
import tensorflow as tf

X = tf.random.stateless_normal([16, 8], [1, 2])
Y = tf.random.stateless_normal([16, 1], [3, 4])


def build():
    """A Keras model and its optimizer."""
    layers = [keras.layers.Dense(16, activation="tanh"), keras.layers.Dropout(0.1), keras.layers.Dense(1)]
    return keras.Sequential(layers), keras.optimizers.Adam(1e-3)


def closure():
    """A step over the model of its own function."""
    model, optimizer = build()
    losses = []

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(loss)
        return loss

    return step, model


def handed_step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def handed():
    """A step that is handed its model."""
    model, optimizer = build()
    return lambda x, y: handed_step(model, optimizer, x, y), model


class Trainer(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = [tf.Variable(tf.random.stateless_normal([8, 8], [i, 5])) for i in range(3)]
        self.steps = 0
        self.last = None

    def step(self, x, y):
        with tf.GradientTape() as tape:
            h = x
            for weight in self.weights:
                h = tf.nn.silu(h @ weight)
                if tf.reduce_mean(h) > 1.0:
                    h = h * 0.5
            loss = tf.reduce_mean((h[:, :1] - y) ** 2)
        for weight, gradient in zip(self.weights, tape.gradient(loss, self.weights)):
            weight.assign_sub(0.01 * gradient)
        self.steps += 1
        self.last = loss
        return loss


def method():
    """A method of the model itself."""
    trainer = Trainer()
    return trainer.step, trainer


def loop():
    """A loop over data with the whole step in it."""
    model, optimizer = build()

    def step(x, y):
        for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(a, training=True) - b) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return step, model


WAYS = closure, handed, method, loop


def train(number, steps=5):
    """One model, of the ways in turn, trained and dropped: a weak reference to it, and its last loss.

    Setting the seed has TensorFlow empty its cache of kernels, which has one for each variable that has ever been made.
    """
    keras.utils.set_random_seed(number)
    step, model = WAYS[number % len(WAYS)]()
    for _ in range(steps):
        loss = step(X, Y)
    return weakref.ref(model), float(loss)
