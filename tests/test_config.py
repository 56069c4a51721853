"""Options: three sources, one table."""

import os
from pathlib import Path

import pytest

import autoimport
from autoimport import config
from autoimport.config import ConfigError, Options

TEXTS = {
    "packages": ("a, b.c", ("a", "b.c")),
    "exclude": ("a.x", ("a.x",)),
    "cache_dir": ("/tmp/cache", "/tmp/cache"),
    "cache_size": ("64", 64),
    "cache_shared": ("/srv/cache", "/srv/cache"),
    "stage_after": ("3", 3),
    "report": ("true", True),
    "report_json": ("/tmp/report.json", "/tmp/report.json"),
    "report_operations": ("on", True),
    "strict": ("1", True),
    "pure": ("a.fn, b.*", ("a.fn", "b.*")),
    "effectful": ("a.Class.method", ("a.Class.method",)),
    "fidelity": ("fast", "fast"),
    "learn": ("0", False),
    "verify": ("warn", "warn"),
}
TOML = {
    "packages": '["a", "b.c"]',
    "exclude": '["a.x"]',
    "cache_dir": '"/tmp/cache"',
    "cache_size": "64",
    "cache_shared": '"/srv/cache"',
    "stage_after": "3",
    "report": "true",
    "report_json": '"/tmp/report.json"',
    "report_operations": "true",
    "strict": "true",
    "pure": '["a.fn", "b.*"]',
    "effectful": '["a.Class.method"]',
    "fidelity": '"fast"',
    "learn": "false",
    "verify": '"warn"',
}
BAD_TOML = {
    "packages": '"a"',
    "exclude": '["not a name"]',
    "cache_dir": "1",
    "cache_size": "1.5",
    "cache_shared": "[]",
    "stage_after": "-1",
    "report": '"yes"',
    "report_json": "true",
    "report_operations": "3",
    "strict": "1",
    "pure": '["fn"]',
    "effectful": '["a.*.fn"]',
    "fidelity": '"quick"',
    "learn": "1",
    "verify": '"stop"',
}
BAD_TEXT = {
    "packages": "a,1b",
    "exclude": "a..b",
    "cache_dir": "",
    "cache_size": "64 MB",
    "cache_shared": "",
    "stage_after": "soon",
    "report": "maybe",
    "report_json": "",
    "report_operations": "all",
    "strict": "2",
    "pure": "a.1",
    "effectful": "*",
    "fidelity": "quick",
    "learn": "never",
    "verify": "always",
}


