"""What moves a graph loop on: the joint between what is iterated over and how a loop is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Driver:
    """What moves a loop on, apart from the variables: its own tensors and what to do with them.

    Attributes:
      start: the tensors before the first iteration.
      more: whether there is another iteration, a scalar bool tensor.
      step: runs the body once and returns the tensors for the next iteration.
      stop: tensors with which `more` is false.
      most: an upper bound of the number of iterations, where it is known.
      is_exact: there are `most` iterations, neither more nor fewer.
      has_first: whether there is a first iteration in any case.
    """

    start: tuple[Any, ...]
    more: Callable[..., Any]
    step: Callable[..., tuple[Any, ...]]
    stop: Callable[..., tuple[Any, ...]]
    most: int | None = None
    is_exact: bool = False
    has_first: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether there is a first iteration in any case. (No loop with `most` starts with a jump behind it.)"""
        return self.has_first or bool(self.most)
