"""Packs: entries of files that are as they were are found without a look at their content, and no others."""

import importlib
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autoimport import config, hook, unchanged
from autoimport.cache import Store
from autoimport.config import Options
from autoimport.convert.module import convert_module
from autoimport.selection import Selection
from autoimport.staging import registry
from autoimport.unchanged import Unchanged, status_of

SOURCE = "def f(x):\n    return x + 1\n"
KEY = "0123456789abcdef"
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store with one module; sources count as settled from the start."""
    monkeypatch.setattr(unchanged, "_SETTLED_AFTER", -1)
    store = Store(str(tmp_path / "cache"))
    store.save(KEY, convert_module(SOURCE, "m.py", key=KEY))
    return store


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "src" / "m.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    os.utime(path, ns=(1_600_000_000_123_456_789,) * 2)
    return path


def keep(store, *paths):
    """What a process leaves that has read these files."""
    packs = Unchanged(store)
    for path in paths:
        packs.note(str(path), status_of(str(path)), KEY)
    packs.keep()


def taken(store, path):
    """What the next process finds."""
    return Unchanged(store).take(str(path), status_of(str(path)))


def test_the_entry_of_an_unchanged_file_comes_back_as_it_was_saved(store, source):
    keep(store, source)
    key, entry = taken(store, source)
    saved = store.load(KEY, str(source))
    assert (key, entry.key, entry.code, entry.gates) == (KEY, KEY, saved.code, saved.gates)
    assert tuple(entry.functions) == tuple(saved.functions)


def test_an_entry_is_given_out_once(store, source):
    keep(store, source)
    packs, status = Unchanged(store), status_of(str(source))
    assert packs.take(str(source), status) is not None
    assert packs.take(str(source), status) is None


def edited(path):
    path.write_text(SOURCE.replace("1", "2"))


def at_the_same_time(change):
    """The change, with the time of the content set back."""

    def changed(path):
        before = os.stat(path)
        change(path)
        while True:  # until the disk's clock has moved on
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            if os.stat(path).st_ctime_ns != before.st_ctime_ns:
                return

    return changed


def replaced(path):
    other = path.with_name("other")
    edited(other)
    other.replace(path)


def longer(path):
    path.write_text(SOURCE + "\n")


EDITS = {"edited": edited, "set back": at_the_same_time(edited), "replaced": at_the_same_time(replaced)}
CHANGES = {**EDITS, "longer": at_the_same_time(longer), "removed": os.unlink}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_file_is_unknown(store, source, change):
    keep(store, source)
    change(source)
    assert taken(store, source) is None


def test_a_file_that_has_just_changed_is_not_trusted_to_stay_so(store, source, monkeypatch):
    monkeypatch.setattr(unchanged, "_SETTLED_AFTER", 2_000_000_000)
    changed = os.stat(source).st_ctime_ns
    monkeypatch.setattr(unchanged.time, "time_ns", lambda: changed + 1_000_000_000)
    keep(store, source)
    assert taken(store, source) is None
    monkeypatch.setattr(unchanged.time, "time_ns", lambda: changed + 3_000_000_000)
    keep(store, source)
    assert taken(store, source) is not None


def test_a_time_in_whole_seconds_says_nothing(store, source):
    os.utime(source, (315532800, 315532800))
    keep(store, source)
    assert taken(store, source) is None


def test_what_has_no_entry_leaves_nothing(store, source):
    packs = Unchanged(store)
    packs.note(str(source), status_of(str(source)), "feed")
    packs.keep()
    assert [name for name in os.listdir(store.folder) if name.endswith(".pack")] == []


def test_processes_add_to_each_others_packs_and_files_that_have_gone_leave_them(store, source):
    second, third = source.with_name("n.py"), source.with_name("o.py")
    for path in (second, third):
        path.write_text(SOURCE)
    keep(store, source)
    keep(store, second)
    assert None not in (taken(store, source), taken(store, second))
    second.unlink()
    keep(store, third)
    (pack,) = Path(store.folder).glob("*.pack")
    assert b"n.py" not in pack.read_bytes() and b"m.py" in pack.read_bytes()


def test_nothing_is_taken_from_a_damaged_pack(store, source):
    keep(store, source)
    (pack,) = Path(store.folder).glob("*.pack")
    whole = pack.read_bytes()
    for position in range(0, len(whole), 7):
        pack.write_bytes(whole[:position])
        assert taken(store, source) is None
        pack.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert taken(store, source) is None
    pack.write_bytes(whole)
    assert taken(store, source) is not None


@pytest.mark.parametrize("value", [b"", b"\7", b"\xff" * 40, marshal.dumps(7), bytes(8) + marshal.dumps({})])
def test_a_well_written_pack_of_another_shape_is_none(store, source, value):
    store.save_pack(unchanged.folder_key(str(source.parent)), value)
    assert taken(store, source) is None
    keep(store, source)
    assert taken(store, source) is not None


@pytest.fixture
def imported(tmp_path, source, store, monkeypatch):
    """Imports the module as a new process would, and keeps what that leaves; the module and its record."""
    monkeypatch.syspath_prepend(str(source.parent))
    monkeypatch.setattr(registry, "modules", {})
    monkeypatch.setattr(registry, "loaded", [])

    def imported():
        monkeypatch.setattr(config, "_current", Options(cache_dir=store.folder, strict=True))
        importlib.invalidate_caches()
        sys.modules.pop("m", None)
        hook.start(Selection(str(source.parent)))
        try:
            module = importlib.import_module("m")
            hook.unchanged().keep()
            return module, registry.loaded[-1]
        finally:
            hook.uninstall()
            sys.modules.pop("m", None)

    return imported


def test_a_second_import_needs_neither_source_nor_entry(imported, store, source, monkeypatch):
    assert not imported()[1].cached
    for file in Path(store.folder).glob("*.code"):
        file.unlink()
    monkeypatch.setattr(hook, "read_source", lambda path: pytest.fail(f"{path} was read"))
    module, record = imported()
    assert record.cached and module.f(1) == 2 and module.f.__code__.co_filename == str(source)


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_every_edit_is_seen(imported, source, change):
    assert imported()[0].f(1) == 2
    assert imported()[1].cached
    change(source)
    module, record = imported()
    assert (module.f(1), record.cached) == (3, False)
    assert imported()[1].cached


def test_forms_that_have_gone_are_made_again(imported, store):
    imported()
    for file in Path(store.folder).iterdir():
        if file.suffix != ".pack":
            file.unlink()
    record = imported()[1]
    assert record.cached and record.form(0).co_name


def test_a_folder_of_sources_does_not_count_as_a_module(tmp_path, source):
    (tmp_path / "train.py").write_text(
        "import sys; sys.path.insert(0, 'src')\nfrom autoimport import unchanged\nunchanged._SETTLED_AFTER = 0\nimport m\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AUTOIMPORT")}
    environment |= {"AUTOIMPORT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}

    def run(*words):
        command = [sys.executable, "-m", "autoimport", *words]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    run("train.py")
    assert len(list((tmp_path / "cache").glob("*.pack"))) == 1
    assert run("cache", "info").splitlines()[1:3] == ["modules  2", "learned  0 of them"]
    assert run("cache", "clear").startswith("2 modules removed")
    assert os.listdir(tmp_path / "cache") == []
