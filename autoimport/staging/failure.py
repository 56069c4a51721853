"""An exception that ended a trace -> what the report tells of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autoimport.operators.either import Either
from autoimport.operators.errors import TooLarge, Unstageable
from autoimport.operators.lists import TensorList
from autoimport.operators.numbers import Number
from autoimport.operators.numpy_values import Later, NumpyValue
from autoimport.operators.text import Text
from autoimport.operators.undefined import MaybeNone, MaybeUndefined
from autoimport.staging.arrays import Array
from autoimport.staging.host import Host
from autoimport.staging.values import Shape

# How messages of Python, numpy and TensorFlow speak of what stands for a value while a graph is made.
_STAND_INS = (Array, Either, Host, Later, MaybeNone, MaybeUndefined, Number, NumpyValue, Shape, TensorList, Text)
_NAMES = "|".join(["SymbolicTensor", *(cls.__name__ for cls in _STAND_INS)])
_NO_VALUE = re.compile(rf"\b[Ss]ymbolic\b|eager execution|tf\.Tensor '|\bTensor\(\"|'({_NAMES})'")


@dataclass(frozen=True)
class Failure:
    """Why a trace was given up, and on which line of the person's file."""

    reason: str
    line: int | None
    work: int = 0
    is_too_large: bool = False

    @classmethod
    def of(cls, error: BaseException, file: str, work: int) -> Failure:
        """What an exception that ended a trace says, after so many operations."""
        if isinstance(error, Unstageable):
            return cls(error.reason, error.line or _line_in(error, file), work, isinstance(error, TooLarge))
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if _NO_VALUE.search(reason):
            # What else such messages say is advice that is of no use here.
            reason = f"needs a value that only a launch knows ({reason.partition('. ')[0]})"
        return cls(reason, _line_in(error, file), work)


def _line_in(error: BaseException, file: str) -> int | None:
    """The innermost line of `file` in an error's traceback."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
