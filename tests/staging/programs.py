"""A program as text -> what it does under plain Python and with gates, every call a graph as soon as it can be one.

A program defines `main()`, which calls `show(...)` for what is to be compared; both runs happen in this process, each in
a module of its own. What `show` and `attempt` write down is values with their types to the bit, and exceptions.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import io
import itertools
import os
import random
import re
import sys
import tempfile
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport import config
from autoimport.convert.module import convert_module
from autoimport.convert.parse import compile_source
from autoimport.staging import gate, registry

PRELUDE = "import tensorflow as tf\nimport numpy as np\n"
_DECIMAL_BITS = 10_000  # Python writes larger integers down in decimal only when it is told to
_numbers = itertools.count()
# Kept until the end: TensorFlow's AutoGraph, and inspect, read the file again.
_folder = tempfile.TemporaryDirectory()


@dataclass
class Run:
    """What one run of a program did: its output line by line, and its functions' sites by name."""

    lines: list[str]
    sites: dict[str, registry.Site]

    def states(self) -> dict[str, str]:
        return {name: site.state for name, site in self.sites.items()}


def describe(value: Any) -> str:
    """A value with its type, so that what differs reads differently."""
    if isinstance(value, tf.Variable) or type(value).__module__.startswith("keras.src.backend"):
        value = getattr(value, "_value", value)
    if isinstance(value, tf.Variable):
        return (
            f"Variable({describe(value.value)})"
            if not callable(value.value)
            else f"Variable({describe(value.value())})"
        )
    if isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        parts = tf.nest.flatten(value, expand_composites=True)
        return f"{type(value).__name__}({', '.join(map(describe, parts))})"
    if tf.is_tensor(value) and hasattr(value, "numpy"):
        return f"{type(value).__name__}({value.dtype.name}, {describe(value.numpy())})"
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.shape}, {value.tolist()!r})"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__name__}({', '.join(map(describe, value))})"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}[{', '.join(map(describe, value))}]"
    if isinstance(value, dict):
        items = ", ".join(f"{key!r}: {describe(item)}" for key, item in value.items())
        return f"{type(value).__name__}{{{items}}}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({describe(vars(value))})"
    if type(value) is int:
        return f"int {value:#x}" if value.bit_length() > _DECIMAL_BITS else f"int {value}"
    return f"{type(value).__name__} {value!r}"


def show(*values: Any) -> None:
    """Write values down."""
    print(" | ".join(map(describe, values)))


def attempt(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Write down what a call returns or raises."""
    try:
        result = fn(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        print(f"{type(error).__module__}.{type(error).__name__}: {error}")
    else:
        show(result)


def run(source: str, *, converted: bool, stage_after: int | None = 1) -> Run:
    """Run a program as a module of its own, plain or with gates."""
    number = next(_numbers)
    # The number keeps programs of the same text apart: modules of one source share their sites.
    text = f"{PRELUDE}{textwrap.dedent(source)}\n# {number}\n"
    name = f"program_{number}"
    path = os.path.join(_folder.name, name + ".py")
    with open(path, "w") as file:
        file.write(text)
    module = types.ModuleType(name)
    module.__dict__.update(show=show, attempt=attempt, __file__=path)
    sites: dict[str, registry.Site] = {}
    code = compile_source(text, path)
    if converted:
        result = convert_module(text, path)
        registered = registry.register_module(
            result.key, name, path, result.functions, lambda: result.forms, cached=False, convert_ms=0.0
        )
        # Functions stand in front of regions, which are called as the function around them.
        sites = {site.facts.name: site for site in reversed(registered.sites)}
        code = result.code
    sys.modules[name] = module
    out = io.StringIO()
    try:
        with staging_after(stage_after), contextlib.redirect_stdout(out):
            _seed()
            exec(code, module.__dict__)  # noqa: S102
            module.__dict__["main"]()
    except Exception as error:  # noqa: BLE001
        out.write(f"raised {type(error).__name__}: {error}\n")
        error.__traceback__ = None
    finally:
        del sys.modules[name]
    text = out.getvalue().replace(path, "program.py").replace(name, "program")
    return Run(re.sub(r"0x[0-9a-f]+", "0x", text).splitlines(), sites)


@contextlib.contextmanager
def staging_after(calls: int | None) -> Iterator[None]:
    """New sites are traced after so many calls."""
    gate.attach()
    before = config.current()
    config.use(dataclasses.replace(before, stage_after=calls))
    try:
        yield
    finally:
        config.use(before)


def _seed() -> None:
    if "keras" in sys.modules:
        sys.modules["keras"].utils.clear_session(free_memory=False)  # collecting garbage takes longest of all
    random.seed(7)
    np.random.seed(7)
    tf.random.set_seed(7)


def same(source: str, *, stage_after: int | None = 1, **expected: str) -> Run:
    """Run a program both ways, hold the outputs together, and each named function to the state that it ends in."""
    plain, ours = run(source, converted=False), run(source, converted=True, stage_after=stage_after)
    assert plain.lines, "a program that shows nothing tests nothing"
    assert not plain.lines[-1].startswith("raised "), plain.lines
    difference = "\n".join(difflib.unified_diff(plain.lines, ours.lines, "plain", "staged", lineterm="", n=1))
    assert not difference, difference
    for name, state in expected.items():
        site = ours.sites[name]
        assert (state, name) == (site.state, name), site.reason
    return ours
