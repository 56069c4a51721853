"""Signal handlers run while a graph runs, and what they raise ends it, as in eager code.

The loops here would run for hours if a signal had to wait for their end.
"""

from __future__ import annotations

import faulthandler
import gc
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autoimport.staging import gate
from tests.staging.programs import run, same

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
    gc.collect()  # what a handler raises while graphs of other tests are freed is lost
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


@pytest.mark.parametrize("parameters", ["number, frame", "*args", "number, frame=None, *more, key=3, **others"])
def test_a_handler_of_the_programs_that_runs_while_something_is_traced_is_no_part_of_it(parameters: str) -> None:
    program = f"""
    import autoimport, signal
    seen, count, step = [], tf.Variable(0), tf.Variable(1)
    def told(value): seen.append(value)
    def handler({parameters}):
        told(str(signal.SIGUSR1))
        for i in tf.range(2): count.assign_add(step)
    @autoimport.pure
    def interrupted(): signal.raise_signal(signal.SIGUSR1)
    def f(x):
        y = tf.sin(x)
        interrupted()
        return y * 2 if x > 0 else y
    def main():
        before = signal.signal(signal.SIGUSR1, handler)
        for _ in range(6): show(f(tf.constant(1.0)))
        signal.signal(signal.SIGUSR1, before)
        show(count.numpy() == 2 * len(seen))
        print("handled", len(seen))
    """
    plain, ours = (run(textwrap.dedent(program), converted=converted) for converted in (False, True))
    site = ours.sites["f"]
    assert site.graph_calls > 0
    assert plain.lines[:-1] == ours.lines[:-1]
    assert int(ours.lines[-1].split()[-1]) > site.calls - site.graph_calls, "none came while something was traced"


# Not by a timer: TensorFlow itself crashes where a handler raises while it makes a tensor.
@pytest.mark.parametrize("error", ["KeyError", "ValueError", "tf.errors.AbortedError"])
@pytest.mark.parametrize("parameters", ["number, frame", "*args", "number, frame=None, *more"])
def test_what_a_handler_raises_in_a_launch_arrives(
    error: str, parameters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.attach()
    tf_internals = sys.modules["autoimport.staging.tf_internals"]
    launch, launches = tf_internals.run, []

    def interrupted(*args: Any) -> Any:
        launches.append(args)
        signal.raise_signal(signal.SIGUSR2)
        return launch(*args)

    made = f"{error}(None, None, 'late')" if "tf" in error else f"{error}('late')"
    program = f"""
    import signal
    def handler({parameters}): raise {made}
    def f(x): return tf.reduce_sum(tf.sin(x) * 2.0) / (1 + tf.abs(x))
    def main():
        for _ in range(4): show(f(tf.constant([1., 2.])))
        signal.signal(signal.SIGUSR2, handler)
        for _ in range(3): attempt(f, tf.constant([1., 2.]))
    """
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    monkeypatch.setattr(tf_internals, "run", interrupted)
    # Or, on a busy machine, a launch would be taken for a long one, and be made by another thread.
    monkeypatch.setattr("autoimport.staging.mind._LONGEST_WAIT", float("inf"))
    try:
        ours = run(textwrap.dedent(program), converted=True)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert len(launches) == 6 and len(ours.lines) == 7
    assert all("late" in line for line in ours.lines[4:]), ours.lines


def test_what_a_function_raises_that_looks_up_its_caller_is_no_handlers() -> None:
    same("""
    import sys
    v = tf.Variable(0.)
    def looked_up():
        frame = sys._getframe(1)
        raise KeyError(frame.f_code.co_name)
    def f(x, fails):
        v.assign_add(1.)
        fails()
        return x
    def missing(x):
        v.assign_add(1.)
        return nowhere(x)
    def main():
        for _ in range(4):
            attempt(f, tf.constant(1.), looked_up)
            attempt(missing, tf.constant(1.))
            show(v)
    """)


def test_what_a_handler_raised_before_is_no_interrupt_of_a_trace_made_while_it_is_handled() -> None:
    program = """
    import signal
    def handler(number, frame): raise KeyError("late")
    def f(x):
        print("never in a graph", file=None if x.shape else open("/dev/null"))
        return tf.sin(x) * 2
    def main():
        before = signal.signal(signal.SIGUSR1, handler)
        try: signal.raise_signal(signal.SIGUSR1)
        except KeyError:
            for _ in range(4): show(f(tf.constant([1.0])))
            for _ in range(4): show(f(tf.constant(1.0)))
        signal.signal(signal.SIGUSR1, before)
    """
    same(textwrap.dedent(program))


def test_launches_that_fail_leave_no_thread() -> None:
    from autoimport.staging import waiting

    def fails(_: object) -> None:
        raise KeyError

    threads = []
    for _ in range(4):
        with pytest.raises(KeyError):
            waiting.run(fails)
        threads.append(len(sys._current_frames()))
    assert threads == threads[:1] * 4


@pytest.mark.parametrize(("calls", "wait", "is_long"), [(2, -1.0, False), (5, -1.0, True), (5, 60.0, False)])
def test_the_first_launch_does_not_tell_whether_a_graph_takes_long(
    monkeypatch: pytest.MonkeyPatch, calls: int, wait: float, is_long: bool
) -> None:
    from autoimport.staging import mind

    monkeypatch.setattr(mind, "_LONGEST_WAIT", wait)
    ours = same(
        f"""
        def f(x):
            return tf.sin(x) + 1.0
        def main():
            for i in range({calls}): show(f(tf.ones(2) * i))
        """,
        f="graph",
    )
    (specialisation,) = ours.sites["f"].mind._specialisations
    assert specialisation.is_long is is_long


def test_an_interrupt_while_a_graph_runs_shows_the_frames_of_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(LOOPS).replace("import _thread", "import tensorflow as tf, _thread")
        + "def main():\n"
        + "    for _ in range(4): count(tf.constant(5))\n"
        + "    threading.Timer(.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        + "    count(ENDLESS)\n"
        + "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        + "main()\n"
    )
    command = [sys.executable, "-m", "autoimport", "--stage-after", "1", str(program)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200)
    lines = [line.strip() for line in run.stderr.splitlines()]
    shown = lines[lines.index("Traceback (most recent call last):") :]
    assert run.returncode == -signal.SIGINT
    assert [line.rpartition(", in ")[2] for line in shown if line.startswith("File ")] == ["<module>", "main", "count"]
    assert shown[-1] == "KeyboardInterrupt"
