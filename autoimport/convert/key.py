"""Source text -> the content key of its conversion; imports no gast, so that a cache hit costs no more than a hash."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from functools import cache


def key_parts(source: bytes | str, *, is_main: bool = False) -> dict[str, str]:
    """What a conversion depends on, by name; the same parts always give the same code objects."""
    return {"source": hashlib.sha256(_encoded(source)).hexdigest(), "main": str(is_main), **_circumstances()}


def content_key(source: bytes | str, *, is_main: bool = False) -> str:
    """The hex key of the module with this source; one that is run as the program is converted differently."""
    digest = _digest_of_circumstances().copy()
    digest.update(b"main\n" if is_main else b"\n")
    digest.update(_encoded(source))
    return digest.hexdigest()[:32]


def folder_key(folder: str) -> str:
    """The hex key under which something is kept about the sources in a folder, as they are converted now."""
    digest = _digest_of_circumstances().copy()
    digest.update(b"folder\n" + os.fsencode(folder))
    return digest.hexdigest()[:32]


def _encoded(source: bytes | str) -> bytes:
    return source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source


@cache
def _digest_of_circumstances() -> hashlib._Hash:
    return hashlib.sha256("".join(f"{name}={value}\n" for name, value in _circumstances().items()).encode())


@cache
def _circumstances() -> dict[str, str]:
    return {
        "converter": _text_hash(os.path.dirname(__file__)),
        "gast": _gast_version(),
        "python": f"{sys.implementation.cache_tag}-{importlib.util.MAGIC_NUMBER.hex()}",
        "optimize": str(sys.flags.optimize),
        "debug_ranges": str(not _leaves_out_ranges()),
    }


def _leaves_out_ranges() -> bool:
    # sys.flags does not know of it.
    environ = {} if sys.flags.ignore_environment else os.environ
    return "no_debug_ranges" in sys._xoptions or bool(environ.get("PYTHONNODEBUGRANGES"))


def _text_hash(folder: str) -> str:
    """A hash over the source files in a folder tree: the version that nobody can forget to raise."""
    digest = hashlib.sha256()
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(place, name)
                digest.update(os.path.relpath(path, folder).encode() + b"\0")
                with open(path, "rb") as file:  # not pathlib: it costs a warm start more than all of this
                    digest.update(file.read() + b"\0")
    return digest.hexdigest()[:16]


def _gast_version() -> str:
    # Found without importing it; importlib.metadata would cost more than everything else here.
    spec = importlib.util.find_spec("gast")
    folders = spec.submodule_search_locations if spec else None
    return _text_hash(folders[0]) if folders else "none"
