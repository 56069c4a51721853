"""A content key -> the verified code object, facts and graph forms of a converted module, on disk.

Each module has up to three entries: its code with the facts, read at every start; its source with the graph forms that
have been made of it, read when the first of its functions becomes a graph; and what runs have learned about its
functions. Folders of sources have an entry each, too; see `unchanged`. The store never fails: an entry that is damaged,
foreign, or cannot be read or written is as good as none. Entries hold code, so a folder or a file that others can have
written is not used at all.
"""

from __future__ import annotations

import _imp
import marshal
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from types import CodeType
from typing import Any, overload

from autoimport.convert.facts import Converted, FunctionFacts
from autoimport.convert.making import Forms

# Raised whenever the layout of an entry changes; what is converted how is part of the content key.
_MAGIC = b"autoimport 3\n"
_HEAD_SIZE = len(_MAGIC) + 8
# Entries are plain files of our own: a link or a pipe under an entry's name is neither followed nor waited for.
_TO_READ_SOURCE = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_COMMON = _TO_READ_SOURCE | getattr(os, "O_NOFOLLOW", 0)
_TO_READ = getattr(os, "O_NONBLOCK", 0) | _COMMON
_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON

# Most sources are one piece of so many bytes: no question about the size is worth its time.
_AT_ONCE = 1 << 16

MEGABYTE = 1 << 20
_SUFFIXES = ("code", "forms", "learned", "pack")
# How old, in seconds, the note of an entry's last use may get, which is the time of its file: a note a start would
# cost every start a write. And how old a half-written file must be to belong to nobody any more.
_NOTED_FOR = 3600
# What a store is pruned to, so that it is not pruned again at the next save.
_PRUNED_TO = 0.9


# The checksum of CPython's own hash-based .pyc files: a third of the time of SHA-256, one damage in 2**64 passes.
_checksum: Callable[[int, bytes | memoryview], bytes] = _imp.source_hash
# What importlib does with the code that it reads from a .pyc file: entries may be moved, or shared by equal files.
fix_file: Callable[[CodeType, str], None] = _imp._fix_co_filename  # type: ignore[attr-defined]


class Facts(Sequence[FunctionFacts]):
    """The facts of a module's functions, made of their bytes on first need: most starts need none."""

    __slots__ = ("_made", "_packed")

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._made: tuple[FunctionFacts, ...] | None = None

    def _all(self) -> tuple[FunctionFacts, ...]:
        if self._made is None:
            self._made = tuple(FunctionFacts(*facts) for facts in marshal.loads(self._packed))
        return self._made

    @overload
    def __getitem__(self, index: int) -> FunctionFacts: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FunctionFacts]: ...
    def __getitem__(self, index: int | slice) -> FunctionFacts | Sequence[FunctionFacts]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())


class Entry:
    """What a warm import needs of a converted module.

    Attributes:
      key: the one in its gates.
      gates: 1 for each function with a graph form, else 0.
    """

    __slots__ = ("code", "functions", "gates", "key")

    def __init__(self, key: str, code: CodeType, gates: bytes, functions: Facts) -> None:
        self.key, self.code, self.gates, self.functions = key, code, gates, functions


@dataclass
class Kept:
    """The files of one module in a store, or the one of a folder.

    Attributes:
      names: of its files; size: their bytes; used: when it was used last, as a time.
    """

    names: list[str]
    size: int = 0
    used: float = 0.0

    @property
    def is_module(self) -> bool:
        """Whether it is a module, not a folder."""
        return any(name.endswith(".code") for name in self.names)


def read_source(path: str) -> bytes | None:
    """A source file's bytes, in a quarter of the time that a file object takes; None if it cannot be read."""
    try:
        descriptor = os.open(path, _TO_READ_SOURCE)
        try:
            parts = [os.read(descriptor, _AT_ONCE)]
            while len(parts[-1]) == _AT_ONCE:
                parts.append(os.read(descriptor, _AT_ONCE))
        finally:
            os.close(descriptor)
    except OSError:
        return None
    return b"".join(parts)


def unpacked(packed: memoryview, path: str) -> Entry | None:
    """The entry in these verified bytes, with `path` as the code's file; None if they are something else."""
    try:
        key, code, gates, facts = marshal.loads(packed)
    except (EOFError, ValueError, TypeError):  # well written, but by another program
        return None
    if not isinstance(code, CodeType):
        return None
    fix_file(code, path)
    return Entry(key, code, gates, Facts(facts))


def _read_entry(path: str) -> tuple[bytes, os.stat_result] | None:
    """A plain file's bytes and status; None if it is something else, or cannot be read."""
    try:
        descriptor = os.open(path, _TO_READ)
        try:
            status = os.fstat(descriptor)
            content = os.read(descriptor, status.st_size + 1) if stat.S_ISREG(status.st_mode) else b""
        finally:
            os.close(descriptor)
    except OSError:
        return None
    return (content, status) if len(content) == status.st_size else None


