"""A function over tensors -> its results in each way in which operators run: eagerly, and in three kinds of graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from autoimport.staging import tf_internals


class Bailed(Exception):
    """A check of a trace of ours was met when the graph ran."""


class Watcher(observer.Observer):
    """An observer that lets everything through and notes it: `seen` lists the events."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self.bails: list[Any] = []

    def read_global(self, namespace: dict[str, Any], name: str) -> Any:
        self.seen.append(("read_global", name))
        builtins = namespace["__builtins__"]
        return (
            namespace[name] if name in namespace else (builtins if isinstance(builtins, dict) else vars(builtins))[name]
        )

    def read_cell(self, cell: CellType, name: str) -> Any:
        self.seen.append(("read_cell", name))
        return cell.cell_contents

    def read_attr(self, obj: Any, name: str) -> Any:
        self.seen.append(("read_attr", name))
        return getattr(obj, name)

    def read_item(self, obj: Any, key: Any) -> Any:
        self.seen.append(("read_item", key))
        return obj[key]

    def write_attr(self, obj: Any, name: str, value: Any) -> None:
        self.seen.append(("write_attr", name))
        setattr(obj, name, value)

    def write_item(self, obj: Any, key: Any, value: Any) -> None:
        self.seen.append(("write_item", key))
        obj[key] = value

    def write_global(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        self.seen.append(("write_global", name))
        namespace[name] = value

    def write_cell(self, cell: CellType, name: str, value: Any) -> None:
        self.seen.append(("write_cell", name))
        cell.cell_contents = value

    def delete_attr(self, obj: Any, name: str) -> None:
        self.seen.append(("delete_attr", name))
        delattr(obj, name)

    def delete_item(self, obj: Any, key: Any) -> None:
        self.seen.append(("delete_item", key))
        del obj[key]

    def delete_global(self, namespace: dict[str, Any], name: str) -> None:
        self.seen.append(("delete_global", name))
        del namespace[name]

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        self.seen.append(("call", fn))
        return fn(*args, **kwargs)

    def mutate(self, obj: Any, what: str) -> None:
        self.seen.append(("mutate", what))

    def iterate(self, obj: Any) -> Any:
        self.seen.append(("iterate",))
        return obj

    def enter_context(self, manager: Any) -> Any:
        self.seen.append(("enter_context",))
        return manager

    def same(self, x: Any, y: Any) -> bool:
        self.seen.append(("same",))
        return x is y

    def handles(self) -> None:
        self.seen.append(("handles",))

    def caught(self, error: BaseException) -> None:
        self.seen.append(("caught", type(error)))

    def folds(self, fn: Callable[[Any], Any], items: Any) -> tuple[Any] | None:
        return None

    def logs(self, obj: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any] | None:
        return None

    def place(self, kind: str, holder: Any, name: Any) -> Any:
        return None

    def happens(self, what: str) -> None:
        self.seen.append(("happens", what))

    def show(self, x: Any, how: Callable[[Any], str] | None) -> Any:
        return None

    def stream(self, file: Any) -> Any:
        return file

    def acts(self, acted: Any) -> None:
        self.seen.append(("acts", acted))

    def selects(self, of_floats: bool) -> bool:
        return not (of_floats and tf_internals.recording())

    def complete(self, outputs: list[Any]) -> list[Any]:
        return outputs

    def effect(self, what: str) -> NoReturn:
        raise Unstageable(what)

    def walks(self, dataset: Any) -> str:
        self.seen.append(("walks", dataset))
        return "walk"

    def bail_if(self, condition: Any, why: str) -> None:
        self.bails.append(condition)
        tf.raw_ops.Assert(condition=tf.logical_not(condition), data=[f"BAIL {why}"])


def tensors_of(result: Any) -> Any:
    """The result with Numbers as their exact tensors."""
    return tf.nest.map_structure(lambda x: x.tensor if isinstance(x, Number) else x, result)


def numpy_of(result: Any) -> Any:
    """The result with tensors as numpy values and Python numbers as they are."""
    return tf.nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, result)


def in_function(fn: Callable[..., Any], *args: Any) -> Any:
    """`fn(*args)` in a graph that the person asked for."""
    return numpy_of(tf.function(lambda *xs: tensors_of(fn(*xs)), autograph=False)(*args))


def in_trace(fn: Callable[..., Any], *args: Any, specs: Any = None) -> Any:
    """`fn(*args)` in a trace of ours; raises `Bailed` where that would go back to eager."""

    def body(*xs: Any) -> Any:
        before = observer.observe(Watcher())
        try:
            return tensors_of(fn(*xs))
        finally:
            observer.observe(before)

    try:
        return numpy_of(tf.function(body, autograph=False, input_signature=specs)(*args))
    except tf.errors.OpError:  # a check of ours, or a kernel's own: both go back to eager
        raise Bailed from None


def in_session(fn: Callable[..., Any], *args: Any) -> Any:
    """`fn(*args)` in a v1 graph with a session."""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        values = [arg.numpy() if isinstance(arg, tf.Tensor) else arg for arg in args]
        placeholders = [tf.compat.v1.placeholder(arg.dtype, arg.shape) for arg in args]
        result = tensors_of(fn(*placeholders))
        fetches = tf.nest.map_structure(tf.convert_to_tensor, result)
        return session.run(fetches, dict(zip(placeholders, values, strict=True)))


def everywhere(fn: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """The results of `fn(*args)` by way, as plain Python lists and numbers."""
    results = {
        "eager": numpy_of(fn(*args)),
        "function": in_function(fn, *args),
        "trace": in_trace(fn, *args),
        "session": in_session(fn, *args),
    }
    return {way: tf.nest.map_structure(_plain, result) for way, result in results.items()}


def _plain(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else x


def same(fn: Callable[..., Any], *args: Any) -> Any:
    """The result of `fn(*args)`, which is the same in every way."""
    results = everywhere(fn, *args)
    expected = results["eager"]
    assert dict.fromkeys(results, expected) == results
    return expected
