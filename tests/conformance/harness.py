"""A program of a test module and its inputs -> the assurance that every way of running it gives what Python gives.

A program is a function at the top level of the test module that checks it. For each way the module's file is loaded anew, as
CPython compiles it and converted, so that every copy has its own globals, classes and variables. `check` runs the
program on its inputs, a few calls each, as written, and holds three ways against that:

* staged, after one eager call: at each call the same value with the same types, the same prints, the same exception;
* in a `tf.function`: the same values, and nothing printed by Python when the function is called again;
* in a v1 graph with a session: the same values.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import math
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np
import tensorflow as tf

from autoimport import config
from autoimport.convert.module import convert_module
from autoimport.staging import gate, registry

Inputs = Sequence[Any] | Callable[[], Sequence[Any]]
CALLS = 3


@dataclasses.dataclass(frozen=True)
class File:
    """A test module's file, compiled as it is and converted."""

    path: str
    plain: types.CodeType
    converted: types.CodeType
    sites: list[registry.Site]

    def site(self, name: str) -> registry.Site:
        """The site of the function `name`."""
        return next(site for site in self.sites if site.facts.name == name)

    def load(self) -> tuple[types.ModuleType, types.ModuleType]:
        """The module twice: as it is, and converted, with all sites as at the start."""
        for site in self.sites:
            if site.facts.has_form:
                site.mind = None
                site.reopen()
        return _module(self.plain, self.path), _module(self.converted, self.path)


@functools.cache
def compiled(path: str) -> File:
    """Compile and convert the file at `path`, once."""
    with open(path, "rb") as file:
        source = file.read()
    with mock.patch.dict(os.environ, AUTOIMPORT_STRICT="1"):
        converted = convert_module(source, path)
    name = os.path.basename(path).removesuffix(".py")
    module = registry.register_module(
        converted.key, name, path, converted.functions, lambda: converted.forms, cached=False, convert_ms=0.0
    )
    gate.attach()
    return File(path, compile(source, path, "exec", dont_inherit=True), converted.code, module.sites)


def _module(code: types.CodeType, path: str) -> types.ModuleType:
    module = types.ModuleType("program")
    module.__file__ = path
    with mock.patch.dict(sys.modules, program=module):  # data classes look their module up
        exec(code, vars(module))
    return module


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one call did, as plain values that can be compared: `value` is None if it raised `error`."""

    value: Any
    error: tuple[str, str] | None
    printed: str
    state: Any = None


def check(
    fn: Callable[..., Any],
    *inputs: Inputs,
    staged: bool = True,
    function: bool | type[BaseException] = True,
    session: bool = False,
    state: Callable[[Any], Any] | None = None,
) -> None:
    """Compare all ways of running the program `fn`.

    Args:
      fn: a function at the top level of the calling test module; it tells file and name only.
      inputs: the arguments of one call each, or functions that make them anew for each call.
      staged: whether calls that return become graphs of our own after the first one.
      function: whether to run it in a `tf.function` too; an exception class if that must raise there.
      session: whether to run it in a v1 graph with a session too (the arguments are tensors or plain Python values).
      state: called with the copy of the module after each call; what it returns is compared as well.
    """
    file, name = compiled(fn.__code__.co_filename), fn.__name__
    plain, _ = file.load()
    expected = [_outcome(plain, name, given, None) for given in inputs]
    returning = [given for given, outcome in zip(inputs, expected, strict=True) if outcome.error is None]
    raising = [given for given, outcome in zip(inputs, expected, strict=True) if outcome.error is not None]
    _check_staged(file, name, returning, raising, staged, state)
    if function is not False:
        for given in (*returning, *raising):
            _check_function(file, name, given, function)
    if session:
        for given in (*returning, *raising):
            _check_session(file, name, given)


# Staged ---------------------------------------------------------------------------------------------------------------


def _check_staged(
    file: File,
    name: str,
    returning: list[Inputs],
    raising: list[Inputs],
    staged: bool,
    state: Callable[[Any], Any] | None,
) -> None:
    plain, converted = file.load()
    site = file.site(name)

    def compare(given: Inputs) -> bool:
        """Call both; whether the converted one ran as a graph."""
        expected = _outcome(plain, name, given, state)
        before = site.graph_calls
        found = _outcome(converted, name, given, state)
        became = site.graph_calls > before
        way = "as a graph" if became else "eagerly"
        assert found == expected, f"{name}{_show(given)}, run {way}:\n  {found}\nin plain Python:\n  {expected}"
        return became

    with _staging_after(1):
        for given in returning:
            compare(given)
        for given in returning * (CALLS - 1):
            became = compare(given)
            words = f"{'no graph' if staged else 'a graph'} for {_show(given)}; {site.reason} {site.reason_line}"
            assert became == staged, words
        for given in raising * CALLS:
            compare(given)


@contextlib.contextmanager
def _staging_after(calls: int) -> Iterator[None]:
    before = config.current()
    config.use(dataclasses.replace(before, stage_after=calls))
    try:
        yield
    finally:
        config.use(before)


def _outcome(module: types.ModuleType, name: str, given: Inputs, state: Callable[[Any], Any] | None) -> Outcome:
    value, error = None, None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            value = described(getattr(module, name)(*_arguments(given)))
        except Exception as raised:  # noqa: BLE001  # whatever the program raises is its result
            error = (type(raised).__qualname__, str(raised))
    return Outcome(value, error, out.getvalue(), described(state(module)) if state is not None else None)


def _arguments(given: Inputs) -> Sequence[Any]:
    return given() if callable(given) else given


# In the person's graphs -----------------------------------------------------------------------------------------------


def _check_function(file: File, name: str, given: Inputs, function: bool | type[BaseException]) -> None:
    plain, converted = file.load()
    traced = tf.function(getattr(converted, name))
    for again in (False, True):
        expected = _attempt(getattr(plain, name), given)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                value = bare(traced(*_arguments(given)))
            except Exception as error:
                if isinstance(expected, Exception) or isinstance(function, type) and isinstance(error, function):
                    return
                raise
        where = f"{name}{_show(given)} in a tf.function"
        assert function is True, f"{where} gives {value}"
        assert _close(value, expected), f"{where}:\n  {value}\nin plain Python:\n  {expected!r}"
        assert not again or not out.getvalue(), f"{where} prints at a second call"


def _attempt(fn: Callable[..., Any], given: Inputs) -> Any:
    """The bare value that the call gives, or the exception."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return bare(fn(*_arguments(given)))
        except Exception as error:  # noqa: BLE001  # whatever the program raises is its result
            return error


