"""Modules and sites: gates, verdicts and what is shared between modules of one source."""

from __future__ import annotations

import builtins
import itertools
import types
from collections.abc import Iterator

import pytest

from autoimport.convert.module import convert_module
from autoimport.staging import registry

SOURCE = """
def f(x):
    return g(x)

def generator():
    yield 1

def g(x):
    return [v for v in x]

async def coroutine():
    await x
"""
_numbers = itertools.count()


@pytest.fixture
def module() -> Iterator[registry.Module]:
    """A module that nobody else has."""
    made = register(f"{SOURCE}# {next(_numbers)}")
    yield made
    forget(made)


def register(source: str, name: str = "some") -> registry.Module:
    converted = convert_module(source, "some.py")
    return registry.register_module(
        converted.key, name, "some.py", converted.functions, lambda: converted.forms, cached=False, convert_ms=1.0
    )


def forget(module: registry.Module) -> None:
    registry.modules.pop(module.key, None)
    registry.loaded.remove(module)


def test_functions_with_a_graph_form_have_an_open_gate(module: registry.Module) -> None:
    assert [(site.facts.name, gate) for site, gate in zip(module.sites, module.gates, strict=True)] == [
        ("f", 1),
        ("generator", 0),
        ("g", 1),
        ("coroutine", 0),
    ]


def test_the_gates_are_where_generated_code_looks_for_them(module: registry.Module) -> None:
    assert getattr(builtins, "@on:" + module.key) is module.gates


def test_a_verdict_shuts_the_gate_and_taking_it_back_opens_it(module: registry.Module) -> None:
    site = module.sites[0]
    site.close("eager", "because", 3)
    assert (module.gates[0], site.state, site.reason, site.reason_line) == (0, "eager", "because", 3)
    site.reopen()
    assert (module.gates[0], site.state, site.reason, site.reason_line) == (1, "cold", None, None)


def test_the_gate_of_a_generator_stays_shut_outside_graphs(module: registry.Module) -> None:
    module.sites[1].reopen()
    assert (module.gates[1], module.sites[1].closed, module.sites[1].reason) == (0, True, "a generator")


def test_all_gates_are_open_while_a_graph_is_built(module: registry.Module) -> None:
    module.sites[0].close("eager")
    registry.graph_started()
    registry.graph_started()
    try:
        assert module.gates == [1, 1, 1, 0]
        module.sites[2].close("eager")
        assert module.gates == [1, 1, 1, 0]
    finally:
        registry.graph_finished()
        assert module.gates == [1, 1, 1, 0]
        registry.graph_finished()
    assert module.gates == [0, 0, 0, 0]


def test_modules_of_one_source_share_sites(module: registry.Module) -> None:
    converted = convert_module(f"{SOURCE}# shared", "some.py")
    first, second = (
        registry.register_module(
            converted.key, name, "some.py", converted.functions, lambda: converted.forms, cached=True, convert_ms=0.0
        )
        for name in ("one", "two")
    )
    try:
        assert second.sites is first.sites
        assert second.gates is first.gates
        assert [site.module.name for site in second.sites] == ["one"] * 4
    finally:
        forget(first)
        forget(second)


def test_the_site_of_a_function_is_found_by_its_code() -> None:
    converted = convert_module(SOURCE, "some.py")
    module = registry.register_module(
        converted.key, "some", "some.py", converted.functions, lambda: converted.forms, cached=False, convert_ms=0.0
    )
    try:
        namespace: dict = {}
        exec(converted.code, namespace)
        assert registry.site_of(namespace["g"].__code__) is module.sites[2]
        assert registry.site_of(namespace["generator"].__code__) is None
        assert registry.site_of(test_the_site_of_a_function_is_found_by_its_code.__code__) is None
    finally:
        forget(module)


@pytest.mark.parametrize("last", range(3))
def test_code_that_has_regions_only_is_no_function_whatever_its_constants(last: int) -> None:
    # The number of a gate may have been a constant of the code before, with any other one in front of the key.
    numbers = "; ".join(f"number = {constant}" for constant in [*(c for c in range(9) if c != last), last])
    source = f"""
import tensorflow as tf
class Model:
    def __init__(self): self.w = tf.ones(2)
    def call(self, x): return tf.tanh(x * self.w)
x = tf.ones(2)
model = Model()
{numbers}
for step in [number]:
    x = model.call(tf.tanh(x)) + x
    print(open(x))
"""
    result = convert_module(source, "regions.py", is_main=True)
    module = registry.register_module(
        result.key, "regions", "regions.py", result.functions, lambda: result.forms, cached=False, convert_ms=0.0
    )
    try:
        assert any(site.kind == "region" for site in module.sites)
        assert registry.site_of(result.code) is None
        body = next(code for code in result.code.co_consts if isinstance(code, types.CodeType))
        codes = [code for code in body.co_consts if isinstance(code, types.CodeType)]
        assert [registry.site_of(code) for code in codes] == [s for s in module.sites if s.kind == "function"]
    finally:
        forget(module)


def test_graph_forms_are_loaded_once(module: registry.Module) -> None:
    forms, loads = module.load_forms(), []
    module.load_forms = lambda: loads.append(1) or forms
    assert [module.form(0), module.form(2)] == [forms[0], forms[2]]
    assert loads == [1]
    with pytest.raises(registry.NoFormError, match="coroutine has no graph form"):
        module.form(3)


def test_forms_are_closed_when_no_graph_is_under_construction_any_more(module: registry.Module) -> None:
    forms, kept = module.load_forms(), []
    forms.keep = kept.append
    registry.graph_started()
    registry.graph_started()
    module.form(0)
    registry.graph_finished()
    assert kept == []
    registry.graph_finished()
    assert kept == [forms]
    assert 0 in forms.made and 2 not in forms.made
    registry.graph_started()
    registry.graph_finished()
    assert kept == [forms]
