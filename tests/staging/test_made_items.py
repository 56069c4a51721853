"""What numpy makes of tensors in a loop of the graph, and is kept in a list, is made after the launch."""

from __future__ import annotations

import pytest

from tests.staging.programs import same

# What is put into the list in iteration `i`; whether that takes no eager code.
ITEMS = {
    "x[i].numpy()": True,
    "x[:i].numpy()": True,
    "x[:i].numpy().tolist()": True,
    "x[i].numpy().item()": True,
    "tuple(x[:i].numpy().tolist())": True,
    "(tuple(x[:i].numpy().tolist()), float(x[i]), i)": True,
    "{'row': x[:i].numpy(), 'name': 'abc', 'all': [x[i].numpy(), 1]}": False,
    "{'row': x[:i].numpy(), 'all': [x[i].numpy(), 1]}": True,
    "round(x[i].numpy(), 1)": True,
    "np.round(x.numpy(), 1)": True,
    "np.stack([x[i].numpy(), x[0].numpy()])": False,
    "tf.as_string(x[i]).numpy()": True,
    "tf.as_string(x[i]).numpy().decode()": True,
    "x[:i].numpy() if i > 1 else x[:1].numpy()": True,
    "x[:i].numpy() if i > 1 else x[:i].numpy().tolist()": False,
    "x[:i].numpy() if i > 1 else x[0].numpy()": False,
}


@pytest.mark.parametrize(("item", "is_graph"), ITEMS.items(), ids=ITEMS)
def test_items_of_a_list(item: str, is_graph: bool) -> None:
    ran = same(f"""
    def f(x, n):
        items = []
        for i in tf.range(n):
            items.append({item})
        return items, len(items)
    def main():
        for n in (2, 2, 3, 1, 4, 0): show(f(tf.constant([1.25, 2., -3., 4.]), tf.constant(n)))
    """)
    assert ran.sites["f"].state == ("graph" if is_graph else "eager"), ran.sites["f"].reason


USES = {
    "the last": "items[-1]",
    "some": "items[1:]",
    "backwards": "items[::-1]",
    "parts": "[number for _, number in items]",
    "taken off": "(items.pop(), items)",
    "a sum": "sum(item[1] for item in items)",
    "a loop over it": "[(row, number + 1) for row, number in items]",
    "stacked": "tf.stack([number for _, number in items])",
    "twice": "(items, items)",
    "looked for": "(1.5 in [number for _, number in items])",
    "sorted": "sorted(items, key=lambda item: item[1])",
}


@pytest.mark.parametrize("use", USES)
def test_what_is_done_with_such_a_list(use: str) -> None:
    same(f"""
    def f(x, n):
        items = []
        for i in tf.range(n):
            items.append((x[:i].numpy(), x[i].numpy()))
        return {USES[use]}
    def main():
        for n in (2, 2, 3, 1, 4): attempt(f, tf.constant([1.25, 2., -3., 4.]), tf.constant(n))
    """)


@pytest.mark.parametrize("made", ["x.numpy()", "x.numpy().tolist()", "(x[0].numpy(), x.numpy().tolist())"])
def test_one_object_at_two_places_stays_one(made: str) -> None:
    same(f"""
    def f(x, n):
        items, others, one = [], [], {made}
        for i in tf.range(n):
            items.append(one)
            others.append(one)
        return items, others, one
    def main():
        for n in (2, 2, 3, 1, 0):
            items, others, one = f(tf.constant([1.25, 2., -3., 4.]), tf.constant(n))
            show([each is one for each in items], [a is b for a, b in zip(items, others)], one)
    """)


def test_a_list_of_one_kind_or_of_another_is_a_result() -> None:
    same(
        """
        def f(x, n, stats):
            if tf.reduce_max(x) < 0.:
                return [((), 0.0)], stats
            items = []
            for i in tf.range(n):
                items.append((tuple(x[:i].numpy().tolist()), float(x[i])))
            stats["n"] = len(items)
            return items, stats
        def main():
            for n in (2, 2, 3, 1, 4, 0):
                for sign in (1., -1., 1.):
                    stats = {}
                    result = f(tf.constant([1.25, 2., 3., 4.]) * sign, tf.constant(n), stats)
                    show(result, result[1] is stats)
        """,
    )


@pytest.mark.parametrize("other", ["[x[0]]", "None", "x[0]"])
@pytest.mark.parametrize(
    "use",
    [
        "result",
        "result[0]",
        "len(result)",
        "[*result]",
        "result + [1.0]",
        "x if result else -x",
        "[0.0] + result",
        "tf.stack(result)",
        "result == [1.0]",
    ],
)
def test_what_is_done_with_a_list_of_one_kind_or_of_another(use: str, other: str) -> None:
    same(f"""
    def f(x, n):
        result = []
        for i in tf.range(n):
            result.append((x[i], i))
        if tf.reduce_max(x) < 0.:
            result = {other}
        return {use}
    def main():
        for n in (2, 2, 3, 1, 0):
            for sign in (1., -1., 1.): attempt(f, tf.constant([1.25, 2., 3.]) * sign, tf.constant(n))
    """)
