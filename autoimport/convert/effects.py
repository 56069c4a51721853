"""A statement (gast) of a module -> whether a graph may hold it, from what its imports and names tell.

Nothing here decides what becomes a graph: the trace does. It decides where trying is worth it, and where to cut.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from autoimport.convert import names as naming
from autoimport.convert.graph_form.normalize import AWAITS
from autoimport.convert.graph_form.pauses import YIELDS
from autoimport.convert.trees import children, walk

# Kinds of statements, the worse the greater.
PLAUSIBLE, LIKELY, UNKNOWN, EFFECT = range(4)

# What a call that may be TensorFlow's counts, against 1 for an operator.
CALL = 3

LIBRARIES = ("tensorflow", "keras", "tf_keras")

# Dotted names, by their longest known beginning.
_KINDS: dict[str, int] = {
    **dict.fromkeys(LIBRARIES, PLAUSIBLE),
    **dict.fromkeys(("math", "operator", "functools", "collections", "logging", "typing"), PLAUSIBLE),
    **dict.fromkeys(("numpy.random", "random", "time", "datetime", "os", "sys", "io", "pathlib", "shutil"), EFFECT),
    **dict.fromkeys(("subprocess", "threading", "multiprocessing", "socket", "pickle", "json", "csv", "gc"), EFFECT),
    **dict.fromkeys(("argparse", "glob", "tempfile", "signal", "matplotlib", "tracemalloc", "timeit"), EFFECT),
    **dict.fromkeys(("sys.stdout", "sys.stderr", "warnings"), PLAUSIBLE),
    **dict.fromkeys(("logging.basicConfig", "logging.getLogger", "logging.FileHandler"), EFFECT),
}
# What a library makes anew, holds state for, or does in graphs of its own.
_NOT_IN_A_GRAPH = {
    "Variable", "Sequential", "Model", "set_random_seed", "set_seed", "load_model", "clear_session", "Checkpoint",
    "CheckpointManager", "create_file_writer", "set_floatx", "to_categorical", "pad_sequences",
}  # fmt: skip
_MAKERS = {"layers", "optimizers", "losses", "metrics", "callbacks", "initializers", "applications"}

_EFFECT_BUILTINS = {
    "open", "input", "exec", "eval", "globals", "locals", "vars", "dir", "breakpoint", "next", "exit", "quit",
    "__import__", "compile", "anext", "aiter",
}  # fmt: skip
_EFFECT_METHODS = {
    "fit", "evaluate", "predict", "save", "save_weights", "load_weights", "compile", "train_on_batch", "test_on_batch",
    "predict_on_batch", "export", "restore", "write", "writelines", "flush", "close", "read", "readline", "sleep",
    "__next__",
}  # fmt: skip
# Methods of builtin containers and strings: part of a graph's log, but nothing to make a graph for.
_CONTAINER_METHODS = {
    name for kind in (list, dict, set, str, tuple, int, float) for name in vars(kind) if not name.startswith("_")
}
# Methods by which TensorFlow's and Keras' objects are known, whatever they are called.
_LIBRARY_METHODS = {
    "gradient", "jacobian", "batch_jacobian", "watch", "stop_recording", "apply_gradients", "apply", "minimize",
    "update_state", "result", "reset_state", "reset_states", "assign", "assign_add", "assign_sub", "stack", "concat",
    "value", "read_value", "scatter_nd_update", "scatter_nd_add", "scatter_update", "get_shape", "set_shape", "call",
    "compute_gradients", "get_scaled_loss", "get_unscaled_gradients", "compute_loss", "add_loss", "with_values",
}  # fmt: skip
_TAPES = ("GradientTape", "ForwardAccumulator")
_LAZY_READERS = {"sum", "any", "all", "max", "min", "tuple", "list", "dict", "set", "sorted", "frozenset"}


@dataclass(frozen=True)
class Verdict:
    """The kind of a statement, and the expression to blame if it is no plausible one."""

    kind: int = PLAUSIBLE
    node: gast.AST | None = None


def _compared_names(nodes: list[gast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, gast.Compare) and any(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops):
            operands = [node.left, *node.comparators]
            if not any(isinstance(operand, gast.Constant) for operand in operands):
                yield from (operand.id for operand in operands if isinstance(operand, gast.Name))


class Effects:
    """What is known about the names of one module.

    Attributes:
      uses_library: the module imports TensorFlow or Keras.
      repeated: names that are called in loops, or by functions that are.
      tapes: names of what cannot go in or out of a graph: tapes, iterators, growing arrays.
      compared: names that `is` compares with more than constants: what a graph gives is never what went in.
      stored_from_afar: names that functions store which they do not belong to, and names of stored attributes.
    """

    def __init__(self, tree: gast.AST) -> None:
        self.imports: dict[str, str] = {}
        self.made: dict[str, str] = {}
        self.functions: dict[str, int] = {}  # names of own functions and methods, with the worst kind of their bodies
        self.classes: set[str] = set()
        self.tapes: frozenset[str] = frozenset()
        self.compared: frozenset[str] = frozenset()
        self.repeated: set[str] = set()
        self.stored_from_afar: set[str] = set()
        nodes = walk(tree)
        self._read_imports(nodes)
        self.uses_library = any(path.split(".")[0] in LIBRARIES for path in self.imports.values())
        if self.uses_library:
            self._read_definitions(nodes)
            self._read_makers(nodes)
            self.tapes = frozenset(self._tape_names(nodes))
            self.compared = frozenset(_compared_names(nodes))
            self._read_stores(nodes)
            self._contents = _Contents(tree)
            self._judge_functions()
            self._find_repeated()

    def _read_imports(self, nodes: list[gast.AST]) -> None:
        for node in nodes:
            if isinstance(node, gast.Import):
                for alias in node.names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, gast.ImportFrom) and not node.level:
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def _read_definitions(self, nodes: list[gast.AST]) -> None:
        for node in nodes:
            if isinstance(node, gast.ClassDef):
                self.classes.add(node.name)
            elif isinstance(node, _FUNCTIONS):
                self.functions[node.name] = PLAUSIBLE

    def _read_makers(self, nodes: list[gast.AST]) -> None:
        """Names that are only ever assigned the result of calling one thing: `rng = np.random.default_rng(7)`."""
        ambiguous: set[str] = set()
        for node in nodes:
            if (
                not isinstance(node, gast.Assign)
                or len(node.targets) != 1
                or not isinstance(node.targets[0], gast.Name)
            ):
                continue
            name = node.targets[0].id
            path = self.path_of(node.value.func) if isinstance(node.value, gast.Call) else None
            if path is None or self.made.get(name, path) != path:
                ambiguous.add(name)
            else:
                self.made[name] = path
        for name in ambiguous:
            self.made.pop(name, None)

    def _read_stores(self, nodes: list[gast.AST]) -> None:
        for node in nodes:
            if isinstance(node, (gast.Global, gast.Nonlocal)):
                self.stored_from_afar.update(node.names)
            elif isinstance(node, gast.Attribute) and not isinstance(node.ctx, gast.Load):
                self.stored_from_afar.add(node.attr)

    def _tape_names(self, nodes: list[gast.AST]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, gast.Assign):
                bound = [(target, node.value) for target in node.targets]
            elif isinstance(node, gast.withitem):
                bound = [(node.optional_vars, node.context_expr)]
            else:
                continue
            for target, value in bound:
                if isinstance(target, gast.Name) and self._cannot_cross(value):
                    yield target.id

    def _cannot_cross(self, value: gast.AST) -> bool:
        return isinstance(value, gast.GeneratorExp) or self._makes(value, *_TAPES, "TensorArray", "iter")

    def is_tape(self, manager: gast.AST) -> bool:
        """Whether a context manager records operations for their gradients."""
        return self._makes(manager, *_TAPES)

    def _makes(self, value: gast.AST, *names: str) -> bool:
        if not isinstance(value, gast.Call):
            return False
        path = self.path_of(value.func) or (value.func.id if isinstance(value.func, gast.Name) else "")
        return path.split(".")[-1] in names

    def _judge_functions(self) -> None:
        """A call of a function of the module's own is as bad as what the function does, but may still be tried."""
        changed = True
        while changed:
            changed = False
            for fn in self._contents.telling:
                kind = min(self.worst(fn), UNKNOWN)
                if kind > self.functions[fn.name]:
                    self.functions[fn.name] = kind
                    changed = True

    def _find_repeated(self) -> None:
        self.repeated |= _called_in(self._contents.repeated)
        calls: dict[str, set[str]] = {}
        for fn, telling in self._contents.telling.items():
            calls.setdefault(fn.name, set()).update(_called_in(telling))
        pending = list(self.repeated)
        while pending:
            more = calls.pop(pending.pop(), set())
            pending.extend(more - self.repeated)
            self.repeated |= more

    def path_of(self, node: gast.AST) -> str | None:
        """The dotted name that an expression stands for, by the module's imports; own classes are `.Name`."""
        if isinstance(node, gast.Name):
            return self.imports.get(node.id) or ("." + node.id if node.id in self.classes else None)
        if isinstance(node, gast.Attribute):
            value = self.path_of(node.value)
            return f"{value}.{node.attr}" if value is not None else None
        return None

    # -- statements --------------------------------------------------------------------------------------------------

    def judge(self, statement: gast.AST, *, at_module_level: bool = False) -> Verdict:
        """The kind of a statement as part of a region."""
        worst = Verdict()
        for node in _in_order(statement):
            verdict = self._as_part(node, at_module_level)
            if verdict.kind > worst.kind:
                worst = verdict
            if worst.kind == EFFECT:
                break
        return worst

    def _as_part(self, node: gast.AST, at_module_level: bool) -> Verdict:
        if isinstance(node, (*naming.DEFINITIONS, gast.Import, gast.ImportFrom, gast.Global, gast.Nonlocal)):
            return Verdict(EFFECT, node)
        if isinstance(node, (*YIELDS, *AWAITS, gast.Try, gast.TryStar)):
            return Verdict(EFFECT, node)
        if isinstance(node, gast.Delete) and any(isinstance(target, gast.Name) for target in node.targets):
            return Verdict(EFFECT, node)
        if isinstance(node, gast.AnnAssign) and at_module_level:
            return Verdict(EFFECT, node)  # annotations are evaluated there, and kept
        if self.is_long(node):
            return Verdict(EFFECT, getattr(node, "iter", None) or getattr(node, "test", None))
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Lambda):
            return Verdict(UNKNOWN, node)
        if isinstance(node, gast.With):
            return max((self._manager(item.context_expr) for item in node.items), key=lambda verdict: verdict.kind)
        return self._call(node) if isinstance(node, gast.Call) else Verdict()

    def worst(self, fn: gast.AST) -> int:
        """The worst that a function's body does, whatever its statements are."""
        worst = PLAUSIBLE
        for node in self._contents.telling[fn]:
            kind = self._callee(node.func) if isinstance(node, gast.Call) else EFFECT
            worst = max(worst, kind)
        return worst

    def _manager(self, node: gast.AST) -> Verdict:
        is_known = self.is_safe_manager(node)
        return Verdict() if is_known else Verdict(UNKNOWN, node)

    def is_safe_manager(self, node: gast.AST) -> bool:
        """Whether a context manager is sure to be one of TensorFlow's, which let every exception pass."""
        if not isinstance(node, gast.Call):
            return False
        path = self.path_of(node.func)
        if path is not None:
            return path.split(".")[0] in LIBRARIES
        return isinstance(node.func, gast.Attribute) and bool(node.func.attr == "stop_recording")

    def is_short(self, iterable: gast.AST) -> bool:
        """Whether a loop over it runs in the graph, or a few times only."""
        if isinstance(iterable, (gast.Tuple, gast.List)):
            return True
        if isinstance(iterable, gast.Subscript):
            return self.is_short(iterable.value)
        if isinstance(iterable, gast.Attribute):
            return str(iterable.attr).endswith(("variables", "weights", "layers", "losses", "metrics"))
        if not isinstance(iterable, gast.Call):
            return False
        path = self.path_of(iterable.func)
        if path is not None:
            return path.split(".")[0] in LIBRARIES and ".data." not in path
        name = iterable.func.id if isinstance(iterable.func, gast.Name) else ""
        if name == "range":
            last = iterable.args[-1] if iterable.args else None
            return isinstance(last, gast.Constant) and last.value in range(9)
        if name == "zip":
            return any(_means_gradients(arg) or self.is_short(arg) for arg in iterable.args)
        return name in ("enumerate", "reversed") and bool(iterable.args) and self.is_short(iterable.args[0])

    def is_long(self, loop: gast.AST) -> bool:
        """Whether a node is a loop that stays Python, for an unknown number of iterations."""
        if isinstance(loop, gast.For):
            return not self.is_short(loop.iter)
        return isinstance(loop, gast.While) and not self.calls_library(loop.test)

    def long_loops(self, body: Iterable[gast.AST]) -> Iterator[Any]:
        """The long loops of a function."""
        return (node for node in naming.walk_scope(body) if self.is_long(node))

    def calls_library(self, node: gast.AST) -> bool:
        """Whether TensorFlow or Keras is called by name in an expression."""
        return any(
            isinstance(part, gast.Call) and (self.path_of(part.func) or "").split(".")[0] in LIBRARIES
            for part in walk(node)
        )

    def _call(self, node: gast.Call) -> Verdict:
        kind = self._callee(node.func)
        return Verdict(kind, node) if kind != PLAUSIBLE else Verdict()

    def _callee(self, callee: gast.AST) -> int:
        path = self.path_of(callee)
        if path is not None:
            return _kind_of_path(path)
        if isinstance(callee, gast.Name):
            if callee.id in _EFFECT_BUILTINS:
                return EFFECT
            if callee.id in self.functions or callee.id in self.made:
                return max(self.functions.get(callee.id, PLAUSIBLE), _kind_of_object(self.made.get(callee.id)))
            return PLAUSIBLE if hasattr(builtins, callee.id) else LIKELY
        if not isinstance(callee, gast.Attribute):
            return LIKELY
        maker = self.made.get(callee.value.id) if isinstance(callee.value, gast.Name) else None
        if maker is not None and _kind_of_object(maker) == EFFECT:
            return EFFECT
        if callee.attr in _EFFECT_METHODS:
            return EFFECT
        if callee.attr in self.functions:
            return self.functions[callee.attr]
        is_known = callee.attr in _CONTAINER_METHODS or callee.attr in _LIBRARY_METHODS
        return PLAUSIBLE if is_known or (maker or "").split(".")[0] in LIBRARIES else UNKNOWN

    # -- what a region could gain ------------------------------------------------------------------------------------

    def weight(self, statements: Iterable[gast.AST]) -> int:
        """A guess at how many operations a graph would take over; functions of the module's own have their own gate.

        Arithmetic without a call of a library is mostly that of Python numbers, and counts by half.
        """
        weights = [self._weight(node) for statement in statements for node in walk(statement)]
        return sum(weights) if CALL in weights else sum(weights) // 2

    def _weight(self, node: gast.AST) -> int:
        if isinstance(node, (gast.BinOp, gast.AugAssign)):
            return 1
        if not isinstance(node, gast.Call):
            return 0
        path = self.path_of(node.func)
        if path is not None:
            return CALL if path.split(".")[0] in LIBRARIES else 0
        if isinstance(node.func, gast.Name):
            own = node.func.id in self.functions or self.made.get(node.func.id, "").startswith(".")
            return 1 if own else 0 if hasattr(builtins, node.func.id) else CALL
        if not isinstance(node.func, gast.Attribute):
            return CALL
        if node.func.attr in self.functions:
            return 1
        return 0 if node.func.attr in _CONTAINER_METHODS or node.func.attr in ("numpy", "item") else CALL


