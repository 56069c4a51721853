"""Small functions, each with the calls that it is tried on: the language, construct by construct."""

from __future__ import annotations

PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {}


def program(name: str, source: str, *calls: str) -> None:
    """Add a program."""
    assert name not in PROGRAMS
    PROGRAMS[name] = (source, calls)


program(
    "early return",
    """
def f(x):
    if x > 0:
        return x
    print("neg")
    return -x
""",
    "f(1)",
    "f(-1)",
)
program(
    "return in nested ifs, open ends",
    """
def f(a, b):
    if a:
        if b:
            return 1
        print("a")
    else:
        print("not a")
        if b == 2:
            return 2
    print("rest")
""",
    *(f"f({a}, {b})" for a in (0, 1) for b in (0, 1, 2)),
)
program(
    "bare returns",
    """
def f(a):
    if a: return
    print("on")
    for x in range(3):
        if x == 1: return
        print(x)
""",
    "f(0)",
    "f(1)",
)
program(
    "return value effects",
    """
def g(x):
    print("g", x)
    return x
def f(a):
    for x in range(5):
        if x == a:
            return g(x)
        g(-x)
    else:
        g("else")
    return g("end")
""",
    "f(2)",
    "f(9)",
)
program(
    "return None valued expression without values",
    """
def f(a):
    if a:
        return
    return
""",
    "f(0)",
    "f(1)",
)
program(
    "break continue else",
    """
def f(n):
    out = []
    for i in range(10):
        if i % 2:
            continue
        if i == n:
            break
        out.append(i)
    else:
        out.append("else")
    return out, i
""",
    "f(4)",
    "f(5)",
    "f(0)",
)
program(
    "while else break",
    """
def f(n):
    k = 0
    while k < n:
        k += 1
        if k == 3:
            continue
        if k == 5:
            break
    else:
        print("else")
    return k
""",
    "f(2)",
    "f(4)",
    "f(9)",
)
program(
    "while True",
    """
def f(n):
    while True:
        n -= 1
        if n < 0:
            break
        x = n
    return x
""",
    "f(3)",
    "f(0)",
)
program(
    "nested loops",
    """
def f(n):
    for i in range(4):
        for j in range(4):
            if j == 2:
                break
            if i == 1:
                continue
            if i * j == n:
                return i, j
            print(i, j)
        else:
            print("inner else")
        if i == 3:
            break
    else:
        print("outer else")
    return None
""",
    "f(3)",
    "f(2)",
    "f(99)",
    "f(0)",
)
program(
    "break in else of inner loop",
    """
def f(n):
    for i in range(4):
        for j in range(2):
            if i == n: break
        else:
            if i == 2:
                break
            continue
        print("broken", i)
    return i, j
""",
    "f(0)",
    "f(1)",
    "f(5)",
)
program(
    "jump in try",
    """
def f(xs):
    out = []
    for x in xs:
        try:
            if x == 0:
                continue
            if x == 9:
                break
            if x == 7:
                return out
            out.append(10 / (x - 1))
        except ZeroDivisionError as e:
            out.append(str(e))
            if len(out) > 2:
                break
            continue
        else:
            out.append("else")
        finally:
            out.append("finally")
        out.append("end")
    else:
        out.append("loop else")
    return out, x
""",
    "f([0, 2, 1, 3])",
    "f([2, 9, 3])",
    "f([2, 7])",
    "f([1, 1, 1, 1])",
    "f([])",
    "f([0])",
)
program(
    "return in try with else",
    """
def f(x):
    try:
        if x:
            return int(x)
    except ValueError:
        return "bad"
    else:
        print("else")
    finally:
        print("finally")
    return "end"
""",
    "f('1')",
    "f('a')",
    "f('')",
    "f([1])",
)
program(
    "return overtaken by an exception in finally",
    """
def f(x):
    try:
        try:
            if x:
                return 1
        finally:
            [][x]
    except IndexError:
        print("caught")
    return 2
""",
    "f(0)",
    "f(1)",
)
program(
    "return overtaken in a with",
    """
class CM:
    def __init__(self, fail, swallow): self.fail, self.swallow = fail, swallow
    def __enter__(self): return self
    def __exit__(self, *exc):
        print("exit", exc[0])
        if self.fail: raise KeyError(1)
        return self.swallow
def f(fail, swallow, x):
    with CM(False, swallow):
        with CM(fail, False):
            if x:
                return 1
            print("in")
    return 2
def g(fail, swallow, x):
    with CM(False, swallow) as a, CM(fail, False) as b:
        if x:
            return 1
    return 2
def h(fail, swallow, x):
    for i in range(3):
        with CM(False, swallow) as a, CM(fail, False) as b:
            if x == i:
                break
            if x == 5: return 7
            if x == 6: continue
        print(i)
    return i
def k(fail, swallow, x):
    with CM(False, swallow):
        for i in range(3):
            with CM(fail, False):
                if i == x:
                    return i
    return "end"
""",
    *(f"{fn}({a}, {b}, {x})" for fn in "fghk" for a in (0, 1) for b in (0, 1) for x in (0, 1, 5, 6)),
)
program(
    "with swallows the value of a return",
    """
import contextlib
def f(x):
    with contextlib.suppress(ZeroDivisionError):
        if x is None:
            return "none"
        y = 1
        return 1 / x
    print("after")
    return y
""",
    "f(1)",
    "f(0)",
    "f(None)",
)
program(
    "with swallows an assignment",
    """
import contextlib
def f(x):
    with contextlib.suppress(ZeroDivisionError):
        y = 1 / x
    return y
def g(x):
    if x is not None:
        with contextlib.suppress(ZeroDivisionError):
            y = 1 / x
    if x: print(x)
    return y
""",
    "f(1)",
    "f(0)",
    "g(0)",
    "g(1)",
    "g(None)",
)
program(
    "unbound names",
    """
def f(x):
    if x > 0:
        y = 1
    if x > 5:
        del y
    return y
def g(x):
    for i in range(x):
        pass
    return i
def h(x):
    if x:
        print(z)
    z = 1
    return z
def k(x):
    return w
    w = 1
def m(x):
    del x
    return x
def n(x):
    def inner(): return y
    if x: y = 1
    return inner()
def o(x):
    if x:
        y = 1
        del y
    y += 1
    return y
""",
    *(f"{fn}({x})" for fn in "fghkmno" for x in (0, 1, 6)),
)
program(
    "del in loops",
    """
def f(n):
    x = 1
    for i in range(n):
        print(x)
        del x
        if i < 2:
            x = i
    return x
""",
    "f(1)",
    "f(2)",
    "f(3)",
    "f(4)",
    "f(5)",
)
program(
    "del of many targets",
    """
def f(d, o):
    x = y = 1
    del x, d["a"], (o.n, y), [d["b"]]
    try:
        return x
    except NameError:
        return sorted(d), hasattr(o, "n")
class O: n = 1
def run():
    o = O(); o.n = 2; del_ok = f({"a": 1, "b": 2, "c": 3}, o)
    return del_ok
""",
    "run()",
)
program(
    "exception names",
    """
def f(x):
    e = "before"
    try:
        1 / x
    except ZeroDivisionError as e:
        print(repr(e))
        if x == 0:
            e = "changed"
    if x == 0:
        try:
            return e
        except NameError as error:
            return type(error).__name__ in ("UnboundLocalError", "NameError")
    return e
def g(x):
    try:
        1 / x
    except ZeroDivisionError as e:
        msg = str(e)
        if x == 0:
            msg += "!"
        return msg
    except TypeError as e:
        return repr(e)
def h(x):
    for i in range(2):
        try:
            1 / x
        except Exception as e:
            if i: err = e
            else:
                e = 1
                del e
                e = 2
    return repr(err)
def k(x):
    if x:
        try: raise KeyError(1)
        except KeyError as e: pass
    return e
""",
    *(f"{fn}({x})" for fn in "fghk" for x in (0, 1, "'a'")),
)
program(
    "raise and cause",
    """
def f(x):
    try:
        raise ValueError(x)
    except ValueError as e:
        if x:
            raise KeyError("k") from e
        raise
def g(x):
    try:
        if x: raise ValueError
        raise KeyError("a") from None
    except ValueError:
        if x > 1:
            raise
        raise TypeError
def h(x):
    raise (print("exc"), ValueError("v"))[1] from (print("cause"), KeyError("c"))[1]
def k():
    raise 3
def m(x):
    if x: raise
""",
    "f(0)",
    "f(1)",
    "g(0)",
    "g(1)",
    "g(2)",
    "h(0)",
    "k()",
    "m(1)",
    "m(0)",
)
program(
    "assert",
    """
def f(x):
    assert x, print("message")
    assert x > 1
    return x
""",
    "f(0)",
    "f(1)",
    "f(2)",
)
program(
    "booleans and chains",
    """
def t(x):
    print("t", x)
    return x
def f(a, b, c):
    return (t(a) and t(b) or t(c), not t(a), t(a) < t(b) < t(c), t(a) if t(b) else t(c), t(a) == t(b) != t(c),
            t(a) in [t(b), 1] , t(a) is None, t(a) is not t(b) not in (3,), a or b or c, a and b and c)
""",
    *(f"f({a}, {b}, {c})" for a in (0, 1) for b in (0, 2) for c in (0, 3)),
)
program(
    "calls",
    """
def g(*args, **kwargs):
    return args, sorted(kwargs.items())
def p(x):
    print("p", x if x is not g else "g")
    return x
def f(xs, d):
    return p(g)(p(1), *p(xs), p(2), *xs, k=p(3), **p(d), z=p(4))
""",
    "f([1, 2], {'a': 1})",
    "f('ab', {})",
)
program(
    "unpacking",
    """
class O: pass
def f(v):
    a, (b, *c), d = v
    [x, y] = a, b
    o = O()
    o.a, (o.b, *o.c), z = v
    l = [0, 0, 0]
    i, l[i] = 1, 5
    first, *rest = "abc"
    p = q = r = [1]
    o.x = l[0] = t = (u, w) = (7, 8)
    for k, (m, n) in [(1, (2, 3))]:
        pass
    for o.it, l[1] in [(4, 5)]:
        print(o.it, l)
    x, y = y, x
    l[0], l[1] = l[1], l[0]
    return a, b, c, d, x, y, sorted(vars(o).items()), z, l, i, first, rest, p is q is r, t, u, w, k, m, n
def g(v):
    a, b = v
    return a, b
""",
    "f((1, [2, 3, 4], 5))",
    "f((1, 'x', 5))",
    "f((1, 2, 3))",
    "g([1])",
    "g([1, 2, 3])",
    "g(3)",
    "g({1: 2, 3: 4})",
)
program(
    "order of stores",
    """
class O:
    def __init__(self, name): object.__setattr__(self, "name", name)
    def __setattr__(self, n, v): print("set", self.name, n, v)
    def __getattr__(self, n):
        print("get", self.name, n)
        return O(self.name + n)
    def __repr__(self): return "O" + self.name
    def __setitem__(self, k, v): print("setitem", self.name, k, v)
    def __getitem__(self, k):
        print("getitem", self.name, k)
        return 5
    def __delitem__(self, k): print("delitem", k)
    def __delattr__(self, k): print("delattr", k)
    def __iadd__(self, v):
        print("iadd", self.name, v)
        return self
def p(x):
    print("p", x)
    return x
def f():
    o = O("o")
    p(o).a = p(1)
    p(o)[p(2)] = p(3)
    p(o)[p(2):p(4)] = p(3)
    p(o)[p(2)] += p(4)
    p(o).b.c += p(5)
    p(o).b += o
    o.x, p(o)[p(1)] = p((1, 2))
    p(o).q = p(o)[1] = p(3)
    del p(o)[p(1)], o.z
    return o[1:2], o[1:2, ::3], o[...]
""",
    "f()",
)
program(
    "augmented",
    """
def f(x, l):
    m = l
    l += [x]
    x += 1
    x **= 2; x -= 1; x *= 3; x //= 2; x %= 50; x <<= 2; x |= 1; x &= 0xff; x ^= 3; x >>= 1
    y = x
    y /= 2
    s = "%d"
    s %= x
    l[0] += 1
    l[-1] -= 1
    return x, l, m is l, y, s, "%s-%s" % (x, y), x % 7
""",
    "f(1, [1, 2])",
    "f(7, [0])",
)
program(
    "f-strings",
    """
def f(x, w):
    return f"{x!r:>{w}}|{x}|{x!s}|{x:{w}}|{w:03d}|{{}}{x!a}", f"{w=}", f"{'é'!a}", f"{w:>{w}.{w}f}"
""",
    "f('é', 5)",
)
program(
    "globals",
    """
COUNT = 0
def f(n):
    global COUNT, NEW
    for i in range(n):
        COUNT += 1
        if i == 2:
            NEW = i
    if n > 4:
        del NEW
    return COUNT
def g(n):
    if n:
        global COUNT
        COUNT, other = n, 2
        return other
    return COUNT
def h(xs):
    global COUNT
    for COUNT in xs:
        pass
    with open(__import__("os").devnull) as COUNT:
        pass
    COUNT = 1
    if (COUNT := 5) > 2:
        print(COUNT)
    def NAMED(): pass
    return COUNT
def k():
    global COUNT
    def COUNT(): return 3
    import os as COUNT
    class COUNT: x = 1
    try: 1 / 0
    except ZeroDivisionError as COUNT: pass
    return COUNT
""",
    "f(3)",
    "f(5)",
    "f(1)",
    "g(0)",
    "g(4)",
    "h([1, 2])",
    "h([])",
    "k()",
    "undefined_name",
)
program(
    "closures",
    """
def f(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    def bump():
        nonlocal n
        n += 1
        return n
    if n:
        bump()
    gs = [lambda k=k: k + n for k in range(3)]
    total = sum(i * n for i in range(3))
    if n > 2:
        n = 100
    return [g() for g in fs], n, [g() for g in gs], total, bump(), n
def counter(start):
    value = start
    def up(by):
        nonlocal value
        if by > 2:
            value += by
        elif by:
            value -= by
        for _ in range(by):
            if value > 10:
                return "big"
            value += 1
        return value
    return [up(1), up(3), up(5), value]
def late(x):
    def inner():
        if x:
            return y
        return 0
    if x > 1:
        y = 5
    return inner()
def deleted(x):
    y = 1
    def inner():
        nonlocal y
        if x:
            del y
    inner()
    return y
""",
    "f(0)",
    "f(1)",
    "f(3)",
    "counter(0)",
    "counter(9)",
    "late(0)",
    "late(1)",
    "late(2)",
    "deleted(0)",
    "deleted(1)",
)
program(
    "nested function with jumps",
    """
def f(n):
    def g(x):
        for i in range(x):
            if i == 2:
                return "two"
            if i == n:
                break
        else:
            return "else"
        return i
    def rec(k):
        if k <= 0:
            return 0
        return k + rec(k - 1)
    return g(1), g(5), g(n), rec(n), (lambda v: v if v > 1 else -v)(n), [(lambda: k)() for k in range(n) if k or n]
""",
    "f(0)",
    "f(1)",
    "f(4)",
)
program(
    "decorators of nested functions",
    """
def deco(tag):
    print("deco", tag)
    def apply(fn):
        print("apply", tag, fn.__name__)
        return fn
    return apply
def f(x):
    @deco("a")
    @deco("b")
    def g(y=print("default")):
        "doc"
        return y, x
    @staticmethod
    def h(): pass
    return g(), g.__doc__, g.__name__
""",
    "f(1)",
)
program(
    "generators",
    """
def pairs(xs):
    "doc"
    previous = None
    for x in xs:
        if previous is not None:
            yield previous, x
        if x > 3: low = previous
        else: previous = x
    else:
        yield "end", low
def grid(n):
    for i, (a, *b) in enumerate(n):
        while a:
            a -= 1
            if a == 2: continue
            if a == 5: break
            for c in b:
                if c == 1: b = [0]; break
            yield i, a
        else:
            if not b: return
            yield from b
    return i
def closed(n):
    try:
        with open_(n) as k:
            while True:
                got = yield k
                k += got or 1
                if k > 9: return k
    except GeneratorExit:
        print("closed")
        raise
    finally:
        print("finally")
def late():
    for x in (): pass
    yield 1
    yield x
class open_:
    def __init__(self, n): self.n = n
    def __enter__(self): return self.n
    def __exit__(self, *error): print(error[0])
def scoped():
    global G
    for G in range(3):
        yield G
    match G:
        case 2: yield "two"
        case _: return
def f(g, *sent):
    found = [next(g)]
    for value in sent: found.append(g.send(value))
    g.close()
    return found
def delegates(n):
    result = yield from grid(n)
    yield "result", result
""",
    "list(pairs([1, 2, 5, 3]))",
    "list(pairs([1]))",
    "list(grid([(7, 1, 0), (3, 0), (2,), (1, 2)]))",
    "list(delegates([(7, 1, 0), (3, 0)]))",
    "list(closed(1))",
    "f(closed(1), 2, 3)",
    "f(closed(1), 2, 30)",
    "list(late())",
    "list(scoped())",
)
program(
    "generators nested",
    """
def f(n):
    def gen():
        for i in range(n):
            if i == 2: continue
            yield i
    k = 3
    it = (i + k for i in range(n) if i)
    k = 4
    return list(gen()), list(it), sum(x for x in gen())
def g(x):
    def gen():
        yield y
    if x: y = 1
    return list(gen())
""",
    "f(4)",
    "f(0)",
    "g(0)",
    "g(1)",
)
program(
    "comprehensions",
    """
def f(xs):
    x = "outer"
    a = [x for x in xs if x > 1 if x < 5]
    b = {x: y for x in xs for y in range(x) if x != y}
    c = {x % 2 for x in xs}
    d = [[y for y in range(x)] for x in xs]
    e = [y for x in xs if (y := x * 2) > 2]
    t = 0
    s = [t := t + v for v in xs]
    return a, b, c, d, e, x, s, t, [x if x > 2 else -x for x in xs], [i for i, j in zip(xs, xs) if i and not j]
def g(xs):
    if xs:
        z = [last := v for v in xs]
    return last
def h(n):
    if n:
        x = 1
    return [x for _ in range(n + 1)]
""",
    "f([1, 2, 3])",
    "f([])",
    "g([1])",
    "g([])",
    "h(0)",
    "h(1)",
)
program(
    "walrus",
    """
def f(xs):
    it = iter(xs)
    out = []
    while (x := next(it, None)) is not None:
        if x == 2: continue
        if x == 9: break
        out.append(x)
    if (n := len(out)) > 1 and (m := n * 2) > 4:
        out.append(m)
    if 0 < (k := len(xs)) < 3:
        out.append(("k", k))
    y = (z := 5) + z
    v = (w := 1) if xs else (w := 2)
    return out, x, n, k, y, v, w
def g(a):
    r = a or (b := 3)
    if a:
        b = "x"
    elif a == 0 and not (c := a) and (b := c) == 0:
        return b, c
    return r, b
def h(a):
    while a and (b := a - 1):
        a = b
        print(a, b)
    return a
def k(a):
    if a and (q := a): pass
    return q
""",
    "f([1, 2, 3, 4])",
    "f([1, 9, 3])",
    "f([])",
    "g(0)",
    "g(1)",
    "g([])",
    "h(3)",
    "h(0)",
    "k(0)",
    "k(3)",
)
program(
    "match",
    """
def f(v):
    match v:
        case 0:
            return "zero"
        case [x, *rest] if x and rest:
            for r in rest:
                if r == x:
                    return "same"
            print(x, rest)
        case {"k": k, **others}:
            print(k, others)
            if k:
                return k
        case str() as s:
            x = s
        case None | True:
            pass
        case _:
            return
    return x
""",
    "f(0)",
    "f([1, 2])",
    "f([1, 1])",
    "f([1])",
    "f({'k': 0, 'z': 1})",
    "f({'k': 5})",
    "f('s')",
    "f(None)",
    "f(2.5)",
)
program(
    "patterns of all kinds",
    """
import enum
class Kind(enum.Enum):
    A = 1
class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y):
        self.x, self.y = x, y
def f(v):
    first = None
    match v:
        case Kind.A | -1:
            return "value"
        case Point(0, y=(a, b) as pair) if a != b and (total := a + b):
            return a, b, pair, total
        case Point(first, int() | None):
            return first
        case Point() as p:
            return p.x, p.y
        case {"a": [x, _, *_, last], "b": None} if x:
            return x, last
        case [[a], {"k": (b,), **more}]:
            return a, b, more
        case [] | "" | b"":
            return "empty"
        case float(z) if z > 1 and (first := z):
            pass
        case str(first):
            first = [first]
        case first:
            pass
    return first
""",
    *(
        f"f({v})"
        for v in (
            "Kind.A",
            "-1",
            "Point(0, (1, 2))",
            "Point(0, (1, 1))",
            "Point(3, 4)",
            "Point(3, 'z')",
            "{'a': [1, 2, 3, 4], 'b': None}",
            "{'a': [0, 2], 'b': None}",
            "[[1], {'k': [2]}]",
            "(5, 6)",
            "()",
            "''",
            "2.5",
            "0.5",
            "'text'",
            "range(2)",
        )
    ),
)
program(
    "alternatives that bind",
    """
def f(v):
    match v:
        case [0, x] | {"x": x} if x:
            return x
        case (1 | 2) as x:
            pass
        case _:
            x = None
    return [x]
""",
    "f([0, 3])",
    "f({'x': 4})",
    "f([0, 0])",
    "f(2)",
)
program(
    "match in loops",
    """
def f(vs):
    for v in vs:
        match v:
            case 1:
                continue
            case 2:
                break
            case int(n) if n > 5:
                print("big", n)
        print(v)
    return v
""",
    "f([1, 7, 3])",
    "f([0, 2, 5])",
    "f([1])",
)
program(
    "classes in functions",
    """
def f(n):
    if n:
        base = object
    class A(base if n else dict):
        x = n
        y = [i for i in range(x if n else 0)]
        def m(self, k):
            if k > n:
                return "more"
            for i in range(k):
                if i == 1: break
            return super().__repr__()[:2], __class__.__name__
        @property
        def p(self):
            return self.x or -1
        @staticmethod
        def s(v): return v and n
    a = A()
    return a.x, a.y, a.m(5), a.m(0), a.p, a.s(3)
""",
    "f(0)",
    "f(2)",
)
program(
    "methods",
    """
class Base:
    def __init__(self): self.__secret = 1
    def hi(self, n): return ("base", n)
class Net(Base):
    __hidden = 3
    def __init__(self, n):
        super().__init__()
        self.__n = n
        self.__dict__["k"] = 1
    def hi(self, n):
        if n:
            r = super().hi(n)
        else:
            r = [super().hi(i) for i in ()]
        self.__n += n
        __x = self.__n
        def inner():
            return self.__n, __x
        del self.k
        return r, inner(), self._Net__n, self.__hidden, __class__.__name__
    @classmethod
    def make(cls, n):
        if n > 1:
            return cls(n)
        return cls(-n)
    def __lt__(self, other):
        return self.__n < other.__n
""",
    "Net(1).hi(0)",
    "Net(1).hi(2)",
    "Net.make(3).hi(1)",
    "Net.make(0) < Net.make(1)",
)
program(
    "imports",
    """
def f(x):
    if x:
        import os.path as p, json
        from math import sqrt as root
    else:
        import os.path
        return os.path.join("a", "b")
    return root(4), json.dumps([x]), p.basename("a/b")
""",
    "f(0)",
    "f(1)",
)
program(
    "annotations",
    """
def f(x: int) -> int:
    y: int = x
    z: undefined_thing
    w: list[undefined_thing] = [1]
    if x:
        z = 1
    def g(a: int = x) -> int:
        b: int
        return a
    return y, z, w, g()
""",
    "f(0)",
    "f(1)",
)
program(
    "person uses our words",
    """
def f(result, returned, did_break, get_state):
    values = then_branch = 1
    for item in [1, 2]:
        if item == result:
            return did_break
        if item == returned:
            break
        if item == 1:
            continue
        loop_body = item
    set_state = owner = part = 3
    return values, get_state, loop_body, set_state
""",
    "f(1, 2, 3, 4)",
    "f(3, 2, 3, 4)",
    "f(3, 1, 2, 3)",
    "f(2, 0, 1, 0)",
    "f(7, 0, 1, 0)",
)
program(
    "locals shadow builtins",
    """
def f(len, print=None):
    list = [len]
    set = 3
    if len:
        list = list + [set]
    return list
""",
    "f(0)",
    "f(1)",
)
program(
    "swap in loop",
    """
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
""",
    "fib(10)",
    "gcd(12, 18)",
    "collatz(27)",
)
program(
    "finally order",
    """
def f(x):
    try:
        try:
            print("body")
            if x == 1: return "r"
            if x == 2: raise KeyError(x)
        finally:
            print("inner")
            if x == 3: raise ValueError
    except KeyError:
        print("key")
        if x == 2: return "k"
    except ValueError:
        return "v"
    finally:
        print("outer")
    return "end"
""",
    "f(0)",
    "f(1)",
    "f(2)",
    "f(3)",
)
program(
    "loop over changing things",
    """
def f():
    xs = [1, 2, 3]
    for x in xs:
        if x == 1:
            xs.append(9)
        elif x == 9:
            xs = []
    d = {1: 2}
    for k in d:
        d = 3
    for i in range(3):
        i = i * 10
        print(i)
    return xs, x, d, k, i
def g():
    it = iter([1, 2, 3, 4])
    for x in it:
        if x == 2: break
    return list(it), x
""",
    "f()",
    "g()",
)
program(
    "nested defaults and lambdas",
    """
def f(a, *, b=2, **kw):
    g = lambda x, *y, z=b, **k: (x and y, z if a else k, a == b)
    return g(1, 2, q=3), kw
""",
    "f(0)",
    "f(2, c=1)",
)
program(
    "docstring and pass",
    """
def f(x):
    'doc'
    if x:
        pass
    else:
        ...
def g():
    'doc'
""",
    "f(1), f.__doc__",
    "g(), g.__doc__",
)
program(
    "star expressions",
    """
def f(xs):
    return [*xs, 1], (*xs,), {*xs}, {**{"a": 1}, "b": 2}, [0, *(x for x in xs)]
""",
    "f([1, 2])",
    "f('')",
)
program(
    "only raise in arms",
    """
def f(x):
    if x < 0:
        raise ValueError("neg")
    elif x == 0:
        y = "zero"
    else:
        y = "pos"
    return y
""",
    "f(-1)",
    "f(0)",
    "f(1)",
)
program(
    "try in loop keeps values",
    """
def f(xs):
    best = None
    for x in xs:
        try:
            v = int(x)
        except ValueError:
            continue
        if best is None or v > best:
            best = v
    return best, v
""",
    "f(['1', 'a', '3'])",
    "f(['a'])",
    "f([])",
)
program(
    "delete then except",
    """
def f(x):
    y = 1
    try:
        del y
        1 / x
        y = 2
    except ZeroDivisionError:
        pass
    return y
""",
    "f(0)",
    "f(1)",
)
program(
    "many arms and many returns",
    """
def f(x):
"""
    + "".join(f"    if x == {i}:\n        return {i * 2}\n" for i in range(40))
    + """
    return -1
def g(x):
    if x < 0:
        y = -1
"""
    + "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(40))
    + """
    else:
        y = None
    return y
""",
    "f(0)",
    "f(39)",
    "f(99)",
    "g(-1)",
    "g(39)",
    "g(99)",
)
