"""Modules in zip files: converted like those in folders, and otherwise as Python's own loader has them."""

import os
import subprocess
import sys
import textwrap
import zipapp
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FUNCTION = "def f(x):\n    while x > 3:\n        x -= 1\n    return x\n"
IS_CONVERTED = "print(__name__, '@enter' in f.__code__.co_names)\n"


def run(command, folder, **more):
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("AUTOIMPORT", "_AUTOIMPORT"))}
    environment = {**keep, "PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(folder / ".cache"), **more}
    environment["AUTOIMPORT_STRICT"] = "1"
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def packed(tmp_path):
    """A folder with an archive in it: a package, one of its modules with text that is not ASCII."""
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("pkg/__init__.py", "")
        archive.writestr("pkg/data.txt", "some data")
        archive.writestr("pkg/sub.py", FUNCTION)
        archive.writestr("old.py", b"# coding: latin-1\r\nname = '\xe9'\r\n" + FUNCTION.encode())
        archive.writestr("broken.py", "def f(:\n")
    return tmp_path


def assert_same(folder, program):
    (folder / "train.py").write_text("import sys\nsys.path.insert(0, 'packed.zip')\n" + textwrap.dedent(program))
    plain = run(["train.py"], folder)
    for _ in range(2):
        assert run(["-m", "autoimport", "train.py"], folder) == plain
    return plain


def test_modules_in_an_archive_are_converted(packed):
    (packed / "train.py").write_text(
        "import sys\nsys.path.insert(0, 'packed.zip')\nimport pkg.sub, old\n"
        "print(*['@enter' in m.f.__code__.co_names for m in (pkg.sub, old)])\n"
        "from autoimport.staging import registry\nprint(sum(m.cached for m in registry.loaded))\n"
    )
    assert run(["-m", "autoimport", "train.py"], packed)[1:] == ("True True\n0\n", "")
    assert run(["-m", "autoimport", "train.py"], packed)[1:] == ("True True\n4\n", "")


def test_they_look_as_python_has_them(packed):
    out = assert_same(
        packed,
        """
        import copy, importlib.resources, inspect, pickle, pkgutil, pkg.sub, old
        for module in (pkg, pkg.sub, old):
            spec = module.__spec__
            print(spec.name, spec.origin, spec.cached, spec.parent, spec.submodule_search_locations, module.__file__)
            print(module.__loader__, type(module.__loader__), sorted(vars(module)))
        print(inspect.getsource(pkg.sub.f), ascii(old.name), pkg.sub.f(9), pkg.sub.f.__code__.co_filename)
        print(importlib.resources.files("pkg").joinpath("data.txt").read_text(), pkgutil.get_data("pkg", "data.txt"))
        print([module.name for module in pkgutil.walk_packages(pkg.__path__, "pkg.")])
        print(type(copy.copy(old.__loader__)), type(pickle.loads(pickle.dumps(old.__loader__))))
        print(importlib.reload(old) is old, old.f(8))
        try:
            pkg.sub.f(None)
        except TypeError:
            import traceback
            traceback.print_exc()
        """,
    )[1]
    assert "some data" in out


def test_a_module_that_is_no_python_ends_the_program_as_ever(packed):
    assert_same(packed, "import broken\n")


def test_bytecode_in_an_archive_runs_as_it_is(packed):
    source = packed / "fast.py"
    source.write_text(FUNCTION)
    import py_compile

    py_compile.compile(str(source), str(packed / "fast.pyc"), dfile="fast.py")
    with zipfile.ZipFile(packed / "packed.zip", "a") as archive:
        archive.write(source, "fast.py")
        archive.write(packed / "fast.pyc", "fast.pyc")
    source.unlink()
    (packed / "fast.pyc").unlink()
    out = assert_same(packed, "import fast\nprint(fast.__file__, fast.f(5), '@enter' in fast.f.__code__.co_names)\n")[1]
    assert out.endswith("fast.pyc 3 False\n")


def test_a_zipapp_is_converted_with_all_its_modules(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(FUNCTION + IS_CONVERTED + "import helper\nprint(__file__, f(7))\n")
    (tmp_path / "app" / "helper.py").write_text(FUNCTION + IS_CONVERTED)
    zipapp.create_archive(tmp_path / "app", tmp_path / "app.pyz")
    plain = run(["app.pyz"], tmp_path)
    assert "False" in plain[1]
    for _ in range(2):
        code, out, err = run(["-m", "autoimport", "app.pyz"], tmp_path)
        assert (code, out, err) == (plain[0], plain[1].replace("False", "True"), plain[2])


def test_forms_that_have_gone_are_made_again_from_the_archive(packed):
    (packed / "train.py").write_text(
        "import sys\nsys.path.insert(0, 'packed.zip')\nimport pathlib, pkg.sub\n"
        "from autoimport.staging import registry\n"
        "for file in pathlib.Path('.cache').glob('*.forms'): file.unlink()\n"
        "print(registry.loaded[-1].cached, [form is not None for form in registry.loaded[-1].load_forms()])\n"
    )
    run(["-m", "autoimport", "train.py"], packed)
    assert run(["-m", "autoimport", "train.py"], packed)[1:] == ("True [True]\n", "")
