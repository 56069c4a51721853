"""A command line -> the program runs, as under python, with what is selected of it converted.

python -m autoimport [options] (script | -m module | -c code | -) [arguments]
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import autoimport
from autoimport import config, runner, session

USAGE = "usage: python -m autoimport [options] (script | -m module | -c code | -) [arguments]"


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Attributes:
      kind: "script", "-m", "-c" or "-", or one of `ANSWERS`; program: its path, name or text; arguments: what it gets.
      flags: settings by name.
      interpreter: how to start this Python without us.
    """

    kind: str
    program: str
    arguments: tuple[str, ...]
    flags: dict[str, Any]
    interpreter: tuple[str, ...] = ()


def main() -> None:
    """Run the program of this process's command line."""
    runner.supervise(prepare())


def prepare() -> runner.Program:
    """Do what this process's command line asks for, up to running the program."""
    arguments = sys.argv[1:]
    try:
        request = replace(parse(arguments), interpreter=_interpreter(arguments))
        if request.kind in ANSWERS:
            answer(ANSWERS[request.kind]())
        if is_command(request):
            run_command(request)
        if config.is_off(os.environ):
            run_plain(request)
        options = config.load(_root(request), request.flags)
        check_report(options)
    except config.ConfigError as error:
        refuse(f"autoimport: {error}")
    return _program(request, options)


def parse(arguments: list[str]) -> Request:
    """Split the command line into options, program and the program's own arguments.

    Raises:
      ConfigError: an option is unknown or has a bad value, or there is no program.
    """
    flags: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            return Request("-" if word == "-" else "script", word, tuple(rest), flags)
        if word[:2] in ("-m", "-c"):  # as Python does, also in one word
            if word[2:]:
                rest.insert(0, word[2:])
            if not rest:
                raise config.ConfigError(f"command line: {word}: nothing to run; {USAGE}")
            return Request(word[:2], rest.pop(0), tuple(rest), flags)
        if word in ANSWERS:
            return Request(word, "", (), flags)
        take_flag(word, rest, flags, ("-m", "-c", *ANSWERS))
    raise config.ConfigError(f"command line: no program; {USAGE}")


def take_flag(word: str, rest: list[str], flags: dict[str, Any], others: Iterable[str]) -> None:
    """Read one option, with its value if that stands in the words after it, into `flags`.

    Args:
      others: the options beside the settings, for the message.
    Raises:
      ConfigError: the option is unknown or has a bad value.
    """
    name, has_value, text = word.partition("=")
    setting = config.BY_FLAG.get(name)
    if setting is None:
        raise config.unknown_key("command line", name, (*config.BY_FLAG, *others))
    if setting.kind.alone is not None and not has_value:
        text = setting.kind.alone
    elif not has_value:
        if not rest:
            raise config.ConfigError(f"command line: {name}: a value is missing; use {setting.kind.allowed}")
        text = rest.pop(0)
    flags[setting.name] = config.from_flag(setting, text)


def check_report(options: config.Options) -> None:
    """Find out before the program runs what would lose its report.

    Raises:
      ConfigError: the folder of the report does not exist.
    """
    folder = os.path.dirname(options.report_json or os.sep)
    if not os.path.isdir(folder):
        raise config.ConfigError(f"{options.report_json}: the report cannot be written; make the folder {folder} first")


def is_command(request: Request) -> bool:
    """Whether the words ask for `build` or `cache`, and not for a program that happens to be called so."""
    program = request.program
    return (
        request.kind == "script"
        and program in ("build", "cache")
        and not os.path.isfile(program)
        and not os.path.isfile(os.path.join(program, "__main__.py"))
    )


def run_command(request: Request) -> NoReturn:
    """Carry out `build` or `cache`, and end."""
    from autoimport import build

    try:
        text, code = build.run(request.program, list(request.arguments), request.flags)
    except build.UsageError as error:
        refuse(f"autoimport: {error}")
    answer(text, code)


def run_plain(request: Request) -> NoReturn:
    """Become `python program`: nothing of ours is left in the process."""
    program = [request.program] if request.kind in ("script", "-") else [request.kind, request.program]
    command = [*request.interpreter, *program, *request.arguments]
    if sys.platform != "win32":
        os.execv(sys.executable, command)
    # There an exec'd process is not waited for by whoever waits for this one.
    import subprocess

    raise SystemExit(subprocess.run([sys.executable, *command[1:]], check=False).returncode)


