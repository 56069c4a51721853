"""The store under another user, for real: who may not write reads, and nobody runs what others can have written.

Each check runs in a forked child; where the tests run as the administrator, it becomes another user first, since the
administrator may write everywhere.
"""

import os
import shutil
import tempfile
import traceback

import pytest

from autoimport.cache import Store
from autoimport.convert.module import convert_module

IS_ADMINISTRATOR = os.geteuid() == 0
USER = 65534 if IS_ADMINISTRATOR else os.geteuid()
SOURCE = "def f(x):\n    while x > 3:\n        x -= 1\n    return x\n"


def with_two_users(test):
    """A test that only the administrator can make: for anybody else there is none."""
    return test if IS_ADMINISTRATOR else None


@pytest.fixture(scope="module")
def converted():
    return convert_module(SOURCE, "m.py")


@pytest.fixture
def place():
    """A folder that any user can look into, not below one of pytest's."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder)


def give(path, user):
    """Make a folder and what is in it another user's."""
    if IS_ADMINISTRATOR:
        for name in os.listdir(path):
            os.chown(os.path.join(path, name), user, user)
        os.chown(path, user, user)


def as_user(check):
    """Run the check in a child process, as the user."""
    child = os.fork()
    if child == 0:
        try:
            if IS_ADMINISTRATOR:
                os.setgroups([])
                os.setgid(USER)
                os.setuid(USER)
            check()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_folder_that_cannot_be_written_to_is_read(place, converted):
    cache = os.path.join(place, "cache")
    assert Store(cache).save("aa", converted)
    give(cache, USER)
    for name in os.listdir(cache):
        os.utime(os.path.join(cache, name), (1, 1))  # its use would be noted
    os.chmod(cache, 0o500)
    before = sorted(os.listdir(cache))

    def check():
        store = Store(cache)
        with pytest.raises(PermissionError):
            open(os.path.join(cache, "probe"), "w")
        assert store.load("aa", "m.py").code == converted.code
        assert tuple(store.load_forms("aa", "m.py")) == tuple(converted.forms)
        assert not store.save("bb", converted)
        assert store.prune(0) == (0, 0)
        assert store.trouble().startswith(f"{cache} cannot be read or written to")

    as_user(check)
    assert sorted(os.listdir(cache)) == before
    os.chmod(cache, 0o700)


def test_a_place_that_cannot_be_written_to_gets_no_folder(place, converted):
    os.chmod(place, 0o555)
    as_user(lambda: _refuses(os.path.join(place, "deep", "cache"), converted))
    os.chmod(place, 0o755)
    assert os.listdir(place) == []


def _refuses(folder, converted):
    store = Store(folder)
    assert store.load("aa", "m.py") is None
    assert store.load_forms("aa", "m.py") is None
    assert not store.save("aa", converted)
    assert store.kept() == {}


@with_two_users
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o777, 0o1777])
def test_a_folder_of_another_user_is_neither_read_nor_written(mode, place, converted):
    cache = os.path.join(place, "cache")
    assert Store(cache).save("aa", converted)
    give(cache, 12345)
    os.chmod(cache, mode)
    before = sorted(os.listdir(cache))
    as_user(lambda: _refuses(cache, converted))
    assert sorted(os.listdir(cache)) == before


@with_two_users
def test_an_entry_of_another_user_in_the_own_folder_is_not_read(place, converted):
    cache = os.path.join(place, "cache")
    assert Store(cache).save("aa", converted)
    give(cache, USER)
    for name in os.listdir(cache):
        os.chown(os.path.join(cache, name), 12345, 12345)
        os.chmod(os.path.join(cache, name), 0o644)

    def check():
        store = Store(cache)
        assert store.load("aa", "m.py") is None
        assert store.save("aa", converted)
        assert store.load("aa", "m.py") is not None

    as_user(check)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_the_own_folder_is_not_used_while_others_can_write_to_it(mode, place, converted):
    cache = os.path.join(place, "cache")
    assert Store(cache).save("aa", converted)
    give(cache, USER)
    os.chmod(cache, mode)
    as_user(lambda: _refuses(cache, converted))


@with_two_users
def test_a_shared_folder_of_the_administrator_is_read_and_not_written(place, converted):
    shared, own = os.path.join(place, "shared"), os.path.join(place, "own")
    assert Store(shared).save("aa", converted)
    os.chmod(shared, 0o755)
    for name in os.listdir(shared):
        os.chmod(os.path.join(shared, name), 0o644)
    os.mkdir(own, 0o700)
    give(own, USER)
    before = sorted(os.listdir(shared))

    def check():
        store = Store(os.path.join(own, "cache"), shared=shared)
        assert store.load("aa", "m.py").code == converted.code
        assert store.save("bb", converted)
        assert sorted(os.listdir(store.folder)) == ["bb.code", "bb.forms"]

    as_user(check)
    assert sorted(os.listdir(shared)) == before
