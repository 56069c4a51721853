"""What the command adds to the start of a program that does nothing.

Run as `python -m tests.bench.startup`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import autoimport": ["-c", "import autoimport"],
    "python -m autoimport -c pass": ["-m", "autoimport", "-c", "pass"],
}


def median_ms(arguments: list[str], repeat: int = 15) -> float:
    """The median wall time of a whole process."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def main() -> None:
    print("Start-up, whole process")
    baseline = None
    for title, arguments in COMMANDS.items():
        took = median_ms(arguments)
        baseline = took if baseline is None else baseline
        print(f"{title:32}{took:8.1f} ms{took - baseline:+8.1f} ms")
    print()


if __name__ == "__main__":
    main()
