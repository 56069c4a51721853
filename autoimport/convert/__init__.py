"""Source text -> code object, graph forms and facts; imports no TensorFlow.

The package bears the name of the public function `autoimport.convert`, and importing it puts it in the function's
place: so it can be called as that function.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Package(type(sys)):  # type: ignore[misc]
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # By name, as in the package's own `__getattr__`: nothing here depends on the public face.
        return __import__("autoimport.api", fromlist=["convert"]).convert(*args, **kwargs)


sys.modules[__name__].__class__ = _Package
