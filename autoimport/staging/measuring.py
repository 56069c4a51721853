"""Every operation that the runtime executes -> how long operations took, inside graphs and outside.

For `--report-operations`. Only the time inside the runtime counts: what Python does around an operation is left out, as
it is for a launch. The first launch of a graph includes the time to prepare it. Graphs are anybody's: ours, those of
`tf.function`, of Keras.
"""

from __future__ import annotations

import functools
import time
from typing import Any

from autoimport.staging import registry, tf_internals

# Operations that do nothing but run a function.
_RUN_FUNCTIONS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


def start() -> None:
    """Time operations from now on, into `registry.executed`."""
    if registry.executed is None:
        registry.executed = registry.Executed()
        tf_internals.wrap_executions(_timed)


def _timed(execute: Any, place: int) -> Any:
    """An entry of the runtime that notes how long it took; the operation's name is its argument `place`."""
    totals = registry.executed
    assert totals is not None

    @functools.wraps(execute)
    def timed(*args: Any) -> Any:
        start = time.perf_counter()
        try:
            return execute(*args)
        finally:
            totals.add(_is_graph(args[place]), 1e3 * (time.perf_counter() - start))

    return timed


@functools.cache
def _is_graph(name: str | bytes) -> bool:
    """Whether an operation is a function of the program's."""
    text = name.decode() if isinstance(name, bytes) else name
    return text in _RUN_FUNCTIONS or tf_internals.is_function(text)
