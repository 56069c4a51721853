"""What the person has declared of a function, by decorator or setting -> "pure", "effectful", or None.

In: the function's dotted name. A declaration counts where a trace cannot see for itself: it may call what is pure, and
gives up before it calls what is effectful. What `do_not_convert` was called with is only noted here, for explanations.
"""

from __future__ import annotations

from collections.abc import Iterable

from autoimport import config

PURE, EFFECTFUL = "pure", "effectful"

_by_decorator: dict[str, str] = {}
_left_alone: set[str] = set()


def declare(module: str, qualname: str, kind: str) -> None:
    """A decorator says that a function is of `kind`."""
    _by_decorator[f"{module}.{_plain(qualname)}"] = kind


def leave_alone(module: str, qualname: str) -> None:
    """`do_not_convert` has made of a function one that runs as written."""
    _left_alone.add(f"{module}.{_plain(qualname)}")


def is_left_alone(module: str, qualname: str) -> bool:
    """Whether `do_not_convert` was called with the function; it may be called by other names all the same."""
    return f"{module}.{_plain(qualname)}" in _left_alone


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
