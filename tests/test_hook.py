"""Imports: what is converted, by whose code, and that nothing else about an import changes."""

import contextlib
import gc
import importlib
import linecache
import os
import subprocess
import sys
import traceback
import types
import warnings
import weakref
from importlib.machinery import PathFinder, SourceFileLoader

import pytest

from autoimport import config, hook
from autoimport.config import Options
from autoimport.convert.facts import Converted
from autoimport.convert.making import Forms
from autoimport.selection import Selection
from autoimport.staging import registry


@pytest.fixture
def conversions(monkeypatch, tmp_path):
    """A converter that marks the code it makes; the names of the files that it has converted."""
    seen = []

    def convert_module(source, path, *, key=None, is_main=False, strict=None, rewrite=None):
        seen.append(os.path.basename(path))
        if b"# faulty" in source:
            raise RuntimeError("converter fault\non two lines")
        code = compile(source + b"\nconverted = True\n", path, "exec", dont_inherit=True)
        return Converted("k" + str(len(seen)), code, Forms(source, path, 0, is_main=is_main), ())

    stub = types.ModuleType("autoimport.convert.module")
    stub.convert_module = convert_module
    monkeypatch.setitem(sys.modules, "autoimport.convert.module", stub)
    monkeypatch.setattr(registry, "modules", {})
    monkeypatch.setattr(registry, "loaded", [])
    monkeypatch.setattr(config, "_current", Options(cache_dir=str(tmp_path / "cache")))
    return seen


@pytest.fixture
def program(tmp_path, monkeypatch, conversions):
    """The directory of a program, on sys.path, with the hook at work for its tree."""
    root = tmp_path / "program"
    root.mkdir()
    monkeypatch.syspath_prepend(str(root))
    before, finders = set(sys.modules), sys.meta_path
    hook.start(Selection(str(root)))
    yield root
    hook.uninstall()
    finders[:] = [finder for finder in finders if not isinstance(finder, hook.Finder)]
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(tmp_path)):
            del sys.modules[name]


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    importlib.invalidate_caches()
    return path


def test_a_module_of_the_program_is_converted(program):
    write(program, "mine.py", "x = 1\n")
    assert importlib.import_module("mine").converted


def test_a_package_of_the_program_is_converted_with_its_submodules(program, conversions):
    write(program, "pkg/__init__.py", "")
    write(program, "pkg/sub.py", "y = 2\n")
    assert importlib.import_module("pkg.sub").converted
    assert conversions == ["__init__.py", "sub.py"]


def test_a_second_import_takes_the_code_from_the_cache(program, conversions):
    write(program, "mine.py", "x = 1\n")
    importlib.import_module("mine")
    del sys.modules["mine"]
    assert importlib.import_module("mine").converted
    assert conversions == ["mine.py"]
    assert [module.cached for module in registry.loaded] == [False, True]


def test_a_damaged_cache_is_rebuilt_without_a_word(program, conversions, tmp_path, capfd):
    write(program, "mine.py", "x = 1\n")
    importlib.import_module("mine")
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    del sys.modules["mine"]
    assert importlib.import_module("mine").converted
    assert conversions == ["mine.py", "mine.py"]
    assert capfd.readouterr() == ("", "")


