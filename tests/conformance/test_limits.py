"""What AutoGraph refuses or gets wrong, by its own documentation: it works here, or runs as written."""

from __future__ import annotations

import functools
import pdb
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import autoimport
from autoimport.api import ConversionError
from autoimport.staging import policy
from tests.conformance.harness import _staging_after, check, compiled

X, N = tf.constant(2.0), tf.constant(-2.0)
VECTOR = tf.constant([1.0, -2.0, 3.0])


# Names ------------------------------------------------------------------------------------------------------------------


def set_in_one_branch_and_read_in_one(x):
    if x > 0:
        y = x * 2
        done = True
    else:
        done = False
    if done:
        return y
    return x


def set_in_the_first_iteration(xs):
    first = True
    for x in xs:
        if first:
            best, first = x, False
        else:
            best = tf.maximum(best, x)
    return best


def structure_first_set_in_a_loop(xs):
    for x in xs:
        found = {"a": x, "b": [x * 2, (x, 1)], "c": None}
    return found


def text_first_set_in_a_loop(xs):
    for x in xs:
        kind = "positive" if VECTOR.shape.rank == 1 else "other"
        total = x
    return total, kind


def first_set_in_a_loop_over_a_dataset(xs):
    for x in tf.data.Dataset.from_tensor_slices(xs):
        last = x * 2
    return last


def returned_in_a_loop_or_after(xs):
    for x in xs:
        if x > 0:
            return x
    return tf.reduce_sum(xs) - 1.0


def returned_in_every_iteration(n):
    for i in tf.range(n):
        return i * 2
    return tf.constant(-1)


def test_a_name_of_one_path_that_the_other_never_reads() -> None:  # U2
    check(set_in_one_branch_and_read_in_one, (X,), (N,), session=True)


def test_a_name_that_the_first_iteration_sets() -> None:  # U3
    check(set_in_the_first_iteration, (VECTOR,), (VECTOR[:1],), session=True)


def test_any_structure_may_be_first_set_in_a_loop() -> None:  # U4
    check(structure_first_set_in_a_loop, (VECTOR,))
    check(text_first_set_in_a_loop, (VECTOR,), function=False)
    check(first_set_in_a_loop_over_a_dataset, (VECTOR,), staged=False)  # U5, FOR-36


def test_a_return_after_a_loop_without_iterations() -> None:  # U7
    check(returned_in_a_loop_or_after, (VECTOR,), (-abs(VECTOR),), (VECTOR[:0],), session=True)
    check(returned_in_every_iteration, (tf.constant(2),), (tf.constant(0),), session=True)


# Collections ------------------------------------------------------------------------------------------------------------


def list_joined_in_loop(n):
    items = [tf.constant(0)]
    for i in tf.range(n):
        items = items + [i]
    return tf.stack(items)


def dict_gains_key_in_branch(x):
    table = {"a": x}
    if x > 0:
        table["b"] = x * 2
    else:
        table["b"] = -x
    return table["a"], table["b"]


def dict_gains_key_in_loop(xs):
    table = {"total": tf.constant(0.0)}
    for x in xs:
        table["total"] = table["total"] + x
        table["last"] = x
    return table["total"], table["last"]


def values_leave_through_a_list(x):
    found = []
    if x > 0:
        found.append(x * 2)
    else:
        found.append(-x)
    return found[0]


def comprehension_over_tensor(xs):
    return [x * 2 for x in xs], {i: x for i, x in enumerate(xs)}


def comprehension_with_test(xs):
    return [x for x in xs if x > 0]


@pytest.mark.parametrize("fn", [dict_gains_key_in_branch, values_leave_through_a_list])
def test_containers_change_in_branches(fn: Callable[..., Any]) -> None:  # C2, C6
    check(fn, (X,), (N,), session=True)


def test_containers_change_in_loops() -> None:  # C1, C2
    check(list_joined_in_loop, (tf.constant(3),), session=True)
    check(dict_gains_key_in_loop, (VECTOR,), session=True)


def test_comprehensions_walk_over_tensors() -> None:  # C4
    check(comprehension_over_tensor, (VECTOR,), function=False)


def test_the_length_of_a_list_depends_on_values() -> None:  # C4
    check(comprehension_with_test, (VECTOR,), function=False)


# Python's loops ---------------------------------------------------------------------------------------------------------


def python_range(x):
    for i in range(3):
        x = x * float(i + 1)
    return x