def _interpreter(arguments: list[str]) -> tuple[str, ...]:
    """The beginning of this process's command line, without its end: `-m autoimport`, in one word or two."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(arguments)]
    if words[-1] == "autoimport":
        words.pop()
        option = words.pop().removesuffix("m")
    elif words[-1].endswith("mautoimport"):
        option = words.pop().removesuffix("mautoimport")
    else:
        return (words[0],)  # called by somebody else's code
    return (*words, option) if option != "-" else tuple(words)


def answer(text: str, code: int = 0) -> NoReturn:
    """End with what was asked for on stdout, and an exit code; if that cannot be written, with 1 and no traceback."""
    stream = sys.stdout
    if stream is not None:  # not closed
        try:
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="backslashreplace")  # a folder's name may be more than the stream can say
            print(text, flush=True)
        except OSError as error:
            # What is still in the buffer would be written at the end, and fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not isinstance(error, BrokenPipeError):  # nobody is there who wants to know
                print(f"autoimport: standard output: {error.strerror}", file=sys.stderr)
            code = 1
    raise SystemExit(code)


def refuse(message: str) -> NoReturn:
    """End with one line on stderr and exit code 2."""
    print(message, file=sys.stderr)
    raise SystemExit(2)


def help_text() -> str:
    """The usage and every option, from the table of settings."""
    lines = [USAGE, "", "options, also as [tool.autoimport] keys in pyproject.toml and as environment variables:"]
    for setting in config.SETTINGS:
        lines.append(f"  {setting.flag + setting.kind.shown:<22} {setting.meaning} ({setting.variable})")
    lines.append(f"  {'-h, --help':<22} print this text")
    lines.append(f"  {'-V, --version':<22} print the version")
    lines.append("")
    lines.append("python -m autoimport build (package | directory) ...      converts ahead of time")
    lines.append("python -m autoimport cache (info | clear | prune | path)  looks after what has been converted")
    lines.append("")
    lines.append("AUTOIMPORT=0 turns everything off; AUTOIMPORT=1 python script turns it on without this command.")
    return "\n".join(lines)


ANSWERS: dict[str, Callable[[], str]] = {
    "-h": help_text,
    "--help": help_text,
    "-V": lambda: f"autoimport {autoimport.__version__}",
    "--version": lambda: f"autoimport {autoimport.__version__}",
}


def _root(request: Request) -> str:
    """The directory of the program, from where configuration is searched and whose tree is converted."""
    if request.kind == "script":
        path = runner.absolute(request.program)
        if not os.path.isabs(path):  # no name, or no directory
            return config.working_folder()
        path = os.path.realpath(path)
        return path if os.path.isdir(path) else os.path.dirname(path)
    return session.root_of_module(request.program) if request.kind == "-m" else config.working_folder()


def _program(request: Request, options: config.Options) -> runner.Program:
    if request.kind == "-" and sys.stdin is not None and sys.stdin.isatty():
        run_plain(request)  # a conversation: there is no program to convert
    root = _root(request)
    modules = list(sys.modules)
    selection = session.begin(options, root, request.program if request.kind == "-m" else None)
    script = os.path.normpath(runner.absolute(request.program)) if request.kind == "script" else None
    session.pass_on(root, selection.main, script, request.flags)
    first_of_ours = modules.index("runpy") if "runpy" in modules else len(modules)
    session.make_way(root, set(modules[:first_of_ours]))
    main_module = runner.fresh_main()
    sys.argv[:] = ["-m" if request.kind == "-m" else request.program, *request.arguments]
    if request.kind == "-m":
        return runner.module_program(request.program)
    try:
        if request.kind == "-c":
            sys.argv[0] = "-c"
            return runner.command_program(request.program, session.main_converter(selection, None), main_module)
        if request.kind == "-":
            return runner.stdin_program(session.main_converter(selection, None), main_module)
        return runner.script_program(request.program, session.main_converter(selection, request.program), main_module)
    except runner.CannotOpen as error:
        refuse(str(error))
    except runner.Unreadable:
        run_plain(request)
