"""A module in a zip file -> its converted code: what Python's own loader of archives reads, with gates in it.

Entries are keyed by the source as ever, so a package costs one conversion, packed or not. Modules of which an archive
holds bytecode are left alone: Python runs that, and its file names are those of the place where it was compiled.
"""

from __future__ import annotations

from types import CodeType
from typing import Any
from zipimport import zipimporter

from autoimport import hook
from autoimport.selection import left_alone


class ConvertingArchive(zipimporter):
    """Python's loader for one archive in all but the code that it gives."""

    @hook.part_of_import
    def get_code(self, fullname: str) -> CodeType:
        """The module's code: converted, or as Python makes it."""
        path = self.get_filename(fullname)
        if not path.endswith(".py"):
            left_alone[fullname] = "its archive holds bytecode"
            return super().get_code(fullname)
        name = hook.name_of(fullname)
        cached = hook.load_cached(self.get_data(path), path, name, read=self.get_data)
        if cached is not None:
            return cached
        # On a miss Python goes first, to complain and to warn.
        plain = super().get_code(fullname)
        return hook.convert(self.get_data(path), path, name) or plain

    def __reduce__(self) -> Any:
        """Copy and pickle as what it stands for."""
        return hook.restored, (zipimporter, dict(self.__dict__))


ConvertingArchive.__name__, ConvertingArchive.__qualname__ = zipimporter.__name__, zipimporter.__qualname__
ConvertingArchive.__module__ = zipimporter.__module__


def converting(loader: zipimporter) -> zipimporter:
    """A converting loader in the place of Python's; any other that reads archives keeps its own way."""
    if type(loader) is not zipimporter:
        return loader
    made = ConvertingArchive.__new__(ConvertingArchive)
    made.__dict__ = loader.__dict__  # one state: it is the finder of the archive, too
    return made
