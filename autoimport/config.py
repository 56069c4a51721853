"""pyproject.toml, environment and command line -> `Options`; what comes later wins.

One table, `SETTINGS`, says what each option is called, what it may be and what it is for; the three sources only
differ in how a value is spelled.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

Result = TypeVar("Result")

ENVIRONMENT_PREFIX = "AUTOIMPORT_"
# What text may say of a switch, in any case; those for off stand in autoimport_startup.pth, too.
SWITCH_WORDS = {
    **{"1": True, "true": True, "yes": True, "on": True},
    **{"0": False, "false": False, "no": False, "off": False},
}


class ConfigError(ValueError):
    """A setting that cannot be used; the message is one line with the place, the key and what is allowed."""


@dataclass(frozen=True)
class Options:
    """The effective options of this process.

    Attributes:
      packages: modules to convert, submodules included; None for the program's own directory tree.
      exclude: modules that are left as they are, submodules included.
      cache_dir: folder of converted modules; None for the user's cache folder.
      cache_size: megabytes that it may take; cache_shared: a second folder, which is only read.
      stage_after: eager calls before a function is traced, whatever it promises to save; None for the policy.
      report: print the report after the program; report_json: write it to this file; report_operations: time every
        operation for it, and print it if nothing is said of it.
      strict: a fault in autoimport raises instead of costing speed.
      pure: functions that a graph may call though their code is not converted: they only compute. effectful: functions
        that no graph may call. Dotted names; `pkg.*` means all of `pkg`.
      fidelity: "exact" keeps every bit of eager's results, "fast" allows TensorFlow's graph rewrites.
      learn: remember what became a graph, and what did not, for the next run of the program.
      verify: hold the first launches of each graph against eager; where they differ, "stop" the program, or "warn" and
        run eagerly. "off" to trust them.
    """

    packages: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    cache_dir: str | None = None
    cache_size: int = 1024
    cache_shared: str | None = None
    stage_after: int | None = None
    report: bool = False
    report_json: str | None = None
    report_operations: bool = False
    strict: bool = False
    pure: tuple[str, ...] = ()
    effectful: tuple[str, ...] = ()
    fidelity: str = "exact"
    learn: bool = True
    verify: str = "off"


@dataclass(frozen=True)
class Kind:
    """A kind of value: what is allowed, and how it is read from text and from TOML (ValueError if it is not).

    `shown` is how it follows an option in the help. With `alone`, the option on the command line needs no value, and
    means that. `no_text` is what TOML takes, where a text is a likely mistake.
    """

    allowed: str
    shown: str
    from_text: Callable[[str, str], Any]
    from_toml: Callable[[Any, str], Any]
    alone: str | None = None
    no_text: str | None = None


@dataclass(frozen=True)
class Setting:
    """One option: `name` as in pyproject.toml and `Options`, the other spellings follow from it."""

    name: str
    kind: Kind
    meaning: str

    @property
    def flag(self) -> str:
        """As on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """As in the environment."""
        return ENVIRONMENT_PREFIX + self.name.upper()


def _names(items: list[str], folder: str) -> tuple[str, ...]:
    for item in items:
        if not isinstance(item, str):
            raise ValueError(item)
        is_distribution = "-" in item and item.replace("-", "_").replace(".", "_").isidentifier()
        if not is_distribution and not all(part.isidentifier() for part in item.split(".")):
            raise ValueError(item)
    return tuple(items)


def _functions(items: list[str], folder: str) -> tuple[str, ...]:
    for item in items:
        parts = item.removesuffix(".*").split(".")
        if not all(part.isidentifier() for part in parts) or (len(parts) == 1 and not item.endswith(".*")):
            raise ValueError(item)
    return tuple(items)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(value)
    return value


def _switch(text: str, folder: str) -> bool:
    if text.lower() not in SWITCH_WORDS:
        raise ValueError(text)
    return SWITCH_WORDS[text.lower()]


