"""One call of a site -> a graph, or the reason why not; nothing outside is touched on the way.

In: a site's graph form with the namespace, cells and arguments of a call. Out: a `Specialisation`. The trace is a
transaction: it is the observer of all that the form reads, writes and calls, turns reads into sources and guards, and
gives up (Unstageable) before anything happens that would have to happen at every call.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import heap, lists, observer, text
from autoimport.operators.errors import MakesVariables, TooLarge, Unstageable
from autoimport.operators.numbers import Outranking
from autoimport.staging import (
    acts,
    compiled,
    datasets,
    gradients,
    handed_on,
    handling,
    inspection,
    log,
    needed,
    registry,
    special_methods,
    storing,
    texts,
    tf_internals,
    trust,
    whole_lists,
)
from autoimport.staging.arrays import Array, warnings_as_errors
from autoimport.staging.calling import Caller
from autoimport.staging.gate import results
from autoimport.staging.guarding import CONTAINERS, SCALARS
from autoimport.staging.launch import BAIL, Specialisation
from autoimport.staging.log import MISSING, Entry, Log, Logged
from autoimport.staging.mutations import Mutations
from autoimport.staging.ours import gated, harmless
from autoimport.staging.pending import Pending
from autoimport.staging.randomness import Draws
from autoimport.staging.reading import Reader
from autoimport.staging.results import ResultPlan
from autoimport.staging.sources import Changing, Source

# How often the body of a loop is built, most of the time: once to learn its types, and once with these.
_ATTEMPTS = 2
# Bytes that are copied before each launch of a graph that may fail after it has changed them: some milliseconds.
_MOST_KEPT = 2**23
_IMMUTABLE = frozenset({str, bytes, range})


class NeedsHost(BaseException):
    """The trace changes a number that it has read as a constant; `text` is its source's."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


# One trace at a time: TensorFlow's own tracing takes locks, and two traces of one site would be a waste.
lock = threading.RLock()


