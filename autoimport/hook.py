"""An import -> a converted module: a finder in front of the others, and a loader that only answers `get_code` anew.

The finder asks the other finders and keeps the spec that they give; reload, runpy and `exec_module` all take their
code from `get_code`, so nothing global is patched. The few functions of ours that stand on the stack of an import are
marked as parts of the import system: Python then leaves them out of tracebacks and warnings, like its own.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, TypeGuard, TypeVar

from autoimport import config
from autoimport.cache import Store, default_folder
from autoimport.convert.key import content_key
from autoimport.selection import Selection

Function = TypeVar("Function", bound=Callable[..., Any])

# What a loader must not have changed: it would turn the source, or its code, into something that we do not know.
_OWN_ROADS = ("get_code", "source_to_code", "get_data", "exec_module", "path_stats")


def part_of_import(function: Function) -> Function:
    """Mark a function as part of the import system, by the file name of its code.

    CPython drops such frames from the traceback of a failing import, and skips them when it counts `stacklevel`.
    """
    machinery = SourceFileLoader.get_code.__code__.co_filename
    function.__code__ = function.__code__.replace(co_filename=machinery)
    return function


class Finder:
    """A meta path finder that takes what the finders behind it find, and swaps the loader of what to convert."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    @part_of_import
    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module to convert (and of TensorFlow, to hear of its import); None for any other."""
        is_wanted = self.selection.by_name(fullname)
        swap = _converting
        if fullname == "tensorflow":
            swap = _announcing
        elif is_wanted is False or (is_wanted is None and path is not None and not self.selection.by_folders(path)):
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find_spec = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find_spec(fullname, path, target) if find_spec is not None else None
            if spec is not None:
                file = getattr(spec.loader, "path", None)
                if (
                    has_own_roads(spec.loader)
                    and isinstance(file, str)
                    and (swap is _announcing or is_wanted or self.selection.by_file(fullname, file))
                ):
                    spec.loader = swap(spec.loader)
                return spec
        return None


def has_own_roads(loader: Any) -> TypeGuard[SourceFileLoader]:
    """Whether the loader gets its code from a source file as Python's own does."""
    kind = type(loader)
    return isinstance(loader, SourceFileLoader) and all(
        getattr(kind, name, None) is getattr(SourceFileLoader, name) for name in _OWN_ROADS
    )


class _Converting(SourceFileLoader):
    @part_of_import
    def get_code(self, fullname: str) -> CodeType | None:
        converted = code_from_cache(self, fullname)
        if converted is not None:
            return converted
        # On a miss Python goes first: it complains, warns and writes its bytecode file as it always does.
        plain = super().get_code(fullname)
        return code_from_source(self, fullname) or plain


class _Announcing(SourceFileLoader):
    @part_of_import
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        attach()


@cache
def _combined(ours: type[SourceFileLoader], theirs: type[SourceFileLoader]) -> type[SourceFileLoader]:
    """A class that is `theirs` in all but one method, down to its name."""
    bases = (ours,) if theirs is SourceFileLoader else (ours, theirs)
    return type(theirs.__name__, bases, {"__module__": theirs.__module__, "__qualname__": theirs.__qualname__})


def _swapped(ours: type[SourceFileLoader], loader: SourceFileLoader) -> SourceFileLoader:
    kind = _combined(ours, type(loader))
    swapped = kind.__new__(kind)
    swapped.__dict__.update(loader.__dict__)
    return swapped


def _converting(loader: SourceFileLoader) -> SourceFileLoader:
    return _swapped(_Converting, loader)


def _announcing(loader: SourceFileLoader) -> SourceFileLoader:
    return _swapped(_Announcing, loader)


def code_from_cache(loader: SourceFileLoader, fullname: str) -> CodeType | None:
    """The module's converted code if it is in the cache, its gates made to work."""
    try:
        return load_cached(loader.get_data(loader.path), loader.path, _name_of(fullname))
    except OSError:
        return None  # Python meets it again, and says so


def code_from_source(loader: SourceFileLoader, fullname: str) -> CodeType | None:
    """The module's code, converted now; None if it must stay plain Python."""
    try:
        source = loader.get_data(loader.path)
    except OSError:
        return None
    return convert(source, loader.path, _name_of(fullname))


def _name_of(fullname: str) -> str:
    """The `__name__` that the module will have: runpy takes the code of `__main__` without an import."""
    return "__main__" if _finder and _finder.selection.main == fullname and fullname not in sys.modules else fullname


