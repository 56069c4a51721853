"""Building a list in a loop: it grows while a tensor says so, and becomes one tensor at the end.

`autoimport.stack` works on any list. `autoimport.set_element_type` says what the items of an empty list will be; it is
needed only where the list may stay empty, since then nothing else tells the type of the result.
"""

import tensorflow as tf

import autoimport


def powers(base, bound):
    """1, base, base**2, ... up to `bound`."""
    found = []
    autoimport.set_element_type(found, tf.float32)
    value = tf.constant(1.0)
    while value <= bound:
        found.append(value)
        value *= base
    return autoimport.stack(found)


def above(values, threshold):
    """The values above `threshold`, in order, and how many there are."""
    kept = []
    autoimport.set_element_type(kept, tf.float32)
    for value in values:
        if value > threshold:
            kept.append(value)
    return autoimport.stack(kept), len(kept)


def running_sums(values):
    """The sum of all values up to each of them."""
    sums = []
    total = tf.constant(0.0)
    for value in values:
        total += value
        sums.append(total)
    return tf.stack(sums)


def main():
    for base in (2.0, 3.0, 10.0):
        print(f"powers of {base:g}:", powers(tf.constant(base), tf.constant(1000.0)).numpy())
    values = tf.constant([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    for threshold in (0.0, 3.5, 4.0):
        kept, count = above(values, tf.constant(threshold))
        print(f"{count} values above {threshold}:", kept.numpy())
    for scale in (1.0, 2.0, 0.5):
        print(f"running sums of {scale} times the values:", running_sums(scale * values).numpy())


if __name__ == "__main__":
    main()
