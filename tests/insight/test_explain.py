"""`explain` says of one function whether it is a graph, what that saved, and if not, what stood in the way."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from autoimport.convert.facts import FunctionFacts
from autoimport.insight.explain import explain
from autoimport.insight.remedies import remedy_for
from autoimport.staging import declared, registry
from autoimport.staging.registry import Module, Site


def same(fn: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(fn)(lambda *args: fn(*args))


class Model:
    def call(self, x: Any) -> Any:
        return x

    @staticmethod
    def scale(x: Any) -> Any:
        return x

    @property
    def size(self) -> int:
        return 3


def call(x: Any) -> Any:
    print(x)
    return x


@same
@same
def decorated(x: Any) -> Any:
    return x


def line_of(fn: Any) -> int:
    lines, first = inspect.getsourcelines(inspect.unwrap(fn))
    return first + next(i for i, text in enumerate(lines) if text.lstrip().startswith("def"))


@pytest.fixture
def sites(monkeypatch: pytest.MonkeyPatch) -> dict[str, Site]:
    module = Module(
        key="k",
        name="model",
        file=__file__,
        cached=True,
        convert_ms=0.0,
        load_forms=lambda: (),
    )
    functions = (Model.call, Model.scale, Model.__dict__["size"].fget, call, decorated)
    for index, fn in enumerate(functions):
        line = line_of(fn)
        facts = FunctionFacts(fn.__qualname__, line, line + 2, ("x",), has_form=True)
        module.sites.append(Site(module, index, facts))
    monkeypatch.setattr(registry, "modules", {"k": module})
    monkeypatch.setattr(registry, "loaded", [module])
    return {site.facts.name: site for site in module.sites}


def test_graph_is_told_with_calls_traces_and_time_saved(sites: dict[str, Site]) -> None:
    vars(sites["call"]).update(
        state="graph",
        own_calls=102,
        own_graph_calls=100,
        traces=1,
        sample_ms=20.0,
        graph_ms=100.0,
        trace_ms=300.0,
    )
    assert explain(call).splitlines()[1:] == [
        "  100 of 102 calls ran in a graph, the other 2 eagerly",
        "  1 trace, 300 ms",
        "  20 ms a call eagerly, 1 ms as a graph",
        "  1.6 s saved, traces included",
    ]
    assert explain(call).splitlines()[0].startswith("call (")
    assert explain(call).splitlines()[0].endswith(f"test_explain.py:{line_of(call)}): a graph")


def test_calls_inside_the_graph_of_a_caller_need_no_trace_of_their_own(
    sites: dict[str, Site],
) -> None:
    vars(sites["call"]).update(state="graph", own_calls=5, own_graph_calls=5)
    assert explain(call).splitlines()[1:] == ["  5 of 5 calls ran in a graph"]


def test_eager_function_is_told_with_line_source_and_remedy(
    sites: dict[str, Site],
) -> None:
    line = line_of(call) + 1
    vars(sites["call"]).update(state="eager", reason="print at every call", reason_line=line, own_calls=4)
    assert explain(call).splitlines()[1:] == [
        f"  line {line}: print at every call",
        "    print(x)",
        "  To make it a graph: return the value and print it in the caller; tf.print runs inside a graph.",
    ]


def test_reason_without_a_line_or_a_known_remedy_stands_alone(
    sites: dict[str, Site],
) -> None:
    vars(sites["call"]).update(state="eager", reason="the moon is full")
    assert explain(call).splitlines()[1:] == ["  the moon is full"]


def test_undecided_and_python_functions_say_so(sites: dict[str, Site]) -> None:
    assert explain(call).endswith("not decided yet, never called")
    vars(sites["call"]).update(own_calls=1)
    assert explain(call).endswith("not decided yet, 1 call so far")
    vars(sites["call"]).update(state="python", own_calls=200)
    assert explain(call).endswith("plain Python, no tensor reached it in 200 calls")


def test_what_the_person_has_declared_is_the_reason(sites: dict[str, Site], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "_by_decorator", {})
    monkeypatch.setattr(declared, "_left_alone", set())
    declared.declare("model", "call", declared.EFFECTFUL)
    declared.leave_alone("model", "Model.call")
    for calls in (0, 1):
        vars(sites["call"]).update(own_calls=calls)
        assert explain(call).splitlines()[1:] == ["  declared effectful"]
    assert explain(Model.call).splitlines()[1:] == ["  left alone by do_not_convert"]
    vars(sites["Model.call"]).update(own_calls=1)  # by another name
    assert explain(Model.call).endswith("not decided yet, 1 call so far")


def test_a_function_that_is_left_alone_says_so_though_nothing_in_it_could_differ(
    sites: dict[str, Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared, "_left_alone", set())
    facts = sites["call"].facts
    sites["call"].facts = dataclasses.replace(facts, has_form=False, reason="nothing in it can differ in a graph")
    declared.leave_alone("model", "call")
    assert explain(call).splitlines()[1:] == ["  left alone by do_not_convert"]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (call, "call"),
        (Model().call, "Model.call"),
        (Model.call, "Model.call"),
        (Model.__dict__["scale"], "Model.scale"),
        (Model.__dict__["size"], "Model.size"),
        (functools.partial(Model.scale, 1), "Model.scale"),
        (decorated, "decorated"),
        ("Model.call", "Model.call"),
        ("scale", "Model.scale"),
    ],
)
def test_function_is_found_however_it_is_given(sites: dict[str, Site], target: Any, name: str) -> None:
    text = explain(target)
    assert text.startswith(f"{name} (")
    assert len(text.splitlines()) == 1


def test_every_function_of_a_name_is_explained(sites: dict[str, Site]) -> None:
    assert [text.split(" ")[0] for text in explain("call").split("\n\n")] == [
        "Model.call",
        "call",
    ]


def test_function_of_a_module_that_was_not_converted_is_called_plain_python(
    sites: dict[str, Site],
) -> None:
    expected = "not a function of a converted module, so it runs as plain Python. Converted modules: model."
    assert explain(inspect.getsource) == f"getsource: {expected}"
    assert explain(len) == f"len: {expected}"
    assert explain("nobody") == f"nobody: {expected}"


def test_reasons_of_staging_have_remedies() -> None:
    assert "name it in pure" in str(remedy_for("calls perf_counter, whose effects are unknown"))
    assert "in parentheses" in str(remedy_for("must run eagerly too often (a check in the graph fails: list index)"))
    assert remedy_for("needs a value that only a launch knows (TypeError: no 'Host')") is not None
    assert remedy_for("needs a new graph too often: rate was 0.1 and is 0.2") is not None


def test_reason_that_the_table_does_not_know_has_no_remedy() -> None:
    assert remedy_for("the moon is full") is None


def test_region_tells_its_lines_and_what_it_had_to_stop_at(sites: dict[str, Site]) -> None:
    site = sites["call"]
    site.facts = FunctionFacts("train", 3, 5, (), True, kind="region", end=(6, "rng.choice(...)"))
    site.state = "eager"
    site.reason = "draws random numbers"
    assert "-5): eager" in explain("train").splitlines()[0]
    assert explain("train").splitlines()[-1] == "  it ends before line 6: rng.choice(...)"
