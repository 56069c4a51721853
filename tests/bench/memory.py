"""`python -m tests.bench.memory --models 100 [--plain]` -> what many models, each trained and dropped, leave behind.

Models of several kinds are built, trained with each step a graph (or as plain Python has it), and dropped, in one
process. Told are the memory and the graphs that are there after each ten of them.
"""

from __future__ import annotations

import argparse
import gc
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from dataclasses import dataclass
from typing import Any

from tests.bench.timing import BENCH, load_converted, load_plainly
from tests.staging import programs


@dataclass(frozen=True)
class Left:
    """What is there at some point: megabytes of memory, graphs, functions of the runtime, models that were dropped."""

    megabytes: float
    graphs: int
    functions: int
    models: int


def measure(module: Any, models: int, every: int = 10) -> list[Left]:
    """What is there after each so many models."""
    refs, left = [], []
    for number in range(models):
        refs.append(module.train(number)[0])
        if (number + 1) % every == 0:
            gc.collect()
            left.append(_left(sum(ref() is not None for ref in refs)))
    return left


def _left(models: int) -> Left:
    from tensorflow.python.eager import context
    from tensorflow.python.framework import func_graph

    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    graphs = sum(type(each) is func_graph.FuncGraph for each in gc.get_objects())
    functions = len(context.context().list_function_names())
    return Left(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, graphs, functions, models)


def main() -> None:
    """Print what is left, and the growth for ten models after the first ten."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--plain", action="store_true", help="as under plain Python")
    asked = parser.parse_args()
    load = load_plainly if asked.plain else load_converted
    with programs.staging_after(1):
        left = measure(load("many_models", BENCH), asked.models)
    for index, each in enumerate(left):
        print(f"after {10 * (index + 1):4} models: {each.megabytes:7.1f} MB, {each.graphs} graphs,", end=" ")
        print(f"{each.functions} functions, {each.models} models alive")
    growth = (left[-1].megabytes - left[0].megabytes) / (len(left) - 1)
    print(f"growth for ten models after the first ten: {growth:.2f} MB")


if __name__ == "__main__":
    main()
