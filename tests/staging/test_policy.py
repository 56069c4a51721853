"""When a site is worth a trace, by counts; and a site over time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf

from autoimport.staging import policy, sampling
from autoimport.staging.policy import Policy
from tests.staging.programs import run, same, staging_after


@pytest.fixture
def reckoning() -> Iterator[None]:
    """The policy's own reckoning, without a number from the person."""
    with staging_after(None):
        yield


def first_trace(site: Policy) -> int:
    return next(call for call in range(1, 1000) if site.wants_trace())


def test_a_trace_comes_when_eager_calls_have_cost_as_much(reckoning: None) -> None:
    assert first_trace(Policy(has_loop=False)) == policy.TRACE_COST + 1
    assert first_trace(Policy(has_loop=True)) == policy.TRACE_COST_WITH_LOOP + 1


def test_a_loop_of_many_operations_is_traced_at_once(reckoning: None) -> None:
    site = Policy(has_loop=True)
    assert site.is_worthwhile(policy.MANY_OPERATIONS)
    assert first_trace(site) == 3


def test_a_walk_over_a_tensor_in_a_callee_counts_as_a_loop(reckoning: None) -> None:
    site = Policy(has_loop=False)
    site.is_worthwhile(policy.MANY_OPERATIONS, walks=True)
    assert first_trace(site) == 3


@pytest.mark.parametrize(("walked", "walks"), [(tf.ones([3]), True), ([1.0, 2.0, 3.0], False)])
def test_a_sample_tells_operations_and_walks_at_any_depth(walked: Any, walks: bool) -> None:
    reports: list[tuple[int, float, bool]] = []

    def rows() -> list[Any]:
        return [tf.sin(row) for row in walked]

    def step() -> None:
        sampling.sample(sys._getframe(), lambda *report: reports.append(report))
        tf.add_n(rows())

    step()
    ((operations, milliseconds, has_walked),) = reports
    assert operations >= 4
    assert milliseconds > 0
    assert has_walked is walks


def test_a_trace_that_was_too_large_comes_again_when_more_has_been_spent(reckoning: None) -> None:
    site = Policy(has_loop=True)
    site.is_worthwhile(2000)
    assert first_trace(site) == 3
    assert site.largest_graph() == 3 * 2000 * 3 // policy.TRACE_COST
    assert site.may_wait_longer()
    assert first_trace(site) == policy.TRACE_COST + 1 - 3
    assert site.largest_graph() == 3 * 2000 * (policy.TRACE_COST + 1) // policy.TRACE_COST
    while site.largest_graph() < policy.MOST_OPERATIONS:
        assert site.may_wait_longer()
        first_trace(site)
    assert site.largest_graph() == policy.MOST_OPERATIONS
    assert not site.may_wait_longer()


def test_a_trace_may_make_what_is_always_worth_a_try(reckoning: None) -> None:
    site = Policy(has_loop=False)
    assert Policy(has_loop=False).largest_graph() == policy.ANY_OPERATIONS
    site.is_worthwhile(10)
    first_trace(site)
    assert site.largest_graph() == policy.ANY_OPERATIONS
    unknown = Policy(has_loop=False)
    first_trace(unknown)
    assert unknown.largest_graph() > 3 * policy.UNKNOWN_OPERATIONS


def test_a_trace_that_failed_late_is_made_again_when_ten_times_as_much_has_been_spent(reckoning: None) -> None:
    site = Policy(has_loop=True)
    site.is_worthwhile(2000)
    first_trace(site)
    assert not site.another_failure(work=3 * 2000)
    assert first_trace(site) == 10 * policy.TRACE_COST + 1
    early = Policy(has_loop=True)
    early.is_worthwhile(2000)
    first_trace(early)
    assert not early.another_failure(work=10)
    assert first_trace(early) == policy.TRACE_COST_WITH_LOOP + 1


def test_few_operations_are_no_gain(reckoning: None) -> None:
    site = Policy(has_loop=False)
    assert not site.is_worthwhile(policy.LEAST_OPERATIONS - 1)
    assert not site.pays(policy.LEAST_OPERATIONS - 1)
    assert site.is_worthwhile(policy.LEAST_OPERATIONS)
    assert site.pays(policy.LEAST_OPERATIONS)


