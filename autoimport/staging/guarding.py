"""Objects that are older than a trace -> the sources at which they were found, and guards on what they are.

In: an object, and where the trace has found it. Out: the same place the next time it is asked for, and guards under
which what Python finds by itself (special methods, class attributes, identity) is what the trace has seen.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals, trust
from autoimport.staging.library_state import LibraryStates
from autoimport.staging.sources import GuardBuilder, Source

SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented)})
INTERNED = (enum.Enum, tf.DType)
# What is known by itself, wherever it was found.
FIXED = (type, types.FunctionType, types.BuiltinFunctionType, *INTERNED)
NUMBERS = (int, float, complex, str, bytes)
CONTAINERS = (list, tuple, dict, set, frozenset)
MISSING = object()
# What these give may be, to eager code, a tensor that it has had before: of branches, loops (whose bodies begin with
# placeholders), lists of symbolic length, `min` and `sorted` of tensors.
_HANDING_ON = frozenset(
    {
        *("Case", "GatherV2", "Identity", "IdentityN", "If", "Maximum", "Minimum", "PartitionedCall", "Placeholder"),
        *("Select", "SelectV2", "StatefulPartitionedCall", "StatelessCase", "StatelessIf", "StatelessWhile"),
        *("TensorListGetItem", "TensorListPopBack", "Unpack", "While"),
    }
)


class Guards:
    """The sources and guards of one trace.

    Attributes:
      builder: the guards so far.
      origins: id of what stands in for a value in the trace -> the value's source, for results that are an argument.
    """

    def __init__(self) -> None:
        self.builder = GuardBuilder()
        self.origins: dict[int, Source] = {}
        self.states = LibraryStates()
        self._old: dict[int, tuple[Any, Source]] = {}
        self._originals: dict[int, Any] = {}

    def forget(self) -> None:
        """Let go of everything that was read."""
        for table in (self.origins, self._old, self._originals):
            table.clear()
        self.states.forget()

    def remember(self, obj: Any, source: Source) -> None:
        """`obj` is older than the trace and was found at `source`."""
        self._old.setdefault(id(obj), (obj, source))

    def source_of(self, obj: Any) -> Source | None:
        """Where an object older than the trace was found; None for what the trace made."""
        found = self._old.get(id(obj))
        if found is not None:
            return found[1]
        if isinstance(obj, types.ModuleType):
            source = Source(self.builder.constant(obj), obj.__name__)
        elif isinstance(obj, type) or trust.owns_state(type(obj)) or self.states.knows(obj):
            # Reached through library code: known by itself.
            source = self.builder.pinned(obj, getattr(obj, "__name__", type(obj).__name__))
            self.builder.require(source, "{v} is not None", "was freed")
        else:
            return None
        self.remember(obj, source)
        return source

    def _note_origin(self, stand_in: Any, value: Any, source: Source) -> None:
        """`stand_in` is what the graph form gets for `value`."""
        self.origins[id(stand_in)] = source
        self._originals[id(stand_in)] = value

    # Identity ---------------------------------------------------------------------------------------------------

    def same(self, x: Any, y: Any) -> bool:
        """`x is y`, guarded where one of them is older than the trace."""
        old = self._originals.get(id(x), x), self._originals.get(id(y), y)
        answer = old[0] is old[1]
        places = [self.origins.get(id(value)) or self.source_of(value) for value in (x, y)]
        first, second = places
        if not answer and None in places and _may_be_one((x, y), places):
            raise Unstageable("compares by `is` what may have been chosen by a condition or a loop")
        if first is not None and second is not None:
            if first is not second:
                test = f"({self.builder.value(first)} is {self.builder.value(second)}) is {answer}"
                words = "were one object" if answer else "were two objects"
                self.builder.require_that(test, f"{first.text} and {second.text} {words}")
        elif first is not None or second is not None:
            place, fixed = (first, old[1]) if first is not None else (second, old[0])
            assert place is not None
            # What the trace has made is never what is older; functions and the like may be known without a source.
            if answer or isinstance(fixed, FIXED):
                self.builder.require(
                    place, f"({{v}} is {self.builder.constant(fixed)}) is {answer}", "was another object"
                )
        return answer

    def identify(self, obj: Any) -> None:
        """Guard that `obj` is the very object it is: its hash, its id or its place in a set says so."""
        if type(obj) in SCALARS:
            return
        if type(obj) is tuple:
            for part in obj:
                self.identify(part)
        found = self._old.get(id(obj))
        if found is not None and type(obj) is not tuple:
            source = found[1]
            pinned = self.builder.pinned(obj, source.text)
            self.builder.require(source, f"{{v}} is {pinned.template} and {{v}} is not None", "was another object")

    # Numbers ----------------------------------------------------------------------------------------------------

    def _guard_scalar(self, value: Any, source: Source) -> None:
        if value is None or isinstance(value, bool) or value is Ellipsis or value is NotImplemented:
            self.builder.require(source, f"{{v}} is {value!r}", f"was {value!r}")
            return
        constant = self.builder.constant(value)
        test = f"{{v}} == {constant} and {{v}}.__class__ is {self.builder.constant(type(value))}"
        if isinstance(value, (float, complex)) and (value == 0 or value != value):
            # Zeros of both signs are equal, and nan is not equal to itself.
            test = f"repr({{v}}) == {repr(value)!r} and {{v}}.__class__ is {self.builder.constant(type(value))}"
        self.builder.require(source, test, f"was {value!r}"[:100])

    def _guard_number(self, value: Any, source: Source) -> None:
        """A number or string of a class of its own: what it is worth may not change, whatever its `==` says."""
        base = next(base for base in NUMBERS if isinstance(value, base))
        to_text = self.builder.constant(base.__repr__)
        self.builder.require(
            source, f"{to_text}({{v}}) == {base.__repr__(value)!r}", f"was {base.__repr__(value)}"[:100]
        )

    # Attributes of classes --------------------------------------------------------------------------------------

    def know_descriptor(self, name: str, raw: Any, owner: type, method: str) -> None:
        """A descriptor of the person's, whose converted `method` is about to run."""
        holder = self.source_of(owner)
        assert holder is not None, "a class always has a source"
        place = holder.child(f"{{parent}}.__dict__[{name!r}]", f"{owner.__name__}.{name}")
        self.builder.require(place, f"{{v}} is {self.builder.constant(raw)}", "was another descriptor")
        self._guard_class_attribute(type(raw), method, class_attribute(type(raw), method)[0])
        self.remember(raw, place)

    def _guard_class_attribute(self, cls: type, name: str, raw: Any) -> None:
        """A property or function is still found on the class under a name."""
        holder = self.source_of(cls)
        assert holder is not None, "a class always has a source"
        self.builder.require(holder.attribute(name), self._is_function("{v}", raw), "was another one")

    def _is_function(self, expression: str, value: Any) -> str:
        """A test for a callable or another class attribute; tools that reload code put new code into old functions."""
        test = f"{expression} is {self.builder.constant(value)}"
        if isinstance(value, types.FunctionType) and not trust.is_library(value.__module__):
            test += f" and {expression}.__code__ is {self.builder.constant(value.__code__)}"
        return test

    def _guard_special_methods(self, cls: type) -> None:
        """Python calls them itself, so the trace does not see where it finds them."""
        for base in cls.__mro__:
            if not trust.is_library(base.__module__):
                for name, raw in base.__dict__.items():
                    if (
                        name.startswith("__")
                        and isinstance(raw, types.FunctionType)
                        and getattr(cls, name, None) is raw
                    ):
                        self._guard_class_attribute(cls, name, raw)

    def _guard_inherited(self, obj: Any, name: str) -> None:
        """`super().name`: the class that has it still has the same."""
        classes = type(obj.__self__).__mro__ if not isinstance(obj.__self__, type) else obj.__self__.__mro__
        for base in classes[classes.index(obj.__thisclass__) + 1 :]:
            if name in base.__dict__ and not trust.is_library(base.__module__) and base.__module__ != "builtins":
                holder = self.source_of(base)
                assert holder is not None, "a class always has a source"
                place = holder.child(f"{{parent}}.__dict__[{name!r}]", f"{base.__name__}.{name}")
                self.builder.require(place, self._is_function("{v}", base.__dict__[name]), "was another one")
                return

    def owns(self, obj: Any, source: Source, name: str) -> bool:
        """Whether an attribute is the object's own, not one that its class shows, guarded."""
        if isinstance(class_attribute(type(obj), name)[0], types.MemberDescriptorType) or not has_dict(obj):
            answer, test = hasattr(obj, name), f"hasattr({{v}}, {name!r})"
        else:
            answer, test = name in vars(obj), f"{name!r} in {{v}}.__dict__"
        words = f"had {'an' if answer else 'no'} attribute {name} of its own"
        self.builder.require(source, f"({test}) is {answer}", words)
        return answer

    def _guard_absence(self, obj: Any, source: Source, name: str) -> None:
        """The object has no attribute of this name, nor has its class."""
        if has_dict(obj):
            self.builder.require(source, f"{name!r} not in {{v}}.__dict__", f"had no attribute {name}")
        cls = obj if isinstance(obj, type) else type(obj)
        holder = self.source_of(cls)
        assert holder is not None, "a class always has a source"
        self.builder.require(holder, f"not hasattr({{v}}, {name!r})", f"had no attribute {name}")


def _may_be_one(values: Sequence[Any], places: Sequence[Source | None]) -> bool:
    """Whether two stand-ins, not both older than the trace, may stand for one object."""
    if all(isinstance(value, tf_internals.SymbolicTensor) for value in values):
        return any(place is None and _hands_on(value) for value, place in zip(values, places, strict=True))
    kind, other = map(type, values)
    return kind is other and (
        issubclass(kind, (*CONTAINERS, tf.__internal__.CompositeTensor)) or hasattr(kind, "__tf_flatten__")
    )


def _hands_on(tensor: Any) -> bool:
    """Whether a tensor may be one that there has been before: chosen, carried, or taken out of a list."""
    return type(tensor) is not tf_internals.EagerTensor and tensor.op.type in _HANDING_ON


def has_dict(obj: Any) -> bool:
    """Whether an object has attributes of its own."""
    try:
        object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return False
    return True


def class_attribute(cls: type, name: str) -> tuple[Any, type]:
    """A name in the dictionaries of a class and its bases, without running any code, and the class that has it."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name], base
    return MISSING, cls
