"""Gradients that are None on some way through a program: what the branch taken, or a loop without iterations, left out."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

MAIN = """
a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
def main():
    for v in (1.0, -1.0, 2.0, 0.3, -2.0, 1.0):
        show(f(tf.constant(v), tf.constant(int(abs(v)))))
"""
TAKEN = {
    "on both ways, by way of others": """
    r = a * x
    m = tf.abs(r)
    y = 0.5 * r * r if m <= 1.0 else m - 0.5
    """,
    "one variable on each way, both in front": """
    r = a * b
    y = r * a if x > 0 else r * b
    """,
    "a loop over rows": """
    h = tf.zeros([2])
    for row in tf.ones([3, 2]) * x:
        h = tf.tanh(h * a + row * b)
    y = tf.reduce_sum(h)
    """,
    "a loop that has an iteration when it matters": """
    y = x * a
    for i in tf.range(n + 1):
        y = y * b + x
    """,
    "branches and no gradient of theirs": """
    k = 1.0 if x > 0 else 2.0
    y = a * b * k
    """,
}
# Whether all gradients are there is checked by the graph itself.
CHECKED = {
    "a branch that uses none": "y = a * x if x > 0 else x",
    "a loop that may have no iteration": """
    y = x * a
    for i in tf.range(n): y = y * b + x
    """,
    "two branches": """
    y = a * x if x > 0 else x
    y = y * b if x > 0.5 else y
    """,
    "a branch behind a loop": """
    y = x
    while tf.abs(y) < 5: y = y * 2.0 + a * tf.sign(y)
    y = y * b if y > 0 else y
    """,
    "a branch that is taken for good": """
    y = a * x
    if n >= 0: y = y * b
    """,
    "a loop below two tapes": """
    with tf.GradientTape() as inner:
        inner.watch(x)
        z = tf.ones_like(x)
        for i in tf.range(n): z = z * x * a
    y = inner.gradient(z, x)
    y = a if y is None else y * b
    """,
    "a gradient of a gradient": """
    with tf.GradientTape() as inner:
        z = a * a * x if x > 0 else x
    y = inner.gradient(z, a)
    y = x if y is None else y * b
    """,
}
# Below a third tape TensorFlow's own functions hide how often the loop has run.
ONE_TAPE = {name: body for name, body in CHECKED.items() if name != "a loop below two tapes"}
LEFT = {
    "a variable of one branch": "y = a * x if x > 0 else b * x",
    "a branch in a branch": """
    y = x * c
    if x > 0:
        if x > 1: y = y * a
        else: y = y * b
    """,
}

# What reaches the target depends on the ways that iterations take, which the graph reckons up.
IN_LOOPS = {
    "a step that is accepted or not": """
    y, h, i = 0.0 * x, tf.abs(x), 0
    while i < n:
        new = y + h * a
        if new < 1.5: y = new
        else: h = h * 0.5
        i += 1
    """,
    "values that change places": """
    y, q = x * a, x * a * b
    for i in tf.range(n): y, q = q, q * b
    """,
    "one variable on each way": """
    y = x
    for i in tf.range(n + 1):
        if y > 2.0: y = y * a
        else: y = y + b
    """,
    "a loop that is sure": """
    h = tf.zeros([2])
    for row in tf.reshape(tf.range(6.0), [3, 2]) * x:
        if tf.reduce_sum(row) > 2.0: h = h * a + row
        else: h = h + row * b
    y = tf.reduce_sum(h)
    """,
    "two loops": """
    y = x * b
    for i in tf.range(n):
        if y > 0.0: y = y * a
    z = y
    for i in tf.range(n):
        if z < 5.0: z = z + b * y
    y = z
    """,
    "what starts anew": """
    y = x
    for i in tf.range(n):
        if y < 3.0: y = y + a
        else: y = x
    """,
    "two branches": """
    y, q = x, x
    for i in tf.range(n):
        if y < 3.0: q = y + a
        if q > 1.0: y = q * 1.5
    """,
    "two variables on one way": """
    y, q = x, x * a
    for i in tf.range(n):
        if q < 3.0: y, q = q * b, q + 1.0
        else: q = q - a
    """,
    "a loop that is left": """
    y = x
    for i in tf.range(n + 2):
        if y > 6.0: break
        y = y * a + b
    """,
}
UNKNOWN_IN_LOOPS = {
    "a branch in a branch": """
    y = x
    for i in tf.range(n):
        if y > 0.0:
            if y > 1.0: y = y * a
            else: y = y + b
    """,
    "a loop in a loop": """
    y = x
    for i in tf.range(n):
        for j in tf.range(i): y = y * a
    """,
    "behind a branch": """
    y = x * a if x > 1.5 else x
    for i in tf.range(n):
        if y > 2.0: y = y * b
    """,
    "a gradient of a gradient": """
    with tf.GradientTape() as inner:
        inner.watch(x)
        z = x
        for i in tf.range(n):
            if z < 3.0: z = z * z * a
    y = inner.gradient(z, x)
    y = x if y is None else y * b
    """,
}


def function(body: str) -> str:
    taken = "def f(x, n):\n  with tf.GradientTape() as tape:\n" + _indented(body, 4)
    return MAIN + taken + "\n  return tape.gradient(y, [a, b, c])\n"


def _indented(body: str, width: int) -> str:
    lines = [line for line in body.splitlines() if line.strip()]
    depth = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(" " * width + line[depth:] for line in lines)


@pytest.mark.parametrize("body", TAKEN.values(), ids=TAKEN)
def test_gradients_that_are_there_on_every_way_are_a_graph(body: str) -> None:
    same(function(body), f="graph")


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_gradients_that_may_be_none_are_left_to_eager(body: str) -> None:
    ours = same(function(body), f="eager")
    assert ours.sites["f"].reason.endswith("that is None if a branch is not taken")


def _with_loops(body: str) -> str:
    calls = [(v, n) for v in (1.0, -1.0, 2.0, 0.25, 2.5) for n in (3, 1, 0, 5)]
    main = f"""
