"""What a gate costs once it is closed: a purely Python function, plain and converted.

Run as `python -m tests.bench.gates`.
"""

from __future__ import annotations

import math
import timeit

from tests.bench.timing import BENCH, load_converted, load_plainly

CALLS = 300_000


def main() -> None:
    plain, converted = load_plainly("lookup", BENCH).lookup, load_converted("lookup", BENCH).lookup
    table = {"a": 1}
    for _ in range(1000):
        converted(table, "a")  # the verdict is known after a few calls
    best = {"plain": math.inf, "converted": math.inf}
    for _ in range(9):
        for name, fn in (("plain", plain), ("converted", converted)):
            took = timeit.timeit(lambda fn=fn: fn(table, "a"), number=CALLS) / CALLS
            best[name] = min(best[name], took * 1e9)
    print(f"A Python function: {best['plain']:.0f} ns a call, ", end="")
    print(f"{best['converted'] - best['plain']:+.0f} ns behind a closed gate\n")


if __name__ == "__main__":
    main()
