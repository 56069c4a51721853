"""A graph form does what plain Python does when no value is symbolic."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"graph_form_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


harness = _load("harness")
PROGRAMS = _load("corpus").PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_form_does_what_the_function_does(name: str) -> None:
    source, calls = PROGRAMS[name]
    harness.check(source, *calls)
