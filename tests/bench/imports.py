"""A warm import of a package of 100 converted modules, against Python's own from `__pycache__`; and of what is not ours.

Run as `python -m tests.bench.imports`. The modules are copies of one of ordinary size, with a different name each.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MODULES = 100
ROUNDS = 25

# Imports the package in a process of its own, the machinery itself warm, and prints what that took of the processor in microseconds.
PLAIN = """
import gc, importlib, sys, time
sys.path.insert(0, "{folder}")
sys.dont_write_bytecode = False
{before}
import first.m0
gc.collect()  # what has been loaded before is no cost of these modules
start = time.process_time()
for number in range({count}):
    importlib.import_module("{package}.m" + str(number))
print((time.process_time() - start) * 1e6)
"""
HOOK = "import autoimport; autoimport.install({packages})"


def module_text(number: int) -> str:
    """A module of a model: a class with a few methods, some functions, a constant of its own."""
    functions = "\n".join(
        f'''
def scaled_{index}(values, factor={index}.0, *, bias=None):
    """The values, scaled and shifted as asked for."""
    total = 0.0
    for value in values:
        if value > {number}:
            total += value * factor
        elif bias is not None:
            total -= bias
    return total
'''
        for index in range(6)
    )
    return f'''"""Part {number} of a package."""

import math

NUMBER = {number}
{functions}

class Layer:
    """Keeps a weight and applies it."""

    def __init__(self, width, name="layer"):
        self.width = width
        self.name = name
        self.weights = [0.0] * width

    def __call__(self, inputs, training=False):
        outputs = [weight * value for weight, value in zip(self.weights, inputs)]
        if training and len(outputs) > NUMBER:
            outputs = [math.tanh(value) for value in outputs]
        return outputs

    def reset(self):
        while self.weights:
            self.weights.pop()
        return self
'''


def write_package(folder: Path, name: str) -> None:
    """A package of `MODULES` modules."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    for number in range(MODULES):
        (folder / name / f"m{number}.py").write_text(module_text(number))


def microseconds(folder: Path, package: str, before: str) -> float:
    """What importing all modules of the package takes in a new process."""
    code = PLAIN.format(folder=folder, before=before, package=package, count=MODULES)
    environment = {**os.environ, "AUTOIMPORT_CACHE_DIR": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    run = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    return float(run.stdout)


def main() -> None:
    cases = {
        "plain Python": "",
        "converted, from the cache": HOOK.format(packages=["first", "many"]),
        "not ours, hook at work": HOOK.format(packages=["first"]),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package in ("first", "many"):
            write_package(folder, package)
        times: dict[str, list[float]] = {case: [] for case in cases}
        for number in range(ROUNDS + 1):
            for case, before in cases.items():  # in turn: a busy moment falls on all of them
                took = microseconds(folder, "many", before)
                if number:  # the first round fills the caches
                    times[case].append(took)
    plain = times["plain Python"]
    print(f"Import of {MODULES} modules, warm")
    for case, took in times.items():
        ratio = statistics.median(ours / theirs for ours, theirs in zip(took, plain, strict=True))
        extra = (statistics.median(took) - statistics.median(plain)) / MODULES
        print(f"{case:28}{statistics.median(took) / 1e3:8.1f} ms{ratio:7.2f} times{extra:+8.1f} us a module")
    print()


if __name__ == "__main__":
    main()