def load_cached(source: bytes, path: str, name: str) -> CodeType | None:
    """Source -> code from the cache, or None; see `convert`."""
    started = time.perf_counter()
    with _Guard(path) as guard:
        key = content_key(source)
        entry = store().load(key, path)
        if entry is not None:

            def load_forms() -> tuple[CodeType | None, ...]:
                return store().load_forms(key, path) or _converted_again(source, path, len(entry.functions))

            _register(entry, name, path, load_forms, is_cached=True, started=started)
            guard.code = entry.code
    return guard.code


def convert(source: bytes, path: str, name: str) -> CodeType | None:
    """Source -> code, converted now and kept in the cache.

    Args:
      source, path: the module's text and file.
      name: its `__name__`, for the report.
    Returns:
      The module's code, its gates made to work, or None if it must stay plain Python.
    """
    started = time.perf_counter()
    with _Guard(path) as guard:
        # Not at the top: conversion loads gast, which a warm start does without.
        from autoimport.convert.module import convert_module
        from autoimport.convert.parse import quietly

        with quietly():  # Python has compiled the module already, and given its warnings
            converted = convert_module(source, path)
        _register(converted, name, path, lambda: converted.forms, is_cached=False, started=started)
        guard.code = converted.code
        store().save(content_key(source), converted)
    return guard.code


def _register(
    module: Any, name: str, path: str, load_forms: Callable[[], Any], *, is_cached: bool, started: float
) -> None:
    from autoimport.staging.registry import register_module

    elapsed = (time.perf_counter() - started) * 1e3
    register_module(module.key, name, path, module.functions, load_forms, cached=is_cached, convert_ms=elapsed)


def _converted_again(source: bytes, path: str, count: int) -> tuple[CodeType | None, ...]:
    """The graph forms of a module whose entry has gone or is damaged."""
    with _Guard(path):
        from autoimport.convert.module import convert_module
        from autoimport.convert.parse import quietly

        with quietly():
            converted = convert_module(source, path)
        store().save(content_key(source), converted)
        return converted.forms
    return (None,) * count


class _Guard:
    """Around our own work on a module: what fails here costs speed, with one line on stderr; it raises if strict."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.code: CodeType | None = None

    def __enter__(self) -> _Guard:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> bool:
        if error is None:
            return False
        if not isinstance(error, Exception) or config.current().strict:
            return False
        complain(f"{self.path} runs as plain Python: it could not be converted", error)
        return True


def complain(what: str, error: Exception) -> None:
    """Say on stderr, in one line, what a fault of ours leads to."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"autoimport: {what} ({reason}); please report this", file=sys.stderr)


_finder: Finder | None = None
_store: Store | None = None


def store() -> Store:
    """The cache of the effective options."""
    global _store
    folder = config.current().cache_dir or default_folder()
    if _store is None or _store.folder != folder:
        _store = Store(folder)
    return _store


def start(selection: Selection) -> None:
    """Convert what is imported from now on, if selected."""
    global _finder
    uninstall()
    _finder = Finder(selection)
    sys.meta_path.insert(0, _finder)
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and not getattr(tensorflow.__spec__, "_initializing", False):
        attach()


def install(packages: Iterable[str] | None = None, exclude: Iterable[str] = ()) -> None:
    """Convert modules that are imported from now on.

    Args:
      packages: names of modules, submodules included; None for what the configuration says (by default the directory
        tree of the program).
      exclude: names of modules to leave as they are.
    Raises:
      autoimport.config.ConfigError: the configuration cannot be used.
    """
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    root = os.path.dirname(os.path.realpath(program)) if isinstance(program, str) else os.getcwd()
    options = config.load(root)
    config.use(options)
    if not config.is_off(os.environ):
        names = options.packages if packages is None else tuple(packages)
        start(Selection(root, names, (*options.exclude, *exclude)))


def uninstall() -> None:
    """Import modules as Python does; what has been converted stays so."""
    global _finder
    if _finder is not None and _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    _finder = None


def attach() -> None:
    """TensorFlow has just been imported: let staging connect with it."""
    try:
        from autoimport.staging import gate

        gate.attach()
    except Exception as error:
        if config.current().strict:
            raise
        complain("the program runs as plain Python: TensorFlow could not be connected with", error)
