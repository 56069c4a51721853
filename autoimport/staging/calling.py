"""A call in a trace -> made, or the trace given up before it happens.

In: a callable that has no operator of its own, and its arguments. Out: its result. Converted code runs through its own
gate; library code runs if it only computes, on arguments from which everything old has been read; nothing else runs.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import calls, numpy_values, observer
from autoimport.operators.arithmetic import whole
from autoimport.operators.errors import MakesVariables, Unstageable
from autoimport.operators.numbers import Number
from autoimport.operators.tensor_arrays import changed
from autoimport.operators.text import Text
from autoimport.staging import (
    array_reads,
    declared,
    gradients,
    handed,
    sizes,
    special_methods,
    tf_internals,
    trust,
    whole_lists,
)
from autoimport.staging.arrays import (
    Array,
    Method,
    as_tensors,
    compute,
    involves_host,
    is_known,
    is_numpy_function,
    require_no_warning,
    vector,
)
from autoimport.staging.guarding import CONTAINERS, SCALARS, class_attribute
from autoimport.staging.host import PURE, Host
from autoimport.staging.ours import converted, gated, harmless
from autoimport.staging.reading import Reader
from autoimport.staging.sources import Source
from autoimport.staging.values import Shape, is_numpy

# Modules whose functions make a tensor of a number, of the dtype of what it meets.
_TAKE_TENSORS = ("tensorflow.", "keras.src.ops.", "keras.src.backend.common.variables")
# These take structures apart: a list of numbers is no tensor to them.
_TAKE_STRUCTURES = "tensorflow.python.util.nest"
# These ask for no more than the type of their argument, which is guarded where the argument was read.
_ABOUT_TYPE = frozenset({isinstance, issubclass, callable})


def _is_pure_host(fn: Any) -> bool:
    try:
        return fn in PURE
    except TypeError:
        return False


def _converts_array(fn: Any, args: tuple[Any, ...]) -> bool:
    return len(args) == 1 and type(args[0]) is Array and any(fn is kind for kind in (int, float, bool, abs))


def _is_known_tensor(value: Any) -> bool:
    """Whether TensorFlow makes a tensor of numbers and arrays which Python knows before each launch."""
    return involves_host(value) and all(type(leaf) in {Host, Array, int, float} for leaf in tf.nest.flatten(value))


def _is_known_number(value: Any) -> bool:
    return type(value) in {Host, int, float} or (type(value) is Array and isinstance(value.value, np.generic))


def _keeps_container(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a new instance of a class of Python's library shares containers with the program: it would get copies."""
    if trust.root(cls.__module__) not in sys.stdlib_module_names or cls.__module__ == "builtins":
        return False
    containers = [arg for arg in args if isinstance(arg, CONTAINERS)]
    items = [item for arg in containers for item in (arg.values() if isinstance(arg, dict) else arg)]
    items += [part for item in items if isinstance(item, tuple) for part in item]  # a mapping may be given as pairs
    kept = args if cls in {types.SimpleNamespace, collections.ChainMap} else ()
    return any(isinstance(value, (list, dict, set)) for value in (*kept, *items, *kwargs.values()))


def _all_known(args: tuple[Any, ...]) -> bool:
    return all(type(arg) is Host or type(arg) in SCALARS for arg in args)