def main():
    for v, n in {calls}: attempt(f, tf.constant(v), tf.constant(n))
"""
    return function(body) + main


@pytest.mark.parametrize("body", IN_LOOPS.values(), ids=IN_LOOPS)
def test_the_graph_knows_which_ways_a_loop_has_taken(body: str) -> None:
    # Sums of these numbers are exact in any order. The first launches may happen to be those that go back.
    sites = [same(_with_loops(each)).sites["f"] for each in (body, body + "\n    y = y + x * (a + b)\n")]
    assert sites[1].own_graph_calls > 10
    assert sites[0].own_graph_calls > 0 or "by the ways that a loop takes" in sites[0].reason


@pytest.mark.parametrize("body", UNKNOWN_IN_LOOPS.values(), ids=UNKNOWN_IN_LOOPS)
def test_ways_that_a_loop_does_not_tell_are_left_to_eager(body: str) -> None:
    assert same(_with_loops(body)).sites["f"].own_graph_calls == 0


@pytest.mark.parametrize("body", CHECKED.values(), ids=CHECKED)
def test_on_a_way_without_some_gradient_the_call_goes_back_to_eager(body: str) -> None:
    assert same(function(body)).sites["f"].graph_calls > 0


def _below_a_tape(body: str) -> int:
    program = "def g(x, n):\n" + _indented(body, 4) + "\n    return y + 0.0\n"
    outside = function("y = g(x, n)").replace("return tape", "time.time()\n  return tape")
    return same(program + outside + "import time\n").sites["g"].graph_calls


@pytest.mark.parametrize("body", [*TAKEN.values(), *ONE_TAPE.values()], ids=[*TAKEN, *ONE_TAPE])
def test_a_graph_below_a_tape_checks_its_ways_too(body: str) -> None:
    assert _below_a_tape(body) > 0


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_where_some_gradient_is_always_missing_nothing_is_launched_below_a_tape(body: str) -> None:
    assert _below_a_tape(body) == 0


@pytest.mark.parametrize("branch", ["a * x", "b * x"])
def test_a_graph_made_without_a_tape_is_made_again_below_one(branch: str) -> None:
    program = f"""
    def g(x):
        y = {branch} if x > 0 else x
        return tf.sin(y) + 0.0
    def main():
        for v in (1., -1., 2., 3.): show(g(tf.constant(v)))
        for v in (1., -1., 2., 3., -2., 4., 5.):
            with tf.GradientTape() as tape:
                tape.watch(b)
                time.time()
                y = g(tf.constant(v))
                time.time()
            show(tape.gradient(y, [a, b]))
        for v in (1., -1., 2.): show(g(tf.constant(v)))
    import time
    a, b = tf.Variable(1.0), tf.constant(1.0)
    """
    sites = same(program).sites["g"].module.sites
    assert sum(site.own_graph_calls for site in sites) > 8


@pytest.mark.parametrize(("body", "state"), [("a * x if x > 0 else x * 2.", "eager"), ("a * tf.sin(x) + a", "graph")])
def test_a_forward_gradient_that_may_be_none_is_left_to_eager(body: str, state: str) -> None:
    program = f"""
    def f(x, a):
        with tf.autodiff.ForwardAccumulator(a, tf.ones_like(a)) as forward: y = {body}
        return y, forward.jvp(y)
    def main():
        for v in (1., -1., 2., -2., 3., 1.): show(f(tf.constant(v), tf.constant(2.)))
    """
    same(program, f=state)


# Eager code adds up from the first term on; a graph would begin with the first whose memory it may reuse.
SUMS = {
    "three gradients of one tensor": """
