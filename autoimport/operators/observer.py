"""The seam between operators and staging: who watches the reads, writes and calls of a graph form.

Operators ask `current()`. It is None in graphs that the person asked for (tf.function, fit, map, tf.Graph): then
the access operators are plain Python. In a trace of our own it is the trace, which records sources and guards, keeps
effects from happening, and gives the trace up (raises Unstageable) before anything that it cannot hold.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import CellType
from typing import Any, NoReturn, Protocol


class Observer(Protocol):
    """What a trace answers. Every method may raise Unstageable."""

    def read_global(self, namespace: dict[str, Any], name: str) -> Any:
        """The value of a global or builtin name, recorded as a source. Raises NameError as Python does."""

    def read_cell(self, cell: CellType, name: str) -> Any:
        """The value of a closure cell of the original function."""

    def read_attr(self, obj: Any, name: str) -> Any:
        """`getattr(obj, name)`; a source if `obj` is older than the trace."""

    def read_item(self, obj: Any, key: Any) -> Any:
        """`obj[key]`; a source if `obj` is a container older than the trace."""

    def write_attr(self, obj: Any, name: str, value: Any) -> None: ...
    def write_item(self, obj: Any, key: Any, value: Any) -> None: ...
    def write_global(self, namespace: dict[str, Any], name: str, value: Any) -> None: ...
    def write_cell(self, cell: CellType, name: str, value: Any) -> None: ...
    def delete_attr(self, obj: Any, name: str) -> None: ...
    def delete_item(self, obj: Any, key: Any) -> None: ...
    def delete_global(self, namespace: dict[str, Any], name: str) -> None: ...

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call what has no operator of its own: runs it, or gives the trace up if its effects are unknown."""

    def place(self, kind: str, holder: Any, name: Any) -> Any:
        """The `heap.Place` for a change of what is older than the trace: "attribute", "global", "cell" or "item".

        None for what the trace has made, which is changed directly.
        """

    def happens(self, what: str) -> None:
        """Something that is not part of the graph happens at this point of the program: fine if exactly once a launch,
        or as the branches and loops that are being built have it."""

    def folds(self, fn: Callable[[Any], Any], items: Any) -> tuple[Any] | None:
        """The result of `fn(items)`, in a tuple, for a list of numbers that is older than the trace; else None."""

    def logs(self, obj: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any] | None:
        """The result, in a tuple, of the change `obj.method(*args)` of an old container if it will be made after each
        launch instead of now; else None."""

    def mutate(self, obj: Any, what: str) -> None:
        """`obj` (a list, dict, set, array, ...) is about to be changed in place: fine if the trace made it."""

    def iterate(self, obj: Any) -> Any:
        """Something that Python can iterate over instead of `obj`, its items recorded as sources if `obj` is old."""

    def enter_context(self, manager: Any) -> Any:
        """The context manager to use for `manager`."""

    def same(self, x: Any, y: Any) -> bool:
        """`x is y`, of objects; the answer holds for the calls for which the trace is used."""

    def handles(self) -> None:
        """Code follows whose exceptions the person handles: a launch that fails must leave nothing changed."""

    def caught(self, error: BaseException) -> None:
        """A handler of the person's takes `error`: fine if eager code would meet the same."""

    def show(self, x: Any, how: Callable[[Any], str] | None) -> Any:
        """What stands for an object in a `text.Text` that takes the text `how(x)` of it (`str`, `repr`, None: unknown);
        None where the trace cannot know its text."""

    def stream(self, file: Any) -> Any:
        """The `file` argument of a `print` after the launch."""

    def acts(self, acted: Any) -> None:
        """Make a call after each launch; see `text.hand_on`."""

    def walks(self, dataset: Any) -> str:
        """The name scope for operations of a loop of the graph over `dataset`."""

    def repeat(self) -> None:
        """A Python loop begins one more iteration: Unstageable when the graph has grown too large."""

    def built(self, graph: Any) -> None:
        """The graph of a branch or body is done with, perhaps in vain: Unstageable when too much has been built."""

    def selects(self, of_floats: bool) -> bool:
        """Whether both branches of a condition may run, and their outputs be selected from; no tape sees which was."""

    def complete(self, outputs: list[Any]) -> list[Any]:
        """See `complete` below."""

    def effect(self, what: str) -> NoReturn:
        """Something that no trace can hold (print, import, class definition): raises Unstageable."""

    def bail_if(self, condition: Any, why: str) -> None:
        """Put a check into the graph: where the scalar bool tensor `condition` is true when the graph runs, the results
        are thrown away and the call runs eagerly (which raises, overflows, ... as Python does). Works at any depth
        of graph branches and loops."""


def leave_as_is(fn: Any) -> Any:
    """What a call in a graph of the person's calls instead of `fn`; staging puts conversion on demand here."""
    return fn


convert_on_demand: Callable[[Any], Any] = leave_as_is


class _State(threading.local):
    observer: Observer | None = None


_state = _State()


def current() -> Observer | None:
    """The observer of the graph form that runs in this thread, or None."""
    return _state.observer


def complete(outputs: list[Any]) -> list[Any]:
    """What to return for the outputs of a branch or body, when all its operations are in the default graph."""
    watching = current()
    return outputs if watching is None else watching.complete(outputs)


def observe(observer: Observer | None) -> Observer | None:
    """Make `observer` the current one and return the one before, for the caller to put back."""
    before = _state.observer
    _state.observer = observer
    return before
