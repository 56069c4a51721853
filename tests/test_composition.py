"""Programs that look at, or lean on, how they were imported: with the hook they print what they print without it."""

import os
import subprocess
import sys
import textwrap
import zipapp
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# A module of the program, for all of the programs below.
MINE = '''"""Some functions.

>>> clip(5)
1
"""
import warnings


def clip(x, limit=1):
    """Not more than the limit."""
    if x > limit:
        return limit
    return x


def warn():
    for _ in range(1):
        warnings.warn("look here", stacklevel=1)


class Shape:
    sides = 0

    def area(self, width=2):
        if width:
            return self.sides * width
        return 0


def fail(x):
    while x:
        x -= 1
    raise ValueError("at the end")
'''

PROGRAMS = {
    "attributes": """
        import mine
        spec = mine.__spec__
        print(spec.name, spec.origin == mine.__file__, spec.cached == mine.__cached__, spec.has_location, spec.parent)
        print(spec.submodule_search_locations, mine.__loader__ is spec.loader, type(spec.loader).__name__)
        print(mine.__loader__.get_source("mine") == open(mine.__file__).read(), mine.__loader__.is_package("mine"))
        print(mine.__loader__.get_filename("mine") == mine.__file__, sorted(vars(mine)))
        """,
    "inspect": """
        import inspect, linecache, mine
        print(inspect.getsource(mine.clip), inspect.getsource(mine.Shape), inspect.getsourcelines(mine.fail))
        print(inspect.signature(mine.clip), inspect.getdoc(mine.clip), inspect.getmodule(mine.clip) is mine)
        print(linecache.getline(mine.__file__, 8), inspect.getfile(mine.Shape) == mine.__file__)
        print(mine.clip.__code__.co_varnames, mine.clip.__code__.co_firstlineno, mine.clip.__defaults__)
        """,
    "resources": """
        import importlib.resources, pkgutil, pkg
        print((importlib.resources.files("pkg") / "data.txt").read_text(), pkgutil.get_data("pkg", "data.txt"))
        print([module.name for module in pkgutil.walk_packages(pkg.__path__, "pkg.")])
        print(pkgutil.resolve_name("pkg.sub:value")())
        """,
    "pickle": """
        import copy, pickle, mine
        print(pickle.loads(pickle.dumps(mine.clip)) is mine.clip, pickle.loads(pickle.dumps(mine.Shape)) is mine.Shape)
        print(len(pickle.dumps(mine.Shape())), pickle.loads(pickle.dumps(mine.__loader__)).path == mine.__file__)
        print(type(copy.deepcopy(mine.__spec__).loader).__name__)
        """,
    "doctest": """
        import doctest, mine
        print(doctest.testmod(mine))
        """,
    "warnings": """
        import mine
        mine.warn()
        """,
    "traceback": """
        import mine
        mine.fail(3)
        """,
    "dis": """
        import dis, mine
        print({line for _, line in dis.findlinestarts(mine.fail.__code__)} >= {30, 31, 32})
        print([code.co_name for code in (mine.clip.__code__, mine.Shape.area.__code__)])
        """,
    "trace": """
        import sys, mine
        lines = []
        def tracer(frame, event, arg):
            if frame.f_code.co_filename == mine.__file__:
                lines.append((event, frame.f_code.co_name, frame.f_lineno))
                return tracer
        sys.settrace(tracer)
        mine.clip(3); mine.Shape().area()
        sys.settrace(None)
        print(lines)
        """,
    "profile": """
        import cProfile, pstats, io, mine
        profile = cProfile.Profile()
        profile.runcall(mine.clip, 3)
        print(sorted(name for file, _, name in pstats.Stats(profile).stats if file == mine.__file__))
        """,
    "tracemalloc": """
        import tracemalloc, mine
        tracemalloc.start()
        kept = [mine.Shape() for _ in range(100)]
        print(mine.__file__ in {frame.filename for frame in tracemalloc.take_snapshot().traces[0].traceback} or True)
        """,
    "reload": """
        import importlib, os, sys, mine
        first = mine.clip
        importlib.reload(mine)
        print(mine.clip is first, mine.clip(4), mine.__spec__.name)
        source = open(mine.__file__).read()
        del sys.modules["mine"]
        import mine as again
        print(again is mine, again.clip(7))
        """,
    "by hand": """
        import importlib.util, sys
        spec = importlib.util.find_spec("mine")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        print(module.clip(3), "mine" in sys.modules)
        spec = importlib.util.spec_from_file_location("other", spec.origin)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        print(module.clip(3), module.__name__)
        """,
    "lazy": """
        import importlib.util, sys
        spec = importlib.util.find_spec("mine")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules["mine"] = module
        spec.loader.exec_module(module)
        print(object.__getattribute__(module, "__dict__").get("clip"), module.clip(4))
        """,
    "runpy": """
        import runpy
        print(runpy.run_module("pkg.sub", run_name="ran")["value"]())
        print(sorted(runpy.run_path("mine.py"))[-4:])
        """,
    "circular": """
        import pkg.left, pkg.right
        print(pkg.left.name(), pkg.right.name())
        """,
    "threads": """
        import concurrent.futures, importlib
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            print(sorted({pool.submit(lambda n=n: importlib.import_module(n).__name__).result() for n in
                  ["mine", "pkg.sub", "pkg.left", "pkg.right"] * 8}))
        """,
    "namespace": """
        import sys
        sys.path[1:1] = ["one", "two"]
        import spread.a, spread.b
        print(spread.a.here(), spread.b.here(), [p.rpartition("/")[2] for p in map(str, spread.__path__)], type(spread.__spec__.loader).__name__)
        """,
    "zip": """
        import sys
        sys.path.insert(1, "packed.zip")
        import packed
        print(packed.f(1), type(packed.__loader__).__name__)
        """,
    "failing": """
        for _ in range(2):
            try:
                import broken
            except ZeroDivisionError as error:
                print(error, error.__traceback__.tb_next.tb_lineno)
        import sys
        print("broken" in sys.modules)
        """,
    "frozen": """
        import sys, _json, json, zipimport, math
        print(type(sys.modules["_json"].__loader__), zipimport.__spec__.origin, json.__loader__.__class__, math.__spec__.origin == getattr(math, "__file__", "built-in"))
        """,
    "finders": """
        import importlib.abc, importlib.machinery, sys
        class Virtual(importlib.abc.MetaPathFinder, importlib.abc.Loader):
            def find_spec(self, name, path=None, target=None):
                return importlib.machinery.ModuleSpec(name, self) if name == "virtual" else None
            def create_module(self, spec): return None
            def exec_module(self, module): module.x = 5
        for position in (0, len(sys.meta_path)):
            finder = Virtual()
            sys.meta_path.insert(position, finder)
            import virtual
            print(virtual.x, virtual.__loader__ is finder)
            sys.meta_path.remove(finder); del sys.modules["virtual"]
        """,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("composition")
    texts = {
        "mine.py": MINE,
        "broken.py": "def f(x):\n    if x:\n        return 1 / x\n\nf(1)\n1 / 0\n",
        "pkg/__init__.py": "",
        "pkg/data.txt": "some data",
        "pkg/sub.py": "def value():\n    for x in (1, 2):\n        pass\n    return x\n",
        "pkg/left.py": "import pkg.right\ndef name():\n    return pkg.right.left() if 1 else 0\n",
        "pkg/right.py": "import pkg.left\ndef left():\n    return 'left' if 1 else 0\ndef name():\n    return pkg.left.name() + '!'\n",
        "one/spread/a.py": "def here():\n    return 'one' if 1 else 0\n",
        "two/spread/b.py": "def here():\n    return 'two' if 1 else 0\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("packed.py", "def f(x):\n    return 1 if x else 2\n")
    for name, text in PROGRAMS.items():
        (folder / f"run_{name.replace(' ', '_')}.py").write_text(textwrap.dedent(text))
    return folder


def run(command, folder, **more):
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("AUTOIMPORT", "_AUTOIMPORT"))}
    environment = {**keep, "PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(folder / ".cache"), **more}
    environment["AUTOIMPORT_STRICT"] = "1"
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_prints_without_the_hook(name, folder):
    script = f"run_{name.replace(' ', '_')}.py"
    plain = run([script], folder)
    assert plain[1] or plain[2]
    for _ in range(2):
        assert run(["-m", "autoimport", script], folder) == plain


IS_CONVERTED = "print(__name__, '@enter' in f.__code__.co_names)\n"
FUNCTION = "def f(x):\n    return 1 if x else 2\n"


@pytest.mark.parametrize(
    ("command", "printed"),
    [(["app"], "__main__ True\nhelper True\n"), (["-m", "app"], "__main__ True\napp.helper True\n")],
    ids=["folder", "package"],
)
def test_the_main_file_of_a_folder_is_converted(command, printed, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    (tmp_path / "app" / "helper.py").write_text(FUNCTION + IS_CONVERTED)
    helper = "helper" if command == ["app"] else "app.helper"
    (tmp_path / "app" / "__main__.py").write_text(FUNCTION + IS_CONVERTED + f"import {helper}\n")
    assert run(["-m", "autoimport", *command], tmp_path) == (0, printed, "")


def test_a_zipapp_runs_as_without_the_hook(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("import helper\nprint(__file__, helper.f(0))\n")
    (tmp_path / "app" / "helper.py").write_text(FUNCTION)
    zipapp.create_archive(tmp_path / "app", tmp_path / "app.pyz")
    assert run(["-m", "autoimport", "app.pyz"], tmp_path) == run(["app.pyz"], tmp_path)


def test_modules_imported_before_are_named_and_left(tmp_path):
    (tmp_path / "early.py").write_text(FUNCTION)
    (tmp_path / "late.py").write_text(FUNCTION)
    (tmp_path / "train.py").write_text(
        "import early, autoimport\nautoimport.install()\nimport late\n"
        "print(*['@enter' in m.f.__code__.co_names for m in (early, late)])\n"
        "from autoimport.selection import left_alone\nprint(left_alone)\n"
    )
    code, out, err = run(["train.py"], tmp_path)
    assert (code, out) == (0, "False True\n{'early': 'it was imported before autoimport was turned on'}\n")
    assert "train.py:2: UserWarning: autoimport: imported before autoimport.install(), so not converted: early\n" in err


def test_install_takes_one_name_as_it_is(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("mine", "m"):
        (tmp_path / "lib" / f"{name}.py").write_text(FUNCTION + IS_CONVERTED)
    code = "import sys; sys.path.insert(0, 'lib'); import autoimport; autoimport.install('mine'); import mine, m"
    assert run(["-c", code], tmp_path) == (0, "mine True\nm False\n", "")
    code = "import autoimport\ntry: autoimport.install('not a name')\nexcept ValueError as error: print(error)"
    assert run(["-c", code], tmp_path)[1].startswith("install(): packages: 'not a name' is not allowed; use names of")


def distribution(folder, name, module, entry_points="", record=True):
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text(f"{module}.py,,\n{info.name}/RECORD,,\n")
    (info / "entry_points.txt").write_text(entry_points)
    (folder / f"{module}.py").write_text(FUNCTION + IS_CONVERTED)


@pytest.mark.parametrize("name", ["Odd-Name", "odd-name", "oddname-x"])
def test_a_distribution_opts_its_modules_in_by_name(name, tmp_path):
    distribution(tmp_path / "site", name, "quite_other")
    distribution(tmp_path / "site", "unwanted", "unwanted")
    (tmp_path / "train.py").write_text("import sys; sys.path.append('site'); import quite_other, unwanted\n")
    found = {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path / 'site'}"}
    command = ["-m", "autoimport", "--packages", name, "train.py"]
    assert run(command, tmp_path, **found) == (0, "quite_other True\nunwanted False\n", "")


def test_a_package_opts_itself_in_and_the_person_can_veto(tmp_path):
    points = "[console_scripts]\nx = willing:main\n\n[autoimport.packages]\nwilling = willing\n"
    distribution(tmp_path / "site" / "site-packages", "willing", "willing", points)
    distribution(tmp_path / "site" / "site-packages", "unwilling", "unwilling")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "train.py").write_text("import willing, unwilling\n")
    found = {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path / 'site' / 'site-packages'}"}
    command = ["-m", "autoimport", "train.py"]
    assert run(command, tmp_path / "work", **found) == (0, "willing True\nunwilling False\n", "")
    veto = {**found, "AUTOIMPORT_EXCLUDE": "willing"}
    assert run(command, tmp_path / "work", **veto) == (0, "willing False\nunwilling False\n", "")


@pytest.mark.parametrize("option", ["-O", "-OO", "-Xno_debug_ranges", "-Xutf8"])
def test_options_of_python_have_entries_of_their_own(option, tmp_path):
    (tmp_path / "mine.py").write_text('def f(x):\n    """Text."""\n    assert x, 1\n    return f.__doc__ if x else 2\n')
    (tmp_path / "train.py").write_text(
        "import mine\nprint(mine.f(1))\nprint(list(mine.f.__code__.co_positions())[-1][2] is None if "
        "hasattr(mine.f.__code__, 'co_positions') else 0)\n"
        "try: mine.f(0)\nexcept AssertionError as e: print(e)\n"
    )
    run(["-m", "autoimport", "train.py"], tmp_path)
    plain = run([option, "-B", "train.py"], tmp_path)
    for _ in range(2):
        assert run([option, "-m", "autoimport", "train.py"], tmp_path) == plain


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfname = '\xc3\xa9'\n",
        b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
        b"name = 'x'\r\n\x0c\r\nother = 1\r\n",
    ],
    ids=["bom", "latin-1", "crlf"],
)
def test_source_text_means_what_it_means_without_the_hook(source, tmp_path):
    (tmp_path / "mine.py").write_bytes(source + FUNCTION.encode())
    (tmp_path / "train.py").write_text(
        "import mine\nprint(ascii(mine.name), mine.f(0), mine.f.__code__.co_firstlineno)\n"
    )
    assert run(["-m", "autoimport", "train.py"], tmp_path) == run(["train.py"], tmp_path)


def test_bytecode_in_a_folder_of_its_own_has_ours_beside_it(tmp_path):
    (tmp_path / "mine.py").write_text(FUNCTION)
    (tmp_path / "train.py").write_text("import mine\n")
    prefix = tmp_path / "bytecode"
    more = {"PYTHONPYCACHEPREFIX": str(prefix)}
    code = "import os, sys; del os.environ['AUTOIMPORT_CACHE_DIR']; sys.argv = ['a', 'train.py']; from autoimport.cli import main; main()"
    assert run(["-c", code], tmp_path, **more)[0] == 0
    assert list((prefix / "autoimport").glob("*.code")) != []
    assert not (tmp_path / "__pycache__").exists()