def _count(value: Any, folder: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value


def _path(value: Any, folder: str) -> str:
    # Absolute at once: the program may change its directory.
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError(value)
    return os.path.abspath(os.path.join(folder, os.path.expanduser(value)))


def _fidelity(value: Any, folder: str) -> str:
    if value not in ("exact", "fast"):
        raise ValueError(value)
    return str(value)


def _verify(text: str, folder: str) -> str:
    return text if text in ("off", "stop", "warn") else "stop" if _switch(text, folder) else "off"


def _toml_verify(value: Any, folder: str) -> str:
    if type(value) is not bool and value != "warn":
        raise ValueError(value)
    return _verify(str(value), folder)


def _toml_switch(value: Any, folder: str) -> bool:
    if type(value) is not bool:
        raise ValueError(value)
    return value


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


NAMES = Kind(
    "names of modules or distributions, as in pkg or pkg.module",
    " NAMES",
    lambda text, folder: _names(_listed(text), folder),
    lambda value, folder: _names(_texts(value), folder),
    no_text='a list, as in ["pkg"]',
)
FUNCTIONS = Kind(
    "dotted names of functions, or of modules and classes with all in them, as in pkg.module.function or pkg.*",
    " NAMES",
    lambda text, folder: _functions(_listed(text), folder),
    lambda value, folder: _functions(_texts(value), folder),
    no_text='a list, as in ["pkg.module.function", "pkg.*"]',
)
SWITCH = Kind("true or false", "", _switch, _toml_switch, "true", "true or false, without quotes")
COUNT = Kind(
    "a whole number from 0",
    " N",
    lambda text, folder: _count(int(text), folder),
    _count,
    no_text="a whole number from 0, without quotes",
)
SWITCH_OFF = replace(SWITCH, shown="=false")
FILE = Kind("a path", " FILE", _path, _path)
FOLDER = replace(FILE, shown=" FOLDER")
FIDELITY = Kind('"exact" or "fast"', " exact|fast", _fidelity, _fidelity)
VERIFY = Kind(
    'true, false or "warn"', "[=warn]", _verify, _toml_verify, "true", 'true or false, without quotes, or "warn"'
)

SETTINGS = (
    Setting("packages", NAMES, "modules to convert, submodules included (default: the program's own directory tree)"),
    Setting("exclude", NAMES, "modules to leave as they are, submodules included"),
    Setting("cache_dir", FOLDER, "folder of converted modules (default: autoimport in the user's cache folder)"),
    Setting("cache_size", COUNT, "megabytes that it may take, least recently used modules go first (default: 1024)"),
    Setting("cache_shared", FOLDER, "a second such folder, prepared with `build`, that is only read"),
    Setting("stage_after", COUNT, "trace a function after this many eager calls (default: when it pays off)"),
    Setting("report", SWITCH, "print after the run what became a graph, and why the rest did not"),
    Setting("report_json", FILE, "write the report to this file"),
    Setting("report_operations", SWITCH, "time all operations: the report tells what part of that was inside graphs"),
    Setting("strict", SWITCH, "raise when autoimport itself fails, instead of running plain Python"),
    Setting("pure", FUNCTIONS, "functions that only compute: a graph may call them although they are not converted"),
    Setting("effectful", FUNCTIONS, "functions with effects that a graph may not call, nor become"),
    Setting("fidelity", FIDELITY, "exact: every bit as in eager (default); fast: TensorFlow may rewrite graphs"),
    Setting("learn", SWITCH_OFF, "remember what became a graph for the program's next run (default: true)"),
    Setting("verify", VERIFY, "run each graph's first launches eagerly, too, and stop (or warn) where they differ"),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}
BY_FLAG = {setting.flag: setting for setting in SETTINGS}
BY_VARIABLE = {setting.variable: setting for setting in SETTINGS}


def bad_value(place: str, key: str, value: Any, allowed: str) -> ConfigError:
    """The error for a value that is not allowed."""
    return ConfigError(f"{place}: {key}: {value!r} is not allowed; use {allowed}")


def unknown_key(place: str, key: str, allowed: Iterable[str]) -> ConfigError:
    """The error for a key that is not in the table."""
    return ConfigError(f"{place}: {key if key.isprintable() else repr(key)}: unknown; use one of {', '.join(allowed)}")


def checked_names(
    key: str, names: list[str], place: str = "install()", allowed: str = NAMES.allowed
) -> tuple[str, ...]:
    """Names of modules or distributions that a call, or what `place` says, has given."""
    try:
        return _names(names, "")
    except ValueError as error:
        raise bad_value(place, key, error.args[0], allowed) from None


def from_flag(setting: Setting, text: str) -> Any:
    """The value of a command-line option."""
    return _from_text(setting, text, "command line", setting.flag)


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings in the environment: `AUTOIMPORT_<KEY>`, and the names in `AUTOIMPORT=pkg_a,pkg_b`."""
    values: dict[str, Any] = {}
    toggle = environ.get("AUTOIMPORT", "")
    if toggle and toggle.lower() not in SWITCH_WORDS:
        try:
            values["packages"] = _names(_listed(toggle), "")
        except ValueError:
            raise bad_value("environment", "AUTOIMPORT", toggle, f"0, 1 or {NAMES.allowed}") from None
    for variable, text in environ.items():
        if variable.startswith(ENVIRONMENT_PREFIX):
            setting = BY_VARIABLE.get(variable)
            if setting is None:
                raise unknown_key("environment", variable, BY_VARIABLE)
            values[setting.name] = _from_text(setting, text, "environment", variable)
    return values


def from_pyproject(path: str) -> dict[str, Any]:
    """The settings in `[tool.autoimport]` of a pyproject.toml; relative paths are relative to its folder."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        # It may be anybody's, in some folder above the program: not worth the run.
        if sys.stderr is not None:
            print(f"autoimport: {path}: cannot be read ({error.strerror}), so it sets nothing", file=sys.stderr)
        return {}
    if b"autoimport" not in content:
        return {}  # most files: not worth the price of a TOML parser at every start
    tools = _parse_toml(content, path).get("tool", {})
    table = tools.get("autoimport", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise bad_value(path, "tool.autoimport", table, "a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        setting = BY_NAME.get(key)
        if setting is None:
            raise unknown_key(_place_of(key, content, path), f"tool.autoimport.{key}", BY_NAME)
        try:
            values[key] = setting.kind.from_toml(value, os.path.dirname(path))
        except ValueError:
            allowed = (isinstance(value, str) and setting.kind.no_text) or setting.kind.allowed
            raise bad_value(_place_of(key, content, path), f"tool.autoimport.{key}", value, allowed) from None
    return values


def _place_of(key: str, content: bytes, path: str) -> str:
    """The file, and the line of a key of `[tool.autoimport]` if it is found by its looks: the parser tells of none."""
    is_within = False
    for number, line in enumerate(content.decode().split("\n"), 1):
        if line.lstrip().startswith("["):
            is_within = line.partition("]")[0].replace(" ", "") == "[tool.autoimport"
        elif is_within and line.partition("=")[0].strip(" \t\"'") == key:
            return f"{path}:{number}"
    return path


def working_folder() -> str:
    """The current directory; if that has been deleted, a place in which nothing is."""
    try:
        return os.getcwd()
    except OSError:
        return os.devnull


def from_elsewhere(folders: Collection[str], load: Callable[[], Result]) -> Result:
    """What `load` gives while nothing is imported from these folders: a program may name its files as it likes."""
    path = list(sys.path)
    sys.path[:] = [entry for entry in path if os.path.abspath(entry) not in folders]
    try:
        return load()
    finally:
        sys.path[:] = path


def find_pyproject(folder: str) -> str | None:
    """The nearest pyproject.toml in `folder` or above it."""
    folder = os.path.abspath(folder)
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def load(folder: str, flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Options:
    """The options for a program in `folder`.

    Args:
      folder: where the search for pyproject.toml starts.
      flags: values from the command line, by name.
      environ: the environment (default: that of the process).
    Raises:
      ConfigError: a value is not allowed, or a key is unknown.
    """
    pyproject = find_pyproject(folder)
    values = from_pyproject(pyproject) if pyproject else {}
    values.update(from_environment(os.environ if environ is None else environ))
    values.update(flags or {})
    if values.get("report_operations") and not values.get("report_json"):
        values.setdefault("report", True)  # else nobody would see what was timed
    return replace(Options(), **values)


_current: Options | None = None


def current() -> Options:
    """The effective options; those of the environment when nothing else has been set."""
    global _current
    if _current is None:
        _current = replace(Options(), **from_environment(os.environ))
    return _current


def use(options: Options | None) -> None:
    """Make these the effective options (None: read the environment again on next need)."""
    global _current
    _current = options


def is_off(environ: Mapping[str, str]) -> bool:
    """Whether the environment turns all of autoimport off."""
    return SWITCH_WORDS.get(environ.get("AUTOIMPORT", "").lower()) is False


def _from_text(setting: Setting, text: str, place: str, key: str) -> Any:
    try:
        return setting.kind.from_text(text, working_folder())
    except ValueError:
        raise bad_value(place, key, text, setting.kind.allowed) from None


def _parse_toml(content: bytes, path: str) -> dict[str, Any]:
    if content.startswith(codecs.BOM_UTF8):
        raise ConfigError(f"{path}:1: a byte-order mark, which TOML forbids; save the file as UTF-8 without one")
    try:
        loads = from_elsewhere([working_folder()], _toml_parser)
    except ImportError:  # autoimport installed without what it depends on
        raise ConfigError(f"{path}: tool.autoimport: cannot be read without the package tomli") from None
    try:
        document = loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # tomllib and the decoder raise kinds of ValueError
        raise ConfigError(f"{path}: tool.autoimport: not valid TOML ({' '.join(str(error).split())})") from None
    return document


def _toml_parser() -> Callable[[str], dict[str, Any]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    loads: Callable[[str], dict[str, Any]] = tomllib.loads
    return loads
