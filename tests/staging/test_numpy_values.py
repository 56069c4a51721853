"""`.numpy()` in functions that become graphs: numpy's own scalars and arrays, after each launch, as in plain Python."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging import programs

_PROGRAM = """
import math
history = []
pair = [tf.constant(1.0), tf.constant(2.0)]
class State: pass
state = State(); state.total = 0.0; state.count = 0; state.best = 0.0
w = tf.Variable([1.0, 2.0])
def step(x, k):
    y = tf.reduce_sum(x * x + 2.0) - 1.0
BODY
def main():
    for k in range(5):
        attempt(step, tf.constant([1.0, 2.0]) * k, k)
    show(history, vars(state), w)
"""


def step_of(body: str) -> registry.Site:
    """The site of a function with this body, which finds `y` (3, 8, 23, 48, 83 in the calls), after a run that does
    what plain Python does."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    return programs.same(source).sites["step"]


GRAPHS = {
    "scalars and arrays are returned": "return y.numpy(), x.numpy(), (x > 1.0).numpy(), tf.size(x).numpy()",
    "of other types": "return tf.cast(y, tf.float16).numpy(), tf.cast(x, tf.uint8).numpy(), tf.cast(y, tf.bfloat16).numpy()",
    "shown": "print(y.numpy(), [y.numpy()], x.numpy(), f'{y.numpy():.3f} {y.numpy()!r}', '%.2f' % y.numpy())",
    "as Python numbers": "return y.numpy().item(), float(y.numpy()), int(y.numpy()), bool(y.numpy()), y.numpy().tolist()",
    "kept": "history.append(y.numpy()); history.append(x.numpy()); state.v = y.numpy(); return {'y': y.numpy()}",
    "numpy's types": """
        v = y.numpy()
        d = tf.cast(y, tf.float64).numpy()
        n = tf.cast(y, tf.int32).numpy()
        return (v + 1, 2 * v, v / 3, k - v, v * 0.1, v + v, -v, v * np.float64(0.1), np.float32(2) * v, v + float(y),
                d + v, d * 0.1, n + 1, n / 3, n * 0.5, n - n, n + v, n + k, v + k, x.numpy() * 0.1, x.numpy() + v)
        """,
    "added up outside": "state.total += y.numpy(); state.count += 1; return state.total / state.count",
    "a condition": "if y.numpy() > 20:\n    return 'big', y.numpy()\nreturn 'small', x.numpy()",
    "the best so far": "if y.numpy() > state.best:\n    state.best = y.numpy()\nreturn state.best",
    "compared": "v = y.numpy()\nreturn v == 8, v != k, v < np.float64(9), 3.0 >= v, x.numpy() > 1, v == y, not v",
    "a bool of numpy": "b = (y > 10).numpy()\nif b:\n    return 1, b\nreturn 0, b",
    "the larger": "return max(y.numpy(), 20.0), min(y.numpy(), (y + 1).numpy())",
    "reduced by numpy": """
        losses = [y.numpy(), (y * 0.1).numpy()]
        print(np.mean(losses), np.mean(x.numpy()))
        state.v = np.mean(losses)
        return np.std(losses, ddof=0), np.stack(losses), float(np.mean(losses)), round(float(np.sum(losses)), 1)
        """,
    "tensors as numpy sees them": """
        print(np.mean(x), np.max(w))
        state.v = np.array(x)
        losses = [y, y * 0.1]
        return np.argmax(x), int(np.argmax([y, 20.0])), float(np.mean(losses)), np.round(a=y, decimals=1), np.stack(losses)
        """,
    "methods": """
        a = x.numpy()
        return a.mean(), a.tolist(), a.sum(axis=0), a.max(), a.argmax(), (x / 3).numpy().round(1), a.copy(), a.mean().item()
        """,
    "taken apart": "return tuple(x.numpy().tolist()), list(tf.cast(x, tf.int32).numpy().tolist()), tuple((x * 2).numpy())",
    "rounded": "return round(y.numpy(), 1), round(float(y) / 3, 2), round(y.numpy()), round(int(y), -1)",
    "strings": "t = tf.strings.as_string(x)[0].numpy()\nprint(t, t.decode())\nreturn t, t.decode(), f'<{t.decode()}>'",
    "back into TensorFlow": "return tf.reduce_sum(x * y.numpy()) + tf.constant(y.numpy()), tf.stack([y.numpy(), y])",
    "what it is": """
        a = x.numpy()
        return (a.shape, len(a), a.ndim, a.size, str(a.dtype), type(y.numpy()), isinstance(a, np.ndarray),
                isinstance(y.numpy(), float), isinstance(tf.cast(y, tf.float64).numpy(), float))
        """,
    "items": "a = x.numpy()\nb, c = a\nreturn a[0], a[-1], list(a), float(a[1]), b, c",
    "a variable at the moment": "a = w.numpy()\nw.assign_add(x)\nb = w.numpy()\nw.assign_add(x)\nreturn a, b",
    "no gradient through it": """
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.reduce_sum(x * x)
            q = z * z.numpy()
        return tape.gradient(q, x)
        """,
    "in a loop over tensors": "t = 0.0\nfor i in tf.range(3):\n    t = t + y.numpy()\nreturn t",
    "in a branch": "if y > 20.0:\n    r = [y.numpy(), x.numpy().mean()]\nelse:\n    r = None\nreturn r",
    "either of two types": "if y > 20.0:\n    r = y.numpy()\nelse:\n    r = 0.0\nprint(r)\nreturn r",
    "of Python's functions": "return sum([y.numpy(), y.numpy()]), math.sqrt(y.numpy()), list(map(float, x.numpy()))",
}

