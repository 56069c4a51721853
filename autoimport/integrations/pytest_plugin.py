"""`pytest -p autoimport`, or the ini option `autoimport` -> what is selected is converted while pytest runs.

Test modules included: pytest rewrites their assertions, we put the gates in, and both are in the code that runs. The
rewritten modules stay in our store, under a key of their own, in the place of pytest's own files.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook, rewrite_asserts

from autoimport import config, hook

INI = "autoimport"
_active = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini(
        INI,
        "packages to convert, or true for what [tool.autoimport] says (by default the tree of the root directory)",
        type="args",
        default=[],
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before the first conftest.py is imported."""
    _begin(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Begin now if a conftest.py has named the plugin."""
    _begin(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report as the options say. Of pytest-xdist's workers, which have no terminal, nothing is told."""
    options = config.current()
    if not terminalreporter.config.stash.get(_active, False) or not (options.report or options.report_json):
        return
    from autoimport.insight import report

    if options.report:
        terminalreporter.section("autoimport")
    text = io.StringIO()
    report.deliver(options, text)
    terminalreporter.write(text.getvalue())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave imports as they were."""
    if config.stash.get(_active, False):
        config.stash[_active] = False
        hook.adapters.pop(AssertionRewritingHook, None)
        hook.uninstall()


def _begin(pytest_config: pytest.Config) -> None:
    names = list(pytest_config.getini(INI))
    is_named = "autoimport" in (getattr(pytest_config.known_args_namespace, "plugins", None) or [])
    # TOML's `true` comes as "True".
    switch = config.SWITCH_WORDS.get(names[0].lower()) if len(names) == 1 else None
    is_wanted = switch is not False and (names or is_named)
    if pytest_config.stash.get(_active, False) or not is_wanted or config.is_off(os.environ):
        return
    root = str(pytest_config.rootpath)
    try:
        options = config.load(root, {"packages": _packages(pytest_config, names)} if names and not switch else {})
    except config.ConfigError as error:
        raise pytest.UsageError(f"autoimport: {error}") from None
    config.use(options)
    if options.report or options.report_json:
        from autoimport.insight import report  # noqa: F401 (starts its clock)
    hook.adapters[AssertionRewritingHook] = _converting
    hook.start(hook.select(options, root))
    pytest_config.stash[_active] = True


def _packages(pytest_config: pytest.Config, names: list[str]) -> tuple[str, ...]:
    place = str(pytest_config.inipath or "pytest")
    return config.checked_names(f"ini option {INI}", names, place, f"true, false or {config.NAMES.allowed}")


class ConvertingRewriter(AssertionRewritingHook):
    """pytest's loader of rewritten modules, whose code has gates, too."""

    @hook.part_of_import
    def exec_module(self, module: ModuleType) -> None:
        """Run the module: converted and rewritten, or as pytest does it."""
        code = _code_of(self, module)
        if code is None:
            super().exec_module(module)
        else:
            self._rewritten_names[module.__name__] = Path(str(module.__file__))
            exec(code, module.__dict__)


def _converting(loader: AssertionRewritingHook) -> AssertionRewritingHook:
    made = ConvertingRewriter.__new__(ConvertingRewriter)
    # One state: pytest tells its own object of the session, of names to rewrite, and so on.
    made.__dict__ = loader.__dict__
    return made


def _code_of(loader: ConvertingRewriter, module: ModuleType) -> CodeType | None:
    path = module.__spec__.origin if module.__spec__ is not None else None
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            source = file.read()
        variant = _variant(loader.config)
        cached = hook.load_cached(source, path, module.__name__, variant)
        if cached is not None:
            return cached
        compile(source, path, "exec", dont_inherit=True)  # Python's own warnings and errors come first, and once
    except (OSError, SyntaxError, ValueError):
        return None  # pytest meets it again, and says so

    def rewrite(tree: ast.Module) -> None:
        rewrite_asserts(tree, source, path, loader.config)

    return hook.convert(source, path, module.__name__, variant, rewrite)


def _variant(pytest_config: pytest.Config) -> str:
    """What rewriting depends on, as hex digits."""
    parts = pytest.__version__, pytest_config.getini("enable_assertion_pass_hook")
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that the run is a converted one."""
    return "autoimport: on" if config.stash.get(_active, False) else None
