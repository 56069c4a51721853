"""Statements of every kind, over what is known at their place."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from tests.fuzz.expressions import (
    BOOL,
    FLOAT,
    INT,
    LOCALS,
    NUMBERS,
    SCALAR,
    TABLE,
    TENSORS,
    TEXT,
    VECTOR,
    WHOLE,
    Expressions,
)  # fmt: skip


def indent(block: str) -> str:
    """A block, one level deeper."""
    return textwrap.indent(block, "    ")


def _lines(parts: list[str]) -> str:
    return "\n".join(parts)


class Statements(Expressions):
    """Writes statements, and remembers which names they give a value."""

    def block(self, depth: int, most: int = 3) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.random.randint(1, most)))

    def statement(self, depth: int) -> str:
        simple: dict[Callable[..., str], float] = {
            self._assignment: 7, self._augmented: 3, self._effect: 4, self._print: 1.5, self._variable: 1,
            self._check: 0.7, self._unpacking: 0.5, self._append: 1, self._delete: 0.1, self._global: 1.2,
        }  # fmt: skip
        compound: dict[Callable[..., str], float] = {
            self._if: 5, self._while: 1.5, self._for: 3, self._try: 0.8, self._gradient: 0.7, self._match: 0.5,
            self._nested: 0.5, self._array: 0.5, self._generator: 0.4, self._failing_loop: 0.5, self._with: 0.3,
            self._dataset: 0.3,
        }  # fmt: skip
        if self.chance(0.08) and (self.scope.in_loop or self.scope.in_function) and depth < 2:
            return self._jump()
        if depth > 0 and self.chance(0.4):
            return self.weighted(compound)(depth - 1)
        return self.weighted(simple)()

    def target(self, kind: str) -> str:
        """A name to assign a value of a kind to: a new one, one of that kind, now and then one of another kind."""
        known = [name for name in self.known(kind) if name not in self.scope.counters]
        if known and self.chance(0.6):
            return str(self.pick(*known))
        others = [name for name in self.scope.names if name[0] in "tiwf" and name not in self.scope.counters]
        if kind in (SCALAR, WHOLE, INT, FLOAT) and others and self.chance(0.06):
            return str(self.pick(*others))
        return self.fresh(kind)

    def _assignment(self) -> str:
        kind = self.pick(*LOCALS)
        value = self.expression(kind)
        name = self.target(kind)
        if kind == SCALAR and self.chance(0.05):
            value = self.pick("None", "0", "0.0", "1")
        self.scope.names[name] = kind
        return f"{name} = {value}"

    def _augmented(self) -> str:
        kinds = [
            (name, kind) for name, kind in self.scope.names.items() if kind in (SCALAR, VECTOR, WHOLE, INT, FLOAT, TEXT)
        ]
        kinds = [(name, kind) for name, kind in kinds if name not in self.scope.counters]
        if not kinds:
            return self._assignment()
        name, kind = self.pick(*kinds)
        operator = "+" if kind == TEXT else self.pick("+", "+", "-", "*")
        value = self.expression(kind, 1)
        return f"{name} {operator}= {f'{value}[:2]' if kind == TEXT else value}"

    def _effect(self) -> str:
        owner = "self" if self.scope.is_method and self.chance(0.8) else "box"
        return str(
            self.pick(
                lambda: f"{owner}.step {self.pick('+', '+', '-')}= {self.pick('1', self.expression(INT, 1))}",
                lambda: f"{owner}.step = ({self.expression(INT)}) % 11",
                lambda: f"{owner}.rate = {self.expression(FLOAT)}",
                lambda: f"{owner}.rate *= 0.5",
                lambda: f"{owner}.last = [{self.expression(SCALAR)}, {self.expression(INT)}]",
                lambda: f"{owner}.table.pop({self.key()}, None)",
                lambda: f"{owner}.log.clear()",
                lambda: f"TABLE.update({self.expression(TABLE)})",
                lambda: f"HISTORY.extend({self.expression(TENSORS)})",
                lambda: f"{owner}.tensor = {self.expression(SCALAR)}",
                lambda: f"{owner}.tensor += {self.expression(SCALAR, 1)}",
                lambda: f"{owner}.log.append({self.expression(self.pick(SCALAR, INT, FLOAT))})",
                lambda: f"{owner}.last = {self.expression(self.pick(SCALAR, VECTOR, INT, TEXT, BOOL, WHOLE))}",
                lambda: f"HISTORY.append({self.expression(SCALAR)})",
                lambda: f"COUNTS.append({self.expression(INT)} % 9)",
                lambda: f"TABLE[{self.key()}] = {self.expression(SCALAR)}",
                lambda: f"STATS['n'] {self.pick('+=', '=')} {self.pick('1', self.expression(INT, 1))}",
                lambda: f'STATS["best"] = {self.expression(FLOAT)}',
                lambda: f"{owner}.table[{self.key()}] = {self.expression(SCALAR)}",
            )()
        )

    def _global(self) -> str:
        if self.scope.in_function and self.scope.cells and self.chance(0.6):
            name, kind = self.pick(*self.scope.cells.items())
            return f"{name} = {self.expression(kind)}"
        return str(
            self.pick(
                lambda: f"G_int {self.pick('+=', '=')} {self.expression(INT, 1)}",
                lambda: "G_int += 1",
                lambda: f"G_float = {self.expression(FLOAT)}",
                lambda: f"G_tensor = {self.expression(SCALAR)}",
                lambda: f"G_text = {self.expression(TEXT)}",
                lambda: f"G_flag = {self.expression(BOOL)}",
            )()
        )

    def _variable(self) -> str:
        return str(
            self.pick(
                lambda: f"WEIGHT.assign({self.expression(SCALAR)})",
                lambda: f"WEIGHT.assign_{self.pick('add', 'sub')}({self.expression(SCALAR)})",
                lambda: f"STEPS.assign_add({self.pick('1', self.expression(WHOLE))})",
                lambda: f"SLOTS[{self.pick('0', '1', self.expression(INT, 1))}].assign({self.expression(SCALAR)})",
                lambda: f"for slot in SLOTS:\n    slot.assign_add({self.expression(SCALAR, 1)})",
                lambda: (
                    f"{self.pick('self' if self.scope.is_method else 'box', 'box')}.weight.assign({self.expression(SCALAR)})"
                ),
            )()
        )

    def _print(self) -> str:
        kinds = [self.pick(SCALAR, INT, FLOAT, TEXT, VECTOR, BOOL, WHOLE) for _ in range(self.pick(1, 2))]
        ending = self.pick("", "", "", ', sep="-"', ', end=";\\n"')
        return f"print({', '.join([repr(self.pick('p', 'step')), *map(self.expression, kinds)])}{ending})"

    def _check(self) -> str:
        condition = self.condition()
        message = self.pick("", f", {self.expression(TEXT)}", f", {self.expression(SCALAR)}")
        error = self.pick("ValueError", "Problem", "KeyError", "IndexError", "ZeroDivisionError")
        return str(
            self.pick(
                f"assert {condition} or {self.expression(INT, 0)} < 2{message}",
                f"if {condition} and {self.condition(1)}:\n    raise {error}({self.expression(TEXT, 1)})",
            )
        )

    def _unpacking(self) -> str:
        first, second = self.fresh(SCALAR), self.fresh(INT)
        text = f"{first}, {second} = {self.expression(SCALAR)}, {self.expression(INT)}"
        self.scope.names.update({first: SCALAR, second: INT})
        swappable = self.known(SCALAR)
        if len(swappable) > 1 and self.chance(0.5):
            x, y = self.random.sample(swappable, 2)
            return f"{text}\n{x}, {y} = {y}, {x}"
        return text

    def _append(self) -> str:
        kind, item = self.pick((TENSORS, SCALAR), (NUMBERS, INT))
        known = self.known(kind)
        if not known:
            name = self.fresh(kind)
            self.scope.names[name] = kind
            return f"{name} = {self.expression(kind, 1)}"
        name = self.pick(*known)
        return str(
            self.pick(
                f"{name}.append({self.expression(item)})",
                f"{name}.append({self.expression(item)})",
                f"{name} += [{self.expression(item)}]",
                f"if {name}:\n    {name}.pop()",
                f"if len({name}) > 1:\n    {name}[{self.pick(0, -1)}] = {self.expression(item)}",
                f"{name}.insert(0, {self.expression(item)})",
                f"{name}.extend({self.expression(kind)})",
            )
        )

    def _delete(self) -> str:
        names = [name for name in self.scope.names if name not in self.scope.counters and name not in ("x", "n")]
        if not names:
            return "pass"
        name = self.pick(*names)
        del self.scope.names[name]
        return f"del {name}"

    def _jump(self) -> str:
        jumps = [f"return {self.expression(self.scope.returns)}"] if self.scope.in_function else []
        jumps += ["break", "continue", "continue"] if self.scope.in_loop else []
        return f"if {self.condition()}:\n    {self.pick(*jumps)}"

    def _if(self, depth: int) -> str:
        text = f"if {self.condition()}:\n{self.indented(depth)}"
        if self.chance(0.3):
            text += f"\nelif {self.condition()}:\n{self.indented(depth)}"
        if self.chance(0.6):
            kind = self.pick(*LOCALS)
            name = self.target(kind)
            head = text.partition(":\n")
            if self.chance(0.5) and "elif" not in text:  # defined on both ways
                text = f"{head[0]}:\n    {name} = {self.expression(kind)}\n{head[2]}"
                text += f"\nelse:\n    {name} = {self.expression(kind)}\n{self.indented(depth)}"
                self.scope.names[name] = kind
            else:
                text += f"\nelse:\n{self.indented(depth)}"
        return text

    def indented(self, depth: int, **changes: Any) -> str:
        with self.inside(**changes):
            return indent(self.block(depth))

    def _while(self, depth: int) -> str:
        kind = self.pick(INT, WHOLE, WHOLE)
        counter = self.fresh("k")
        start, limit = self.pick(("0", "3"), ("0", str(self.pick(1, 2, 4))))
        self.scope.names[counter] = kind
        self.scope.counters.add(counter)
        more = f" and {self.condition(1)}" if self.chance(0.3) else ""
        if kind == WHOLE:
            start = f"tf.constant({start})"
        limited = self.pick(limit, limit, f"min({limit}, {self.expression(INT, 1)})")
        body = self.indented(depth, in_loop=True)
        text = f"{counter} = {start}\nwhile {counter} < {limited}{more}:\n    {counter} += 1\n{body}"
        return text + (f"\nelse:\n{self.indented(depth)}" if self.chance(0.1) else "")

    def _for(self, depth: int) -> str:
        kind, over = self.pick(
            (WHOLE, "tf.range(3)"),
            (WHOLE, f"tf.range({self.expression(WHOLE, 1)} % 4)"),
            (INT, "range(3)"),
            (INT, f"range(min(3, {self.expression(INT, 1)}))"),
            (SCALAR, f"{self.expression(VECTOR, 1)}[:4]"),
            (SCALAR, f"{self.expression(TENSORS, 1)}[:4]"),
            (INT, f"{self.expression(NUMBERS, 1)}[:4]"),
            ((INT, SCALAR), f"enumerate({self.expression(VECTOR, 1)}[:3])"),
            (
                (SCALAR, SCALAR),
                f"zip({self.expression(VECTOR, 1)}[:3], {self.expression(self.pick(VECTOR, TENSORS), 1)}[:3])",
            ),
            ((TEXT, SCALAR), f"{self.expression(TABLE, 1)}.items()"),
        )
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = [self.fresh(each) for each in kinds]
        with self.inside(in_loop=True) as scope:
            scope.names.update(zip(names, kinds, strict=True))
            body = indent(self.block(depth))
        text = f"for {', '.join(names)} in {over}:\n{body}"
        return text + (f"\nelse:\n{self.indented(depth)}" if self.chance(0.1) else "")

    def _try(self, depth: int) -> str:
        caught = self.pick(
            "ValueError", "Problem", "(KeyError, IndexError)", "ZeroDivisionError", "Exception",
            "tf.errors.InvalidArgumentError",
        )  # fmt: skip
        named = self.pick("", " as error")
        handler = self.indented(depth)
        if named and self.chance(0.5):
            handler = f"    print('caught', error)\n{handler}"
        text = f"try:\n{self.indented(depth)}\nexcept {caught}{named}:\n{handler}"
        return text + (f"\nfinally:\n{indent(self._effect())}" if self.chance(0.2) else "")

    def _gradient(self, depth: int) -> str:
        """A tape over a value that may not depend on what is asked for, or only on one way."""
        x, y, g = self.fresh(SCALAR), self.fresh(SCALAR), self.fresh(SCALAR)
        before = f"{x} = {self.expression(SCALAR)}"
        self.scope.names[x] = SCALAR
        over = self.pick(x, "WEIGHT", "SLOTS[0]", f"[{x}, WEIGHT]", "SLOTS")
        first = self.pick(f"{x} * WEIGHT + {self.expression(SCALAR)}", self.expression(SCALAR), f"{x} * SLOTS[0]")
        body = [f"tape.watch({x})", f"{y} = {first}"]
        self.scope.names[y] = SCALAR
        if self.chance(0.5):
            with self.inside(in_function=False, in_loop=False):
                body.append(self.statement(depth + 1))
        if self.chance(0.4):
            other = self.pick(f"{y} * {x}", f"{y} * WEIGHT", self.expression(SCALAR))
            body.append(f"if {self.condition()}:\n    {y} = {other}")
        if self.chance(0.2):
            body.append(
                f"for _ in {self.pick('tf.range(2)', 'range(2)')}:\n    {y} = {y} * {self.pick(x, 'WEIGHT', '0.5')}"
            )
        zero = self.pick("", "", ", unconnected_gradients='zero'")
        asked = f"tape.gradient({y}, {over}{zero})"
        text = f"{before}\nwith tf.GradientTape() as tape:\n{indent(_lines(body))}\n{g} = {asked}"
        if over.startswith(("[", "SLOTS")) and over != "SLOTS[0]":
            text += f"\n{g} = {self.pick(f'{g}[0]', f'{g}[1]')}"
        if self.chance(0.4):
            text += f"\nprint({self.pick(repr('none'), repr('g'))}, {g} is None)"
        self.scope.names[g] = SCALAR
        change = f"WEIGHT.assign_sub(0.1 * {g})"
        checked = self.pick(change, f"if {g} is not None:\n    {change}")
        return text + (f"\n{checked}" if self.chance(0.4) else f"\n{g} = 0.0 if {g} is None else {g}")

    def _array(self, depth: int) -> str:
        """A TensorArray that a loop fills."""
        name, result, index = self.fresh("ta"), self.fresh(VECTOR), self.fresh(INT)
        size, over = self.pick(
            ("0, dynamic_size=True", "tf.range(3)"), ("3", "tf.range(3)"), ("3", "range(3)"), ("2", "tf.range(3)")
        )
        with self.inside(in_loop=True, in_function=False) as scope:
            scope.names[index] = WHOLE if over.startswith("tf") else INT
            body = self.block(depth) if self.chance(0.5) else "pass"
            write = f"{name} = {name}.write({index}, {self.expression(SCALAR)})"
        read = self.pick(f"{name}.stack()", f"{name}.stack()", f"tf.stack([{name}.read({self.pick('0', '1', '3')})])")
        text = f"{name} = tf.TensorArray(tf.float32, {size}{self.pick('', ', clear_after_read=False')})\nfor {index} in {over}:\n"
        self.scope.names[result] = VECTOR
        return f"{text}{indent(body)}\n    {write}\n{result} = {read}"

    def _generator(self, depth: int) -> str:
        """A generator in the function, whose items a loop takes."""
        name, item, given = self.fresh("gen"), self.fresh(SCALAR), self.fresh(VECTOR)
        with self.inside(in_loop=False, in_function=False, cells={}) as scope:
            scope.names = {n: k for n, k in scope.names.items() if n[0] in "tvif"}
            scope.counters = scope.counters | set(scope.names)
            scope.names[given] = VECTOR
            inner = self.fresh(SCALAR)
            scope.names[inner] = SCALAR
            made = [f"yield {self.expression(SCALAR)}"]
            if self.chance(0.3):
                made.insert(0, self._effect())
            made = [f"for {inner} in {self.pick(f'{given}[:3]', f'list({given})[:2]')}:\n{indent(_lines(made))}"]
            if self.chance(0.3):
                made.append(f"yield {self.expression(SCALAR)}")
        head = f"def {name}({given}):\n{indent(self.declared(_lines(made)))}\n{indent(_lines(made))}"
        vector = self.expression(VECTOR)
        with self.inside(in_loop=True) as scope:
            scope.names[item] = SCALAR
            body = self.block(depth)
        return f"{head}\nfor {item} in {name}({vector}):\n{indent(body)}"

    def _failing_loop(self, depth: int) -> str:
        """A loop that changes variables and lists, and fails on the way, perhaps in a `try`."""
        name = self.fresh(WHOLE)
        over = self.pick("tf.range(4)", "range(4)", "tf.constant([0, 2, 5, 1])")
        with self.inside(in_loop=True) as scope:
            scope.names[name] = WHOLE if over.startswith("tf") else INT
            fails = self.pick(
                f"tf.debugging.assert_less({name}, {self.pick('3', self.expression(WHOLE, 1))})",
                f"WEIGHT.assign_add({self.expression(VECTOR, 1)}[{name}])",
                f"WEIGHT.assign(tf.gather({self.expression(VECTOR, 1)}, {name}))",
                f"STEPS.assign_add(6 // ({name} - 2))",
                f"tf.debugging.check_numerics({self.expression(SCALAR, 1)} / (2.0 - tf.cast({name}, tf.float32)), 'odd')",
            )
            body = [self._variable(), self.pick(self._effect, self._print, self._variable)(), fails]
            self.random.shuffle(body)
            if self.chance(0.3):
                body.append(self.statement(depth))
        loop = f"for {name} in {over}:\n{indent(_lines(body))}"
        if self.chance(0.5):
            return loop
        return f"try:\n{indent(loop)}\nexcept tf.errors.InvalidArgumentError:\n{indent(self._print())}"

    def _with(self, depth: int) -> str:
        entered = self.pick("tf.name_scope('part')", "tf.device('/CPU:0')", "tf.GradientTape() as _")
        return f"with {entered}:\n{indent(self.block(depth))}"

    def _dataset(self, depth: int) -> str:
        """A loop over a dataset."""
        name = self.fresh(SCALAR)
        data = f"tf.data.Dataset.from_tensor_slices({self.expression(VECTOR, 1)})"
        more = self.pick("", ".batch(2).unbatch()", ".map(lambda z: z * 2.0)", ".take(2)")
        with self.inside(in_loop=True) as scope:
            scope.names[name] = SCALAR
            body = self.block(depth)
        return f"for {name} in {data}{more}:\n{indent(body)}"

    def _match(self, depth: int) -> str:
        subject, cases = self.pick(
            (self.expression(INT), ["0", "1 | 2", "int(z) if z > 3"]),
            (self.expression(TEXT), ['"a"', '"b" | "xyz"']),
            (f"({self.expression(INT)} % 2, {self.expression(SCALAR)})", ["(0, z)", "(1, z) if z > 0"]),
            (self.expression(NUMBERS), ["[]", "[z]", "[z, *_]"]),
            (self.expression(TABLE), ['{"a": z, **rest}', '{"x": z}', "{}"]),
            (
                f"Point({self.expression(SCALAR)}, {self.expression(INT)})",
                ["Point(x=z, n=0)", "Point(z, 1 | 2)", "(z, _)"],
            ),
        )
        arms = [f"    case {case}:\n{indent(self.indented(depth))}" for case in cases]
        arms.append(f"    case _:\n{indent(self.indented(depth))}")
        return "\n".join([f"match {subject}:", *arms[self.pick(0, 0, 1) :]])

    def _nested(self, depth: int) -> str:
        """A function in the function, which reads and perhaps changes variables of the outer one; called at once."""
        name, given = self.fresh("inner"), self.fresh(SCALAR)
        shared = [n for n in self.scope.names if n[0] in "tif" and n not in self.scope.counters and n != "n"]
        changed = self.pick(*shared) if shared and self.scope.in_function and self.chance(0.5) else None
        with self.inside(in_loop=False, in_function=True, returns=SCALAR, cells={}) as scope:
            outer = [n for n in scope.names if n[0] in "tvif"]
            scope.names = {n: scope.names[n] for n in outer}
            scope.counters = scope.counters | set(outer)
            scope.names[given] = SCALAR
            body = (
                [f"nonlocal {changed}\n{changed} = {self.expression(self.scope.names[changed], 1)}"] if changed else []
            )
            body += [self.block(min(depth, 1)) if self.chance(0.4) else "", f"return {self.expression(SCALAR)}"]
        body = [part for part in body if part]
        head = f"def {name}({given}):\n" + indent("\n".join([self.declared("\n".join(body)), *body]))
        result = self.fresh(SCALAR)
        arguments = self.expression(SCALAR)
        self.scope.names[result] = SCALAR
        return f"{head}\n{result} = {name}({arguments})"

    @staticmethod
    def declared(body: str) -> str:
        """The `global` statement for the globals that a body assigns."""
        words = [line.split() for line in body.splitlines()]
        assigned = sorted({w[0] for w in words if len(w) > 1 and w[0].startswith("G_") and w[1].endswith("=")})
        return f"global {', '.join(assigned)}" if assigned else "pass"
