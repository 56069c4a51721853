"""A module's name, then its file -> whether it is to be converted.

The name decides wherever it can, since that costs no I/O: an import of something that is not ours must not get slower.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

# Modules that were selected but are as Python, or somebody else, has made them -> why; for the report.
left_alone: dict[str, str] = {}

_LIBRARY_FOLDERS = {"site-packages", "dist-packages"}


@dataclass
class Selection:
    """Which modules are to be converted.

    Attributes:
      root: the program's directory, absolute; its tree is converted when `packages` is None.
      packages, exclude: as in `Options`.
      main: name of the module that is run as `__main__`, if it is run by name.
      volunteers: packages that have asked for it themselves; converted whatever `packages` says, unless excluded.
    """

    root: str
    packages: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    main: str | None = None
    volunteers: tuple[str, ...] = ()
    _environments: dict[str, bool] = field(default_factory=dict)

    def by_name(self, name: str) -> bool | None:
        """Whether the module is wanted; None when its file decides."""
        if name.partition(".")[0] == "autoimport" or (self.exclude and covers(self.exclude, name)):
            return False
        if name == "__main__" or name == self.main:
            return None
        if self.volunteers and covers(self.volunteers, name):
            return True
        if self.packages is not None:
            return covers(self.packages, name)
        return False if name.partition(".")[0] in sys.stdlib_module_names else None

    def by_folders(self, folders: Iterable[str]) -> bool:
        """Whether a module found in one of these folders can be wanted."""
        return any(isinstance(folder, str) and _is_within(os.path.abspath(folder), self.root) for folder in folders)

    def by_file(self, name: str, path: str) -> bool:
        """Whether the module in this file, whose name does not decide, is wanted."""
        path = os.path.abspath(path)
        if name == "__main__" or name == self.main:
            return self.is_main_wanted(path)
        return _is_within(path, self.root) and not is_library(path) and not self._in_environment(path)

    def is_main_wanted(self, path: str) -> bool:
        """Whether the file that is run as `__main__` is to be converted: not a tool that happens to be installed."""
        name = os.path.splitext(os.path.basename(path))[0]
        if covers(self.exclude, name) or covers(self.exclude, "__main__") or is_library(path):
            return False
        return os.path.dirname(path) != os.path.dirname(os.path.abspath(sys.executable))

    def _in_environment(self, path: str) -> bool:
        """Whether a folder between the root and the file is an installation of Python or a virtual environment."""
        folder = os.path.dirname(path)
        inside = []
        while folder != self.root and folder not in self._environments and _is_within(folder, self.root):
            inside.append(folder)
            folder = os.path.dirname(folder)
        answer = self._environments.get(folder, False)
        for folder in reversed(inside):
            answer = answer or folder in _installations() or os.path.isfile(os.path.join(folder, "pyvenv.cfg"))
            self._environments[folder] = answer
        return answer


def covers(names: Iterable[str], module: str) -> bool:
    """Whether the module is one of the names or a submodule of one."""
    for name in names:  # noqa: SIM110 (any() takes three times as long, and this is asked at every import)
        if module == name or module.startswith(name + "."):
            return True
    return False


def is_library(path: str) -> bool:
    """Whether the file belongs to an installed distribution."""
    return not _LIBRARY_FOLDERS.isdisjoint(path.split(os.sep))


def _installations() -> tuple[str, ...]:
    return sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)
