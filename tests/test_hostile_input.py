"""Input that nobody meant to give: the program does what it does under python, a setting that cannot be used costs one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autoimport import config

ROOT = str(Path(__file__).resolve().parent.parent)
F = "def f(x):\n    while x > 3:\n        x -= 1\n    return x\n"


@pytest.fixture
def environment(tmp_path):
    keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
    return {**keep, "PYTHONPATH": ROOT, "AUTOIMPORT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONHASHSEED": "0"}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def run(command, folder, environment, text=b"", around="{}"):
    """Exit code, stdout and stderr of a command, as the shell runs it in the place of the braces of `around`."""
    script = around.replace("{}", '"$@"')
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, *command],
        cwd=folder, env=environment, input=text, capture_output=True, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def assert_same(command, folder, environment, **how):
    plain = run(command, folder, environment, **how)
    for _ in range(2):
        assert run(["-m", "autoimport", *command], folder, environment, **how) == plain
    return plain


UNREADABLE = {
    "null": b"x = 1\0\n",
    "utf-16": b"# coding: utf-16\nprint(1)\n",
    "no codec": b"# coding: foo\nprint(1)\n",
    "not utf-8": b'print("\xff")\n',
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("way", ["script", "import", "stdin"])
def test_what_python_cannot_read_it_refuses_in_its_own_words(way, name, folder, environment):
    (folder / "t.py").write_bytes(UNREADABLE[name])
    (folder / "u.py").write_text("import t\n")
    command = {"script": "t.py", "import": "u.py", "stdin": "-"}[way]
    status = assert_same([command], folder, environment, text=UNREADABLE[name] if way == "stdin" else b"")[0]
    # Until 3.11.4 Python read a program only up to a null character.
    assert status == 1 or (name == "null" and way != "import" and sys.version_info < (3, 12))


READABLE = {
    "carriage returns": b"def f(x):\r    return x\rprint(f(1))\r1/0\r",
    "form feeds": b"\x0cdef f(x):\n\x0c    return x if x else 1\n\x0c\nprint(f(0))\n",
    "mark and cookie": b"\xef\xbb\xbf# coding: utf-8\nprint(1)\n",
    "cookie in line 2": b'#!/x\n# vim: set fileencoding=cp1252 :\nprint(ascii("\x80"))\n',
    "deep": b"x=" + b"(" * 300 + b")" * 300,
    "many elifs": b"x=5\nif x==0: pass\n" + b"".join(b"elif x==%d: pass\n" % i for i in range(1, 2000)) + b"print(x)\n",
    "a long sum": b"x=" + b"1+" * 3000 + b"1\nprint(x)\n",
}


@pytest.mark.parametrize("name", READABLE)
def test_odd_text_is_what_it_is_for_python(name, folder, environment):
    (folder / "t.py").write_bytes(READABLE[name])
    assert_same(["t.py"], folder, environment)
    assert_same(["-"], folder, environment, text=READABLE[name])


@pytest.mark.parametrize(
    "command",
    [[""], ["none.py"], ["folder"], ["t.py/"], ["-m", ""], ["-m", "..x"], ["-c", ""], ["-c", "print('\udcff')"]],
)
def test_a_program_that_is_none_is_reported_as_by_python(command, folder, environment):
    (folder / "folder").mkdir()
    (folder / "t.py").touch()
    assert_same(command, folder, environment)


@pytest.mark.parametrize("around", ["{} >&-", "{} 2>&-", "{} <&- >&- 2>&-", "{} >/dev/full"])
def test_closed_and_full_streams_are_python_s_affair(around, folder, environment):
    (folder / "t.py").write_text("import sys\nprint(1)\nsys.stderr and sys.stderr.write('e')\n1 / 0\n")
    assert_same(["t.py"], folder, environment, around=around)


def test_no_standard_input_is_an_empty_program(folder, environment):
    assert_same(["-"], folder, environment, around="{} <&-")


@pytest.mark.parametrize("command", [["-c", "print(1)"], ["t.py"], ["{there}"], ["-"], ["."]])
def test_a_directory_that_has_been_deleted_is_no_obstacle(command, folder, environment):
    (folder / "t.py").write_text("import os\ntry: os.getcwd()\nexcept OSError as error: print(error)\n")
    command = [word.format(there=folder / "t.py") for word in command]
    assert_same(command, folder, environment, around="mkdir -p gone && cd gone && rmdir ../gone && {}")


@pytest.mark.parametrize(
    "name",
    ["ast", "copy", "dis", "hashlib", "typing", "tokenize", "queue", "cache", "config", "gast", "tomllib", "tomli"],
)
def test_files_named_like_what_we_need_are_the_program_s_only(name, folder, environment):
    (folder / "pyproject.toml").write_text("[tool.autoimport]\n")
    (folder / f"{name}.py").write_text(f"import sys\nprint(__name__, '{name}' in sys.modules)\n{F}print(f(5))\n")
    (folder / "use.py").write_text(f"import {name}\nprint({name}.__file__)\n{F}print(f(5))\n")
    assert_same([f"{name}.py"], folder, environment)
    assert_same(["use.py"], folder, environment)


@pytest.mark.parametrize(
    "text",
    [
        b"[tool.autoimport.packages]\na = 1\n",
        b"[tool]\nautoimport = [1]\n",
        b"[[tool.autoimport]]\nstrict = true\n",
        b'[tool.autoimport]\ncache_dir = "a\\u0000b"\n',
        b'[tool.autoimport]\npackages = ["\xff"]\n',
        b'[tool.autoimport]\n"a\\nb" = 1\n',
        b"autoimport = " + b"[" * 5000 + b"]" * 5000,
        b"[tool.autoimport\n",
    ],
)
def test_a_configuration_that_cannot_be_used_costs_one_line(text, tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(text)
    with pytest.raises(config.ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    said = re.sub(r"'|:\d+(?=: tool)", "", str(error.value))
    assert said.startswith(str(tmp_path / "pyproject.toml: tool.autoimport"))
    assert str(error.value).isprintable()


def test_a_tool_table_that_is_none_is_not_ours(tmp_path):
    (tmp_path / "pyproject.toml").write_text('tool = "autoimport"\n')
    assert config.load(str(tmp_path), {}, {}) == config.Options()


def test_a_folder_or_a_pipe_named_pyproject_is_none(tmp_path):
    (tmp_path / "a" / "pyproject.toml").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / "pyproject.toml")
    assert config.load(str(tmp_path / "a"), {}, {}) == config.load(str(tmp_path / "b"), {}, {}) == config.Options()
