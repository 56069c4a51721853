"""A training step of a model with some 280 calls of the person's functions: one trace by tf.function, and one of ours.

Run as `python -m tests.bench.tracing`. tf.function has its AutoGraph on, as by default, and converts what it calls while it
traces; ours was converted when its module was imported.
"""

from __future__ import annotations

import gc
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.staging import registry
from tests.bench.timing import BENCH, SETTLED_AFTER, load_converted, load_plainly

ROUNDS = 5


def by_function(module: Any, inputs: list[Any]) -> float:
    """Seconds of one trace by tf.function."""
    step = tf.function(module.make_step(np.random.default_rng(0)))
    gc.collect()  # each of both pays for what it leaves, and not for what the other one did
    start = time.perf_counter()
    step.get_concrete_function(*inputs)
    return time.perf_counter() - start


def by_us(module: Any, inputs: list[Any]) -> float:
    """Seconds of one trace of ours, as the report tells them."""
    step = module.make_step(np.random.default_rng(0))
    site = registry.site_of(step.__code__)
    assert site is not None
    launched = site.own_graph_calls
    gc.collect()
    for _ in range(SETTLED_AFTER):
        before = site.trace_ms
        step(*inputs)
        if site.own_graph_calls > launched:
            return (site.trace_ms - before) / 1e3
    raise AssertionError(f"{site.facts.name} has no graph: {site.reason}")


def main() -> None:
    """Print both, and their ratio."""
    plain, converted = load_plainly("blocks", BENCH), load_converted("blocks", BENCH)
    inputs = [tf.ones([8, 16]), tf.zeros([8, 16])]
    pairs = [(by_us(converted, inputs), by_function(plain, inputs)) for _ in range(ROUNDS)]
    print("one trace of a step with 280 calls of functions")
    for name, (ours, theirs) in (("the first", pairs[0]), ("median of the next", _medians(pairs[1:]))):
        print(f"  {name:20} tf.function {theirs:6.2f} s   ours {ours:6.2f} s   ratio {ours / theirs:.2f}")


def _medians(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    ours, theirs = zip(*pairs, strict=True)
    return statistics.median(ours), statistics.median(theirs)


if __name__ == "__main__":
    main()
