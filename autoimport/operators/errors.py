"""The exceptions by which operators and traces speak to each other and to the person."""

from __future__ import annotations


class Unstageable(BaseException):
    """A trace of our own cannot go on: the call runs eagerly instead.

    A BaseException, so that no `except Exception` of the person's swallows it. Never seen outside staging.

    Attributes:
      reason: what stood in the way, in words for the report.
      remedy: what the person could change, or "".
      line: the line in the person's file, where the traceback does not tell.
    """

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.line: int | None = None


class TypesDiffer(Unstageable):
    """What `BranchMismatch` is, in a trace of our own."""


class TooLarge(Unstageable):
    """The trace would cost more than what has been spent eagerly so far."""


class MakesVariables(Unstageable):
    """The call makes what later ones may find made."""


class Diverged(BaseException):
    """A branch of a symbolic conditional ended in a `raise`, which has been put into the graph."""


class BranchMismatch(TypeError):
    """A variable ends the branches (or iterations) of a symbolic statement with types that no tensor can hold."""
