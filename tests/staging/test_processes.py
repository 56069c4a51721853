"""Threads, pools and forked processes that call converted functions: what plain Python gives, and nothing that hangs."""

from __future__ import annotations

import pytest

from tests.staging.programs import same

FUNCTIONS = """
    import concurrent.futures, multiprocessing, os, signal
    w = tf.Variable([[1., 2.], [3., 4.]])
    def step(x):
        y = x @ w
        for i in tf.range(3):
            if tf.reduce_sum(y) > 10.: y = y * 0.5
            else: y = y + tf.sin(y)
        w.assign_add(tf.ones_like(w) * 0.25)
        return tf.reduce_sum(y)
    def fresh(x): return tf.reduce_mean(tf.exp(x) * 2 + tf.cos(x) - tf.sqrt(tf.abs(x)))
    def work(number):
        signal.alarm(60)
        x = tf.constant([[1., float(number)]])
        return [float(fn(x)) for fn in (step, fresh) for _ in range(4)]
"""


def test_a_forked_process_runs_what_the_parent_has_graphs_of() -> None:
    ours = same(f"""{FUNCTIONS}
    def main():
        for _ in range(4): show(step(tf.constant([[1., -1.]])))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, repr(work(2)).encode())
            os._exit(0)
        os.close(write)
        show(os.waitpid(child, 0)[1], os.read(read, 10_000))
        for _ in range(4): show(step(tf.constant([[1., -1.]])), fresh(tf.constant(2.)))
    """)
    assert ours.sites["step"].graph_calls > 4
    assert ours.sites["fresh"].state == "graph"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pool_of_forked_processes() -> None:
    ours = same(f"""{FUNCTIONS}
    def main():
        for _ in range(4): show(step(tf.constant([[1., -1.]])))
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(1, context) as pool: show(list(pool.map(work, range(3))))
        with context.Pool(1) as pool: show(pool.map(work, range(3)))
        show(step(tf.constant([[1., -1.]])))
    """)
    assert ours.sites["step"].graph_calls > 3


def test_a_pool_of_threads() -> None:
    ours = same("""
    import concurrent.futures
    def f(x, scale):
        y = x
        for i in tf.range(3):
            y = y * scale if tf.reduce_sum(y) < 10. else tf.sin(y)
        return tf.reduce_sum(y)
    def work(number):
        return [float(f(tf.constant([1., float(number)]), 1.5)) for _ in range(6)]
    def main():
        with concurrent.futures.ThreadPoolExecutor(4) as pool: show(list(pool.map(work, range(12))))
        show(work(3))
    """)
    assert ours.sites["f"].graph_calls > 6
