"""Python text with lines of any length -> the same program in lines of at most 88 columns, where brackets allow it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 88
_OPEN, _CLOSE = "([{", ")]}"


def wrapped(text: str) -> str:
    """Break what is too long, one bracket at a time: the last on the line first, then its items if they need it.

    >>> print(wrapped("x = f(" + "a" * 50 + ", g(" + "b" * 50 + "))"))
    x = f(
        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
        g(bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb),
    )
    """
    in_string = inside_strings(text)
    lines = enumerate(text.split("\n"))
    return "\n".join(part for i, line in lines for part in ([line] if i in in_string else _broken(line)))


def inside_strings(text: str) -> set[int]:
    """Indexes of the lines that a string with line breaks covers."""
    return {
        index
        for token in _tokens(text)
        if token.type == tokenize.STRING
        for index in range(token.start[0] - 1, token.end[0] if token.start[0] != token.end[0] else 0)
    }


def _broken(line: str) -> list[str]:
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        return [line]
    bracket = _last_bracket(line)
    if bracket is None:
        return [line]
    outer = " " * (len(line) - len(line.lstrip()))
    content = line[bracket.start + 1 : bracket.end]
    if len(outer) + 4 + len(content) <= WIDTH or not bracket.commas:
        inner = _broken(f"{outer}    {content}")
    elif bracket.is_comprehension:
        cuts = [bracket.start + 1, *bracket.commas, bracket.end]
        inner = [part for a, b in pairwise(cuts) for part in _broken(f"{outer}    {line[a:b].strip()}")]
    else:
        cuts = [bracket.start, *bracket.commas, bracket.end]
        items = [line[a + 1 : b].strip() for a, b in pairwise(cuts)]
        inner = [part for item in items if item for part in _broken(f"{outer}    {item},")]
    return [line[: bracket.start + 1], *inner, outer + line[bracket.end :]]


@dataclass
class _Bracket:
    """Columns of a pair of brackets and of the commas directly in it; of the clauses, if it is a comprehension."""

    start: int
    end: int
    commas: list[int]
    is_comprehension: bool


def _last_bracket(line: str) -> _Bracket | None:
    """The last pair of brackets, with something in it, that is in no other."""
    found: _Bracket | None = None
    start, depth, commas, in_lambda, clauses = 0, 0, list[int](), False, list[int]()
    for token in _tokens(line.strip()):
        column = token.start[1] + len(line) - len(line.lstrip())
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
            if depth == 1:
                start, commas, clauses = column, [], []
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
            if depth == 0 and column > start + 1:
                found = _Bracket(start, column, clauses or commas, bool(clauses))
        elif depth == 1 and token.string == "lambda":
            in_lambda = True
        elif depth == 1 and token.string == ":":
            in_lambda = False
        elif depth == 1 and (token.string == "for" or (clauses and token.string == "if")):
            clauses.append(column)
        elif depth == 1 and token.string == "," and not in_lambda:
            commas.append(column)
    return found


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text that may be a part of a statement; an f-string counts as one, as before Python 3.12."""
    start_type = getattr(tokenize, "FSTRING_START", None)
    end_type = getattr(tokenize, "FSTRING_END", None)
    opened: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == start_type:
                opened.append(token)
            elif token.type == end_type:
                first = opened.pop()
                if not opened:
                    yield token._replace(type=tokenize.STRING, start=first.start)
            elif not opened:
                yield token
    except (tokenize.TokenError, IndentationError):
        return  # the end of a part that is not a whole statement
