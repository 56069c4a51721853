"""Keras's variables in graphs of the person's: where one way replaces them by a tensor, their value stands for them."""

from __future__ import annotations

import pytest

from tests.staging.programs import run

CONSTRAINT = """
import keras
def bounded(w):
    norm = tf.norm(w)
    if norm > 1.0:
        w = w / norm
    return w
"""


def test_a_constraint_that_may_leave_the_variable_as_it_is() -> None:
    source = """
def main():
    for steps in (1, 3):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Dense(2, kernel_constraint=bounded)])
        model.compile("sgd", "mse", run_eagerly=EAGERLY)
        x = np.linspace(-1, 1, 16).reshape(8, 2).astype("float32")
        model.fit(x, x * 3, epochs=steps, batch_size=4, verbose=0)
        show([w.round(5) for w in model.get_weights()])
"""
    plain = run(CONSTRAINT + source.replace("EAGERLY", "True"), converted=False).lines
    assert run(CONSTRAINT + source.replace("EAGERLY", "False"), converted=True).lines == plain


@pytest.mark.parametrize(
    "body",
    [
        "return bounded(variable) * x",
        "return (variable if x > 0 else tf.stack([x, x])) + tf.zeros(2)",
        "w = variable\n    for _ in tf.range(tf.cast(x, tf.int32)): w = w * 2\n    return w + 0",
        "variable.assign(bounded(variable + x))\n    return variable + 0",
    ],
)
def test_a_variable_or_a_tensor(body: str) -> None:
    source = f"""
variable = keras.Variable([3.0, 4.0])
def either(x):
    {body}
def main():
    variable.assign([3.0, 4.0])
    for v in (0.0, 1.0, 2.0):
        show(WRAP(either)(tf.constant(v)))
"""
    plain = run(CONSTRAINT + source.replace("WRAP", ""), converted=False).lines
    assert run(CONSTRAINT + source.replace("WRAP", "tf.function"), converted=True).lines == plain