def test_the_persons_number_of_calls_is_final() -> None:
    with staging_after(3):
        site = Policy(has_loop=False)
        assert first_trace(site) == 4
        assert site.pays(1)
        assert site.another_specialisation()
        assert first_trace(site) == 1


def test_each_further_graph_waits_twice_as_long(reckoning: None) -> None:
    site = Policy(has_loop=False)
    first_trace(site)
    waits = []
    while site.another_specialisation():
        waits.append(first_trace(site) - 1)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128]


def test_graphs_that_have_been_worth_their_trace_are_not_counted(reckoning: None) -> None:
    site = Policy(has_loop=False)
    first_trace(site)
    assert site.another_specialisation()
    for _ in range(5 * policy.MOST_SPECIALISATIONS):
        assert first_trace(site) == 2
        assert site.another_specialisation(policy.PAID_OFF)
    assert first_trace(site) == 2
    assert site.another_specialisation(policy.PAID_OFF - 1)
    assert first_trace(site) == 3


MADE_ANEW = """
class Model:
    def __init__(self, k): self.w = tf.Variable([1.0 * k, 2.0])
def step(model, x):
    y = x
    for _ in range(10): y = tf.sin(y) * model.w
    model.w.assign_sub(0.01 * y)
    return tf.reduce_sum(y)
def main():
    for k in range(MODELS):
        model = Model(k)
        for _ in range(STEPS): show(step(model, tf.constant([0.5, 1.0])))
"""


@pytest.mark.parametrize(("steps", "least", "most"), [(20, 20, 20), (6, 1, policy.MOST_SPECIALISATIONS)])
def test_models_made_anew_have_graphs_of_their_own_as_long_as_these_pay(
    reckoning: None, steps: int, least: int, most: int
) -> None:
    ours = same(MADE_ANEW.replace("MODELS", "20").replace("STEPS", str(steps)), stage_after=None, step="graph")
    assert least <= ours.sites["step"].traces <= most


GIVEN_NO_TENSORS = {
    "arrays": "for i in range(60): show(step(np.ones([2], np.float32) * i))",
    "numbers": "for i in range(60): show(step(0.5 * i))",
    "lists": "for i in range(60): show(step([0.5 * i, 1.0]))",
}


@pytest.mark.parametrize("calls", GIVEN_NO_TENSORS.values(), ids=GIVEN_NO_TENSORS)
def test_a_function_that_is_given_no_tensors_but_runs_operations_becomes_a_graph(reckoning: None, calls: str) -> None:
    ours = same(
        f"""
        w = tf.Variable([1.0, 2.0])
        def step(x):
            x = tf.convert_to_tensor(x, tf.float32)
            for _ in range(10): x = tf.sin(x) * w
            w.assign_add(x * 0.01)
            return x
        def main():
            {calls}
        """,
        stage_after=None,
        step="graph",
    )
    assert ours.sites["step"].graph_calls >= 45


def test_a_function_that_runs_its_first_operations_late_becomes_a_graph(reckoning: None) -> None:
    same(
        """
        w = tf.Variable([1.0, 2.0])
        def step(i):
            if i < 12: return i
            x = w * i
            for _ in range(10): x = tf.sin(x) * w
            return x
        def main():
            for i in range(60): show(step(i))
        """,
        stage_after=None,
        step="graph",
    )


def test_what_happens_now_and_then_waits_as_long_as_a_first_graph(reckoning: None) -> None:
    site = Policy(has_loop=False)
    first_trace(site)
    site.another_specialisation()
    asked = [site.wants_trace(policy.RARE) for _ in range(policy.TRACE_COST + 1)]
    assert asked == [False] * policy.TRACE_COST + [True]


def test_rare_calls_are_counted_by_what_they_lack(reckoning: None) -> None:
    site = Policy(has_loop=False)
    first_trace(site)
    site.another_specialisation()
    lacking = [f"n was {number}" for number in range(20)]
    assert not any(site.wants_trace(policy.RARE, lacks=lacks) for lacks in lacking for _ in range(policy.TRACE_COST))
    assert site.wants_trace(is_rare=True, lacks=lacking[3])
    assert not site.has_rare
    site.another_specialisation()
    assert site.has_rare