def default_folder() -> str:
    """`$XDG_CACHE_HOME/autoimport`, or `~/.cache/autoimport`; below `PYTHONPYCACHEPREFIX` if that is set."""
    base = sys.pycache_prefix or os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # as the XDG specification says
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "autoimport")


class Store:
    """A folder of converted modules, made on the first save.

    Args:
      folder: where entries are read and written.
      limit: bytes that they may take; the least recently used go first. None: no limit.
      shared: a second folder, which is only read: prepared for a machine, or an image.
    """

    def __init__(self, folder: str, limit: int | None = None, shared: str | None = None) -> None:
        self.folder = folder
        self.limit = limit
        self.shared = shared
        self._trusted: dict[str, bool] = {}
        self._owners = _owners()
        self._unchecked: int | None = None  # bytes written since the size was looked at

    def load(self, key: str, path: str) -> Entry | None:
        """The code and facts saved under `key`, with `path` as the code's file; None if there are none to trust."""
        packed = self.packed(key)
        return None if packed is None else unpacked(packed, path)

    def packed(self, key: str) -> memoryview | None:
        """What `unpacked` makes the entry of `key` from; None if there is none to trust."""
        return self._find(key + ".code")

    def load_forms(self, key: str, path: str) -> Forms | None:
        """The graph forms saved under `key`, and what the others are made of; None if there is nothing to trust."""
        payload = self._find(key + ".forms")
        if payload is None:
            return None
        try:
            source, is_main, count, stored, made = marshal.loads(payload)
        except (EOFError, ValueError, TypeError):
            return None
        if not isinstance(made, dict) or not all(isinstance(form, (CodeType, type(None))) for form in made.values()):
            return None
        for form in made.values():
            if form is not None:
                fix_file(form, path)
        return Forms(source, path, count, is_main=is_main, stored=stored, made=made)

    def save(self, key: str, converted: Converted) -> bool:
        """Keep a converted module, if the folder can be written to; whether it is kept now."""
        if not self._make_folder():
            return False
        gates = bytes(facts.can_launch for facts in converted.functions)
        facts = marshal.dumps(tuple(astuple(function) for function in converted.functions))
        # Forms first: a reader that finds the code expects to find them.
        forms_size = self._write_forms(key, converted.forms)
        code_size = self._write(key + ".code", marshal.dumps((converted.key, converted.code, gates, facts)))
        self._keep_bound(forms_size + code_size)
        return forms_size > 0 and code_size > 0

    def save_forms(self, key: str, forms: Forms) -> None:
        """Keep graph forms that were made after their module was saved, if the folder can be written to."""
        if self._make_folder():
            self._keep_bound(self._write_forms(key, forms))

    def _write_forms(self, key: str, forms: Forms) -> int:
        content = forms.source, forms.is_main, len(forms), forms.stored, forms.made
        return self._write(key + ".forms", marshal.dumps(content))

    def load_learned(self, key: str) -> Any:
        """What runs have learned about the module saved under `key`; None if there is nothing to trust."""
        payload = self._read(self.folder, key + ".learned", note_use=True)
        try:
            return marshal.loads(payload) if payload else None
        except (EOFError, ValueError, TypeError):
            return None

    def save_learned(self, key: str, value: Any) -> bool:
        """Keep what `load_learned` shall return, if the folder can be written to; whether it is kept now."""
        return self._write_one(key + ".learned", marshal.dumps(value))

    def load_pack(self, key: str) -> memoryview | None:
        """The pack of the folder with this key; None if there is none to trust."""
        return self._read(self.folder, key + ".pack", note_use=True)

    def save_pack(self, key: str, pack: bytes) -> bool:
        """Keep what `load_pack` shall return, if the folder can be written to; whether it is kept now."""
        return self._write_one(key + ".pack", pack)

    def kept(self) -> dict[str, Kept]:
        """What is in the folder, by key."""
        found: dict[str, Kept] = {}
        for entry, status in self._files():
            key, _, suffix = entry.partition(".")
            if suffix in _SUFFIXES:
                kept = found.setdefault(key, Kept([]))
                kept.names.append(entry)
                kept.size += status.st_size
                kept.used = max(kept.used, status.st_mtime)
        return found

    def prune(self, limit: int) -> tuple[int, int]:
        """Take out the least recently used modules until the rest fits; how many modules and bytes have gone.

        What killed processes have left half-written goes, too.
        """
        kept = self.kept()
        removed, freed, total = 0, 0, sum(module.size for module in kept.values())
        for module in sorted(kept.values(), key=lambda module: module.used):
            if total - freed <= limit:
                break
            # The code first: without it nobody looks for the forms, and if it stays, so do they.
            if all(self._remove(name) for name in sorted(module.names)):
                removed, freed = removed + module.is_module, freed + module.size
        now = time.time()
        for name, status in list(self._files()):
            if name.partition(".")[2] not in _SUFFIXES and now - status.st_mtime > _NOTED_FOR:
                self._remove(name)
        return removed, freed

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Files of the folder that are ours by their name: those of `KEY`, and half-written ones."""
        if not self._is_trusted(self.folder):
            return
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    key, _, rest = entry.name.partition(".")
                    if rest.partition(".")[0] in _SUFFIXES and not set(key) - set("0123456789abcdef"):
                        try:
                            yield entry.name, entry.stat(follow_symlinks=False)
                        except OSError:
                            pass  # removed by another process
        except OSError:
            return

    def _remove(self, name: str) -> bool:
        """Take a file out; whether it has gone."""
        try:
            os.unlink(os.path.join(self.folder, name))
        except FileNotFoundError:
            return True  # removed by another process
        except OSError:
            return False
        return True

    def _keep_bound(self, written: int) -> None:
        if self.limit is None:
            return
        # The first save of a process looks at the whole folder, and then each time that it has added a good deal.
        self._unchecked = None if self._unchecked is None else self._unchecked + written
        if self._unchecked is None or self._unchecked > self.limit // 16:
            self._unchecked = 0
            if sum(module.size for module in self.kept().values()) > self.limit:
                self.prune(int(self.limit * _PRUNED_TO))

    def _find(self, name: str) -> memoryview | None:
        payload = self._read(self.folder, name, note_use=True)
        if payload is None and self.shared is not None:
            payload = self._read(self.shared, name, note_use=False)
        return payload

    def _read(self, folder: str, name: str, *, note_use: bool) -> memoryview | None:
        if not self._is_trusted(folder):
            return None
        path = folder + os.sep + name
        found = _read_entry(path)
        if found is None:
            return None
        content, status = found
        if not self._is_owned(folder, status):
            return None
        payload = memoryview(content)[_HEAD_SIZE:]
        # Before unmarshalling: marshal crashes the interpreter on damaged data.
        if content[:_HEAD_SIZE] != _MAGIC + _checksum(len(payload), payload):
            return None
        if note_use and time.time() - status.st_mtime > _NOTED_FOR:
            try:
                os.utime(path)
            except OSError:
                pass  # read-only
        return payload

    def _write_one(self, name: str, payload: bytes) -> bool:
        size = self._write(name, payload) if self._make_folder() else 0
        self._keep_bound(size)
        return size > 0

    def _write(self, name: str, payload: bytes) -> int:
        """Write an entry; its size, 0 if that failed."""
        content = _MAGIC + _checksum(len(payload), payload) + payload
        path = os.path.join(self.folder, name)
        # A name of its own for each writer, then one atomic step: a reader never sees half an entry.
        partial = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
        is_written = False
        try:
            descriptor = os.open(partial, _TO_WRITE, 0o600)
        except OSError:
            return 0
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
            os.replace(partial, path)
            is_written = True
        except OSError:
            pass
        finally:
            if not is_written:  # also when interrupted
                try:
                    os.unlink(partial)
                except OSError:
                    pass
        return len(content) if is_written else 0

    def _make_folder(self) -> bool:
        try:
            os.makedirs(os.path.dirname(self.folder), exist_ok=True)
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            pass
        except OSError:
            return False
        self._trusted.pop(self.folder, None)
        return self._is_trusted(self.folder)

    def _is_trusted(self, folder: str) -> bool:
        """Whether nobody but this user, or for a shared folder the administrator, can have written its entries."""
        known = self._trusted.get(folder)
        if known is None:
            try:
                known = self._objection(folder) is None
            except OSError:
                return False
            self._trusted[folder] = known
        return known

    def _objection(self, folder: str) -> str | None:
        """What speaks against the use of what is in the folder, and what to do about it.

        Raises:
          OSError: there is nothing of that name that can be looked at.
        """
        status = os.lstat(folder)
        if stat.S_ISLNK(status.st_mode) and not self._is_owned(folder, status):
            return "is a link of another user's: not used; set another cache_dir"
        status = os.stat(folder)
        if not stat.S_ISDIR(status.st_mode):
            return "is not a folder: nothing is kept; set another cache_dir"
        if not self._is_owned(folder, status):
            return "belongs to another user: not used; set another cache_dir"
        if self._owners and status.st_mode & 0o022:
            return f"can be written to by others: not used; chmod 700 {folder}"
        return None

    def trouble(self) -> str | None:
        """Why modules are converted at every run anew, and what to do about it; None if they are kept."""
        place = self.folder
        try:
            objection = self._objection(place)
        except FileNotFoundError:  # it is made at the first save
            while not os.path.lexists(place):
                place = os.path.dirname(place)
            objection = None
        except OSError as error:
            objection = f"cannot be used ({error.strerror}): nothing is kept; set another cache_dir"
        if objection is None and not os.access(place, os.R_OK | os.W_OK | os.X_OK):
            objection = "cannot be read or written to: nothing new is kept; chmod it, or set another cache_dir"
        return None if objection is None else f"{place} {objection}"

    def _is_owned(self, folder: str, status: os.stat_result) -> bool:
        owners = self._owners
        return not owners or status.st_uid == owners[0] or (folder is self.shared and status.st_uid == owners[1])


def _owners() -> tuple[int, int] | None:
    # This user and the administrator. Elsewhere the user's profile folder is private by itself.
    return (os.geteuid(), 0) if hasattr(os, "geteuid") else None