class Trace(observer.Observer):
    """The transaction. See `observer.Observer` for what the methods mean."""

    def __init__(
        self,
        namespace: dict[str, Any],
        cells: tuple[types.CellType, ...],
        names: tuple[str, ...],
        changing: Changing,
        largest: int,
    ) -> None:
        self._largest = largest
        self.work = 0  # operations in the graphs of branches and bodies, those built in vain among them
        self._graph: Any = None
        self.log = Log()
        self.reader = Reader(lambda: self._graph, changing, self.log.touches)
        self._mutations = Mutations(self.reader, self.log, self.happens)
        self._caller = Caller(self.reader)
        self._draws = Draws(self.reader.builder, lambda: self._graph)
        self._namespace = namespace
        self._globals = Source("g", "")
        self._cells = {id(cell): Source(f"c[{i}]", names[i]) for i, cell in enumerate(cells)}
        self.callees: Counter[registry.Site] = Counter()
        self.pending = Pending()
        self._endangered: frozenset[str] = frozenset()
        self._handles = False
        self._is_for_tapes = tf_internals.recording()
        self._has_idle = False
        self._selects_floats = False

    # Reads ------------------------------------------------------------------------------------------------------

    def read_global(self, namespace: dict[str, Any], name: str) -> Any:
        written = self.log.read("item", namespace, name)
        if written is not MISSING:
            return written
        if name in namespace:
            value = namespace[name]
            return self.reader.wrap(value, self._space(namespace).child(f"{{parent}}[{name!r}]", name))
        builtins = namespace["__builtins__"]
        held = builtins if isinstance(builtins, dict) else vars(builtins)
        if name in held:
            # A global of that name would hide the builtin.
            place = self._space(namespace).child(f"({name!r} in {{parent}})", name)
            self.reader.builder.require(place, "not {v}", "was the builtin")
            self.reader.builder.require_name(held, name, name)
            return held[name]
        raise NameError(f"name {name!r} is not defined")

    def _space(self, namespace: dict[str, Any]) -> Source:
        if namespace is self._namespace:
            return self._globals
        source = self.reader.source_of(namespace)
        if source is None:
            source = Source(self.reader.builder.constant(namespace), namespace.get("__name__", "?"))
            self.reader.remember(namespace, source)
        return source

    def read_cell(self, cell: types.CellType, name: str) -> Any:
        source = self._cells.get(id(cell))
        written = self.log.read("cell", cell, None)
        if written is not MISSING:
            return written
        try:
            value = cell.cell_contents
        except ValueError:
            raise NameError(f"cannot access free variable {name!r} where it is not associated with a value") from None
        return value if source is None else self.reader.wrap(value, self._contents(source))

    def _contents(self, cell: Source) -> Source:
        return cell.child("{parent}.cell_contents", cell.text)

    def know_cells(self, fn: types.FunctionType, source: Source) -> None:
        """The cells of a function older than the trace are sources."""
        for index, cell in enumerate(fn.__closure__ or ()):
            place = source.child(f"{{parent}}.__closure__[{index}]", fn.__code__.co_freevars[index])
            self._cells.setdefault(id(cell), place)

    def read_attr(self, obj: Any, name: str) -> Any:
        written = self.log.read("attribute", obj, name)
        if type(written) in {list, dict} and trust.owns_state(type(obj)):
            raise Unstageable(f"stores a {type(written).__name__} to .{name}, and reads what that has become")
        if written is not MISSING:
            return written
        if name in self.log.of_classes:
            raise Unstageable(f"stores .{name} to a class and then reads it of something else")
        return self.reader.attribute(obj, name)

    def read_item(self, obj: Any, key: Any) -> Any:
        if type(obj) is collections.deque:
            self._made_here(obj, "reads an item of")
        if not isinstance(obj, CONTAINERS):
            return obj[key]
        if self.log.hides(obj):
            self._made_here(obj, "changes and then reads")
        if self.log.touches(obj):
            tail = self.log.tail(obj)
            if lists.is_unknown(tail):
                raise Unstageable("reads an item of a list, to which conditions or loops append")
            if isinstance(obj, list) and type(key) is int and key < 0 and not tail:
                key = self._mutations.position(obj, key)
            if type(key) is int and -len(tail) <= key < 0:
                return tail[key]
            written = MISSING if isinstance(key, slice) else self.log.read("item", obj, key)
            if written is not MISSING:
                return written
            if tail or isinstance(key, slice):
                raise Unstageable("appends to a list and reads its other items")
        return self.reader.item(obj, key)

    def iterate(self, obj: Any) -> Any:
        source = self.reader.source_of(obj)
        if isinstance(obj, CONTAINERS):
            return obj if source is None else self.reader.items(obj)
        if special_methods.unseen(type(obj), special_methods.ITERATION) is not None:
            raise Unstageable(f"walks over a {type(obj).__name__}, which is not converted")
        if source is None:
            return obj
        if hasattr(type(obj), "__next__"):
            raise Unstageable(f"advances the iterator {source.text}", "call next() outside and pass the item")
        if type(obj) in _IMMUTABLE or gated(
            getattr(getattr(type(obj), "__iter__", None), "__code__", _nothing.__code__)
        ):
            return obj
        raise Unstageable(f"walks over {source.text}, a {type(obj).__name__}")

    # Writes -----------------------------------------------------------------------------------------------------

    def _made_here(self, obj: Any, what: str) -> None:
        source = self.reader.source_of(obj)
        if source is not None:
            raise Unstageable(f"{what} {source.text}, which was made outside this function", "return it instead")

    def _changes(self, place: Source, value: Any) -> None:
        """A number that the trace has read is about to be another: then it must be read at each call."""
        seen = self.reader.seen.get(place.text, MISSING)
        if type(seen) in {int, float} and not (type(value) is type(seen) and value == seen):
            raise NeedsHost(place.text)

    def happens(self, what: str) -> None:
        if tf.compat.v1.get_default_graph() is not (heap.body_graph() or self._graph):
            # The body of a tf.map_fn or tf.while_loop, which eager code calls many times, or of a tf.cond.
            raise Unstageable(f"{what} in a function that TensorFlow calls", "return the value instead")

    def write_attr(self, obj: Any, name: str, value: Any) -> None:
        source = self.reader.source_of(obj)
        if storing.runs_converted_setter(obj, name, self.reader) or source is None:
            setattr(obj, name, value)
        elif storing.assigns_variable(obj, name):
            setattr(obj, name, self._caller.export(value))
        else:
            storing.require_plain(obj, name, value, source)
            storing.require_last(obj, self.log.read("attribute", obj, name), value, source.attribute(name))
            self.happens(f"changes {source.text}.{name}")
            self._changes(source.attribute(name), value)
            self.log.attribute(obj, source, name, storing.kept(obj, value))

    def write_item(self, obj: Any, key: Any, value: Any) -> None:
        source = self.reader.source_of(obj)
        if source is None:
            obj[key] = value
        elif storing.keeps(obj, list, value) and type(key) is int:
            self._mutations.store(obj, source, key, value)
        elif storing.keeps(obj, dict, value) and type(key) in SCALARS and not self.log.hides(obj):
            self.happens(f"changes {source.text}")
            self._changes(self.reader.item_source(source, key), value)
            self.log.item(obj, source, key, value)
        else:
            raise Unstageable(f"stores to an item of {source.text}, which was made outside this function")

    def write_global(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        self.happens(f"changes the global {name}")
        space = self._space(namespace)
        self._changes(space.child(f"{{parent}}[{name!r}]", name), value)
        self.log.item(namespace, space, name, value)

    def write_cell(self, cell: types.CellType, name: str, value: Any) -> None:
        self.happens(f"changes {name}")
        source = self._cells.get(id(cell))
        if source is None:
            cell.cell_contents = value
        else:
            self._changes(self._contents(source), value)
            self.log.cell(cell, source, value)

    def delete_attr(self, obj: Any, name: str) -> None:
        self._made_here(obj, f"deletes the attribute {name} of")
        delattr(obj, name)

    def delete_item(self, obj: Any, key: Any) -> None:
        self._made_here(obj, "deletes an item of")
        del obj[key]

    def delete_global(self, namespace: dict[str, Any], name: str) -> None:
        raise Unstageable(f"deletes the global {name}")

    def place(self, kind: str, holder: Any, name: Any) -> Any:
        if kind == "cell":
            at = self._cells.get(id(holder))
        else:
            at = self._space(holder) if kind == "global" else self.reader.source_of(holder)
        if at is None:
            return None
        if kind == "item" and type(holder) is not dict:
            raise Unstageable(f"stores to an item of {at.text}, which was made outside this function")
        before = MISSING
        if kind == "cell":
            with contextlib.suppress(NameError):
                before = self.read_cell(holder, at.text)
            return Logged(self.log, kind, Entry(holder, at, None, before, log.set_cell))
        if kind == "attribute":
            if self.reader.owns(holder, at, name):
                before = self.read_attr(holder, name)
            return Logged(self.log, kind, Entry(holder, at, name, before, setattr))
        if name in holder:
            before = self.read_global(holder, name) if kind == "global" else self.read_item(holder, name)
        else:
            self.reader.builder.require(at, f"{name!r} not in {{v}}", f"had no {name!r}")
        return Logged(self.log, "item", Entry(holder, at, name, before, log.set_item))

    def folds(self, fn: Callable[[Any], Any], items: Any) -> tuple[Any] | None:
        return whole_lists.fold(self.reader, fn, items)

    def logs(self, obj: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any] | None:
        return self._mutations.change(obj, method, args, kwargs)

    def mutate(self, obj: Any, what: str) -> None:
        if type(obj) is Array:
            raise Unstageable(f"changes the numpy array {obj.text} in place")
        if isinstance(obj, Outranking):
            raise Unstageable("changes a numpy array in place that only the graph knows")
        self._made_here(obj, f"changes ({what})")

    # Calls ------------------------------------------------------------------------------------------------------

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if isinstance(fn, types.MethodType) and fn.__name__ == "append":
            logged = self.logs(fn.__self__, "append", args, kwargs)
            if logged is not None:
                return logged[0]
        if isinstance(fn, (types.BuiltinFunctionType, types.MethodWrapperType)) and not kwargs:
            owner, method = (args[0], "__len__") if fn is len else (fn.__self__, fn.__name__)
            seen = self._mutations.look(owner, method, args)
            if seen is not None:
                return seen[0]
        if fn is bool and args and isinstance(args[0], CONTAINERS) and not self.log.touches(args[0]):
            return self.reader.truth(args[0])
        result = acts.make(fn, args, kwargs, self.reader)
        if result is not acts.NOT_AN_ACT:
            return result
        if isinstance(fn, tf_internals.PolymorphicFunction) and self._has_printed():
            raise Unstageable("prints before it calls a tf.function, which may print itself while it is traced")
        function = fn.__func__ if isinstance(fn, types.MethodType) else fn
        if isinstance(function, types.FunctionType) and function.__closure__ and harmless(function.__code__):
            source = self.reader.source_of(function)
            self.know_cells(function, source if source is not None else Source(self._constant(function), fn.__name__))
        return self._caller.call(fn, args, kwargs)

    def _constant(self, value: Any) -> str:
        return self.reader.builder.constant(value)

    def enter_context(self, manager: Any) -> Any:
        cls = type(manager)
        if self.reader.source_of(manager) is not None and trust.is_library_type(cls):
            raise Unstageable(f"enters a {cls.__name__} that was made outside this function")
        if cls is tf.name_scope:
            return tf_internals.name_scope(manager)
        if isinstance(manager, tf.GradientTape):
            return self._caller.opened(manager)
        if trust.is_library(cls.__module__) or (cls.__module__ == "contextlib" and cls.__name__ == "nullcontext"):
            return manager
        if all(
            gated(getattr(getattr(cls, name, None), "__code__", _nothing.__code__))
            for name in ("__enter__", "__exit__")
        ):
            return manager
        if cls.__name__ == "_GeneratorContextManager" and trust.is_library(getattr(manager.func, "__module__", None)):
            return manager
        raise Unstageable(f"enters a {cls.__qualname__}, whose effects are unknown")

    def same(self, x: Any, y: Any) -> bool:
        return self.reader.same(x, y)

    def handles(self) -> None:
        self._handles = True

    def caught(self, error: BaseException) -> None:
        reason = handling.objection(error)
        if reason is not None:
            raise Unstageable(reason)

    def show(self, x: Any, how: Callable[[Any], str] | None) -> Any:
        return texts.show(x, how, self.call)

    def stream(self, file: Any) -> Any:
        return texts.stream(file, self.reader)

    def acts(self, acted: Any) -> None:
        self.log.act(acted)

    def _has_printed(self) -> bool:
        return text.is_acting() or self.log.has_acted()

    def walks(self, dataset: Any) -> str:
        return datasets.walk_scope(dataset)

    def repeat(self) -> None:
        # In a branch or body the loop grows an inner graph; the outermost one alone would not see it.
        if tf_internals.size_of_current_graph() > self._largest:
            raise TooLarge(f"unrolls a Python loop into more than {self._largest} operations", "loop over tf.range")

    def built(self, graph: Any) -> None:
        self.work += tf_internals.size_of(graph)
        if self.work > _ATTEMPTS * self._largest:
            raise TooLarge(f"needs more than {_ATTEMPTS * self._largest} operations to build its branches and loops")

    def selects(self, of_floats: bool) -> bool:
        if of_floats and (self._is_for_tapes or tf_internals.recording()):
            return False
        self._selects_floats = self._selects_floats or of_floats
        return True

    def complete(self, outputs: list[Any]) -> list[Any]:
        kept = inspection.keep_what_can_fail(tf.compat.v1.get_default_graph(), outputs)
        self._has_idle = self._has_idle or kept is not outputs
        return kept

    def effect(self, what: str) -> NoReturn:
        raise Unstageable(what)

    def bail_if(self, condition: Any, why: str) -> None:
        tf.raw_ops.Assert(condition=tf.logical_not(condition), data=[tf.constant(f"{BAIL}: {why}")])

    # The whole --------------------------------------------------------------------------------------------------

    def run(self, form: types.FunctionType, args: tuple[Any, ...], parameters: tuple[str, ...]) -> Specialisation:
        """Trace the call `form(*args)`.

        Raises:
          Unstageable, or whatever the form raises while it builds the graph.
        """
        plan = ResultPlan(self.reader)
        builds: list[Any] = []
        commits: list[Any] = []
        loops: list[compiled.Loop] = []

        def body() -> list[Any]:
            self._graph = tf_internals.outermost_graph()
            outside = observer.observe(self)
            try:
                wrapped = [
                    self.reader.wrap(value, Source(f"a[{index}]", parameters[index]))
                    for index, value in enumerate(args)
                ]
                with warnings_as_errors():
                    result = form(*wrapped)
                self.pending.require_none()
                builds.append(plan.plan(result))
                commits.extend(
                    (plan.old(entry.at), entry.key, plan.plan(entry.value), entry.commit)
                    for entry in self.log.entries.values()
                )
                if self._is_for_tapes:
                    inputs = [*self.reader.inputs, *(inner for _, inner in self._graph.captures)]
                    gradients.require_sure_outputs(self, self._graph, inputs, plan.tensors)
                inspection.keep_what_can_fail(self._graph, plan.tensors)
                self._has_idle = self._has_idle and needed.leaves_out_what_can_fail(self._graph, plan.tensors)
                self._endangered = inspection.order(self._graph, file)
                self.reader.inputs[:0] = self._draws.inputs
                loops.extend(compiled.loops_in(self._graph))
                return [*plan.tensors, *(loop.iterations for loop in loops)]
            except BaseException:
                self.pending.close()
                raise
            finally:
                observer.observe(outside)
                self.reader.states.restore()

        made: list[str] = []

        def creator(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            # Let it be made, since half a built optimizer is worse; the trace is thrown away afterwards.
            made.append(str(kwargs.get("name")))
            return next_creator(**kwargs)

        file = form.__code__.co_filename
        with tf.variable_creator_scope(creator), self._draws.watch(self), _undisturbed():
            function = tf_internals.build_function(form.__name__, file, body, self.reader.inputs)
        if made:
            raise MakesVariables(f"creates variables ({made[0]})", "create them before the first call")
        inspection.require_stageable(function.graph, file, self._has_printed())
        self._caller.array_reads.require_new(function.graph, file)
        if self._handles and not inspection.is_pure(function.graph):
            raise Unstageable("handles exceptions and changes variables in one function")
        return self._specialise(function, plan, builds[0], commits, loops)

    def _specialise(
        self, function: Any, plan: ResultPlan, build: Any, commits: list[Any], loops: list[compiled.Loop]
    ) -> Specialisation:
        builder = self.reader.builder
        endangered = [
            tensor
            for tensor, inner in function.graph.captures
            if inner.name in self._endangered and tf_internals.holds_variable(tensor)
        ]
        is_long = inspection.has_loop(function.graph)
        kept = tf_internals.read_variables(endangered)
        if not is_long and sum(value.shape.num_elements() * value.dtype.size for value in kept) > _MOST_KEPT:
            raise Unstageable("may fail after it has changed variables, which are too large to be kept for each launch")
        expressions = list(self.reader.expressions)
        captured = list(function.captured_inputs)
        expressions += [builder.constant(tensor) for tensor in captured]
        unchanged = Source(
            f"{builder.constant(self.reader.states.guard())}()", "the state of a layer, or a setting of a library"
        )
        builder.require(unchanged, "{v}", "was another")
        return Specialisation(
            function=function,
            check=builder.compile([*expressions, *plan.expressions]),
            explain=builder.text,
            inputs=len(expressions),
            outputs=len(plan.tensors),
            build=build,
            callees=dict(self.callees),
            commits=commits,
            seen=self.reader.seen,
            read=builder.reader(self.reader.seen_at),
            draws=self._draws.finish(),
            slots=plan.slots,
            loops=loops,
            pinned=builder.pinned_objects,
            cost=inspection.cost_of(function.graph),
            endangered=endangered,
            pure=inspection.is_pure(function.graph),
            has_idle=self._has_idle,
            prints=self._has_printed(),
            is_long=is_long,
            is_for_tapes=self._is_for_tapes,
            selects_floats=self._selects_floats,
            has_items=plan.has_items,
            may_be_others=handed_on.may_be_others(function.graph, plan.whole),
        )

    def forget(self) -> None:
        """Let go of everything that the trace has seen."""
        self.reader.forget()
        self._cells.clear()
        self.log.entries.clear()
        self._graph = None


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """What has nothing to do with the trace does not run in it: finalizers wait, signal handlers are told apart."""
    enabled, tracing = gc.isenabled(), results.tracing
    gc.disable()
    results.tracing = True
    try:
        yield
    finally:
        results.tracing = tracing
        if enabled:
            gc.enable()


def _nothing() -> None: ...
