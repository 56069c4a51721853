"""The tally of a conversion of everything: over a sample of what is installed here, and what it must notice."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from autoimport.convert import module
from tests.convert.whole_library import Tally, files_in, library, tally_of

INSTALLED = files_in([Path(sysconfig.get_path("purelib"))])
SAMPLE = INSTALLED[:: max(1, len(INSTALLED) // 40)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(4))
def test_installed_packages_convert_without_failure(part: int) -> None:
    total = Tally()
    for file in SAMPLE[part::4]:
        total.add(tally_of(file))
    assert {} == dict(total.failures), total.first
    assert 0 < total.gates <= total.functions


def test_the_library_is_found_without_the_packages_beside_it() -> None:
    names = {file.name for file in files_in(library()[:1])}
    assert {"argparse.py", "tasks.py"} <= names
    assert not any("site-packages" in file.parts for file in files_in(library()[:1]))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(
        "import tensorflow as tf\n\ndef f(x):\n    for i in x:\n        x = tf.abs(tf.exp(x) + i)\n    return x\n"
    )
    return path


def test_functions_gates_and_regions_are_counted(written: Path) -> None:
    tally = tally_of(written)
    assert (1, 6, 1, 1, 1, 0) == (
        tally.files, tally.lines, tally.functions, tally.gates, tally.regions, tally.untouched,
    )  # fmt: skip
    assert {} == dict(tally.failures)


def test_what_python_cannot_compile_is_counted_apart(written: Path) -> None:
    written.write_text("def f(:")
    tally = tally_of(written)
    assert (0, 1) == (tally.files, tally.not_python)


def test_a_fault_is_a_failure(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise LookupError("lost")

    monkeypatch.setattr(module, "build_form", fail)
    assert 2 == tally_of(written).failures["fault: LookupError: lost"]


def test_a_difference_is_a_failure(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written.write_text("def f(x):\n    return x + 1\n")
    other = compile("def f(x):\n    return x - 1\n", str(written), "exec")
    monkeypatch.setattr(module, "compile_tree", lambda *_: other)
    assert {"difference"} == {kind.partition(":")[0] for kind in tally_of(written).failures}
