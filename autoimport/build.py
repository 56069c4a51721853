"""`build` and `cache` on the command line -> the store filled ahead of time, described, emptied.

python -m autoimport build [--jobs N] [options] (package | distribution | directory) ...
python -m autoimport cache (info | clear | prune | path)

Both work where TensorFlow is not installed: in the making of an image, on the head of a cluster.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from typing import Any

from autoimport import config, hook
from autoimport.cache import MEGABYTE, Store
from autoimport.convert.key import content_key
from autoimport.distributions import resolve

# Below so many modules starting other processes takes longer than they save.
_WORTH_PROCESSES = 16
_ACTIONS = ("info", "clear", "prune", "path")
_OTHER_OPTIONS = {"build": ("--jobs", "--help"), "cache": ("--help",)}
USAGE = {
    "build": """usage: python -m autoimport build [--jobs N] [options] (package | distribution | directory) ...

Converts all modules of what is named, ahead of time, in N processes (default: as many as there are cores).
Options: --cache-dir FOLDER says where to; python -m autoimport --help names the others.""",
    "cache": """usage: python -m autoimport cache [options] (info | clear | prune | path)

Looks after what has been converted: describes it, removes all of it, prunes it to --cache-size, names its folder.
Options: --cache-dir FOLDER, --cache-size N; python -m autoimport --help names the others.""",
}
Task = tuple[str, bool]  # a file, and whether it is to be run as a program


class UsageError(Exception):
    """The command cannot be carried out as it stands; the message is one line."""


def files_of(target: str) -> list[str]:
    """The source files of a directory, a package or module, or a distribution; sorted.

    Raises:
      UsageError: there is nothing of that name, or it is a file.
    """
    if os.path.isdir(target):
        return sorted(_sources(os.path.abspath(target)))
    if os.path.isfile(target):
        raise UsageError(f"build: {target}: a file; name its directory: build {os.path.dirname(target) or os.curdir}")
    files: list[str] = []
    for name in resolve([target]):
        files += _module_files(name)
    if not files:
        raise UsageError(f"build: {target}: neither a directory nor an installed package with source files")
    return sorted(files)


def _module_files(name: str) -> Iterator[str]:
    # Step by step, without an import: `importlib.util.find_spec` would run the packages on the way.
    path, spec = None, None
    parts = name.split(".")
    for depth in range(len(parts)):
        spec = _find(".".join(parts[: depth + 1]), path)
        path = spec.submodule_search_locations if spec is not None else None
    if spec is None:
        return
    if spec.submodule_search_locations is None:
        if spec.origin is not None and spec.origin.endswith(".py"):
            yield os.path.abspath(spec.origin)
        return
    for folder in spec.submodule_search_locations:
        yield from _sources(os.path.abspath(folder))


def _find(name: str, path: Any) -> Any:
    for finder in (*sys.meta_path, PathFinder):
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec(name, path) if find_spec is not None else None
        if spec is not None:
            return spec
    return None


def _sources(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name != "__pycache__"
            and not os.path.isfile(os.path.join(place, name, "pyvenv.cfg"))
        ]
        for name in files:
            if name.endswith(".py"):
                yield os.path.join(place, name)


def build_file(task: Task, store: Store) -> tuple[str, str]:
    """Convert a file and keep it; what has become of it ("converted", "kept", "unreadable", "faulty") and why."""
    from autoimport.convert.module import convert_module
    from autoimport.convert.parse import quietly

    path, is_main = task
    try:
        with open(path, "rb") as file:
            source = file.read()
        key = content_key(source, is_main=is_main)
        forms = store.load_forms(key, path)
        if forms is not None and forms.is_complete and store.load(key, path) is not None:
            return "kept", ""
        with quietly():
            converted = convert_module(source, path, key=key, is_main=is_main, strict=False, with_forms=True)
    except (OSError, SyntaxError, ValueError) as error:  # ValueError: a null byte, before Python 3.12
        return "unreadable", _unreadable(path, error)
    for fault in converted.faults:
        reason = " ".join(f"{type(fault).__name__}: {fault}".split())
        return "faulty", f"{path}: could not be converted ({reason}); please report this"
    if not store.save(key, converted):
        return "unreadable", store.trouble() or f"{store.folder} cannot be written to"
    return "converted", ""


def _unreadable(path: str, error: Exception) -> str:
    line = getattr(error, "lineno", None)
    cause = getattr(error, "msg", None) or getattr(error, "strerror", None) or str(error)
    return f"{path}{f':{line}' if line else ''}: not Python that can be read ({' '.join(cause.split())})"


def _is_program(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return os.path.basename(path) == "__main__.py" or b"__main__" in file.read()
    except OSError:
        return False


def tasks_of(files: Iterable[str]) -> list[Task]:
    """Each file as a module, and those that look like programs as that, too."""
    tasks = []
    for path in dict.fromkeys(files):
        tasks.append((path, False))
        if _is_program(path):
            tasks.append((path, True))
    return tasks


def _in_worker(task: Task, options: config.Options) -> tuple[str, str]:
    config.use(options)
    return build_file(task, hook.store())


def _outcomes(tasks: list[Task], jobs: int) -> Iterator[tuple[str, str]]:
    if jobs <= 1 or len(tasks) < _WORTH_PROCESSES:
        for task in tasks:
            yield build_file(task, hook.store())
        return
    import concurrent.futures
    import functools
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context) as pool:
        work = functools.partial(_in_worker, options=config.current())
        yield from pool.map(work, tasks, chunksize=max(1, len(tasks) // (jobs * 8)))


def build(targets: list[str], jobs: int) -> tuple[str, int]:
    """Convert and keep all modules of the targets; what has become of them, and the exit code.

    Raises:
      UsageError: a target does not exist, or gast does not.
    """
    tasks = tasks_of(file for target in targets for file in files_of(target))
    # A program in the current directory may have a `gast.py` of its own. Workers find things as we do.
    return config.from_elsewhere([config.working_folder()], lambda: _built(tasks, jobs))


def _built(tasks: list[Task], jobs: int) -> tuple[str, int]:
    try:
        from autoimport.convert import module  # noqa: F401 (now: in a worker it would be a traceback)
    except ModuleNotFoundError:
        raise UsageError(f"build: {hook.MISSING}") from None
    counts = dict.fromkeys(("converted", "kept", "unreadable", "faulty"), 0)
    told = {""}
    for number, (outcome, why) in enumerate(_outcomes(tasks, jobs), 1):
        counts[outcome] += 1
        if why not in told:  # of a folder that cannot be written to each file has the same to tell
            told.add(why)
            _show_progress("")
            print(f"autoimport: build: {why}", file=sys.stderr)
        filled = 30 * number // len(tasks)
        _show_progress(f"[{'#' * filled}{'.' * (30 - filled)}] {number}/{len(tasks)}")
    _show_progress("")
    is_failure = counts["faulty"] or (counts["unreadable"] and not counts["converted"] + counts["kept"])
    return (
        f"{counts['converted']} converted, {counts['kept']} there already, "
        f"{counts['unreadable'] + counts['faulty']} left as they are, in {hook.store().folder}"
    ), int(bool(is_failure))


def _show_progress(text: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def tend(words: list[str]) -> tuple[str, int]:
    """Carry out `cache ACTION`; what there is to say, and the exit code.

    Raises:
      UsageError: the words are no action, or more than one.
    """
    action, *more = words or [""]
    if action not in _ACTIONS:
        raise UsageError(f"cache: {action + ': unknown; ' if action else ''}use one of {', '.join(_ACTIONS)}")
    if more:
        raise UsageError(f"cache: {more[0]}: unknown; nothing follows {action}")
    store, limit = hook.store(), config.current().cache_size * MEGABYTE
    if action == "path":
        return store.folder, 0
    trouble = store.trouble()
    if trouble is not None:
        print(f"autoimport: cache: {trouble}", file=sys.stderr)
    if action == "info":
        kept = store.kept().values()
        size = sum(some.size for some in kept)
        modules = [some for some in kept if some.is_module]
        lines = [
            f"folder   {store.folder}",
            f"modules  {len(modules)}",
            f"learned  {sum(any(name.endswith('.learned') for name in module.names) for module in modules)} of them",
            f"size     {size / MEGABYTE:.1f} of {limit // MEGABYTE} MB",
        ]
        if store.shared is not None:
            lines.append(f"shared   {store.shared} (read only)")
        return "\n".join(lines), 0
    limit = 0 if action == "clear" else limit
    removed, freed = store.prune(limit)
    left = store.kept().values()
    is_too_much = sum(some.size for some in left) > limit
    if is_too_much:
        count = sum(some.is_module for some in left)
        print(f"autoimport: cache: {store.folder}: {count} modules cannot be removed", file=sys.stderr)
    return f"{removed} modules removed, {freed / MEGABYTE:.1f} MB freed", int(is_too_much)


def run(command: str, words: list[str], flags: dict[str, Any]) -> tuple[str, int]:
    """Carry out a command of the command line; what there is to say, and the exit code.

    Args:
      command: "build" or "cache"; words: what follows it; flags: settings that stood before it, by name.
    Raises:
      UsageError, config.ConfigError: what is asked for cannot be done; the message is one line.
    """
    from autoimport.cli import take_flag

    jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rest, targets = list(words), []
    while rest:
        word = rest.pop(0)
        if word.partition("=")[0] == "--jobs" and command == "build":
            text = word.partition("=")[2] or (rest.pop(0) if rest else "")
            if not text.isdecimal() or int(text) < 1:
                raise UsageError("build: --jobs: use a whole number from 1")
            jobs = int(text)
        elif word in ("-h", "--help"):
            return USAGE[command], 0
        elif word.startswith("-"):
            take_flag(word, rest, flags, _OTHER_OPTIONS[command])
        else:
            targets.append(word)
    config.use(config.load(os.getcwd(), flags))
    if command == "cache":
        return tend(targets)
    if not targets:
        raise UsageError("build: name packages, distributions or directories")
    return build(targets, jobs)
