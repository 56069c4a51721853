"""Kinds of values -> Python expressions of a kind, a random choice at a time."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# Kinds of values, by the letter that names of such variables begin with.
SCALAR, VECTOR, WHOLE, TRUTH = "t", "v", "w", "q"  # tensors: a float, a vector of floats, an int32, a bool
INT, FLOAT, BOOL, TEXT = "i", "f", "b", "s"  # of Python
TENSORS, NUMBERS, TABLE = "L", "N", "D"  # lists of SCALAR and of INT, a dict of SCALAR by text
LOCALS = (SCALAR, SCALAR, SCALAR, VECTOR, VECTOR, WHOLE, TRUTH, INT, INT, FLOAT, BOOL, TEXT, TENSORS, NUMBERS, TABLE)
KINDS = {
    SCALAR: "scalar", VECTOR: "vector", WHOLE: "whole", TRUTH: "truth", INT: "int", FLOAT: "float", BOOL: "bool",
    TEXT: "text", TENSORS: "tensors", NUMBERS: "numbers", TABLE: "table",
}  # fmt: skip


@dataclass
class Scope:
    """What the statements of a block may use.

    Attributes:
      names: variables that have a value, with their kinds.
      counters: variables of `names` that are not to be assigned, since a loop ends by them.
      cells: kinds of the variables of the enclosing function that may be changed.
      in_loop, in_function: which jumps are allowed. is_method: there is a `self`.
    """

    names: dict[str, str] = field(default_factory=dict)
    counters: set[str] = field(default_factory=set)
    cells: dict[str, str] = field(default_factory=dict)
    in_loop: bool = False
    in_function: bool = True
    is_method: bool = False
    returns: str = SCALAR


class Expressions:
    """Writes expressions over what the scope has.

    Attributes:
      scope: what may be used at this point. functions: what earlier functions are called, and what they return.
    """

    def __init__(self, choices: random.Random) -> None:
        self.random = choices
        self.scope = Scope()
        self.functions: list[tuple[str, str]] = []
        self._made = 0

    # Helpers ----------------------------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def weighted(self, table: dict[Callable[..., str], float]) -> Callable[..., str]:
        return self.random.choices(list(table), list(table.values()))[0]

    def fresh(self, kind: str) -> str:
        self._made += 1
        return f"{kind}{self._made}"

    def known(self, kind: str) -> list[str]:
        return [name for name, its in self.scope.names.items() if its == kind]

    @contextlib.contextmanager
    def inside(self, **changes: Any) -> Any:
        """A block that may not run: what it assigns has no value for sure afterwards."""
        before, self.scope = self.scope, Scope(**{**vars(self.scope), **changes, "names": dict(self.scope.names)})
        try:
            yield self.scope
        finally:
            if self.chance(0.02):
                before.names.update(self.scope.names)  # and sometimes it is read nevertheless
            self.scope = before

    # Expressions ------------------------------------------------------------------------------------------------

    def expression(self, kind: str, depth: int = 2) -> str:
        """An expression of a kind."""
        known = self.known(kind)
        if known and (depth <= 0 or self.chance(0.35)):
            return str(self.pick(*known))
        if depth <= 0:
            return self.literal(kind)
        if kind != TRUTH and self.chance(0.05):
            return f"({self.expression(kind, depth - 1)} if {self.condition(depth - 1)} else {self.expression(kind, depth - 1)})"
        if kind in (SCALAR, VECTOR, INT, FLOAT) and self.chance(0.04):
            return f"(lambda z: z {self.pick('+', '*')} {self.expression(kind, 0)})({self.expression(kind, depth - 1)})"
        called = [name for name, returned in self.functions if returned == kind]
        if called and self.chance(0.15):
            return self.call(self.pick(*called), depth - 1)
        forms = getattr(self, f"_{KINDS[kind]}")(lambda k: self.expression(k, depth - 1))
        return str(self.pick(*forms)())

    def literal(self, kind: str) -> str:
        number = self.pick("0.5", "1.0", "-1.5", "2.0", "0.1")
        return str(
            {
                SCALAR: f"tf.constant({number})",
                VECTOR: f"tf.constant([{number}, 1.0, -2.0])",
                WHOLE: f"tf.constant({self.pick(0, 1, 2, 3)})",
                TRUTH: f"tf.constant({self.pick(True, False)})",
                INT: str(self.pick(0, 1, 2, 3, -1)),
                FLOAT: number,
                BOOL: str(self.pick(True, False)),
                TEXT: repr(self.pick("a", "b", "xyz")),
                TENSORS: self.pick("[]", f"[tf.constant({number})]"),
                NUMBERS: self.pick("[]", "[1, 2]", "[3]"),
                TABLE: self.pick("{}", f"{{'a': tf.constant({number})}}"),
            }[kind]
        )

    def condition(self, depth: int = 2) -> str:
        """A test: a tensor more often than not."""
        return self.expression(self.pick(TRUTH, TRUTH, BOOL), depth)

    def key(self, usual: str = "a") -> str:
        """A text, most often one that is a key of the tables."""
        return self.expression(TEXT, 1) if self.chance(0.03) else repr(self.pick(*8 * [usual], *4 * ["b"], "c"))

    @staticmethod
    def quoted(expression: str) -> str:
        """An expression as a field of an f-string, which until Python 3.12 must not hold the quotes around it."""
        return expression.replace('"', "'")

    def number(self) -> str:
        return self.expression(self.pick(INT, FLOAT), 1)

    def call(self, name: str, depth: int) -> str:
        """A call of one of the program's functions, which take a vector and an int."""
        vector, whole = self.expression(VECTOR, depth), self.expression(INT, depth)
        return f"{name}({vector}, {self.pick(whole, f'n={whole}')})"

    def _scalar(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        reduce = self.pick("sum", "mean", "max", "min", "prod")
        forms = [
            lambda: f"tf.reduce_{reduce}({e(VECTOR)})",
            lambda: f"({e(SCALAR)} {self.pick('+', '-', '*', '/')} {e(SCALAR)})",
            lambda: f"({e(SCALAR)} {self.pick('+', '-', '*')} {self.number()})",
            lambda: f"({self.number()} {self.pick('+', '-', '*', '/')} {e(SCALAR)})",
            lambda: (
                f"{self.pick('tf.square', 'tf.abs', 'tf.sin', 'tf.nn.relu', '-', 'abs', 'tf.identity')}({e(SCALAR)})"
            ),
            lambda: f"tf.cast({e(WHOLE)}, tf.float32)",
            lambda: f"{e(VECTOR)}[{self.pick(0, 1, -1, e(INT), e(WHOLE))}]",
            lambda: f"tf.where({e(TRUTH)}, {e(SCALAR)}, {e(SCALAR)})",
            lambda: f"{self.pick('max', 'min', 'tf.maximum', 'tf.minimum')}({e(SCALAR)}, {e(SCALAR)})",
            lambda: f"sum({e(TENSORS)}, {e(SCALAR)})",
            lambda: f"tf.add_n([{e(SCALAR)}, {e(SCALAR)}])",
            lambda: f"{e(TENSORS)}[{self.pick(0, -1)}]",
            lambda: f"{e(TABLE)}[{self.key()}]",
            lambda: f"{e(TABLE)}.get({self.key()}, {e(SCALAR)})",
            lambda: "G_tensor",
            lambda: f"TABLE[{self.key()}]",
            lambda: f"({self.pick('WEIGHT', 'WEIGHT', 'box.weight')} * {e(SCALAR)})",
            lambda: "WEIGHT.read_value()",
            lambda: f"tf.random.normal([], {e(SCALAR)})",
            lambda: f"tf.random.normal([2]{self.pick('', ', seed=3')})[{self.pick('0', '1')}]",
            lambda: f"tf.random.stateless_normal([], [{e(INT)} % 9, 3])",
            lambda: f"RNG.normal([]) * {e(SCALAR)}",
            lambda: f"tf.gather({e(VECTOR)}, {e(WHOLE)})",
            lambda: f"tf.ensure_shape({e(VECTOR)}, [{self.pick('3', '3', '2', 'None')}])[0]",
            lambda: f"tf.debugging.check_numerics({e(SCALAR)}, 'odd')",
            lambda: f"tf.reduce_sum(tf.map_fn(lambda z: z * {e(SCALAR)}, {e(VECTOR)}))",
            lambda: f"tf.cond({e(TRUTH)}, lambda: {e(SCALAR)}, lambda: {e(SCALAR)})",
            lambda: f"sum(steps({e(VECTOR)}, {self.pick('2', '3', e(INT))}), {e(SCALAR)})",
            lambda: f"next(steps({e(VECTOR)}, 2))",
            lambda: f"recursive({e(SCALAR)}, {self.pick('2', '3')})",
            lambda: f"traced({e(SCALAR)})",
            lambda: f"bent({e(SCALAR)})",
            lambda: f"Point({e(SCALAR)}, {e(INT)}).moved({e(FLOAT)}).x",
            lambda: f"box({e(SCALAR)})",
            lambda: f"SLOTS[{self.pick('0', '1', '-1', e(INT))}] + {e(SCALAR)}",
            lambda: f"tf.constant(np.{self.pick('sum', 'mean', 'max')}({e(VECTOR)}.numpy()))",
            lambda: f"tf.reduce_sum(tf.random.uniform([2]) * {e(SCALAR)})",
            lambda: f"sum(z * {e(SCALAR)} for z in {e(TENSORS)}) + 0.0 * {e(SCALAR)}",
            lambda: f"functools.reduce(lambda y, z: y + z, {e(TENSORS)}, {e(SCALAR)})",
            lambda: f"tf.constant({e(SCALAR)}.numpy())",
            lambda: f"np.float32({e(FLOAT)}) * {e(SCALAR)}",
            lambda: f"tf.squeeze(tf.matmul({e(VECTOR)}[None], {e(VECTOR)}[:, None]))",
            lambda: f"HISTORY[-1] * {e(SCALAR)} if HISTORY else {e(SCALAR)}",
            lambda: f"tf.convert_to_tensor({self.pick(e(FLOAT), e(SCALAR))}, tf.float32)",
            lambda: f"tf.reduce_sum(ARRAY * {e(SCALAR)})",
            lambda: f"box.tensor + {e(SCALAR)}",
            lambda: f"box.scale({e(SCALAR)})",
            lambda: f"({e(SCALAR)} {self.pick('and', 'or')} {e(SCALAR)})",
            lambda: (
                f"tf.reduce_sum(tf.stack([{e(SCALAR)} for _ in {self.pick('range(2)', '(0, 1, 2)', e(NUMBERS))}] or [0.0]))"
            ),
        ]
        if self.scope.is_method:
            forms += [lambda: "self.tensor", lambda: f"self.scale({e(SCALAR)})", lambda: "self.weight + 0.0"]
        return forms

    def _vector(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"({e(VECTOR)} {self.pick('+', '-', '*')} {e(VECTOR)})",
            lambda: f"({e(VECTOR)} {self.pick('+', '-', '*')} {e(SCALAR)})",
            lambda: f"({e(VECTOR)} {self.pick('+', '*')} {self.number()})",
            lambda: f"{self.pick('tf.nn.relu', 'tf.abs', 'tf.cumsum', 'tf.square', 'tf.sort')}({e(VECTOR)})",
            lambda: f"tf.where({e(VECTOR)} > {e(SCALAR)}, {e(VECTOR)}, 0.0)",
            lambda: f"{e(VECTOR)}[::-1]",
            lambda: f"tf.stack([{e(SCALAR)}, {e(SCALAR)}, {e(SCALAR)}])",
            lambda: f"tf.fill([{self.pick('3', f'len({e(VECTOR)})')}], {e(SCALAR)})",
            lambda: f"tf.concat([{e(VECTOR)}[1:], {e(VECTOR)}[:1]], 0)",
            lambda: f"tf.cast(tf.range({self.pick('3', e(INT))}), tf.float32)",
            lambda: f"tf.reshape({e(VECTOR)}, [-1])",
            lambda: f"tf.clip_by_value({e(VECTOR)}, -1.0, {self.pick('1.0', e(FLOAT))})",
            lambda: f"tf.boolean_mask({e(VECTOR)}, {e(VECTOR)} > {e(SCALAR)})",
            lambda: f"tf.tensor_scatter_nd_update({e(VECTOR)}, [[0]], [{e(SCALAR)}])",
            lambda: f"tf.convert_to_tensor({e(TENSORS)} or [0.0])",
            lambda: f"tf.random.shuffle({e(VECTOR)})",
            lambda: f"tf.random.uniform([3], {e(SCALAR)}, 9.0)",
            lambda: f"tf.stack(list(steps({e(VECTOR)}, {self.pick('2', '3')})))[0]",
            lambda: f"tf.unique({e(VECTOR)})[0]",
            lambda: f"tf.nn.dropout({e(VECTOR)}, 0.5)",
            lambda: f"tf.gather({e(VECTOR)}, tf.argsort({e(VECTOR)}))",
        ]

    def _whole(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"tf.size({e(VECTOR)})",
            lambda: f"({e(WHOLE)} {self.pick('+', '-', '*')} {e(WHOLE)})",
            lambda: f"({e(WHOLE)} {self.pick('+', '*', '//', '%', '-')} {e(INT)})",
            lambda: f"tf.cast({e(SCALAR)}, tf.int32)",
            lambda: f"tf.reduce_sum(tf.cast({e(VECTOR)} > {e(SCALAR)}, tf.int32))",
            lambda: f"tf.argmax({e(VECTOR)}, output_type=tf.int32)",
            lambda: f"tf.shape({e(VECTOR)})[0]",
            lambda: f"({e(INT)} + {e(WHOLE)})",
            lambda: f"(STEPS + {e(INT)})",
            lambda: f"tf.random.uniform([], 0, {self.pick('5', e(WHOLE))}, tf.int32)",
            lambda: f"tf.searchsorted(tf.sort({e(VECTOR)}), [{e(SCALAR)}])[0]",
        ]

    def _truth(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"({e(SCALAR)} {self.pick('>', '<', '>=', '<=')} {e(SCALAR)})",
            lambda: f"({e(SCALAR)} {self.pick('>', '<', '==')} {self.number()})",
            lambda: f"({e(WHOLE)} {self.pick('==', '!=', '>', '<')} {self.pick(e(INT), e(WHOLE))})",
            lambda: f"({e(WHOLE)} % 2 == {self.pick(0, 1)})",
            lambda: f"tf.reduce_{self.pick('any', 'all')}({e(VECTOR)} > {e(SCALAR)})",
            lambda: f"tf.logical_{self.pick('and', 'or')}({e(TRUTH)}, {e(TRUTH)})",
            lambda: f"({e(TRUTH)} {self.pick('and', 'or')} {self.pick(e(TRUTH), e(BOOL))})",
            lambda: f"({self.number()} < {e(SCALAR)} <= {self.number()})",
            lambda: f"(not {e(TRUTH)})",
        ]

    def _int(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        forms = [
            lambda: f"({e(INT)} {self.pick('+', '-', '*')} {e(INT)})",
            lambda: f"({e(INT)} {self.pick('%', '//')} {self.pick('2', '3', e(INT))})",
            lambda: f"len({e(self.pick(TENSORS, NUMBERS, TABLE, VECTOR))})",
            lambda: f"int({e(self.pick(SCALAR, WHOLE, FLOAT, BOOL))})",
            lambda: f"sum({e(NUMBERS)})",
            lambda: f"{e(NUMBERS)}[{self.pick(0, -1, e(INT))}]",
            lambda: f"{self.pick('max', 'min')}({e(INT)}, {e(INT)})",
            lambda: f"{e(VECTOR)}.shape[0]",
            lambda: "G_int",
            lambda: "len(HISTORY)",
            lambda: f"STATS[{self.key('n')}]",
            lambda: "box.step",
            lambda: f"abs({e(INT)})",
            lambda: f"{e(WHOLE)}.numpy().item()",
            lambda: f"(z := {e(INT)}) + z",
            lambda: f"sum(1 for z in {e(self.pick(TENSORS, NUMBERS))} if z > {e(INT)})",
            lambda: f"divmod({e(INT)}, {self.pick('2', '3')})[{self.pick(0, 1)}]",
            lambda: f"{e(TEXT)}.count('a')",
            lambda: f"{e(INT)} ** {self.pick('2', '3')}",
            lambda: f"round({e(FLOAT)})",
            lambda: "int(STEPS)",
            lambda: f"len(set({e(NUMBERS)}))",
            lambda: f"int(np.argmax({e(VECTOR)}.numpy()))",
            lambda: f"sorted({e(NUMBERS)}, key=lambda z: -z)[0]",
        ]
        return [*forms, lambda: "self.step", lambda: "self.step"] if self.scope.is_method else forms

    def _float(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"({e(FLOAT)} {self.pick('+', '-', '*')} {e(self.pick(FLOAT, INT))})",
            lambda: f"({e(INT)} / {self.pick('2', '4.0', e(INT))})",
            lambda: f"float({e(self.pick(SCALAR, INT, WHOLE))})",
            lambda: f"round({e(FLOAT)}, 2)",
            lambda: f"{e(SCALAR)}.numpy().item()",
            lambda: f"pow({e(FLOAT)}, 2)",
            lambda: "G_float",
            lambda: 'STATS["best"]',
            lambda: "box.rate",
            lambda: f"math.{self.pick('sqrt(abs', 'exp(-abs', 'floor(abs')}({e(FLOAT)}))",
            lambda: f"{self.pick('max', 'min')}({e(FLOAT)}, {e(FLOAT)})",
        ]

    def _bool(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"({e(INT)} {self.pick('>', '<', '==', '!=')} {e(INT)})",
            lambda: f"({e(INT)} % 2 == {self.pick(0, 1)})",
            lambda: f"({e(FLOAT)} {self.pick('>', '<=')} {self.number()})",
            lambda: f"({e(BOOL)} {self.pick('and', 'or')} {e(BOOL)})",
            lambda: f"(not {e(self.pick(BOOL, TENSORS, NUMBERS))})",
            lambda: f"bool({e(self.pick(TRUTH, INT))})",
            lambda: f"({self.key()} {self.pick('in', 'not in')} {e(TABLE)})",
            lambda: f"({e(INT)} in {e(NUMBERS)})",
            lambda: f"{self.pick('any', 'all')}(z > {e(INT)} for z in {e(self.pick(NUMBERS, TENSORS))})",
            lambda: f"(G_text == {self.literal(TEXT)})",
            lambda: "G_flag",
            lambda: f"isinstance({e(self.pick(SCALAR, INT, FLOAT))}, {self.pick('int', 'float', 'tf.Tensor')})",
            lambda: f"(box.last is {self.pick('None', 'not None')})",
        ]

    def _text(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f'f"{{{self.quoted(e(SCALAR))}:.3f}}"',
            lambda: f'f"{{{self.quoted(e(self.pick(INT, FLOAT, SCALAR)))}}} {{{self.quoted(e(INT))}!r:>3}}"',
            lambda: f"str({e(self.pick(INT, FLOAT, BOOL, SCALAR))})",
            lambda: f"({e(TEXT)}[:4] + {e(TEXT)}[:4])",
            lambda: f"{e(TEXT)}.upper()",
            lambda: "G_text[:5]",
            lambda: f"'{{}}:{{:.2f}}'.format({e(INT)}, {e(FLOAT)})",
            lambda: f"('%d %.2f' % ({e(INT)}, {e(FLOAT)}))",
        ]

    def _tensors(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"[{e(SCALAR)}, {e(SCALAR)}]",
            lambda: f"({e(TENSORS)} + [{e(SCALAR)}])",
            lambda: f"[z * {e(SCALAR)} for z in {e(self.pick(VECTOR, TENSORS))}]",
            lambda: f"[z for z in {e(TENSORS)} if {self.pick('z > 0', e(BOOL))}]",
            lambda: f"list({e(TABLE)}.values())",
            lambda: f"tf.unstack({e(VECTOR)}[:3])",
            lambda: f"{e(TENSORS)}[{self.pick('1:', ':2', '::-1')}]",
        ]

    def _numbers(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f"[{e(INT)}, {e(INT)}]",
            lambda: f"list(range({self.pick(2, 3)}))",
            lambda: f"[z + {e(INT)} for z in {e(NUMBERS)} if {self.pick('z > 0', 'z % 2', e(BOOL))}]",
            lambda: f"sorted({e(NUMBERS)})",
            lambda: "COUNTS[-2:]",
            lambda: f"({e(NUMBERS)} + {e(NUMBERS)})[:3]",
        ]

    def _table(self, e: Callable[[str], str]) -> list[Callable[[], str]]:
        return [
            lambda: f'{{"a": {e(SCALAR)}, "b": {e(SCALAR)}}}',
            lambda: f"{{**{e(TABLE)}, {e(TEXT)}: {e(SCALAR)}}}",
            lambda: f"{{z: {e(SCALAR)} for z in ({self.key()}, {self.key()})}}",
            lambda: f"dict(x={e(SCALAR)}, **TABLE)",
            lambda: f"{{z: y + {e(SCALAR)} for z, y in {e(TABLE)}.items()}}",
            lambda: "dict(TABLE)",
        ]
