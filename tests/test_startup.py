"""`AUTOIMPORT` in the environment: plain `python` with autoimport at work."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autoimport import config

ROOT = Path(__file__).resolve().parent.parent
PTH = (ROOT / "autoimport" / "autoimport_startup.pth").read_text()
CHECK = "def f(x):\n    if x:\n        return 1\n    return 2\nif f.__code__.co_names: print(__name__)\n"


@pytest.fixture
def environment(tmp_path):
    """An environment in which the line of the .pth file runs at the end of `site`, installed or not."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(PTH)
    keep = {name: value for name, value in os.environ.items() if not name.startswith("AUTOIMPORT")}
    return {
        **keep,
        "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
        "AUTOIMPORT_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONHASHSEED": "0",
    }


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def run(command, folder, environment, text=b"", toggle="1"):
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**environment, "AUTOIMPORT": toggle},
        input=text,
        capture_output=True,
        timeout=60,
    )
    hidden = re.compile(rb"0x[0-9a-f]+")
    return result.returncode, hidden.sub(b"0x", result.stdout), hidden.sub(b"0x", result.stderr)


def assert_same(command, folder, environment, text=b""):
    plain = run(command, folder, environment, text, toggle="0")
    for _ in range(2):
        assert run(command, folder, environment, text) == plain
    return plain


def test_the_line_is_one_that_site_runs():
    assert PTH.startswith("import ") and PTH.count("\n") == 1


@pytest.mark.parametrize("toggle", ["", "0"])
def test_off_means_that_nothing_of_ours_is_loaded(toggle, folder, environment):
    (folder / "train.py").write_text("import sys\nprint([name for name in sys.modules if 'autoimport' in name])\n")
    assert run(["train.py"], folder, environment, toggle=toggle) == (0, b"[]\n", b"")


@pytest.mark.parametrize("word", config.SWITCH_WORDS)
def test_the_words_of_a_switch_turn_it_on_and_off(word, folder, environment):
    (folder / "train.py").write_text(CHECK)
    expected = b"__main__\n" if config.SWITCH_WORDS[word] else b""
    assert run(["train.py"], folder, environment, toggle=word.title()) == (0, expected, b"")


def test_the_line_of_the_pth_file_knows_every_word_for_off():
    def starts(word):
        started = []
        startup = SimpleNamespace(startup=SimpleNamespace(start=lambda: started.append(word)))
        system = SimpleNamespace(environ={"AUTOIMPORT": word.upper()})
        exec(PTH, {"__builtins__": {"__import__": lambda name, *_: system if name == "os" else startup}})
        return bool(started)

    assert {word: starts(word) for word in config.SWITCH_WORDS} == config.SWITCH_WORDS
    assert not starts("")


def test_the_script_and_its_tree_are_converted(folder, environment):
    (folder / "mine.py").write_text(CHECK)
    (folder / "train.py").write_text("import mine\n" + CHECK)
    assert run(["train.py"], folder, environment) == (0, b"mine\n__main__\n", b"")


def test_the_toggle_can_name_packages(folder, environment):
    for name in ("a", "b", "c"):
        (folder / f"{name}.py").write_text(CHECK)
    (folder / "train.py").write_text("import a, b, c\n" + CHECK)
    assert run(["train.py"], folder, environment, toggle="a,c") == (0, b"a\nc\n__main__\n", b"")


@pytest.mark.parametrize("command", [["-m", "mod"], ["-mmod"], ["-Bm", "mod"], ["app"]])
def test_a_main_module_that_is_imported_is_converted_too(command, folder, environment):
    (folder / "mod.py").write_text(CHECK)
    (folder / "app").mkdir()
    (folder / "app" / "__main__.py").write_text(CHECK)
    assert run(command, folder, environment) == (0, b"__main__\n", b"")


def test_imports_of_a_command_are_converted(folder, environment):
    (folder / "mine.py").write_text(CHECK)
    assert run(["-c", "import mine"], folder, environment) == (0, b"mine\n", b"")