def f(x, y, z):
    with tf.GradientTape() as tape:
        tape.watch(y)
        s = tf.sin(y)
        s = x * s * s * z
        s = s + y + s * 0.7 - y * 0.3
    return tape.gradient(s, y)
""",
    "three gradients, under a tape around the graph": """
def g(x, y, z):
    s = tf.sin(y)
    s = x * s * s * z
    return s + y + s * 0.7 - y * 0.3
def f(x, y, z):
    with tf.GradientTape() as tape:
        tape.watch(y)
        s = g(x, y, z)
        zip
    return tape.gradient(s, y)
""",
    "three gradients in a loop": """
def f(x, y, z):
    with tf.GradientTape() as tape:
        tape.watch(y)
        for _ in tf.range(1):
            s = tf.sin(y)
            s = x * s * s * z
            s = s + y + s * 0.7 - y * 0.3
    return tape.gradient(s, y)
""",
    "a sum of many": "def f(x, y, z): return tf.add_n([x, y, z * 0.7]), tf.add_n([x, y, z, x, y * z, x, y, z, x, y - z, x])",
    "sums of any number": """
def f(x, y, z):
    terms = [(x + y * k) * z for k in range(20)]
    return [tf.add_n([part * 1.5 for part in terms[:n]]) for n in range(1, 21)]
""",
}


@pytest.mark.parametrize("program", SUMS.values(), ids=SUMS)
def test_three_or_more_terms_are_added_in_the_order_of_eager_mode(program: str) -> None:
    main = """
import numpy as np
def main():
    numbers = np.random.default_rng(3)
    for _ in range(5):
        show(f(*(tf.constant(numbers.normal(size=50), tf.float32) for _ in range(3))))
