"""Debuggers, tracers and profilers see the person's functions and lines, and nothing of ours among them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PTH = (ROOT / "autoimport" / "autoimport_startup.pth").read_text()
MINE = "def f(x):\n    while x > 3:\n        x -= 1\n    return x\n\ndef g(x):\n    return f(x) + f(x)\n"


@pytest.fixture
def folder(tmp_path):
    """A program, and a site in which the start-up file works."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "train.py").write_text("import mine\nfor _ in range(40):\n    mine.g(9)\nprint(mine.g(9))\n")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(PTH)
    return tmp_path


def run(command, folder, typed="", **more):
    keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
    path = os.pathsep.join([str(folder / "site"), str(ROOT)])
    environment = {**keep, "PYTHONPATH": path, "AUTOIMPORT_CACHE_DIR": str(folder / ".cache"), **more}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, input=typed, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


CALLS = (
    "import pstats; print(sorted((file.rpartition('/')[2], name, row[1]) for (file, _, name), row in "
    "pstats.Stats('profile').stats.items() if row[1] >= 40))"
)


@pytest.mark.parametrize(
    ("command", "more"),
    [
        (["-m", "cProfile", "-o", "profile", "-m", "autoimport", "train.py"], {}),
        (["-m", "cProfile", "-o", "profile", "train.py"], {"AUTOIMPORT": "1"}),
    ],
    ids=["command", "toggle"],
)
def test_a_profile_has_the_calls_of_the_program(command, more, folder):
    assert run(["-m", "cProfile", "-o", "profile", "train.py"], folder) == "6\n"
    counts = [row for row in eval(run(["-c", CALLS], folder)) if row[0] == "mine.py"]
    assert counts == [("mine.py", "f", 82), ("mine.py", "g", 41)]
    assert run(command, folder, **more) == "6\n"
    ours = eval(run(["-c", CALLS], folder))
    assert [row for row in ours if row[0] == "mine.py"] == counts
    assert not any(row[0] in ("gate.py", "dispatch.py", "watching.py") or row[1] == "enter" for row in ours)


def test_a_debugger_steps_into_nothing_but_the_program(folder):
    typed = "b mine.g\nc\n" + "s\n" * 40 + "q\n"
    plain = run(["-m", "pdb", "train.py"], folder, typed)
    assert "mine.py(1)f()" in plain
    assert run(["-m", "pdb", "train.py"], folder, typed, AUTOIMPORT="1") == plain


def test_a_tracer_that_was_there_before_sees_the_same_calls(folder):
    (folder / "go.py").write_text(
        "import sys\nsys.argv = sys.argv[1:]\nsys.path.insert(0, '.')\nimport runpy\n"
        "calls = []\n"
        "def tracer(frame, event, arg):\n"
        "    if frame.f_code.co_name == 'g' or calls:\n"
        "        calls.append((frame.f_code.co_name, frame.f_lineno))\n"
        "if len(sys.argv) > 1:\n    import autoimport; autoimport.install('mine')\n"
        "sys.settrace(tracer)\nimport mine\nmine.g(9)\nsys.settrace(None)\nprint(calls)\n"
    )
    plain = run(["go.py", "train.py"], folder)
    assert plain == "[('g', 6), ('f', 1), ('f', 1)]\n"
    assert run(["go.py", "train.py", "converted"], folder) == plain


def test_the_report_says_why_nothing_became_a_graph(folder):
    command = ["-m", "cProfile", "-o", "profile", "-m", "autoimport", "--report-json", "report.json", "train.py"]
    run(command, folder)
    assert (folder / "report.json").read_text().count(
        "a debugger, a line tracer or a profiler was at work when the program started"
    ) == 2