def pyproject(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def test_the_table_has_every_option_and_nothing_else():
    assert set(config.BY_NAME) == set(Options.__dataclass_fields__) == set(TEXTS)


def test_nothing_set_gives_the_defaults(tmp_path):
    assert config.load(str(tmp_path), {}, {}) == Options()


@pytest.mark.parametrize("name", TEXTS)
def test_each_option_is_read_from_the_environment(name, tmp_path):
    text, value = TEXTS[name]
    assert getattr(config.load(str(tmp_path), {}, {f"AUTOIMPORT_{name.upper()}": text}), name) == value


@pytest.mark.parametrize("name", TEXTS)
def test_each_option_is_read_from_the_command_line(name):
    text, value = TEXTS[name]
    setting = config.BY_FLAG["--" + name.replace("_", "-")]
    assert (setting.name, config.from_flag(setting, text)) == (name, value)


@pytest.mark.parametrize("name", TOML)
def test_each_option_is_read_from_pyproject(name, tmp_path):
    pyproject(tmp_path, f"[tool.autoimport]\n{name} = {TOML[name]}\n")
    assert getattr(config.load(str(tmp_path), {}, {}), name) == TEXTS[name][1]


@pytest.mark.parametrize("name", BAD_TOML)
def test_a_bad_value_in_pyproject_names_file_key_and_what_is_allowed(name, tmp_path):
    path = pyproject(tmp_path, f"[tool.autoimport]\n{name} = {BAD_TOML[name]}\n")
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    message = str(error.value)
    kind = config.BY_NAME[name].kind
    allowed = (kind.no_text if BAD_TOML[name].startswith('"') else None) or kind.allowed
    assert message.startswith(f"{path}:2: tool.autoimport.{name}: ")
    assert message.endswith(f"is not allowed; use {allowed}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('packages = "x"', """'x' is not allowed; use a list, as in ["pkg"]"""),
        ('pure = "scipy.*"', """'scipy.*' is not allowed; use a list, as in ["pkg.module.function", "pkg.*"]"""),
        ('report = "true"', "'true' is not allowed; use true or false, without quotes"),
        ('cache_size = "64"', "'64' is not allowed; use a whole number from 0, without quotes"),
        ('verify = "true"', """'true' is not allowed; use true or false, without quotes, or "warn\""""),
    ],
)
def test_a_text_in_pyproject_where_toml_has_something_else_says_what(text, message, tmp_path):
    pyproject(tmp_path, f"[tool.autoimport]\n{text}\n")
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    assert str(error.value).partition(f"{text.split()[0]}: ")[2] == message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[project]\nstrict = 1\n[ tool.autoimport ]  # ours\nreport = true\n'strict' = 1\n", ":5"),
        ("[tool.autoimport]\r\npackages = [\r\n  'strict',\r\n]\r\n\tstrict=1\r\n", ":5"),
        ("[tool]\nautoimport = {strict = 1}\n", ""),
        ("[tool.autoimport]\n[tool.autoimport.strict]\n", ""),
    ],
)
def test_a_bad_value_in_pyproject_names_its_line_if_that_is_easy_to_find(text, line, tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_bytes(text.encode())
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    assert str(error.value).startswith(f"{path}{line}: tool.autoimport.strict: ")


def test_a_byte_order_mark_is_called_one(tmp_path):
    path = pyproject(tmp_path, "\ufeff[tool.autoimport]\n")
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    assert str(error.value) == f"{path}:1: a byte-order mark, which TOML forbids; save the file as UTF-8 without one"


def test_a_pyproject_that_cannot_be_read_is_told_of(tmp_path, monkeypatch, capsys):
    path = pyproject(tmp_path, "[tool.autoimport]\nstrict = true\n")

    def refused(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(config, "open", refused, raising=False)  # to root, all files are open
    assert config.load(str(tmp_path), {}, {}) == Options()
    assert capsys.readouterr().err == f"autoimport: {path}: cannot be read (Permission denied), so it sets nothing\n"


@pytest.mark.parametrize("name", BAD_TEXT)
def test_a_bad_value_in_the_environment_names_the_variable_and_what_is_allowed(name, tmp_path):
    variable = f"AUTOIMPORT_{name.upper()}"
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {variable: BAD_TEXT[name]})
    assert str(error.value).startswith(f"environment: {variable}: ")
    assert str(error.value).endswith(f"use {config.BY_NAME[name].kind.allowed}")


@pytest.mark.parametrize(
    ("more", "is_printed"), [({}, True), ({"report": False}, False), ({"report_json": "/tmp/r.json"}, False)]
)
def test_what_is_timed_is_printed_unless_there_is_another_say(more, is_printed, tmp_path):
    assert config.load(str(tmp_path), {"report_operations": True, **more}, {}).report is is_printed


def test_an_unknown_key_in_pyproject_lists_the_known_ones(tmp_path):
    path = pyproject(tmp_path, "[tool.autoimport]\npackage = []\n")
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    assert str(error.value) == f"{path}:2: tool.autoimport.package: unknown; use one of {', '.join(TEXTS)}"


def test_an_unknown_variable_lists_the_known_ones(tmp_path):
    with pytest.raises(
        ConfigError, match=r"environment: AUTOIMPORT_PACKAGE: unknown; use one of AUTOIMPORT_PACKAGES, "
    ):
        config.load(str(tmp_path), {}, {"AUTOIMPORT_PACKAGE": "a"})


def test_later_sources_win(tmp_path):
    pyproject(tmp_path, "[tool.autoimport]\nstage_after = 1\nfidelity = 'fast'\nstrict = true\n")
    environment = {"AUTOIMPORT_STAGE_AFTER": "2", "AUTOIMPORT_STRICT": "no"}
    options = config.load(str(tmp_path), {"stage_after": 3}, environment)
    assert (options.stage_after, options.strict, options.fidelity) == (3, False, "fast")


def test_the_toggle_names_packages_unless_their_own_variable_does(tmp_path):
    assert config.load(str(tmp_path), {}, {"AUTOIMPORT": "a,b.c"}).packages == ("a", "b.c")
    assert config.load(str(tmp_path), {}, {"AUTOIMPORT": "1"}).packages is None
    assert config.load(str(tmp_path), {}, {"AUTOIMPORT": "a", "AUTOIMPORT_PACKAGES": "b"}).packages == ("b",)


def test_a_bad_toggle_says_what_it_may_be(tmp_path):
    with pytest.raises(
        ConfigError, match=r"environment: AUTOIMPORT: 'a b' is not allowed; use 0, 1 or names of modules or"
    ):
        config.load(str(tmp_path), {}, {"AUTOIMPORT": "a b"})


def test_the_nearest_pyproject_counts_even_if_it_says_nothing(tmp_path):
    pyproject(tmp_path, "[tool.autoimport]\nstrict = true\n")
    inner = tmp_path / "inner" / "deep"
    inner.mkdir(parents=True)
    assert config.load(str(inner), {}, {}).strict is True
    pyproject(inner.parent, "[project]\nname = 'x'\n")
    assert config.load(str(inner), {}, {}).strict is False


def test_paths_in_pyproject_are_relative_to_it(tmp_path):
    pyproject(tmp_path, "[tool.autoimport]\ncache_dir = 'build/cache'\n")
    (tmp_path / "src").mkdir()
    assert config.load(str(tmp_path / "src"), {}, {}).cache_dir == str(tmp_path / "build" / "cache")


def test_paths_elsewhere_are_relative_to_the_directory_of_the_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config.load(str(tmp_path), {}, {"AUTOIMPORT_REPORT_JSON": "r.json"}).report_json == str(tmp_path / "r.json")


def test_a_pyproject_of_others_is_not_judged(tmp_path):
    pyproject(tmp_path, "this is not TOML")
    assert config.load(str(tmp_path), {}, {}) == Options()


def test_a_broken_pyproject_that_configures_us_is_an_error_of_one_line(tmp_path):
    path = pyproject(tmp_path, "[tool.autoimport]\nstrict = yes\n")
    with pytest.raises(ConfigError) as error:
        config.load(str(tmp_path), {}, {})
    assert str(error.value).startswith(f"{path}: tool.autoimport: not valid TOML")
    assert "\n" not in str(error.value)


def test_the_effective_options_are_those_of_the_environment_until_some_are_set(monkeypatch):
    monkeypatch.setattr(config, "_current", None)
    monkeypatch.setenv("AUTOIMPORT_STAGE_AFTER", "7")
    assert config.current().stage_after == 7
    config.use(Options(stage_after=1))
    assert config.current().stage_after == 1


def test_the_toggle_takes_the_words_of_every_other_switch():
    off, on = ("0", "false", "no", "off", "OFF", "False"), ("1", "true", "yes", "on", "On", "")
    assert [word for word in (*off, *on, "pkg") if config.is_off({"AUTOIMPORT": word})] == list(off)
    assert {config.from_environment({"AUTOIMPORT": word}).get("packages") for word in (*off, *on)} == {None}


def test_options_cannot_be_changed():
    with pytest.raises(AttributeError):
        Options().strict = True  # type: ignore[misc]
    assert os.path.isabs(config.from_flag(config.BY_FLAG["--cache-dir"], "x"))


def test_what_a_call_gives_as_a_name_is_a_name():
    with pytest.raises(ConfigError, match=r"install\(\): packages: 1 is not allowed; use names of modules or"):
        autoimport.install([1])  # type: ignore[list-item]