"""
    same(program + main, **{"g" if "def g" in program else "f": "graph"})


OWN_FUNCTIONS = {
    "an object": "class G:\n  def __call__(self, d): return d * 2., None\ngiven = G()\n",
    "a method": "class G:\n  def run(self, d): return d * 2., None\ngiven = G().run\n",
    "a partial": "import functools\ndef run(k, d): return d * k, None\ngiven = functools.partial(run, 2.)\n",
}


@pytest.mark.parametrize("given", OWN_FUNCTIONS.values(), ids=OWN_FUNCTIONS)
def test_a_gradient_by_an_object_of_the_persons_that_is_none(given: str) -> None:
    own = given + "@tf.custom_gradient\ndef f(q, r): return q * 2., given\n"
    body = (
        "def g(x, n):\n  with tf.GradientTape() as tape:\n    y = x * a\n    for i in tf.range(n): y = f(y, b * 1.0)\n"
    )
    same(own + MAIN.replace("show(f(", "show(g(") + body + "  return tape.gradient(y, [a, b, c])\n")


# One of several tensors, without a branch that the program has written.
SELECTED = {
    "the larger": "y = max(a * x, b * 1.0)",
    "the smaller of a list": "y = min([a * x, b * 1.0, c * x])",
    "the first of sorted": "y = sorted([a * x, b * 1.0])[0]",
    "an item at a place": "y = [a * x, b * 1.0, c * x][n % 3]",
    "a tensor or a variable": "y = a * x if x > 0 else b\ny = y * c",
    "a tensor or a variable, in a branch": """
    y = a * x if x > 0 else b
    z = y * c
    if n > 1: z = z * y
    y = z
    """,
    "a tensor or a variable, in a loop": """
    y = a * x if x > 0 else b
    z = y * c
    for i in tf.range(n): z = z * y
    y = z
    """,
    "a tensor or a variable, in a loop that is sure": """
    y = a * x if x > 0 else b
    z = y * c
    for i in tf.range(3): z = z * y
    y = z
    """,
    "a tensor or a number": "y = a * x if x > 0 else 2.0\ny = y * b",
}


@pytest.mark.parametrize("body", SELECTED.values(), ids=SELECTED)
@pytest.mark.parametrize("is_outside", [False, True], ids=["inside", "under a tape around the graph"])
def test_what_is_not_selected_has_no_gradient(body: str, is_outside: bool) -> None:
    if is_outside:
        lines = (
            f"def g(x, n):\n{_indented(body, 2)}\n  return y\n" + "def f(x, n):\n  with tf.GradientTape() as tape:\n"
        )
        lines += "    y = g(x, n)\n    zip\n"
    else:
        lines = "def f(x, n):\n  with tf.GradientTape() as tape:\n" + _indented(body, 4)
    same(MAIN + lines + "\n  return tape.gradient(y, [a, b, c])\n")


OWN_GRADIENTS = {
    "in a loop": "for i in tf.range(n): y = f(y, b * 1.0)",
    "in a loop that is sure": "for i in tf.range(3): y = f(y, b * 1.0)",
    "in one branch": "y = f(y, b * 1.0) if x > 0 else y * b",
    "in both branches": "y = f(y, b * 1.0) if x > 0 else f(y * 2.0, b)",
    "in a branch in a loop": """
    for i in tf.range(n):
        if x > 0: y = f(y, b * 1.0)
        else: y = f(y, y) * c
    """,
    "of TensorFlow's": "for i in tf.range(n + 1): y = tf.nn.silu(y * b)",
}


@pytest.mark.parametrize("body", OWN_GRADIENTS.values(), ids=OWN_GRADIENTS)
def test_a_gradient_of_the_persons_that_is_none(body: str) -> None:
    own = "@tf.custom_gradient\ndef f(q, r): return q * r, lambda d: (d * r, None)\n"
    lines = "def g(x, n):\n  with tf.GradientTape() as tape:\n    y = x * a\n" + _indented(body, 4)
    main = MAIN.replace("show(f(", "show(g(")
    sites = {"g": "graph"} if "silu" in body else {}
    same(own + main + lines + "\n  return tape.gradient(y, [a, b, c])\n", **sites)


# Where one of two targets is a variable, or none of its tensors is chosen by the graph.
TARGETS = {
    "in a list": "y = a * x if x > 0 else b\nTAKE([y], [a, b])",
    "in a list, twice": "y = a * x if x > 0 else b\nTAKE([y, y], a)",
    "in a list that grew": "ls = []\nfor i in range(3): ls.append(a * x if x > 0 else b)\nTAKE(ls, [a, b])",
    "of a statement": "if x > 0: p, q = a * x, a\nelse: p, q = b, b * x\nTAKE([p, q], [a, b])",
    "alone": "y = a * x if x > 0 else b\nTAKE(y, [a, b])",
}


@pytest.mark.parametrize("body", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_target_that_is_one_of_two(body: str, persistent: bool) -> None:
    lines, _, asked = body.rpartition("\n")
    same(
        MAIN + f"def f(x, n):\n  with tf.GradientTape(persistent={persistent}) as tape:\n{_indented(lines, 4)}\n"
        f"  return {asked.replace('TAKE', 'tape.gradient')}\n"
    )


ZEROS = {
    "a loop": "for i in tf.range(n): y = y + x * (2.0 / w)",
    "a loop over rows": "for row in tf.stack([x, x, x]): y = y + row * (2.0 / w)",
    "map_fn": "y = tf.map_fn(lambda row: row * (2.0 / w), tf.stack([x, x]))",
    "a branch that reads it, and one that does not": """
    y = x * (2.0 / w)
    if n > 1: y = y + x * (1.0 / w)
    """,
    "a branch in a loop": """
    for i in tf.range(n):
        y = y + x * (2.0 / w)
        if i > 0: y = y + x * (1.0 / w)
    """,
    "a loop in a branch": """
    if n > 1:
        for i in tf.range(n): y = y + x * (2.0 / w)
    else:
        y = y + x * (3.0 / w)
    """,
}


@pytest.mark.parametrize("body", ZEROS.values(), ids=ZEROS)
@pytest.mark.parametrize("is_outside", [False, True], ids=["inside", "under a tape around the graph"])
def test_sums_of_zeros_have_the_sign_of_eager_mode(body: str, is_outside: bool) -> None:
    lines = f"  y = x * w\n{_indented(body, 2)}\n" if is_outside else f"    y = x * w\n{_indented(body, 4)}\n"
    tape = "  with tf.GradientTape() as tape:\n    tape.watch([x, w])\n"
    program = (
        f"def g(x, w, n):\n{lines}  return y\ndef f(x, w, n):\n{tape}    y = g(x, w, n)\n    zip\n"
        if is_outside
        else f"def f(x, w, n):\n{tape}{lines}"
    )
    main = """
  return tape.gradient(y, [x, w])
