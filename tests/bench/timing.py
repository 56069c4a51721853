"""What the benches share: loading a module with and without autoimport, and measuring calls."""

from __future__ import annotations

import importlib
import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autoimport

BENCH = Path(__file__).resolve().parent
# Calls by which a function that is to become a graph has become one.
SETTLED_AFTER = 40
EXAMPLES = BENCH.parent.parent / "examples"


def load_plainly(name: str, folder: Path) -> Any:
    """The module as plain Python imports it, past every import hook."""
    spec = importlib.util.spec_from_file_location(f"plain_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_converted(name: str, folder: Path) -> Any:
    """The module as a program gets it that has called `autoimport.install`."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    autoimport.install([name])
    return importlib.import_module(name)


def milliseconds(calls: dict[str, Callable[[], Any]], rounds: int = 6, seconds: float = 0.4) -> dict[str, float]:
    """The time of each call once it has settled: the least median of some rounds.

    The calls take turns, so that a busy moment of the machine does not fall on one of them alone.
    """
    for call in calls.values():
        for _ in range(SETTLED_AFTER):
            call()
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], _median_ms(call, seconds))
    return best


def _median_ms(call: Callable[[], Any], seconds: float) -> float:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3
