"""An import -> a converted module: a finder in front of the others, and a loader that only answers `get_code` anew.

The finder asks the other finders and keeps the spec that they give; reload, runpy and `exec_module` all take their
code from `get_code`, so nothing global is patched. The few functions of ours that stand on the stack of an import are
marked as parts of the import system: Python then leaves them out of tracebacks and warnings, like its own.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, TypeGuard, TypeVar
from zipimport import zipimporter

from autoimport import config
from autoimport.cache import MEGABYTE, Entry, Store, default_folder, read_source
from autoimport.convert.facts import Converted
from autoimport.convert.key import content_key
from autoimport.convert.making import Forms
from autoimport.distributions import resolve, volunteers
from autoimport.selection import Selection, left_alone
from autoimport.unchanged import Unchanged, status_of
from autoimport.watching import is_watched

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
        is_awaited = fullname == "tensorflow" or fullname.endswith(_TRAVELLERS)
        if not is_awaited and (
            is_wanted is False or (is_wanted is None and path is not None and not self.selection.by_folders(path))
        ):
            return None
        is_behind = False
        for finder in tuple(sys.meta_path):
            if not is_behind:
                is_behind = finder is self
                continue
            find_spec = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find_spec(fullname, path, target) if find_spec is not None else None
            if spec is not None:
                loader = spec.loader
                file = getattr(loader, "path", None) or spec.origin
                if loader is not None and isinstance(file, str):
                    if is_awaited:
                        if has_own_roads(loader):
                            awaiting = _Connecting if fullname == "tensorflow" else _Announcing
                            spec.loader = _swapped(awaiting, loader)
                    elif is_wanted or self.selection.by_file(fullname, file):
                        spec.loader = self._converting(fullname, loader)
                return spec
        return None

    def _converting(self, fullname: str, loader: Any) -> Any:
        if has_own_roads(loader):
            return _swapped(_Converting, loader)
        for kind, adapt in adapters.items():
            if isinstance(loader, kind):
                adapted = adapt(loader)
                if adapted is not loader:
                    return adapted
        if isinstance(loader, SourceFileLoader) and type(loader).get_data is SourceFileLoader.get_data:
            return _swapped(_Comparing, loader)
        left_alone[fullname] = f"it is loaded by {type(loader).__module__}.{type(loader).__qualname__}"
        return loader


# Ends of the names of modules that send functions elsewhere (those of `travel.TRAVELLERS`, which is loaded when one of
# them is imported), and the modules that do so without our gates by now.
_TRAVELLERS = ("cloudpickle.cloudpickle", "dill._dill", "keras.src.utils.python_utils", "keras.src.utils.generic_utils")
_taught: set[str] = set()
# Kinds of loaders that give code in a way of their own -> what makes a converting loader of one; see integrations.
adapters: dict[type, Callable[[Any], Any]] = {}


def _in_archive(loader: zipimporter) -> zipimporter:
    from autoimport.archives import converting

    return converting(loader)


adapters[zipimporter] = _in_archive


def has_own_roads(loader: Any) -> TypeGuard[SourceFileLoader]:
    """Whether the loader gets its code from a source file as Python's own does."""
    return isinstance(loader, SourceFileLoader) and (type(loader) is SourceFileLoader or _has_own_roads(type(loader)))


def _has_own_roads(kind: type) -> bool:
    return all(getattr(kind, name, None) is getattr(SourceFileLoader, name) for name in _OWN_ROADS)


class _Converting(SourceFileLoader):
    stands_for: type[SourceFileLoader]

    @part_of_import
    def get_code(self, fullname: str) -> CodeType | None:
        converted = code_from_cache(self, fullname)
        if converted is not None:
            return converted
        # On a miss Python goes first: it complains, warns and writes its bytecode file as it always does.
        plain = super().get_code(fullname)
        return code_from_source(self, fullname) or plain

    def __reduce__(self) -> Any:
        """Copy and pickle as what it stands for; a copy converts nothing."""
        return restored, (type(self).stands_for, dict(self.__dict__))