def main():
    for x in (-0.0, 0.0, 1.0, -0.0):
        for n in (2, 1, 3): show(f(tf.fill([3], x), tf.constant(0.25), tf.constant(n)))
"""
    same(program + main, **{"g" if is_outside else "f": "graph"})


# What a branch or loop has made of several tensors at once: eager code gives None for those of the other results.
APART = {
    "results of one branch": """
    if x[0] > 0: y, z = x * 2., w * 3.
    else: y, z = x * x, tf.sin(w)
    return tape.gradient(y, [x, w]), tape.gradient(z, [x, w]), tape.gradient([y, z], [x, w])
    """,
    "results of one loop": """
    y, z = x, w
    for i in tf.range(3): y, z = y * x, z * w + 1.
    return tape.gradient(y, [x, w]), tape.gradient(z, {"x": x, "w": (w, w)})
    """,
    "zeros asked for": """
    if x[0] > 0: y, z = x * 2., w * 3.
    else: y, z = x * x, tf.sin(w)
    return tape.gradient(y, [x, w], unconnected_gradients="zero")
    """,
    "of a function of the person's, which gives zeros": """
    y, z = of_the_persons(x, w)
    return tape.gradient(y, [x, w]), tape.gradient(z, [x, w])
    """,
    "below two tapes": """
    with tf.GradientTape() as inner:
        inner.watch([x, w])
        if x[0] > 0: y, z = x * x * 2., w * 3.
        else: y, z = x * x, tf.sin(w)
    g = inner.gradient(y, [x, w])
    return g, tape.gradient(g[0], [x, w])
    """,
    "made before the tape": """
    y = h if x[0] < -9 else x * w
    y = y * w
    return tape.gradient(y, [x, w])
    """,
    "a source that a branch hands on": """
    k = x * w
    if x[0] > 9: k = k * 2.
    y = k * k
    return tape.gradient(y, [x, w, k])
    """,
}
# A tensor of two names: which of them a gradient is taken of makes no difference in eager code.
OF_TWO_NAMES = {
    "handed on by a branch": """
    k = w
    if x[0] > 9: k = k * 2.
    y = w * x
    return tape.gradient(y, k)
    """,
    "handed on by a loop": """
    k = w
    for i in tf.range(n): k = k * 2.
    y = w * x
    return tape.gradient(y, k)
    """,
    "made before the tape, on the way that is taken": """
    y = h if x[0] > -9 else x * w
    y = y * w
    return tape.gradient(y, [x, w])
    """,
}


@pytest.mark.parametrize(("body", "state"), [*((body, "graph") for body in APART.values()),
                                             *((body, "eager") for body in OF_TWO_NAMES.values())],
                         ids=[*APART, *OF_TWO_NAMES])  # fmt: skip
def test_each_result_has_the_gradients_of_what_it_is_made_of(body: str, state: str) -> None:
    same(
        f"""
