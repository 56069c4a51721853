"""Where a value of a trace came from, and the generated function that reads all of it again before a launch.

In: sources (an argument, a global, a cell, an attribute or item of another source) with what a trace found there.
Out: one Python function `check(g, c, a)` over the namespace, the cells and the arguments of a call, which returns the
flat inputs of the graph, or the number of the first guard that failed.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from autoimport.staging import handlers

Check = Callable[[dict[str, Any], tuple[Any, ...], tuple[Any, ...]], "list[Any] | int"]

# In the place of a guard's number: the graph does not check what a tape outside would need checked.
NO_TAPE = -2
_OTHERWISE = "    except Exception as error:\n        if raised(error): raise\n"


@dataclass
class Changing:
    """What has been another from call to call, by the text of its source.

    Attributes:
      shapes: tensors -> for each dimension whether it changes.
      numbers: Python numbers that do.
    """

    shapes: dict[str, tuple[bool, ...]] = field(default_factory=dict)
    numbers: set[str] = field(default_factory=set)

    def note_shape(self, text: str, then: tuple[int | None, ...], now: tuple[int, ...]) -> None:
        """A tensor had the shape `then`, with None for what is known to change, and has the shape `now`."""
        if len(now) != len(then) or now == then:
            return
        before = self.shapes.get(text, ())
        if len(before) != len(then):  # it has been of another rank
            before = (False,) * len(then)
        differs = (a is None or a != b for a, b in zip(then, now, strict=True))
        self.shapes[text] = tuple(a or b for a, b in zip(before, differs, strict=True))


@dataclass(frozen=True, eq=False)
class Source:
    """A place outside the trace.

    Attributes:
      template: Python for its value, with `{parent}` for its parent's.
      text: the place in the person's words: `self.rate`, `x`, `settings['gain']`.
    """

    template: str
    text: str
    parent: Source | None = None
    children: dict[str, Source] = field(default_factory=dict, repr=False)

    def child(self, template: str, text: str) -> Source:
        """The one source for this place below."""
        found = self.children.get(template)
        if found is None:
            found = self.children[template] = Source(template, text, self)
        return found

    def attribute(self, name: str) -> Source:
        """`source.name`."""
        if name.isidentifier():
            return self.child("{parent}." + name, f"{self.text}.{name}")
        return self.child(f"getattr({{parent}}, {name!r})", f"{self.text}.{name}")


class GuardBuilder:
    """Collects reads and guards in the order of the trace and compiles them.

    Attributes:
      within: the name of what makes a context for the whole check function, if it needs one.
    """

    def __init__(self) -> None:
        self.within = ""
        self.constants: dict[str, Any] = {}
        self.texts: list[str] = []
        self.pinned_objects: list[weakref.ref[Any]] = []
        self._lines: list[str] = []
        self._reads: list[str] = []
        self._locals: dict[Source, str] = {}
        self._guards: set[str] = set()
        self._constant_names: dict[int, str] = {}
        self._told_apart: dict[Any, list[Source]] = {}
        self._names: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}

    def constant(self, value: Any) -> str:
        """The name by which generated code knows `value`."""
        name = self._constant_names.get(id(value))
        if name is None:
            name = self._constant_names[id(value)] = f"k{len(self.constants)}"
            self.constants[name] = value
        return name

    def pinned(self, obj: Any, text: str) -> Source:
        """A source for an object that is known only by itself, held weakly where it can be."""
        try:
            ref = weakref.ref(obj)
        except TypeError:
            return Source(self.constant(obj), text)
        if not isinstance(obj, type):
            self.pinned_objects.append(ref)
        return Source(self.constant(ref) + "()", text)

    def value(self, source: Source) -> str:
        """The local variable that holds a source's value."""
        name = self._locals.get(source)
        if name is None:
            parent = self.value(source.parent) if source.parent is not None else ""
            name = self._locals[source] = f"v{len(self._locals)}"
            read = f"{name} = {source.template.format(parent=parent)}"
            self._lines.append(read)
            self._reads.append(read)
        return name

    def require(self, source: Source, condition: str, meaning: str) -> None:
        """Guard: `condition`, Python with `{v}` for the source's value; `meaning` tells the person."""
        self.require_that(condition.replace("{v}", self.value(source)), f"{source.text} {meaning}")

    def require_that(self, test: str, text: str) -> None:
        """Guard: an expression over names of the check function."""
        if test in self._guards:
            return
        self._guards.add(test)
        self._lines.append(f"if not ({test}): return {len(self.texts)}")
        self.texts.append(text)

    def tell_apart(self, kind: Any, source: Source) -> None:
        """Guard that what is at `source` is another object than what is at the other sources of this kind."""
        self._told_apart.setdefault(kind, []).append(source)

    def require_name(self, space: dict[str, Any], name: str, text: str) -> None:
        """Guard that a module of a library, or the builtins, still holds what it holds under `name`."""
        if name in space:
            _, held = self._names.setdefault(id(space), (space, {}))
            held[name] = space[name]

    def _require_names(self) -> None:
        """One guard a module, in 20 ns a name."""
        for space, held in self._names.values():
            names, values = list(held), [*held.values()]
            get = operator.itemgetter(*names, names[0])  # of one name it would give no tuple
            expected = (*values, values[0])
            test = f"{self.constant(get)}({self.constant(space)}) == {self.constant(expected)}"
            self.require_that(test, f"one of {', '.join(names)} in {space.get('__name__')} was not replaced")
        self._names.clear()

    def _require_apart(self) -> None:
        for sources in self._told_apart.values():
            first, *others = [self.value(source) for source in sources]
            text = f"{sources[0].text} and {sources[-1].text} were two objects"
            if len(others) == 1:
                self.require_that(f"{first} is not {others[0]}", text)
            elif others:
                identities = ", ".join(f"id({name})" for name in (first, *others))
                self.require_that(f"len({{{identities}}}) == {len(sources)}", text)
        self._told_apart.clear()

    def compute(self, expression: str) -> str:
        """A local variable for an expression over values and constants."""
        name = f"v{len(self._locals)}_{len(self._lines)}"
        self._lines.append(f"{name} = {expression}")
        return name

    def compile(self, inputs: list[str]) -> Check:
        """The check function; its list holds the values of `inputs` in order."""
        self._require_apart()
        self._require_names()
        body = "\n            ".join([*self._lines, f"return [{', '.join(inputs)}]"])
        context = f"with {self.within}()" if self.within else "if True"
        text = f"def check(g, c, a):\n    try:\n        {context}:\n            {body}\n"
        text += _OTHERWISE + "        return -1\n"
        space = {**self.constants, "raised": handlers.has_raised}
        exec(compile(text, "<autoimport guard>", "exec"), space)
        return space["check"]  # type: ignore[no-any-return]

    def reader(self, sources: dict[str, Source]) -> Callable[..., dict[str, Any]]:
        """A function like the check that only reads the values of `sources`, by text, as far as they are still there.

        It is compiled when it is first called: not for most graphs.
        """

        @functools.cache
        def compiled() -> Callable[..., dict[str, Any]]:
            texts = {f"{self.value(source)} = ": text for text, source in sources.items()}
            lines = ["def read(g, c, a):", "    found = {}"]
            for read in self._reads:
                text = texts.get(read[: read.index("= ") + 2])
                lines += ["    try:", f"        {'' if text is None else f'found[{text!r}] = '}{read}"]
                lines += [_OTHERWISE.rstrip()]
            text = "\n".join([*lines, "    return found"])
            space = {**self.constants, "raised": handlers.has_raised}
            exec(compile(text, "<autoimport guard>", "exec"), space)
            return space["read"]  # type: ignore[no-any-return]

        return lambda *call: compiled()(*call)

    def text(self, failed: int) -> str:
        """What the failed guard had asked for."""
        if failed == NO_TAPE:
            return "there was no gradient tape around it"
        return (
            self.texts[failed] if 0 <= failed < len(self.texts) else "something that the graph read is no longer there"
        )
