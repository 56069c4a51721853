"""An object in a text, or the file of a `print` -> what stands for it until a launch is over, or None.

In: what the operators of text do not know themselves. Out: its text, by the person's own converted `__str__` or
`__repr__`, or the value that staging builds again after each launch.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.operators.text import Text, Verbatim, verbatim
from autoimport.staging.arrays import Array
from autoimport.staging.guarding import class_attribute
from autoimport.staging.ours import gated, harmless
from autoimport.staging.reading import Reader
from autoimport.staging.values import Shape

Call = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def show(x: Any, how: Callable[[Any], str] | None, call: Call) -> Any:
    """See `Observer.show`; `call` makes a call in the trace."""
    if type(x) is Array:
        return x
    if type(x) is Shape:
        return Text(_shape, (tf.convert_to_tensor(x, tf.int64),))
    cls: Any = type(x)
    if how is None or class_attribute(cls, "__format__")[0] is not object.__dict__["__format__"]:
        return None
    if isinstance(x, np.dtype) or (isinstance(x, type) and _is_plain_class(cls)):
        return Verbatim(how(x))
    method, _ = class_attribute(cls, "__str__" if how is str and cls.__str__ is not object.__str__ else "__repr__")
    if not isinstance(method, types.FunctionType) or not harmless(method.__code__):
        return None
    return verbatim(call(types.MethodType(method, x), (), {}))


def _is_plain_class(meta: Any) -> bool:
    return meta.__repr__ is type.__repr__ and meta.__str__ is object.__str__


def _shape(sizes: Any) -> tf.TensorShape:
    return tf.TensorShape(sizes.numpy().tolist())


def stream(file: Any, reader: Reader) -> Any:
    """See `Observer.stream`: standard output or error, as it is at each launch.

    Raises:
      Unstageable: another file, which the program might read before the launch is over.
    """
    if file is None:
        file = reader.attribute(sys, "stdout")
    if file is None:
        return None  # Python without a console prints nothing
    if not (file is sys.stdout or file is sys.stderr) or reader.source_of(file) is None:
        raise Unstageable("prints to a file")
    write, _ = class_attribute(type(file), "write")
    if isinstance(write, types.FunctionType) and gated(write.__code__):
        raise Unstageable("prints to an object of the program's, whose write() may change anything")
    return file
