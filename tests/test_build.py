"""`python -m autoimport build` and `cache`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autoimport import build, config

ROOT = Path(__file__).resolve().parent.parent
FUNCTION = "def f(x):\n    return 1 if x else 2\n"


@pytest.fixture
def folder(tmp_path):
    for number in range(4):
        (tmp_path / "app" / "pkg").mkdir(parents=True, exist_ok=True)
        (tmp_path / "app" / "pkg" / f"m{number}.py").write_text(FUNCTION + f"x = {number}\n")
    (tmp_path / "app" / "pkg" / "__init__.py").touch()
    (tmp_path / "app" / ".venv").mkdir()
    (tmp_path / "app" / ".venv" / "hidden.py").write_text(FUNCTION)
    (tmp_path / "app" / "env").mkdir()
    (tmp_path / "app" / "env" / "pyvenv.cfg").touch()
    (tmp_path / "app" / "env" / "library.py").write_text(FUNCTION)
    (tmp_path / "app" / "train.py").write_text(
        "import pkg.m0\n" + FUNCTION + "if __name__ == '__main__': print('@enter' in f.__code__.co_names)\n"
    )
    return tmp_path


def run(folder, *words, **more):
    keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
    environment = {**keep, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'app'}"}
    environment = {**environment, "AUTOIMPORT_CACHE_DIR": str(folder / "cache"), **more}
    done = subprocess.run(
        [sys.executable, "-m", "autoimport", *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def kept(folder):
    return f"in {folder / 'cache'}\n"


def test_a_directory_is_converted_once_without_hidden_folders_and_environments(folder):
    # Six modules, and train.py once more as the program that it can be.
    assert run(folder, "build", "app") == (0, "7 converted, 0 there already, 0 left as they are, " + kept(folder), "")
    assert run(folder, "build", "app") == (0, "0 converted, 7 there already, 0 left as they are, " + kept(folder), "")


def test_what_was_built_is_what_a_program_loads(folder):
    run(folder, "build", "app")
    report = str(folder / "report.json")
    assert run(folder, "--report-json", report, "app/train.py") == (0, "True\n", "")
    modules = Path(report).read_text().partition('"modules"')[2]
    assert modules.count('"cached": true') == 3 and '"cached": false' not in modules


def test_a_package_a_module_and_a_distribution_are_found_without_an_import(folder):
    (folder / "app" / "pkg" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    assert run(folder, "build", "pkg")[1].startswith("5 converted")
    assert run(folder, "build", "pkg.m1", "pkg.m2")[1].startswith("0 converted, 2 there already")
    info = folder / "app" / "some_dist-1.0.dist-info"
    info.mkdir()
    (info / "top_level.txt").write_text("pkg\n")
    assert run(folder, "build", "Some-Dist")[1].startswith("0 converted, 5 there already")


def test_several_processes_share_the_work(folder):
    for number in range(40):
        (folder / "app" / f"more{number}.py").write_text(FUNCTION + f"y = {number}\n")
    (folder / "gast.py").write_text("1 / 0\n")  # in the current directory, it is somebody's own
    assert run(folder, "build", "--jobs", "2", "app")[1].startswith("47 converted, 0 there already, 0 left")


def test_what_is_no_python_is_named_and_the_rest_is_built(folder):
    broken = folder / "app" / "broken.py"
    broken.write_text("x = 1\ndef f(:\n")
    # May be run as a program, too, and is told once.
    (folder / "app" / "zero.py").write_bytes(b"__main__ = 0\0\n")
    code, out, err = run(folder, "build", "app")
    assert (code, out[:44]) == (0, "7 converted, 0 there already, 3 left as they")
    first, second = err.splitlines()
    assert first == f"autoimport: build: {broken}:2: not Python that can be read (invalid syntax)"
    assert second.startswith(f"autoimport: build: {folder / 'app' / 'zero.py'}") and "null bytes" in second


def test_a_folder_that_cannot_be_written_to_is_told_once(folder):
    (folder / "note").touch()
    code, out, err = run(folder, "build", "app", AUTOIMPORT_CACHE_DIR=str(folder / "note"))
    assert (code, out[:44]) == (1, "0 converted, 0 there already, 7 left as they")
    message = f"{folder / 'note'} is not a folder: nothing is kept; set another cache_dir"
    assert err == f"autoimport: build: {message}\n"


def test_a_folder_that_was_built_can_be_shared(folder):
    run(folder, "build", "--cache-dir", "image", "app")
    more = {"AUTOIMPORT_CACHE_SHARED": str(folder / "image")}
    report = str(folder / "report.json")
    assert run(folder, "--report-json", report, "app/train.py", **more) == (0, "True\n", "")
    assert '"cached": false' not in Path(report).read_text()
    assert not (folder / "cache").exists()


def test_the_folder_is_described_pruned_and_emptied(folder):
    run(folder, "build", "app")
    (folder / "cache" / "note.txt").touch()
    assert run(folder, "cache", "path") == (0, f"{folder / 'cache'}\n", "")
    code, out, err = run(folder, "cache", "info")
    assert (code, err) == (0, "") and out.splitlines()[:3] == [
        f"folder   {folder / 'cache'}",
        "modules  7",
        "learned  0 of them",
    ]
    assert run(folder, "cache", "prune") == (0, "0 modules removed, 0.0 MB freed\n", "")
    assert run(folder, "cache", "prune", "--cache-size", "0")[1].startswith("7 modules removed")
    assert run(folder, "cache", "clear") == (0, "0 modules removed, 0.0 MB freed\n", "")
    assert os.listdir(folder / "cache") == ["note.txt"]


def test_a_folder_that_cannot_be_used_is_told(folder):
    (folder / "note").touch()
    reason = f"{folder / 'note'} is not a folder: nothing is kept; set another cache_dir"
    more = {"AUTOIMPORT_CACHE_DIR": str(folder / "note")}
    for action in ("info", "clear", "prune"):
        assert run(folder, "cache", action, **more)[2] == f"autoimport: cache: {reason}\n"
    assert run(folder, "--report", "app/train.py", **more)[2].splitlines()[-1] == f"cache: {reason}"


def test_what_cannot_be_removed_is_told(folder, monkeypatch, capsys):
    run(folder, "build", "app")

    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.setattr(config, "_current", config.Options(cache_dir=str(folder / "cache")))
    assert build.tend(["clear"]) == ("0 modules removed, 0.0 MB freed", 1)
    assert capsys.readouterr().err == f"autoimport: cache: {folder / 'cache'}: 7 modules cannot be removed\n"


def test_a_package_that_conversion_needs_is_asked_for(folder):
    (folder / "app" / "gast.py").write_text("raise ModuleNotFoundError('as if not installed', name=__name__)\n")
    message = "autoimport: build: gast is missing: pip install autoimport-tensorflow\n"
    assert run(folder, "build", "app") == (2, "", message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cache"], "cache: use one of info, clear, prune, path"),
        (["cache", "burn"], "cache: burn: unknown; use one of info, clear, prune, path"),
        (["cache", "info", "more"], "cache: more: unknown; nothing follows info"),
        (["build"], "build: name packages, distributions or directories"),
        (["build", "no_such"], "build: no_such: neither a directory nor an installed package with source files"),
        (["build", "app/train.py"], "build: app/train.py: a file; name its directory: build app"),
        (["build", "--jobs", "none", "app"], "build: --jobs: use a whole number from 1"),
        (["build", "--cache-size", "x", "app"], "command line: --cache-size: 'x' is not allowed; use a whole number from 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line_and_exit_code_2(words, message, folder):
    assert run(folder, *words) == (2, "", f"autoimport: {message}\n")


@pytest.mark.parametrize("command", ["build", "cache"])
def test_each_command_has_its_help(command, folder):
    code, out, err = run(folder, command, "--help")
    assert (code, err) == (0, "") and out.startswith(f"usage: python -m autoimport {command} [")
    code, out, err = run(folder, command, "--speed")
    assert (code, out) == (2, "") and "--help" in err


def test_a_program_of_that_name_is_a_program(folder):
    (folder / "build").write_text("print('mine')\n")
    assert run(folder, "build", "app") == (0, "mine\n", "")
    (folder / "cache").mkdir(mode=0o700, exist_ok=True)
    (folder / "cache" / "__main__.py").write_text("print('mine, too')\n")
    assert run(folder, "cache", "clear") == (0, "mine, too\n", "")
