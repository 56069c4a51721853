"""Names of installed distributions -> the modules that they install; and the packages that ask to be converted.

Read from the metadata folders themselves: `importlib.metadata` would cost a start more than everything else of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

ENTRY_POINTS = "autoimport.packages"


def normalized(name: str) -> str:
    """A distribution's name as packaging tools compare it."""
    return "-".join(part for part in name.lower().replace("_", "-").replace(".", "-").split("-") if part)


def installed() -> Iterator[tuple[str, str]]:
    """The distributions on `sys.path`: normalized name and metadata folder, the first of a name first."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue  # an archive, or nothing
        for name in names:
            stem, _, suffix = name.rpartition(".")
            if suffix in ("dist-info", "egg-info"):
                yield normalized(stem.partition("-")[0]), os.path.join(folder, name)


def resolve(names: Iterable[str]) -> tuple[str, ...]:
    """The names of modules as they are; those of distributions replaced by the modules of these."""
    names = tuple(names)
    wanted = {normalized(name): name for name in names if "." not in name}
    found: dict[str, tuple[str, ...]] = {}
    if wanted:
        for distribution, folder in installed():
            name = wanted.get(distribution)
            if name is not None and name not in found:
                found[name] = modules_of(folder)
    resolved: list[str] = []
    for name in names:
        modules = found.get(name, ())
        # A module of that name is what is meant, even if the distribution has others.
        if name in modules or not modules:
            resolved.append(name.replace("-", "_"))
        else:
            resolved.extend(modules)
    return tuple(resolved)


def modules_of(folder: str) -> tuple[str, ...]:
    """The top-level modules of the distribution with this metadata folder; none if it does not say."""
    listed = _read(os.path.join(folder, "top_level.txt")).split()
    if not listed:
        for line in _read(os.path.join(folder, "RECORD")).splitlines():
            path = line.partition(",")[0].strip('"')
            first, slash, _ = path.partition("/")
            module = first if slash else first.removesuffix(".py")
            if path.endswith(".py") and module.isidentifier() and module not in listed:
                listed.append(module)
    return tuple(listed)


def volunteers() -> tuple[str, ...]:
    """The packages that installed distributions name in their entry points of the group `autoimport.packages`."""
    packages: list[str] = []
    seen = set()
    for distribution, folder in installed():
        if distribution not in seen:
            seen.add(distribution)
            packages += _entry_points(_read(os.path.join(folder, "entry_points.txt")))
    return tuple(packages)


def _entry_points(text: str) -> Iterator[str]:
    if ENTRY_POINTS not in text:
        return
    is_in_group = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            is_in_group = line == f"[{ENTRY_POINTS}]"
        elif is_in_group and "=" in line and not line.startswith(("#", ";")):
            package = line.partition("=")[2].partition(":")[0].strip()
            if all(part.isidentifier() for part in package.split(".")):
                yield package


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
