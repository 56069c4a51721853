"""The subject of a `match` is read before patterns look at it."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

import autoimport.operators as ops
from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.operators.numbers import Number
from tests.operators.ways import Watcher, in_trace


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize("x", [1, "a", None, Colour.RED, int, ("clip", 0.0, [1, 2]), {"a": (1,)}, len])
def test_plain_subjects_are_themselves_and_read(x: Any) -> None:
    watcher = Watcher()
    before = observer.observe(watcher)
    try:
        assert ops.subject(x) is x
    finally:
        observer.observe(before)
    assert bool(watcher.seen) is isinstance(x, (tuple, dict))


def test_subjects_that_patterns_would_look_into_unseen_give_a_trace_up() -> None:
    for make in (lambda x: Number(int, x), lambda x: SimpleNamespace(x=x)):
        with pytest.raises(Unstageable, match="match"):
            in_trace(lambda x, make=make: ops.subject(make(x)) and x, tf.constant(1))


def test_any_subject_is_itself_elsewhere() -> None:
    x = SimpleNamespace()
    assert ops.subject(x) is x