def _check_session(file: File, name: str, given: Inputs) -> None:
    plain, converted = file.load()
    expected = _attempt(getattr(plain, name), given)
    arguments = _arguments(given)
    try:
        with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
            feed, placed = {}, []
            for argument in arguments:
                if isinstance(argument, tf.Tensor):
                    placeholder = tf.compat.v1.placeholder(argument.dtype, argument.shape)
                    feed[placeholder] = argument.numpy()
                    argument = placeholder
                placed.append(argument)
            result = getattr(converted, name)(*placed)
            fetches = tf.nest.map_structure(lambda part: None if part is None else tf.convert_to_tensor(part), result)
            flat = [part for part in tf.nest.flatten(fetches) if part is not None]
            values = iter(session.run(flat, feed))
            value = bare(tf.nest.map_structure(lambda part: None if part is None else next(values), fetches))
    except Exception:
        if isinstance(expected, Exception):
            return
        raise
    assert _close(value, expected), f"{name}{_show(given)} in a session:\n  {value}\nin plain Python:\n  {expected!r}"


def _show(given: Inputs) -> str:
    return "(...)" if callable(given) else "(" + ", ".join(map(repr, map(bare, given))) + ")"


# Values ---------------------------------------------------------------------------------------------------------------


def described(value: Any) -> Any:
    """A value with its types, the same for equal values of both copies."""
    if isinstance(value, tf.Variable):
        return ("variable", described(value.read_value()))
    if isinstance(value, tf.Tensor):
        return ("tensor", value.dtype.name, tuple(value.shape), _numbers(value.numpy()))
    if isinstance(value, tf.__internal__.CompositeTensor) and not isinstance(
        value, (tf.data.Dataset, tf.data.Iterator)
    ):
        return (type(value).__name__, [described(part) for part in tf.nest.flatten(value, expand_composites=True)])
    if isinstance(value, (np.ndarray, np.generic)):
        return (type(value).__name__, value.dtype.name, value.shape, _numbers(value))
    if isinstance(value, (bool, int, str, bytes, float, complex, type(None))):
        return (type(value).__name__, repr(value))
    if isinstance(value, dict):
        return (type(value).__name__, [(described(key), described(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [described(item) for item in value])
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, sorted(map(repr, map(described, value))))
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return value.__qualname__
    parts = getattr(value, "__dict__", None)
    return (type(value).__qualname__, described(parts) if parts is not None else str(value))


def _numbers(array: Any) -> Any:
    if array.dtype.kind in "fc":
        # Which kernel adds up a row may depend on the graph; the last bits of a float32 are TensorFlow's own.
        return [float(f"{number:.5e}") if math.isfinite(abs(number)) else repr(number) for number in array.ravel().real]
    return array.tolist()


def bare(value: Any) -> Any:
    """A value without the types that a person's own graph cannot keep: tensors and arrays as lists and numbers."""
    if isinstance(value, (tf.Tensor, tf.Variable)):
        value = value.numpy()
    elif isinstance(value, tf.RaggedTensor):
        return value.to_list()
    elif isinstance(value, tf.SparseTensor):
        return bare(tf.sparse.to_dense(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return bare(value.tolist())
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [bare(item) for item in value]
    return value.encode() if isinstance(value, str) else value


def _close(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(_close, found, expected))
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(_close(found[key], item) for key, item in expected.items())
        )
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        return (
            found == expected
            or math.isclose(found, expected, rel_tol=1e-5)
            or (found != found and expected != expected)
        )
    return bool(found == expected)
