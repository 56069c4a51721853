"""Harm done to the store: damage, kills, crowds, full and foreign disks never cost more than a conversion.

FULL_HARM=1 in the environment does as much of it as a release must stand: thousands of damaged entries,
hundreds of kills; without it each kind is tried a little.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autoimport.cache import Store
from autoimport.convert.module import convert_module

ROOT = Path(__file__).resolve().parent.parent
IS_THOROUGH = os.environ.get("FULL_HARM") == "1"
DAMAGED, KILLS, PROCESSES, ROUNDS = (2000, 200, 32, 10) if IS_THOROUGH else (150, 6, 6, 1)

MODULE = """
def clip(x, limit):
    if x > limit:
        return limit
    while x < 0:
        x += limit
    return x

VALUE = {number}
"""
# Imports all modules of the package and says what they hold.
PROGRAM = """
import importlib, sys
sys.path.insert(0, {folder!r})
import autoimport
from autoimport import unchanged
unchanged._SETTLED_AFTER = 0  # the sources are new
autoimport.install("pkg")
total = 0
for number in range({count}):
    module = importlib.import_module("pkg.m" + str(number))
    assert module.clip(-3, 10) == 7 and module.clip(30, 10) == 10 and "@enter" in module.clip.__code__.co_names
    total += module.VALUE
from autoimport.staging import registry
print(total, sum(module.cached for module in registry.loaded))
"""
COUNT = 8
SUFFIXES = (".code", ".forms", ".pack")
TOTAL = sum(range(COUNT))


@pytest.fixture
def package(tmp_path):
    """A directory with a package of `COUNT` modules, readable for everybody."""
    folder = tmp_path / "src"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "__init__.py").touch()
    for number in range(COUNT):
        (folder / "pkg" / f"m{number}.py").write_text(MODULE.format(number=number))
    return folder


# Put in front of a program: the disk is full, or cannot be written to, or everything there belongs to somebody else.
FULL = """
import os
_open = os.open
os.open = lambda path, flags, mode=0o777: _open("/dev/full", os.O_WRONLY) if flags & os.O_CREAT else _open(path, flags, mode)
"""
READ_ONLY = """
import os
_open = os.open
def refuse(*args, **kwargs): raise OSError(30, "Read-only file system")
os.open = lambda path, flags, mode=0o777: refuse() if flags & os.O_CREAT else _open(path, flags, mode)
os.mkdir = os.makedirs = os.replace = os.utime = os.unlink = refuse
"""
FOREIGN = """
import os
os.geteuid = lambda: 12345
"""


def start(package, cache, harm=""):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(cache), "AUTOIMPORT_STRICT": "1"}
    environment.pop("AUTOIMPORT", None)
    code = PROGRAM.format(folder=str(package), count=COUNT)
    return subprocess.Popen(
        [sys.executable, "-c", harm + code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def outcome(process):
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    total, cached = map(int, out.split())
    assert total == TOTAL
    return cached


def test_damaged_entries_are_as_good_as_none(tmp_path):
    store = Store(str(tmp_path / "cache"))
    converted = convert_module(MODULE.format(number=1), "m.py")
    store.save("ab", converted)
    store.save_pack("ab", bytes(range(256)) * 8)
    chance = random.Random(7)
    loads = {".code": store.load, ".forms": store.load_forms, ".pack": lambda key, path: store.load_pack(key)}
    for suffix, load in loads.items():
        path = tmp_path / "cache" / ("ab" + suffix)
        whole = path.read_bytes()
        lengths = range(len(whole)) if IS_THOROUGH else sorted(chance.sample(range(len(whole)), DAMAGED // 2))
        damaged = [whole[:length] for length in lengths]
        for _ in range(DAMAGED // 2):
            bits = bytearray(whole)
            for _ in range(chance.randint(1, 4)):
                bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)
            damaged.append(bytes(bits))
        damaged += [whole + b"\0", whole * 2, b"\0" * len(whole)]
        for content in damaged:
            path.write_bytes(content)
            assert content == whole or load("ab", "m.py") is None
        path.write_bytes(whole)
        assert load("ab", "m.py") is not None
        print(f"{suffix}: {len(damaged)} damaged entries")


def test_a_program_on_a_damaged_cache_runs_and_repairs_it(package, tmp_path):
    cache = tmp_path / "cache"
    assert outcome(start(package, cache)) == 0
    for file in cache.iterdir():
        file.write_bytes(file.read_bytes()[: len(file.read_bytes()) // 2])
    assert outcome(start(package, cache)) == 0
    assert outcome(start(package, cache)) == COUNT + 1


_SAVES = """
import sys
from autoimport.cache import Store
from autoimport.convert.module import convert_module
store, converted = Store(sys.argv[1]), convert_module(sys.argv[2], "m.py", key="k1")
print("ready", flush=True)
number = 0
while True:
    number += 1
    store.save(format(number % 5 + 10, "x"), converted)
