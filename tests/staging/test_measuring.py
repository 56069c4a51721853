"""What the runtime executes is timed, inside graphs and outside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf

from autoimport.staging import measuring, registry, tf_internals
from tests.staging.programs import same


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> Iterator[registry.Executed]:
    """The counts of this test."""
    monkeypatch.setattr(registry, "executed", None)
    for name in tf_internals._EXECUTES:  # to be put back
        monkeypatch.setattr(tf_internals.pywrap_tfe, name, getattr(tf_internals.pywrap_tfe, name))
    measuring.start()
    assert registry.executed is not None
    yield registry.executed


def test_operations_and_functions_are_told_apart(executed: registry.Executed) -> None:
    squared = tf.function(lambda x: tf.reduce_sum(x * x), autograph=False)
    x = tf.ones([300, 300])
    squared(x)
    before = executed.operations
    tf.sin(x)
    tf.linalg.matmul(x, x)
    squared(x)
    assert (before + 2, 2) == (executed.operations, executed.graphs)
    assert executed.operations_ms > 0 and executed.graphs_ms > 0
    assert executed.share == executed.graphs_ms / (executed.graphs_ms + executed.operations_ms)


def test_an_operation_that_fails_is_counted_and_fails_as_ever(executed: registry.Executed) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible"):
        tf.linalg.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    assert executed.operations >= 1


def test_launches_of_ours_are_graphs(executed: registry.Executed) -> None:
    same(
        """
        def f(x):
            for _ in tf.range(3):
                x = tf.sin(x) * 2.0
            return x
        def main():
            for i in range(6): show(f(tf.constant(1.0 * i)))
        """,
        f="graph",
    )
    assert executed.graphs == 5


def test_it_is_counted_from_the_first_call_only_once(executed: registry.Executed) -> None:
    entry = tf_internals.pywrap_tfe.TFE_Py_Execute
    measuring.start()
    assert entry is tf_internals.pywrap_tfe.TFE_Py_Execute
    assert executed is registry.executed
