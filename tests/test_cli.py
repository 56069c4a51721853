"""The command: a program runs as under python, to the byte."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parent.parent)


@pytest.fixture
def environment(tmp_path):
    keep = {name: value for name, value in os.environ.items() if not name.startswith("AUTOIMPORT")}
    return {**keep, "PYTHONPATH": ROOT, "AUTOIMPORT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONHASHSEED": "0"}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work dir"
    folder.mkdir()
    return folder


def run(command, folder, environment, text=None, merged=False):
    """Exit code, stdout and stderr (both in one, in order, if merged) of a command."""
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        input=text or b"",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        timeout=60,
    )
    hidden = re.compile(rb"0x[0-9a-f]+")
    return result.returncode, hidden.sub(b"0x", result.stdout), hidden.sub(b"0x", result.stderr or b"")


def assert_same(command, folder, environment, python_options=(), text=None):
    """Plain python and the command do the same, with a cold and with a warm cache, streams apart and together."""
    for merged in (False, True):
        plain = run([*python_options, *command], folder, environment, text, merged)
        for _ in range(2):
            ours = run([*python_options, "-m", "autoimport", *command], folder, environment, text, merged)
            assert ours == plain
    return plain


PROGRAMS = {
    "everything it can see": """
        import sys
        print(__name__, __file__, __spec__, __loader__, __package__, __doc__, __builtins__)
        print(list(globals()), sys.modules["__main__"].__dict__ is globals())
        print(sys.argv, sys.path, sys.flags)
        print(sys.meta_path[-1], sys.exc_info(), sys.excepthook is sys.__excepthook__)
        """,
    "an exception": """
        def f(x):
            if x > 0:
                return f(x - 1)
            raise ValueError("no more")
        print("before")
        f(3)
        """,
    "a chain of exceptions": """
        def g():
            try:
                1 / 0
            except ZeroDivisionError as error:
                raise KeyError("second") from error
        try:
            g()
        except KeyError:
            undefined_name
        """,
    "an exception group or a note": """
        import sys
        error = ValueError("v")
        if sys.version_info >= (3, 11):
            error.add_note("a note")
            raise ExceptionGroup("group", [error])
        raise error
        """,
    "a syntax error": "x = 1\ndef f(:\n    pass\n",
    "an indentation error": "def f():\nreturn 1\n",
    "a compiler's error": "x = 1\nreturn x\n",
    "compiler warnings": "x = 1 is 1\nprint('\\d')\n",
    "an import that fails": "import no_such_module_at_all\n",
    "exit 3": "import sys\nsys.exit(3)\n",
    "exit with text": "raise SystemExit('a reason')\n",
    "exit with None": "raise SystemExit\n",
    "exit with an object": "raise SystemExit([1, 2])\n",
    "exit in a function": """
        import sys
        def f(x):
            try:
                sys.exit(x)
            finally:
                print("finally")
        f(4)
        """,
    "os._exit": "import os\nprint('x', flush=True)\nos._exit(5)\n",
    "exit handlers": """
        import atexit
        def handler():
            print("bye", "__file__" in globals(), __name__)
        atexit.register(handler)
        """,
    "exit handlers after exit": """
        import atexit, sys
        atexit.register(lambda: print("bye", "__file__" in globals()))
        sys.exit(1)
        """,
    "exit handlers after an exception": """
        import atexit, sys
        atexit.register(lambda: print("bye", "__file__" in globals(), sys.last_type, sys.last_value))
        1 / 0
        """,
    "a thread that outlives the program": """
        import threading, time
        def work():
            time.sleep(0.1)
            print("thread done")
        threading.Thread(target=work).start()
        print("main done")
        """,
    "an exception in a thread": """
        import threading
        def work():
            raise ValueError("in a thread")
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        """,
    "an exception hook": """
        import sys
        def hook(kind, value, tb):
            print("hook", kind, value, tb.tb_frame.f_code.co_name, tb.tb_lineno, sys.exc_info())
        sys.excepthook = hook
        [][1]
        """,
    "an exception hook that fails": """
        import sys
        def hook(kind, value, tb):
            raise RuntimeError("in the hook")
        sys.excepthook = hook
        [][1]
        """,
    "no exception hook": "import sys\ndel sys.excepthook\n[][1]\n",
    "None for an exception hook": "import sys\nsys.excepthook = None\n[][1]\n",
    "an exception hook that exits": """
        import sys
        sys.excepthook = lambda *args: sys.exit(7)
        [][1]
        """,
    "an interrupt": "print('before')\nraise KeyboardInterrupt\n",
    "a signal": """
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may have it ignored
        signal.raise_signal(signal.SIGINT)
        """,
    "pickling": """
        import pickle
        class A:
            def __init__(self, x):
                self.x = x if x else None
        print(pickle.loads(pickle.dumps(A(3))).x, A.__module__)
        """,
    "input": "print(input('name: '))\n",
    "a module of its own": "import helper\nprint(helper.f(2), helper.__file__, helper.__spec__, helper.__cached__)\n",
    "a module of its own that fails": "import helper\nhelper.fail()\n",
    "a module of its own named like one of the library": "import queue, cache, token\nprint(queue.mine)\n",
    "traceback.print_exc": """
        import traceback
        try:
            1 / 0
        except ZeroDivisionError:
            traceback.print_exc()
        """,
    "inspection": """
        import inspect
        def f(x, *, y=1):
            '''doc'''
            if x:
                return y
            return x
        print(inspect.getsource(f), inspect.signature(f), f.__doc__, f.__code__.co_firstlineno)
        print(inspect.getmodule(f) is inspect.sys.modules["__main__"])
        """,
    "annotations": "import typing\nx: int = 1\nclass A:\n    y: 'int' = 2\nprint(__annotations__, typing.get_type_hints(A))\n",
    "a future import": "from __future__ import annotations\nx: undefined\nprint(__annotations__)\n",
}
HELPER = """
def f(x):
    if x:
        return x + 1
    return x


