"""A launch that may take long -> its outputs, with Python's signal handlers running meanwhile, as in eager code.

A launch holds its thread until the graph has run, and signal handlers run in the main thread only. So another thread
makes the launch, and the main one waits for it in Python: a handler that returns has just run, as between two eager
operations; one that raises, as Ctrl-C's does, ends the wait, and the launch is cancelled.
"""

from __future__ import annotations

import _thread
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from autoimport.staging import tf_internals
from autoimport.staging.handlers import Interrupted

# Seconds after which the waiting thread looks up: `_thread.interrupt_main` and the like wake nobody.
_LOOKS_UP_AFTER = 0.2

Launch = Callable[[Any], Any]


class _Wait:
    """One launch: made by a helper, waited for by the main thread."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._cancellation = tf_internals.Cancellation()
        self._done = _thread.allocate_lock()
        self._done.acquire()
        self._outputs: Any = None
        self._error: BaseException | None = None

    def run(self, helper: _Helper) -> None:
        try:
            self._outputs = self._launch(self._cancellation)
        except BaseException as error:  # the main thread raises it
            self._error = error
        _idle.append(helper)
        self._done.release()

    def outputs(self) -> Any:
        try:
            self._until_done()
        except BaseException as error:
            self._cancellation.start_cancel()
            self._until_done()
            raise Interrupted(error) from None
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback holds this frame
        return self._outputs

    def _until_done(self) -> None:
        while not self._done.acquire(timeout=_LOOKS_UP_AFTER):
            pass


class _Helper:
    """A thread that makes launches. It is none of `threading`'s: the program may count those."""

    def __init__(self) -> None:
        self.waits: queue.SimpleQueue[_Wait] = queue.SimpleQueue()
        _thread.start_new_thread(self._work, ())

    def _work(self) -> None:
        while True:
            self.waits.get().run(self)


# A handler may launch a graph itself while the first helper is at work.
_idle: list[_Helper] = []
# Threads do not live on in a forked process.
os.register_at_fork(after_in_child=_idle.clear)


def handles_signals() -> bool:
    """Whether Python's signal handlers run in this thread."""
    return _thread.get_ident() == threading.main_thread().ident


def run(launch: Launch) -> Any:
    """Call `launch` in a thread of its own.

    Raises:
      Interrupted: a signal handler has raised something.
    """
    helper = _idle.pop() if _idle else _Helper()
    wait = _Wait(launch)
    helper.waits.put(wait)
    return wait.outputs()
