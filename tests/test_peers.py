"""Other tools that sit on an import, or carry functions away: the real ones, in one program with the hook."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FUNCTION = "def f(x: int) -> int:\n    while x > 3:\n        x -= 1\n    return x if x else 2\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "typed").mkdir()
    (tmp_path / "typed" / "__init__.py").touch()
    (tmp_path / "typed" / "sub.py").write_text(FUNCTION)
    (tmp_path / "mine.py").write_text(FUNCTION)
    return tmp_path


def run(command, folder, typed=None, **more):
    keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
    environment = {**keep, "PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(folder / ".cache"), **more}
    environment["AUTOIMPORT_STRICT"] = "1"
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, input=typed or ""
    )
    return done.returncode, done.stdout, done.stderr


def assert_same(folder, program):
    (folder / "train.py").write_text(textwrap.dedent(program))
    plain = run(["train.py"], folder)
    assert plain[0] == 0, plain[2]
    for _ in range(2):
        assert run(["-m", "autoimport", "train.py"], folder) == plain
    return plain[1]


def test_beartype_claw_checks_its_packages_and_the_others_are_converted(folder):
    program = """
        from beartype.claw import beartype_package
        beartype_package("typed")
        import typed.sub, mine
        try:
            print(typed.sub.f("text"))
        except Exception as error:
            print(type(error).__name__)
        print(typed.sub.f(5), mine.f(9))
        """
    assert "BeartypeCallHintParamViolation\n3 3" in assert_same(folder, program)
    (folder / "look.py").write_text(
        textwrap.dedent(program) + "print('@enter' in mine.f.__code__.co_names)\n"
        "from autoimport.selection import left_alone; print(sorted(left_alone))\n"
    )
    assert run(["-m", "autoimport", "look.py"], folder)[1].endswith("True\n['typed.sub']\n")


@pytest.mark.parametrize("order", ["before", "after"])
def test_typeguard_checks_its_packages_and_the_others_are_converted(order, folder):
    program = """
        from typeguard import install_import_hook
        install_import_hook(["typed"])
        import typed.sub, mine
        try:
            typed.sub.f("text")
        except Exception as error:
            print(type(error).__name__)
        print(typed.sub.f(5), mine.f(9))
        """
    assert assert_same(folder, program) == "TypeCheckError\n3 3\n"
    install = "import autoimport; autoimport.install(['typed', 'mine'])\n"
    text = textwrap.dedent(program)
    (folder / "look.py").write_text((text + install if order == "after" else install + text).replace(
        "import typed.sub, mine", (install if order == "after" else "") + "import typed.sub, mine")
        + "print('@enter' in mine.f.__code__.co_names)\n")  # fmt: skip
    assert run(["look.py"], folder)[1].startswith("TypeCheckError\n3 3\nTrue\n")


def test_coverage_sees_the_lines_that_it_sees_without_the_hook(folder):
    (folder / "train.py").write_text(
        "import mine\nmine.f(7)\n\ndef g(x):\n    if x:\n        return 1\n    return 2\n\nprint(g(0))\n"
    )
    report = "import coverage, json; c = coverage.Coverage(); c.load(); d = c.get_data(); print(sorted((f.rpartition('/')[2], d.lines(f), sorted(d.arcs(f))) for f in d.measured_files()))"
    seen = []
    for command in (["train.py"], ["-m", "autoimport", "train.py"]):
        core = {"COVERAGE_CORE": "ctrace"}
        if len(command) > 1:
            starter = "import sys; sys.argv = ['x', 'train.py']; import autoimport; autoimport.install('mine'); import runpy; sys.path.insert(0, '.'); runpy.run_path('train.py', run_name='__main__')"
            (folder / "go.py").write_text(starter)
            command = ["go.py"]
        code, out, err = run(
            ["-m", "coverage", "run", "--branch", "--source=.", "--omit=go.py", *command], folder, **core
        )
        assert (code, out, err) == (0, "2\n", "")
        seen.append(run(["-c", report], folder)[1])
    assert "mine.py" in seen[0]
    assert seen[1] == seen[0]


@pytest.mark.parametrize("tool", ["cloudpickle", "dill"])
def test_functions_travel(tool, folder):
    program = f"""
        import pickle, mine, {tool}
        def outer(y):
            def inner(x):
                while x > y:
                    x -= 1
                return x
            return inner
        sent = {tool}.dumps([mine.f, outer(2), lambda x: mine.f(x) if x else 0])
        print([f(5) for f in {tool}.loads(sent)])
        """
    assert assert_same(folder, program) == "[3, 2, 3]\n"


@pytest.mark.parametrize("tool", ["cloudpickle", "dill"])
def test_a_function_that_has_travelled_runs_without_us(tool, folder):
    (folder / "send.py").write_text(
        f"import {tool}\ndef f(x):\n    while x > 3:\n        x -= 1\n    return x\n"
        "def outer(y):\n    def inner(x):\n        return abs(x) + y if x else 0\n    return inner\n"
        f"open('sent', 'wb').write({tool}.dumps([f, outer(1), lambda x: abs(x) if x else 0]))\n"
    )
    assert run(["-m", "autoimport", "send.py"], folder) == (0, "", "")
    assert run(["-c", f"import {tool}; print([f(9) for f in {tool}.load(open('sent', 'rb'))])"], folder) == (
        0,
        "[3, 10, 9]\n",
        "",
    )


def with_joblib(test):
    """A test for where joblib is: it is none of the tools that TensorFlow brings along, so it may not be."""
    return test if importlib.util.find_spec("joblib") else None


@with_joblib
def test_workers_of_joblib_get_functions_of_the_program_and_of_modules(folder):
    program = """
        import joblib, mine
        def f(x):
            while x > 5:
                x -= 1
            return x
        if __name__ == "__main__":
            print(joblib.Parallel(n_jobs=2)(joblib.delayed(f)(n) for n in range(4, 9)))
            print(joblib.Parallel(n_jobs=2)(joblib.delayed(mine.f)(n) for n in range(2, 6)))
            print(joblib.Parallel(n_jobs=2)(joblib.delayed(lambda x: f(x) if x else 0)(n) for n in range(3)))
        """
    assert assert_same(folder, program) == "[4, 5, 5, 5, 5]\n[2, 3, 3, 3]\n[0, 1, 2]\n"


@pytest.mark.parametrize("way", ["-c", "-", "archive"])
def test_functions_travel_without_a_file_of_their_own(way, folder):
    text = (
        "import cloudpickle\nif 1:\n    f, g = (lambda x: abs(x) if x else 0), (lambda x: abs(x) if x else 1)\n"
        "    open('sent', 'wb').write(cloudpickle.dumps([f, g]))\n"
    )
    command, typed = [way, text], None
    if way == "-":
        command, typed = ["-"], text
    elif way == "archive":
        command = ["app.pyz"]
        with zipfile.ZipFile(folder / "app.pyz", "w") as archive:
            archive.writestr("__main__.py", text)
    assert run(["-m", "autoimport", *command], folder, typed) == (0, "", "")
    got = run(["-c", "import cloudpickle; print([f(0) for f in cloudpickle.load(open('sent', 'rb'))])"], folder)
    assert got == (0, "[0, 1]\n", "")


def test_a_function_whose_source_has_changed_travels_as_it_is(folder):
    (folder / "send.py").write_text(
        "import cloudpickle, mine\nfrom autoimport.travel import plain_code\n"
        "open('mine.py', 'a').write('\\n')\ncode = mine.f.__code__\nprint(plain_code(code) is code)\n"
    )
    assert run(["-m", "autoimport", "send.py"], folder) == (0, "True\n", "")


@pytest.mark.parametrize("style", ["pth", "finder"])
def test_an_editable_install_is_converted(style, folder):
    site = folder / "site"
    project = folder / "project" / "src" / "edited"
    project.mkdir(parents=True)
    site.mkdir()
    (project / "__init__.py").write_text(FUNCTION)
    start = ""
    if style == "pth":
        (site / "_edited.pth").write_text(str(project.parent))
    else:
        from setuptools.command.editable_wheel import _finder_template

        text = _finder_template("__editable___edited_finder", {"edited": str(project)}, {})
        (site / "__editable___edited_finder.py").write_text(text)
        (site / "__editable__.edited.pth").write_text(
            "import __editable___edited_finder; __editable___edited_finder.install()"
        )
    (folder / "train.py").write_text(
        f"{start}import edited\nprint(edited.f(9), '@enter' in edited.f.__code__.co_names)\n"
    )
    (site / "sitecustomize.py").write_text(f"import site; site.addsitedir({str(site)!r})\n")
    more = {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    assert run(["train.py"], folder, **more) == (0, "3 False\n", "")
    for _ in range(2):
        assert run(["-m", "autoimport", "--packages", "edited", "train.py"], folder, **more) == (0, "3 True\n", "")


def test_a_debugger_steps_through_the_persons_lines(folder):
    (folder / "train.py").write_text("import mine\nmine.f(5)\nprint('end')\n")
    commands = "b mine.f\nc\nn\nn\nn\np x\nc\n"
    seen = []
    for install in ("", "import autoimport; autoimport.install('mine')\n"):
        (folder / "go.py").write_text(
            install
            + "import pdb, sys\nsys.path.insert(0, '.')\nimport mine\npdb.Pdb(nosigint=True, readrc=False).run('mine.f(5)', {'mine': mine})\n"
        )
        keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
        done = subprocess.run([sys.executable, "go.py"], cwd=folder, input=commands, capture_output=True, text=True,
            env={**keep, "PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(folder / ".cache")})  # fmt: skip
        seen.append(done.stdout)
    assert "mine.py(2)f()" in seen[0]
    assert seen[1] == seen[0]