class _Comparing(_Converting):
    """Over a loader with roads of its own, which may change one module's code and leave the next one's as it is."""

    @part_of_import
    def get_code(self, fullname: str) -> CodeType | None:
        theirs = super(_Converting, self).get_code(fullname)
        source = read_source(self.path)
        try:
            is_changed = source is None or theirs != compile(source, self.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            is_changed = True
        if is_changed:
            left_alone[fullname] = f"its code has been changed by {self.stands_for.__module__}"
            return theirs
        return code_from_cache(self, fullname) or code_from_source(self, fullname) or theirs


class _Announcing(SourceFileLoader):
    @part_of_import
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        teach(module)


# Python 3.12 freezes some of its own.
_FROZEN = gc.get_freeze_count()


class _Connecting(SourceFileLoader):
    """Of TensorFlow. Its import makes a million objects that stay, and takes a fifth less if nobody looks for garbage
    among them; where they are old from the start, nobody does so soon afterwards either."""

    @part_of_import
    def exec_module(self, module: ModuleType) -> None:
        is_collecting = gc.isenabled()
        gc.disable()
        try:
            super().exec_module(module)
            attach()
        finally:
            if is_collecting:
                if gc.get_freeze_count() <= _FROZEN:
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()


def restored(kind: type[SourceFileLoader], state: dict[str, Any]) -> SourceFileLoader:
    loader = kind.__new__(kind)
    loader.__dict__.update(state)
    return loader


@cache
def _combined(ours: type[SourceFileLoader], theirs: type[SourceFileLoader]) -> type[SourceFileLoader]:
    """A class that is `theirs` in all but one method, down to its name."""
    bases = (ours,) if theirs is SourceFileLoader else (ours, theirs)
    names = {"__module__": theirs.__module__, "__qualname__": theirs.__qualname__, "stands_for": theirs}
    return type(theirs.__name__, bases, names)


def _swapped(ours: type[SourceFileLoader], loader: SourceFileLoader) -> SourceFileLoader:
    return restored(_combined(ours, type(loader)), loader.__dict__)


def code_from_cache(loader: SourceFileLoader, fullname: str) -> CodeType | None:
    """The module's converted code if it is in the cache, its gates made to work."""
    path, name = loader.path, name_of(fullname)
    if _is_program(name):
        source = read_source(path)
        return None if source is None else load_cached(source, path, name)
    try:
        packs, status = unchanged(), status_of(path)
        known = packs.take(path, status)
        if known is not None:
            return _loaded(*known, path, name, read_source)
        # Not `get_data`, which takes three times as long: nothing is executed of what is read here.
        source = read_source(path)
        if source is None:
            return None
        key = content_key(source)
        packs.note(path, status, key)
        entry = packs.store.load(key, path)
        return None if entry is None else _loaded(key, entry, path, name, read_source)
    except Exception as error:
        _failed(path, name, error)
        return None


def code_from_source(loader: SourceFileLoader, fullname: str) -> CodeType | None:
    """The module's code, converted now; None if it must stay plain Python."""
    try:
        source = loader.get_data(loader.path)
    except OSError:
        return None
    return convert(source, loader.path, name_of(fullname))


def name_of(fullname: str) -> str:
    """The `__name__` that the module will have: runpy takes the code of `__main__` without an import."""
    return "__main__" if _finder and _finder.selection.main == fullname and fullname not in sys.modules else fullname


def _is_program(name: str) -> bool:
    """Whether the module's globals are nobody else's: not if a person looks at them afterwards (`python -i`)."""
    return name == "__main__" and not (sys.flags.inspect or sys.flags.interactive)


def load_cached(
    source: bytes, path: str, name: str, variant: str = "", read: Callable[[str], bytes | None] = read_source
) -> CodeType | None:
    """Source -> code from the cache, or None; see `convert`. The source is read again if its entry is damaged later."""
    try:
        key = content_key(source, is_main=_is_program(name)) + variant
        entry = store().load(key, path)
        return None if entry is None else _loaded(key, entry, path, name, read)
    except Exception as error:
        _failed(path, name, error)
        return None


def _loaded(key: str, entry: Entry, path: str, name: str, read: Callable[[str], bytes | None]) -> CodeType:
    # Not a closure, whose cells would be five objects more for the garbage collector to visit.
    load_forms = partial(_load_forms, path, name, key, len(entry.gates), read)
    _register(entry, name, path, load_forms, gates=entry.gates, convert_ms=0.0)
    return entry.code


def convert(
    source: bytes, path: str, name: str, variant: str = "", rewrite: Callable[[Any], None] | None = None
) -> CodeType | None:
    """Source -> code, converted now and kept in the cache.

    Args:
      source, path: the module's text and file.
      name: its `__name__`, for the report.
      variant: hex digits that tell code that has been rewritten from other code of the same source.
      rewrite: changes the tree of the eager forms before it is compiled.
    Returns:
      The module's code, its gates made to work, or None if it must stay plain Python.
    """
    started = time.perf_counter()
    try:
        key = content_key(source, is_main=_is_program(name)) + variant
        converted = _converted(source, path, name, key, rewrite)
        if converted is None:
            return None
        took = (time.perf_counter() - started) * 1e3
        load_forms = partial(_to_be_kept, converted.forms, path, name, key)
        _register(converted, name, path, load_forms, gates=None, convert_ms=took)
        return converted.code
    except Exception as error:
        _failed(path, name, error)
        return None


def _converted(
    source: bytes, path: str, name: str, key: str, rewrite: Callable[[Any], None] | None
) -> Converted | None:
    """The module, converted and kept; None if that fails as a whole. What has failed in parts is not kept."""
    # Not at the top: conversion loads gast, which a warm start does without.
    from autoimport.convert.module import convert_module
    from autoimport.convert.parse import quietly

    with quietly():  # Python has compiled the module already, and given its warnings
        converted = convert_module(
            source, path, key=key, is_main=_is_program(name), strict=config.current().strict, rewrite=rewrite
        )
    for fault in converted.faults[:1]:
        _tell(f"{path} runs as plain Python, wholly or in parts: it could not be converted", name, fault)
    if converted.faults:
        return converted if converted.functions else None
    store().save(key, converted)
    return converted


def _register(
    module: Any, name: str, path: str, load_forms: Callable[[], Any], *, gates: bytes | None, convert_ms: float
) -> None:
    global _register_module
    if _register_module is None:
        from autoimport.staging import registry

        # Asked at the first module, which is the program where there is one: nothing of the person's has run yet.
        registry.is_watched = is_watched()
        registry.cache = (lambda key: store().load_learned(key), lambda key, value: store().save_learned(key, value))
        _register_module = registry.register_module
    _register_module(
        module.key, name, path, module.functions, load_forms,
        cached=gates is not None, convert_ms=convert_ms, gates=gates,
    )  # fmt: skip


# Imported on first need: many processes convert nothing.
_register_module: Callable[..., Any] | None = None


def _load_forms(path: str, name: str, key: str, count: int, read: Callable[[str], bytes | None]) -> Forms:
    """The graph forms of a module, and its source, from the store.

    If the entry has gone or is damaged they are made of its file; there are none if that is another one by now.
    """
    forms = store().load_forms(key, path)
    if forms is None:
        is_main = _is_program(name)
        try:
            source = read(path)
        except OSError:
            source = None
        if source is not None and key.startswith(content_key(source, is_main=is_main)):
            forms = Forms(source, path, count, is_main=is_main)
        else:
            forms = Forms(b"", path, count, made=dict.fromkeys(range(count)))
    return _to_be_kept(forms, path, name, key)


def _to_be_kept(forms: Forms, path: str, name: str, key: str) -> Forms:
    """Forms that tell their faults, and are kept when they have been made."""
    forms.keep = partial(store().save_forms, key)
    if not config.current().strict:
        forms.tell = partial(_tell, f"{path} runs as plain Python, wholly or in parts: it could not be converted", name)
    return forms


def _failed(path: str, name: str, error: Exception) -> None:
    """Our own work on a module has failed: that costs speed, with one line on stderr; it raises if strict."""
    if config.current().strict and not isinstance(error, RecursionError):
        raise error
    _tell(f"{path} runs as plain Python: it could not be converted", name, error)


def _tell(what: str, name: str, error: Exception) -> None:
    if isinstance(error, RecursionError):  # no fault, but a limit: of thousands of `elif`, or a call deep in recursion
        left_alone[name] = "wholly or in parts, it is nested too deeply to be converted"
    else:
        complain(what, error)


def complain(what: str, error: Exception) -> None:
    """Say on stderr, in one line, what a fault of ours leads to."""
    if sys.stderr is None:
        return
    if isinstance(error, ModuleNotFoundError) and error.name == "gast":
        _ask_for_gast()
        return
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"autoimport: {what} ({reason}); please report this", file=sys.stderr)


