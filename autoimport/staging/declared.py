"""What the person has declared of a function, by decorator or setting -> "pure", "effectful", or None.

In: the function's dotted name. A declaration counts where a trace cannot see for itself: it may call what is pure, and
gives up before it calls what is effectful.
"""

from __future__ import annotations

from collections.abc import Iterable

from autoimport import config

PURE, EFFECTFUL = "pure", "effectful"

_by_decorator: dict[str, str] = {}


def declare(module: str, qualname: str, kind: str) -> None:
    """A decorator says that a function is of `kind`."""
    _by_decorator[f"{module}.{_plain(qualname)}"] = kind


def kind_of(module: str | None, qualname: str, file: str | None = None) -> str | None:
    """What is declared of a function.

    Args:
      module, qualname: as the function has them; file: its source, by whose name settings may call the main program.
    """
    options = config.current()
    if not (_by_decorator or options.pure or options.effectful):
        return None
    name = _plain(qualname)
    names = [f"{module}.{name}"]
    if module == "__main__" and file is not None:
        names.append(f"{file.replace(chr(92), '/').rpartition('/')[2].removesuffix('.py')}.{name}")
    if _by_decorator.get(names[0]) == EFFECTFUL or _matches(options.effectful, names):
        return EFFECTFUL
    return PURE if names[0] in _by_decorator or _matches(options.pure, names) else None


def _plain(qualname: str) -> str:
    return qualname.replace("<locals>.", "")


def _matches(patterns: Iterable[str], names: list[str]) -> bool:
    """Whether a name is one of the patterns, or below one that ends in `.*`."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith(".*") else name == pattern
        for pattern in patterns
        for name in names
    )