def fail():
    raise RuntimeError("in the helper")
"""


def dedent(text):
    import textwrap

    return textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_under_python(name, folder, environment):
    (folder / "train.py").write_text(dedent(PROGRAMS[name]))
    (folder / "helper.py").write_text(HELPER)
    (folder / "queue.py").write_text("mine = 'my own queue'\n")
    (folder / "cache.py").write_text("")
    assert_same(["train.py", "a", "--report", "-m"], folder, environment, text=b"Ada\n")


@pytest.mark.parametrize("spelling", ["./train.py", "../work dir/train.py", "sub/../train.py", "link.py"])
def test_a_scripts_path_is_shown_as_under_python(spelling, folder, environment):
    (folder / "train.py").write_text("import sys\nprint(__file__, sys.argv, sys.path[0])\n1 / 0\n")
    (folder / "sub").mkdir()
    (folder / "elsewhere").mkdir()
    (folder / "link.py").symlink_to(folder / "train.py")
    assert_same([spelling], folder, environment)
    assert_same([str(folder / "train.py")], folder, environment)


@pytest.mark.parametrize("option", ["-P", "-I", "-O", "-OO", "-B", "-Wall", "-Werror", "-Xutf8"])
def test_pythons_own_options_keep_their_meaning(option, folder, environment):
    if option == "-P" and sys.version_info < (3, 11):
        option = "-B"
    (folder / "train.py").write_text("import sys\nprint(sys.path[0], sys.flags, sys.warnoptions)\nassert False, 'x'\n")
    options = [option]
    if option == "-I":  # nothing of the environment counts, so the package has to be made known another way
        (folder / "train.py").write_text("import sys\nprint(sys.flags)\n")
        code, out, err = run(["-I", "-c", f"import sys; sys.path.append({ROOT!r})\n" + CALL], folder, environment)
        assert (code, err) == (0, b"") and out == run(["-I", "train.py"], folder, environment)[1]
        return
    assert_same(["train.py"], folder, environment, options)


CALL = "sys.argv[1:] = ['train.py']; sys.path.insert(0, ''); from autoimport.cli import main; main()"


def test_a_safe_path_has_nothing_of_the_program_on_it(folder, environment):
    (folder / "train.py").write_text("import sys\nprint(sys.path)\n")
    assert_same(["train.py"], folder, {**environment, "PYTHONSAFEPATH": "1"})


def test_little_of_ours_is_on_the_stack_below_a_program(folder, environment):
    # TensorFlow asks each frame for its line at every eager operation, which reads a table up to the place of the call.
    (folder / "train.py").write_text(
        "import sys\nframe = sys._getframe()\nwhile frame := frame.f_back:\n"
        "    places = [start for start, _, _ in frame.f_code.co_lines() if start <= frame.f_lasti]\n"
        "    if 'autoimport' in frame.f_code.co_filename:\n        print(frame.f_code.co_name, len(places))\n"
    )
    frames = dict(
        line.split() for line in run(["-m", "autoimport", "train.py"], folder, environment)[1].decode().splitlines()
    )
    assert set(frames) == {"supervise", "<module>"}
    assert sum(map(int, frames.values())) < 100


@pytest.mark.parametrize(
    "source",
    [
        b"# caf\xe9\nx = 1\n",
        b"# coding: no-such-codec\n",
        b"x = 1\0\n",
        b"# coding: latin-1\nprint('\xe9')\n",
        b"\xef\xbb\xbfprint('bom')\n",
        b"",
        b"\r\nprint(1)\r\n1/0",
    ],
)
def test_source_is_decoded_as_under_python(source, folder, environment):
    (folder / "train.py").write_bytes(source)
    plain = run(["train.py"], folder, environment)
    ours = run(["-m", "autoimport", "train.py"], folder, environment)
    assert ours == plain


def test_a_missing_script_is_reported_as_by_python(folder, environment):
    code, out, err = assert_same(["nowhere.py"], folder, environment)
    assert code == 2 and out.count(b"\n") == 1


@pytest.mark.parametrize(
    "target", ["pkg", "pkg.mod", "mod", "pkg.missing", "missing", "broken.mod", "pkg.bad", "plain", "pkg.sub.bad"]
)
def test_a_module_runs_as_under_python(target, folder, environment):
    program = (
        "import sys\nprint(__name__, __package__, __spec__, __file__, sys.argv, sys.path[0], list(globals()))\n1 / 0\n"
    )
    (folder / "pkg").mkdir()
    (folder / "plain").mkdir()
    (folder / "broken").mkdir()
    (folder / "pkg" / "__init__.py").write_text("import sys\nprint('init', sys.argv)\n")
    (folder / "plain" / "__init__.py").write_text("")
    (folder / "broken" / "__init__.py").write_text("1 / 0\n")
    (folder / "pkg" / "bad.py").write_text("def f(:\n")
    for path in ("pkg/__main__.py", "pkg/mod.py", "mod.py"):
        (folder / path).write_text(program)
    assert_same(["-m", target, "x", "-m"], folder, environment)


def test_a_module_in_one_word_runs_as_under_python(folder, environment):
    (folder / "mod.py").write_text("print(__name__)\n")
    assert_same(["-mmod"], folder, environment)


@pytest.mark.parametrize(
    "command",
    [
        "import sys; print(sys.argv, sys.path[0], list(globals()), __loader__)",
        "def f():\n  return 1/0\nf()",
        "def f(:",
        "import sys; sys.exit('x')",
        "raise KeyboardInterrupt",
    ],
)
def test_a_command_runs_as_under_python(command, folder, environment):
    assert_same(["-c", command, "a", "-c"], folder, environment)


def test_the_standard_input_runs_as_under_python(folder, environment):
    program = (
        b"import sys\nprint(sys.argv, sys.path[0], __file__, list(globals()), __loader__)\ndef f():\n    1 / 0\nf()\n"
    )
    assert_same(["-", "a"], folder, environment, text=program)


def test_a_directory_and_an_archive_run_as_under_python(folder, environment):
    (folder / "app").mkdir()
    (folder / "empty").mkdir()
    program = (
        "import sys, helper\nprint(sys.argv, sys.path[0], __file__, __spec__, list(globals()), helper.f(1))\n1 / 0\n"
    )
    (folder / "app" / "__main__.py").write_text(program)
    (folder / "app" / "helper.py").write_text(HELPER)
    with zipfile.ZipFile(folder / "app.zip", "w") as archive:
        archive.writestr("__main__.py", program)
        archive.writestr("helper.py", HELPER)
    for target in ("app", "app.zip", "empty"):
        assert_same([target, "a"], folder, environment)
    for spelling in (".", "./", "./.", "../app"):
        assert_same([spelling], folder / "app", environment)


def test_bytecode_runs_as_under_python(folder, environment):
    import py_compile

    (folder / "train.py").write_text("import sys\nprint(sys.argv, __file__, __loader__)\n1 / 0\n")
    py_compile.compile(str(folder / "train.py"), str(folder / "train.pyc"))
    assert_same(["train.pyc"], folder, environment)


def test_processes_of_multiprocessing_find_the_program_again(folder, environment):
    (folder / "train.py").write_text(
        dedent("""
        import multiprocessing
        def work(x):
            return x * 2 if x else None
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [0, 1, 2]))
        else:
            print(__name__, flush=True)
        """)
    )
    assert_same(["train.py"], folder, environment)
    assert_same(["-m", "train"], folder, environment)


def test_an_interrupted_program_ends_by_the_signal(folder, environment):
    (folder / "train.py").write_text("raise KeyboardInterrupt\n")
    assert run(["-m", "autoimport", "train.py"], folder, environment)[0] == -signal.SIGINT


def converted(folder, environment, command):
    """What the program prints as `name: has a gate` for its functions."""
    code, out, err = run(["-m", "autoimport", *command], folder, environment)
    assert (code, err) == (0, b"")
    return out.decode().split()


CHECK = "def f(x):\n    if x:\n        return 1\n    return 2\nif f.__code__.co_names: print(__name__)\n"


def test_with_no_configuration_the_programs_own_tree_is_converted(folder, environment):
    site = folder / "env" / "lib" / "site-packages"
    site.mkdir(parents=True)
    for path in (folder / "mine.py", site / "theirs.py"):
        path.write_text(CHECK)
    (folder / "train.py").write_text(f"import sys\nsys.path.append({str(site)!r})\nimport mine, theirs\n" + CHECK)
    assert converted(folder, environment, ["train.py"]) == ["mine", "__main__"]


def test_pyproject_says_what_is_converted(folder, environment):
    (folder / "pyproject.toml").write_text('[tool.autoimport]\npackages = ["a"]\nexclude = ["a.out"]\n')
    for name in ("a", "b", "a/out"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(CHECK)
    (folder / "sub").mkdir()
    (folder / "sub" / "train.py").write_text("import sys\nsys.path.append('.')\nimport a.out, b\n" + CHECK)
    assert converted(folder, environment, ["sub/train.py"]) == ["a", "__main__"]
    assert converted(folder, environment, ["--packages=b", "--exclude", "train", "sub/train.py"]) == ["b"]
    assert converted(folder, {**environment, "AUTOIMPORT_PACKAGES": "b"}, ["sub/train.py"]) == ["b", "__main__"]


@pytest.mark.parametrize("command", [["-m", "mod"], ["-c", CHECK], ["app"]])
def test_the_main_module_is_converted_however_it_is_run(command, folder, environment):
    (folder / "mod.py").write_text(CHECK)
    (folder / "app").mkdir()
    (folder / "app" / "__main__.py").write_text(CHECK)
    assert converted(folder, environment, command) == ["__main__"]


def test_zero_turns_everything_off(folder, environment):
    (folder / "train.py").write_text(
        CHECK
        + "import sys, traceback\nprint(sys.orig_argv[1:], 'autoimport' in sys.modules)\ntraceback.print_stack()\n1 / 0\n"
    )
    off = {**environment, "AUTOIMPORT": "0"}
    for options in ([], ["-B", "-Wall"]):
        plain = run([*options, "train.py", "a"], folder, off)
        assert run([*options, "-m", "autoimport", "--strict", "train.py", "a"], folder, off) == plain
        assert run([*options, "-mautoimport", "train.py", "a"], folder, off) == plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fidelity", "quick", "train.py"], """command line: --fidelity: 'quick' is not allowed; use "exact" or "fast"\n"""),
        (["--fidelity"], """command line: --fidelity: a value is missing; use "exact" or "fast"\n"""),
        (["--stage-after=x", "train.py"], "command line: --stage-after: 'x' is not allowed; use a whole number from 0\n"),
        (["--speed", "train.py"], "command line: --speed: unknown; use one of --packages, --exclude, --cache-dir, --cache-size, --cache-shared, --stage-after, --report, --report-json, --report-operations, --strict, --pure, --effectful, --fidelity, --learn, --verify, -m, -c, -h, --help, -V, --version\n"),
        ([], "command line: no program; usage: python -m autoimport [options] (script | -m module | -c code | -) [arguments]\n"),
        (["-m"], "command line: -m: nothing to run; usage: python -m autoimport [options] (script | -m module | -c code | -) [arguments]\n"),
    ],
)  # fmt: skip
def test_a_bad_command_line_is_one_line_and_exit_code_2(arguments, message, folder, environment):
    (folder / "train.py").write_text("print('ran')\n")
    code, out, err = run(["-m", "autoimport", *arguments], folder, environment)
    assert (code, out, err.decode()) == (2, b"", "autoimport: " + message)


def test_bad_configuration_elsewhere_is_one_line_and_exit_code_2(folder, environment):
    (folder / "train.py").write_text("print('ran')\n")
    code, out, err = run(["-m", "autoimport", "train.py"], folder, {**environment, "AUTOIMPORT_STRICT": "7"})
    assert (code, out) == (2, b"")
    assert err == b"autoimport: environment: AUTOIMPORT_STRICT: '7' is not allowed; use true or false\n"
    (folder / "pyproject.toml").write_text("[tool.autoimport]\nspeed = 1\n")
    code, out, err = run(["-m", "autoimport", "train.py"], folder, environment)
    assert (code, out, err.count(b"\n")) == (2, b"", 1)
    assert err.startswith(
        f"autoimport: {folder}/pyproject.toml:2: tool.autoimport.speed: unknown; use one of ".encode()
    )


def test_help_names_every_option(folder, environment):
    from autoimport import config

    code, out, err = run(["-m", "autoimport", "--help"], folder, environment)
    assert (code, err) == (0, b"")
    assert all(f"{setting.flag}" in out.decode() and setting.variable in out.decode() for setting in config.SETTINGS)
    for shown in ("--exclude NAMES ", "--stage-after N ", "--report-json FILE ", "--learn=false ", "--verify[=warn] "):
        assert shown in out.decode()
    assert run(["-m", "autoimport", "--report", "-h"], folder, environment) == (0, out, b"")


def test_the_version_is_told_as_python_tells_its_own(folder, environment):
    import autoimport

    for option in ("-V", "--version"):
        told = run(["-m", "autoimport", option], folder, environment)
        assert told == (0, f"autoimport {autoimport.__version__}\n".encode(), b"")


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        ("{} | true", (0, b"", b"")),
        ("{} >/dev/full; echo $?", (0, b"1\n", b"autoimport: standard output: No space left on device\n")),
        ("{} >&-", (0, b"", b"")),
    ],
)
@pytest.mark.parametrize("command", ["--help", "--version", "cache info"])
def test_an_answer_that_nobody_can_read_is_no_traceback(command, around, expected, folder, environment):
    script = around.replace("{}", f"{sys.executable} -m autoimport {command}")
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == expected


def test_a_folder_whose_name_the_output_cannot_say_is_escaped(folder, environment):
    more = {"PYTHONIOENCODING": "ascii:strict", "AUTOIMPORT_CACHE_DIR": "/caf\xe9"}
    assert run(["-m", "autoimport", "cache", "path"], folder, {**environment, **more}) == (0, b"/caf\\xe9\n", b"")


@pytest.mark.parametrize(
    ("end", "code"), [("", 0), ("sys.exit(3)\n", 3), ("1 / 0\n", 1), ("os.chdir('/')\nraise KeyboardInterrupt\n", -2)]
)
def test_the_report_is_written_however_the_program_ends(end, code, folder, environment):
    (folder / "train.py").write_text("import os, sys\nprint('ran')\n" + end)
    plain = run(["train.py"], folder, environment)
    ours = run(["-m", "autoimport", "--report-json", "r.json", "train.py"], folder, environment)
    assert ours == plain and ours[0] == code
    report = json.loads((folder / "r.json").read_text())
    assert report["version"] == 1 and [module["file"] for module in report["modules"]] == [str(folder / "train.py")]


def test_the_report_is_printed_after_the_program(folder, environment):
    (folder / "train.py").write_text("import sys\nprint('ran')\nsys.exit('reason')\n")
    code, out, err = run(["-m", "autoimport", "--report", "train.py"], folder, environment)
    assert (code, out) == (1, b"ran\n")
    assert err.startswith(b"reason\n") and len(err) > len(b"reason\n")


def test_a_forked_child_reports_nothing(folder, environment):
    (folder / "train.py").write_text(
        "import os, sys\nif os.fork() == 0:\n    sys.exit()\nos.wait()\nos.remove('r.json') if os.path.exists('r.json') else print('none')\n"
    )
    assert run(["-m", "autoimport", "--report-json", "r.json", "train.py"], folder, environment) == (0, b"none\n", b"")


def test_a_report_that_cannot_be_written_does_not_change_the_exit_code(folder, environment):
    (folder / "train.py").write_text("")
    code, out, err = run(["-m", "autoimport", "--report-json", ".", "train.py"], folder, environment)
    assert (code, out, err.count(b"\n")) == (0, b"", 1)
    assert err.startswith(f"autoimport: {folder}: cannot be written".encode())


def test_a_report_in_a_folder_that_does_not_exist_is_refused_before_the_program_runs(folder, environment):
    (folder / "train.py").write_text("print('ran')\n")
    code, out, err = run(["-m", "autoimport", "--report-json", "no/r.json", "train.py"], folder, environment)
    message = f"autoimport: {folder}/no/r.json: the report cannot be written; make the folder {folder}/no first\n"
    assert (code, out, err.decode()) == (2, b"", message)


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/fd/1", "log", "link"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_report_on_the_output_follows_what_the_program_has_printed(kind, target, folder, environment):
    (folder / "train.py").write_text("import atexit\natexit.register(print, 'late')\nprint('early')\n")
    (folder / "link").symlink_to("log")
    if kind == "pipe":
        os.mkfifo(folder / "log")
    # Opened for both, so that a pipe needs nobody at the other end.
    with open(os.open(folder / "log", os.O_RDWR | os.O_CREAT), "r+b", buffering=0) as log:
        command = [sys.executable, "-m", "autoimport", "--report-json", target, "-m", "train"]
        subprocess.run(command, cwd=folder, env=environment, stdout=log, check=True, timeout=60)
        if kind == "file":
            log.seek(0)
        lines = log.read(1 << 16).decode()
    assert lines.startswith("early\nlate\n{")
    assert json.loads(lines.removeprefix("early\nlate\n"))["version"] == 1
