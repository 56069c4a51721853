"""Signal handlers run while a graph runs, and what they raise ends it, as in eager code.

The loops here would run for hours if a signal had to wait for their end.
"""

from __future__ import annotations

import faulthandler
import textwrap
from collections.abc import Iterator

import pytest

from tests.staging.programs import same

LOOPS = """
import _thread, os, signal, threading
counter = tf.Variable(0)
ENDLESS = tf.constant(2_000_000_000)
def count(n):
    i = tf.constant(0)
    while i < n:
        counter.assign_add(1)
        i += 1
    return i
def grow(x, n):
    i = tf.constant(0)
    while i < n:
        x = x * 1.5
        i += 1
    return x
def recorded(n):
    with tf.GradientTape() as tape:
        x = tf.constant(1.)
        tape.watch(x)
        y = grow(x, n)
    return tape.gradient(y, x)
ways = [count, lambda n: grow(tf.constant(1.), n), recorded]
def short():
    for way in ways:
        for _ in range(3): show(way(tf.constant(5)))
def late(error):
    def handler(number, frame): raise error("too late")
    return handler
def send(number):
    threading.Timer(.3, os.kill, (os.getpid(), number)).start()
"""


@pytest.fixture(autouse=True)
def no_hour_passes() -> Iterator[None]:
    faulthandler.dump_traceback_later(240, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def _same(program: str) -> None:
    same(LOOPS + textwrap.dedent(program), count="graph", grow="graph")


@pytest.mark.parametrize("interrupt", ["lambda: os.kill(os.getpid(), signal.SIGINT)", "_thread.interrupt_main"])
def test_an_interrupt_ends_a_graph(interrupt: str) -> None:
    _same(
        f"""
        def main():
            short()
            for way in ways:
                threading.Timer(.3, {interrupt}).start()
                try: way(ENDLESS)
                except KeyboardInterrupt: print("interrupted")
            short()
        """
    )


@pytest.mark.parametrize("error", ["TimeoutError", "SystemExit", "tf.errors.AbortedError.__base__", "KeyError"])
def test_what_a_handler_raises_ends_a_graph(error: str) -> None:
    made = f"lambda text: {error}(None, None, text)" if "tf" in error else error
    _same(
        f"""
        def main():
            before = signal.signal(signal.SIGTERM, late({made}))
            short()
            for way in ways:
                send(signal.SIGTERM)
                try: way(ENDLESS)
                except BaseException as error: print(type(error).__name__, error)
            short()
            signal.signal(signal.SIGTERM, before)
        """
    )


def test_a_handler_that_returns_changes_nothing() -> None:
    _same(
        """
        seen = {}
        def main():
            before = signal.signal(signal.SIGUSR1, seen.setdefault)
            short()
            threading.Timer(.02, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            result = count(tf.constant(3_000))
            while not seen: pass
            show(result)
            show(counter, len(seen))
            signal.signal(signal.SIGUSR1, before)
        """
    )


def test_graphs_in_the_main_thread_add_none_that_the_program_counts() -> None:
    program = """
    def main():
        short()
        show(threading.active_count(), [thread.name for thread in threading.enumerate()])
    """
    ours = same(LOOPS + textwrap.dedent(program))
    assert any(site.graph_calls for site in ours.sites.values())
