"""A launch that fails leaves behind what eager Python would have left at the failing operation."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.convert import module
from autoimport.convert.graph_form import Unconvertible
from tests.staging.programs import same

# What fails for k = 3, by an index, a size, an axis, or a value; `v` is a vector of four.
FAILING = [
    "tf.slice(v, [k], [2])",
    "v[k + 1]",
    "tf.gather(v, k + 1)",
    "tf.reshape(v, [k, -1])",
    "tf.split(v, [k, 5 - k - k // 3])[0]",
    "tf.concat([v[None], tf.ones([1, k + 1 + k // 3])], 0)",
    "tf.tile(v, [2 - k])",
    "tf.broadcast_to(v, [k, 4 + k // 3])",
    "tf.math.top_k(v, k + k // 3 * 2).values",
    "tf.argmax(v, k - 2)",
    "tf.cumsum(v, k - 2)",
    "tf.roll(v, 1, k - 2)",
    "tf.linalg.cholesky(tf.eye(2) * tf.cast(3 - k, tf.float32))",
    "v * tf.cast(6 // (3 - k), tf.float32)",
    "tf.matmul(v[None], tf.ones([3 + k // 2 + k // 3, 1]))",
]


@pytest.mark.parametrize("what", FAILING)
@pytest.mark.parametrize("source", ["u", "w"])
def test_variables_and_python_are_left_as_eager_leaves_them(what: str, source: str) -> None:
    same(
        f"""
        w = tf.Variable([1., 2., 3., 4.])
        u = tf.constant([1., 2., 3., 4.])
        H = []
        def f(k):
            w.assign_add([1., 1., 1., 1.])
            H.append(1)
            v = {source} * 1.
            y = {what}
            w.assign(w * .5)
            H.append(2)
            return tf.reduce_sum(tf.cast(y, tf.float32))
        def main():
            for k in (2, 2, 2, 3, 2, 3):
                try: show(f(tf.constant(k)))
                except tf.errors.OpError as error: print(type(error).__name__)
                show(w, H)
        """
    )


# What TensorFlow finds wrong only when it runs, though all sizes are known; the last ones for k = 3.
WRONG = [
    "tf.argmax(v[0])",
    "tf.argmin(v[:0])",
    "tf.argmax(v, 1)",
    "tf.cumsum(v[0])",
    "tf.math.cumprod(v, 2)",
    "tf.math.cumulative_logsumexp(v[0])",
    "tf.roll(v, 1, 1)",
    "tf.linalg.set_diag(tf.eye(2), v[:3])",
    "tf.math.invert_permutation(tf.stack([k - 2, 0]))",
    "tf.unravel_index(k, [2, 1])",
    "tf.histogram_fixed_width(v, tf.stack([2.0, 4.0 - tf.cast(k, tf.float32)]))",
]


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("place", ["y = {what}", "if v[0] > 1.0:\n    print({what})"])
def test_what_is_wrong_only_when_it_runs_fails_where_eager_fails(what: str, place: str) -> None:
    body = textwrap.indent(place.format(what=what), "    ")
    same(
        f"""
w = tf.Variable([1., 2., 3., 4.])
def f(k):
    w.assign_add([1., 1., 1., 1.])
    v = w * 1.
{body}
    w.assign(w * .5)
    return k
def main():
    for k in (2, 2, 2, 3, 2, 3):
        try: show(f(tf.constant(k)))
        except tf.errors.OpError as error: print(type(error).__name__)
        show(w)
        """
    )


# What is wrong, and nobody but what is told to wait needs it.
WAITED_FOR = {
    "a name": "with tf.control_dependencies([tf.argmax(v[0])]): return tf.identity(k)",
    "a constant": "with tf.control_dependencies([tf.argmax(v[0])]): return tf.constant(3) + 0",
    "a tuple": "return tf.tuple([k, tf.argmax(v[0])])[0]",
    "a group": "tf.group(tf.argmax(v[0]), k)\n    return k * 2",
    "a name for a change": """
    with tf.control_dependencies([tf.argmax(v[0])]): a = tf.identity(k)
    with tf.control_dependencies([a]): w.assign_add(v)
    return k""",
}


@pytest.mark.parametrize("body", WAITED_FOR.values(), ids=WAITED_FOR)
def test_what_is_wrong_fails_though_it_is_only_waited_for(body: str) -> None:
    same(
        f"""
w = tf.Variable([1., 2., 3., 4.])
def f(k):
    v = w * 1.
    {body}
