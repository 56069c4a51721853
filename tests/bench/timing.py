"""What the benches share: loading a module with and without autoimport, and measuring calls."""

from __future__ import annotations

import importlib
import importlib.util
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


def milliseconds(call: Callable[[], Any], seconds: float = 2.0) -> float:
    """The median time of a call, once it has settled, over as many calls as fit into `seconds` (at least 10)."""
    for _ in range(SETTLED_AFTER):
        call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3
