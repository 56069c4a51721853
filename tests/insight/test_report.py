"""The report tells what became of each function: as JSON for tools, as a table for people."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import io
import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from autoimport import config
from autoimport.convert.facts import FunctionFacts
from autoimport.insight import report
from autoimport.insight.explain import explain
from autoimport.staging import declared, registry
from autoimport.staging.registry import Module, Site


def facts(name: str, line: int = 1, **more: Any) -> FunctionFacts:
    return FunctionFacts(
        name=name,
        line=line,
        end_line=line + 3,
        parameters=("x",),
        **{"has_form": True, **more},
    )


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Module:
    module = Module(
        key="k1",
        name="train",
        file="/somewhere/train.py",
        cached=False,
        convert_ms=12.34567,
        load_forms=lambda: (),
    )
    monkeypatch.setattr(registry, "modules", {"k1": module})
    monkeypatch.setattr(registry, "loaded", [module])
    monkeypatch.setattr(report, "left_alone", {})
    monkeypatch.setattr(config, "_current", config.Options())
    return module


def add(module: Module, function: FunctionFacts, **more: Any) -> Site:
    site = Site(module=module, index=len(module.sites), facts=function, **more)
    module.sites.append(site)
    return site


def table() -> list[str]:
    stream = io.StringIO()
    report.print_table(stream)
    return stream.getvalue().splitlines()


def test_json_has_one_entry_for_each_site_and_module(module: Module, tmp_path: Path) -> None:
    add(
        module,
        facts("Trainer.step", 7),
        state="graph",
        own_calls=10,
        own_graph_calls=9,
        traces=1,
        sample_ms=20.0,
        graph_ms=9.0,
        trace_ms=100.0,
    )
    report.write_json(tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text())
    assert written.pop("total_ms") > 0
    assert written == {
        "version": 1,
        "sites": [
            {
                "name": "Trainer.step",
                "kind": "function",
                "file": "/somewhere/train.py",
                "line": 7,
                "end_line": 10,
                "state": "graph",
                "reason": None,
                "reason_line": None,
                "ended_by": None,
                "calls": 10,
                "graph_calls": 9,
                "traces": 1,
                "eager_ms": 20.0,
                "graph_ms": 9.0,
                "trace_ms": 100.0,
            }
        ],
        "modules": [
            {
                "name": "train",
                "file": "/somewhere/train.py",
                "cached": False,
                "convert_ms": 12.346,
            }
        ],
        "left_alone": {},
        "never_imported": [],
        "operations": None,
    }


def test_the_share_of_graphs_in_the_time_of_operations_is_told(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    executed = registry.Executed()
    executed.add(True, 30.0)
    for _ in range(5):
        executed.add(False, 2.0)
    monkeypatch.setattr(registry, "executed", executed)
    counts = {"operations": 5, "operations_ms": 10.0, "graphs": 1, "graphs_ms": 30.0, "share": 0.75}
    assert counts == report.as_dict()["operations"]
    told = "75% of the time in operations was inside graphs: 1 launch took 30 ms, 5 operations outside 10 ms"
    assert told in table()


def test_function_without_a_form_is_eager_for_the_reason_of_its_facts(
    module: Module,
) -> None:
    add(module, facts("batches", has_form=False, reason="a generator", reason_line=3))
    site = report.as_dict()["sites"][0]
    assert (site["state"], site["reason"], site["reason_line"]) == (
        "eager",
        "a generator",
        3,
    )


def test_json_replaces_an_older_file_and_leaves_nothing_else_behind(module: Module, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    report.write_json(target)
    assert json.loads(target.read_text())["version"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_json_that_cannot_be_written_leaves_the_older_file_whole(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")

    def full_disk(self: Path, *args: Any, **kwargs: Any) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="no space"):
        report.write_json(target)
    assert target.read_bytes() == b"old"


def test_json_goes_through_a_link_and_into_a_device(module: Module, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    report.write_json(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["version"] == 1
    (tmp_path / "null").symlink_to(os.devnull)
    report.write_json(tmp_path / "null")
    assert not Path(os.devnull).is_file()


def test_table_lists_what_took_most_of_the_time_first(module: Module) -> None:
    add(module, facts("small"), state="eager", reason="too small", own_calls=3, sample_ms=0.3)
    add(
        module,
        facts("large"),
        state="graph",
        own_calls=500,
        own_graph_calls=499,
        traces=1,
        sample_ms=20.0,
        graph_ms=400.0,
    )
    add(module, facts("middle"), state="cold", own_calls=1, sample_ms=100.0)
    names = [line.split()[0] for line in table()[3:] if not line.startswith(" ")]
    assert names == ["large", "middle", "small"]


def test_table_says_calls_traces_time_saved_and_why_not(module: Module) -> None:
    add(
        module,
        facts("step", 5),
        state="graph",
        own_calls=11,
        own_graph_calls=10,
        traces=2,
        sample_ms=300.0,
        graph_ms=400.0,
        trace_ms=500.0,
    )
    add(
        module,
        facts("log", 9),
        state="eager",
        reason="print at every call",
        reason_line=11,
        own_calls=4,
    )
    lines = table()
    assert lines[0].startswith("autoimport: 1 of 2 functions ran as graphs; 1 module (0 from the cache)")
    assert lines[3].split() == [
        "step",
        "/somewhere/train.py:5",
        "11",
        "10",
        "2",
        "2.1",
        "s",
    ]
    assert lines[4].split() == ["graph"]
    assert lines[6].strip() == "eager: line 11: print at every call"


@pytest.mark.parametrize(("own_graph_calls", "row"), [(70, "graph, but not at every call: k was 3"), (90, "graph")])
def test_a_graph_that_many_calls_lack_says_why(own_graph_calls: int, row: str, module: Module) -> None:
    site = add(module, facts("step"), state="graph", own_calls=100, own_graph_calls=own_graph_calls, traces=5)
    site.mind = types.SimpleNamespace(lacked="k was 3")
    assert table()[-1].strip() == row
    assert ("not at every call: k was 3" in explain("step")) is (row != "graph")


def test_table_fits_a_hundred_columns_and_stays_aligned(module: Module) -> None:
    module.file = "/a/very/long/folder/name/that/does/not/fit/into/its/column/train.py"
    add(
        module,
        facts("Model.<locals>.a_function_with_a_very_long_name.call"),
        state="graph",
        own_calls=10_000_000,
    )
    add(module, facts("f"), state="eager", reason="a reason " * 30, own_calls=1)
    add(module, facts("g", has_form=False, reason="a generator " * 10))
    lines = table()
    assert max(map(len, lines)) <= 100
    rows = [line for line in lines[3:] if ".py:1" in line and not line.startswith(("always", " "))]
    assert len(rows) == 2
    assert {line[27] + line[63] for line in rows} == {"  "}
    assert len({len(line) for line in rows}) == 1


def test_functions_that_no_tensor_reached_are_one_line(module: Module) -> None:
    for name in ("parse", "read"):
        add(module, facts(name), state="python", own_calls=1000)
    assert table()[1:] == ["", "plain Python, no tensor reached them: 2 functions"]


def test_functions_that_are_not_decided_yet_are_one_line(module: Module) -> None:
    add(module, facts("main"), own_calls=1)
    add(module, facts("build"), own_calls=2)
    assert table()[1:] == ["", "not decided yet: main (1 call); build (2 calls)"]


def test_a_region_is_named_by_its_lines(module: Module) -> None:
    add(module, facts("main"), own_calls=1)
    add(module, facts("main", 7, kind="region"), own_calls=5)
    add(module, dataclasses.replace(facts("<module>", 20, kind="region"), end_line=20), own_calls=6)
    add(module, facts("main", 12, kind="region"), state="graph", own_calls=9, own_graph_calls=8)
    lines = table()
    assert lines[0].startswith("autoimport: 1 of 4 functions and regions ran as graphs;")
    assert lines[3].startswith("main, lines 12-15           /somewhere/train.py:12 ")
    assert lines[-1] == "not decided yet: main (1 call); main, lines 7-10 (5 calls); line 20 (6 calls)"


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ([], "0 functions and regions"),
        (["function"], "1 function"),
        (["function", "generator"], "2 functions"),
        (["region"], "1 region"),
        (["region", "region"], "2 regions"),
        (["region", "function"], "2 functions and regions"),
    ],
)
def test_functions_and_regions_are_counted_as_what_they_are(kinds: list[str], words: str, module: Module) -> None:
    for kind in kinds:
        add(module, facts("f", kind=kind))
    assert f" of {words} ran as graphs" in table()[0]


def test_functions_that_were_never_called_are_one_line(module: Module) -> None:
    add(module, facts("unused"))
    assert table()[1:] == ["", "never called: 1 function"]


def test_functions_without_a_form_are_grouped_by_their_reason(module: Module) -> None:
    for name in ("train", "test"):
        add(module, facts(name, has_form=False, reason="a generator"))
    assert table()[2:] == [
        "always eager, a generator: train (/somewhere/train.py:1); test (/somewhere/train.py:1)",
    ]


def test_functions_that_the_person_keeps_eager_are_grouped_by_what_was_declared(
    module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared, "_left_alone", {"train.sample"})
    add(module, facts("sample"))
    assert table()[2:] == ["always eager, left alone by do_not_convert: sample (/somewhere/train.py:1)"]


def test_time_saved_is_unknown_without_an_eager_call_to_compare(module: Module) -> None:
    site = add(module, facts("inner"), state="graph", own_calls=4, own_graph_calls=4, graph_ms=1.0)
    assert report.saved_ms(site) is None


def test_a_loss_of_time_is_told_as_one(module: Module) -> None:
    site = add(
        module,
        facts("f"),
        state="graph",
        own_calls=2,
        own_graph_calls=1,
        traces=1,
        sample_ms=5.0,
        graph_ms=1.0,
        trace_ms=50.0,
    )
    assert report.saved_ms(site) == pytest.approx(-46.0)


def test_file_below_the_working_directory_is_named_relative_to_it(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module.file = str(tmp_path / "sub" / "train.py")
    assert report.place(add(module, facts("f", 3))) == os.path.join("sub", "train.py:3")


def test_insight_imports_no_tensorflow() -> None:
    script = (
        "import sys, autoimport.insight.report, autoimport.insight.explain\n"
        "sys.exit(any(name.partition('.')[0] in ('tensorflow', 'keras', 'gast') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_packages_that_were_named_and_never_imported_are_told(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_tools-1.0.dist-info").mkdir()
    (tmp_path / "some_tools-1.0.dist-info" / "top_level.txt").write_text("named")
    monkeypatch.syspath_prepend(tmp_path)
    main = types.ModuleType("__main__")
    main.__spec__ = importlib.machinery.ModuleSpec("by_name.main", None)
    registry.loaded.append(Module("k2", "__main__", "/somewhere/script.py", True, 0.0, lambda: ()))
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setitem(sys.modules, "named.inner", main)
    report.left_alone.update(late="it was imported before autoimport was turned on")
    met = ("named", "some-tools", "late", "train", "script", "by_name")
    monkeypatch.setattr(config, "_current", config.Options(packages=(*met, "my_packag", "train.inner")))
    assert table()[-1] == "never imported: my_packag, train.inner"
    assert report.as_dict()["never_imported"] == ["my_packag", "train.inner"]


def test_modules_that_were_left_alone_are_told_with_the_reason(module: Module) -> None:
    report.left_alone.update(late="it was imported before autoimport was turned on", b="its archive holds bytecode")
    assert table()[-2:] == [
        "not converted: b: its archive holds bytecode",
        "not converted: late: it was imported before autoimport was turned on",
    ]
    assert report.as_dict()["left_alone"] == {
        "b": "its archive holds bytecode",
        "late": "it was imported before autoimport was turned on",
    }
