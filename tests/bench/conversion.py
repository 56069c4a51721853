"""How fast a module is converted, against what gast alone takes to parse it and turn it back.

Two speeds: of a conversion at import, which makes the eager forms, and with all graph forms made, as by `build`; a
program is between the two, since it has the forms made that its graphs need.

Run as `python -m tests.bench.conversion`. The subjects are modules of the standard library, in which functions get
forms, and the examples and modules of Keras and TensorFlow, in which loops get regions besides.
"""

from __future__ import annotations

import ast
import importlib.util
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gast

from autoimport.convert.module import convert_module

LIBRARY = ("argparse", "ast", "dataclasses", "difflib", "fractions", "functools", "inspect", "pathlib", "random")
EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = {
    "keras": ("layers/attention/multi_head_attention", "layers/rnn/rnn", "layers/layer", "optimizers/base_optimizer"),
    "tensorflow": ("python/ops/image_ops_impl", "python/ops/clip_ops", "python/keras/engine/training"),
}


def round_trip(source: bytes, path: str) -> Any:
    """What any converter on gast has to do: to gast and back."""
    return gast.gast_to_ast(gast.parse(source, path))


def seconds(convert: Callable[[bytes, str], Any], sources: dict[str, bytes]) -> float:
    """The time to convert all sources, the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        for path, source in sources.items():
            convert(source, path)
        times.append(time.process_time() - start)
    return min(times)


def with_tensorflow() -> Iterator[Path]:
    """Our examples, and files of installed libraries, found without an import of them."""
    yield from sorted(EXAMPLES.glob("*.py"))
    for package, names in MODELS.items():
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or () if spec is not None else ():
            roots = (Path(folder), Path(folder) / "src")
            yield from (root / f"{name}.py" for root in roots for name in names)


def measure(title: str, files: list[Path]) -> None:
    """Print the speed of both on some files."""
    sources = {str(file): file.read_bytes() for file in files if file.exists()}
    lines = sum(source.count(b"\n") for source in sources.values())
    print(f"Conversion of {len(sources)} {title}, {lines} lines")
    gast_alone = seconds(round_trip, sources)
    print(f"gast parse and back   {lines / gast_alone:9,.0f} lines/s")
    for what, convert in (
        ("at import", convert_module),
        ("with all graph forms", partial(convert_module, with_forms=True)),
    ):
        ours = seconds(convert, sources)
        print(f"{what:20}  {lines / ours:9,.0f} lines/s, {ours / gast_alone:.2f} times the work of gast alone")
    print()


def main() -> None:
    folder = Path(ast.__file__).parent
    measure("modules of the standard library", [folder / f"{name}.py" for name in LIBRARY])
    measure("programs and modules with TensorFlow", list(with_tensorflow()))


if __name__ == "__main__":
    main()
