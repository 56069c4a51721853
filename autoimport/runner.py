"""A program -> its run, in the real `__main__` and visibly no different from `python program`.

What CPython's `main` does in C is done here in Python: `sys.argv`, `sys.path[0]`, the names in `__main__`, the printing
of an exception without our frames, exit codes. What Python itself would refuse is left to Python itself.

A program is made ready first and run by `supervise` afterwards, so that little of ours is on the stack below it. At
each eager operation TensorFlow looks up the line of every frame, and CPython finds a line by reading on from the start
of the frame's code: frames that call from the end of long functions cost every operation up to a tenth.
"""

from __future__ import annotations

import builtins
import io
import os
import signal
import sys
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

# (source, path) -> converted code, or None to run the plain code.
Convert = Callable[[bytes, str], CodeType | None]


class CannotOpen(Exception):
    """The script is not there; the message is what Python says, the exit code 2."""


class Unreadable(Exception):
    """The program is not text, as far as its encoding tells: only Python's own reader says what Python says then."""


@dataclass(frozen=True)
class Program:
    """What is ready to run.

    Attributes:
      run: all of it. script: the `__main__` it runs in, if it is a script, for which CPython does more at the end.
    """

    run: Callable[[], Any]
    script: ModuleType | None = None


def script_program(script: str, convert: Convert, main: ModuleType) -> Program:
    """A source or bytecode file, or a directory or archive with a `__main__`.

    Args:
      script: as given on the command line, also in `sys.argv[0]`.
      convert: gives the converted code of a source file.
      main: the module to run in.
    Raises:
      CannotOpen: there is no such file.
      Unreadable: nothing has been done yet; Python itself must refuse it.
    """
    path = absolute(script)
    if _is_importable(path):
        put_first_on_path(path, even_if_safe=True)
        return _main_module("__main__", alter_argv=False)
    source = _read(path)
    put_first_on_path(os.path.dirname(os.path.realpath(path)))
    main.__dict__["__file__"] = path
    main.__dict__["__cached__"] = None
    if path.endswith(".pyc"):
        bytecode_loader = SourcelessFileLoader("__main__", path)
        main.__loader__ = bytecode_loader
        return Program(_execution(lambda: bytecode_loader.get_code("__main__"), main), main)
    main.__loader__ = SourceFileLoader("__main__", path)
    return Program(_of_source(source, path, convert, main), main)


def stdin_program(convert: Convert, main: ModuleType) -> Program:
    """The program that stands on the standard input.

    Raises:
      Unreadable: nothing has been done yet; Python itself must refuse it, and can read it again.
    """
    source = sys.stdin.buffer.read() if sys.stdin is not None else b""
    if not is_readable(source, ("utf-8", "utf-8-sig")):  # others it can read from files, but not from pipes
        _put_back(source)
        raise Unreadable
    put_first_on_path("")
    main.__dict__["__file__"] = "<stdin>"
    main.__dict__["__cached__"] = None
    return Program(_of_source(source, "<stdin>", convert, main), main)


def _put_back(source: bytes) -> None:
    """Make what has been read from the standard input readable once more."""
    if sys.stdin.seekable():
        os.lseek(sys.stdin.fileno(), -len(source), os.SEEK_CUR)
        return
    reader, writer = os.pipe()
    if os.fork() == 0:  # a pipe does not hold much, and somebody has to be there who writes
        os.close(reader)
        with open(writer, "wb") as pipe:
            pipe.write(source)
        os._exit(0)
    os.close(writer)
    os.dup2(reader, sys.stdin.fileno())


def command_program(command: str, convert: Convert, main: ModuleType) -> Program:
    """A program given as text, for `python -c`.

    Raises:
      Unreadable: nothing has been done yet; Python itself must refuse it.
    """
    try:
        source = (command + "\n").encode()
    except UnicodeEncodeError:  # the words of a command line may be any bytes
        raise Unreadable from None
    put_first_on_path("")
    if sys.version_info >= (3, 13):
        import linecache

        lines = [line + "\n" for line in command.splitlines()]
        linecache.cache["<string>"] = (len(command) + 1, None, lines, "<string>")
    return Program(_of_source(source, "<string>", convert, main))


def module_program(name: str) -> Program:
    """A module, or a package's `__main__`, for `python -m`; the import hook converts it."""
    return _main_module(name, alter_argv=True)


def fresh_main() -> ModuleType:
    """A `__main__` as Python makes it at start-up, in the place of the present one."""
    main = ModuleType("__main__")
    main.__loader__ = BuiltinImporter
    main.__dict__.update(__annotations__={}, __builtins__=builtins)
    _kept.append(sys.modules.get("__main__"))
    sys.modules["__main__"] = main
    return main


# The command's own __main__: it must outlive the run, since its frame is at the bottom of the stack.
_kept: list[Any] = []


def absolute(script: str) -> str:
    """The file of a script as Python has it in `__file__`: absolute, but not normalised, except for a lone dot."""
    if os.path.isabs(script):
        return script
    try:
        if sys.platform == "win32" or (script in ("", ".") and sys.version_info >= (3, 11)):
            return os.path.abspath(script)
        return os.path.join(os.getcwd(), script)
    except OSError:  # the current directory has been deleted
        return script


def path_is_safe() -> bool:
    """Whether Python was told to put nothing of the program's on `sys.path` (`-P`; `-I` before Python 3.11)."""
    return bool(getattr(sys.flags, "safe_path", sys.flags.isolated))


def put_first_on_path(folder: str, even_if_safe: bool = False) -> None:
    """Put `folder` where Python, started for us, has put its own first entry."""
    if not path_is_safe():
        sys.path[0] = folder
    elif even_if_safe:
        sys.path.insert(0, folder)


