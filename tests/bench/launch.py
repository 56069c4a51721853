"""What a launch costs by the number of guards and of inputs, against tf.function on the same function, in one run.

Run as `python -m tests.bench.launch`. The functions are made of one line an input and one a guard; their graphs do next
to nothing, so what is measured is the way there and back, in exact mode.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["AUTOIMPORT_STAGE_AFTER"] = "1"  # such small functions stay eager otherwise

import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

from autoimport.staging import registry
from tests.bench.timing import load_converted, load_plainly, milliseconds

COUNTS = (1, 10, 40)


def module_text(guards: int, inputs: int) -> str:
    """A function of `inputs` tensors that depends on `guards` attributes of an object from outside."""
    names = [f"x{index}" for index in range(inputs)]
    flags = "".join(f"        self.flag{index} = True\n" for index in range(guards))
    tests = "".join(f"    if not setting.flag{index}:\n        total = -total\n" for index in range(guards))
    return (
        f"import tensorflow as tf\n\nclass Setting:\n    def __init__(self):\n{flags}\n"
        f"setting = Setting()\n\ndef add({', '.join(names)}):\n    total = tf.negative(tf.add_n([{', '.join(names)}]))\n{tests}"
        "    return total\n"
    )


def measure(guards: int, inputs: int, folder: Path) -> dict[str, float]:
    """The time of a call in microseconds, and of the check function alone."""
    name = f"launched_{guards}_{inputs}"
    (folder / f"{name}.py").write_text(module_text(guards, inputs))
    module = load_converted(name, folder)
    by_hand, ours = tf.function(load_plainly(name, folder).add), module.add
    tensors = [tf.constant([float(index)]) for index in range(inputs)]
    calls: dict[str, Callable[[], Any]] = {"tf.function": lambda: by_hand(*tensors), "ours": lambda: ours(*tensors)}
    times = {each: 1e3 * time for each, time in milliseconds(calls, seconds=0.1).items()}
    (site,) = (site for site in registry.loaded[-1].sites if site.facts.name == "add")
    assert site.state == "graph", site.reason
    (specialisation,) = site.mind._specialisations
    check = timeit.Timer(lambda: specialisation.check(vars(module), (), tuple(tensors)), timer=time.process_time)
    return {**times, "check": min(check.repeat(15, 2000)) / 2000 * 1e6}


def main() -> None:
    print("A launch in us by guards and inputs, and ours against tf.function")
    print(f"{'guards':>6}{'inputs':>8}{'tf.function':>13}{'ours':>8}{'ratio':>8}{'check':>9}{'a guard':>10}")
    with tempfile.TemporaryDirectory() as name:
        for inputs in COUNTS:
            first = 0.0  # the check with the fewest guards
            for guards in COUNTS:
                times = measure(guards, inputs, Path(name))
                first = first or times["check"]
                each = f"{1e3 * (times['check'] - first) / (guards - 1):.0f} ns" if guards > 1 else ""
                row = f"{guards:6}{inputs:8}{times['tf.function']:13.1f}{times['ours']:8.1f}"
                print(f"{row}{times['ours'] / times['tf.function']:8.2f}{times['check']:9.2f}{each:>10}")
    print()


if __name__ == "__main__":
    main()
