"""The store: what is saved comes back, what is damaged never does."""

import marshal
import multiprocessing
import os
import stat
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autoimport import cache
from autoimport.cache import Store, default_folder
from autoimport.convert.facts import Converted, FunctionFacts
from autoimport.convert.making import Forms

KEY = "0123456789abcdef"


def converted(source="def f(x):\n    return x + 1\n"):
    code = compile(source, "old.py", "exec")
    form = compile("def f(x): return x", "old.py", "exec").co_consts[0]
    facts = (
        FunctionFacts("f", 1, 2, ("x",), True, has_loop=True),
        FunctionFacts("g", 3, 4, (), False, "a generator", 3),
    )
    forms = Forms(source, "old.py", 2, is_main=True, stored=("count",), made={0: form, 1: None})
    return Converted(KEY, code, forms, facts)


@pytest.fixture
def store(tmp_path, monkeypatch):
    return Store(str(tmp_path / "cache" / "autoimport"))


def file_of(store, suffix):
    return os.path.join(store.folder, KEY + suffix)


def test_an_entry_comes_back_as_it_was_saved(store):
    original = converted()
    store.save(KEY, original)
    entry = store.load(KEY, "old.py")
    assert (entry.key, entry.code, tuple(entry.functions)) == (KEY, original.code, original.functions)
    forms = store.load_forms(KEY, "old.py")
    assert tuple(forms) == tuple(original.forms)
    assert (forms.source, forms.is_main, forms.stored) == (original.forms.source, True, ("count",))


def test_forms_that_are_made_later_are_kept_beside_the_others(store):
    later = converted()
    later.forms.made.pop(0)
    store.save(KEY, later)
    assert store.load_forms(KEY, "old.py").made == {1: None}
    store.save_forms(KEY, converted().forms)
    assert tuple(store.load_forms(KEY, "old.py")) == tuple(converted().forms)


def test_an_entry_belongs_to_the_file_that_it_is_loaded_for(store):
    store.save(KEY, converted())
    code = store.load(KEY, "/new/place.py").code
    names = {code.co_filename, code.co_consts[0].co_filename, store.load_forms(KEY, "/new/place.py")[0].co_filename}
    assert names == {"/new/place.py"}


def test_nothing_saved_is_nothing_loaded(store):
    assert store.load(KEY, "x.py") is None
    assert store.load_forms(KEY, "x.py") is None


def test_what_was_learned_comes_back_undamaged_or_not_at_all(store):
    assert store.load_learned(KEY) is None
    value = {"train.py": ((1, "2.21"), {0: (True, None, (("x", (True, False)),))})}
    assert store.save_learned(KEY, value)
    assert store.load_learned(KEY) == value
    with open(file_of(store, ".learned"), "rb") as file:
        content = file.read()
    for damaged in (content[:-1], content[:40], b"", content[:-1] + bytes([content[-1] ^ 1])):
        with open(file_of(store, ".learned"), "wb") as file:
            file.write(damaged)
        assert store.load_learned(KEY) is None


def test_what_was_learned_goes_with_its_module(store):
    store.save(KEY, converted())
    store.save_learned(KEY, {})
    assert {suffix for name in store.kept()[KEY].names for suffix in name.split(".")[1:]} == {
        "code",
        "forms",
        "learned",
    }
    assert store.prune(0)[0] == 1
    assert os.listdir(store.folder) == []


def test_what_cannot_be_removed_does_not_count_as_removed(store, monkeypatch):
    store.save(KEY, converted())
    store.save("ab", converted())
    unlink = os.unlink

    def refuse(path):
        if KEY in path:
            raise PermissionError(13, "Permission denied", path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuse)
    size = store.kept()["ab"].size
    assert store.prune(0) == (1, size)
    assert list(store.kept()) == [KEY]


def test_the_folder_is_private(store):
    store.save(KEY, converted())
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(file_of(store, end)).st_mode) for end in (".code", ".forms")} == {0o600}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(store, mode):
    store.save(KEY, converted())
    os.chmod(store.folder, mode)
    again = Store(store.folder)
    assert again.load(KEY, "x.py") is None
    again.save("another", converted())
    assert not os.path.exists(os.path.join(store.folder, "another.code"))


