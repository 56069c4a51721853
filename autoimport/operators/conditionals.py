"""`if` and conditional expressions -> Python's own, or a tf.cond whose branches end with the same types.

Both branches are built once each. The types that their variables end with are unified when the second one is done,
and the first branch's graph then gets its conversions added: a Python 0.0 in one branch need not know, while it is
built, that the other one makes a float32 tensor of the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import tensorflow as tf

from autoimport.operators import aliases, copies, heap, lists, observer, text
from autoimport.operators.asserts import diverge
from autoimport.operators.checks import refuse
from autoimport.operators.errors import Diverged, Unstageable
from autoimport.operators.holders import known_holders
from autoimport.operators.logic import python_truth
from autoimport.operators.predicates import predicate
from autoimport.operators.selects import is_selectable, select
from autoimport.operators.structures import Leaf, Node, Path, capture, describe
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.unification import Mismatch, Unifier, mismatch_error, note_items, zeros

Get = Callable[[], tuple[Any, ...]]
Set = Callable[[tuple[Any, ...]], None]

_WHERE = "the branches of a symbolic condition"


def if_(
    cond: Any,
    then: Callable[[], Any],
    orelse: Callable[[], Any],
    get: Get,
    set: Set,
    names: Sequence[str],
    n_out: int,
) -> None:
    """`if cond: then` `else: orelse`.

    Args:
      cond: any object; where it is symbolic, of one element.
      then, orelse: the branches, as functions that change the variables.
      get, set: read and write all variables that a branch assigns.
      names: their names; the first `n_out` are live afterwards.
    Raises:
      BranchMismatch: a variable has no common type; in a trace of our own `Unstageable`.
    """
    cond = lists.stand_in(cond)
    if not is_symbolic(cond):
        if python_truth(cond):
            then()
        else:
            orelse()
        return
    before = get()

    def branch(run: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
        def values() -> tuple[Any, ...]:
            set(before)
            run()
            outputs = get()[:n_out]
            set(before)  # so that nothing but the outputs keeps what the branch made
            return outputs

        return values

    try:
        with heap.holding(before):
            after = choose(predicate(cond), branch(then), branch(orelse), names[:n_out])
    except BaseException:
        set(before)
        raise
    set(after + before[n_out:])


def if_exp(cond: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`then() if cond else orelse()`."""
    cond = lists.stand_in(cond)
    if not is_symbolic(cond):
        return then() if python_truth(cond) else orelse()
    return choose(predicate(cond), lambda: (then(),), lambda: (orelse(),), ("the value",))[0]


@dataclass
class _Branch:
    """What one branch did: nodes of its values, of what it printed, of the places that it changed. None: it raised."""

    values: list[Node] | None = None
    printed: list[Node] = field(default_factory=list)
    places: dict[heap.Place, Node] = field(default_factory=dict)
    before: dict[heap.Place, Any] = field(default_factory=dict)
    error: Diverged | None = None


def choose(
    pred: Any,
    then: Callable[[], tuple[Any, ...]],
    orelse: Callable[[], tuple[Any, ...]],
    names: Sequence[str],
) -> tuple[Any, ...]:
    """The values that `then` gives where the bool tensor `pred` is true, else those of `orelse`.

    Changes of objects are part of it: each branch starts from the objects as they are now, and every changed place
    ends with the value that the branch taken gives it.

    Raises:
      Diverged: both branches end in a `raise`.
    """
    left = _Branch()
    joined: list[_Joined] = []

    def build_then() -> list[Any]:
        left.__dict__.update(vars(_run(then)))
        graph.append(tf.compat.v1.get_default_graph())
        return []

    def build_orelse() -> list[Any]:
        right = _run(orelse)
        joined.append(_join(names, left, right))
        left_leaves = [leaf for node in joined[0].left for leaf in node.flat()]
        right_leaves = [leaf for node in joined[0].right for leaf in node.flat()]
        with graph[0].as_default():
            outputs = observer.complete([tf.identity(leaf.make()) for leaf in left_leaves])
        # `tf.cond` compares the outputs of the two branch graphs when both are complete.
        graph[0].outputs[:0] = outputs
        graph[0].structured_outputs = outputs
        right_outputs = observer.complete([tf.identity(leaf.make()) for leaf in right_leaves])
        graph.append(tf.compat.v1.get_default_graph())
        if not joined[0].diverged and is_selectable(graph[0], outputs, graph[1], right_outputs):
            raise _Selectable(outputs, right_outputs)
        return right_outputs

    graph: list[Any] = []
    try:
        outputs = tf.cond(pred, build_then, build_orelse)
    except _Selectable as both:
        outputs = select(pred, graph[0], both.left, graph[1], both.right)
    join = joined[0]
    tensors = iter(tf.nest.flatten(outputs))
    made: dict[Path, Any] = {}
    built = [node.build(tensors, made, (k,)) for k, node in enumerate(join.left)]
    _note_aliases(join, made, len(names))
    for place, value in zip(join.places, built[len(names) :], strict=False):
        heap.record(place)
        place.write(value)
    for printed in built[len(names) + len(join.places) :]:
        text.hand_on(printed)
    if join.diverged:
        _raise_after(left.error)
    return tuple(built[: len(names)])