class _Contents:
    """What the functions of a module do, in one walk.

    Attributes:
      telling: by function, the calls in its body, and what no graph can hold.
      repeated: what stands in loops, wherever.
    """

    def __init__(self, tree: gast.AST) -> None:
        self.telling: dict[gast.AST, list[gast.AST]] = {}
        self.repeated: list[gast.AST] = []
        self._collect([tree], (), is_repeated=False)

    def _collect(self, roots: Iterable[gast.AST], into: tuple[list[gast.AST], ...], is_repeated: bool) -> None:
        stack = list(roots)
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in _TELLING:
                for found in into:
                    found.append(node)
            parts = children(node)
            if kind in _FUNCTIONS:
                body = self.telling[node] = []
                self._collect(node.body, (*into, body), is_repeated)
                parts = naming.definition_parts(node)
            elif kind in _LOOPS and not is_repeated:
                self._collect(parts, (*into, self.repeated), is_repeated=True)
                continue
            stack += parts


_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_LOOPS = (gast.For, gast.While, gast.AsyncFor, *naming.COMPREHENSIONS)
_TELLING = frozenset({gast.Call, *YIELDS, *AWAITS, gast.Import, gast.ImportFrom})


def _called_in(nodes: Iterable[gast.AST]) -> set[str]:
    """The last names of what is called."""
    callees = (node.func for node in nodes if type(node) is gast.Call)
    names = (getattr(callee, "attr", getattr(callee, "id", "")) for callee in callees)
    return {name for name in names if name}


