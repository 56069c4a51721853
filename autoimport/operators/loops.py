"""`while` and `for` -> Python's own loop as long as Python can decide, then a tf.while_loop over the variables.

A loop is built with the types that its variables start with. Where an iteration ends with other ones (a shape that
grows, a Python 0.0 that becomes a tensor, a name that had no value, an attribute that the body sets), the attempt is
undone and the loop is built again with types that hold both. Where what Python does in the first iteration could be
told from that, the first iteration is taken out of the loop instead: `if test: body; while test: body`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from autoimport.operators import aliases, heap, lists, observer
from autoimport.operators.access import iterate
from autoimport.operators.checks import fail_if, negation
from autoimport.operators.conditionals import Get, Set, choose, if_
from autoimport.operators.driver import Driver
from autoimport.operators.errors import BranchMismatch, TypesDiffer
from autoimport.operators.iterators import leave
from autoimport.operators.logic import python_truth
from autoimport.operators.loop_bodies import Loop, Options, Peel
from autoimport.operators.loops_over import driver_from, driver_over, is_python_zip, python_items
from autoimport.operators.plain_iterators import asks_nobody
from autoimport.operators.predicates import predicate
from autoimport.operators.streams import Each
from autoimport.operators.structures import Leaf, Node, capture, promote
from autoimport.operators.symbolic import is_symbolic
from autoimport.operators.undefined import MaybeNone

_MOST_BRANCHES = 8  # iterations of a Python loop, one in the other, that the graph may leave early


def while_(
    test: Callable[[], Any],
    body: Callable[[], Any],
    get: Get,
    set: Set,
    names: Sequence[str],
    n_out: int,
    options: Options = None,
) -> None:
    """`while test(): body()`.

    Args:
      test, body: functions over the variables.
      get, set: read and write the variables that are carried from one iteration to the next.
      names: their names; the first `n_out` are live after the loop.
      options: what `set_loop_options` was given, as functions.
    """
    while True:
        go = lists.stand_in(test())
        if is_symbolic(go):
            break
        if not python_truth(go):
            return
        _repeat()
        body()

    def step(_: Any) -> tuple[Any, ...]:
        body()
        # At the end of the body, not in the loop's condition: so its effects happen exactly as often as in Python.
        return (predicate(lists.stand_in(test())),)

    driver = Driver((predicate(go),), lambda more: more, step, lambda _: (tf.constant(False),))
    run(driver, get, set, names, n_out, options)


def for_(
    iterable: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get: Get,
    set: Set,
    names: Sequence[str],
    n_out: int,
    options: Options = None,
) -> None:
    """`for item in iterable: body(item)`, as long as `extra_test()` holds.

    Args:
      iterable: anything; over tensors, datasets, iterators and what is made of them a graph is built.
      extra_test: false once a `break` or `return` has happened; None if there is none.
      body: assigns the target first.
      get, set, names, n_out, options: as for `while_`.
    """
    iterable = lists.stand_in(iterable)
    if isinstance(iterable, Each) and iterable.is_plain and iterable.is_fresh:
        iterable.take(all_of_them=extra_test is None)
        iterable = iterable.source
    if isinstance(iterable, Each) and iterable.is_fresh and (extra_test is None or not iterable.is_shared):
        from autoimport.operators.comprehensions import Sink, push

        push(iterable, Sink(body, get, set, names, extra_test))
        return
    if is_python_zip(iterable):
        _python_for(python_items(iterable), extra_test, body, get, set, names, n_out)
        return
    walk = iterable.walk() if isinstance(iterable, MaybeNone) else None
    if walk is not None:
        _python_for(walk, extra_test, body, get, set, names, n_out)
        return
    if is_symbolic(iterable):
        go = True if extra_test is None else extra_test()
        if not is_symbolic(go):
            if go:
                _run_over(driver_over(iterable, extra_test, body), get, set, names, n_out, options)
            return
        if_(
            go,
            lambda: _run_over(driver_over(iterable, extra_test, body), get, set, names, n_out, options),
            lambda: None,
            get,
            set,
            names,
            len(names),
        )
        return
    _python_for(iterate(iterable), extra_test, body, get, set, names, n_out)


def _run_over(driver: Driver | None, get: Get, set: Set, names: Sequence[str], n_out: int, options: Options) -> None:
    if driver is not None:
        run(driver, get, set, names, n_out, options)


def _python_for(
    items: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get: Get,
    set: Set,
    names: Sequence[str],
    n_out: int,
) -> None:
    """Iterate in Python. Once a jump depends on the graph, the rest of the iterations are conditional.

    In traces of ours the rest of a longer `range` is a loop of the graph then, or nothing: each iteration would be a
    branch in the branch of the last one, and forty of these take seconds to build.
    """
    for number, item in enumerate(items):
        _repeat()
        go = True if extra_test is None else extra_test()
        if is_symbolic(go):
            if observer.current() is not None and type(items) is range and len(items) - number > _MOST_BRANCHES:
                run(driver_from(items[number:], go, extra_test, body), get, set, names, n_out)  # type: ignore[arg-type]
                return
            if_(go, lambda item=item: body(item), lambda: None, get, set, names, len(names))  # type: ignore[misc]
        elif go:
            body(item)
        if extra_test is not None:
            go = extra_test()
            if not is_symbolic(go) and not go:
                break  # before the next item is asked for
            if is_symbolic(go) and not asks_nobody(items, sys._getframe(2)):
                _leaves_at_a_tensor(items)


def _leaves_at_a_tensor(items: Any) -> None:
    trace = observer.current()
    if trace is not None:
        name = "generator" if type(items) is Each else type(items).__name__
        trace.effect(f"leaves a loop over a {name} by a tensor: its next step would run all the same")
    leave()


def _repeat() -> None:
    """One more iteration of a Python loop is put into the graph."""
    trace = observer.current()
    if trace is not None:
        trace.repeat()


def run(
    driver: Driver,
    get: Get,
    set: Set,
    names: Sequence[str],
    n_out: int,
    options: Options = None,
    *,
    peeled: bool = False,
) -> None:
    """Build a tf.while_loop that `driver` moves on, and leave the variables with their values after it."""
    before = get()
    nodes = [promote(capture(value)) for value in before]
    _apply_invariants(nodes, before, options)
    loop = Loop(driver, get, set, list(names), [], nodes, options)
    del nodes  # which keep the objects that they were made of
    try:
        with heap.symbolic_loop(), heap.holding(before), aliases.keeping(loop.carried.kept):
            outputs = loop.build()
    except Peel as peel:
        set(before)
        if peeled:
            raise peel.error from None
        with heap.symbolic_loop():
            _peel(driver, get, set, names, n_out, options)
        return
    except BaseException:
        set(before)
        raise
    trace = observer.current()
    if trace is not None and loop.replaced and not driver.is_sure:
        trace.bail_if(negation(driver.more(*driver.start)), "a loop has no iteration, and leaves what was made outside")
    tensors = iter(outputs)
    values = loop.outcomes(tensors)
    set(tuple(values[: len(names)]))
    for place, value in zip(loop.places, values[len(names) :], strict=True):
        heap.record(place)
        place.write(value)


def _peel(driver: Driver, get: Get, set: Set, names: Sequence[str], n_out: int, options: Options) -> None:
    before = get()

    def first_and_rest() -> tuple[Any, ...]:
        set(before)
        state = driver.step(*driver.start)
        most = None if driver.most is None else driver.most - 1
        rest = dataclasses.replace(driver, start=state, most=most, has_first=False)
        try:
            run(rest, get, set, names, n_out, options, peeled=True)
        except Exception:
            trace = observer.current()
            if trace is None:
                raise
            # No second iteration can be built with what the first one left; perhaps there never is one.
            trace.bail_if(driver.more(*state), "a second iteration, which meets other types")
        return _outputs(get, set, before, n_out)

    def nothing() -> tuple[Any, ...]:
        return before[:n_out]

    if driver.is_sure:
        after = first_and_rest()
        set(after + before[n_out:])
        return
    more = driver.more(*driver.start)
    try:
        after = choose(more, first_and_rest, nothing, names[:n_out])
    except (TypesDiffer, BranchMismatch):
        if not _keeps_checks():
            raise
        # An iteration and none leave unlike values: there has to be one.
        fail_if(negation(more), f"a loop without an iteration leaves {', '.join(names)} with other types", more)
        after = first_and_rest()
    set(after + before[n_out:])


def _keeps_checks() -> bool:
    """Whether the graph runs a check on which no result depends; a plain v1 graph does not."""
    return observer.current() is not None or isinstance(tf.compat.v1.get_default_graph(), tf.__internal__.FuncGraph)


def _outputs(get: Get, set: Set, before: tuple[Any, ...], n_out: int) -> tuple[Any, ...]:
    """The values of the live variables, which afterwards hold what they held before."""
    values = get()[:n_out]
    set(before)
    return values


def _apply_invariants(nodes: list[Node], before: tuple[Any, ...], options: Options) -> None:
    """Give the variables named in `shape_invariants` the shapes that the person asked for."""
    invariants = (options or {}).get("shape_invariants")
    for value, shape in (invariants() if callable(invariants) else invariants) or []:
        for i, candidate in enumerate(before):
            if candidate is value:
                nodes[i] = _with_shapes(nodes[i], shape)


def _with_shapes(node: Node, shape: Any) -> Node:
    if node.kind == "container":
        shapes = tf.nest.flatten(shape)
        children = node.children
        if len(shapes) == 1:
            shapes *= len(children)
        return dataclasses.replace(
            node,
            value=None,
            was=node.origin,
            children=tuple(_with_shapes(c, s) for c, s in zip(children, shapes, strict=True)),
        )
    if node.kind != "tensor":
        return node
    leaf: Leaf = node.leaves[0]
    shape = shape.shape if isinstance(shape, tf.TensorSpec) else tf.TensorShape(shape)
    return dataclasses.replace(node, value=None, leaves=(dataclasses.replace(leaf, shape=shape),))
