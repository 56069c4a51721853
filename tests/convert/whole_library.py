"""Every Python file of the standard library and of installed packages -> what its conversion fails at, as a table.

Run as `python -m tests.convert.whole_library [--every N] [--jobs N] [FOLDER ...]`. Without folders: those of the
running Python. Files are converted, never run, and what comes out is compared with what CPython makes of them: the
whole code object where nothing was converted, everything behind the gates where something was.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from unittest import mock

from autoimport.convert import module
from autoimport.convert.facts import Converted
from tests.convert.code_equality import differences


@dataclass
class Tally:
    """What has become of some files.

    Attributes:
      files, lines: all that Python itself can compile.
      not_python: files that it cannot.
      functions, gates, regions: sites, those of functions with a form, those of regions with a form.
      untouched: files in which nothing has a form.
      failures: faults and differences, by kind, with the first file of each.
      refusals: functions without a form, by reason.
    """

    files: int = 0
    lines: int = 0
    not_python: int = 0
    functions: int = 0
    gates: int = 0
    regions: int = 0
    untouched: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)

    def fail(self, kind: str, where: str) -> None:
        self.failures[kind] += 1
        self.first.setdefault(kind, where)

    def add(self, other: Tally) -> None:
        for name in ("files", "lines", "not_python", "functions", "gates", "regions", "untouched"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures
        self.refusals += other.refusals
        self.first = other.first | self.first


def tally_of(path: Path) -> Tally:
    """Convert one file and compare it."""
    tally = Tally()
    try:
        source = path.read_bytes()
        theirs = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tally.not_python = 1
        return tally
    tally.files, tally.lines = 1, source.count(b"\n")
    try:
        converted = module.convert_module(source, str(path), strict=False)
        tally.untouched = not any(tuple(converted.forms))
        for reason, line in converted.forms.reasons.values():
            tally.refusals[reason] += 1
            if reason not in _KNOWN_LATE and not reason.startswith("internal"):
                tally.fail(f"a form that came out as impossible when its gate was there: {reason}", f"{path}:{line}")
        for fault in converted.faults:
            tally.fail(f"fault: {type(fault).__name__}: {fault}", str(path))
        _count(converted, tally)
        for text in differences(_without_regions(converted, source, path), theirs):
            tally.fail("difference: " + text.rpartition(": ")[2], text)
    except Exception as error:
        tally.fail(f"raised: {type(error).__name__}: {error}", str(path))
    return tally


# What cannot be known before a form is made.
_KNOWN_LATE = ("code nested too deeply",)


def _count(converted: Converted, tally: Tally) -> None:
    for facts in converted.functions:
        if facts.kind == "region":
            tally.regions += facts.has_form
        else:
            tally.functions += 1
            tally.gates += facts.has_form
            if facts.reason is not None:
                tally.refusals[facts.reason] += 1


def _without_regions(converted: Converted, source: bytes, path: Path) -> CodeType:
    """The converted code; where it has regions, which change the body itself, the code without them."""
    if all(facts.kind == "function" for facts in converted.functions):
        return converted.code
    with mock.patch.object(module, "find_regions", lambda *_, **__: []):
        return module.convert_module(source, str(path), strict=True).code


def library() -> list[Path]:
    """The folders of this Python."""
    return [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]


def files_in(folders: Iterable[Path]) -> list[Path]:
    """All source files below some folders, once; packages that a Python has beside its library are no part of it."""
    found = {(folder, file) for folder in folders for file in folder.rglob("*.py") if file.is_file()}
    return sorted({file for folder, file in found if "site-packages" not in file.relative_to(folder).parts})


def _tallies(files: list[Path], jobs: int) -> Iterator[Tally]:
    if jobs == 1:
        yield from map(_quietly, files)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(_quietly, files, chunksize=8)


def _quietly(file: Path) -> Tally:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tally_of(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="look at each Nth file only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("folders", nargs="*", type=Path)
    options = parser.parse_args()
    total = Tally()
    for tally in _tallies(files_in(options.folders or library())[:: options.every], options.jobs):
        total.add(tally)
    failed = sum(total.failures.values())
    print(f"Python {sys.version.split()[0]}: {total.files} files, {total.lines} lines; {total.not_python} not Python")
    print(f"{total.functions} functions, {total.gates} with a gate; {total.regions} regions")
    print(f"{total.untouched} files with nothing converted; {failed} failures")
    for kind, count in total.failures.most_common():
        print(f"  {count:6} {kind[:200]}  (first: {total.first[kind]})")
    for kind, count in total.refusals.most_common(20):
        print(f"  {count:6} without a gate: {kind}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
