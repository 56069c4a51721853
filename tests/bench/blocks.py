"""A model of many small functions, written as people write them: what the tracing bench traces."""

from __future__ import annotations

import tensorflow as tf


def gelu(x):
    return 0.5 * x * (1.0 + tf.tanh(0.79788456 * (x + 0.044715 * x**3)))


def scale(x, factor):
    if factor is None:
        return x
    return x * factor


def normalise(x, gain, shift):
    mean = tf.reduce_mean(x, axis=-1, keepdims=True)
    centred = x - mean
    spread = tf.reduce_mean(centred * centred, axis=-1, keepdims=True)
    return centred * tf.math.rsqrt(spread + 1e-5) * gain + shift


class Linear(tf.Module):
    def __init__(self, rng, size_in, size_out):
        super().__init__()
        self.w = tf.Variable(rng.normal(scale=size_in**-0.5, size=(size_in, size_out)).astype("float32"))
        self.b = tf.Variable(tf.zeros([size_out]))

    def __call__(self, x):
        return tf.matmul(x, self.w) + self.b


class Block(tf.Module):
    def __init__(self, rng, width):
        super().__init__()
        self.gain, self.shift = tf.Variable(tf.ones([width])), tf.Variable(tf.zeros([width]))
        self.up, self.down = Linear(rng, width, 2 * width), Linear(rng, 2 * width, width)
        self.calls = 0

    def residual(self, x):
        inside = self.down(gelu(self.up(normalise(x, self.gain, self.shift))))
        if tf.reduce_max(tf.abs(inside)) > 100.0:
            inside = inside / 10.0
        return scale(inside, 0.5 if self.calls >= 0 else None)

    def __call__(self, x):
        return x + self.residual(x)


class Model(tf.Module):
    def __init__(self, rng, depth, width):
        super().__init__()
        self.blocks = [Block(rng, width) for _ in range(depth)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def make_step(rng, depth=40, width=16):
    model = Model(rng, depth, width)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        for variable, gradient in zip(model.trainable_variables, gradients):
            variable.assign_sub(0.01 * gradient)
        return loss

    return step