def test_rare_calls_that_were_worth_a_graph_are_so_at_the_second_one(reckoning: None) -> None:
    site = Policy(has_loop=False, is_known=True, has_rare=True)
    assert [site.wants_trace() for _ in range(2)] == [False, True]
    site.another_specialisation()
    assert [site.wants_trace(policy.RARE) for _ in range(2)] == [False, True]


@pytest.mark.parametrize(("every", "traces"), [(3, 2), (20, 1)])
def test_a_condition_that_is_rarely_true_has_no_graph_for_a_while(reckoning: None, every: int, traces: int) -> None:
    ours = same(
        f"""
        class Task: step = 0
        def f(x, task):
            task.step += 1
            if task.step % {every} == 0:
                print(task.step)
            for _ in range(10):
                x = tf.sin(x)
            return x
        def main():
            task = Task()
            for i in range(70): show(f(tf.ones(1), task))
        """,
        stage_after=None,
        f="graph",
    )
    assert ours.sites["f"].traces == traces


def test_graphs_failures_and_bails_are_counted(reckoning: None) -> None:
    site = Policy(has_loop=False)
    assert [site.another_specialisation() for _ in range(policy.MOST_SPECIALISATIONS + 1)].count(True) == 8
    assert [site.another_failure() for _ in range(policy.MOST_FAILURES)] == [False, True]
    assert [site.another_bail() for _ in range(policy.MOST_BAILS)][-1]


def test_a_site_without_tensors_becomes_plain_python() -> None:
    same(
        """
        def f(x):
            return [v for v in x]
        def main():
            for i in range(20): show(f([i]))
        """,
        f="python",
    )


def test_too_many_graphs_end_in_eager_with_the_guard_that_failed() -> None:
    ours = same(
        """
        def f(x, mode):
            return tf.sin(x) + len(mode)
        def main():
            for i in range(12): show(f(tf.ones(1), "m" * i))
        """,
        f="eager",
    )
    assert ours.sites["f"].reason.startswith("needs a new graph too often: mode was 'm")


def test_a_graph_is_used_from_the_call_after_the_eager_ones() -> None:
    ours = run(
        """
        def f(x):
            return tf.sin(x) * 2
        def main():
            for i in range(6): show(f(tf.ones(1)))
        """,
        converted=True,
        stage_after=3,
    )
    site = ours.sites["f"]
    assert (site.calls, site.graph_calls, site.traces) == (6, 3, 1)


def test_a_dimension_that_changes_from_eager_call_to_call_has_one_graph() -> None:
    ours = same(
        """
        def f(x):
            return tf.sin(x) * 2
        def main():
            for i in range(1, 9): show(f(tf.ones(i)))
        """,
        f="graph",
    )
    assert ours.sites["f"].traces == 1


def test_a_changing_dimension_of_what_is_no_argument_is_traced_once_more_only() -> None:
    ours = same(
        """
        def f(xs):
            return tf.sin(xs[0]) * 2
        def main():
            for i in range(1, 9): show(f([tf.ones(i)]))
        """,
        f="graph",
    )
    assert ours.sites["f"].traces == 2


def test_where_changing_dimensions_are_in_the_way_there_is_a_graph_for_each_size() -> None:
    ours = same(
        """
        def f(x):
            return tf.sin(x) * [1.0, 2.0, 3.0][x.shape[0]]
        def main():
            for _ in range(3):
                for i in (1, 2): show(f(tf.ones(i)))
        """,
        f="graph",
    )
    assert ours.sites["f"].graph_calls >= 3


def test_a_number_that_changes_from_eager_call_to_call_has_one_graph() -> None:
    ours = same(
        """
        def f(x, k):
            return tf.sin(x) * k
        def main():
            for i in range(1, 9): show(f(tf.ones(1), i * 0.5))
        """,
        f="graph",
    )
    assert ours.sites["f"].traces == 1


