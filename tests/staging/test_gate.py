"""The gates: without TensorFlow, when it comes, in threads, and while they are to do nothing."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import tensorflow as tf

from autoimport.staging import gate
from tests.staging.programs import run, same

HEAD = """
import sys
from autoimport.convert.module import convert_module
from autoimport.staging import gate, registry
source = '''
def f(x):
    y = x
    for i in range(3):
        y = y + i
    return y
'''
converted = convert_module(source, "program.py")
module = registry.register_module(
    converted.key, "program", "program.py", converted.functions, lambda: converted.forms, cached=False, convert_ms=0.0
)
space = {}
exec(converted.code, space)
f, site = space["f"], next(site for site in module.sites if site.facts.name == "f")
gate_of_f = lambda: module.gates[site.index]
"""


def run_alone(body: str) -> list[str]:
    program = HEAD + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.splitlines()


def test_without_tensorflow_a_function_becomes_plain_python_after_some_calls() -> None:
    assert run_alone(
        """
        print([f(i) for i in range(gate.PYTHON_AFTER - 1)][-1], site.state, gate_of_f())
        print(f(1), site.state, gate_of_f(), "tensorflow" in sys.modules)
        """
    ) == ["17 cold 1", "4 python 0 False"]


def test_tensorflow_that_comes_later_gives_functions_another_chance() -> None:
    assert run_alone(
        """
        for i in range(gate.PYTHON_AFTER): f(i)
        print(site.state, gate_of_f())
        import tensorflow as tf
        gate.attach()
        print(site.state, gate_of_f(), f(tf.constant(1)).numpy(), f(1))
        g = tf.function(f, autograph=False)
        print(g(tf.constant(2)).numpy(), site.graph_calls)
        """
    ) == ["python 0", "cold 1 4 4", "5 1"]


def test_suspended_runs_bodies_as_written_in_this_thread_only() -> None:
    same(
        """
        import threading
        from autoimport.staging import gate
        def f(x):
            return tf.sin(x) * 2 + 1
        def main():
            with gate.suspended():
                for i in range(4): show(f(tf.ones(1)))
        """,
        f="cold",
    )
    gone = []
    with gate.suspended():
        thread = threading.Thread(target=lambda: gone.append(gate.results.suspended))
        thread.start()
        thread.join()
        assert (gate.results.suspended, gone) == (1, [0])
    assert gate.results.suspended == 0


def test_suspended_ends_with_an_exception() -> None:
    try:
        with gate.suspended():
            raise KeyError
    except KeyError:
        pass
    assert gate.results.suspended == 0


def test_results_do_not_pile_up() -> None:
    before = list(gate.results.stack)
    run(
        """
        def f(x):
            return tf.sin(x) * 2 + 1
        def main():
            for i in range(5): show(f(tf.ones(1)))
            g = tf.function(f)
            show(g(tf.ones(1)))
        """,
        converted=True,
    )
    assert gate.results.stack == before


def test_a_closed_gate_opens_for_a_graph_of_the_persons() -> None:
    ours = same(
        """
        import os
        def f(x):
            os.getcwd()
            if x > 0:
                return x
            return -x
        def main():
            for i in range(5): show(f(tf.constant(float(-i))))
        """,
        f="eager",
    )
    site = ours.sites["f"]
    assert site.module.gates[site.index] == 0
    with tf.Graph().as_default():
        assert site.module.gates[site.index] == 1
    assert site.module.gates[site.index] == 0
