"""The one-way arrows of ARCHITECTURE.md, and what an import costs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "autoimport"

# Room -> the rooms that it may import from; a room is a folder of the package, or a module of its top level.
FACES = {"__init__", "__main__", "cli", "startup", "session", "api", "integrations", "build"}
MAY_IMPORT = {
    "config": set(),
    "selection": set(),
    "distributions": set(),
    "runner": set(),
    "watching": set(),
    "convert": {"operators.names"},
    "cache": {"convert.facts", "convert.making"},
    "unchanged": {"cache", "convert.key"},
    "hook": {
        "config", "cache", "unchanged", "selection", "distributions", "travel", "archives", "watching", "convert",
        "staging.registry", "staging.gate",
    },
    "archives": {"hook", "selection"},
    "travel": {"staging.registry", "convert.key"},
    "operators": set(),
    "staging": {"operators", "config", "convert", "watching"},
    "insight": {"staging", "convert", "config", "selection", "distributions"},
}  # fmt: skip
NEEDS_NO_TENSORFLOW = (
    "config",
    "selection",
    "distributions",
    "runner",
    "convert",
    "cache",
    "unchanged",
    "watching",
    "hook",
    "archives",
    "session",
    "build",
    "cli",
    "startup",
    "insight",
)
WITHOUT_TENSORFLOW = (
    "autoimport", "autoimport.config", "autoimport.cache", "autoimport.hook", "autoimport.cli", "autoimport.startup",
    "autoimport.convert", "autoimport.convert.key", "autoimport.staging.registry", "autoimport.staging.gate",
    "autoimport.insight.report",
)  # fmt: skip


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield path, ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imported(path):
    """Full names of what a file imports, wherever it does; under TYPE_CHECKING is no import."""
    tree = ast.parse(path.read_text())
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            skipped.update(inner for statement in node.body for inner in ast.walk(statement))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_within(name, allowed):
    return any(name == room or name.startswith(room + ".") for room in allowed)


def test_the_arrows_point_one_way():
    wrong = []
    for path, module in modules():
        room = module.partition(".")[0]
        if room in FACES:
            continue
        assert room in MAY_IMPORT, f"{path} is in no room that ARCHITECTURE.md knows"
        for name in imported(path):
            inner = name.removeprefix("autoimport.")
            if inner != name and not is_within(inner, MAY_IMPORT[room] | {room}):
                wrong.append(f"{module} imports {name}")
    assert wrong == []


def test_the_faces_are_imported_by_nobody_else():
    wrong = [
        f"{module} imports {name}"
        for path, module in modules()
        for name in imported(path)
        if module.partition(".")[0] not in FACES and is_within(name, {f"autoimport.{face}" for face in FACES})
    ]
    assert wrong == []


def test_tensorflow_is_imported_by_operators_and_staging_only():
    wrong = [
        f"{module} imports {name}"
        for path, module in modules()
        for name in imported(path)
        if module.partition(".")[0] in NEEDS_NO_TENSORFLOW and is_within(name, {"tensorflow", "keras"})
    ]
    assert wrong == []


def test_private_tensorflow_stands_in_three_files():
    wrong = [
        f"{module} imports {name}"
        for path, module in modules()
        for name in imported(path)
        if module not in ("staging.tf_internals", "staging.tf_operations", "staging.tf_recording")
        and is_within(name, {"tensorflow.python", "tensorflow.core"})
    ]
    assert wrong == []


def python(code, *options, cwd=ROOT):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AUTOIMPORT")}
    environment["PYTHONPATH"] = str(ROOT)
    run = subprocess.run(
        [sys.executable, *options, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.parametrize("module", WITHOUT_TENSORFLOW)
def test_an_import_of_ours_loads_no_tensorflow(module):
    assert (
        python(f"import sys, {module}\nprint({{'tensorflow', 'keras', 'gast', 'numpy'}} & set(sys.modules))")
        == "set()\n"
    )


def test_importing_the_package_imports_nothing_else():
    code = "import sys\nbefore = set(sys.modules)\nimport autoimport\nprint(sorted(set(sys.modules) - before - {'typing'}))"
    assert "['autoimport']" in python(code) or "autoimport." not in python(code)


def test_a_program_without_tensorflow_runs_without_it(tmp_path):
    (tmp_path / "train.py").write_text(
        "import sys\ndef f(x):\n    while x:\n        x -= 1\n    return x\nfor _ in range(100): f(3)\nprint('tensorflow' in sys.modules)\n"
    )
    code = f"import runpy, sys\nsys.argv = ['autoimport', {str(tmp_path / 'train.py')!r}]\nrunpy.run_module('autoimport', run_name='__main__')"
    assert python(code) == "False\n"


def test_the_public_names_are_those_of_autograph_and_ours():
    import autoimport

    assert set(autoimport.__all__) <= set(dir(autoimport))
    with pytest.raises(AttributeError, match="module 'autoimport' has no attribute 'nothing'"):
        autoimport.nothing
