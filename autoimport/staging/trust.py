"""Whose code a trace may call: tables of libraries, and of what in them has effects that no trace can hold.

In: a callable that is not the person's converted code. Out: why it may not be called in a trace, or None.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
from typing import Any

from autoimport.staging import declared

# Packages whose functions only compute (their exceptions follow). A name covers its submodules.
PURE = frozenset(
    {
        "tensorflow", "keras", "tf_keras", "math", "cmath", "operator", "functools", "collections", "typing", "enum",
        "numbers", "fractions", "decimal", "string", "dataclasses", "abc", "types", "copy", "numpy", "ml_dtypes",
        "opt_einsum", "tree", "optree", "wrapt", "autoimport",
    }
)  # fmt: skip

# Beginnings of `module.qualname` within them that act on the world or on hidden state.
EFFECTS: dict[str, str] = {
    "numpy.random": "draws from numpy's random numbers",
    "numpy.save": "writes a file",
    "numpy.load": "reads a file",
    "numpy.fromfile": "reads a file",
    "numpy.put": "changes an array in place",
    "numpy.copyto": "changes an array in place",
    "numpy.fill_diagonal": "changes an array in place",
    "numpy.nanm": "may warn",
    "numpy.nanstd": "may warn",
    "numpy.nanvar": "may warn",
    "numpy.nanarg": "may warn",
    "numpy.nanquantile": "may warn",
    "numpy.nanpercentile": "may warn",
    "numpy.corrcoef": "may warn",
    "numpy.cov": "may warn",
    "numpy.polyfit": "may warn",
    "numpy.trapz": "warns",
    "numpy.in1d": "warns",
    "numpy.row_stack": "warns",
    "numpy.set_printoptions": "changes a global setting",
    "numpy.seterr": "changes a global setting",
    "tensorflow.python.framework.random_seed.": "reads or sets a seed",
    "tensorflow.python.framework.config.": "changes a global setting",
    "tensorflow.python.framework.ops.get_current_name_scope": "reads the name scope",
    "tensorflow.python.ops.script_ops.": "runs Python code at run time",
    "tensorflow.python.ops.summary_ops_v2.": "writes summaries",
    "tensorflow.python.ops.io_ops.": "reads or writes files",
    "tensorflow.python.ops.gen_io_ops.": "reads or writes files",
    "tensorflow.python.lib.io.": "reads or writes files",
    "tensorflow.python.saved_model.": "reads or writes files",
    "tensorflow.python.checkpoint.": "reads or writes files",
    "tensorflow.python.training.": "reads or writes files",
    "tensorflow.python.profiler.": "starts or stops the profiler",
    "tensorflow.python.data.": "makes or advances a dataset",
    "tensorflow.python.distribute.": "uses a distribution strategy",
    "tensorflow.python.platform.tf_logging.": "writes a log",
    "tensorflow.python.eager.context.": "changes a global setting",
    "keras.src.utils.": "has effects of its own",
    "autoimport.": "belongs to autoimport",
    "keras.src.saving.": "reads or writes files",
    "keras.src.callbacks.": "has effects of its own",
    "keras.src.legacy.backend.random_": "draws from numpy's random numbers",
    "keras.src.legacy.backend.truncated_normal": "draws from numpy's random numbers",
    "keras.src.legacy.backend.dropout": "draws from numpy's random numbers",
    "keras.src.backend.common.global_state.": "changes a global setting",
    "keras.src.backend.config.set_": "changes a global setting",
    "keras.src.trainers.": "trains or evaluates a model",
    "keras.src.backend.tensorflow.trainer.": "trains or evaluates a model",
}

# Exceptions to the exceptions: pure after all.
PURE_AFTER_ALL = (
    "tensorflow.python.training.moving_averages.",
    "tensorflow.python.ops.io_ops.serialize_tensor",
    "tensorflow.python.data.ops.iterator_ops.",
    "keras.src.utils.numerical_utils.",
    "autoimport.api.set_element_type",
    "autoimport.api.stack",
    "keras.src.trainers.trainer.Trainer.compute_",
)

# Methods of library objects that do more than compute, wherever they are defined.
EFFECTFUL_METHODS = frozenset(
    {
        "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch", "compile", "save",
        "save_weights", "load_weights", "summary", "export", "build", "build_from_config", "add_weight", "add_variable",
        "add_loss", "set_weights", "set_vocabulary", "adapt", "write", "flush", "restore", "reset_from_seed",
        "reset_from_key_counter",
    }
)  # fmt: skip

# Classes of the libraries that may be made in a trace. TensorArray.write returns a new array in a graph.
PURE_METHODS_DESPITE_NAME = frozenset({"tensorflow.python.ops.tensor_array_ops.TensorArray.write"})

# Bases whose instances own variables or state: making one in a trace is no graph.
STATEFUL_BASES = frozenset(
    {
        "tensorflow.python.module.module.Module",
        "tensorflow.python.ops.variables.Variable",
        "tensorflow.python.ops.resource_variable_ops.BaseResourceVariable",
        "tensorflow.python.ops.lookup_ops.LookupInterface",
        "tensorflow.python.checkpoint.checkpoint.Checkpoint",
        "keras.src.layers.layer.Layer",
        "keras.src.optimizers.base_optimizer.BaseOptimizer",
        "keras.src.metrics.metric.Metric",
        "keras.src.backend.common.variables.Variable",
        "keras.src.random.seed_generator.SeedGenerator",
        "keras.src.initializers.random_initializers.RandomInitializer",
    }
)

# Methods of builtin types change nothing but their own object; the operators know those that change it.
BUILTIN_TYPES: tuple[type, ...] = (
    str, bytes, int, float, bool, complex, tuple, list, dict, set, frozenset, range, slice, type(None),
    type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip

# Builtin functions without an operator of their own that only compute.
PURE_BUILTINS = frozenset(
    {
        "callable", "chr", "ord", "hash", "id", "issubclass", "hex", "oct", "bin", "ascii", "repr", "slice", "object",
        "complex", "bytes", "frozenset", "property", "staticmethod", "classmethod", "round", "divmod", "pow",
        "isinstance", "len", "type", "getattr", "hasattr", "super", "str", "format", "int", "float", "bool", "list",
        "tuple", "dict", "set", "range", "enumerate", "zip", "map", "filter", "reversed", "sorted", "sum", "min",
        "max", "any", "all", "abs", "iter",
    }
)  # fmt: skip


def _is_exception(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, BaseException)


# Constructors that change nothing but the new object.
_PLAIN_MAKERS = frozenset({object, *(cls for cls in vars(builtins).values() if _is_exception(cls))})
_LRU_CACHE = type(functools.lru_cache(lambda: None))


def root(module: str | None) -> str:
    """The top package of a module name."""
    return (module or "").partition(".")[0]


def is_library(module: str | None) -> bool:
    """Whether a module belongs to the libraries that only compute."""
    return root(module) in PURE


def is_library_type(cls: type) -> bool:
    """Whether a class, or one of its bases, comes from a library with state of its own (TensorFlow, Keras)."""
    return any(root(base.__module__) in ("tensorflow", "keras", "tf_keras") for base in cls.__mro__)


def owns_state(cls: type) -> bool:
    """Whether instances of a class own variables or other state that outlives a call."""
    return any(f"{base.__module__}.{base.__qualname__}" in STATEFUL_BASES for base in cls.__mro__)


def full_name(fn: Any) -> str:
    """`module.qualname` of a function, as far as it has them."""
    return f"{getattr(fn, '__module__', None) or ''}.{getattr(fn, '__qualname__', getattr(fn, '__name__', ''))}"


def declared_kind(fn: Any) -> str | None:
    """What the person has declared of a function or method."""
    fn = getattr(fn, "__func__", fn)
    code = getattr(fn, "__code__", None)
    name = str(getattr(fn, "__qualname__", ""))
    return declared.kind_of(getattr(fn, "__module__", None), name, getattr(code, "co_filename", None))


def objection(fn: Any) -> str | None:
    """Why a trace may not call `fn`, a callable that is not the person's; None where it only computes."""
    if isinstance(fn, types.FunctionType):
        # A wrapper goes by the module that its code is in, whatever name it has taken over.
        if not is_library(fn.__globals__.get("__name__")):
            return f"calls {fn.__qualname__}, whose effects are unknown"
        fn = inspect.unwrap(fn)
    if type(fn) is _LRU_CACHE:
        return f"calls {fn.__qualname__}, which keeps results between calls"
    owner = getattr(fn, "__self__", None)
    if isinstance(fn, (types.BuiltinFunctionType, types.MethodWrapperType, types.MethodDescriptorType)):
        if owner is not None and not isinstance(owner, types.ModuleType):
            holder = owner if isinstance(owner, type) else type(owner)
            if fn.__name__ == "__init__" and getattr(fn, "__objclass__", None) in _PLAIN_MAKERS:
                return None
            if holder in BUILTIN_TYPES or is_library(holder.__module__):
                return None if root(holder.__module__) != "numpy" else _numpy_method(fn)
        if getattr(fn, "__module__", None) == "builtins" or (owner is None and fn.__qualname__.partition(".")[0] in (
            "str", "int", "float", "tuple", "list", "dict", "object", "type",
        )):  # fmt: skip
            return None if fn.__name__ in PURE_BUILTINS or "." in fn.__qualname__ else f"calls {fn.__name__}()"
    name = full_name(fn)
    if not is_library(getattr(fn, "__module__", None)):
        return f"calls {getattr(fn, '__qualname__', fn)!s}, whose effects are unknown"
    if fn.__name__ in EFFECTFUL_METHODS and name not in PURE_METHODS_DESPITE_NAME and "." in fn.__qualname__:
        return f"calls {fn.__qualname__}, which changes state outside the graph"
    if name.startswith(PURE_AFTER_ALL):
        return None
    for beginning, what in EFFECTS.items():
        if name.startswith(beginning):
            return f"calls {fn.__qualname__}, which {what}"
    return None


def _numpy_method(fn: Any) -> str | None:
    owner = fn.__self__
    module = type(owner).__module__
    return f"calls {fn.__name__}() of numpy's random numbers" if module.startswith("numpy.random") else None