@tf.function
def of_the_persons(x, w): return x * x, w * w
def f(x, w, n):
    h = x * 2.
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
{textwrap.indent(textwrap.dedent(body), "        ").replace("        return", "    return")}
def main():
    for i in (1, -1, 2, 0, 3, -2, 1, 0, 2):
        show(f(tf.constant([i, 0.5]), tf.constant([0.5, i]), tf.constant(abs(i))))
""",
        f=state,
    )


# Of results of one graph, launched below a tape: which gradients are taken behind it.
BELOW = {
    "one tape": ("", "tape.gradient(y, [x, w, v])"),
    "one tape, the other result": ("", "tape.gradient(z, [x, w, v])"),
    "one tape, both": ("", "tape.gradient([y, z], [x, w, v])"),
    "one tape, what has no gradient": ("", "tape.gradient(k, [x, w, v])"),
    "a persistent tape": ("persistent=True", "[tape.gradient(each, [x, w, v]) for each in (y, z, k, [y, z])]"),
    "a persistent tape, again": ("persistent=True", "[tape.gradient(each, [x, w]) for each in (z, y, y, z)]"),
}


@pytest.mark.parametrize(("how", "taken"), BELOW.values(), ids=BELOW)
@pytest.mark.parametrize("around", ["", "with tf.GradientTape() as outer:"])
def test_results_of_a_launch_have_the_gradients_of_what_they_are_made_of(how: str, taken: str, around: str) -> None:
    same(
        f"""
v = tf.Variable(2.0)
def g(x, w):
    return x * x * v, tf.sin(w) * w, tf.stop_gradient(x) * 2., tf.argmax(x)
def gradients(x, w):
    with tf.GradientTape({how}) as tape:
        tape.watch([x, w])
        y, z, k, _ = g(x, w)
    return {taken}
def main():
    for i in range(6):
        x, w = tf.constant([i, 0.5]), tf.constant([0.5, -i])
        {around or "if True:"}
            {"outer.watch([x, w])" if around else "pass"}
            found = gradients(x, w)
        show(found)
        if {bool(around)}: show(outer.gradient([each for each in tf.nest.flatten(found) if each is not None], [x, w, v]))
