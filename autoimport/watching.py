"""This thread -> whether somebody watches it run: a debugger, a line tracer, a profiler.

Whoever does wants to see the person's lines, so everything runs as written. Where it is so before the program starts
(`python -m cProfile -m autoimport ...`, `python -m pdb`), gates are closed from the start, and nothing of ours is seen.
"""

from __future__ import annotations

import sys

WATCHED_FROM_THE_START = "a debugger, a line tracer or a profiler was at work when the program started"


def is_watched() -> bool:
    """Whether lines or calls are being watched; not by our own sampling, which its caller rules out."""
    return sys.gettrace() is not None or sys.getprofile() is not None or is_monitored()


def is_monitored() -> bool:
    """Whether a tool uses `sys.monitoring`, as cProfile does from Python 3.12 on, and coverage and pdb may."""
    return sys.version_info >= (3, 12) and any(sys.monitoring.get_tool(tool) is not None for tool in range(3))
