"""Tensors made of Python's and numpy's values in a graph: of the type, and with the errors, of eager mode."""

from __future__ import annotations

import pytest

from tests.staging import programs

VALUES = (
    "[np.sqrt(2.0), 1.0]",
    "[np.float64(1.5), 2]",
    "([np.float64(1.0)], [2.5])",
    "[np.float32(1.0), np.float32(0.1)]",
    "[1, 1j]",
    "[True, 1]",
    "[False, 0.5]",
    "[True, False]",
    "[1, 2.5]",
    "2**63",
    "[2**63, 2**63]",
    "[2**63, -1]",
    "[2**40, 1]",
)
TYPED = ("[2**63], tf.int32", "[2**63], tf.int64", "[2**63 + 1], tf.uint64", "[1, 2], tf.float16", "[True], tf.float32")


@pytest.mark.parametrize("make", ("tf.constant({})", "tf.stack([{0}, {0}])", "tf.cast({}, tf.float32)", "y + {}"))
def test_constants_are_those_of_eager_mode(make: str) -> None:
    values = VALUES + TYPED if make == "tf.constant({})" else VALUES
    steps = [f"def f{k}(x, y):\n    return {make.format(value)}, x * 2.0\n" for k, value in enumerate(values)]
    calls = [
        f"    for k in range(3):\n        attempt(f{k}, tf.constant(1.5), tf.constant(3))\n" for k in range(len(values))
    ]
    run = programs.same("".join([*steps, "def main():\n", *calls]))
    assert sum(site.state == "graph" for site in run.sites.values()) > 2


# What stands for a number of numpy's in a trace says that it is one, and TensorFlow's C code would read it as one.
PLACES = ("x[:, k]", "x[k]", "x[k, k]", "x[k:k + 1]", "x[:, k - 1:k + 1]", "x[..., k]", "x[-k]", "x[k][None]")
AMONG_OTHERS = (
    "tf.stack([k, 1])",
    "tf.reshape(x, [k + 1, -1])",
    "tf.fill([k + 1, 2], x[0, 0])",
    "tf.gather(x, [k, 0])",
)
IN_ARITHMETIC = (
    "x + [k, 1]",
    "[k, 1] + x",
    "x * (k, 2.0)",
    "x == [k, k]",
    "x @ [[k * 1.0], [2.0]]",
    "tf.where(x > [k, 1], x, 0)",
)
NUMBERS = {
    "a tensor's small ones": ("None", "(tf.size(x[t % 2 :]) % 2).numpy()", "graph"),
    "an int64": ("np.array([1, 0, 1, 0, 1])", "array[t]", "graph"),
    "an int32": ("np.array([1, 0, 1, 0, 1], np.int32)", "array[t]", "graph"),
    "a small integer": ("np.array([1, 0, 1, 0, 1], np.int8)", "array[t]", "eager"),
    "a float": ("np.array([1.5, 0, 1, 0, 1])", "array[t]", "eager"),
    "a tensor's": ("None", "tf.argmax(x[t % 2]).numpy()", "graph"),
}


@pytest.mark.parametrize(("array", "number", "state"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_numpys_in_places_and_lists_are_those_of_eager_mode(array: str, number: str, state: str) -> None:
    values = PLACES + AMONG_OTHERS + IN_ARITHMETIC
    steps = [f"def f{i}(x, t):\n    k = {number}\n    return {value}, x + 1\n" for i, value in enumerate(values)]
    calls = [
        f"    for t in range(5):\n        attempt(f{i}, tf.constant([[1.0, 2.0], [3.0, 4.0]]), t)\n"
        for i in range(len(values))
    ]
    run = programs.same("".join([f"array = {array}\n", *steps, "def main():\n", *calls]))
    # The first function that `main` calls waits, and only tensors are negative.
    assert {state} == {run.sites[f"f{i}"].state for i in range(1, 4)}
