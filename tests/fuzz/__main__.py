"""python -m tests.fuzz --programs 20000 --seed 1: many programs, each held against itself; failures are kept, made small.

Reports as it goes, and ends with exit code 1 if there was a difference. Program number N of a run is number seed * 10**7 + N.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

from tests.fuzz.compare import compare
from tests.fuzz.programs import Program, generate
from tests.fuzz.shrink import shrink


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program in the run")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="folder for what differs")
    parser.add_argument("--every", type=int, default=100, help="programs between two lines of progress")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # what the programs do is odd at times
    start = time.monotonic()
    staged, failed = 0, []
    reasons: Counter[str] = Counter()
    for number in range(asked.first, asked.first + asked.programs):
        program = generate(asked.seed * 10**7 + number)
        outcome = compare(program)
        staged += outcome.staged > 0
        reasons.update(outcome.reasons)
        if outcome.difference:
            failed.append(number)
            _keep(program, asked.failures / f"seed_{asked.seed}_program_{number}.py")
        done = number - asked.first + 1
        if done % asked.every == 0 or done == asked.programs or outcome.difference:
            minutes = (time.monotonic() - start) / 60
            print(f"{done} programs, {staged} staged, differences in {failed}, {minutes:.1f} min", flush=True)
    for reason, count in reasons.most_common(20):
        print(f"{count:6} {reason[:110]}")
    return 1 if failed else 0


def _keep(program: Program, path: Path) -> None:
    """Write a program down, as small as it can be made."""

    def differs(source: str) -> bool:
        return bool(compare(Program(source, program.is_main)).difference)

    source = shrink(program.source, differs)
    difference = compare(Program(source, program.is_main)).difference
    path.parent.mkdir(parents=True, exist_ok=True)
    noted = "\n".join(f"# {line}" for line in difference.splitlines())
    path.write_text(f"# is_main={program.is_main}\n{source}\n\n{noted}\n")


if __name__ == "__main__":
    sys.exit(main())