MISSING = "gast is missing: pip install autoimport-tensorflow"


@cache
def _ask_for_gast() -> None:
    """Say, once, that what conversion depends on is not installed: no fault of ours."""
    print(f"autoimport: {MISSING} (running plain Python)", file=sys.stderr)


_finder: Finder | None = None
_unchanged: Unchanged | None = None
_store_options: config.Options | None = None


def unchanged() -> Unchanged:
    """What is known of source files in the cache of the effective options."""
    global _unchanged, _store_options
    options = config.current()
    if _unchanged is None or _store_options is not options:
        folder = options.cache_dir or default_folder()
        _unchanged = Unchanged(Store(folder, options.cache_size * MEGABYTE, options.cache_shared))
        _store_options = options
    return _unchanged


def store() -> Store:
    """The cache of the effective options."""
    return unchanged().store


def start(selection: Selection) -> None:
    """Convert what is imported from now on, if selected."""
    global _finder
    uninstall()
    left_alone.update(dict.fromkeys(imported_already(selection), "it was imported before autoimport was turned on"))
    _finder = Finder(selection)
    sys.meta_path.insert(0, _finder)
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and not getattr(tensorflow.__spec__, "_initializing", False):
        attach()
    for name, module in list(sys.modules.items()):
        if name.endswith(_TRAVELLERS) and name not in _taught:
            teach(module)


