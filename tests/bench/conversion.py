"""How fast a module is converted, against what gast alone takes to parse it and turn it back.

Run as `python -m tests.bench.conversion`. The subjects are modules of the standard library.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gast

from autoimport.convert.module import convert_module

NAMES = ("argparse", "ast", "dataclasses", "difflib", "fractions", "functools", "heapq", "inspect", "pathlib", "random")


def round_trip(source: bytes, path: str) -> None:
    """What any converter on gast has to do: to gast, back, and to a code object."""
    tree: Any = gast.gast_to_ast(gast.parse(source))
    compile(tree, path, "exec", dont_inherit=True)


def seconds(convert: Callable[[bytes, str], Any], sources: dict[str, bytes]) -> float:
    """The time to convert all sources, the best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for path, source in sources.items():
            convert(source, path)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    folder = Path(ast.__file__).parent
    files = [folder / f"{name}.py" for name in NAMES]
    sources = {str(file): file.read_bytes() for file in files if file.exists()}
    lines = sum(source.count(b"\n") for source in sources.values())
    ours, gast_alone = seconds(convert_module, sources), seconds(round_trip, sources)
    print(f"Conversion of {len(sources)} modules of the standard library, {lines} lines")
    print(f"ours {lines / ours:,.0f} lines/s; gast parse, back and compile {lines / gast_alone:,.0f} lines/s; ", end="")
    print(f"{ours / gast_alone:.1f} times the work\n")


if __name__ == "__main__":
    main()
