"""Which modules are converted."""

import sys

import pytest

from autoimport.selection import Selection


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("pkg", True),
        ("pkg.sub.deep", True),
        ("pkgs", False),
        ("other", False),
        ("pkg.out", False),
        ("pkg.out.x", False),
    ],
)
def test_named_packages_cover_their_submodules_minus_the_excluded(name, answer):
    assert Selection("/root", packages=("pkg",), exclude=("pkg.out",)).by_name(name) is answer


@pytest.mark.parametrize(
    ("name", "answer"), [("mine", None), ("json", False), ("json.decoder", False), ("autoimport.cli", False)]
)
def test_without_packages_the_file_decides_except_for_the_standard_library_and_ourselves(name, answer):
    assert Selection("/root").by_name(name) is answer


def test_the_programs_own_tree_is_wanted_and_nothing_outside(tmp_path):
    selection = Selection(str(tmp_path / "app"))
    assert selection.by_file("a.b", str(tmp_path / "app" / "a" / "b.py"))
    assert not selection.by_file("b", str(tmp_path / "application" / "b.py"))
    assert selection.by_folders([str(tmp_path / "app" / "a")])
    assert not selection.by_folders([str(tmp_path / "lib" / "a")])


def test_libraries_in_the_tree_are_not_the_programs_own(tmp_path):
    selection = Selection(str(tmp_path))
    assert not selection.by_file("x", str(tmp_path / "lib" / "site-packages" / "x.py"))
    assert not selection.by_file("x", str(tmp_path / "dist-packages" / "x" / "__init__.py"))


def test_a_virtual_environment_in_the_tree_is_not_the_programs_own(tmp_path):
    environment = tmp_path / "env"
    (environment / "src").mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    selection = Selection(str(tmp_path))
    assert not selection.by_file("x", str(environment / "src" / "x.py"))
    assert not selection.by_file("y", str(environment / "src" / "y.py"))
    assert selection.by_file("x", str(tmp_path / "src" / "x.py"))


def test_a_program_that_lies_in_a_virtual_environment_still_has_a_tree(tmp_path):
    (tmp_path / "pyvenv.cfg").touch()
    assert Selection(str(tmp_path / "app")).by_file("x", str(tmp_path / "app" / "x.py"))


def test_the_root_of_the_file_system_has_libraries_in_it_too():
    selection = Selection("/")
    assert selection.by_file("x", "/somewhere/x.py")
    assert not selection.by_file("x", sys.prefix + "/lib/x.py")


def test_the_main_module_is_wanted_unless_it_is_excluded_or_a_tool(tmp_path):
    train = str(tmp_path / "train.py")
    assert Selection("/elsewhere", packages=()).is_main_wanted(train)
    assert not Selection("/elsewhere", exclude=("train",)).is_main_wanted(train)
    assert not Selection("/elsewhere", exclude=("__main__",)).is_main_wanted(train)
    assert not Selection("/elsewhere").is_main_wanted(str(tmp_path / "site-packages" / "pytest" / "__main__.py"))
