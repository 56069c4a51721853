"""python -m tests.fuzz --programs 20000 --seed 1: many programs, each held against itself; failures are kept, made small.

Reports as it goes, and ends with exit code 1 if there was a difference. Program number N of a run is number seed * 10**7 + N.
The programs are run by forked workers, which have TensorFlow and end after some hundred of them, so that the memory
of a long run stays flat whatever a program leaves behind, and one that crashes or hangs is one more failure.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

import tensorflow as tf

from tests.fuzz.compare import Outcome, compare
from tests.fuzz.programs import Program, generate
from tests.fuzz.shrink import shrink

# How many programs one worker runs, and the seconds without a word after which one hangs
# (to make a failure small takes long).
A_WORKER, HANGS_AFTER = 200, 900
_forked = multiprocessing.get_context("fork")


@dataclass
class Tally:
    """What has come out so far."""

    done: int = 0
    staged: int = 0
    failed: list[int] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program in the run")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="folder for what differs")
    parser.add_argument("--every", type=int, default=100, help="programs between two lines of progress")
    asked = parser.parse_args()
    start, tally = time.monotonic(), Tally()
    for number, outcome in _outcomes(asked):
        tally.done += 1
        tally.staged += outcome.staged > 0
        tally.reasons.update(outcome.reasons)
        if outcome.difference:
            tally.failed.append(number)
        if tally.done % asked.every == 0 or tally.done == asked.programs or outcome.difference:
            minutes = (time.monotonic() - start) / 60
            failed = f"differences in {tally.failed}"
            print(f"{tally.done} programs, {tally.staged} staged, {failed}, {minutes:.1f} min", flush=True)
    for reason, count in tally.reasons.most_common(20):
        print(f"{count:6} {reason[:110]}")
    return 1 if tally.failed else 0


def _outcomes(asked: argparse.Namespace) -> Iterator[tuple[int, Outcome]]:
    """Numbers of programs and what they did, as workers come to it."""
    numbers = range(asked.first, asked.first + asked.programs)
    ahead = [list(numbers[place : place + A_WORKER]) for place in range(0, len(numbers), A_WORKER)]
    at_work: dict[Connection, Worker] = {}
    while ahead or at_work:
        while ahead and len(at_work) < asked.workers:
            worker = Worker(asked, ahead.pop(0))
            at_work[worker.answers] = worker
        for answers in wait(list(at_work), timeout=5):
            worker = at_work[answers]
            worker.heard = time.monotonic()
            try:
                number, outcome = answers.recv()
            except EOFError:
                worker.process.join()
                del at_work[answers]
                if worker.left:
                    yield worker.left.pop(0), Outcome("crashed, or hung", 0)
                if worker.left:
                    ahead.insert(0, worker.left)
            else:
                worker.left.remove(number)
                yield number, outcome
        for worker in at_work.values():
            if time.monotonic() - worker.heard > HANGS_AFTER:
                worker.process.kill()


class Worker:
    """A forked process that runs some programs in their order.

    Attributes:
      answers: where each program's number and outcome come from. left: numbers of those that have not come yet.
    """

    def __init__(self, asked: argparse.Namespace, numbers: list[int]) -> None:
        self.left = numbers
        self.heard = time.monotonic()
        self.answers, ours = _forked.Pipe(duplex=False)
        self.process = _forked.Process(target=_work, args=(asked, list(numbers), ours), daemon=True)
        self.process.start()
        ours.close()


def _work(asked: argparse.Namespace, numbers: list[int], answers: Connection) -> None:
    warnings.simplefilter("ignore")  # what the programs do is odd at times
    tf.get_logger().setLevel("ERROR")
    gc.freeze()  # TensorFlow's half a million objects need not be looked at again
    for number in numbers:
        program = generate(asked.seed * 10**7 + number)
        outcome = compare(program)
        if outcome.difference:
            _keep(program, asked.failures / f"seed_{asked.seed}_program_{number}.py")
        answers.send((number, outcome))


def _keep(program: Program, path: Path) -> None:
    """Write a program down, then as small as it can be made: TensorFlow ends some of what is left by a signal."""

    def differs(source: str) -> bool:
        return bool(compare(Program(source, program.is_main)).difference)

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# is_main={program.is_main}\n{program.source}")
    source = shrink(program.source, differs)
    difference = compare(Program(source, program.is_main)).difference
    noted = "\n".join(f"# {line}" for line in difference.splitlines())
    path.write_text(f"# is_main={program.is_main}\n{source}\n\n{noted}\n")


if __name__ == "__main__":
    sys.exit(main())