""",
        g="graph",
    )


def test_a_tape_and_a_forward_accumulator_are_eager_codes() -> None:
    """TensorFlow cannot launch a graph with a loop for both."""
    ours = same(
        """
        W = tf.Variable([1.5, -.5])
        def step(x):
            if tf.reduce_sum(x) > 0.:
                y = x * W * tf.sin(x) * tf.cos(W) + tf.exp(x) - tf.tanh(x)
            else:
                y = tf.sin(x)
            s = y
            for i in tf.range(3):
                s = s * x + W
            return s + y
        def main():
            for k in range(5):
                x = tf.constant([.3, .7 - k])
                with tf.GradientTape() as tape, tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as acc:
                    y = step(x)
                    j = acc.jvp(y)
                show(y, j, tape.gradient(y, W))
            for k in range(5):
                x = tf.constant([.3, .7 - k])
                with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as acc:
                    with tf.GradientTape() as tape:
                        tape.watch(x)
                        y = step(x)
                    g = tape.gradient(y, [x, W])
                show(y, acc.jvp(g))
        """
    )
    assert ours.sites["step"].reason.startswith("must run eagerly too often (a forward accumulator is open")


@pytest.mark.parametrize(
    "body", ["v * x if x > 1 else x * x", "tf.while_loop(lambda a: a < 9, lambda a: (a * v,), [x + 1.])[0]"]
)
def test_forward_accumulators_around_a_branch_or_loop_that_has_been_a_graph_are_eager_codes(body: str) -> None:
    program = f"""
    v = tf.Variable(2.)
    def f(x): return {body}
    def main():
        for i in range(4):
            x = tf.constant(.5 * i)
            for k in range(3): show(f(x))
            for of in (v, x):
                with tf.autodiff.ForwardAccumulator(of, tf.constant(1.)) as outer:
                    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.)) as inner: y = f(x)
                show(y, inner.jvp(y), outer.jvp(y), outer.jvp(inner.jvp(y)) if inner.jvp(y) is not None else 0)
    """
    assert same(program).sites["f"].own_graph_calls > 0


@pytest.mark.parametrize("body", ["if x[0] > 9: x = x * 2.", "for i in tf.range(2):\n    if x[0] > 9: x = x * 2."])
def test_a_result_that_may_be_an_argument_is_eager_below_a_tape(body: str) -> None:
    same(
        f"""
def g(x):
{textwrap.indent(body, "    ")}
    return x
def main():
    x = tf.constant([1., 2.])
    for i in range(5):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = g(x)
            z = x * x
        show(y, tape.gradient(z, y), tape.gradient(y, x))
"""
    )


@pytest.mark.parametrize("given", ["n", "x.numpy()", "x.numpy()[0]", "a", "[x, a]"])
@pytest.mark.parametrize("call", ["tape.watch(k)", "tf.GradientTape.watch(tape, k)", "tape.gradient(x * 2., k)"])
def test_a_tape_takes_no_numbers_and_no_arrays(call: str, given: str) -> None:
    same(
        f"""
import numpy as np
def f(x, a, n):
    k = {given}
    with tf.GradientTape() as tape:
        y = {call}
    return x * 3., y
def main():
    a = np.array([1., 2.], np.float32)
    for i in range(5): attempt(f, tf.constant([1., 2.]), a, i * 0.5)
"""
    )


ITEMS_OF_LISTS = {
    "read behind the tape": """
def step(x, n):
    with tf.GradientTape() as tape:
        losses = []
        for i in tf.range(n):
            x = tf.tanh(x * w)
            losses.append(tf.reduce_mean(x * x))
    return tape.gradient(losses[-1], w)
""",
    "chosen behind the tape": """
def step(x, n):
    with tf.GradientTape() as tape:
        low, high = tf.reduce_sum(x * w), tf.reduce_mean(x * w * w)
    return tape.gradient(low if n > 2 else high, w)
