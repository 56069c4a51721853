"""What numpy changes, warns about or raises happens where eager Python does it, not while a graph's inputs are computed."""

from __future__ import annotations

import warnings

import pytest

from tests.staging.programs import run, same

FILLING = [
    "np.add(a, 1, a)",
    "np.cumsum(a, None, None, a)",
    "a.cumsum(0, None, a)",
    "np.clip(a, 0, 5, a)",
    "a.clip(0, 5, a)",
    "np.round(a, 0, a)",
    "np.place(a, a > 1, [7.0])",
    "np.putmask(a, a > 1, a * 2)",
    "np.add.at(a, [0, 1, 1], 1.0)",
    "np.put_along_axis(a, np.array([1]), 8.0, 0)",
    "np.nan_to_num(a, False)",
    "np.take(a, [3, 1, 2, 0], None, a)",
    "np.maximum.accumulate(a, 0, None, a)",
    "a.sort()",
    "a.fill(3.0)",
    "a[1:].fill(3.0)",
]


@pytest.mark.parametrize("change", FILLING)
def test_an_array_changes_once_a_call(change: str) -> None:
    same(
        f"""
        def f(a, x):
            {change}
            return tf.reduce_sum(a) * 2 + x
        def main():
            a = np.array([4., 0., 3., np.nan])
            for i in range(5):
                a[3] = i
                show(f(a, tf.constant(1., tf.float64)), a)
        """
    )


WARNING = [
    ("1 / a", "[1.0]", "[0.0]"),
    ("np.log(a)", "[1.0]", "[-1.0]"),
    ("np.mean(a)", "[1.0]", "[]"),
    ("a.mean()", "[1.0]", "[]"),
    ("a.std(ddof=1)", "[1.0, 2.0]", "[1.0]"),
    ("np.nanmean(a)", "[1.0]", "[np.nan]"),
    ("a.astype('int32')", "[1.0]", "[np.nan]"),
    ("a.astype('float32')", "[1.0]", "[1j]"),
]


@pytest.mark.parametrize(("computed", "good", "bad"), WARNING)
@pytest.mark.parametrize("first", ["good", "bad"])
def test_a_warning_names_the_line_of_the_program(computed: str, good: str, bad: str, first: str) -> None:
    values = [good] * 4 + [bad, good, bad] if first == "good" else [bad] * 4
    source = f"""
        def f(a, x):
            y = {computed}
            return tf.cast(y, tf.float64) + x
        def main():
            for a in ({", ".join(values)}): show(f(np.array(a), tf.constant(1., tf.float64)))
        """
    told = []
    for converted in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            lines = run(source, converted=converted).lines
        places = [(str(note.message), note.filename if "program" not in note.filename else "") for note in caught]
        told.append((lines, places))
    plain, staged = told
    assert plain[1]
    assert plain == staged


def test_errors_are_raised_as_the_program_has_set() -> None:
    same(
        """
        def f(a, x):
            return tf.reduce_sum(1 / a) + x
        def main():
            for how in ("raise", "ignore"):
                with np.errstate(all=how):
                    for v in (1., 1., 1., 0., 1., 0.): attempt(f, np.array([v]), tf.constant(1., tf.float64))
        """
    )


def test_a_handler_is_taken_for_the_values_at_hand() -> None:
    same(
        """
        def item(a, k, x):
            try: y = a[k]
            except IndexError: return x * 0
            return tf.reduce_sum(y) + x
        def ratio(k, x):
            try: y = 6. / k
            except ZeroDivisionError: return x * 0
            return y * x + tf.sin(x)
        def main():
            x = tf.constant(1., tf.float64)
            for k in (9, 9, 0, 1, 9, 2): show(item(np.arange(6.).reshape(3, 2), k, x))
            for k in (0, 0, 1, 2, 0, 3): show(ratio(k, x))
        """
    )
