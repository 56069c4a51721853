"""Prints and strings of functions that become graphs: at every call, in order, byte for byte as in plain Python."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging import programs

_MAIN = """
def main():
    for k in range(5):
        attempt(step, tf.constant([1.0, 2.0]) * k, k)
"""
_HEAD = """
def step(x, k):
    y = tf.reduce_sum(x * x + 2.0) - 1.0
"""


def step_of(body: str, *, around: str = "", after: str = "") -> registry.Site:
    """The site of a function `step(x, k)` with this body, after a run that prints what plain Python prints.

    The body finds `y`, a scalar tensor (3, 8, 23, 48, 83 in the five calls); `around` is the module around the function,
    `after` follows the calls.
    """
    function = _HEAD + textwrap.indent(textwrap.dedent(body), "    ") + "\n    return tf.sqrt(y)\n"
    source = textwrap.dedent(around) + function + _MAIN + textwrap.indent(textwrap.dedent(after), "    ")
    return programs.same(source).sites["step"]


GRAPHS = {
    "tensors, numbers and plain values": 'print("y", y, k, 1.5, None, [y, (k, "a")], {"y": y})',
    "separators": 'print(y, k, sep="--", end="|\\n")\nprint()\nprint(y, sep=None, end=None, file=None, flush=True)',
    "a separator that is a text": 'print(1, 2, sep=f"{y}")',
    "formatted": 'print(f"{y:.3f} {y!r:>50} {y=} {k=!s}", "%.2f %s" % (y, y), "{:.1f} {a}".format(y, a=[y]))',
    "a field in a specification": 'print(f"{y:>{10 + k}.{k}f}|{{}}|")',
    "a Python number made of a tensor": 'print(int(y), float(y), int(y) * 2 + k, f"{float(y):.2f}", bool(y > 5.0))',
    "methods of strings": 'print(f"{y:.1f}".rjust(9, "*"), str(y).upper().strip()[3:9], "-" * 3 + str(y))',
    "joined": 'print(", ".join(f"{v:.1f}" for v in (y, y * 2.0)), "/".join(["a", str(k)]))',
    "the same text twice": 'message = f"{[y]}"\nprint(message, message)\nprint(message + message)',
    "in a Python loop": "for i in range(3):\n    print(i, y * i)\n    if i == k:\n        print('k')",
    "in a comprehension": "[print(i, y) for i in range(2)]",
    "in a nested function": "def say(v):\n    print('say', v)\n    return f'<{v}>'\nprint(say(y), say(k))",
    "around a gradient": """
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.reduce_sum(x * x)
            print("z", z)
        print("gradient", tape.gradient(z, x))
        """,
    "a ragged and a sparse tensor": """
        print(tf.RaggedTensor.from_row_splits(x, [0, 1, 2]), tf.sparse.from_dense(x))
        """,
    "unknown shapes": "z = tf.boolean_mask(x, x > 1.0)\nprint(z, z.shape, z.shape[0], tf.size(z))",
    "under a condition": """
        if y > 10.0:
            print("large", y, k)
            if y > 40.0:
                print("very large", f"{y:.1f}")
            print("was large")
        else:
            print("small")
        print("after")
        """,
    "None or a tensor": """
        best = None
        if y > 10.0:
            best = y * 2.0
        print(best, [best])
        if best is not None:
            print("best", best)
        """,
    "strings that differ by branch": """
        mode = "low"
        if y > 40.0:
            mode = "high"
        elif y > 10.0:
            mode = f"middle {y:.0f}"
        print(mode, mode.upper(), "big" if y > 10.0 else "small")
        """,
    "before an exception": """
        print("before")
        if y > 40.0:
            print("too large")
            raise ValueError("%.1f is too large" % y)
        print("after")
        """,
    "an exception that is handled": """
        try:
            print("try", y)
            raise ValueError(f"bad {k}")
        except ValueError as error:
            print("caught", error, repr(error), [error])
        """,
    "in the message of an exception": """
        if k == 3:
            raise ValueError(f"{y:.1f} is too large", [y])
        """,
    "a text that is returned": 'return {"a": f"{y}", "b": [str(y), (repr(y), k)]}',
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_function_that_prints_is_a_graph(name: str) -> None:
    assert step_of(GRAPHS[name]).state == "graph"


WITH_STATE = {
    "containers as they are then": (
        """
        values = [1, y]
        print(values)
        values.append(k)
        text = f"{values} {values.pop()} {values}"
        table = {"a": values}
        print(table, text)
        table["b"] = y
        print(table)
        """,
        "",
        "",
    ),
    "variables as they are then": (
        """
        print(weight, weight.name, f"{float(weight):.2f}", "%.1f" % weight)
        weight.assign_add(y)
        print([weight])
        if y > 10.0:
            print("then", weight)
            weight.assign(weight * 0.5)
            print("halved", weight)
        print(weight)
        """,
        'weight = tf.Variable(1.0, name="weight")',
        "print(weight)",
    ),
    "a counter": ("global calls\ncalls += 1\nprint('call', calls, y)", "calls = 0", "show(calls)"),
    "stored texts": (
        """
        box.message = f"{y:.2f}"
        table["m"] = "%s" % y
        history.append(f"{k}: {y}")
        box.calls += 1
        print(box.message, box.calls, table["m"])
        """,
        """
        class Box:
            calls = 0
        box = Box()
        table = {}
        history = []
        """,
        "show(box.message, box.calls, table, history)",
    ),
    "a schedule": ("rate = 0.5 ** k\nprint(f'rate {rate:.4f}', rate, [rate])", "", ""),
    "numpy values": ('print(table, [table], scale, y)\nprint(f"{scale:.2f}")',
                     "table = np.array([1, 2])\nscale = np.float32(2.5)", ""),
    "named tuples": (
        'pair = Pair(y, 1)\nprint(pair, old, f"{pair}", "%s %s" % pair, [old])',
        'import collections\nPair = collections.namedtuple("Pair", "a b")\nold = Pair(1, 2)',
        "",
    ),
    "enumerations": (
        'print(Color.RED, f"{Color.RED}", [Color.RED, y], Color.RED.name)',
        "import enum\nclass Color(enum.Enum):\n    RED = 1\n",
        "",
    ),
    "objects with a text of their own": (
        """
        point = Point(y)
        print(point, [point], origin, (origin, f"{origin}"))
        origin.at = y
        print(origin)
        """,
        """
        class Point:
            def __init__(self, at):
                self.at = at
            def __str__(self):
                return f"at {self.at}"
            def __repr__(self):
                return f"<{self.at}>"
        origin = Point(0)
        """,
        "print(origin)",
    ),
    "to the streams": ("print(y, file=sys.stdout)\nprint(k, file=sys.stderr)", "import sys", ""),
    "in the person's own graph": (
        "print('outside', doubled(y))",
        "@tf.function\ndef doubled(v):\n    print('tracing')\n    return v * 2.0\n",
        "",
    ),
    "in methods": (
        "talker.say(y)",
        """
        class Talker:
            said = 0
            def say(self, v):
                self.said += 1
                print("said", self.said, v)
        talker = Talker()
        """,
        "show(talker.said)",
    ),
    "a specification that does not fit": ("print('before')\nprint(f'{y:d}')", "", ""),
    "a value that does not fit": ("print('before')\nprint('%c' % (y * 40000.0))", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_STATE)
def test_a_function_that_prints_and_keeps_state_is_a_graph(name: str) -> None:
    body, around, after = WITH_STATE[name]
    assert step_of(body, around=around, after=after).state == "graph"


def test_standard_error_gets_its_lines_too(capfd: pytest.CaptureFixture[str]) -> None:
    step_of("print('to stderr', y, file=sys.stderr)", around="import sys")
    plain, ours = capfd.readouterr().err, "to stderr"
    lines = [line for line in plain.splitlines() if line.startswith(ours)]
    assert len(lines) == 10
    assert lines[:5] == lines[5:]


EAGER = {
    "a loop over tensors": ("for v in x:\n    print(v)", "", "loop"),
    "tf.print and print": ("tf.print('a')\nprint('b', y)", "", "tf.print"),
    "a file": ("print(y, file=out)", "import io\nout = io.StringIO()", "file"),
    "a function that TensorFlow calls": (
        "tf.map_fn(shown, x)",
        "def shown(v):\n    print('in', v)\n    return v + 1.0\n",
        "TensorFlow calls",
    ),
    "a tf.function that is traced after a print": (
        "print('before')\nprint(doubled(tf.ones([k])))",
        "@tf.function\ndef doubled(v):\n    print('tracing')\n    return v * 2.0\n",
        "tf.function",
    ),
    "a tf.function that is traced after a print under a condition": (
        "if y > 10.0:\n    print('before')\n    print(doubled(tf.ones([k])))",
        "@tf.function\ndef doubled(v):\n    print('tracing')\n    return v * 2.0\n",
        "tf.function",
    ),
    "tf.print in a tf.function": (
        "z = shown(y)\nprint('after', z)", "@tf.function\ndef shown(v):\n    tf.print('in')\n    return v * 2.0\n", "tf.print"
    ),
    "the length of a text": ("print(len(f'{y}'))", "", "text"),
    "a text for a library": ("tf.nn.conv2d(x[None, None, :, None], tf.ones([1, 1, 1, 1]), 1, 'same' if y > 9.0 else 'valid')",
                             "", "text"),
    "a condition on a text": ("if f'{y:.0f}' == '8':\n    print('eight')", "", "text"),
    "a key": ("print({f'{y}': 1})", "", "text"),
    "a list that has grown": ("items.append(y)\nprint(items)", "items = []", "items"),
    "a dict of its own kind": (
        "print(table, y)", "import collections\ntable = collections.OrderedDict(a=1)", "OrderedDict"
    ),
    "a set, whose order is its own": ("print(names, y)", 'names = {"a", "b", "c"}', "set"),
    "an object with the text of its address": ("print(str(thing)[:3], y)", "thing = object()", "object"),
    "bytes": ("print(b'%f' % (y,))", "", "bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", EAGER)
def test_what_cannot_be_printed_later_runs_eagerly_and_says_why(name: str) -> None:
    body, around, reason = EAGER[name]
    site = step_of(body, around=around)
    assert site.state == "eager"
    assert reason in str(site.reason)


def test_messages_of_checks_need_no_text_while_the_graph_is_built() -> None:
    site = step_of("""
        message = f"bad {y:.2f}"
        assert y < 80.0, message
        assert y < 80.0, f"too large: {y}"
    """)
    assert site.state == "graph"


@pytest.mark.parametrize(
    "change",
    ["box.calls = box.calls + 1", "table['n'] = table['n'] + 1", "items.append(1)", "global calls\n    calls += 1"],
)
def test_changes_in_a_function_that_tensorflow_calls_happen_as_often_as_in_eager_code(change: str) -> None:
    around = f"""
class Box:
    calls = 0
box = Box()
table = {{"n": 0}}
items = []
calls = 0
def counted(v):
    {change}
    return v + 1.0
"""
    site = step_of("tf.map_fn(counted, x)", around=around, after="show(box.calls, table, items, calls)")
    assert "TensorFlow calls" in str(site.reason)
