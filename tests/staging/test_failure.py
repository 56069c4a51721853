"""The reasons that a report tells where a trace ended in an exception that is not ours."""

from __future__ import annotations

import pytest
import tensorflow as tf

from autoimport.staging.failure import Failure
from tests.staging.programs import same


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("return x + np.mean(pair)", "Cannot convert a symbolic tf.Tensor"),
        ("z = None if x[0] > 5 else pair\n    return x * len(z)", "'MaybeNone'"),
    ],
)
def test_what_only_a_launch_knows_is_called_so(body: str, word: str) -> None:
    ours = same(
        f"""
pair = [tf.constant(1.0), tf.constant(2.0)]
def f(x, k):
    {body}
def main():
    for k in range(5): show(f(tf.constant([1., 2.]), k % 2 == 0))
""",
        f="eager",
    )
    site = ours.sites["f"]
    assert site.reason.startswith("needs a value that only a launch knows (")
    assert word in site.reason
    assert site.reason_line is not None


def test_advice_that_is_of_no_use_here_is_left_out() -> None:
    with tf.Graph().as_default(), pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="attempt") as raised:
        bool(tf.constant([1.0]))
    failure = Failure.of(raised.value, __file__, 3)
    what = "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"
    assert failure.reason == f"needs a value that only a launch knows ({what})"
    assert failure.line is not None


def test_what_the_program_raises_itself_is_told_as_it_is() -> None:
    ours = same(
        """
        def f(x):
            return x * missing
        def main():
            for k in range(5):
                try: f(tf.constant([1., 2.]))
                except NameError as error: show(str(error))
        """,
        f="eager",
    )
    assert ours.sites["f"].reason == "NameError: name 'missing' is not defined"
