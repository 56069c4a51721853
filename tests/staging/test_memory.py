"""Graphs die with the models that they are of; `python -m tests.bench.memory` tells the megabytes of a hundred."""

from __future__ import annotations

import gc
import weakref
from itertools import pairwise
from types import CodeType

from autoimport.convert.module import convert_module
from autoimport.staging import ours, registry
from tests.bench.memory import measure
from tests.bench.timing import BENCH, load_converted
from tests.staging.programs import staging_after


def test_models_that_are_trained_and_dropped_leave_nothing() -> None:
    with staging_after(1):
        left = measure(load_converted("many_models", BENCH), 24, every=8)
    steps = [site for site in registry.all_sites() if site.module.name == "many_models" and "step" in site.facts.name]
    assert sum(site.graph_calls for site in steps) >= 24
    assert [0, 0, 0] == [each.models for each in left]
    assert [0, 0, 0] == [each.graphs - left[0].graphs for each in left]
    assert [0, 0, 0] == [each.functions - left[0].functions for each in left]
    # A leak shows each time; what else the process does, at some time.
    assert min(after.megabytes - before.megabytes for before, after in pairwise(left)) < 4


def test_graph_forms_die_with_their_module() -> None:
    result = convert_module("def f(x):\n    return (lambda: x + 1)() if x else 1\n", "m.py")
    forms = [form for form in result.forms if form is not None]
    for form in forms:
        ours.note_form(form)
    inner = [part for form in forms for part in form.co_consts if isinstance(part, CodeType)]
    assert inner
    assert all(map(ours.converted, inner))
    refs = [*map(weakref.ref, inner)]
    del result, forms, form, inner
    gc.collect()
    assert [None] * len(refs) == [ref() for ref in refs]
