"""What cannot be one graph becomes several, wherever it stands: the same output, and some region was a graph.

`show` is a call of unknown effects: no region reaches over it.
"""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

SETUP = """
rng = np.random.default_rng(3)
data = np.linspace(-1., 1., 24).astype(np.float32).reshape(8, 3)
w = tf.Variable([[.5], [-.25], [1.]])
x = tf.constant(data[:4])
total, losses, steps = tf.constant(0.), [], 0
"""
PLACES = {
    "top level": """
def main(): pass
{setup}
for step in range(9):
    {body}
{end}
""",
    "function": """
def work():
    {setup}
    for step in range(9):
        {body}
    {end}
def main(): work()
""",
    "method": """
class Trainer:
    def work(self):
        {setup}
        for step in range(9):
            {body}
        {end}
def main(): Trainer().work()
""",
    "generator": """
def work():
    {setup}
    for step in range(9):
        {body}
        yield step
    {end}
def main(): show(list(work()))
""",
}
END = "show(total, losses, steps, w)"
BODIES = {
    "a run between unknown calls": """
        y = tf.tanh(x @ w) * 2. + 1.
        z = tf.reduce_mean(y * y) - tf.reduce_max(y)
        show(step)
        total += z * tf.reduce_sum(tf.exp(-y))
        total = tf.sin(total) + tf.cos(total)
    """,
    "under a tape that stays open": """
        with tf.GradientTape() as tape:
            y = tf.tanh(x @ w) * 2. + 1.
            y = y * y + tf.sin(y)
            show(step)
            loss = tf.reduce_mean(y * y) + tf.reduce_mean(tf.abs(y))
        gradient = tape.gradient(loss, w)
        w.assign_sub(.1 * gradient)
        show(loss)
    """,
    "a whole step": """
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) - 1.))
        w.assign_sub(.1 * tape.gradient(loss, w))
        losses.append(float(loss))
        if step % 3 == 0: print(f"{step}: {loss:.3f}")
        show(step)
    """,
    "a branch": """
        if step % 3:
            y = tf.tanh(x @ w) * 2. + 1.
            total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        else:
            show(step)
        steps += 1
    """,
    "a try body": """
        try:
            show(step)
            y = tf.tanh(x @ w) * 2. + 1.
            total += tf.reduce_sum(y * y) - tf.reduce_max(y)
            if step == 5: raise ValueError(step)
        except ValueError as error: show(str(error))
    """,
    "with": """
        show(step)
        with tf.name_scope("scope"):
            y = tf.tanh(x @ w) * 2. + 1.
            total += tf.reduce_sum(y * y) - tf.reduce_max(y)
    """,
    "a batch that Python draws": """
        batch = data[rng.choice(8, 4)]
        y = tf.tanh(batch @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        show(step)
    """,
    "numpy of an array": """
        y = tf.tanh(x @ w) * 2. + 1.
        y = y * y - tf.reduce_max(y)
        values = y.numpy()
        values[0] = step
        show(values)
        total += tf.reduce_sum(tf.sin(values) * tf.cos(y))
    """,
    "Python numbers out of it": """
        y = tf.tanh(x @ w) * (2. + step)
        n = int(tf.reduce_sum(tf.cast(y > 0, tf.int32)))
        mean = float(tf.reduce_mean(y * y))
        show(n, mean, n // 2, [n] * 2)
        steps += n
    """,
    "a loop of the graph": """
        show(step)
        y = tf.constant(1.)
        for row in x:
            if row[0] > 0.: y += tf.reduce_sum(row) * y
            else: y -= tf.reduce_max(row)
        total += y
    """,
    "a name that one way leaves unbound": """
        try: show(late)
        except NameError as error: show(str(error))
        y = tf.tanh(x @ w) * 2. + 1.
        total += tf.reduce_sum(y * y)
        if step == 4: late = tf.reduce_max(y)
    """,
    "a name that is deleted": """
        y = tf.tanh(x @ w) * 2. + 1.
        z = tf.reduce_sum(y * y)
        total += z
        del z
        try: show(z)
        except NameError as error: show(str(error))
    """,
    "an append and an item": """
        y = tf.tanh(x @ w) * 2. + 1.
        losses.append(tf.reduce_sum(y * y) + step)
        total = losses[-1] * .5 + total
        show(len(losses))
    """,
    "break by a tensor": """
        y = tf.tanh(x @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        if total > 60.: break
        show(step)
    """,
    "continue by a tensor": """
        y = tf.tanh(x @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        if tf.cast(total, tf.int32) % 2 == 0: continue
        show(step)
    """,
    "break and continue by Python": """
        y = tf.tanh(x @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        if step % 2: continue
        if step > 6: break
        show(step)
    """,
    "an error": """
        show(step)
        try:
            y = tf.tanh(x @ w) * 2. + 1.
            z = tf.gather(y[:, 0], step // 2) * tf.reduce_sum(y)
            total += tf.math.log(tf.exp(z)) + 1.
        except tf.errors.InvalidArgumentError as error: show(type(error).__name__)
    """,
    "random numbers": """
        show(step)
        noise = tf.random.normal([4, 3]) + tf.random.uniform([4, 3])
        y = tf.tanh((x + noise) @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
    """,
    "raise by a tensor": """
        try:
            y = tf.tanh(x @ w) * 2. + 1. + total
            total = tf.reduce_sum(y * y) / 10.
            if total > 40.: raise OverflowError(f"{step}: {total:.3f}")
            show(step)
        except OverflowError as error:
            show(str(error))
            total = tf.constant(0.)
    """,
}
RETURNS = {
    "return by a tensor": """
        y = tf.tanh(x @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        if total > 60.: return
        show(step)
    """,
    "return by Python": """
        y = tf.tanh(x @ w) * 2. + 1.
        total += tf.reduce_sum(y * y) - tf.reduce_max(y)
        if step == 6: return show(total)
        show(step)
    """,
}


def _program(place: str, body: str) -> str:
    text = PLACES[place]
    for hole, part in (("setup", SETUP), ("body", body), ("end", END)):
        line = next(line for line in text.splitlines() if line.strip() == f"{{{hole}}}")
        indentation = line[: -len(line.lstrip())]
        text = text.replace(line, textwrap.indent(textwrap.dedent(part).strip("\n"), indentation))
    return text


def _check(place: str, body: str) -> None:
    ours = same(_program(place, body))
    sites = ours.sites["main"].module.sites
    assert sum(site.own_graph_calls for site in sites if site.kind == "region") > 0, [site.reason for site in sites]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("construct", BODIES)
def test_a_region_is_a_graph(construct: str, place: str) -> None:
    _check(place, BODIES[construct])


@pytest.mark.parametrize("place", sorted(set(PLACES) - {"top level"}))
@pytest.mark.parametrize("construct", RETURNS)
def test_a_region_that_returns_is_a_graph(construct: str, place: str) -> None:
    _check(place, RETURNS[construct])