def _note_aliases(join: _Joined, made: dict[Path, Any], n_names: int) -> None:
    """Note for what is `made` of the nodes which objects of the two branches it may be."""
    joints = []
    for k, pair in enumerate(zip(join.left, join.right, strict=True)):
        place = join.places[k - n_names] if 0 <= k - n_names < len(join.places) else None
        for (path, left), (_, right) in zip(*(node.places((k,)) for node in pair), strict=True):
            is_contents = isinstance(place, heap.Container) and len(path) == 1
            if copies.is_changeable(made[path]) and not is_contents:
                joints.append((left.origin, right.origin, made[path]))
                if copies.is_firm(left.origin) or copies.is_firm(right.origin):
                    copies.carried(made[path])
    aliases.join(joints)


class _Selectable(Exception):
    """No conditional of the graph is needed for the two branches with these outputs."""

    def __init__(self, left: list[Any], right: list[Any]) -> None:
        super().__init__()
        self.left = left
        self.right = right


def _run(branch: Callable[[], tuple[Any, ...]]) -> _Branch:
    """Build a branch, and undo what it did to objects."""
    with heap.journal() as journal, text.branch() as printed:
        result = _Branch()
        try:
            result.values = [capture(value) for value in _diverging(branch)]
            result.printed = [capture(value) for value in printed]
            changes = heap.graph_changes(journal)
            result.places = {place: capture(value) for place, value in changes.items()}
            result.before = {place: journal.before[place] for place in changes}
        except Diverged as error:
            result.error = error
            changes = heap.graph_changes(journal)
        except BaseException:
            journal.undo()
            raise
        journal.undo(list(changes))
    return result


