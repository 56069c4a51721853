"""`%load_ext autoimport`, in a real kernel."""

import os
import sys
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parent.parent.parent
FUNCTION = "def clip(x, limit=1):\n    if x > limit:\n        return limit\n    return x"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def kernel(folder):
    """Runs cells in one kernel; gives what they print, and their errors' names."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOIMPORT_STRICT": "1", "AUTOIMPORT_CACHE_DIR": str(folder)}
    environment.pop("AUTOIMPORT", None)
    manager = KernelManager()
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(cwd=str(folder), env=environment)
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)

    def run(cell):
        seen = []

        def note(message):
            content = message["content"]
            seen.append(content.get("text") or content.get("ename") or content.get("data", {}).get("text/plain"))

        client.execute_interactive(cell, timeout=60, output_hook=lambda m: note(m) if m["msg_type"] in (
            "stream", "error", "execute_result") else None)  # fmt: skip
        return "".join(text for text in seen if text)

    assert run("%load_ext autoimport") == ""
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_functions_of_a_cell_are_converted(kernel):
    assert kernel(FUNCTION) == ""
    assert kernel("clip(3), '@enter' in clip.__code__.co_names") == "(1, True)"


def test_the_source_of_a_cell_is_there_to_read(kernel):
    kernel(FUNCTION)
    assert kernel("import inspect; print(inspect.getsource(clip), end='')").rstrip() == FUNCTION
    assert "def clip" in kernel("clip??") or kernel("print(clip.__name__)") == "clip\n"


def test_a_cell_shows_its_value_and_its_error_as_ever(kernel):
    assert kernel("x = 6\nx * 7") == "42"
    assert kernel("def fail(x):\n    return [1][x]\nfail(4)") == "IndexError"
    assert kernel("1 +") == "SyntaxError"
    assert kernel("import asyncio\nasync def g():\n    return 5\nawait g()") == "5"
    assert kernel("def a(x): return [x for x in (1,)]\n%time\n").count("Wall time") == 1


def test_a_cell_that_runs_again_has_the_new_function(kernel):
    kernel("def value(): return len([1])")
    kernel("def value(): return len([1, 2])")
    assert kernel("value()") == "2"


def test_modules_beside_the_notebook_are_converted_and_reload(kernel, folder):
    (folder / "mine.py").write_text("def f(x):\n    return 1 if x else 2\n")
    assert kernel("import mine; print(mine.f(1), '@enter' in mine.f.__code__.co_names)") == "1 True\n"
    (folder / "mine.py").write_text("def f(x):\n    return 11 if x else 2\n")
    assert kernel(
        "import importlib; importlib.reload(mine); print(mine.f(1), '@enter' in mine.f.__code__.co_names)"
    ) == ("11 True\n")


def test_the_magic_reports_and_turns_cells_off(kernel):
    assert "clip" in kernel("%autoimport report") or "function" in kernel("%autoimport report")
    assert "report | on | off" in kernel("%autoimport")
    kernel("%autoimport off")
    kernel("def plain(x):\n    return 1 if x else 2")
    assert kernel("'@enter' in plain.__code__.co_names") == "False"
    kernel("%autoimport on")
    kernel("def again(x):\n    return 1 if x else 2")
    assert kernel("'@enter' in again.__code__.co_names") == "True"


def test_unloading_leaves_cells_as_they_are(kernel):
    kernel("%unload_ext autoimport")
    kernel("def plain(x):\n    return 1 if x else 2")
    assert kernel("'@enter' in plain.__code__.co_names") == "False"
    kernel("%load_ext autoimport")
    kernel("def again(x):\n    return 1 if x else 2")
    assert kernel("'@enter' in again.__code__.co_names") == "True"