""",
    "taken by": """
def step(x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        states = [x * w]
        for i in tf.range(n): states.append(tf.tanh(states[-1] * w) + tf.sin(states[-1]))
        loss = tf.reduce_sum(states[-1])
        first = states[0]
    return tape.gradient(loss, first)
""",
    "known in number": """
def step(x, n):
    states = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        for i in tf.range(tf.constant(3)):
            x = tf.tanh(x * w)
            states.append(x)
        loss = tf.reduce_sum(x * x)
    return tape.gradient(loss, states[0])
""",
    "read twice in each iteration": """
def step(x, n):
    with tf.GradientTape() as tape:
        states = [x]
        for i in tf.range(n):
            states.append(states[-1] * w + states[-1] * 0.5 + states[-1])
        loss = tf.reduce_sum(states[-1]) + tf.reduce_sum(x * w)
    return tape.gradient(loss, w)
""",
}


@pytest.mark.parametrize("step", ITEMS_OF_LISTS.values(), ids=ITEMS_OF_LISTS)
def test_gradients_of_items_of_lists_are_those_of_the_tensors_that_were_put_into_them(step: str) -> None:
    run = same(f"""
w = tf.Variable([1., 2., 3.])
{step}
def main():
    for k in range(8): show(step(tf.constant([1., 2., -1.]) * (k + 1.), tf.constant(k % 4 + 1)))
""")
    is_graph = "for i in tf.range(n):" in step and "return tape.gradient(loss, w)" in step
    assert run.sites["step"].state == ("graph" if is_graph else "eager"), run.sites["step"].reason


@pytest.mark.parametrize("count", ["n", "3"])
def test_items_of_lists_that_leave_a_graph_have_gradients_by_one_another(count: str) -> None:
    run = same(f"""
def roll(x, n):
    states, y = [], x
    for i in tf.range({count}):
        y = tf.tanh(y)
        states.append(y)
    return states, y
def main():
    for k in range(6):
        x, n = tf.constant([1., float(k)]), tf.constant(k % 3 + 1)
        roll(x, n)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            states, y = roll(x, n)
            z = y * y
        show(tape.gradient(states[-1], states[0]), tape.gradient(z, states[-1]), tape.gradient(z, x))
""")
    assert run.sites["roll"].graph_calls > 0  # where no tape is open


RELATED = {
    "in a branch": """
    if k > 1:
        r = tf.sin(a)
        m = r * r
    else:
        r, m = tf.cos(a), a * 2.
""",
    "one tensor of a branch": """
    if k > 1: r = m = tf.sin(a)
    else: r, m = tf.cos(a), tf.sin(a)
""",
    "in a loop": """
    r, m = a, a
    for i in tf.range(k):
        r = tf.tanh(r) * 1.5
        m = r * r
""",
    "behind a branch": """
    r, m = a * 2., a
    if k > 1:
        r = tf.sin(a)
        m = r * r
    m = m * 3. + 1.
""",
    "an item of a list": """
    items, m = [a], a * 1.
    for i in tf.range(k):
        m = tf.tanh(m)
        items.append(m)
    r = items[-1]
""",
}


@pytest.mark.parametrize("body", RELATED.values(), ids=RELATED)
def test_one_result_has_a_gradient_by_another_whatever_made_the_two(body: str) -> None:
    same(f"""
def related(a, k):
{body}
    return r, m
def inside(a, k):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(a)
{textwrap.indent(body, "    ")}
        z = m * m
    return tape.gradient(z, r), tape.gradient(m, r), tape.gradient(z, a)
def main():
    for n in range(9):
        a, k = tf.constant([1., 2.]), tf.constant(n % 3 + 1)
        related(a, k)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            r, m = related(a, k)
            z = m * m
        show(tape.gradient(m, r), tape.gradient(z, r), tape.gradient(z, a), *inside(a, k))
""")
