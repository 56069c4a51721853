"""A content key -> the verified code object, facts and graph forms of a converted module, on disk.

Each module has two entries: its code with the facts, read at every start, and its graph forms, read when the first of
its functions becomes a graph. The store never fails: an entry that is damaged, foreign, or cannot be read or written
is as good as none. Entries hold code, so a folder that others can write to is not used at all.
"""

from __future__ import annotations

import _imp
import hashlib
import marshal
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass
from types import CodeType
from typing import Any

from autoimport.convert.facts import Converted, FunctionFacts

# Raised whenever the layout of an entry changes; what is converted how is part of the content key.
_MAGIC = b"autoimport 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


# What importlib does with the code that it reads from a .pyc file: entries may be moved, or shared by equal files.
fix_file: Callable[[CodeType, str], None] = _imp._fix_co_filename  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Entry:
    """What a warm import needs of a converted module; `key` is the one in its gates."""

    key: str
    code: CodeType
    functions: tuple[FunctionFacts, ...]


def default_folder() -> str:
    """`$XDG_CACHE_HOME/autoimport`, or `~/.cache/autoimport`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # as the XDG specification says
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "autoimport")


class Store:
    """A folder of converted modules, made on the first save."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._trusted: bool | None = None

    def load(self, key: str, path: str) -> Entry | None:
        """The code and facts saved under `key`, with `path` as the code's file; None if there are none to trust."""
        payload = self._read(key + ".code")
        try:
            gate_key, code, functions = marshal.loads(payload) if payload else ("", None, ())
            if not isinstance(code, CodeType):
                return None
            entry = Entry(gate_key, code, tuple(FunctionFacts(*facts) for facts in functions))
        except (EOFError, ValueError, TypeError):  # well written, but by another program
            return None
        fix_file(code, path)
        return entry

    def load_forms(self, key: str, path: str) -> tuple[CodeType | None, ...] | None:
        """The graph forms saved under `key`, in site order; None if there are none to trust."""
        payload = self._read(key + ".forms")
        try:
            forms = marshal.loads(payload) if payload else None
        except (EOFError, ValueError, TypeError):
            return None
        if not isinstance(forms, tuple) or not all(isinstance(form, (CodeType, type(None))) for form in forms):
            return None
        for form in forms:
            if form is not None:
                fix_file(form, path)
        return forms

    def save(self, key: str, converted: Converted) -> None:
        """Keep a converted module, if the folder can be written to and Python may write bytecode."""
        if sys.dont_write_bytecode or not self._make_folder():
            return
        facts = tuple(astuple(function) for function in converted.functions)
        # Forms first: a reader that finds the code expects to find them.
        self._write(key + ".forms", converted.forms)
        self._write(key + ".code", (converted.key, converted.code, facts))

    def _read(self, name: str) -> bytes | None:
        if not self._is_private():
            return None
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                content = file.read()
        except OSError:
            return None
        head = len(_MAGIC) + _DIGEST_SIZE
        payload = content[head:]
        # Before unmarshalling: marshal crashes the interpreter on damaged data.
        if content[:head] != _MAGIC + hashlib.sha256(payload).digest():
            return None
        return payload

    def _write(self, name: str, value: Any) -> None:
        payload = marshal.dumps(value)
        path = os.path.join(self.folder, name)
        # A name of its own for each writer, then one atomic step: a reader never sees half an entry.
        partial = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            descriptor = os.open(partial, _FILE, 0o600)
        except OSError:
            return
        try:
            with open(descriptor, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            os.replace(partial, path)
        except OSError:
            try:
                os.unlink(partial)
            except OSError:
                pass

    def _make_folder(self) -> bool:
        try:
            os.makedirs(os.path.dirname(self.folder), exist_ok=True)
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            pass
        except OSError:
            return False
        self._trusted = None
        return self._is_private()

    def _is_private(self) -> bool:
        """Whether nobody but this user can have written the entries."""
        if self._trusted is None:
            try:
                status = os.stat(self.folder)
            except OSError:
                return False
            self._trusted = stat.S_ISDIR(status.st_mode)
            if hasattr(os, "geteuid"):  # elsewhere the user's profile folder is private by itself
                self._trusted &= status.st_uid == os.geteuid() and not status.st_mode & 0o022
        return self._trusted
