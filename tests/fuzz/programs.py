"""A number -> a small TensorFlow program, the same one each time.

Programs are made of a few functions, a class, a closure and loops at top level over small tensors, with everything that
a trace has to keep right: control flow over tensors, Python numbers that count, attributes, globals, cells, lists and
dicts that live on, prints, exceptions, variables, gradients, other shapes and types from call to call. What is made is
almost always well typed; what is not raises, which is compared as well.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass

from tests.fuzz.expressions import FLOAT, INT, LOCALS, SCALAR, TABLE, TENSORS, VECTOR, WHOLE, Scope
from tests.fuzz.statements import Statements, indent

PRELUDE = """
import functools
import math
import numpy as np
import tensorflow as tf

G_int = 2
G_float = 0.5
G_tensor = tf.constant(1.5)
G_text = "g"
G_flag = True
HISTORY = []
COUNTS = [1]
TABLE = {"a": tf.constant(0.25), "b": tf.constant(-1.0)}
STATS = {"n": 0, "best": 0.5}
ARRAY = np.array([0.5, -1.5, 2.0], np.float32)
WEIGHT = tf.Variable(0.75)
STEPS = tf.Variable(0, dtype=tf.int32)


class Problem(Exception):
    pass
"""


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
            f"{indent(methods)}\n\nbox = Box()\n"
        )

    def calls(self, callee: str) -> str:
        """Calls of a function with arguments that change now and then."""
        lines = []
        for index in range(self.random.randint(4, 6)):
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
        kinds = self.random.choices(("function", "closure", "method", "loop"), (5, 2, 3, 3), k=self.pick(1, 2, 2))
        parts, callees = [PRELUDE, self.class_(kinds.count("method"))], []
        for index, kind in enumerate(kinds):
            name = f"fn_{index}"
            if kind == "loop":
                parts.append(self.loop())
                continue
            if kind != "method":
                parts.append(self.closure(name) if kind == "closure" else self.function(name))
            callees.append(f"box.method_{kinds[:index].count('method')}" if kind == "method" else name)
        parts += [self.calls(callee) for callee in callees]
        names = "G_int G_float G_tensor G_text G_flag HISTORY COUNTS TABLE STATS WEIGHT STEPS vars(box)"
        parts.append("".join(f"show({name})\n" for name in names.split()))
        return Program("\n\n".join(parts), is_main=self.chance(0.5))
