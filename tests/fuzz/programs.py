"""A number -> a small TensorFlow program, the same one each time.

Programs are made of a few functions, a class, a closure and loops at top level over small tensors, with everything that
a trace has to keep right: control flow over tensors, Python numbers that count, attributes, globals, cells, lists and
dicts that live on, prints, exceptions, variables, gradients, other shapes and types from call to call. What is made is
almost always well typed; what is not raises, which is compared as well.
"""

from __future__ import annotations

import contextlib
import random
import re
from dataclasses import dataclass

from tests.fuzz.expressions import FLOAT, INT, LOCALS, SCALAR, TABLE, TENSORS, VECTOR, WHOLE, Scope
from tests.fuzz.statements import Statements, indent

IMPORTS = """
import functools
import math
from typing import NamedTuple
import numpy as np
import tensorflow as tf
"""
# What programs are made over, by name; a program has those that it mentions, in this order.
VALUES = {
    "G_int": "2",
    "G_float": "0.5",
    "G_tensor": "tf.constant(1.5)",
    "G_text": '"g"',
    "G_flag": "True",
    "HISTORY": "[]",
    "COUNTS": "[1]",
    "TABLE": '{"a": tf.constant(0.25), "b": tf.constant(-1.0)}',
    "STATS": '{"n": 0, "best": 0.5}',
    "ARRAY": "np.array([0.5, -1.5, 2.0], np.float32)",
    "WEIGHT": "tf.Variable(0.75)",
    "STEPS": "tf.Variable(0, dtype=tf.int32)",
    "SLOTS": "[tf.Variable(0.5), tf.Variable(-0.25)]",
    "RNG": "tf.random.Generator.from_seed(3)",
}
HELPERS = {
    "Problem": """
class Problem(Exception):
    pass
""",
    "Point": """
class Point(NamedTuple):
    x: tf.Tensor
    n: int

    def moved(self, by):
        if self.x > 0:
            return self._replace(x=self.x + by)
        return Point(self.x - by, self.n + 1)
""",
    "steps": """
def steps(v, n):
    for i in range(n):
        yield v[0] * i
    WEIGHT.assign_add(0.125)
""",
    "recursive": """
def recursive(t, n):
    if n <= 0 or t > 4.0:
        return t
    return recursive(t * 2.0, n - 1) + 1.0
""",
    "traced": """
@tf.function(autograph=False)
def traced(t):
    return tf.where(t > 0.5, t * WEIGHT, t - 1.0)
""",
    "bent": """
@tf.custom_gradient
def bent(t):
    return t * 2.0, lambda up: up * 3.0
""",
}


@dataclass(frozen=True)
class Program:
    """A program's text, and whether it is run as the main program, where only what it prints counts."""

    source: str
    is_main: bool


def generate(number: int) -> Program:
    """The program of a number: the first of its attempts that is one (`nonlocal` of a name used before is not)."""
    choices = random.Random(number)
    while True:
        program = Generator(choices).program()
        with contextlib.suppress(SyntaxError):
            compile(program.source, "program.py", "exec")
            return program