"""


def test_a_kill_at_any_point_leaves_only_whole_entries(tmp_path):
    cache, source, chance = tmp_path / "cache", MODULE.format(number=1), random.Random(11)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    whole = convert_module(source, "m.py", key="k1")
    found = 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", _SAVES, str(cache), source], env=environment, stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(chance.random() / 100)  # where in its work the kill finds it is chance
        process.kill()
        process.wait()
        process.stdout.close()
        store = Store(str(cache))
        for key in "abcde":
            entry, forms = store.load(key, "m.py"), store.load_forms(key, "m.py")
            assert entry is None or entry.code == whole.code
            assert forms is None or forms.made == whole.forms.made
            found += entry is not None
    assert found
    left = [file for file in cache.iterdir() if file.suffix not in SUFFIXES]
    for file in left:
        os.utime(file, (0, 0))
    Store(str(cache)).prune(1 << 30)
    assert all(file.suffix in SUFFIXES for file in cache.iterdir())


def test_many_processes_on_a_cold_cache_all_import_the_package(package, tmp_path):
    for number in range(ROUNDS):
        cache = tmp_path / f"cache{number}"
        processes = [start(package, cache) for _ in range(PROCESSES)]
        for process in processes:
            outcome(process)
        assert all(file.suffix in SUFFIXES for file in cache.iterdir())
        assert outcome(start(package, cache)) == COUNT + 1


def snapshot(folder):
    return sorted((str(path), path.lstat().st_size) for path in folder.rglob("*"))


@pytest.fixture(params=["real", "pretended"])
def small_disk(request, tmp_path):
    """A folder on a disk of 16 kB, and what makes any disk look full; a real one needs the right to mount it."""
    disk = tmp_path / "disk"
    disk.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k,mode=0700", "tmpfs", str(disk)]
    is_mounted = request.param == "real" and subprocess.run(mount, capture_output=True).returncode == 0
    yield disk, "" if is_mounted else FULL
    if is_mounted:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_costs_the_cache_only(package, small_disk):
    disk, harm = small_disk
    for _ in range(3):
        assert outcome(start(package, disk / "cache", harm)) < COUNT
        assert all(file.suffix in SUFFIXES for file in (disk / "cache").iterdir())


def test_a_read_only_folder_is_read_and_silently_not_written(package, tmp_path):
    cache = tmp_path / "cache"
    assert outcome(start(package, cache, READ_ONLY)) == 0
    assert not cache.exists()
    outcome(start(package, cache))
    for file in [*cache.glob("*a*.code"), *cache.glob("*.pack")]:
        file.unlink()
    left = len(list(cache.glob("*.code")))
    for file in cache.iterdir():
        os.utime(file, (1, 1))  # its use would be noted
    before = snapshot(cache)
    assert outcome(start(package, cache, READ_ONLY)) == left
    assert snapshot(cache) == before


def test_a_folder_of_another_user_is_neither_read_nor_written(package, tmp_path):
    cache = tmp_path / "cache"
    outcome(start(package, cache))
    before = snapshot(cache)
    assert outcome(start(package, cache, FOREIGN)) == 0
    assert snapshot(cache) == before


def test_planted_links_lead_nowhere(package, tmp_path):
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    outcome(start(package, cache))
    outside.mkdir()
    for file in cache.iterdir():
        target = outside / file.name
        file.rename(target)
        file.symlink_to(target)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    assert outcome(start(package, cache)) == 0
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    assert not any(file.is_symlink() for file in cache.iterdir())
    assert outcome(start(package, cache)) == COUNT + 1


def test_a_folder_that_is_a_link_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    mine, link = tmp_path / "mine", tmp_path / "cache"
    mine.mkdir(mode=0o700)
    link.symlink_to(mine)
    converted = convert_module(MODULE.format(number=1), "m.py")
    lstat = os.lstat

    def planted(path):
        status = list(lstat(path))
        return os.stat_result([*status[:4], 12345, *status[5:]])

    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", planted)
        assert not Store(str(link)).save("ab", converted)
        assert list(mine.iterdir()) == []
    assert Store(str(link)).save("ab", converted)
    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", planted)
        assert Store(str(link)).load("ab", "m.py") is None
        assert Store(str(link)).prune(0) == (0, 0)
    assert Store(str(link)).prune(0)[0] == 1


def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(package, tmp_path):
    cache = tmp_path / "cache"
    outcome(start(package, cache))
    for file in cache.iterdir():
        file.unlink()
        os.mkfifo(file)
    assert outcome(start(package, cache)) == 0
