"""Two code objects -> how they differ, a gate in front of the first one's body apart."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Iterator
from types import CodeType
from typing import Any

COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals", "co_firstlineno")
NAMES = ("co_name", "co_varnames", "co_cellvars", "co_freevars", "co_filename", "co_flags")
PROLOGUE = {"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "EXTENDED_ARG", "GEN_START", "RETURN_GENERATOR"}


def is_gated(code: CodeType) -> bool:
    return any(name.startswith("@on:") for name in code.co_names)


def differences(ours: CodeType, theirs: CodeType) -> Iterator[str]:
    """What is not the same in `ours` and CPython's `theirs`, nested code included, one line each."""
    where = f"{theirs.co_filename}:{theirs.co_firstlineno}: {theirs.co_name}: "
    for attribute in (*COUNTS, *NAMES, "co_qualname"):
        if getattr(ours, attribute, None) != getattr(theirs, attribute, None):
            yield f"{where}{attribute}: {getattr(ours, attribute)} != {getattr(theirs, attribute)}"
    yield from (where + text for text in (_gated if is_gated(ours) else _ungated)(ours, theirs))
    for one, other in zip(_nested(ours), _nested(theirs), strict=True):
        yield from differences(one, other)


def _nested(code: CodeType) -> list[CodeType]:
    """Nested code in the order of its first lines, without what only carries the cells of a gate."""
    found = [const for const in code.co_consts if isinstance(const, CodeType)]
    return [const for const in found if const is not _carrier(code, found)]


def _carrier(code: CodeType, nested: list[CodeType]) -> CodeType | None:
    if not is_gated(code) or not code.co_freevars:
        return None
    return next(const for const in nested if const.co_name == "<lambda>" and const.co_freevars == code.co_freevars)


def _ungated(ours: CodeType, theirs: CodeType) -> Iterator[str]:
    for attribute in ("co_code", "co_names", "co_stacksize", "co_exceptiontable"):
        if getattr(ours, attribute, None) != getattr(theirs, attribute, None):
            yield attribute
    if _positions(ours) != _positions(theirs):
        yield "positions"
    if [_constant(const) for const in ours.co_consts] != [_constant(const) for const in theirs.co_consts]:
        yield "constants"


def _gated(ours: CodeType, theirs: CodeType) -> Iterator[str]:
    if _constant(ours.co_consts[0]) != _constant(theirs.co_consts[0]) and isinstance(theirs.co_consts[0], str):
        yield "docstring"
    mine, yours = _behind_gate(ours), _behind_gate(theirs)
    if len(mine) != len(yours):
        yield f"{len(mine)} instructions and handlers instead of {len(yours)}"
    for one, other in zip(mine, yours, strict=False):
        if one != other:
            yield f"{one} instead of {other}"


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return "code", value.co_name
    if isinstance(value, tuple):
        return tuple(_constant(item) for item in value)
    return type(value), sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _positions(code: CodeType) -> list[Any]:
    return list(code.co_positions() if hasattr(code, "co_positions") else code.co_lines())


def _behind_gate(code: CodeType) -> list[tuple[Any, ...]]:
    """The instructions and exception handlers of the body, as they are whatever stands in front."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in PROLOGUE]
    if is_gated(code):
        body = next(step.argval for step in steps if step.opname.startswith("POP_JUMP"))
        steps = _without_throw([step for step in steps if step.offset >= body], body)
    elif any(step.opname == "RETURN_GENERATOR" for step in dis.get_instructions(code)):
        del steps[0]  # POP_TOP
    placed = [(step.offset, step) for step in steps]
    if code.co_name == "<lambda>":
        placed = list(_with_copied_ends(steps))
    index = _index([offset for offset, _ in placed], len(code.co_code))
    lines = {offset: line for start, end, line in code.co_lines() for offset in range(start, end, 2)}
    rows: list[tuple[Any, ...]] = []
    for _, step in placed:
        is_jump = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
        argument = index[step.argval] if is_jump else _constant(step.argval)
        position = getattr(step, "positions", None) or (lines.get(step.offset),)
        # Without a position of its own, the first instruction gets that of the prologue, if no gate is in between.
        own = None if position in ((None,) * 4, (code.co_firstlineno, code.co_firstlineno, 0, 0)) else position
        rows.append((step.opname, argument, own))
    return rows + (_handlers(code, index, steps[0].offset) if getattr(code, "co_exceptiontable", b"") else [])


def _handlers(code: CodeType, index: dict[int, int], first: int) -> list[tuple[Any, ...]]:
    """The exception handlers from the instruction at `first` on; those that a gate has cut in two in one piece."""
    rows: list[tuple[Any, ...]] = []
    for entry in dis.Bytecode(code).exception_entries:
        if entry.end <= first or entry.target not in index:
            continue
        start, end = index[max(entry.start, first)], index[entry.end]
        handler = (index[entry.target], entry.depth, entry.lasti)
        if rows and rows[-1][1] == start and rows[-1][2:] == handler:
            start = rows.pop()[0]
        if start < end:
            rows.append((start, end, *handler))
    return rows


def _without_throw(steps: list[dis.Instruction], body: int) -> list[dis.Instruction]:
    """Without what the `yield from` of a generator's gate does with an exception, which stands at the end."""
    back = [
        number
        for number, (one, other) in enumerate(itertools.pairwise(steps))
        if one.opname == "CLEANUP_THROW" and isinstance(other.argval, int) and other.argval < body
    ]
    return [step for number, step in enumerate(steps) if not {number, number - 1} & set(back)]


# How many instructions CPython copies at most; see `flowgraph.c`.
_SHORT = 4


def _with_copied_ends(steps: list[dis.Instruction]) -> Iterator[tuple[int, dis.Instruction]]:
    """The instructions and their offsets, with a short end of the code in the place of each jump to it.

    CPython copies such ends. That of a lambda with a gate is a block of its own, since both arms of the gate lead there:
    so `lambda x: (a if x else b, c)` has a jump to `c`, and not a copy of the rest, with a gate only.
    """
    for step in steps:
        start = next((n for n, other in enumerate(steps) if other.offset == step.argval), len(steps))
        names = [other.opname for other in steps[start : start + _SHORT]]
        if step.opname == "JUMP_FORWARD" and "RETURN_VALUE" in names:
            end = start + names.index("RETURN_VALUE") + 1
            yield from ((step.offset, other) for other in steps[start:end])
        else:
            yield step.offset, step


def _index(offsets: list[int], size: int) -> dict[int, int]:
    """Offset -> number of the instruction at or after it, given those of all instructions."""
    index, number = {}, 0
    for offset in range(offsets[0] - 8, size + 2, 2):
        while number < len(offsets) and offsets[number] < offset:
            number += 1
        index[offset] = number
    return index