def test_a_number_that_changes_later_is_traced_once_more() -> None:
    ours = same(
        """
        def f(x, k):
            return tf.sin(x) * k
        def main():
            for k in (1, 1, 1, 2, 3, 4.5, 5.5, 6): show(f(tf.ones(1), k))
        """,
        f="graph",
    )
    assert ours.sites["f"].traces <= 4


def test_a_number_that_a_loop_of_the_module_counts_has_one_graph() -> None:
    program = """
    k = 0
    for i in range(9):
        k += 2
        y = tf.sin(tf.ones(2) * i) + tf.cos(tf.ones(2) / k)
        show(y)
    def main(): pass
    """
    sites = next(iter(same(program).sites.values())).module.sites
    assert [site.traces for site in sites if site.kind == "region" and site.state == "graph"] == [1]


def test_a_refused_function_stays_eager_and_says_which_line_stood_in_the_way() -> None:
    program = """
    import random
    def noisy(x):
        y = x * 2.0
        return y + random.random() * 0.0
    def main():
        for _ in range(6):
            show(noisy(tf.constant(1.0)))
    """
    with staging_after(1):
        site = same(program).sites["noisy"]
    line = site.facts.line + 2
    assert ("eager", "calls Random.random, whose effects are unknown", line) == (
        site.state,
        site.reason,
        site.reason_line,
    )


def test_a_function_whose_part_is_a_graph_is_not_traced_again() -> None:
    program = """
    import zlib
    def mean_and_mark(x):
        total = tf.constant(0.0)
        for i in tf.range(3):
            if tf.reduce_sum(x[i]) > 1.0:
                total = total + tf.reduce_max(x[i])
        total = tf.sqrt(total + 1.0)
        return total, zlib.crc32(str(float(total)).encode())
    def main():
        for i in range(8):
            show(mean_and_mark(tf.reshape(tf.range(6.0) * (0.1 * i), [3, 2])))
    """
    ours = same(program, mean_and_mark="eager")
    site = ours.sites["mean_and_mark"]
    (region,) = [each for each in site.module.sites if each.kind == "region" and each.facts.name == site.facts.name]
    assert (1, "graph", site.facts.line + 1) == (site.traces, region.state, region.facts.line)
    assert site.reason.startswith("a text made of symbolic values is needed")
    assert region.graph_calls >= 6


def test_a_part_that_a_failed_trace_has_built_does_not_wait() -> None:
    program = """
    import zlib
    def walk(x):
        total = tf.constant(0.0)
        for i in tf.range(200):
            total = tf.tanh(total + x * 0.5) * 0.25 - tf.sin(total)
        return total, zlib.crc32(str(float(total)).encode())
    def main():
        for _ in map(show, map(walk, tf.unstack(tf.range(6.0)))): pass
    """
    ours = same(program, stage_after=None)
    site = ours.sites["walk"]
    (region,) = [each for each in site.module.sites if each.kind == "region" and each.facts.name == site.facts.name]
    assert (1, 1, 4) == (site.traces, region.traces, region.graph_calls)


def test_what_failed_before_is_not_hurried(reckoning: None) -> None:
    site = Policy(has_loop=True)
    site.hurry()
    assert site.wants_trace()
    site.another_failure()
    site.hurry()
    assert first_trace(site) == policy.TRACE_COST_WITH_LOOP + 1