def shadowed(folder: str) -> set[str]:
    """Names of modules that the program has files or folders of its own for."""
    if os.path.realpath(folder) == os.path.realpath(os.path.dirname(os.__file__)):
        return set()  # a tool of the library, run by name
    try:
        own = {entry.partition(".")[0] for entry in os.listdir(folder or os.curdir)}
    except OSError:
        return set()
    return own - {"autoimport", "__main__"}


def make_way(shadowed: set[str], loaded_by_us: Iterable[str]) -> None:
    """Forget modules that only we have loaded and that the program has files of the same name for.

    Plain Python would import the program's own `queue.py`; we keep the module that we have.
    """
    for name in loaded_by_us:
        if name.partition(".")[0] in shadowed:
            _kept.append(sys.modules.pop(name, None))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        message = f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}"
        raise CannotOpen(f"{sys.orig_argv[0]}: {message}") from None
    if not path.endswith(".pyc") and not is_readable(source):
        raise Unreadable
    return source


def _is_importable(path: str) -> bool:
    """Whether Python would run the `__main__` in it: a directory, an archive."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        except OSError:  # the current directory has been deleted
            raise Unreadable from None
        return True
    return False


def _of_source(source: bytes, path: str, convert: Convert, main: ModuleType) -> Callable[[], Any]:
    # Compiled as it stands first, even if its conversion is in the cache: Python warns about, and refuses, a script
    # at every run.
    def code() -> CodeType:
        plain = compile(source, path, "exec", dont_inherit=True)
        return convert(source, path) or plain

    return _execution(code, main)


def _execution(make_code: Callable[[], Any], main: ModuleType) -> Callable[[], Any]:
    """What runs the code in `main`; where there is none to be had, what raises the reason."""
    try:
        return partial(exec, make_code(), main.__dict__)
    except BaseException as error:
        reason = error

    def refuse() -> None:
        raise reason

    return refuse


def _main_module(name: str, *, alter_argv: bool) -> Program:
    import runpy

    # The function that CPython's own `main` calls for `-m`; its two frames are in plain Python's traceback, too.
    return Program(partial(runpy._run_module_as_main, name, alter_argv))  # type: ignore[attr-defined]


def supervise(program: Program) -> None:
    """Run the program to its end; an exception is shown as Python's `main` does and becomes an exit code.

    For a script CPython does some more: it flushes the streams, and takes `__file__` and `__cached__` back unless the
    end is a SystemExit, so that exit handlers do not see them.

    Raises:
      SystemExit: the program has ended with an exit code.
    """
    try:
        program.run()
    except SystemExit:
        raise  # its argument, its exit code: Python's affair
    except BaseException as error:
        failure: BaseException | None = error
    else:
        failure = None
    script = program.script
    # Outside of the handler: for the exception hook no exception is being handled.
    if script is not None:
        _flush()
    if failure is not None:
        failure.__traceback__ = without_our_frames(failure)
        show(failure)
    if script is not None:
        for name in ("__file__", "__cached__"):
            script.__dict__.pop(name, None)
    if isinstance(failure, KeyboardInterrupt):
        _end_by_interrupt()
    if failure is not None:
        raise SystemExit(1)


def show(error: BaseException) -> None:
    """Give an exception that nobody has caught to `sys.excepthook`, as Python does at the end of a program."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = vars(sys).get("excepthook", _MISSING)
    if hook is _MISSING:  # None is called, and refused, like anything else
        _write("sys.excepthook is missing\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
        return
    sys.audit("sys.excepthook", hook, type(error), error, error.__traceback__)
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as second:
        second.__traceback__ = without_our_frames(second)
        _write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(second), second, second.__traceback__)
        _write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)


_MISSING: Any = object()


def without_our_frames(error: BaseException) -> TracebackType | None:
    """The traceback of an exception with the person's frames only.

    Where it comes from the inside of autoimport, the frames there are kept, to be reported; an interrupt comes from
    wherever the program is, and may have come while a graph was running.
    """
    entries, traceback = [], error.__traceback__
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    names = [str(entry.tb_frame.f_globals.get("__name__")) for entry in entries]
    end = len(names)
    while end and names[end - 1].startswith("autoimport.") and not isinstance(error, KeyboardInterrupt):
        end -= 1
    kept = [
        entry
        for position, (entry, name) in enumerate(zip(entries, names, strict=True))
        if name not in _ON_THE_STACK and (position >= end or not name.startswith("autoimport."))
    ]
    following = None
    for entry in reversed(kept):
        if entry.tb_next is not following:
            entry.tb_next = following
        following = entry
    return following


# Modules that stand on the stack below the program, or of an import.
_ON_THE_STACK = ("autoimport.runner", "autoimport.hook")


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or None


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)


def _end_by_interrupt() -> None:
    """Let Python end as it does after Ctrl-C: after all its cleaning up, by the signal.

    It does when a KeyboardInterrupt was the last thing to leave code that was run from text.
    """
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass
    raise SystemExit(128 + signal.SIGINT)


def is_readable(source: bytes, encodings: tuple[str, ...] = ()) -> bool:
    """Whether the source is text: its encoding is known (one of `encodings`, if given) and holds; no byte is null."""
    if b"\0" in source:
        return False
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        source.decode(encoding)
        if encodings and encoding not in encodings:
            return False
        return b"coding".decode(encoding) == "coding"  # Python reads no file in which ASCII is not ASCII
    except (SyntaxError, UnicodeDecodeError):
        return False