def _kind_of_path(path: str) -> int:
    parts = path.split(".")
    if parts[0] in LIBRARIES:
        if parts[-1] in _NOT_IN_A_GRAPH:
            return EFFECT
        makes = parts[-1][:1].isupper() and not _MAKERS.isdisjoint(parts[1:-1])
        return EFFECT if makes or "data" in parts or "config" in parts else PLAUSIBLE
    if not parts[0]:
        return UNKNOWN  # an object of an own class
    for size in range(len(parts), 0, -1):
        kind = _KINDS.get(".".join(parts[:size]))
        if kind is not None:
            return kind
    return UNKNOWN


def _kind_of_object(maker: str | None) -> int:
    """What a call of, or of a method of, an object that `maker` made is likely to be."""
    if maker is None or maker.startswith(".") or maker.split(".")[0] in LIBRARIES:
        return PLAUSIBLE
    return _kind_of_path(maker)


def _means_gradients(node: gast.AST) -> bool:
    """Whether a name says that there is one item a variable."""
    name = node.id if isinstance(node, gast.Name) else node.attr if isinstance(node, gast.Attribute) else ""
    return name.endswith(("grads", "gradients", "variables", "weights", "vars", "params"))


def _in_order(statement: gast.AST) -> Iterator[gast.AST]:
    """All nodes of a statement but the bodies of functions and classes in it."""
    stack: list[Any] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, naming.DEFINITIONS):
            stack.extend(reversed(children(node)))


def lasting_captures(roots: Iterable[gast.AST]) -> set[str]:
    """The names that nested scopes may use after the statement that makes them is over.

    Functions, lambdas and classes may, list comprehensions may not; a generator expression may unless a builtin that
    reads all of it is called with it.
    """
    roots = list(roots)
    consumed = {
        id(node.args[0])
        for root in roots
        for node in walk(root)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in _LAZY_READERS
        if len(node.args) == 1 and isinstance(node.args[0], gast.GeneratorExp)
    }
    found: set[str] = set()
    for node in naming.nested_scopes(roots):
        if isinstance(node, (*naming.FUNCTIONS, gast.ClassDef)):
            found |= naming.free_names(node)
            found.update(name for part in walk(node) if isinstance(part, gast.Global) for name in part.names)
        elif isinstance(node, gast.GeneratorExp) and id(node) not in consumed:
            found |= naming.free_names(node)
    return found
