"""`AUTOIMPORT` in the environment -> autoimport at work under plain `python`; reached by a .pth file.

The script is run by us without anything of Python's being replaced: before Python opens it, it asks `sys.path_hooks`
whether the script is something to import `__main__` from (a directory, an archive). For the one script of this
process our hook says yes, and Python asks it for the code of `__main__`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from autoimport import config, hook, runner, session
from autoimport.selection import Selection

_is_started = False


def start() -> None:
    """Turn autoimport on in this process, once; whatever fails, plain Python goes on."""
    global _is_started
    # Found on sys.path in two places, each with its .pth file; or such a file is older and does not know the word.
    if _is_started or config.is_off(os.environ):
        return
    _is_started = True
    modules = set(sys.modules)
    try:
        _start(modules)
    except config.ConfigError as error:
        print(f"autoimport: {error} (running plain Python)", file=sys.stderr)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"autoimport: could not start ({reason}); running plain Python", file=sys.stderr)


def _start(before: set[str]) -> None:
    # Python has set sys.argv already, with "-m" or "-c" where a program has no file of its own, "" where it has none.
    program = sys.argv[0] if sys.argv else ""
    module = _module_to_run() if program == "-m" else None
    if module is not None and module.partition(".")[0] == "autoimport":
        return  # the command does all of this itself
    is_absolute = os.path.isabs(runner.absolute(program))  # not if the current directory has been deleted
    is_script = program not in ("", "-m", "-c", "-") and is_absolute and os.path.exists(program)
    if module is not None:
        root = session.root_of_module(module)
    elif is_script:
        path = os.path.realpath(program)
        root = path if os.path.isdir(path) else os.path.dirname(path)
    else:
        root = config.working_folder()
    script = os.path.abspath(program) if is_script else None
    parent = session.inherited() if program in ("-c", "-m") else None
    if parent is not None:  # a worker process, as multiprocessing and its like start them
        root, main, script = parent
        module = module or main
        if script is not None:
            _convert_main_of_parent(script)
    selection = session.begin(config.load(root), root, module)
    session.pass_on(root, selection.main, script, {})
    if is_script and _can_be_run(program, selection):
        sys.path_hooks.append(ScriptHook(program, selection))
    session.make_way(root, before)


def _convert_main_of_parent(script: str) -> None:
    """Have the parent's script converted when this process runs it again, as `__mp_main__`.

    multiprocessing does so with `runpy.run_path`, which asks no finder and no loader but `compile`. That name is put
    into the module `runpy` of this worker process, and taken out again by its first use.
    """
    import runpy

    names = vars(runpy)

    def compile_main(source: bytes, path: str, mode: str) -> CodeType:
        plain: CodeType = compile(source, path, mode)
        if os.path.abspath(path) != script:
            return plain
        names.pop("compile", None)
        return hook.load_cached(source, path, "__mp_main__") or hook.convert(source, path, "__mp_main__") or plain

    names["compile"] = compile_main


def _module_to_run() -> str:
    # The module's name is the last word that is not an argument of the program; `-mname` is one word with its option.
    word = sys.orig_argv[-len(sys.argv)]
    return word.rpartition("-m")[2] if word.startswith("-") else word


def _can_be_run(program: str, selection: Selection) -> bool:
    """Whether the script is source to convert; in other cases, and before a prompt, Python runs it as ever."""
    if sys.flags.inspect or sys.flags.interactive or program.endswith(".pyc"):
        return False
    if not os.path.isfile(program) or not selection.is_main_wanted(os.path.realpath(program)):
        return False
    with open(program, "rb") as file:
        return runner.is_readable(file.read())


class ScriptHook:
    """A path hook that takes the script of this process, once, and nothing else."""

    def __init__(self, program: str, selection: Selection) -> None:
        self.program = program
        # Not called `path`, as a loader's file is: our own finder would take this one for somebody else's loader.
        self.place = runner.absolute(program)
        self.selection = selection
        self.main = sys.modules["__main__"]

    def __call__(self, path: str) -> ScriptHook:
        """Be the finder for the script's own path."""
        if path != self.place:
            raise ImportError(path)
        return self

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of `__main__`, with this object as its loader."""
        loader: Any = self
        return importlib.util.spec_from_loader(fullname, loader) if fullname == "__main__" else None

    def get_code(self, fullname: str) -> CodeType | None:
        """Run the script; Python sees it end by SystemExit instead of getting code to run."""
        sys.path_hooks.remove(self)
        sys.path_importer_cache.pop(self.place, None)
        # Python has put the script itself there, whatever it was told about safe paths.
        sys.path.pop(0)
        if not runner.path_is_safe():
            sys.path.insert(0, "")
        sys.modules["__main__"] = self.main
        convert = session.main_converter(self.selection, self.program)
        runner.supervise(runner.script_program(self.program, convert, self.main))
        raise SystemExit(0)
