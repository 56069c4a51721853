"""What conversion knows about a module: one record a function or region, and the converted module itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autoimport.convert.making import Forms

# How a region is left: see region_jumps.
FELL_THROUGH, CONTINUES, BREAKS, RETURNS = range(4)
# The first parameter of a region of many iterations: over which part of a range it loops; see strips.
PART = "@part"


@dataclass(frozen=True)
class FunctionFacts:
    """One site of a module: a function, in source order, or a region, behind the functions.

    Its position in the list is its site index.

    Attributes:
      name: the qualified name, as `__qualname__` gives it (`A.f`, `make.<locals>.g`, `<lambda>`); of a region that of
        the function around it, or `<module>`.
      line, end_line: first (`def` or `lambda`, not decorator) and last line, 1-based.
      parameters: names in gate order: posonly, positional, *args, keyword-only, **kwargs; of a region the locals that
        it reads.
      has_form: whether there is a gate and a graph form.
      reason, reason_line: why it has none (a coroutine, `locals()` on line 7, ...), or why it is no graph of its own;
        else None.
      has_loop: the body contains a `while` or `for` statement that may be a loop of a graph.
      long_loops: first and last lines of its loops that go on for an unknown time in Python.
      kind: "function", "region", or "generator", which is a graph only as a part of its callers'.
      results: of a region the locals that are read after it, in the order in which its form returns them (behind what
        `region_jumps` says, where jumps lead out of it).
      end: of a region the line and the expression or names in front of which it had to stop, if it had to.
    """

    name: str
    line: int
    end_line: int
    parameters: tuple[str, ...]
    has_form: bool
    reason: str | None = None
    reason_line: int | None = None
    has_loop: bool = False
    long_loops: tuple[tuple[int, int], ...] = ()
    kind: str = "function"
    results: tuple[str, ...] = ()
    end: tuple[int, str] | None = None

    @property
    def title(self) -> str:
        """What people know it by: `train`, or of a region `train, lines 7-9`."""
        if self.kind != "region":
            return self.name
        lines = f"line {self.line}" if self.line == self.end_line else f"lines {self.line}-{self.end_line}"
        return lines if self.name == "<module>" else f"{self.name}, {lines}"

    @property
    def can_launch(self) -> bool:
        """Whether it may become a graph of its own."""
        return self.has_form and self.kind != "generator"

    @property
    def is_strip(self) -> bool:
        """Whether it is the region of many iterations of a loop."""
        return self.parameters[:1] == (PART,)


@dataclass(frozen=True)
class Converted:
    """A converted module.

    Attributes:
      key: hex content key; the gate table is `builtins["@on:" + key]`.
      code: the module's code object, eager forms with gates (CPython's own code where nothing was gated).
      forms: the graph form of each site in `functions` order, None where `has_form` is false; made on first use.
      functions: facts in site order.
      faults: what has failed in the converter, if anything: such a module runs, but is not worth keeping. What fails
        when a form is made is added.
    """

    key: str
    code: CodeType
    forms: Forms
    functions: tuple[FunctionFacts, ...]
    faults: list[Exception] = field(default_factory=list)