def _diverging(branch: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """The branch's values. What Python would raise in it is raised if the graph comes there, as in a `raise`.

    A name or item that an earlier iteration sets, or the branch's condition says to be there, a shape that it rules
    out: eager code never meets them. In the person's graphs that holds for what the iterations of a loop set only; what
    else a `try` there meets while the graph is built stays what it is.
    """
    try:
        return branch()
    except (UnboundLocalError, LookupError, AttributeError, ValueError) as error:
        if is_symbolic(getattr(error, "obj", None)):
            raise
        is_of_a_loop = heap.in_symbolic_loop() and isinstance(error, (UnboundLocalError, LookupError, AttributeError))
        if observer.current() is None and not is_of_a_loop:
            raise
        raised = error
    diverge(lambda: raised)


def _raise_after(error: Diverged | None) -> NoReturn:
    """Both branches raise, so what follows is never reached."""
    if not heap.in_symbolic_body():
        if observer.current() is not None:
            raise Unstageable("a symbolic condition chooses between two exceptions")
        if error is not None and error.__cause__ is not None:
            raise error.__cause__
    raise Diverged from (error and error.__cause__)


@dataclass
class _Joined:
    """Both branches' nodes, made alike: first the values, then the places, then what one of them prints."""

    left: list[Node]
    right: list[Node]
    places: list[heap.Place]
    diverged: bool = False


def _join(names: Sequence[str], left: _Branch, right: _Branch) -> _Joined:
    if left.values is None and right.values is None:
        return _Joined([capture(None) for _ in names], [capture(None) for _ in names], [], diverged=True)
    before = {**left.before, **right.before}
    captured = [*(left.values or []), *(right.values or []), *left.places.values(), *right.places.values()]
    journaled = left.before, right.before, [*left.places, *right.places]
    known = known_holders(captured, *journaled)
    places = [place for place in before if not heap.is_forgotten(place, known)]
    if observer.current() is not None:
        _require_one_order(right.places, before)
    lefts, rights = _nodes(left, places, before), _nodes(right, places, before)
    if lefts is None or rights is None:
        # Where one branch raises, the other one's values win; the first ends with something of the same type.
        taken = [*(lefts or rights or []), *(left.printed if rights is None else right.printed)]
        try:
            stand_ins = [_after_effects(zeros(node)) for node in taken]
        except Mismatch as mismatch:
            raise mismatch_error(", ".join(names), mismatch, _WHERE) from None
        return _Joined(stand_ins, taken, places) if lefts is None else _Joined(taken, stand_ins, places)
    unifier = Unifier()
    for a, b in zip(lefts, rights, strict=True):
        note_items(a, b)
    pairs = []
    holders = [*[None] * len(names), *places]
    for name, place, a, b in zip([*names, *map(str, places)], holders, lefts, rights, strict=True):
        try:
            pair = unifier.unify(name, a, b)
            if isinstance(place, heap.Container) and pair[0].kind == "maybe":
                raise Mismatch(describe(a), describe(b))  # what is in it has to be known, to change it in place
        except Mismatch as mismatch:
            raise mismatch_error(name, mismatch, _WHERE) from None
        pairs.append(pair)
    nothing = capture(None)
    pairs += [unifier.unify("what is printed", node, nothing) for node in left.printed]
    pairs += [unifier.unify("what is printed", nothing, node) for node in right.printed]
    return _Joined([a for a, _ in pairs], [b for _, b in pairs], places)


def _require_one_order(right: Iterable[heap.Place], before: dict[heap.Place, Any]) -> None:
    """New keys and attributes stand in the order in which they were stored; `before` has that of the left branch."""
    new = [place for place, value in before.items() if value is heap.MISSING and not heap.is_namespace(place.holder)]
    last: dict[int, int] = {}
    for place in right:
        if place in new:
            position, holder = new.index(place), id(place.holder)
            if position < last.get(holder, 0):
                refuse("the order of new keys or attributes follows from a condition")
            last[holder] = position


def _after_effects(node: Node) -> Node:
    """The node with tensors that depend on the failing check of their branch, which a v1 graph would prune."""

    def make(leaf: Leaf) -> Callable[[], Any]:
        def guarded() -> Any:
            graph = tf.compat.v1.get_default_graph()
            checks = [op for op in graph.get_operations() if op.type in ("Assert", "If", "While")]
            with tf.control_dependencies(checks):
                return tf.identity(leaf.make())

        return guarded

    leaves = tuple(replace(leaf, make=make(leaf)) for leaf in node.leaves)
    return replace(node, leaves=leaves, children=tuple(_after_effects(child) for child in node.children))


def _nodes(branch: _Branch, places: list[heap.Place], before: dict[heap.Place, Any]) -> list[Node] | None:
    if branch.values is None:
        return None
    return [
        *branch.values,
        *(branch.places.get(place) or _as_left(capture(before[place]), branch) for place in places),
    ]


def _as_left(node: Node, branch: _Branch) -> Node:
    """The node with what the branch, which is undone, has put into the objects below."""
    if node.kind != "container":
        return replace(node, children=tuple(_as_left(child, branch) for child in node.children))
    changed = branch.places.get(heap.Container(node.value))
    if changed is not None:
        return replace(changed, value=node.value)
    attributes = [branch.places.get(heap.Attribute(node.value, key)) for key in node.label[1]]
    parts = [new or _as_left(old, branch) for new, old in zip(attributes, node.children, strict=True)]
    return replace(node, children=tuple(parts))
