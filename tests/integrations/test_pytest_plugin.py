"""`pytest -p autoimport`, and the ini option: runs of pytest in processes of their own."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MODULE = "def f(x):\n    return 1 if x else 2\n"
TEST = """
import mine

def g(x):
    return 1 if x else 2

def test_it():
    print("module", "@enter" in mine.f.__code__.co_names)
    print("tests", "@enter" in g.__code__.co_names, "@enter" in test_it.__code__.co_names)
    assert mine.f(1) + g(1) == 3
"""
EXPLANATION = [
    "E       assert (1 + 1) == 3",
    "E        +  where 1 = <function f at *>(1)",
    "E        +    where <function f at *> = mine.f",
]


@pytest.fixture
def project(pytester, monkeypatch):
    """A project with a module and a failing test."""
    monkeypatch.delenv("AUTOIMPORT", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("AUTOIMPORT_STRICT", "1")
    monkeypatch.setenv("AUTOIMPORT_CACHE_DIR", str(pytester.path / "cache"))
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(mine=MODULE, test_mine=TEST)
    return pytester


def explained(result):
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(EXPLANATION)
    return [line for line in result.outlines if line.startswith(("module ", "tests "))]


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_modules_and_test_modules_are_converted_and_assertions_explained(project, mode):
    for _ in range(2):  # the second time from the cache
        result = project.runpytest_subprocess("-p", "autoimport", f"--import-mode={mode}")
        assert explained(result) == ["module True", "tests True True"]
        result.stdout.fnmatch_lines(["autoimport: on"])


def test_a_failure_looks_as_without_the_plugin(project):
    plain = project.runpytest_subprocess("-p", "no:cacheprovider").outlines
    ours = project.runpytest_subprocess("-p", "no:cacheprovider", "-p", "autoimport").outlines

    def shown(lines):
        start = next(number for number, line in enumerate(lines) if "FAILURES" in line)
        return [line for line in lines[start:] if "@" not in line and "==== 1 failed in" not in line and " at 0x" not in line
                and not line.startswith(("module ", "tests "))]  # fmt: skip

    assert shown(ours) == shown(plain)


def test_the_ini_option_names_packages(project):
    project.makeini("[pytest]\npythonpath = .\nautoimport = mine\n")
    result = project.runpytest_subprocess("-p", "autoimport")
    assert explained(result) == ["module True", "tests False False"]


@pytest.mark.parametrize(("value", "is_on"), [("true", True), ('"on"', True), ("false", False), ('"0"', False)])
def test_the_ini_option_takes_the_words_of_a_switch(value, is_on, project):
    project.makepyprojecttoml(f'[tool.pytest.ini_options]\npythonpath = ["."]\nautoimport = {value}\n')
    result = project.runpytest_subprocess("-p", "autoimport")
    assert explained(result) == [f"module {is_on}", f"tests {is_on} {is_on}"]
    assert ("autoimport: on" in result.outlines) is is_on


def test_without_either_nothing_is_converted(project):
    project.makeconftest("pytest_plugins = ['autoimport']\n")
    assert explained(project.runpytest_subprocess()) == ["module False", "tests False False"]


def test_the_master_switch_turns_it_off(project, monkeypatch):
    monkeypatch.setenv("AUTOIMPORT", "0")
    assert explained(project.runpytest_subprocess("-p", "autoimport")) == ["module False", "tests False False"]


def test_plain_assertions_are_converted_too(project):
    result = project.runpytest_subprocess("-p", "autoimport", "--assert=plain")
    assert [line for line in result.outlines if line.startswith(("module ", "tests "))] == [
        "module True",
        "tests True True",
    ]


def test_fixtures_in_a_conftest_are_converted(project):
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef number():\n    def f(x):\n        return 1 if x else 2\n    return f\n"
    )
    project.makepyfile(
        test_mine="def test_it(number):\n    assert number(1) == 1\n    assert '@enter' in number.__code__.co_names\n"
    )
    project.runpytest_subprocess("-p", "autoimport").assert_outcomes(passed=1)


def test_the_report_comes_at_the_end(project, monkeypatch):
    monkeypatch.setenv("AUTOIMPORT_REPORT", "1")
    monkeypatch.setenv("AUTOIMPORT_REPORT_JSON", "report.json")
    result = project.runpytest_subprocess("-p", "autoimport")
    result.stdout.fnmatch_lines(["*= autoimport =*", "autoimport: 0 of 3 functions ran as graphs; 2 modules *"])
    assert {module["name"] for module in json.loads((project.path / "report.json").read_text())["modules"]} == {
        "mine",
        "test_mine",
    }


def test_a_broken_test_module_is_reported_as_without_the_plugin(project):
    project.makepyfile(test_mine="def test_it(:\n    pass\n")
    plain = project.runpytest_subprocess().outlines
    ours = project.runpytest_subprocess("-p", "autoimport").outlines
    assert [line for line in ours if line.startswith("E ")] == [line for line in plain if line.startswith("E ")]


def test_a_bad_setting_ends_the_run_with_one_line(project):
    ini = project.makeini("[pytest]\npythonpath = .\nautoimport = not/a/name\n")
    result = project.runpytest_subprocess("-p", "autoimport")
    said = "ini option autoimport: 'not/a/name' is not allowed; use true, false or names of modules*"
    result.stderr.fnmatch_lines([f"ERROR: autoimport: {ini}: {said}"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_pytest_is_a_program_like_others(project):
    project.makepyfile(test_mine="import mine\ndef test_it():\n    assert mine.f(1) == 1\n")

    def shown(*before):
        result = project.run(sys.executable, "-W", "error", *before, "-m", "pytest", "-q", "-p", "no:cacheprovider")
        return result.ret, [re.sub(r"in \d.*s", "", line) for line in result.outlines]

    plain = shown()
    assert plain[0] == 0
    assert shown("-m", "autoimport") == plain