class Generator(Statements):
    """Writes one program."""

    def function(self, name: str, *, is_method: bool = False, cells: dict[str, str] | None = None) -> str:
        """A function of a vector and an int."""
        returns = self.pick(SCALAR, SCALAR, SCALAR, VECTOR, INT, FLOAT, TENSORS, TABLE)
        cells = cells or {}
        self.scope = Scope({"x": VECTOR, "n": INT, **cells}, set(cells), cells, is_method=is_method, returns=returns)
        body = self.block(2, 5)
        result = self.expression(returns)
        if self.chance(0.25):
            result = f"({result}, {self.expression(self.pick(*LOCALS))}, {self.expression(self.pick(SCALAR, INT))})"
        elif self.chance(0.1):
            result = f'{{"r": {result}, "n": {self.expression(INT)}}}'
        elif not is_method and not cells:
            self.functions.append((name, returns))
        elif not cells:
            self.functions.append((f"box.{name}", returns))
        body = f"{body}\nreturn {result}"
        declared = self.declared(body)
        if cells:
            declared += f"\nnonlocal {', '.join(cells)}"
        head = f"def {name}({'self, ' if is_method else ''}x, n=1):"
        return f"{head}\n{indent(declared)}\n{indent(body)}\n"

    def closure(self, name: str) -> str:
        cells = {"i0": INT, "t0": SCALAR, "f0": FLOAT}
        inner = self.function("inner", cells=cells)
        return f"def make_{name}():\n    i0, t0, f0 = 0, tf.constant(0.5), 0.25\n{indent(inner)}\n    return inner\n\n\n{name} = make_{name}()\n"

    def class_(self, count: int) -> str:
        methods = "\n".join(self.function(f"method_{index}", is_method=True) for index in range(count))
        return (
            f"class Box{self.pick('', '', '(tf.Module)')}:\n"
            "    def __init__(self):\n"
            "        self.step = 0\n        self.rate = 1.0\n        self.tensor = tf.constant(0.5)\n"
            "        self.log = []\n        self.table = {}\n        self.last = None\n"
            "        self.weight = tf.Variable(0.25)\n\n"
            f"    def scale(self, y):\n        return y * self.rate + {self.pick('self.step', 'self.tensor', '0.5')}\n\n"
            "    @property\n    def double(self):\n        return self.rate * 2\n\n"
            f"    def __call__(self, y):\n        if y {self.pick('>', '<')} self.tensor:\n"
            f"            self.step += 1\n            return self.scale(y)\n        return y - self.{self.pick('double', 'weight')}\n\n"
            f"{indent(methods)}\n\nbox = Box()\n"
        )

    def calls(self, callee: str) -> str:
        """Calls of a function with arguments that change now and then."""
        lines = []
        for index in range(self.random.randint(3, 5)):
            vector = f"tf.constant([{', '.join(self.pick('0.5', '-1.0', '2.0', '1.5', '0.0') for _ in range(3))}])"
            if index and self.chance(0.12):
                vector = self.pick(
                    "tf.constant([1.0, -2.0])", "tf.constant([1, 2, 3])", "tf.constant([1.5, -0.5, 2.0], tf.float64)",
                    "np.array([0.5, 1.0, -1.0], np.float32)", "ARRAY", "tf.zeros([0])", "[1.0, 2.0, 3.0]",
                )  # fmt: skip
            whole = self.pick("1", "1", "2", "3", str(index), "True", "2.5" if self.chance(0.2) else "1", "0")
            lines.append(f"attempt({callee}, {vector}, {whole})")
            if self.chance(0.1):
                self.scope = Scope(in_function=False)
                lines.append(self.pick(self._global, self._effect)())
        return "\n".join(lines)

    def loop(self) -> str:
        """A loop at top level, whose statements may become regions."""
        self.scope = Scope({"t_sum": SCALAR, "i_sum": INT, "v_data": VECTOR}, in_function=False)
        head = "t_sum = tf.constant(0.0)\ni_sum = 0\nv_data = tf.constant([1.0, -1.0, 0.5])\n"
        kind, over = self.pick(
            (INT, "range(6)"), (WHOLE, "tf.range(5)"), (SCALAR, "tf.constant([0.5, 1.0, -1.0, 2.0, 0.0])")
        )
        name = self.fresh(kind)
        with self.inside(in_loop=True) as scope:
            scope.names[name] = kind
            scope.counters.add(name)
            body = self.block(2, 6)
        shown = ", ".join(["t_sum", "i_sum", *(n for n in self.scope.names if self.chance(0.5))])
        guarded = f"try:\n{indent(body)}\nexcept Exception as error:\n    attempt(None, error)"
        loop = f"for {name} in {over}:\n{indent(self.pick(body, body, guarded))}\n"
        if self.chance(0.3):
            wrapped = indent(f"{self.declared(loop)}\n{head}{loop}show(t_sum, i_sum)")
            return f"def train():\n{wrapped}\n\n\nattempt(train)\nattempt(train)\n"
        return f"try:\n{indent(head + loop)}except Exception as error:\n    attempt(None, error)\nshow({shown})\n"

    def program(self) -> Program:
        """One or two of what may become a graph, and calls of it."""
        kinds = self.random.choices(("function", "closure", "method", "loop"), (5, 2, 3, 3), k=self.pick(1, 1, 2))
        box = self.class_(kinds.count("method"))
        parts, callees = [], []
        for index, kind in enumerate(kinds):
            name = f"fn_{index}"
            if kind == "loop":
                parts.append(self.loop())
                continue
            if kind != "method":
                parts.append(self.closure(name) if kind == "closure" else self.function(name))
            callees.append(f"box.method_{kinds[:index].count('method')}" if kind == "method" else name)
        parts += [self.calls(callee) for callee in callees]
        if _mentions("box", parts):
            parts.insert(0, box)
        helpers = [text for name, text in HELPERS.items() if _mentions(name, parts)]
        values = [name for name in VALUES if _mentions(name, [*helpers, *parts])]
        shown = [*("RNG.state" if name == "RNG" else name for name in values), *["vars(box)"] * (box in parts)]
        given = "\n".join(f"{name} = {VALUES[name]}" for name in values)
        asked = "".join(f"show({name})\n" for name in shown)
        return Program("\n\n".join([IMPORTS, given, *helpers, *parts, asked]), is_main=self.chance(0.5))


def _mentions(name: str, parts: list[str]) -> bool:
    return any(re.search(rf"\b{name}\b", part) for part in parts)
