"""A list or dict that a condition or loop chooses, and that others know, too: a change of it is seen by all of them."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

_PROGRAM = """
def either(items, q):
    if q > 0:
        return items
    return [q]
class Holder:
    def __init__(self, items): self.items = items
def step(n, m):
BODY
def main():
    for k in range(3):
        for n, m in ((3, 2), (3, 0), (-3, 1)):
            attempt(step, tf.constant(n), tf.constant(m))
"""


def state(body: str) -> str:
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    return same(source).sites["step"].state


KNOWN = {
    "an expression": "a, b = [n], [m]\nz = a if m > 0 else b\nz.append(5)\nreturn a, b, z",
    "a statement": "a, b = [n], [m]\nz = a\nif m > 0:\n    z = b\nz[0] = n + 7\nreturn a, b, z",
    "one of them is new": "a = [n]\nz = a\nif m > 0:\n    z = [m]\nz[0] = n + 7\nreturn a, z",
    "the other name is changed": "a, b = {'x': n}, {'x': m}\nz = a if m > 0 else b\na['x'] = n + 7\nreturn z",
    "a dict": "a = {'x': n}\nz = a\nif m > 0:\n    z = {'x': m}\nz['x'] = n + 7\nreturn a, z",
    "an item of a list": "a = [[n], [m]]\nz = a[0] if m > 0 else a[1]\nz.append(n)\nreturn a",
    "an attribute": "h = Holder([n])\nz = h.items if m > 0 else [m]\nz.append(n)\nreturn h.items, z",
    "an attribute that is replaced": "h = Holder([n])\nq = h.items\nif m > 0: h.items = [m]\nh.items[0] = n * 7\nreturn q[0]",
    "two names in one branch": "a, b = [n], [m]\nif m > 0:\n    a = b = [n, m]\n    a.pop()\na.append(5)\nreturn a, b",
    "of a function": "a = [n]\nz = either(a, m)\nz.append(m)\nreturn a, z",
    "nested": "a, b = [n], [m]\nz = a\nif m > 0:\n    if n > 0:\n        z = b\nz += [n]\nreturn a, b, z",
    "`or`": "a, b = [n], [m]\nz = (m > 0 and a) or b\nz.append(n)\nreturn a, b",
    "a loop": "a = [n]\nz = a\nk = m\nwhile k > 0:\n    z = [k]\n    k -= 1\nz[0] = n + 7\nreturn a, z",
    "a loop that exchanges": """
        a, b = [n], [m]
        c = a
        k = m
        while k > 0:
            a, b = b, a
            k -= 1
        a[0] = n + 7
        return a, b, c
        """,
    "two names in a loop": """
        a, b = [n], [m]
        k = m
        while k > 0:
            a = b = [k]
            k -= 1
        a[0] = n + 7
        return a, b
        """,
    "two names before a loop": "a = b = [n]\nk = m\nwhile k > 0:\n    a, b = b, [k]\n    k -= 1\na.append(5)\nreturn a, b",
    "both are handed out": "a, b = [n], [m]\nz = a if m > 0 else b\nreturn a, b, z, n",
    "sorted": "a, b = [n], [m]\ns = sorted([a, b], key=lambda q: q[0])\ns[0][0] = n * 5\nreturn a, b",
    "sorted in place": "a, b = [n], [m]\ns = [a, b]\ns.sort(key=lambda q: -q[0])\na[0] = n * 5\nreturn s[0][0] - s[1][0]",
    "sorted, in tuples": """
        a, b = [n], [m]
        s = sorted([(n, a), (m, b)], key=lambda q: q[0])
        s[0][1][0] = n * 5
        return a, b
        """,
    "tf.cond": "a, b = [n], [m]\nz = tf.cond(m > 0, lambda: a, lambda: b)\nz[0] = n * 5\nreturn a, b",
    "tf.cond of dicts": """
        a, b = {'x': n}, {'x': m}
        z = tf.cond(m > 0, lambda: {'p': a, 'q': n}, lambda: {'p': b, 'q': m})
        a['x'] = n * 5
        return z['p']['x']
        """,
    "tf.switch_case": "a, b = [n], [m]\nz = tf.switch_case(m % 2, [lambda: a, lambda: b])\nz[0] = n * 5\nreturn a, b",
    "tf.case of one item": """
        a, b = [n], [m]
        z = tf.case([(m > 0, lambda: a)], default=lambda: b)
        z[0] = n * 5
        return a, b
        """,
    "by a chain of names, one an iteration": """
        p, q, c = [n], [m], [n + m]
        k = m
        while k > 0:
            p = q
            q = c
            k -= 1
        q = 0
        c[0] = n * 9
        return p[0]
        """,
    "two that were one an iteration ago": """
        p, r, q, s = [n], [m], [n], [m]
        k = m
        while k > 0:
            p, r = q, s
            q = s = [k]
            k -= 1
        q = s = 0
        p[0] = n * 9
        return r[0]
        """,
    "put into a list of unknown length": """
        a, b = [n], [m]
        z = a if m > 0 else b
        rows = []
        for i in tf.range(m + 1): rows.append(z)
        z = 0
        a[0] = n * 5
        return rows[0][0]
        """,
    "an item of a list that a branch makes longer": """
        a, b = [n], [m]
        z = a if m > 0 else b
        rows = [z]
        if m > 1: rows.append([n])
        z = 0
        a[0] = n * 5
        return rows[0][0]
        """,
    "tf.cond of dicts with other orders": """
        a, b = [n], [m]
        z = tf.cond(m > 0, lambda: {'p': a, 'q': b}, lambda: {'q': [n], 'p': [m]})
        z['q'][0] = n * 5
        return b
        """,
    "two of one": "a, b = [n], [m]\ny = a if m > 0 else [m]\nz = a if n > 0 else b\na = b = []\ny[0] = m * 9\nreturn y[0], z",
    "two of one function": "a = [n]\ny, z = either(a, m), either(a, n)\na = []\nz[0] = n * 9\nreturn y[0] + z[0]",
    "an item of a loop's list": """
        a = [n]
        rows = [[m], [m]]
        k = m
        while k > 0:
            rows = [a, rows[0]]
            k -= 1
        a[0] = n + 7
        return rows[0][0] + rows[1][0]
        """,
    "an attribute in a loop": """
        h, a = Holder([m]), [m]
        k = m
        while k > 0:
            h.items = a
            k -= 1
        a[0] = n + 7
        return h.items[0]
        """,
    "what an attribute was": """
        h, a = Holder([m]), [n]
        z = [n]
        k = m
        while k > 0:
            z = h.items
            h.items = a
            k -= 1
        a[0] = n + 7
        return z[0], h.items[0]
        """,
    "changed in a loop": """
        a, z = [n], [m]
        k = m
        while k > 0:
            a[0] = a[0] + z[0]
            z = a
            k -= 1
        return a[0], z[0]
        """,
    "changed behind one of a loop": """
        a, z, y = [n], [m], [n]
        c = a
        k = m
        while k > 0:
            y = z
            z = a
            a = [k]
            k -= 1
        c[0] = n * 7
        return y[0], z[0]
        """,
    "compared": "a, b = [n], [m]\nz = a if m > 0 else b\nreturn z is a, z[0]",
    "compared in a loop": """
        a, z = [n], [m]
        k, same = m, 0
        while k > 0:
            if z is a:
                same += 1
            z = a
            k -= 1
        return same, z[0]
        """,
}


@pytest.mark.parametrize("body", KNOWN.values(), ids=KNOWN)
def test_a_change_is_seen_by_every_name(body: str) -> None:
    assert state(body) == "eager"


ALONE = {
    "made in the branches": "if m > 0:\n    z = [n]\nelse:\n    z = [m]\nz.append(n * 2)\nreturn z",
    "made before and in one": "z = [n]\nif m > 0:\n    z = [m]\nz.append(n * 2)\nreturn z",
    "made longer in one": "z = [n]\nif m > 0:\n    z = z[:] + [m]\nelse:\n    z = z + [n]\nz[0] = m\nreturn z",
    "exchanged": "a, b = [n], [m]\nif m > 0:\n    a, b = b, a\na.append(n)\nb[0] = m + 1\nreturn a, b",
    "exchanged in a loop": "a, b = [n], [m]\nk = m\nwhile k > 0:\n    a, b = b, a\n    k -= 1\na[0] = n + 7\nreturn a, b",
    "made in a loop": "z = [n]\nk = m\nwhile k > 0:\n    z = [z[0] + k]\n    k -= 1\nz[0] = z[0] + 1\nreturn z",
    "only read": "a, b = [n], [m]\nz = a if m > 0 else b\nreturn z[0] + a[0] * b[0]",
    "given back by a function": "z = [n]\nz = either(z, m)\nz.append(n * 2)\nreturn z",
    "given back in a loop": """
        z = [n]
        k = m
        while k > 0:
            if k > 1:
                z[0] = z[0] * 2
            else:
                z = either([n + k, k][:1], k - 1)
            k -= 1
        return z[0]
        """,
    "of tf.cond": "z = tf.cond(m > 0, lambda: [n, m], lambda: [m, n])\nz[0] = n * 5\nreturn z",
    "a dict in branches": "d = {'x': n}\nif m > 0:\n    d = {'x': m}\nd['y'] = n\nreturn d",
    "an attribute that one branch replaces, and the other one changes": """
        h, b = Holder([m]), [n]
        c = h.items
        if m > 1:
            c[0] = c[0] + 1
            c = [n]
        else:
            c[0] = c[0] * 2
            h.items = b
        return c[0], h.items[0]
        """,
    "an attribute of equal items": "h = Holder([m])\nif n > 0:\n    h.items = [m]\nh.items[0] = n\nreturn h.items[0]",
    "a new one behind the last": """
        a, b = [n], [m]
        k = m
        while k > 0:
            a, b = b, [a[0] + k]
            k -= 1
        return a[0], b
        """,
}


@pytest.mark.parametrize("body", ALONE.values(), ids=ALONE)
def test_what_nobody_else_knows_stays_in_the_graph(body: str) -> None:
    assert state(body) == "graph"
