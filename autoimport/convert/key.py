"""Source text -> the content key of its conversion; imports no gast, so that a cache hit costs no more than a hash."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from functools import cache


def key_parts(source: bytes | str) -> dict[str, str]:
    """What a conversion depends on, by name; the same parts always give the same code objects."""
    text = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    return {"source": hashlib.sha256(text).hexdigest(), **_circumstances()}


def content_key(source: bytes | str) -> str:
    """The hex key of the module with this source."""
    parts = key_parts(source)
    return hashlib.sha256("\n".join(f"{name}={value}" for name, value in parts.items()).encode()).hexdigest()[:32]


@cache
def _circumstances() -> dict[str, str]:
    return {
        "converter": _text_hash(os.path.dirname(__file__)),
        "gast": _gast_version(),
        "python": f"{sys.implementation.cache_tag}-{importlib.util.MAGIC_NUMBER.hex()}",
        "optimize": str(sys.flags.optimize),
    }


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
