"""`%load_ext autoimport` -> cells, and what they import of the notebook's own directory tree, are converted.

A cell's tree gets its gates between IPython's parser and its compiler; names, sources and tracebacks stay IPython's.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from typing import Any

from autoimport import config, hook
from autoimport.convert.key import content_key

USAGE = "%autoimport report | on | off"


class CellConverter:
    """An IPython tree transformer; it is told of each cell before that is compiled."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.is_on = True
        self.cell = ""

    def before_cell(self, info: Any) -> None:
        """Remember the text that is about to be compiled."""
        self.cell = self.shell.transform_cell(info.raw_cell)

    def visit(self, tree: ast.Module) -> ast.Module:
        """The cell's tree with gates; as it is where it is none of ours, or a fault of ours is in the way."""
        if not self.is_on or config.is_off(os.environ):
            return tree
        try:
            if ast.dump(tree) != ast.dump(ast.parse(self.cell)):
                return tree  # not the cell, or changed by another transformer
            return self._converted(tree)
        except SyntaxError:
            return tree  # `await` outside of functions is IPython's own
        except Exception as error:
            if config.current().strict:
                raise
            hook.complain("this cell runs as plain Python: it could not be converted", error)
            return tree

    def _converted(self, tree: ast.Module) -> ast.Module:
        from autoimport.convert.module import convert_module
        from autoimport.convert.parse import quietly
        from autoimport.staging.registry import register_module

        started = time.perf_counter()
        compiler = self.shell.compile
        path = compiler.get_code_name(self.cell, self.cell, self.shell.execution_count)
        gated: list[ast.Module] = []
        key = content_key(f"{path}\n{self.cell}")
        with quietly():
            converted = convert_module(self.cell, path, key=key, strict=config.current().strict, rewrite=gated.append)
        if not any(facts.has_form for facts in converted.functions):
            return tree
        register_module(
            key, "__main__", path, converted.functions, lambda: converted.forms,
            cached=False, convert_ms=(time.perf_counter() - started) * 1e3,
        )  # fmt: skip
        return gated[0]


def load_ipython_extension(shell: Any) -> None:
    """Begin; called by `%load_ext autoimport`."""
    if any(isinstance(transformer, CellConverter) for transformer in shell.ast_transformers):
        return
    # Not the directory of `__main__`: that is the kernel's.
    root = os.getcwd()
    options = config.load(root)
    config.use(options)
    if not config.is_off(os.environ):
        hook.start(hook.select(options, root))
    converter = CellConverter(shell)
    shell.ast_transformers.append(converter)
    shell.events.register("pre_run_cell", converter.before_cell)

    def autoimport(line: str) -> None:
        """report: what became a graph, and why the rest did not; on, off: convert cells, or not."""
        if line.strip() == "report":
            from autoimport.insight import report

            report.print_table(sys.stdout)
        elif line.strip() in ("on", "off"):
            converter.is_on = line.strip() == "on"
        else:
            print(USAGE)

    shell.register_magic_function(autoimport, "line", "autoimport")


def unload_ipython_extension(shell: Any) -> None:
    """End; called by `%unload_ext autoimport`. What has been converted stays so."""
    for converter in [each for each in shell.ast_transformers if isinstance(each, CellConverter)]:
        shell.ast_transformers.remove(converter)
        shell.events.unregister("pre_run_cell", converter.before_cell)
    hook.uninstall()
