"""Every example prints under autoimport what it prints under plain Python, and its functions run as graphs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
EVERY_FUNCTION_SOON = {"AUTOIMPORT_STAGE_AFTER": "1"}

# example -> the functions that must have been graphs, all with AUTOIMPORT_STAGE_AFTER=1
GRAPHS = {
    "assertions": {"mean_of_positives", "square_root"},
    "changing_global": {"score"},
    "collatz": {"collatz"},
    "control_flow_heavy": {"roll", "bounce"},
    "huber_loss": {"descend", "mean_loss", "huber"},
    "keras_model": {"Refining.call"},
    "list_building": {"powers", "above", "running_sums"},
    "loop_over_rows": {"farthest_by_loop", "farthest_at_once"},
    "matrix_products": {"largest_eigenvalue"},
    "nested_control_flow": {"count_primes", "first_gap"},
    "plain_loop": {"<module>"},
    "print_every_call": {"improve"},
    "recurrent_network": {"train", "Network.scores", "accuracy"},
    "small_cnn": {"train_step", "count_right"},
}
# example -> what plain Python needs to run it at all
PLAIN_ARGUMENTS = {"keras_model": ["--run-eagerly"]}


@dataclass(frozen=True)
class Run:
    """One finished program."""

    status: int
    stdout: bytes
    stderr: str
    report: dict[str, Any]

    def graphs(self) -> set[str]:
        """The functions, and the code at top level, that have been graphs."""
        return {site["name"] for site in self.report["sites"] if site["state"] == "graph"}


class Programs:
    """Runs programs in processes that share one import of TensorFlow (see fork_server.py)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plain_runs: dict[str, Run] = {}
        self.server = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "fork_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **ENVIRONMENT},
        )

    def run(self, argv: list[str], env: dict[str, str]) -> Run:
        stdout, stderr, report = (self.folder / name for name in ("stdout", "stderr", "report.json"))
        report.unlink(missing_ok=True)
        names = {"stdout": str(stdout), "stderr": str(stderr), "cwd": str(ROOT)}
        env = {"AUTOIMPORT_CACHE_DIR": str(self.folder / "cache"), **env}
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps({"argv": argv, "env": env, **names}) + "\n")
        self.server.stdin.flush()
        status = int(self.server.stdout.readline())
        written = json.loads(report.read_text()) if report.exists() else {"sites": []}
        return Run(status, stdout.read_bytes(), stderr.read_text(), written)

    def plain(self, example: str) -> Run:
        if example not in self.plain_runs:
            arguments = PLAIN_ARGUMENTS.get(example, [])
            self.plain_runs[example] = self.run([str(EXAMPLES / f"{example}.py"), *arguments], {})
        return self.plain_runs[example]

    def ours(self, example: str, env: dict[str, str]) -> Run:
        options = ["--report-json", str(self.folder / "report.json")]
        return self.run(["-m", "autoimport", *options, str(EXAMPLES / f"{example}.py")], env)

    def close(self) -> None:
        self.server.communicate()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    programs = Programs(tmp_path_factory.mktemp("examples"))
    yield programs
    programs.close()


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(GRAPHS)


@pytest.mark.parametrize("example", sorted(GRAPHS))
def test_example_prints_what_plain_python_prints(programs: Programs, example: str) -> None:
    expected = programs.plain(example)
    assert expected.status == 0, expected.stderr
    run = programs.ours(example, {})
    assert (run.status, run.stdout) == (0, expected.stdout), run.stderr


@pytest.mark.parametrize("example", sorted(GRAPHS))
def test_functions_of_example_are_graphs_and_print_the_same(programs: Programs, example: str) -> None:
    run = programs.ours(example, EVERY_FUNCTION_SOON)
    assert (run.status, run.stdout) == (0, programs.plain(example).stdout), run.stderr
    assert GRAPHS[example] <= run.graphs(), [
        (site["name"], site["state"], site["reason"]) for site in run.report["sites"]
    ]


def test_example_runs_as_its_first_line_in_the_readme_says(tmp_path: Path) -> None:
    example = os.path.join("examples", "collatz.py")
    env = {**os.environ, **ENVIRONMENT, "AUTOIMPORT_CACHE_DIR": str(tmp_path)}
    plain, ours = (
        subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, check=True)
        for command in ([example], ["-m", "autoimport", "--report", example])
    )
    assert ours.stdout == plain.stdout
    assert b"collatz" in ours.stderr


def test_keras_model_raises_under_plain_python(programs: Programs) -> None:
    run = programs.run([str(EXAMPLES / "keras_model.py")], {})
    assert run.status == 1
    assert "symbolic" in run.stderr
