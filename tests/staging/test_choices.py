"""Objects, functions and numbers between which only the graph chooses: what is done with them is done on each way."""

from __future__ import annotations

from tests.staging.programs import same

CLASSES = """
class Counter:
    def __init__(self, value):
        self.value = value
        self.name = "n"
    def advance(self, by):
        self.value = self.value + by
        return self.value
class Other(Counter):
    def advance(self, by):
        self.present = by * 2
        return self.value - by
"""


def held(body: str, function: str, **expected: str) -> None:
    """Run a function of one tensor for some values, both ways."""
    main = """
def main():
    for v in (1.0, -2.0, 3.0, -2.0, 0.5):
        show({}(tf.constant(v)))
"""
    same(CLASSES + body + main.format(function), **{function: "graph", **expected})


def test_attributes_that_are_called_like_ours() -> None:
    held("def f(x):\n    counter = Counter(x) if x > 0 else Counter(-x)\n    return counter.value, counter.name\n", "f")


def test_methods_of_objects_of_two_classes() -> None:
    body = """
def f(x):
    c = Counter(x) if x > 0 else Other(-x)
    y = c.advance(x + 1.0)
    c.value = c.value * 3
    return y, c.value
"""
    held(body, "f")


def test_functions() -> None:
    body = """
def f(x):
    first = tf.sin if x > 0 else tf.cos
    second = (lambda v: v + 1) if x > 1 else (lambda v: v * 2)
    third = None
    if x > 0: third = tf.tanh
    return first(x), second(x), x if third is None else third(x)
"""
    held(body, "f")


def test_lists_of_one_length() -> None:
    held("def f(x):\n    c = [x, x + 1] if x > 0 else (x * 2, x * 3)\n    return c[1], len(c)\n", "f")


def test_objects_older_than_the_trace_are_changed_on_the_way_that_is_taken() -> None:
    body = """
models = [Counter(tf.constant(1.0)), Counter(tf.constant(2.0))]
models[0].count = models[1].count = 0
def f(x):
    m = models[0] if x > 0 else models[1]
    m.value = m.value + x
    m.count = m.count + 1
    return m.value
def main():
    for v in (1.0, -2.0, 3.0, -2.0, 0.5):
        show(f(tf.constant(v)), [(m.value, m.count) for m in models])
"""
    same(CLASSES + body, f="graph")


def test_a_number_or_a_tensor() -> None:
    body = """
def slope(r, delta):
    if r > delta: return delta
    if r < -delta: return -delta
    return r
def f(r):
    g = slope(r * 5, 4.0)
    return (0.1 * g * r, g, abs(g), g + 1, 2 - g, tf.square(g), [g, r], max(g, 0.1), float(g), isinstance(g, float), -g,
            g < 3, g if g > 0 else 0.0, tf.stack([g, r]), tf.maximum(g, r), tf.cast(g, tf.float64), f"{g:.3f} {g}")
"""
    held(body, "f")


def test_the_gradient_of_a_number_or_a_tensor() -> None:
    body = """
def f(w):
    with tf.GradientTape() as tape:
        tape.watch(w)
        z = tf.abs(w) * 2.0
        g = z if z < 1.5 else 1.5
        y = tf.math.log(z) * g / 3.0 + 0.1 * g
    return tape.gradient(y, w), y
"""
    held(body, "f")


def test_a_number_where_a_loop_had_no_iteration() -> None:
    body = """
def f(x):
    total = 0
    for _ in tf.range(tf.cast(tf.abs(x), tf.int32)):
        total = total + x
    return total, total * 2
"""
    held(body, "f")


def test_patterns_on_values_that_only_one_branch_gives_a_shape_are_eager() -> None:
    subjects = [
        "{} if x > 0 else 'g'",
        "{'a': x} if x > 0 else x",
        "[x, 2] if x > 0 else x",
        "(1, 2) if x > 0 else None",
    ]
    functions = [
        f"""
def f{number}(x):
    match {subject}:
        case []: return 0
        case [a, b]: return a
        case {{"a": a}}: return a
        case {{}}: return 1
        case _: return 2
"""
        for number, subject in enumerate(subjects)
    ]
    main = "def main():\n    for v in (1.0, -2.0, 3.0, -2.0, 0.5):\n        for f in (f0, f1, f2, f3):\n"
    main += "            show(f(tf.constant(v)))\n"
    same("".join(functions) + main, **{f"f{number}": "eager" for number in range(len(subjects))})


def test_a_number_outside_where_a_loop_had_no_iteration() -> None:
    body = """
class Kept: pass
kept, table, last = Kept(), {}, 0
def make():
    count = 0
    def step(x):
        global last
        nonlocal count
        for i in tf.range(tf.cast(x, tf.int32)):
            kept.total = kept.total + x
            table["last"] = last = count = i
        return last, count, kept.total, table["last"]
    def reset():
        nonlocal count
        count = 0
    return step, reset
step, reset = make()
def main():
    global last
    for v in (0.0, 0.0, 1.0, 3.0, 0.0, 2.0):
        reset()
        kept.total, table["last"], last = 0.5, 0, 0
        show(step(tf.constant(v)), kept.total, table, last)
"""
    same(body, **{"make.<locals>.step": "graph"})


def test_a_string_that_a_condition_has_chosen_is_compared_and_looked_up() -> None:
    same(
        """
        weights = {"pos": 2.0, "neg": -1.0}
        def classify(x):
            if x > 0.0: kind = "pos"
            elif x < 0.0: kind = "neg"
            else: kind = "zero"
            if kind == "pos": return x * 2.0, kind
            if kind != "zero": x = x - 1.0
            return x, kind
        def weighted(x):
            return x * weights["pos" if x > 0.0 else "neg"]
        def matched(x):
            mode = "sum" if tf.reduce_sum(x) > 2.0 else "max"
            match mode:
                case "sum": return tf.reduce_sum(x)
                case "max" | "min": return tf.reduce_max(x)
            return x
        def member(x):
            s = "ab" if x > 1.0 else "cd"
            return x + 1.0 if s in ("cd", "ef") else x - 1.0, s == None, s == 3
        def missing(x):
            return x * {"pos": 3.0}["pos" if x > -2.0 else "neg"]
        def main():
            for k in (0.0, 1.0, -1.0, 5.0, -3.0):
                x = tf.constant(k)
                show(classify(x), weighted(x), matched(tf.stack([x, 1.0])), member(x))
                attempt(missing, x)
        """,
        classify="graph",
        weighted="graph",
        matched="graph",
        member="graph",
        missing="graph",
    )
