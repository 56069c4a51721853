"""Source text -> the content key of its conversion; imports no gast, so that a cache hit costs no more than a hash."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from functools import cache
from pathlib import Path


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
        "converter": _text_hash(Path(__file__).parent, "**/*.py"),
        "gast": _gast_version(),
        "python": f"{sys.implementation.cache_tag}-{importlib.util.MAGIC_NUMBER.hex()}",
        "optimize": str(sys.flags.optimize),
    }


def _text_hash(folder: Path, pattern: str) -> str:
    """A hash over source files: the version that nobody can forget to raise."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob(pattern)):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _gast_version() -> str:
    # Found without importing it; importlib.metadata would cost more than everything else here.
    spec = importlib.util.find_spec("gast")
    folders = spec.submodule_search_locations if spec else None
    return _text_hash(Path(folders[0]), "*.py") if folders else "none"
