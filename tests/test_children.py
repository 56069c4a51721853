"""Processes that a converted program starts: they convert what it converts, however they are started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PTH = (ROOT / "autoimport" / "autoimport_startup.pth").read_text()
PROGRAM = """
import multiprocessing, os, subprocess, sys
import mine

def work(x):
    while x > 1:
        x -= 1
    return x, "@enter" in work.__code__.co_names, "@enter" in mine.f.__code__.co_names, __name__

if __name__ == "__main__":
    method = sys.argv[1]
    if method == "subprocess":
        sys.stdout.flush()
        subprocess.run([sys.executable, "child.py"], check=True)
    else:
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(pool.map(work, [3]), sys.path[0] == os.path.dirname(os.path.abspath(__file__)))
"""


@pytest.fixture
def folder(tmp_path):
    """A program in a directory that is not the current one, and a site in which the start-up file works."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine.py").write_text("def f(x):\n    return 1 if x else 2\n")
    (tmp_path / "work" / "train.py").write_text(PROGRAM)
    (tmp_path / "child.py").write_text("def g(x):\n    return 1 if x else 2\nprint('@enter' in g.__code__.co_names)\n")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(PTH)
    return tmp_path


def run(folder, command, **more):
    keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
    path = os.pathsep.join([str(folder / "site"), str(ROOT)])
    environment = {**keep, "PYTHONPATH": path, "AUTOIMPORT_CACHE_DIR": str(folder / "cache"), **more}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("way", ["command", "toggle"])
def test_workers_of_multiprocessing_convert(method, way, folder):
    name = "__main__" if method == "fork" else "__mp_main__"
    command = ["work/train.py", method]
    if way == "command":
        out = run(folder, ["-m", "autoimport", "--strict", *command])
    else:
        out = run(folder, command, AUTOIMPORT="1")
    assert out == f"[(1, True, True, '{name}')] True\n"


def test_workers_of_a_module_convert(folder):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").touch()
    (folder / "pkg" / "train.py").write_text(PROGRAM.replace("import mine", "import pkg.mine as mine"))
    (folder / "work" / "mine.py").rename(folder / "pkg" / "mine.py")
    out = run(folder, ["-m", "autoimport", "-m", "pkg.train", "spawn"])
    assert out.startswith("[(1, True, True, '__mp_main__')]")


def test_other_python_programs_convert(folder):
    assert run(folder, ["-m", "autoimport", "work/train.py", "subprocess"]) == "True\n"


def test_workers_are_plain_where_the_program_is(folder):
    out = run(folder, ["-m", "autoimport", "work/train.py", "spawn"], AUTOIMPORT="0")
    assert out == "[(1, False, False, '__mp_main__')] True\n"


def test_options_of_the_command_line_reach_workers(folder):
    out = run(folder, ["-m", "autoimport", "--exclude", "mine", "work/train.py", "spawn"])
    assert out == "[(1, True, False, '__mp_main__')] True\n"


def test_a_worker_has_the_compile_of_python_again(folder):
    (folder / "work" / "train.py").write_text(
        PROGRAM.replace(
            "    while x > 1:", '    import runpy\n    assert "compile" not in vars(runpy)\n    while x > 1:'
        )
    )
    assert run(folder, ["-m", "autoimport", "work/train.py", "spawn"]).startswith("[(1, True, True")


def test_workers_convert_beside_a_file_named_like_a_package_that_we_need(folder):
    (folder / "work" / "gast.py").write_text("1 / 0\n")
    assert run(folder, ["-m", "autoimport", "work/train.py", "spawn"]).startswith("[(1, True, True")