PROGRAMS = {
    "everything it can see": """import sys
print(__name__, __file__, __spec__, __loader__, __package__, __doc__, __builtins__, list(globals()))
print(sys.modules["__main__"].__dict__ is globals(), sys.argv, sys.path, sys.path_hooks, sys.orig_argv)
""",
    "an exception": "def f(x):\n    if x:\n        return 1 / 0\nprint('x')\nf(1)\n",
    "an import error": "import no_such_module_at_all\n",
    "a syntax error": "def f(:\n",
    "exit 3": "import sys\nsys.exit(3)\n",
    "exit with text": "import sys\nsys.exit('reason')\n",
    "an interrupt": "raise KeyboardInterrupt\n",
    "exit handlers": """import atexit, sys
atexit.register(lambda: print("bye", "__file__" in globals(), sys.modules["__main__"].__dict__ is globals()))
""",
    "a thread that outlives the program": """import threading, time, sys
def work():
    time.sleep(0.1)
    print(sys.modules["__main__"].__dict__ is globals())
threading.Thread(target=work).start()
""",
    "multiprocessing": """import multiprocessing
def work(x):
    return x * 2 if x else None
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [0, 1, 2]))
""",
    "pickling": """import pickle
class A:
    pass
print(type(pickle.loads(pickle.dumps(A()))) is A)
""",
    "latin": b"x = '\xe9'\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_without_the_toggle(name, folder, environment):
    text = PROGRAMS[name]
    (folder / "train.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert_same(["train.py", "a"], folder, environment)
    assert_same(["./train.py"], folder, {**environment, "PYTHONSAFEPATH": "1"})


@pytest.mark.parametrize(
    "command", [["-c", "print(1); 1/0"], ["-"], ["missing.py"], ["-m", "missing"], ["-V"], ["empty"]]
)
def test_what_is_no_script_runs_as_without_the_toggle(command, folder, environment):
    (folder / "empty").mkdir()
    assert_same(command, folder, environment, b"print(2)\n1/0\n")


def test_a_prompt_after_the_script_finds_its_names(folder, environment):
    (folder / "train.py").write_text("x = 41\n")
    code, out, err = run(["-i", "train.py"], folder, environment, b"print(x + 1)\n")
    assert (code, out) == (0, b"42\n")


def test_the_command_under_the_toggle_runs_as_ever(folder, environment):
    (folder / "train.py").write_text(
        "import sys\nprint(len([f for f in sys.meta_path if 'Finder' == type(f).__name__]))\n" + CHECK
    )
    assert run(["-m", "autoimport", "train.py"], folder, environment) == (0, b"1\n__main__\n", b"")


def test_a_bad_setting_is_one_line_and_the_program_runs(folder, environment):
    (folder / "train.py").write_text(CHECK)
    code, out, err = run(["train.py"], folder, {**environment, "AUTOIMPORT_STRICT": "7"})
    assert (code, out) == (0, b"")
    assert err == (
        b"autoimport: environment: AUTOIMPORT_STRICT: '7' is not allowed; use true or false (running plain Python)\n"
    )


@pytest.mark.parametrize("beside", ["mine.py", "queue.py"])
def test_a_package_that_conversion_needs_is_asked_for_once(beside, folder, environment):
    (folder / beside).write_text(CHECK)
    (folder / "train.py").write_text(f"import {beside[:-3]}\n" + CHECK)
    site = Path(environment["PYTHONPATH"].partition(os.pathsep)[0])
    (site / "gast.py").write_text("raise ModuleNotFoundError('as if not installed', name=__name__)\n")
    message = b"autoimport: gast is missing: pip install autoimport-tensorflow (running plain Python)\n"
    assert run(["train.py"], folder, environment) == (0, b"", message)


def test_a_fault_at_start_up_is_one_line_and_the_program_runs(monkeypatch, capfd):
    from autoimport import session, startup

    def begin(*args):
        raise RuntimeError("broken")

    monkeypatch.setattr(session, "begin", begin)
    monkeypatch.setattr(startup, "_is_started", False)
    startup.start()
    assert capfd.readouterr().err == "autoimport: could not start (RuntimeError: broken); running plain Python\n"


def test_the_report_of_the_environment_is_written(folder, environment):
    (folder / "train.py").write_text("1 / 0\n")
    environment["AUTOIMPORT_REPORT_JSON"] = "r.json"
    assert run(["train.py"], folder, environment)[0] == 1
    report = json.loads((folder / "r.json").read_text())
    assert [module["name"] for module in report["modules"]] == ["__main__"] and report["left_alone"] == {}


def test_a_tool_of_the_environment_is_not_the_persons_program(folder, environment, tmp_path):
    tools = tmp_path / "site-packages"
    tools.mkdir()
    (tools / "tool.py").write_text(CHECK)
    assert run([str(tools / "tool.py")], folder, environment) == (0, b"", b"")
