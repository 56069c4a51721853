"""A program -> how it differs when every call becomes a graph as soon as it can be one, if it does.

The source is run twice in this process, each time as a module of its own: compiled by Python, and converted. What counts
is all that it prints and all that it passes to `show` and `attempt`, with types and to the bit, and, unless it is a
main program, whose names nobody else can see, what its globals hold in the end.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import itertools
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from autoimport.convert.module import convert_module
from autoimport.staging import registry
from tests.fuzz.programs import Program
from tests.staging import programs

_numbers = itertools.count()
# Not the program's own values: what is defined by it, or for it.
_MACHINERY = (types.ModuleType, types.FunctionType, type)


@dataclass(frozen=True)
class Outcome:
    """What a program did both ways.

    Attributes:
      difference: of the outputs, empty if there is none.
      staged: how many sites ran as graphs. reasons: why the others did not.
    """

    difference: str
    staged: int
    reasons: tuple[str, ...] = ()


def compare(program: Program) -> Outcome:
    """Run a program both ways."""
    plain, _ = _run(program, converted=False)
    ours, sites = _run(program, converted=True)
    difference = "\n".join(difflib.unified_diff(plain, ours, "plain", "staged", lineterm="", n=2))
    staged = sum(site.own_graph_calls > 0 for site in sites)
    return Outcome(difference, staged, tuple(site.reason for site in sites if site.reason))


def _run(program: Program, *, converted: bool) -> tuple[list[str], list[registry.Site]]:
    number = next(_numbers)
    name = "__main__" if program.is_main else f"fuzzed_{number}"
    # The number keeps programs of the same text apart: modules of one source share their sites.
    text = f"{program.source}\n# {number}\n"
    module = types.ModuleType(name)
    module.__dict__.update(show=show, attempt=attempt, __file__="fuzzed.py")
    sites: list[registry.Site] = []
    key = None
    code = compile(text, "fuzzed.py", "exec")
    if converted:
        result = convert_module(text, "fuzzed.py", is_main=program.is_main)
        registered = registry.register_module(
            result.key, name, "fuzzed.py", result.functions, lambda: result.forms, cached=False, convert_ms=0.0
        )
        key, code, sites = result.key, result.code, registered.sites
    before = sys.modules.get(name)
    sys.modules[name] = module
    out = io.StringIO()
    try:
        with programs.staging_after(1), contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tf.random.set_seed(7)
            context.context()._clear_caches()  # where 0.0 is -0.0 if that came first, in whichever program
            attempt(exec, code, module.__dict__)
            if not program.is_main:
                _show_globals(module)
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        if key is not None:
            registry.modules.pop(key, None)
            registry.loaded.clear()
    return re.sub(r"0x[0-9a-f]+|fuzzed_\d+", "0x", out.getvalue()).splitlines(), sites


def _show_globals(module: types.ModuleType) -> None:
    for name, value in sorted(vars(module).items()):
        if not name.startswith("__") and not isinstance(value, _MACHINERY) and name not in ("show", "attempt"):
            print(name, end=": ")
            show(vars(value) if type(value).__module__ == module.__name__ else value)


def show(*values: Any) -> None:
    """Write values down, and which of their parts are one object."""
    same = "".join(_aliases(values))
    print(" | ".join(map(programs.describe, values)), f"same: {same}" if same else "")


def attempt(fn: Callable[..., Any], *args: Any) -> None:
    """Write down what a call returns or raises; instead of a function, an error that was raised."""
    try:
        if fn is None:
            raise args[0]
        result = fn(*args)
    except Exception as error:  # noqa: BLE001
        print(f"{type(error).__qualname__}: {error}", f"from {error.__cause__!r}" if error.__cause__ else "")
        error.__traceback__ = None
    else:
        show(result, *(arg for arg in args if isinstance(arg, (tf.Tensor, np.ndarray, list))))


def _aliases(values: Any) -> Iterator[str]:
    """Which of the containers, arrays and variables among some values, numbered in their order, have been seen before."""
    seen: dict[int, int] = {}

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, (tf.Variable, np.ndarray, list, dict)):  # what can be changed
            if id(value) in seen:
                yield f"{len(seen)}={seen[id(value)]} "
                return
            seen[id(value)] = len(seen)
        if isinstance(value, (list, tuple)):
            for item in value:
                yield from walk(item)
        elif isinstance(value, dict):
            for item in value.values():
                yield from walk(item)

    return walk(values)
