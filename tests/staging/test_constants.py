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