_is_to_remember = False


def remember() -> None:
    """At the end of this process, keep what it has learned for the next one."""
    global _is_to_remember
    if not _is_to_remember:
        _is_to_remember = True
        import atexit

        # Registered early, so that threads and exit handlers of the program come first; forked children keep nothing.
        atexit.register(_keep_learned, os.getpid())


def _keep_learned(process: int) -> None:
    if os.getpid() != process:
        return
    try:
        unchanged().keep()
        learned = sys.modules.get("autoimport.staging.learned")  # not there when the program did not use TensorFlow
        if learned is not None:
            learned.keep_all()
    except Exception:
        if config.current().strict:
            raise


def select(options: config.Options, root: str, main: str | None = None) -> Selection:
    """What the options, and installed packages themselves, say is to be converted of a program in `root`."""
    packages = None if options.packages is None else resolve(options.packages)
    return Selection(os.path.abspath(root), packages, resolve(options.exclude), main, volunteers())


def install(packages: str | Iterable[str] | None = None, exclude: str | Iterable[str] = ()) -> None:
    """Convert modules that are imported from now on.

    What has been imported already stays as it is; a warning names it.

    Args:
      packages: names of modules, submodules included, or of distributions; None for what the configuration says (by
        default the directory tree of the program).
      exclude: names of modules to leave as they are.
    Raises:
      autoimport.config.ConfigError: the configuration cannot be used, or a name cannot be one.
    """
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    root = os.path.dirname(os.path.realpath(program)) if isinstance(program, str) else os.getcwd()
    options = config.load(root)
    if packages is not None:
        options = replace(options, packages=_checked("packages", packages))
    options = replace(options, exclude=(*options.exclude, *_checked("exclude", exclude)))
    config.use(options)
    if config.is_off(os.environ):
        return
    remember()
    selection = select(options, root)
    late = imported_already(selection)
    start(selection)
    if late:
        import warnings

        warnings.warn(
            f"autoimport: imported before autoimport.install(), so not converted: {', '.join(late)}", stacklevel=2
        )


def _checked(key: str, names: str | Iterable[str]) -> tuple[str, ...]:
    return config.checked_names(key, [names] if isinstance(names, str) else list(names))


def imported_already(selection: Selection) -> list[str]:
    """Names of modules that are selected, but have been imported unconverted; the program itself excepted."""
    converted = set()
    if "autoimport.staging.registry" in sys.modules:
        from autoimport.staging import registry

        converted = {module.name for module in registry.loaded}
    late = []
    for name, module in list(sys.modules.items()):
        is_wanted = selection.by_name(name)
        if is_wanted is False or name in converted or name in ("__main__", "__mp_main__"):
            continue
        spec = getattr(module, "__spec__", None)
        is_readable = spec is not None and (has_own_roads(spec.loader) or type(spec.loader) is zipimporter)
        path = spec.origin if spec is not None and is_readable else None
        if isinstance(path, str) and (is_wanted or selection.by_file(name, path)):
            late.append(name)
    return sorted(late)


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


def teach(module: ModuleType) -> None:
    """A module that sends functions elsewhere has been imported: let it send them without gates."""
    try:
        from autoimport import travel

        listener = travel.listener(module.__name__)
        if listener is not None and module.__name__ not in _taught:
            listener(module)
            _taught.add(module.__name__)
    except Exception as error:
        if config.current().strict:
            raise
        complain(f"functions that {module.__name__} sends elsewhere need autoimport there", error)
