"""Many iterations of a loop as one graph, up to the next one that does something else: the same output, fewer launches."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging.programs import Run, same

SETUP = """
n, every = 60, 13
x = tf.constant([1., -2., 3.])
total, kept, count, scale, last = tf.constant(0.), [], 0, 1., None
v = tf.Variable(0.)
"""
PLACES = {
    "top level": """
def main(): pass
{setup}
{loop}
{end}
""",
    "function": """
def work():
    {setup}
    {loop}
    {end}
def main(): work()
""",
    "method": """
class Trainer:
    def work(self):
        {setup}
        {loop}
        {end}
def main(): Trainer().work()
""",
    "generator": """
def work():
    {setup}
    {loop}
    yield total
    {end}
def main(): show(list(work()))
""",
}
END = "show(total, kept, count, scale, last, every, v, i)"
LOOPS = {
    "a print": """
        for i in range(n):
            total = total * .9 + tf.reduce_sum(tf.sin(x * i))
            if (i + 1) % every == 0:
                print(f"{i}: {total:.3f}")
    """,
    "unknown calls before and behind": """
        for i in range(n):
            if i % every == 0: show("before", i, total)
            total = total * .9 + tf.reduce_sum(tf.sin(x * scale)) / (i + 1)
            if i % 30 == 9: show("behind", i, total)
            elif i == 3: show("three")
    """,
    "counters, lists and branches": """
        for i in range(n):
            total = total * .9 + tf.reduce_sum(tf.sin(x + total))
            if total > 1.:
                count += 1
                total = total - 1.
            kept.append(total)
            scale *= .99
            last = tf.cast(i, tf.float32) * scale
            if i % every == every - 1:
                print(i, count, f"{last:.4f}", len(kept))
    """,
    "a variable": """
        for i in range(n):
            v.assign_add(tf.reduce_sum(tf.sin(x + v)) * .1 + tf.reduce_mean(x * x))
            if i % every == 0: show(v)
    """,
    "numbers that the rare part changes": """
        for i in range(n):
            total = total * scale + tf.reduce_sum(tf.sin(x * 2.)) - tf.reduce_max(x)
            if i % every == every - 1:
                every += 2
                scale *= .5
                x = x + 1.
                show(every, scale)
    """,
    "a jump in the rare part": """
        for i in range(n):
            total = total * .9 + tf.reduce_sum(tf.sin(x * 2.)) - tf.reduce_max(x)
            if i == 12: continue
            if i > 30:
                show(i, total)
                break
        else:
            show("never")
    """,
    "an else": """
        for i in range(n - 1, -1, -1):
            total = total * .9 + tf.reduce_sum(tf.sin(x * 2.)) - tf.reduce_max(x)
            if i == every: show(i, total)
        else:
            show("all", i)
    """,
}


def strips(ours: Run) -> list[registry.Site]:
    """The sites of many iterations."""
    site = next(iter(ours.sites.values()))
    return [site for site in site.module.sites if site.facts.is_strip]


def program(place: str, loop: str, setup: str = SETUP) -> str:
    text = PLACES[place]
    for hole, part in (("setup", setup), ("loop", loop), ("end", END)):
        line = next(line for line in text.splitlines() if line.strip() == f"{{{hole}}}")
        indentation = line[: -len(line.lstrip())]
        text = text.replace(line, textwrap.indent(textwrap.dedent(part).strip("\n"), indentation))
    return text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("construct", LOOPS)
def test_the_iterations_between_are_one_graph(construct: str, place: str) -> None:
    (site,) = strips(same(program(place, LOOPS[construct])))
    assert 0 < site.own_graph_calls < 20, site.reason


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 300])
def test_loops_of_any_length(n: int) -> None:
    setup = SETUP.replace("n, every = 60, 13", f"n, every, i = {n}, 50, -1")
    same(program("function", LOOPS["counters, lists and branches"], setup))


OTHERS = {
    "an exception": """
        def main():
            v, kept = tf.Variable(0.), []
            try:
                for i in range(40):
                    v.assign_add(1.)
                    kept.append(tf.gather(tf.range(25), tf.cast(v, tf.int32)))
                    if i == 35: show(i)
            except tf.errors.InvalidArgumentError:
                show("caught", i)
            show(v, kept)
    """,
    "a condition that fails": """
        def main():
            total = tf.constant(0.)
            def work(total):
                for i in range(40):
                    total = tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total)
                    if 5 % (30 - i) == 7: pass
            attempt(work, total)
    """,
    "the condition's number changed by the loop": """
        def main():
            total, due = tf.constant(0.), 9
            for i in range(40):
                total = tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total)
                if i == due: show(i, total)
                due = i + 5
            show(total)
    """,
    "the condition's number changed by a function": """
        due = 9
        def step(total):
            global due
            due += 3
            return tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total)
        def main():
            total = tf.constant(0.)
            for i in range(40):
                total = step(total)
                if i == due: show(i, total)
            show(total, due)
    """,
    "the condition's number changed by a nested function": """
        def main():
            total, due = tf.constant(0.), 9
            def step(total):
                nonlocal due
                due += 3
                return tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total)
            for i in range(40):
                total = step(total)
                if i == due: show(i, total)
            show(total, due)
    """,
    "conditions of other types": """
        class Every:
            def __rmod__(self, i):
                show("asked", i)
                return i % 20
        def main():
            total, every, some = tf.constant(0.), Every(), tf.constant(15)
            for i in range(40):
                total = tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total)
                if i % every == 0: show(i, total)
            for i in range(40):
                total = tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total)
                if i % some == 0: show(i, total)
    """,
    "another range": """
        def range(n):
            show("mine")
            return [2] * n
        def main():
            total = tf.constant(0.)
            for i in range(40):
                total = tf.sin(total) + tf.cos(total) * i + tf.exp(-total)
                if i == 9: show(i)
            show(total)
    """,
    "loops in each other, and recursion": """
        def work(depth, total):
            for i in range(24):
                total = tf.sin(total) + tf.cos(total) * i + tf.exp(-total)
                if i % 12 == 11 and depth > 0:
                    total = work(depth - 1, total)
                    for k in range(20):
                        total = tf.sin(total) + tf.cos(total) * k + tf.exp(-total)
                        if k == 10: show(i, k, depth)
            return total
        def main():
            show(work(2, tf.constant(.5)))
    """,
    "generators side by side": """
        def work(x):
            for i in range(60):
                x = tf.sin(x) + tf.cos(x) * i + tf.exp(-x)
                if i % 20 == 19: yield i, x
        def main():
            for one, other in zip(work(tf.constant(.5)), work(tf.constant(1.5))):
                show(one, other)
    """,
    "random numbers": """
        def main():
            tf.random.set_seed(3)
            x = tf.zeros([3])
            for i in range(40):
                x = x + tf.random.normal([3]) * tf.sin(x + 1.)
                if i % 9 == 0: show(x)
            show(x, tf.random.uniform([2]))
    """,
    "a tape around": """
        def main():
            x = tf.Variable([1., 2.])
            with tf.GradientTape() as tape:
                y = x * 1.
                for i in range(40):
                    y = tf.sin(y) + tf.cos(y) * x + tf.exp(-y)
                    if i % 9 == 0: show(y)
            show(tape.gradient(y, x))
    """,
    "a tape inside": """
        def main():
            w = tf.Variable([1., 2.])
            for i in range(40):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.square(tf.tanh(w * 2.) - .1))
                w.assign_sub(.1 * tape.gradient(loss, w))
                if i % 9 == 0: print(f"{i} {loss:.4f}")
            show(w, loss)
    """,
    "a print in each iteration": """
        def main():
            x = tf.constant(.5)
            for i in range(40):
                x = tf.sin(x) * 2. + tf.cos(x)
                print(f"{x:.3f}")
                if i % 15 == 9: show(i)
    """,
    "places by the loop's number": """
        data, rows = np.arange(60.), [tf.constant(float(k)) for k in range(60)]
        def main():
            x = tf.constant(.5)
            for i in range(40):
                x = tf.sin(x) * 2. + tf.cos(x) * rows[i] + i // 3 + i ** 2 + (i % 7) / 3
                if i % 15 == 9: show(i, x)
            for i in range(40):
                x = tf.sin(x) * 2. + tf.cos(x) * data[i]
                if i % 15 == 9: show(i, x)
    """,
    "an object with a counter": """
        class Walker:
            def __init__(self):
                self.steps, self.at, self.best = 0, tf.constant(0.), None
            def step(self, x):
                self.steps += 1
                self.at = tf.sin(self.at) + x * self.steps
                if self.best is None or self.at > self.best:
                    self.best = self.at
                return self.at
        def main():
            walker, seen = Walker(), []
            for i in range(60):
                seen.append(float(walker.step(tf.cos(i * .1) * 2. + tf.exp(-.1 * i))))
                if (i + 1) % 20 == 0: print(f"{i} {walker.at:.3f} {walker.steps}")
            show(walker.steps, walker.at, walker.best, seen)
    """,
    "names of the loop that are used behind it": """
        def main():
            x = tf.constant(1.)
            for i in range(40):
                y = tf.sin(x) * 2. + tf.cos(x)
                if i % 3 == 1: z = y
                x = y * .5 + tf.exp(-x) * i
                if i == 38: show(z)
            show(x, y, z, i)
    """,
}


@pytest.mark.parametrize("what", OTHERS)
def test_it_does_what_plain_python_does(what: str) -> None:
    same(OTHERS[what])


def test_nothing_waits_for_a_function_whose_iterations_are_graphs() -> None:
    body = "\n".join(["        total = tf.sin(total) * .9 + tf.reduce_sum(x) / 7."] * 6)
    ours = same(
        f"""
