"""A test module that our own plugin converts, as the ini option in pyproject.toml says."""

import sys

import pytest


def clip(x, limit=1):
    if x > limit:
        return limit
    return x


def test_functions_of_a_test_module_are_converted():
    assert "@enter" in clip.__code__.co_names
    assert clip(3) == 1


def test_its_assertions_are_rewritten():
    with pytest.raises(AssertionError) as caught:
        assert clip(3) == 2
    assert str(caught.value) == "assert 1 == 2\n +  where 1 = clip(3)"


def test_other_test_modules_are_left_to_pytest():
    names = [name for name in sys.modules if name.startswith("tests.") and name != __name__]
    assert all("Converting" not in type(sys.modules[name].__loader__).__name__ for name in names)