def list_of_tensors(x):
    total = x
    for v in [x, x * 2, x * 3]:
        if v > 0:
            total = total + v
    return total


def broken_by_tensor(x):
    for i in range(5):
        if x > 10:
            break
        x = x * 2 + float(i)
    return x


def python_iterator(x):
    items = iter([1.0, 2.0, 3.0])
    first = next(items)
    for item in items:
        x = x * item
    return x, first


def resumed_generator(items, x):
    for item in items:
        x = x * item
        break
    return x


@pytest.mark.parametrize("fn", [python_range, list_of_tensors, broken_by_tensor, python_iterator])
def test_loops_over_python_values_are_unrolled(fn: Callable[..., Any]) -> None:  # M1, M4
    check(fn, (X,), (N,), session=True)


def long_loop(x, n):
    count = 0
    while True:
        x = x * 1.001
        count += 1
        if count == n:
            break
    return x


def test_a_long_loop_of_python_is_unrolled_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:  # DSP-18, DSP-19, M6
    check(long_loop, (X, 30))
    monkeypatch.setattr(policy, "MOST_OPERATIONS", 20)
    check(long_loop, (X, 30), staged=False)


def test_a_generator_from_outside_is_consumed_as_in_python() -> None:  # M5
    check(resumed_generator, lambda: ((v for v in (2.0, 3.0)), X), staged=False, function=False)


# Exceptions -------------------------------------------------------------------------------------------------------------


def all_of_dataset(x):
    items = iter(tf.data.Dataset.range(3))
    while True:
        try:
            x = x + tf.cast(next(items), tf.float32)
        except StopIteration:
            break
    return x


def test_the_end_of_a_dataset_is_handled() -> None:  # X1, ERR-4
    check(all_of_dataset, (X,), staged=False, function=False)


class Detailed(Exception):
    def __init__(self, text, *, detail):
        super().__init__(text)
        self.detail = detail


def raises_detailed(x):
    if x < 0:
        raise Detailed("too small", detail=3)
    return x


@pytest.mark.parametrize("calls", [0, 3])
def test_an_exception_keeps_its_class_attributes_and_line(calls: int) -> None:  # X5
    _, converted = compiled(__file__).load()
    with _staging_after(1):
        for _ in range(calls):
            converted.raises_detailed(X)
        with pytest.raises(converted.Detailed, match="too small") as caught:
            converted.raises_detailed(N)
    assert caught.value.detail == 3
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.name) == (__file__, "raises_detailed")
    assert frame.line == 'raise Detailed("too small", detail=3)'


# Functions --------------------------------------------------------------------------------------------------------------


def rising(values):
    best = None
    for value in values:
        if best is None or value > best:
            best = value
            yield value


def sum_of_rising(xs):
    total = 0.0
    for value in rising(xs):
        total = total + value
    return total


def same_line(x):
    first, second = (lambda v: v * 2 if v > 0 else v), (lambda v: v * 3 if v > 0 else v)
    return first(x), second(x), (lambda v: (lambda w: w + 1 if w > 0 else w)(v))(x)


def called_back(xs):
    return functools.reduce(lambda a, b: a + b if b > 0 else a, xs), max(xs, key=lambda v: -v if v > 0 else v)


def numpy_of_tensor(x):
    return tf.constant(np.sin(x.numpy()), tf.float32)


def numpy_function(x):
    return float(np.sum(x))


def test_a_generator_over_a_tensor_is_left_to_python() -> None:  # F1
    check(sum_of_rising, (VECTOR,), staged=False, function=TypeError)


def cannot_be_in_a_graph_form(x):
    n = 0
    while (y := x * 2) < 0:
        n += 1
    else:
        x = y
    return x if x > 0 else -x, n


def test_what_cannot_be_converted_runs_as_written_and_says_why() -> None:  # F13, ERR-7, ERR-8
    _, converted = compiled(__file__).load()
    assert converted.cannot_be_in_a_graph_form(X)[0].numpy() == 4.0
    facts = compiled(__file__).site("cannot_be_in_a_graph_form").facts
    assert not facts.has_form
    with pytest.raises(ConversionError, match=r"test_limits\.py:\d+: .*walrus"):
        autoimport.to_graph(cannot_be_in_a_graph_form)


