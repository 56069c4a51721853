"""TensorArrays in our own traces: `write` changes the array itself, as in eager mode."""

from __future__ import annotations

from tests.staging.programs import same


def test_writes_whose_result_is_ignored_are_kept_in_loops_and_branches_of_the_graph() -> None:
    program = """
    def labels(numbers):
        out = tf.TensorArray(tf.string, size=tf.size(numbers))
        for k in tf.range(tf.size(numbers)):
            if numbers[k] > 4:
                out.write(k, "many")
            else:
                out.write(k, tf.strings.as_string(numbers[k]))
        return out.stack()
    def main():
        for start in (1, 2, 6, 3):
            show(labels(tf.range(start, start + 4)))
    """
    assert "graph" == same(program).sites["labels"].state


def test_what_write_returns_is_the_same_array() -> None:
    program = """
    def twice(x):
        out = tf.TensorArray(tf.float32, size=2)
        other = out.write(0, x)
        out.write(1, x + 1.0)
        return other.stack(), out.stack()
    def main():
        for x in (1.0, 2.0, 3.0):
            show(twice(tf.constant(x)))
    """
    assert "graph" == same(program).sites["twice"].state
