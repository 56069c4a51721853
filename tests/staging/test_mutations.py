"""Changes of containers that are older than the call: each made once, in order, after the launch, as in plain Python."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging import programs

_PROGRAM = """
import collections, functools
items = [10, 20, 30]
table = {"a": 1, "b": 2}
seen = {1, 2}
recent = collections.deque([0], maxlen=3)
class Kept:
    def __init__(self): self.items = [1]; self.table = {}
kept = Kept()
def step(x, k):
    y = tf.reduce_sum(x * x + 2.0) - 1.0
BODY
def main():
    for k in range(5):
        attempt(step, tf.constant([1.0, 2.0]) * k, k)
        show(items, table, sorted(map(str, seen)), list(recent), kept.items, kept.table)
        BETWEEN
"""


def step_of(body: str, between: str = "pass") -> registry.Site:
    """The site of `step(x, k)` with this body, which finds `y` (3, 8, 23, 48, 83), after a run that changes what plain
    Python changes."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    return programs.same(source.replace("BETWEEN", between)).sites["step"]


GRAPHS = {
    "a list extended": "items.extend([y, k])\nitems.extend((x,))\nitems.append(3)\nreturn items[-1]",
    "a list augmented": "kept.items += [y]\nkept.items += (k,)",
    "an item inserted": "items.insert(0, y)\nitems.insert(-1, k)\nitems.append(x)\nitems.extend([1, y])",
    "an item stored": "items[0] = y\nitems[-1] = k\nitems[0] = items[0] + 1.0\nreturn items[2], items[-1], items[1]",
    "a list emptied": "items.clear()\nitems.append(y)\nitems.reverse()",
    "popped from what was appended": "items.append(y)\nitems.append(k)\nreturn items.pop()",
    "a dict updated": "table.update({'a': y}, c=k)\ntable.update(a=2)\nreturn table['a'], table['c'], table['b']",
    "a dict augmented": "global table\ntable |= {'a': y, 'd': k}",
    "a default set": "return table.setdefault('z', y), table.setdefault('a', y), table.setdefault('n')",
    "a set": "seen.add(int(y))\nseen.discard(2)\nseen.add(k)",
    "a deque": "recent.append(y)\nrecent.appendleft(k)\nrecent.extend([x, 1])\nrecent.rotate(1)",
    "what two names share": "first = kept.table\nfirst['a'] = y\nkept.table['b'] = first['a']",
    "in order with stores and prints": "print('a')\nitems.insert(0, k)\nkept.last = y\nprint('b')\nitems.insert(0, y)",
    "under a condition": """
        if y > 20.0:
            items.insert(0, y)
            seen.add('large')
            recent.append(k)
            table.update(a=y)
            items.append(x)
        else:
            recent.append(y)
            items.extend([k])
        """,
    "by methods of the type": "list.append(items, y)\ndict.update(table, c=k)\nset.add(seen, k)\nlist.insert(items, 0, k)",
    "by a partial": "functools.partial(items.append, y)()\nfunctools.partial(dict.update, table)(c=k)",
    "a key that only a branch stores": "if y > 20.0:\n    table['n'] = y\nfound = 'n' in table\ntable.clear()\nreturn found",
    "augmented in a loop over tensors": "new = items\nfor i in tf.range(k):\n    new += [1.0]",
    "a dict augmented in a loop over tensors": "new = table\nfor i in tf.range(k):\n    new |= {'a': k}",
    "a new list into an old one": "new = [y]\nitems.append(new)\nnew.append(k)\nkept.items.insert(0, new)",
}
EAGER = {
    "read after a change that is not known": "items.insert(0, y)\nreturn len(items)",
    "an item read after such a change": "items.insert(0, y)\nreturn items[0]",
    "searched after such a change": "seen.add(k)\nreturn 2 in seen",
    "taken from a deque": "recent.append(y)\nreturn recent.popleft()",
    "a deque read": "recent.append(y)\nreturn recent[-1]",
    "the length of a deque": "recent.append(y)\nreturn len(recent)",
    "a deque walked over": "return [v for v in recent], y",
    "a deque in a condition": "return bool(recent), y",
    "a deque joined": "return recent + recent, y",
    "a deque counted": "return recent.count(0), y",
    "a place that depends on values": "items[int(y) % 2] = y",
    "an item stored under a condition": "if y > 20.0:\n    items[0] = y",
    "a special method": "items.__setitem__(0, y)\nitems.__iadd__([k])",
    "a special method of the type": "dict.__setitem__(table, 'a', y)\ndict.__delitem__(table, 'a')",
    "a method that a library calls": "tf.nest.map_structure(items.append, [1, 2])\nreturn y",
    "removed by value": "items.append(20)\nitems.remove(20)",
    "sorted in place": "items.sort()",
    "in a loop over tensors": "for i in tf.range(tf.cast(y, tf.int32)):\n    items.insert(0, 1)",
}


@pytest.mark.parametrize("body", GRAPHS.values(), ids=GRAPHS)
def test_changes_of_old_containers_are_made_after_the_launch(body: str) -> None:
    site = step_of(body)
    assert "graph" == site.state, site.reason


@pytest.mark.parametrize("body", EAGER.values(), ids=EAGER)
def test_what_reads_a_container_that_will_change_stays_eager(body: str) -> None:
    assert "eager" == step_of(body).state


CHANGED = {
    "a key": ("return table.pop('a', y)", "table['a'] = k"),
    "an item": ("v = items.pop(0)\nitems.append(y)\nreturn v", "items.insert(0, k)"),
    "the last item": ("return items.pop(), y", "items.append(k)"),
    "a shorter list": ("items[2] = y", "k == 2 and items.pop()"),
    "another end": ("items[-1] = y\nreturn items[-1]", "k == 2 and items.append(0)"),
    "another container": (
        "items.insert(0, y)\nrecent.append(k)",
        "globals().update(items=[k], recent=type(recent)([k]))",
    ),
}


@pytest.mark.parametrize(("body", "between"), CHANGED.values(), ids=CHANGED)
def test_containers_that_the_program_changes_between_calls(body: str, between: str) -> None:
    assert step_of(body, between).traces > 0


# Only the graph knows whether it is there.
STORED_ON_ONE_WAY = [
    "return table.pop('n', None)",
    "table.pop('n', None)",
    "return table.get('n', k)",
    "return table.setdefault('n', k), table['n']",
    "return table['n']",
    "try:\n    return table['n']\nexcept KeyError:\n    return k",
    "return (table['n'] if 'n' in table else k), 'n' not in table",
]


@pytest.mark.parametrize("use", STORED_ON_ONE_WAY)
def test_a_key_that_one_branch_stores_is_there_only_behind_it(use: str) -> None:
    assert step_of(f"if y > 20.0:\n    table['n'] = y\n{use}", "table.pop('n', None)").traces > 0


def test_nothing_is_changed_by_a_call_that_goes_back_to_eager() -> None:
    body = "items.insert(0, y)\nrecent.append(k)\ntable.update(a=y)\nitems.append(x)\nif y == 23.0:\n    raise ValueError(k)"
    site = step_of(body)
    assert "graph" == site.state, site.reason
