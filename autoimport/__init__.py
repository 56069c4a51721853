"""The public face: names of the package, each resolved on first use, so that importing it costs next to nothing.

PYTEST_DONT_REWRITE: where autoimport runs pytest, pytest would warn that it can no more rewrite its plugin autoimport.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which would cost more than the rest of this module
if TYPE_CHECKING:
    from typing import Any

    from autoimport.api import (
        convert,
        do_not_convert,
        effectful,
        explain,
        pure,
        set_element_type,
        stack,
        to_code,
        to_graph,
    )
    from autoimport.hook import install, uninstall

__version__ = "0.1.0"

__all__ = [
    "convert",
    "do_not_convert",
    "effectful",
    "explain",
    "install",
    "pure",
    "set_element_type",
    "stack",
    "to_code",
    "to_graph",
    "uninstall",
]

_HOME = {name: "autoimport.hook" if name in ("install", "uninstall") else "autoimport.api" for name in __all__}
# What pytest and IPython look for in an extension.
_HOME["pytest_plugins"] = "autoimport.integrations"
_HOME["load_ipython_extension"] = _HOME["unload_ipython_extension"] = "autoimport.integrations.ipython"


def __getattr__(name: str) -> Any:
    """Import the module that a public name comes from, on first use."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not importlib.import_module: importlib is no more loaded than the person's program loads it.
    value = getattr(__import__(home, fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, resolved or not."""
    return sorted({*globals(), *__all__})