def main():
    for k in (2, 2, 2, 3):
        try: show(f(tf.constant(k)))
        except tf.errors.OpError as error: print(type(error).__name__)
        show(w)
        """
    )


# What fails for k = 3, at every depth, and whose result nobody needs.
UNUSED = {
    "function": "{what}",
    "branch": "if u[0] > 0.:\n    {what}",
    "other branch": "if u[0] > 0.:\n    pass\nelse:\n    {what}",
    "branch with results": "n = 0\nif u[0] > 0.:\n    {what}\n    n = 1",
    "loop": "for i in tf.range(2):\n    {what}",
    "branch in a loop": "for i in tf.range(2):\n    if u[i] > 0.:\n        {what}",
    "loop in a branch": "if u[0] > 0.:\n    for i in tf.range(2):\n        {what}",
    "while loop": "i = tf.constant(0)\nwhile i < 2:\n    i += 1\n    {what}",
}


@pytest.mark.parametrize("where", UNUSED)
def test_what_fails_fails_where_only_a_change_needs_it(where: str) -> None:
    body = textwrap.indent(UNUSED[where].format(what="w.assign_add(tf.gather(u, k + 1))"), " " * 12)
    first = -1.0 if where == "other branch" else 1.0
    same(
        f"""
        w = tf.Variable(0.)
        def f(u, k):
{body}
            return u * 2.
        def main():
            for k in (0, 1, 2, 3, 0, 1):
                try: show(f(tf.constant([{first}, 2., 3., 4.]), tf.constant(k)))
                except tf.errors.OpError as error: print(type(error).__name__)
                show(w)
        """
    )


@pytest.mark.parametrize("where", UNUSED)
@pytest.mark.parametrize("what", ["tf.gather(u, k + 1)", "y = 6 // (3 - k) + 1", "u[:k] + u[:2]"])
def test_what_fails_though_nobody_needs_it_fails(where: str, what: str) -> None:
    body = textwrap.indent(UNUSED[where].format(what=what), " " * 12)
    first = -1.0 if where == "other branch" else 1.0
    same(
        f"""
        u = tf.constant([{first}, 2., 3., 4.])
        def f(k):
{body}
            return tf.reduce_sum(u)
        def main():
            for k in (2, 2, 2, 3, 2, 3):
                try: show(f(tf.constant(k)))
                except tf.errors.OpError as error: print(type(error).__name__)
        """,
        f="graph",
    )


BRANCH = "if tf.reduce_sum(v) > 0.:\n    loss = loss * tf.reduce_mean(v * x)"
# Each makes a scalar `loss` of the variable `v` and of `x`; its gradient divides sizes, or takes back what was kept.
DIFFERENTIATED = {
    "branch": BRANCH,
    "loop": "i = 0\nwhile i < 3 and tf.reduce_sum(v) > -9.:\n    loss = tf.tanh(loss * v[0])\n    i += 1",
    "branch in a loop": "for i in tf.range(3):\n" + textwrap.indent(BRANCH, "    "),
    "loop in a branch": "if tf.reduce_sum(v) > 0.:\n    for i in tf.range(3):\n        loss = tf.sin(loss * v[1])",
}


@pytest.mark.parametrize("where", DIFFERENTIATED)
def test_a_gradient_through_control_flow_may_follow_a_change(where: str) -> None:
    body = textwrap.indent(DIFFERENTIATED[where], " " * 16)
    same(
        f"""
        v, steps = tf.Variable([1.0, -0.5]), tf.Variable(0)
        def f(x):
            steps.assign_add(1)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * x)
{body}
            slope = tape.gradient(loss, v)
            v.assign_sub(0.1 * slope)
            return loss, slope
        def main():
            for i in range(6): show(f(tf.constant([1.0, 2.0])), v, steps)
        """,
        f="graph",
    )


def test_a_step_taken_in_a_branch_after_another_step() -> None:
    same(
        """
        import keras
        v, w = keras.Variable([1.0, -0.5]), keras.Variable([0.5, 2.0])
        first, second, mean = keras.optimizers.Adam(0.1), keras.optimizers.Adam(0.2), keras.metrics.Mean()
        def f(x):
            with tf.GradientTape() as a, tf.GradientTape() as b:
                of_v = tf.reduce_mean((v * x) ** 2)
                of_w = tf.reduce_mean(tf.reduce_mean((w - x[:, None]) ** 2, axis=0)) + tf.reduce_mean(v * w)
            first.apply_gradients(zip(a.gradient(of_v, [v.value]), [v]))
            if of_w > 0.5:
                second.apply_gradients(zip(b.gradient(of_w, [w.value]), [w]))
            else:
                of_w *= 2.0
            mean.update_state(of_w)
            return of_v, of_w, mean.result()
        def main():
            for i in range(12): show(f(tf.constant([1.0, 0.7])), v, w, second.iterations)
        """,
        f="graph",
    )


MIXED = {
    "a loop that reads by index": """
        log.append(len(log))
        w.assign_add([1.0, 1.0])
        for i in tf.range(2):
            v.assign_add(t[idx[i]])
        return v + 1.0
    """,
    "a branch": """
        if tf.reduce_sum(t) > 0:
            v.assign_add(1.0)
            return t[idx[1]] * 2.0
        return t[0]
    """,
    "a loop that divides": """
        for i in tf.range(2):
            k.assign_add(7 // (idx[i] - 5))
        return k + 1
    """,
    "a loop with an optimizer of one's own": """
        for i in tf.range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * w) * tf.gather(t, idx[i])
            w.assign_sub(0.1 * tape.gradient(loss, w))
            print("step", i)
        return w * 1.0
    """,
}


@pytest.mark.parametrize("body", MIXED.values(), ids=MIXED)
def test_a_loop_or_branch_that_fails_after_a_change_leaves_what_eager_leaves(body: str) -> None:
    program = f"""
