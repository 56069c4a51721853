"""Exceptions, handlers and contexts: what is raised, who handles it, and in which order things end."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tests.conformance.harness import _staging_after, check, compiled

X, N = tf.constant(2.0), tf.constant(-2.0)
VECTOR = tf.constant([3.0, -1.0, 2.0])


# Handlers ---------------------------------------------------------------------------------------------------------------


class Refused(Exception):
    def __init__(self, what, code):
        super().__init__(f"{what} is refused")
        self.code = code


def missing_key(x):
    table = {"a": x}
    try:
        value = table["b"]
    except KeyError as error:
        value = table["a"] * len(error.args)
    return value


def end_of_iterator(x):
    items, total = iter([x, x * 2]), x
    while True:
        try:
            total = total + next(items)
        except StopIteration:
            break
    return total


def own_exception(x, flag):
    try:
        if flag:
            raise Refused("flag", 3.0)
        value = x
    except Refused as error:
        value = x * error.code
    else:
        value = value + 1
    finally:
        x = x * 2
    return value, x


def nested_handlers(x):
    order = []
    try:
        try:
            order.append("try")
            raise ValueError("inner")
        except KeyError:
            order.append("wrong")
        finally:
            order.append("finally")
    except (ValueError, TypeError) as error:
        order.append(str(error))
    return x * 2, order


def raised_in_helper(x, n):
    def helper():
        if n > 0:
            raise ValueError("no")
        return x

    try:
        return helper() * 2
    except ValueError:
        return x * 3


def reraised(x):
    try:
        raise KeyError("first")
    except KeyError as error:
        raise RuntimeError("second") from error


def bad_number(x):
    try:
        return x * float("nothing")
    except ValueError:
        return x


@pytest.mark.parametrize("fn", [missing_key, end_of_iterator, nested_handlers, reraised, bad_number])
def test_what_python_raises_in_a_trace_is_handled_there(fn: Callable[..., Any]) -> None:
    check(fn, (X,), session=True)


def test_exceptions_of_its_own_are_handled() -> None:
    check(own_exception, (X, True), (X, False), session=True)
    check(raised_in_helper, (X, 1), (X, -1), session=True)


TABLE = {"a": 2.0}


def key_that_comes(x):
    try:
        return x * TABLE["b"]
    except KeyError:
        return x


def test_a_key_that_comes_later_is_found() -> None:
    plain, converted = compiled(__file__).load()
    with _staging_after(1):
        for _ in range(3):
            assert converted.key_that_comes(X).numpy() == plain.key_that_comes(X).numpy() == 2.0
        converted.TABLE["b"] = 5.0
        assert converted.key_that_comes(X).numpy() == 10.0
    assert compiled(__file__).site("key_that_comes").graph_calls > 0


# Errors of operations ---------------------------------------------------------------------------------------------------


def handles_operation(x, n):
    try:
        value = tf.reshape(x, [n, 1])
    except tf.errors.InvalidArgumentError:
        value = x * 2
    return value


def handles_gather(x, i):
    try:
        return tf.gather(x, i)
    except tf.errors.InvalidArgumentError:
        return x[0] * 100


def bad_shape(x, n):
    y = x * 2
    return tf.reshape(y, [n, 1])


def bad_operation(x, i):
    return tf.gather(x, i)


def bad_in_branch(x, i):
    if x[0] > 0:
        return tf.gather(x, i)
    return x


def test_a_handler_of_an_operations_error_sees_it() -> None:  # X2
    check(handles_operation, (VECTOR, 3), function=False)
    for given in ((VECTOR, tf.constant(1)), (VECTOR, tf.constant(7))):
        plain, converted = compiled(__file__).load()
        with _staging_after(1):
            for _ in range(4):
                assert converted.handles_gather(*given).numpy() == plain.handles_gather(*given).numpy()


def test_a_handler_that_only_eager_code_reaches_is_left_to_python() -> None:
    check(handles_operation, (VECTOR, 4), staged=False, function=ValueError)


def test_the_error_of_an_operation_is_eagers() -> None:
    check(bad_operation, (VECTOR, tf.constant(1)), (VECTOR, tf.constant(7)))
    check(bad_in_branch, (VECTOR, tf.constant(1)), (VECTOR, tf.constant(7)))


# Raises under conditions on tensors ---------------------------------------------------------------------------------------


def raises_if_negative(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x * 2


def raises_own(x):
    if x < 0:
        raise Refused("x", 7)
    return x * 2


def raises_in_loop(xs):
    total = tf.constant(0.0)
    for x in xs:
        if x < 0:
            raise ValueError("negative")
        total += x
    return total


def handled_in_branch(x):
    if x > 0:
        try:
            raise KeyError("a")
        except KeyError:
            x = x * 2
    return x


def handled_around_branch(x):
    try:
        if x > 0:
            raise KeyError("a")
        x = x * 2
    except KeyError:
        x = x * 3
    return x


@pytest.mark.parametrize("fn", [raises_if_negative, raises_own])
def test_a_raise_in_a_branch_counts_where_the_branch_is_taken(fn: Callable[..., Any]) -> None:  # X3
    check(fn, (X,), (N,))
    check(fn, (X,), session=True)


def test_a_raise_in_a_loop_counts_where_it_is_reached() -> None:
    check(raises_in_loop, (VECTOR,), (VECTOR[:1],))


def test_an_exception_has_its_attributes() -> None:  # X5
    _, converted = compiled(__file__).load()
    with _staging_after(1):
        for _ in range(3):
            converted.raises_own(X)
        with pytest.raises(converted.Refused) as caught:
            converted.raises_own(N)
    assert caught.value.code == 7


def test_a_handler_inside_a_branch_belongs_to_it() -> None:  # X4
    check(handled_in_branch, (N,), session=True)
    check(handled_in_branch, (X,), staged=False, function=tf.errors.InvalidArgumentError)


def test_a_handler_around_a_branch_is_used_where_the_branch_raises() -> None:
    plain, converted = compiled(__file__).load()
    with _staging_after(1):
        for x in (N, N, N, X, X, N):
            assert converted.handled_around_branch(x).numpy() == plain.handled_around_branch(x).numpy()
    assert compiled(__file__).site("handled_around_branch").graph_calls > 0


def fails_at_run_time(x, error):
    def fail(_):
        raise error("told")

    return tf.numpy_function(fail, [x if x > 0 else -x], tf.float32)


def reads_a_file(x, name):
    return x if x > 0 else tf.strings.to_number(tf.io.read_file(name))


KINDS = {
    ValueError: tf.errors.InvalidArgumentError,
    StopIteration: tf.errors.OutOfRangeError,
    MemoryError: tf.errors.ResourceExhaustedError,
    NotImplementedError: tf.errors.UnimplementedError,
    KeyError: tf.errors.UnknownError,
}


@pytest.mark.parametrize("error", list(KINDS))
def test_an_error_at_run_time_has_the_class_of_its_code(error: type[Exception]) -> None:  # ERR-2
    _, converted = compiled(__file__).load()
    with pytest.raises(tf.errors.OpError, match="told") as found:
        tf.function(converted.fails_at_run_time)(N, error)
    assert found.type is KINDS[error]


def test_an_error_of_a_kernel_keeps_its_class() -> None:  # ERR-2
    check(reads_a_file, (X, "no/such/file"), (N, "no/such/file"), staged=False)
    _, converted = compiled(__file__).load()
    with pytest.raises(tf.errors.NotFoundError, match="no/such/file"):
        tf.function(converted.reads_a_file)(N, "no/such/file")


def test_a_traceback_shows_the_persons_lines_and_none_of_ours() -> None:  # ERR-1, ERR-3, X6
    _, converted = compiled(__file__).load()
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(converted.raises_if_negative)(N)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert not [file for file in files if "/autoimport/operators/" in file or "/autoimport/staging/" in file]
    assert "raises_if_negative" in str(caught.value)


def test_an_error_while_tracing_points_at_the_persons_line() -> None:  # ERR-1, X6
    _, converted = compiled(__file__).load()
    with pytest.raises(ValueError, match="reshape") as caught:
        tf.function(converted.bad_shape)(VECTOR, 4)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert "return tf.reshape(y, [n, 1])" in lines


# Contexts and endings ---------------------------------------------------------------------------------------------------


def in_name_scope(x):
    with tf.name_scope("scope"), tf.device("cpu:0"):
        if x > 0:
            return x * 2
    return x


def with_tape(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x if x > 0 else x
    return tape.gradient(y, x)


def ends_in_finally(x):
    order = []
    try:
        order.append("try")
        if x > 0:
            return x * 2, order
        order.append("after")
    finally:
        order.append("finally")
    return x, order


def finally_in_loop(xs):
    total, ends = tf.constant(0.0), 0
    for i in range(3):
        try:
            if i == 1:
                continue
            total = total + xs[i]
        finally:
            ends += 1
    return total, ends


def suppressed(x):
    with contextlib.suppress(KeyError):
        x = {"a": x}["b"]
    return x


@contextlib.contextmanager
def noting(order):
    order.append("enter")
    yield
    order.append("exit")


def own_context(x):
    order = []
    with noting(order):
        x = x * 2
    return x, order


@pytest.mark.parametrize("fn", [in_name_scope, with_tape])
def test_contexts_of_tensorflow(fn: Callable[..., Any]) -> None:  # ERR-5
    check(fn, (X,), (N,), session=fn is in_name_scope)


def test_finally_runs_once() -> None:  # ERR-6
    check(finally_in_loop, (VECTOR,), session=True)


def test_a_context_made_of_a_generator_is_left_to_python() -> None:
    check(own_context, (X,), staged=False, function=False)
    check(suppressed, (X,), staged=False)