def test_a_folder_of_somebody_else_is_not_used(store, monkeypatch):
    store.save(KEY, converted())
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert Store(store.folder).load(KEY, "x.py") is None


def test_a_folder_that_is_not_used_is_told_with_the_reason(store, tmp_path, monkeypatch):
    def trouble(folder):
        return (Store(str(folder)).trouble() or "").removeprefix(str(folder))

    assert store.trouble() is None  # not made yet
    store.save(KEY, converted())
    assert store.trouble() is None
    (tmp_path / "file").touch()
    assert trouble(tmp_path / "file") == " is not a folder: nothing is kept; set another cache_dir"
    too_long = tmp_path / ("x" * 1000)
    assert trouble(too_long) == " cannot be used (File name too long): nothing is kept; set another cache_dir"
    below_a_file = tmp_path / "file" / "cache"
    assert trouble(below_a_file) == " cannot be used (Not a directory): nothing is kept; set another cache_dir"
    os.chmod(store.folder, 0o777)
    assert trouble(store.folder) == f" can be written to by others: not used; chmod 700 {store.folder}"
    os.chmod(store.folder, 0o700)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert trouble(store.folder) == " belongs to another user: not used; set another cache_dir"
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the administrator may do everything
    reason = " cannot be read or written to: nothing new is kept; chmod it, or set another cache_dir"
    assert trouble(store.folder) == reason
    assert Store(str(tmp_path / "a" / "b")).trouble() == f"{tmp_path}{reason}"


@pytest.mark.parametrize("suffix", [".code", ".forms"])
def test_no_truncated_entry_ever_loads(store, suffix):
    store.save(KEY, converted())
    with open(file_of(store, suffix), "rb") as file:
        whole = file.read()
    for length in range(len(whole)):
        with open(file_of(store, suffix), "wb") as file:
            file.write(whole[:length])
        assert (store.load(KEY, "x.py") if suffix == ".code" else store.load_forms(KEY, "x.py")) is None


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), suffix=st.sampled_from([".code", ".forms"]))
def test_no_entry_with_a_flipped_bit_ever_loads(store, data, suffix):
    store.save(KEY, converted())
    path = file_of(store, suffix)
    with open(path, "rb") as file:
        content = bytearray(file.read())
    position = data.draw(st.integers(0, len(content) * 8 - 1))
    content[position // 8] ^= 1 << position % 8
    with open(path, "wb") as file:
        file.write(content)
    assert (store.load(KEY, "x.py") if suffix == ".code" else store.load_forms(KEY, "x.py")) is None


@pytest.mark.parametrize(
    "value",
    [None, 7, (), (1, 2), ("k", None, ()), ("k", compile("1", "x", "eval"), b""), [1], (b"", False, 1, (), {0: 1})],
)
def test_a_well_written_entry_of_another_shape_does_not_load(store, value):
    store.save(KEY, converted())
    payload = marshal.dumps(value)
    for suffix in (".code", ".forms"):
        with open(file_of(store, suffix), "wb") as file:
            file.write(cache._MAGIC + cache._checksum(len(payload), payload) + payload)
    assert store.load(KEY, "x.py") is None
    assert store.load_forms(KEY, "x.py") is None


def test_a_damaged_entry_is_replaced_by_the_next_save(store):
    store.save(KEY, converted())
    with open(file_of(store, ".code"), "wb") as file:
        file.write(b"damaged")
    store.save(KEY, converted())
    assert store.load(KEY, "x.py") is not None


def test_an_entry_that_is_a_directory_is_no_entry(store):
    store.save(KEY, converted())
    os.unlink(file_of(store, ".code"))
    os.mkdir(file_of(store, ".code"))
    assert store.load(KEY, "x.py") is None
    store.save(KEY, converted())
    assert sorted(os.listdir(store.folder)) == [KEY + ".code", KEY + ".forms"]


def fail(*args, **kwargs):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["open", "replace", "mkdir", "makedirs"])
def test_a_disk_that_refuses_leaves_no_trace_and_no_error(store, monkeypatch, call):
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        store.save(KEY, converted())
    assert not os.path.isdir(store.folder) or os.listdir(store.folder) == []
    assert store.load(KEY, "x.py") is None