def test_branches_and_loops_are_not_built_for_longer_than_the_program_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
    def grow(x):
        for row in x:
            x = tf.concat([x, row[None]], 0)
            if tf.reduce_sum(row) > 3.0:
                x = x * 2.0
        return x
    def main():
        for i in range(6): show(grow(tf.ones([i + 1, 2])))
    """
    same(program, grow="graph")
    monkeypatch.setattr("autoimport.staging.policy.MOST_OPERATIONS", 10)
    ours = same(program, grow="eager")
    assert "needs more than 20 operations to build its branches and loops" == ours.sites["grow"].reason


def test_an_inner_function_does_not_wait_for_a_caller_that_is_called_once() -> None:
    program = """
    def step(w):
        for _ in range(12):
            w = w * 0.5 + tf.sin(w)
        return w
    def train(w, n):
        for _ in range(n):
            w = step(w)
            show(w.numpy())
        return w
    def main():
        train(tf.constant(1.0), 12)
    """
    with staging_after(1):
        site = same(program).sites["step"]
    assert "graph" == site.state
    assert site.graph_calls >= 6


def test_a_loop_that_would_make_a_huge_graph_stays_python() -> None:
    program = """
    def long(x, n):
        for _ in range(n):
            x = x * 1.0001
        return x
    def main():
        for n in (5, 25_000, 25_000):
            show(long(tf.constant(1.0), n))
    """
    with staging_after(1):
        site = same(program).sites["long"]
    assert "unrolls a Python loop into more than 20000 operations" == site.reason


def test_a_call_that_goes_back_to_eager_again_and_again_ends_that_way_and_says_why() -> None:
    program = """
    import time
    w = tf.Variable([1.0, 2.0])
    def two(x):
        y = tf.tanh(x * w + 1.0)
        return y, tf.reduce_sum(y * y)
    def positive(x):
        if tf.reduce_sum(x) < 0:
            raise ValueError("negative")
        return tf.sqrt(x)
    def main():
        for i in range(9):
            with tf.GradientTape() as tape:
                loss = two(tf.constant([0.1 * i + 0.0 * time.time(), 1.0]))[1] * 2.0  # no region
            show(tape.gradient(loss, w))
            attempt(lambda: positive(tf.constant([1.0 - i])))
    """
    ours = same(program, two="eager", positive="eager")
    reason = "must run eagerly too often (a gradient tape is open around it, and its results depend on one another)"
    assert ours.sites["two"].reason == reason
    assert ours.sites["positive"].reason.startswith("must run eagerly too often (a check in the graph fails: ")


def test_what_kept_a_call_from_a_graph_last_is_known() -> None:
    program = """
    def named(x, k): return tf.sin(x) * len(k)
    def positive(x):
        if tf.reduce_sum(x) < 0:
            raise ValueError("negative")
        return tf.sqrt(x)
    def main():
        for k in ("a", "a", "a", "bc"): show(named(tf.ones(2), k))
        for i in (1.0, 1.0, 1.0, -1.0): attempt(lambda: positive(tf.constant([i])))
    """
    ours = same(program, named="graph", positive="graph")
    assert ours.sites["named"].mind.lacked == "k was 'a'"
    assert ours.sites["positive"].mind.lacked.startswith("a check in the graph fails: ")


def test_under_a_tape_that_stays_open_parts_are_graphs_where_the_whole_must_run_eagerly() -> None:
    program = """
    import time
    w = tf.Variable([1.0, 2.0])
    def main():
        for i in range(16):
            terms = []
            with tf.GradientTape() as tape:
                for k in range(3):
                    hidden = tf.tanh(w * (0.1 * i + k) + 1.0)
                    y = tf.math.log_softmax(hidden * 2.0)
                    p = tf.exp(y)
                    time.time()
                    terms.append(-tf.reduce_sum(p * y) + y[0])
                loss = tf.add_n(terms)
            show(loss, tape.gradient(loss, w))
    """
    ours = same(program)
    (module,) = {id(site.module): site.module for site in ours.sites.values()}.values()
    whole, part = sorted(
        (s for s in module.sites if s.kind == "region"), key=lambda s: (s.facts.line, -s.facts.end_line)
    )[:2]
    assert (whole.facts.end_line, "eager") == (whole.facts.line + 2, whole.state)
    assert (part.facts.end_line, "graph") == (part.facts.line + 1, part.state)
    assert part.graph_calls > 20


def test_what_a_long_graph_prints_is_not_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
    def f(x):
        print("starts with", x)
        return tf.sin(x) * 2
    def main():
        for i in range(6): show(f(tf.constant(1.0 * i)))
    """
    same(program, f="graph")
    monkeypatch.setattr("autoimport.staging.mind._LONGEST_SILENCE", 0.0)
    ours = same(program, f="eager")
    assert ours.sites["f"].graph_calls == 1
