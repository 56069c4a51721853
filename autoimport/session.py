"""Options and a program's place -> autoimport at work in this process, its report written at the end."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from types import CodeType
from typing import Any

from autoimport import config, hook, runner
from autoimport.runner import Convert
from autoimport.selection import Selection, is_library


def begin(options: config.Options, root: str, main: str | None = None) -> Selection:
    """Convert what the program imports from now on, and report as the options say.

    Args:
      options: become the effective options.
      root: the program's directory.
      main: the name of the module that is run, with `-m`.
    """
    config.use(options)
    selection = hook.select(options, root, main)
    hook.start(selection)
    hook.remember()
    if options.verify != "off":
        atexit.register(_summarize, os.getpid())
    if options.report or options.report_json:
        # Now, not at the end: it starts the clock. At exit, not after the program: threads and exit handlers of the
        # program come first, and a forked child reports nothing.
        from autoimport.insight import report  # noqa: F401

        atexit.register(_report, options, os.getpid())
    return selection


# Tells child processes of the program: its directory, the module that is run by name, and the file of its script.
PROGRAM = "_AUTOIMPORT_PROGRAM"


def pass_on(root: str, main: str | None, script: str | None, flags: Mapping[str, Any]) -> None:
    """Let the Python processes that the program starts do as this one does.

    Args:
      root, main: as for `begin`; script: the program's file, if it is one.
      flags: settings of this command line; what concerns the report is this process's own affair.
    """
    if os.environ.get("AUTOIMPORT", "") == "":
        os.environ["AUTOIMPORT"] = "1"
    for name, value in flags.items():
        if value is not None and not name.startswith("report"):
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            os.environ[config.BY_NAME[name].variable] = text
    os.environ[PROGRAM] = "\n".join([os.path.abspath(root), main or "", script or ""])


def inherited() -> tuple[str, str | None, str | None] | None:
    """What the program that has started this process passes on: root, main and script."""
    parts = os.environ.get(PROGRAM, "").split("\n")
    return (parts[0], parts[1] or None, parts[2] or None) if len(parts) == 3 else None


def make_way(root: str, before: set[str]) -> None:
    """Let the program have its own `copy.py` and `gast.py`, and us Python's and the installed one.

    Args:
      root: the program's directory; before: names of the modules that were there without us.
    """
    own = runner.shadowed(root)
    if own & {"gast", *sys.stdlib_module_names}:
        # What we load when it is needed, we load now: later `import copy` would find the program's.
        try:
            config.from_elsewhere((root, config.working_folder()), _load_all)
        except ModuleNotFoundError as error:
            hook.complain("nothing can be converted", error)
    runner.make_way(own, set(sys.modules) - before)


def _load_all() -> None:
    from autoimport.convert import module  # noqa: F401
    from autoimport.convert.key import content_key
    from autoimport.staging import gate  # noqa: F401

    content_key(b"")  # it looks once for what conversion depends on


def root_of_module(name: str) -> str:
    """The directory of a program that is run by module name: where its top-level package is, if it is not a library."""
    spec = PathFinder.find_spec(name.partition(".")[0])
    place = None
    if spec is not None and spec.submodule_search_locations:
        place = next(iter(spec.submodule_search_locations), None)
    elif spec is not None:
        place = spec.origin
    if place is None or not os.path.exists(place) or is_library(os.path.abspath(place)):
        return config.working_folder()
    return os.path.dirname(os.path.abspath(place))


def main_converter(selection: Selection, path: str | None) -> Convert:
    """What turns the source of `__main__` into code: in the file `path`, or without one."""

    def convert(source: bytes, file: str) -> CodeType | None:
        if path is None:
            from autoimport.staging import registry

            registry.texts[file] = source
        elif not selection.is_main_wanted(os.path.abspath(path)):
            return None
        return hook.load_cached(source, file, "__main__") or hook.convert(source, file, "__main__")

    return convert


def _summarize(process: int) -> None:
    verify = sys.modules.get("autoimport.staging.verify")  # not there when the program did not use TensorFlow
    if verify is not None and os.getpid() == process:
        print(verify.summary(), file=sys.stderr)


def _report(options: config.Options, process: int) -> None:
    from autoimport.insight import report

    if os.getpid() != process:
        return
    report.deliver(options, sys.stderr)
    trouble = hook.store().trouble() if options.report and sys.stderr is not None else None
    if trouble is not None:
        print(f"cache: {trouble}", file=sys.stderr)