def test_graph_forms_are_code_of_the_persons_file() -> None:  # P5
    file = compiled(__file__)
    converted = [site for site in file.sites if site.facts.has_form]
    assert len(converted) > 20
    for site in converted:
        form = site.module.form(site.index)
        assert form.co_filename == __file__ and form.co_firstlineno <= site.facts.line
        lines = {line for _, _, line in form.co_lines() if line is not None}
        assert lines <= set(range(form.co_firstlineno, site.facts.end_line + 1))


def test_lambdas_on_one_line_are_told_apart() -> None:  # F8
    check(same_line, (X,), (N,), session=True)


def test_functions_called_back_by_builtins_are_converted() -> None:  # F9
    check(called_back, (VECTOR,), session=True)


@pytest.mark.parametrize(("fn", "staged"), [(numpy_of_tensor, False), (numpy_function, True)])
def test_native_functions_of_tensors_get_what_eager_code_gives_them(
    fn: Callable[..., Any], staged: bool
) -> None:  # F10
    check(fn, (VECTOR,), staged=staged, function=Exception)


def test_a_function_without_source_cannot_be_converted_and_says_so() -> None:  # F7
    space: dict[str, Any] = {}
    exec("def shell(x):\n    return x if x > 0 else -x\n", space)
    with pytest.raises(ValueError, match="define it in a file"):
        autoimport.convert(space["shell"])


COUNT = 0


def counts(x):
    global COUNT
    COUNT += 1
    return x


def calls_that_count(x):
    if x > 0:
        x = counts(x) + counts(x)
    return x


def test_changes_by_callees_are_seen() -> None:  # H1
    check(calls_that_count, (X,), (N,), state=lambda module: module.COUNT, function=False)


# Tracing and tools ------------------------------------------------------------------------------------------------------


def prints_the_branch(x):
    if x > 0:
        print("positive", x)
    else:
        print("other", x)
    return x * 2


def prints_in_loop(xs):
    for x in xs:
        print(x)
    return xs * 2


def python_and_tensorflow_print(x):
    print("before", x)
    tf.print("between", x, output_stream="file:///dev/null")
    print("after", x * 2)
    return x * 2


@pytest.mark.parametrize("fn", [prints_the_branch, python_and_tensorflow_print])
def test_prints_show_values_at_every_call(fn: Callable[..., Any]) -> None:  # P1, P3
    for x in (X, N):
        plain, converted = compiled(__file__).load()
        compare_prints(getattr(plain, fn.__name__), getattr(converted, fn.__name__), x)


def test_prints_in_loops_show_values_at_every_call() -> None:  # P1
    plain, converted = compiled(__file__).load()
    compare_prints(plain.prints_in_loop, converted.prints_in_loop, VECTOR)


def compare_prints(plain: Callable[..., Any], converted: Callable[..., Any], x: Any) -> None:
    import contextlib
    import io

    with _staging_after(1):
        for _ in range(4):
            texts = []
            for fn in (plain, converted):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    fn(x)
                texts.append(out.getvalue())
            assert texts[0] and texts[1] == texts[0]


def condition_with_effect(n):
    i = tf.constant(0)
    while asked(i) < n:
        i += 1
    return i, ASKED.read_value()


ASKED = tf.Variable(0)


def asked(i):
    ASKED.assign_add(1)
    return i


def test_a_condition_of_a_loop_is_asked_once_a_test() -> None:  # P2
    check(condition_with_effect, (tf.constant(3),), state=lambda module: module.ASKED)


def stepped(x):
    y = x * 2
    if y > 0:
        y = y + 1
    return y


def test_a_tracer_sees_the_lines_of_the_person() -> None:  # P4
    lines: list[int] = []
    _, converted = compiled(__file__).load()
    code = converted.stepped.__code__

    def tracer(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code is code and event == "line":
            lines.append(frame.f_lineno - code.co_firstlineno)
        return tracer

    with _staging_after(1):
        for _ in range(3):
            converted.stepped(X)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        converted.stepped(X)
    finally:
        sys.settrace(before)
    assert lines[-4:] == [1, 2, 3, 4]


def breaks(x):
    pdb.set_trace()
    return x * 2


def test_a_debugger_stops_in_the_persons_code(monkeypatch: pytest.MonkeyPatch) -> None:  # P4, CAL-33
    _, converted = compiled(__file__).load()
    stops: list[str] = []
    monkeypatch.setattr(pdb, "set_trace", lambda: stops.append(sys._getframe(1).f_code.co_filename))
    with _staging_after(1):
        for _ in range(3):
            assert converted.breaks(X).numpy() == 4.0
    assert stops == [__file__] * 3