# Methods of containers that compare what is in them, as far down as it goes; all others hand out or look at the items.
_COMPARE = frozenset({"count", "index", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_METHODS = (types.BuiltinMethodType, types.MethodType, types.MethodWrapperType)
# Methods of a tape that give None where no gradient flows.
_GRADIENTS = frozenset({"gradient", "jacobian", "batch_jacobian"})


class Caller:
    """Judges and makes the calls of one trace."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.array_reads = array_reads.Reads()
        self._tapes: dict[int, gradients.Opened] = {}

    def opened(self, tape: Any) -> gradients.Opened:
        """What to enter in the place of a tape."""
        self._tapes[id(tape)] = opened = gradients.Opened(tape)
        return opened

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of `fn(*args, **kwargs)`; raises Unstageable where its effects are unknown."""
        kind = trust.declared_kind(fn)
        if kind == declared.EFFECTFUL:
            raise Unstageable(f"calls {fn.__qualname__}, which is declared effectful")
        if kind == declared.PURE:
            return self._pure(fn, args, kwargs)
        if args and type(args[0]) is list:
            found = whole_lists.call(self._reader, fn, args, kwargs)
            if found is not None:
                return found[0]
        if is_numpy_function(fn) and fn in numpy_values.FUNCTIONS:
            args = tuple(map(self._by_numpy, args))
            kwargs = {name: self._by_numpy(arg) for name, arg in kwargs.items()}
        if fn is tf.constant or fn is tf.convert_to_tensor or is_numpy_function(fn):
            args = tuple(map(self._seen, args))
        if args and (fn is tf.constant or fn is tf.convert_to_tensor) and _is_known_tensor(args[0]):
            return self._to_tensor(*args, **kwargs)
        if not kwargs and any(type(arg) is Host for arg in args) and _is_pure_host(fn) and _all_known(args):
            return self._reader.hosts.call(fn, args)
        if numpy_values.involved((*args, *kwargs.values())) and is_numpy_function(fn):
            if fn not in numpy_values.FUNCTIONS:
                raise Unstageable(f"calls {fn.__name__} with a numpy value that only the graph knows")
            return numpy_values.Later.of(fn, args, kwargs)
        if involves_host((*args, *kwargs.values())) and (is_numpy_function(fn) or _converts_array(fn, args)):
            return compute(self._reader.hosts, fn, args, kwargs)
        if type(fn) is Method:
            return fn(*args, **kwargs)
        if isinstance(fn, types.MethodType):
            return self._method(fn, args, kwargs)
        if isinstance(fn, functools.partial):
            read = self._reader.attribute
            inner = read(fn, "func")
            stored = [self._reader.item(fn.args, i) for i in range(len(self._remembered(fn, "args")))]
            keywords = {key: self._reader.item(fn.keywords, key) for key in self._remembered(fn, "keywords")}
            return calls.call(inner, *stored, *args, **{**keywords, **kwargs})
        if isinstance(fn, types.FunctionType):
            if harmless(fn.__code__):
                self._guard_defaults(fn)
                if not converted(fn.__code__):
                    args = tuple(self._seen(arg) for arg in args)
                    kwargs = {name: self._seen(arg) for name, arg in kwargs.items()}
                return fn(*args, **kwargs)
            return self._library(fn, args, kwargs)
        if isinstance(fn, type):
            return self._make(fn, args, kwargs)
        if isinstance(fn, (tf_internals.PolymorphicFunction, tf_internals.ConcreteFunction)):
            # The person's own tf.function keeps its own rules, and the traces that eager makes of it.
            if any(not t.shape.is_fully_defined() for t in tf.nest.flatten((args, kwargs)) if isinstance(t, tf.Tensor)):
                raise Unstageable("calls a tf.function with a tensor of unknown shape")
            ours = observer.observe(None)
            try:  # with the very numbers that it gets from eager code, which it tells apart
                return fn(*self.export(args, False), **self.export(dict(kwargs), False))
            finally:
                observer.observe(ours)
        if isinstance(fn, (types.BuiltinFunctionType, types.MethodWrapperType)):
            return self._builtin(fn, args, kwargs)
        method, _ = class_attribute(type(fn), "__call__")
        if isinstance(method, types.FunctionType):
            if gated(_in_scope(method).__code__):
                return fn(*args, **kwargs)
            if trust.is_library(method.__module__):
                if self._reader.source_of(fn) is not None:
                    self._reader.states.note(fn)
                return self._run(fn, args, kwargs)
        return self._library(fn, args, kwargs)

    def _pure(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call of what the person has declared pure: by Python before each launch, or as a library's."""
        operands = (*args, *kwargs.values())
        ours = observer.observe(None)
        try:
            if involves_host(operands) and is_known(operands):
                with tf.init_scope():
                    return compute(self._reader.hosts, fn, args, kwargs)
            return fn(*self.export(args, False), **self.export(dict(kwargs), False))
        finally:
            observer.observe(ours)

    def _to_tensor(self, value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        """`tf.constant(value, dtype)` of what Python knows before each launch."""
        if args or kwargs.get("shape") is not None:
            raise Unstageable("makes a tensor of another shape of a number or array")
        if type(value) is Host:
            return self._reader.hosts.tensor(value, dtype)
        if type(value) in {list, tuple}:
            return vector(self._reader.hosts, value, dtype)
        return value.__tf_tensor__(dtype)

    def _seen(self, value: Any) -> Any:
        """An argument for code that is not converted, and may join or compare containers: with all its items read."""
        if type(value) is collections.deque and self._is_old(value):
            raise Unstageable("hands a deque to code that is not converted")
        return self._reader.snapshot(value) if isinstance(value, CONTAINERS) else value

    def _by_numpy(self, value: Any) -> Any:
        """An argument of a numpy function, which asks tensors for their arrays; old lists may have any length."""
        return value if isinstance(value, CONTAINERS) and self._is_old(value) else numpy_values.of_tensors(value)

    def _remembered(self, fn: Any, name: str) -> Any:
        """The container `fn.name`, with its source if `fn` has one."""
        value = getattr(fn, name)
        source = self._reader.source_of(fn)
        if source is not None:
            self._reader.remember(value, source.attribute(name))
            self._reader.items(value)
        return value

    def _guard_defaults(self, fn: types.FunctionType) -> None:
        """Defaults are bound by Python, out of sight: they must be what they were."""
        source = self._reader.source_of(fn)
        if source is None:
            return
        for name, held in (("__defaults__", fn.__defaults__), ("__kwdefaults__", fn.__kwdefaults__)):
            if not held:
                continue
            place = source.attribute(name)
            keys = list(held) if isinstance(held, dict) else range(len(held))
            for key in keys:
                value = held[key]  # type: ignore[index]
                at = place.child(f"{{parent}}[{key!r}]", f"a default of {fn.__name__}")
                if self._reader.wrap(value, at) is not value:
                    raise Unstageable(f"{fn.__qualname__} has a tensor or array as a default value")

    def _method(self, fn: types.MethodType, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        function, owner = fn.__func__, fn.__self__
        code = getattr(_in_scope(function), "__code__", None)
        if code is not None and harmless(code):
            if isinstance(function, types.FunctionType):
                self._guard_defaults(function)
            return fn(*args, **kwargs)
        if type(owner) is Shape and fn == owner.as_list:
            return owner.as_list()
        objection = trust.objection(function)
        if objection is not None:
            raise Unstageable(objection)
        if self._reader.source_of(owner) is not None:
            if isinstance(owner, CONTAINERS):  # those of TensorFlow are written in Python
                raise Unstageable(f"calls {function.__name__} of a {type(owner).__name__} made outside this function")
            if isinstance(owner, tf.GradientTape):
                raise Unstageable("uses a gradient tape that was opened outside")
            if isinstance(owner, tf.TensorArray):
                raise Unstageable("changes a TensorArray that was made outside")
            self._reader.states.note(owner)
        if isinstance(owner, tf.GradientTape) and function.__name__ in ("watch", *_GRADIENTS):
            gradients.require_tensors(*args[:2], *kwargs.values())
        if isinstance(owner, tf.TensorArray):
            forgets = self.array_reads.called(owner, function.__name__, args, kwargs)
            result = array_reads.read(owner, function.__name__, forgets, lambda: self._run(fn, args, kwargs))
            return changed(owner, result)
        if isinstance(owner, tf_internals.SymbolicTensor) and type(owner) is not tf_internals.EagerTensor:
            if function.__name__ == "get_shape":
                return self._reader.attribute(owner, "shape")
            if function.__name__ == "set_shape":
                sizes.check_shape(owner, *args, **kwargs)
        result = self._run(fn, args, kwargs)
        if isinstance(owner, tf.GradientTape) and function.__name__ in _GRADIENTS:
            given = inspect.signature(fn).bind(*args, **kwargs).arguments
            target, sources, *_ = given.values()
            trace = observer.current()
            assert trace is not None, "only a trace calls by way of this class"
            gives_zeros = given.get("unconnected_gradients") in (tf.UnconnectedGradients.ZERO, "zero")
            opened = self._tapes.get(id(owner))
            result = gradients.as_eager(trace, target, sources, result, opened, gives_zeros=gives_zeros)
        if isinstance(owner, tf.autodiff.ForwardAccumulator):
            gradients.require_straight((args, kwargs))
        return changed(owner, result)

    def _builtin(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A function or bound method that is written in C."""
        owner = fn.__self__
        if fn is len and type(args[0]) is Array:
            return len(args[0])
        if fn is len and isinstance(args[0], CONTAINERS):
            return self._reader.length(args[0])
        if fn is isinstance and type(args[0]) is Shape:
            return issubclass(tf.TensorShape, args[1])
        if fn in _ABOUT_TYPE:
            return fn(*args, **kwargs)
        if fn is id or fn is hash:
            self._reader.identify(args[0])
        if type(owner) is collections.deque and self._reader.source_of(owner) is not None:
            raise Unstageable("reads a deque that was made outside this function")
        # Methods of containers that change their object have been sorted out by the operators.
        if isinstance(owner, CONTAINERS) and fn.__name__ in _COMPARE:
            return getattr(whole(owner), fn.__name__)(*map(whole, args))
        if isinstance(owner, CONTAINERS) and self._reader.source_of(owner) is not None:
            fn = getattr(self._reader.copy(owner), fn.__name__)
            for arg in args:
                self._reader.identify(arg)
            return fn(*args, **kwargs)
        return self._library(fn, args, kwargs)

    def _require_seen(self, fn: Any, args: tuple[Any, ...]) -> None:
        """Give up if `fn`, one of Python's own, would run a special method that is not converted."""
        names = special_methods.of_function(fn)
        for arg in args:
            method = special_methods.unseen(type(arg), names) if names else None
            if method is not None:
                raise Unstageable(f"calls {type(arg).__name__}.{method}, which is not converted")

    def _of_python(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A function or type that looks at the person's objects by special methods only, if it is known which."""
        if special_methods.of_function(fn) is None:
            return self._run(fn, args, kwargs)
        return fn(*(arg if _is_persons(type(arg)) else self.export(arg, False) for arg in args), **kwargs)

    def _library(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        self._require_seen(fn, args)
        if special_methods.of_function(fn) is not None:
            return self._of_python(fn, args, kwargs)
        generic = getattr(fn, "dispatch", None)
        if isinstance(fn, types.FunctionType) and generic is not None and fn.__globals__.get("__name__") == "functools":
            return self._dispatched(fn, generic, args, kwargs)
        objection = trust.objection(fn)
        if objection is not None:
            raise Unstageable(objection)
        if trust.full_name(fn).startswith("keras.src.random.") and tf_internals.keras_seed_generator() is None:
            raise Unstageable("draws the first of Keras' random numbers")
        if args and isinstance(args[0], tf.GradientTape) and vars(tf.GradientTape).get(fn.__name__) is fn:
            return self.call(fn.__get__(args[0]), args[1:], kwargs)
        owner = getattr(fn, "__self__", None)
        if is_numpy(owner) or is_numpy_function(fn):
            require_no_warning(fn.__name__, (owner, *args) if is_numpy(owner) else args, kwargs)
        return self._run(fn, args, kwargs)

    def _dispatched(self, fn: Any, dispatch: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call of a `functools.singledispatch` function."""
        place = Source(self._reader.builder.constant(fn), fn.__name__)
        self._reader.builder.require(place, f"len({{v}}.registry) == {len(fn.registry)}", "had other implementations")
        cls = args[0].kind if isinstance(args[0], Number) else args[0].__class__
        return self.call(dispatch(cls), args, kwargs)

    def _make(self, cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """An instance of a class."""
        if trust.owns_state(cls):
            what = f"makes a {cls.__name__}, which owns variables"
            raise MakesVariables(what, "make it once, outside the function")
        if hasattr(cls, "__del__") and not trust.is_library(cls.__module__):
            raise Unstageable(f"makes a {cls.__qualname__}, whose finalizer would run for the trace's own object")
        hidden = special_methods.unseen(cls, special_methods.INFIX)
        if hidden is not None:
            raise Unstageable(f"makes a {cls.__qualname__}, whose {hidden} is not converted")
        if special_methods.is_looked_at_by_code(cls):
            raise Unstageable(f"makes a {cls.__qualname__}, whose attributes are all computed")
        maker, _ = class_attribute(cls, "__init__")
        is_generated = dataclasses.is_dataclass(cls) or hasattr(cls, "__attrs_attrs__") or hasattr(cls, "_fields")
        if issubclass(cls, BaseException) or is_generated:
            return cls(*args, **kwargs)
        if trust.is_library(cls.__module__) or cls.__module__ == "builtins":
            if cls.__module__.startswith("numpy.random"):
                raise Unstageable(f"makes a {cls.__name__}")
            if cls is functools.partial:  # holds what it is given, for a call that will be judged itself
                return functools.partial(args[0], *args[1:], **kwargs)
            if _keeps_container(cls, args, kwargs):
                raise Unstageable(f"makes a {cls.__name__} that holds a list, dict or set which others may change")
            self._require_seen(cls, args)
            made = self._of_python(cls, args, kwargs)
            if cls is tf.TensorArray:
                self.array_reads.made(made, args, kwargs)
            return made
        code = getattr(maker, "__code__", None)
        custom_new = cls.__new__ is not object.__new__ and not gated(
            getattr(cls.__new__, "__code__", _nothing.__code__)
        )
        custom_meta = type(cls) is not type and type(cls).__module__ != "abc"
        if custom_new or custom_meta or not (maker is object.__init__ or (code is not None and harmless(code))):
            raise Unstageable(f"makes a {cls.__qualname__}, whose constructor is not converted")
        return cls(*args, **kwargs)

    def _run(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        module = str(getattr(fn, "__module__", None))
        takes_tensors = module.startswith(_TAKE_TENSORS) and module != _TAKE_STRUCTURES
        exported = tuple(self.export(arg, takes_tensors) for arg in args)
        named = {key: self.export(arg, takes_tensors) for key, arg in kwargs.items()}
        exported, named = sizes.given(fn, exported, named)
        told = sizes.told(fn, exported)
        if told is not None:
            return told
        sizes.check(fn, exported, named)
        if module == _TAKE_STRUCTURES and any(
            type(leaf) is Array for leaf in tf.nest.flatten([*map(self._seen, args)])
        ):
            raise Unstageable(f"hands a numpy array to {fn.__name__}, which hands it on")
        return handed.run(fn, exported, named)

    def export(self, value: Any, takes_tensors: bool = True) -> Any:
        """An argument as library code may see it: nothing in it that the trace has not read.

        Host values stay what they are for TensorFlow, which makes tensors of them, or asks for the number.
        """
        if type(value) in SCALARS:
            return value
        if type(value) is Text:
            raise Unstageable("hands a text made of symbolic values to a library", "only print, store or return it")
        if type(value) is Host:
            return value if takes_tensors else value.settled()
        if isinstance(value, CONTAINERS):
            if self._reader.source_of(value) is not None:
                value = self._reader.snapshot(value)
            if type(value) in {tf_internals.DictWrapper, tf_internals.TupleWrapper}:
                return type(value)(self._export_items(value.__wrapped__, takes_tensors))
            return self._export_items(value, takes_tensors)
        if type(value).__module__ in ("collections", "array", "queue") and self._reader.source_of(value) is not None:
            raise Unstageable(f"hands a {type(value).__name__} to a library")
        if isinstance(value, _METHODS) and isinstance(value.__self__, CONTAINERS) and self._is_old(value.__self__):
            raise Unstageable(f"hands .{value.__name__} of a container made outside this function to a library")
        if isinstance(value, types.FunctionType) and not trust.is_library(value.__module__):
            if not harmless(value.__code__):
                raise Unstageable(f"hands {value.__qualname__}, whose effects are unknown, to a library")
            changed = None if gated(value.__code__) else handed.changed_variable(value, self._is_old)
            if changed is not None:
                raise Unstageable(f"hands {value.__qualname__}, which changes {changed}, to a library")
            self._guard_defaults(value)
        elif trust.owns_state(type(value)) and not isinstance(value, tf.Variable):
            self._reader.source_of(value)
            self._reader.states.note(value)
        elif self._reader.source_of(value) is not None and _is_persons(type(value)):
            raise Unstageable(f"hands a {type(value).__qualname__} to a library, which reads it unseen")
        return as_tensors(value)

    def _is_old(self, obj: Any) -> bool:
        return self._reader.source_of(obj) is not None

    def _export_items(self, value: Any, takes_tensors: bool) -> Any:
        if type(value) is dict:
            return {key: self.export(item, takes_tensors) for key, item in value.items()}
        if type(value) in {list, tuple}:
            if takes_tensors and involves_host(value) and all(map(_is_known_number, value)):
                return vector(self._reader.hosts, value, None)
            if takes_tensors:
                numpy_values.require_own_types(value)
            return type(value)(self.export(item, takes_tensors) for item in value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self.export(item, takes_tensors) for item in value))
        return value


def _is_persons(cls: type) -> bool:
    """Whether a class keeps what the person stored, and has no method by which a library would call it back."""
    ours = cls.__module__ == "builtins" or trust.is_library(cls.__module__) or trust.is_library_type(cls)
    call, _ = class_attribute(cls, "__call__")
    return not (ours or issubclass(cls, enum.Enum) or (isinstance(call, types.FunctionType) and gated(call.__code__)))


def _nothing() -> None: ...


_NAME_SCOPED = tf.Module.with_name_scope(_nothing).__code__


def _in_scope(function: Any) -> Any:
    """The method that `tf.Module.with_name_scope` calls, which does nothing else that is seen outside."""
    return function.__wrapped__ if getattr(function, "__code__", None) is _NAME_SCOPED else function