EAGER = {
    "changed in place": "a = x.numpy()\na[0] = 1\nreturn a",
    "augmented": "a = x.numpy()\na += 1\nreturn a",
    "a part that shares its memory": "return x.numpy()[:1]",
    "functions that may warn": "return np.log(y.numpy())",
    "the place of an item": "return [10, 20, 30][int(np.argmax(x.numpy()))]",
    "computed with after numpy": "return np.mean(x.numpy()) + 1",
    "decided by numpy": "if np.mean(x.numpy()) > 1:\n    return 1\nreturn 0",
    "a shape that depends on values": "return tf.boolean_mask(x, x > 1.0).numpy().shape",
    "tensors in functions that may warn": "return np.log(y)",
    "tensors in an old list": "return y + np.mean(pair)",
    "the key of a dict": "return {y.numpy(): 1}",
}


@pytest.mark.parametrize("body", GRAPHS.values(), ids=GRAPHS)
def test_numpy_values_of_a_graph_are_numpys(body: str) -> None:
    site = step_of(body)
    assert ("graph", None) == (site.state, site.reason)


@pytest.mark.parametrize("body", EAGER.values(), ids=EAGER)
def test_what_needs_the_values_while_tracing_stays_eager(body: str) -> None:
    site = step_of(body)
    assert site.state == "eager", "the graph would hold the values of one call"
    assert "numpy" in site.reason


def test_each_function_makes_of_a_tensor_what_numpy_makes_of_it() -> None:
    from autoimport.operators.numpy_values import FUNCTIONS  # the gates are connected with TensorFlow first

    names = sorted(fn.__name__ for fn in FUNCTIONS)
    assert "argmax" in names
    functions = "\n".join(
        f"def {name}_of(x): return np.{name}({'[x, x]' if name in ('concatenate', 'stack') else 'x'})" for name in names
    )
    source = """
FUNCTIONS
def main():
    for fn in [CALLS]:
        for _ in range(3):
            attempt(fn, tf.constant([[0.25, -1.5], [3.0, 2.5]]))
            attempt(fn, tf.constant([3, 1, 2]))
            attempt(fn, tf.constant(2.5, tf.float64))
            attempt(fn, tf.constant([True, False]))
"""
    calls = ", ".join(f"{name}_of" for name in names)
    ran = programs.same(source.replace("FUNCTIONS", functions).replace("CALLS", calls))
    assert not [name for name in names if not ran.sites[f"{name}_of"].own_graph_calls]


WARNINGS = {
    "overflow": "(y * 1e37).numpy() * 10",
    "division by zero": "y.numpy() / (y.numpy() - 8)",
    "not a number": "(y * 1e38).numpy() * 10 - (y * 1e38).numpy() * 10",
    "an integer that overflows": "tf.cast(y * 1e7, tf.int32).numpy() + np.int32(2**31 - 1 - 30000000)",
    "far sums": "np.std([(y * 1e37).numpy(), y.numpy()])",
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning:program_")
@pytest.mark.parametrize("expression", WARNINGS.values(), ids=WARNINGS)
def test_numpy_warns_at_the_line_of_the_program(expression: str) -> None:
    source = f"""
    import warnings
    def step(y):
        return {expression}
    def main():
        for v in (3.0, 8.0, 3.0, 8.0, 100.0):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                attempt(step, tf.constant(v))
            print([(str(w.message), w.lineno, w.filename) for w in caught])
    """
    assert "step" in programs.same(source).sites


def test_what_only_copies_takes_any_numbers() -> None:
    ran = programs.same(
        """
        def f(x, n):
            part = x[:n].numpy()
            return part.tolist(), part.copy(), part.flatten(), part.tobytes(), tuple(part.tolist())
        def main():
            for n in (2, 2, 0, 3, 0, 0, 0, 0, 0, 1):
                show(f(tf.constant([1.0, float("inf"), float("nan")]), tf.constant(n)))
        """,
        f="graph",
    )
    assert ran.sites["f"].own_graph_calls == 9
