"""Training steps and a scalar loop: eager, tf.function placed by hand, ours, and the bare call of the runtime.

Run as `python -m tests.bench.steps`. Each of the four has its own model, made from the same seed.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from autoimport.insight import explain
from autoimport.staging import tf_internals
from tests.bench.timing import BENCH, EXAMPLES, load_converted, load_plainly, milliseconds

Step = tuple[Callable[..., Any], Sequence[Any]]


def mlp(module: Any) -> Step:
    """A step of a Keras MLP, a closure."""
    step, batch = module.make_step()
    return step, batch


def convolution(module: Any) -> Step:
    """The step of examples/small_cnn.py."""
    keras.utils.set_random_seed(1)
    images, labels = module.pictures(np.random.default_rng(1), 32)
    model, optimizer = module.build_model(), keras.optimizers.Adam(0.01)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    bound = model, optimizer, loss_fn
    train_step = module.train_step
    return lambda images, labels: train_step(*bound, images, labels), (tf.constant(images), tf.constant(labels))


def recurrence(module: Any) -> Step:
    """Ten steps in one call of examples/recurrent_network.py."""
    rng = np.random.default_rng(3)
    network = module.Network(rng)
    sequences = tf.constant(rng.normal(size=(module.LENGTH, 64)), tf.float32)
    labels = tf.cast(tf.reduce_sum(sequences, axis=0) > 0, tf.float32)
    rate, train = 0.5, module.train
    return lambda *batch: train(network, *batch, rate), (sequences, labels, tf.constant(10))


def scalars(module: Any) -> Step:
    """The loop of examples/collatz.py, 111 rounds."""
    return module.collatz, (tf.constant(27, tf.int64),)


CASES = (
    ("Keras MLP step", mlp, "mlp", BENCH),
    ("convolutional step", convolution, "small_cnn", EXAMPLES),
    ("RNN, 10 steps", recurrence, "recurrent_network", EXAMPLES),
    ("scalar loop, 111 rounds", scalars, "collatz", EXAMPLES),
)


def direct(step: Callable[..., Any], inputs: Sequence[Any]) -> Callable[[], Any]:
    """A call of the runtime with the graph of `step`: what no way of launching it can be faster than."""
    concrete = tf.function(step).get_concrete_function(*inputs)
    flat = [*inputs, *concrete.captured_inputs]
    outputs = len(concrete.outputs)
    # The runtime forgets a function with the object that stands for it, so the call looks the name up in `concrete`.
    return lambda: tf_internals.run(concrete.name, flat, outputs, tf_internals.EXACT_CONFIG)


def measure(make: Callable[[Any], Step], name: str, folder: Any) -> dict[str, float]:
    """The four times of one case in milliseconds."""
    plain, converted = load_plainly(name, folder), load_converted(name, folder)
    step, inputs = make(plain)
    by_hand = tf.function(make(plain)[0])
    ours = make(converted)[0]
    fresh = make(plain)[0]
    fresh(*inputs)  # makes the variables
    return milliseconds(
        {
            "eager": lambda: step(*inputs),
            "tf.function": lambda: by_hand(*inputs),
            "ours": lambda: ours(*inputs),
            "direct": direct(fresh, inputs),
        }
    )


def main() -> None:
    print("Time of a call in ms, and ours against the others")
    columns = ("eager", "tf.function", "ours", "direct")
    print(f"{'':24}" + "".join(f"{column:>13}" for column in columns) + f"{'eager/ours':>13}{'ours/tf.function':>18}")
    for title, make, name, folder in CASES:
        times = measure(make, name, folder)
        row = "".join(f"{times[column]:13.3f}" for column in columns)
        print(f"{title:24}{row}{times['eager'] / times['ours']:13.1f}{times['ours'] / times['tf.function']:18.2f}")
    print()
    for function in ("train_step", "train", "collatz"):
        print(explain.explain(function))


if __name__ == "__main__":
    main()
