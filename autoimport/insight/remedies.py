"""Why a function is eager -> what the person could change to make it a graph.

A table: the first pattern that is found in a reason gives the remedy. Reasons are written where they arise (in
conversion, operators and staging); what to do about them is the same wherever they arose, and stands here.
"""

from __future__ import annotations

import re

_REMEDIES: tuple[tuple[str, str], ...] = (
    (r"must run eagerly too often", "avoid what stands in parentheses, or keep it apart in a function of its own."),
    (r"\basync|coroutine|await", "compute in a plain function and await around the call of it."),
    (r"generator|\byield", "move the work of one step into a function of its own and yield its result."),
    (
        r"locals\(\)|vars\(\)|dir\(\)|globals\(\)|\beval\b|\bexec\b|frame",
        "move the computation into a function that does not look at its own names.",
    ),
    (r"\bprint|logging|\blog\b|warn", "return the value and print it in the caller; tf.print runs inside a graph."),
    (r"seed of their own", "leave the seed to tf.random.set_seed, or draw from a tf.random.Generator."),
    (r"seeded random numbers in", "draw in front of the branch or loop, or from a tf.random.Generator."),
    (r"random", "draw with tf.random, or draw in the caller and pass the number as an argument."),
    (r"\btime\b|clock", "read the clock in the caller."),
    (r"\.numpy\(\)|numpy", "use the tf functions inside, and turn the result into an array in the caller."),
    (r"\bglobal", "take the value as an argument and return the new one."),
    (
        r"attribute|\bself\.|nonlocal|\bcell\b",
        "keep the state in a tf.Variable, or return the new value and store it in the caller.",
    ),
    (
        r"append|in place|made outside|\blist\b|\bdict\b",
        "make the list or dict inside the function, or return the value and store it in the caller.",
    ),
    (r"new graph too often", "pass what changes at every call as a tensor, or keep it in a tf.Variable."),
    (r"class definition|\bimport", "move the definition or the import to the top of the module."),
    (
        r"effects are unknown",
        "make that call outside, and pass its result as an argument; or, if it only computes, name it in pure.",
    ),
    (r"only a launch knows", "make that call outside, and pass its result as an argument."),
)


def remedy_for(reason: str) -> str | None:
    """What to change about `reason`, or None where the table knows nothing better than the reason itself."""
    return next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, reason)), None)