v, w, k, log = tf.Variable(0.0), tf.Variable([1.0, 2.0]), tf.Variable(0), []
def f(t, idx):
{textwrap.indent(textwrap.dedent(body), "    ")}
def main():
    t = tf.constant([1.0, 2.0, 3.0])
    for idx in ([0, 1], [2, 2], [0, 5], [1, 0], [9, 0], [2, 1], [0, 5], [1, 2]):
        attempt(lambda: f(t, tf.constant(idx)))
        show(v, w, k, log)
"""
    same(program)


def test_what_was_changed_may_be_looked_up_and_is_put_back_where_that_fails() -> None:
    same(
        """
        table, seen = tf.Variable(tf.zeros([4, 2])), []
        layer, optimizer = tf.keras.layers.Embedding(6, 3, "ones"), tf.keras.optimizers.Adagrad(0.5)
        layer.build()
        def learn(state, action, reward):
            seen.append(float(reward))
            old = tf.gather_nd(table, [[state, action]])
            table.scatter_nd_add([[state, action]], 0.5 * (reward - old))
            best = tf.reduce_max(tf.gather(table, state + 1))
            table.assign(table * 0.9 + best)
            return best + tf.reduce_sum(tf.tanh(table))
        def embed(words):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.tanh(layer(words)) * tf.range(3.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables))
            return loss
        def main():
            for i in range(8):
                state = tf.constant([0, 1, 2, 0, 3, 1, 2, 0][i])  # behind 3 there is none
                try:
                    show(learn(state, tf.constant(i % 2), tf.constant(1.0 + i)))
                except tf.errors.InvalidArgumentError as error:
                    show(error.message)
                show(table.numpy(), seen, embed(tf.constant([i % 6, 2])), layer.embeddings.numpy())
        """,
        learn="graph",
        embed="graph",
    )


def test_a_table_changed_in_a_loop_that_can_fail_is_left_to_eager() -> None:
    ours = same(
        """
        table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.float32, -1.0)
        def f(t, idx):
            for i in tf.range(2):
                table.insert(idx[i], t[idx[i]])
            return tf.sin(t)
        def main():
            for idx in ([0, 1], [2, 2], [0, 5], [1, 0]):
                attempt(lambda: f(tf.constant([1.0, 2.0, 3.0]), tf.constant(idx)))
                show(table.size())
        """
    )
    assert ours.sites["f"].graph_calls == 0


@pytest.mark.parametrize("error", [Unconvertible("too odd", 3), RuntimeError("a pass is wrong"), RecursionError()])
@pytest.mark.parametrize("name", ["inner", "f"])
def test_a_form_that_cannot_be_made_when_it_is_asked_for_is_no_error(
    name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTOIMPORT_STRICT", raising=False)
    real = module.build_form

    def build(plan, path):
        if plan.name == name:
            raise error
        return real(plan, path)

    monkeypatch.setattr(module, "build_form", build)
    sites = same(
        """
        def inner(x):
            return x * 2. + 1.
        def f(x):
            for i in range(3):
                x = inner(x)
            return x
        def main():
            for k in range(3): show(f(tf.constant(1. * k)))
            in_graph = tf.function(f)
            for k in range(3): show(in_graph(tf.constant(1. * k)))
        """
    ).sites
    assert sites[name].own_graph_calls == 0


@pytest.mark.parametrize("fails", ["v[n]", "tf.gather(v, n)", "tf.ensure_shape(v, [n])[0]"])
@pytest.mark.parametrize("line", ["y = tf.constant(1) if x > 9. else {}", "y = 1 if x > 9. else {}"])
@pytest.mark.parametrize("loop", ["if True", "for _ in tf.range(3)"])
def test_what_a_branch_makes_and_nobody_needs_fails_as_in_plain_python(loop: str, line: str, fails: str) -> None:
    same(f"""
    def f(x, n):
        v = tf.range(2)[:1]
        {loop}:
            {line.format(fails)}
        return x
    def main():
        for n in (0, 0, 1, 1, 2, 2): attempt(f, tf.constant(1.), n)
    """)


def test_a_draw_between_bounds_in_the_wrong_order_fails_though_nobody_needs_it() -> None:
    same("""
    def f(x, low):
        tf.random.uniform([], low, tf.constant(0), tf.int32)
        return x
    def main():
        for low in (-1, -1, 0, 0, 1, 1): attempt(f, tf.constant(1.), low)
    """)