def test_a_disk_that_fills_up_while_writing_leaves_no_trace(store, monkeypatch):
    if not os.path.exists("/dev/full"):
        monkeypatch.setattr(os, "replace", fail)
    else:
        original = os.open
        monkeypatch.setattr(os, "open", lambda path, flags, mode=0o777: original("/dev/full", os.O_WRONLY))
    store.save(KEY, converted())
    assert os.listdir(store.folder) == []


def test_a_folder_that_cannot_be_made_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    store = Store(str(tmp_path / "file" / "autoimport"))
    store.save(KEY, converted())
    assert store.load(KEY, "x.py") is None


def test_the_least_recently_used_goes_first(store):
    for number, key in enumerate(("aa", "bb", "cc")):
        store.save(key, converted())
        for suffix in (".code", ".forms"):
            os.utime(os.path.join(store.folder, key + suffix), (1000 + number, 1000 + number))
    store.load("aa", "x.py")  # notes its use
    size = store.kept()["aa"].size
    assert (1, size) == store.prune(2 * size)
    assert {"aa", "cc"} == set(store.kept())
    assert (1, size) == store.prune(size)
    assert {"aa"} == set(store.kept())


def test_a_store_keeps_its_bound(tmp_path):
    size = Store(str(tmp_path / "one"))
    size.save("aa", converted())
    one = size.kept()["aa"].size
    limit = 10 * one
    store = Store(str(tmp_path / "cache"), limit)
    for number in range(100):
        store.save(format(number + 16, "x"), converted())
        assert sum(kept.size for kept in store.kept().values()) <= limit + max(one, limit // 16)
    assert len(store.kept()) >= 8


def test_files_of_others_are_not_pruned(store):
    store.save("aa", converted())
    names = ["aa.txt", "notes", "zz.code", "aa.code.bak.d"]
    for name in names[:3]:
        with open(os.path.join(store.folder, name), "w"):
            pass
    os.mkdir(os.path.join(store.folder, names[3]))
    store.prune(0)
    assert sorted(names) == sorted(os.listdir(store.folder))


def test_a_shared_folder_is_read_and_never_written(store, tmp_path):
    shared = Store(str(tmp_path / "shared"))
    shared.save("aa", converted())
    before = {entry.name: entry.stat().st_mtime for entry in os.scandir(shared.folder)}
    both = Store(store.folder, shared=shared.folder)
    assert both.load("aa", "x.py") is not None and both.load_forms("aa", "x.py") is not None
    assert both.load("bb", "x.py") is None
    both.save("bb", converted())
    assert {entry.name: entry.stat().st_mtime for entry in os.scandir(shared.folder)} == before
    os.chmod(shared.folder, 0o777)
    assert Store(store.folder, shared=shared.folder).load("aa", "x.py") is None


def _hammer(folder, failures):
    store, expected = Store(folder), converted()
    for _ in range(100):
        store.save(KEY, expected)
        entry, forms = store.load(KEY, "old.py"), store.load_forms(KEY, "old.py")
        if entry is None or entry.code != expected.code or tuple(forms) != tuple(expected.forms):
            failures.put("not the entry that every process saves")
            return


def test_many_processes_share_a_folder(store):
    context = multiprocessing.get_context("fork")
    failures = context.Queue()
    processes = [context.Process(target=_hammer, args=(store.folder, failures)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert failures.empty()
    assert [process.exitcode for process in processes] == [0] * 4
    assert sorted(os.listdir(store.folder)) == [KEY + ".code", KEY + ".forms"]


def test_the_default_folder_is_the_users_cache_folder(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/me")
    assert default_folder() == "/var/me/autoimport"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_folder() == "/home/me/.cache/autoimport"
    monkeypatch.setattr(sys, "pycache_prefix", "/var/bytecode")
    assert default_folder() == "/var/bytecode/autoimport"
