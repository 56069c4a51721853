"""A source file as it is on disk -> its entry in the cache, as it was at the end of an earlier run with the same file.

A warm import neither reads the source nor looks for an entry then: those of a folder lie together in one more file. It
is trusted if the source has its size and the times of the last change of its content and of its record, to the
nanosecond: more than Python's own cache asks for. What is not known, or has changed, is read and found by its content.
"""

from __future__ import annotations

import marshal
import os
import time
from dataclasses import dataclass

from autoimport.cache import Entry, Store, unpacked
from autoimport.convert.key import folder_key

# Size, time of the last change of the content, and of anything about the file, which nobody can set.
Status = tuple[int, int, int]

_SECOND = 1_000_000_000
# How long a file must have been left alone: two changes within one tick of a disk's clock look like one.
_SETTLED_AFTER = 2 * _SECOND
# Bytes that say how long the index of a pack is.
_LENGTH = 8
_NOTHING = memoryview(b"")


@dataclass(slots=True)
class Pack:
    """The entries of a folder's modules.

    Attributes:
      index: file name -> its status, content key, and where in `entries` its entry begins and ends.
      entries: one after the other. They are not copied before they are needed: fresh memory is what costs most here.
    """

    index: dict[str, tuple[Status, str, int, int]]
    entries: memoryview


def status_of(path: str) -> Status | None:
    """What changes whenever the file does; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Unchanged:
    """The packs of a store, by folder of source files; each entry is given out once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._packs: dict[str, Pack] = {}
        self._read: dict[str, dict[str, tuple[Status, str]]] = {}

    def take(self, path: str, status: Status | None) -> tuple[str, Entry] | None:
        """The content key and entry of a file with this status; None if its content must be looked at."""
        folder, _, file = path.rpartition(os.sep)
        pack = self._packs.get(folder)
        if pack is None:
            pack = self._packs[folder] = self._load(folder)
        known = pack.index.pop(file, None)
        if known is None or known[0] != status:
            return None
        entry = unpacked(pack.entries[known[2] : known[3]], path)
        if not pack.index:
            pack.entries = _NOTHING
        return None if entry is None else (known[1], entry)

    def note(self, path: str, status: Status | None, key: str) -> None:
        """The file had this status before it was read, and the key is that of its content."""
        if status is None:
            return
        _, modified, changed = status
        # Whole seconds come from an archive or the image of a disk, where all files may have the same time; or the
        # disk's clock is as coarse as that.
        if modified % _SECOND and time.time_ns() - max(modified, changed) > _SETTLED_AFTER:
            folder, _, file = path.rpartition(os.sep)
            self._read.setdefault(folder, {})[file] = status, key

    def keep(self) -> None:
        """Put the entries of all files that had to be read into the packs for the next run."""
        while self._read:
            folder, read = self._read.popitem()
            try:
                there = set(os.listdir(folder))
            except OSError:
                continue
            packed = {file: (status, key, self.store.packed(key)) for file, (status, key) in read.items()}
            new = {file: (status, key, entry) for file, (status, key, entry) in packed.items() if entry is not None}
            if new:  # not what could not be converted, and is read again each time
                pack = self._load(folder)
                old = {
                    file: (status, key, pack.entries[start:end])
                    for file, (status, key, start, end) in pack.index.items()
                    if file in there
                }
                self._save(folder, {**old, **new})

    def _load(self, folder: str) -> Pack:
        content = self.store.load_pack(folder_key(folder))
        if content is None:
            return Pack({}, _NOTHING)
        length = int.from_bytes(content[:_LENGTH], "little")
        try:
            index = marshal.loads(content[_LENGTH : _LENGTH + length])
        except (EOFError, ValueError, TypeError):  # well written, but by another program
            index = None
        return Pack(index if isinstance(index, dict) else {}, content[_LENGTH + length :])

    def _save(self, folder: str, entries: dict[str, tuple[Status, str, memoryview]]) -> None:
        index, end = {}, 0
        for file, (status, key, entry) in entries.items():
            index[file] = status, key, end, end + len(entry)
            end += len(entry)
        packed = marshal.dumps(index)
        parts: list[bytes | memoryview] = [len(packed).to_bytes(_LENGTH, "little"), packed]
        parts += [entry for _, _, entry in entries.values()]
        self.store.save_pack(folder_key(folder), b"".join(parts))