def work(x, n):
    total = tf.constant(0.)
    for i in range(n):
{body}
        if (i + 1) % 25 == 0:
            print(i, f"{{total:.3f}}")
    return total
def main():
    for k in range(3): show(work(tf.constant([1., k]), 200))
""",
        stage_after=None,
    )
    assert any(site.own_graph_calls for site in strips(ours))
    site = ours.sites["work"]
    assert not site.closed
    assert not site.mind.is_candidate


def test_a_longer_body_is_not_built_for_a_short_loop() -> None:
    source = """
        def main():
            total = tf.constant(0.)
            for k in range(3):
                for i in range({n}):
                    total = tf.sin(total) + tf.cos(total) * 2. + tf.exp(-total) * tf.tanh(total) - tf.atan(total)
                    if i % 50 == 49: print(i)
            show(total)
    """
    short, long = (same(source.format(n=n), stage_after=None) for n in (16, 600))
    assert [None] == [site.mind for site in strips(short)]
    assert [True] == [site.own_graph_calls > 0 for site in strips(long)]


def test_a_walk_is_forgotten_with_its_loop() -> None:
    from autoimport.staging import strips

    same(OTHERS["loops in each other, and recursion"])
    same(program("function", LOOPS["a jump in the rare part"]))
    assert {} == strips._walks
