"""`print` in a function happens at every call, with the numbers of that call; a graph traced once would print once."""

import tensorflow as tf


def improve(guess, target):
    """One step of Newton's method towards the cube root of `target`, several times over."""
    for _ in tf.range(3):
        if guess > 0:
            guess = (2.0 * guess + target / (guess * guess)) / 3.0
        else:
            guess = tf.ones_like(guess)
    return guess


def told_step(guess, target):
    """The same, and a line about it."""
    better = improve(guess, target)
    print(f"from {guess:.3f} to {better:.3f}")
    return better


def main():
    guess = tf.constant(1.0)
    for step in range(5):
        print("step", step, end=": ")
        guess = told_step(guess, tf.constant(200.0))
    print(f"the cube root of 200 is {guess:.3f}")


if __name__ == "__main__":
    main()
