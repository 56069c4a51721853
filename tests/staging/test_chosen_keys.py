"""What a condition of tensors chooses, as a key or item where Python's containers ask for a hash or for equality."""

from __future__ import annotations

import re
import textwrap

import pytest

from tests.staging.programs import same

_PROGRAM = """
import collections, enum
class Color(enum.Enum):
    RED, BLUE = 1, 2
class Thing:
    pass
h, g = Thing(), Thing()
def size(found): return len(found)
STEPS
def main():
    for k in range(2):
        for n, m in ((3, 2), (3, 0)):
            for step in steps: attempt(step, tf.constant(n), tf.constant(m))
"""
CHOICES = {
    "functions": ("tf.nn.relu", "tf.nn.tanh"),
    "objects": ("h", "g"),
    "members": ("Color.RED", "Color.BLUE"),
    "types": ("tf.float32", "tf.int32"),
    "a string or None": ("'relu'", "None"),
    "a number or None": ("3", "None"),
    "classes": ("Thing", "Color"),
}
USES = {
    "get": "return {A: 1, B: 2}.get(z)",
    "get of another": "return {A: 1}.get(z, 5)",
    "an item": "return {A: 1, B: 2}[z]",
    "in a set": "return z in {A, B}, z in {A}, z in frozenset([B])",
    "in a dict": "return z in {A: 1}, z in {B: 1}.keys()",
    "in values": "return z in {1: A}.values(), (1, z) in {1: B}.items()",
    "added": "s = {A}\ns.add(z)\nreturn size(s)",
    "discarded": "s = {A, B}\ns.discard(z)\nreturn size(s), A in s",
    "popped": "d = {A: 1, B: 2}\nreturn d.pop(z, 7), size(d)",
    "a default": "d = {A: 1}\nd.setdefault(z, 4)\nreturn size(d)",
    "of a set": "return size({A, z}), size({A: 1, z: 2})",
    "of a comprehension": "return size({q for q in (A, z)})",
    "of a constructor": "return size(set([A, z])), size(dict.fromkeys([B, z]))",
    "counted": "return sorted(collections.Counter([A, z, B]).values())",
    "set operations": "return size({A} | {z}), size({A} & {z}), {A}.isdisjoint({z})",
    "equal dicts": "return {1: z} == {1: A}, {1: z} != {1: B}",
    "equal tuples": "return (1, z) == (1, A), (z,) in [(B,)]",
    "a part of a key": "return {(1, A): 5}.get((1, z))",
    "hashes": "return hash(z) == hash(A)",
    "in a list": "return z in [A], [A, B].index(z), [A, B, A].count(z)",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_choice_is_found_where_its_hash_or_equality_says(use: str) -> None:
    steps = []
    for k, (first, second) in enumerate(CHOICES.values()):
        lines = re.sub(r"\b[AB]\b", lambda found: (first, second)[found[0] == "B"], use)  # noqa: B023
        body = textwrap.indent(f"z = {first} if m > 0 else {second}\n{lines}", "    ")
        steps.append(f"def step_{k}(n, m):\n{body}\n")
    names = ", ".join(f"step_{k}" for k in range(len(steps)))
    same(_PROGRAM.replace("STEPS", "\n".join(steps) + f"\nsteps = [{names}]"))