def test_the_cache_is_kept_where_python_writes_no_bytecode(program, monkeypatch, tmp_path):
    """Nothing is put beside the sources, and images of containers often set PYTHONDONTWRITEBYTECODE."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write(program, "mine.py", "x = 1\n")
    assert importlib.import_module("mine").converted
    assert os.path.exists(tmp_path / "cache")
    assert [path.name for path in program.iterdir()] == ["mine.py"]


def test_forms_that_have_gone_are_made_of_the_file_while_it_is_the_same(program, conversions, tmp_path):
    path = write(program, "mine.py", "x = 1\n")
    importlib.import_module("mine")
    del sys.modules["mine"]
    importlib.import_module("mine")
    load_forms = registry.loaded[-1].load_forms
    path.write_text("x = 22\n")
    assert load_forms().source == b"x = 1\n"  # of the entry
    for file in (tmp_path / "cache").glob("*.forms"):
        file.unlink()
    assert load_forms().source == b""
    path.write_text("x = 1\n")
    assert load_forms().source == b"x = 1\n"
    path.unlink()
    assert load_forms().source == b""
    assert conversions == ["mine.py"]


@pytest.mark.parametrize("what", ["edited", "removed"])
def test_forms_are_of_the_text_that_was_imported(what, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "_current", Options(cache_dir=str(tmp_path / "cache")))
    monkeypatch.setattr(registry, "loaded", [])
    path = tmp_path / "mine.py"
    source = b"def f(x):\n    return g(x, 'old')\n"
    for load, made in ((hook.convert, []), (hook.load_cached, []), (hook.load_cached, [0])):
        monkeypatch.setattr(registry, "modules", {})
        assert load(source, str(path), "mine") is not None
        if what == "edited":
            path.write_bytes(source.replace(b"old", b"new"))
        module = registry.loaded[-1]
        assert list(module.load_forms().made) == made
        form = module.form(0)
        assert (form.co_filename, "old" in form.co_consts) == (str(path), True)
        if load is hook.load_cached:
            registry.graph_started()
            registry.graph_finished()  # when forms are kept


def test_changed_source_is_converted_anew(program, conversions):
    path = write(program, "mine.py", "x = 1\n")
    module = importlib.import_module("mine")
    path.write_text("x = 22\n")
    assert importlib.reload(module).x == 22
    assert module.converted
    assert conversions == ["mine.py", "mine.py"]


def test_nothing_but_the_loader_of_a_module_is_ours(program):
    write(program, "pkg/__init__.py", "")
    spec, plain = importlib.util.find_spec("pkg"), PathFinder.find_spec("pkg")
    assert isinstance(spec.loader, SourceFileLoader)
    assert (spec.name, spec.origin, spec.cached, spec.parent, list(spec.submodule_search_locations)) == (
        plain.name, plain.origin, plain.cached, plain.parent, list(plain.submodule_search_locations),
    )  # fmt: skip
    assert repr(spec.loader).partition(" at ")[0] == repr(plain.loader).partition(" at ")[0]
    assert vars(spec.loader) == vars(plain.loader)


def test_python_still_writes_its_own_bytecode(program, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    write(program, "mine.py", "x = 1\n")
    assert os.path.exists(importlib.import_module("mine").__cached__)


def test_modules_that_are_not_selected_keep_their_spec(program):
    assert hook._finder.find_spec("json") is None
    assert hook._finder.find_spec("json.decoder", importlib.import_module("json").__path__) is None
    assert hook._finder.find_spec("no_such_module") is None


def test_the_finders_behind_are_asked_in_order_and_once(program, monkeypatch):
    asked = []

    class Recorder:
        def __init__(self, name):
            self.name = name

        def find_spec(self, fullname, path=None, target=None):
            asked.append(self.name)

    monkeypatch.setattr(sys, "meta_path", [Recorder("before"), hook._finder, Recorder("a"), Recorder("b"), PathFinder])
    write(program, "mine.py", "x = 1\n")
    assert importlib.import_module("mine").converted
    assert asked == ["before", "a", "b"]


def test_a_loader_that_changes_the_source_is_left_alone(program, monkeypatch, conversions):
    class Translating(SourceFileLoader):
        def get_data(self, path):
            return super().get_data(path).replace(b"1", b"2")

    path = write(program, "mine.py", "x = 1\n")

    class Translator:
        @staticmethod
        def find_spec(fullname, path_=None, target=None):
            if fullname == "mine":
                return importlib.util.spec_from_file_location("mine", path, loader=Translating("mine", str(path)))

    monkeypatch.setattr(sys, "meta_path", [hook._finder, Translator, PathFinder])
    assert importlib.import_module("mine").x == 2
    assert conversions == []


def test_a_loader_that_only_adds_to_pythons_own_is_kept_as_a_base(program, monkeypatch):
    class Noting(SourceFileLoader):
        note = "theirs"

    path = write(program, "mine.py", "x = 1\n")

    class Other:
        @staticmethod
        def find_spec(fullname, path_=None, target=None):
            if fullname == "mine":
                return importlib.util.spec_from_file_location("mine", path, loader=Noting("mine", str(path)))

    monkeypatch.setattr(sys, "meta_path", [hook._finder, Other, PathFinder])
    module = importlib.import_module("mine")
    assert module.converted and isinstance(module.__loader__, Noting) and module.__loader__.note == "theirs"


def test_a_fault_of_the_converter_costs_one_line_and_nothing_else(program, capfd):
    path = write(program, "mine.py", "x = 1  # faulty\n")
    module = importlib.import_module("mine")
    assert module.x == 1 and not hasattr(module, "converted")
    assert capfd.readouterr().err == (
        f"autoimport: {path} runs as plain Python: it could not be converted "
        "(RuntimeError: converter fault on two lines); please report this\n"
    )


def test_strict_raises_a_fault_of_the_converter(program, monkeypatch):
    monkeypatch.setattr(config, "_current", Options(strict=True, cache_dir=config.current().cache_dir))
    write(program, "mine.py", "x = 1  # faulty\n")
    with pytest.raises(RuntimeError, match="converter fault"):
        importlib.import_module("mine")


def trace_of_import(name):
    linecache.clearcache()
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    with pytest.raises(BaseException) as error:
        exec(compile(f"import {name}", "<importer>", "exec"), {})
    tb = error.value.__traceback__.tb_next
    return "".join(traceback.format_exception(type(error.value), error.value, tb))


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1 / 0\nf()\n",
        "import no_such_module_at_all\n",
        "def f(:\n    pass\n",
        "x = '\\400'\n  y = 1\n",
        "raise KeyboardInterrupt\n",
        "raise SystemExit(3)\n",
    ],
)
def test_a_failing_import_has_the_traceback_of_plain_python(program, text):
    write(program, "mine.py", text)
    ours = trace_of_import("mine")
    hook.uninstall()
    assert ours == trace_of_import("mine")


def test_a_finder_that_raises_has_the_traceback_of_plain_python(program, monkeypatch):
    class Refusing:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname == "mine":
                raise ImportError("not here")

    monkeypatch.setattr(sys, "meta_path", [hook._finder, Refusing, PathFinder])
    write(program, "mine.py", "")
    ours = trace_of_import("mine")
    monkeypatch.setattr(sys, "meta_path", [Refusing, PathFinder])
    assert ours == trace_of_import("mine")


def test_a_warning_about_the_importer_points_at_the_importer(program):
    write(program, "mine.py", "import warnings\nwarnings.warn('old', stacklevel=2)\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile("\n\nimport mine", "<importer>", "exec"), {"__name__": "importer"})
    assert [(str(w.message), w.filename, w.lineno) for w in caught] == [("old", "<importer>", 3)]


def test_the_compiler_warns_once(program):
    write(program, "mine.py", "x = 1 is 1\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        importlib.import_module("mine")
    assert [w.category for w in caught] == [SyntaxWarning]


def test_tensorflow_is_announced_when_its_import_has_finished(program, monkeypatch):
    from autoimport.staging import gate

    seen = []
    monkeypatch.setattr(gate, "attach", lambda: seen.append(sys.modules["tensorflow"].ready))
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    write(program, "tensorflow.py", "ready = False\nready = True\n")
    try:
        module = importlib.import_module("tensorflow")
    finally:
        sys.modules.pop("tensorflow", None)
    assert seen == [True] and not hasattr(module, "converted")


@pytest.mark.parametrize("ending", ("", "raise ImportError('broken')\n"), ids=("good", "failing"))
@pytest.mark.parametrize("enabled", (True, False), ids=("collecting", "not collecting"))
def test_nobody_looks_for_garbage_while_tensorflow_is_imported(program, monkeypatch, enabled, ending):
    from autoimport.staging import gate

    monkeypatch.setattr(gate, "attach", lambda: None)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    made = "class Ring:\n    pass\nring = Ring()\nring.me = ring\n"
    write(program, "tensorflow.py", f"import gc, sys\nsys.collects = gc.isenabled()\n{made}sys.ring = ring\n{ending}")
    (gc.enable if enabled else gc.disable)()
    try:
        with contextlib.suppress(ImportError):
            importlib.import_module("tensorflow")
        assert (sys.collects, gc.isenabled()) == (False, enabled)
        assert any(each is sys.ring for each in gc.get_objects(generation=2)) == enabled
        gone = weakref.ref(sys.ring)
        del sys.ring
        sys.modules.pop("tensorflow", None)
        gc.collect()
        assert gone() is None
    finally:
        gc.enable()
        sys.modules.pop("tensorflow", None)
        del sys.collects


def test_what_the_program_has_frozen_stays_frozen(program, monkeypatch):
    from autoimport.staging import gate

    monkeypatch.setattr(gate, "attach", lambda: None)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    write(program, "tensorflow.py", "")
    gc.freeze()
    try:
        importlib.import_module("tensorflow")
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
        sys.modules.pop("tensorflow", None)


def test_install_and_uninstall_choose_by_name(program, monkeypatch, tmp_path):
    import autoimport

    hook.uninstall()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUTOIMPORT", raising=False)
    monkeypatch.setenv("AUTOIMPORT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("a", "b", "c"):
        write(program, f"{name}/__init__.py", "")
        write(program, f"{name}/sub.py", "")
    autoimport.install(packages=["a", "b"], exclude=["b.sub"])
    autoimport.install(packages=["a", "b"], exclude=["b.sub"])
    assert sys.meta_path.count(hook._finder) == 1
    names = ["a", "a.sub", "b", "b.sub", "c", "c.sub"]
    converted = [name for name in names if hasattr(importlib.import_module(name), "converted")]
    assert converted == ["a", "a.sub", "b"]
    autoimport.uninstall()
    assert not any(isinstance(finder, hook.Finder) for finder in sys.meta_path)


def test_a_warm_import_loads_no_gast_and_no_tensorflow(tmp_path):
    write(tmp_path, "mine.py", "def f(x):\n    if x:\n        return 1\n    return 2\n")
    write(tmp_path, "train.py", "import sys, mine\nprint(sorted({'gast', 'tensorflow'} & set(sys.modules)))\n")
    environment = {**os.environ, "AUTOIMPORT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-m", "autoimport", "train.py"]
    for expected in ("['gast']\n", "[]\n"):
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (run.stdout, run.stderr) == (expected, "")
