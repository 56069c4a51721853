"""One eager call of a function -> how many TensorFlow operations it ran, how long it took, and if it walked a tensor.

A gate sees a call begin but not end. For a single early call of each site a profile function is set that waits for the
frame's return and counts the runtime's entries on the way; counts do not depend on the machine, so the policy may.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from autoimport.staging import tf_internals
from autoimport.watching import is_monitored

# The functions of the runtime by which eager operations are executed.
_EXECUTES = frozenset({"TFE_Py_FastPathExecute", "TFE_Py_Execute", "TFE_Py_ExecuteCancelable"})

_WALKS = tf_internals.EagerTensor.__iter__.__code__

Report = Callable[[int, float, bool], None]


class _Samples(threading.local):
    def __init__(self) -> None:
        self.operations = 0
        self.walks = 0
        self.open: list[tuple[FrameType, int, int, float, Report]] = []


_samples = _Samples()


def sample(frame: FrameType, report: Report) -> None:
    """Have `report(operations, milliseconds, walks)` called when `frame` returns.

    `walks` says that there was a Python loop over a tensor in it, at whatever depth.

    Does nothing while somebody else's profile function is set.
    """
    if sys.getprofile() not in (None, _profile):
        return
    _samples.open.append((frame, _samples.operations, _samples.walks, time.perf_counter(), report))
    sys.setprofile(_profile)


def is_alone() -> bool:
    """Whether nobody but us watches the thread: its profile function is ours."""
    return sys.getprofile() is _profile and sys.gettrace() is None and not is_monitored()


def _profile(frame: FrameType, event: str, arg: Any) -> None:
    if event == "c_call":
        if arg.__name__ in _EXECUTES:
            _samples.operations += 1
    elif event == "call":
        if frame.f_code is _WALKS:
            _samples.walks += 1
    elif event == "return" and frame is _samples.open[-1][0]:
        _, operations, walks, start, report = _samples.open.pop()
        report(_samples.operations - operations, 1e3 * (time.perf_counter() - start), _samples.walks > walks)
        if not _samples.open:
            sys.setprofile(None)
