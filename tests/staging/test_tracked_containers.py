"""Lists, dicts and tuples that a tf.Module or a Keras layer has as attributes: TensorFlow wraps them, to track them."""

from __future__ import annotations

import textwrap

import pytest

from tests.staging.programs import same

MODEL = """
        import tempfile
        class Part(tf.Module):
            def __init__(self, start):
                super().__init__()
                self.w = tf.Variable([start, start + 1.0])
            def __call__(self, x):
                return tf.tanh(x * self.w)
        class Model(BASE):
            def __init__(self):
                super().__init__()
                self.sizes = [1.0, 2.0]
                self.parts = (Part(0.5), Part(0.75))
                self.params = {"w": tf.Variable([1.0, 2.0]), "b": tf.Variable([0.5, 0.25])}
                self.conf = {"a": 1.0, "b": [2.0, 3.0], "t": (Part(0.1), 2.0)}
                self.state = [tf.zeros([2]), tf.ones([2])]
                self.cache = {}
        def main():
            model = Model()
            for i in range(8):
                if i == 4:
                    model.sizes[0] = 1.25
                    model.conf["a"] = 1.5
                for step in steps:
                    show(step(model, tf.constant([0.5, -0.25]) + 0.1 * i))
            show(dict(model.conf), list(model.sizes), list(model.state), dict(model.cache))
            show(type(model.conf).__name__, type(model.params).__name__, type(model.parts).__name__)
            with tempfile.TemporaryDirectory() as folder:
                saved = tf.train.Checkpoint(model=model).save(folder + "/saved")
                show(sorted(name for name, shape in tf.train.list_variables(saved)))
"""

READS = [
    "return sum(tf.tanh(x * v) for v in self.params.values())",
    "return self.params['w'] * x + self.params.get('b') + len(self.params) + ('w' in self.params)",
    "return tf.stack([x * v if k == 'w' else x + v for k, v in self.params.items()])",
    "return x * self.conf['a'] + self.conf['b'][1] + self.conf['t'][0](x) * self.conf['t'][1]",
    "return tf.stack([part(x) for part in self.parts])",
    "first, second = self.parts; return first(x) - second(x) * len(self.parts)",
    "return sum(part(x) for part in self.parts + self.parts[:1])",
    "a, b = self.sizes; c, *d = self.sizes; return x * a + b * c + sum(d)",
    "return sum(x * s for s in self.sizes + [3.0]) + sum(x - s for s in [0.5] + self.sizes * 2)",
    "return x * (2.0 if self.sizes == [1.0, 2.0] else 3.0)",
    "return x * (2.0 if self.conf['a'] == 1.0 and self.conf != {'a': 1.0} else 3.0)",
    "return sum(tf.nest.flatten(tf.nest.map_structure(lambda v: v * x, self.params)))",
    "return isinstance(self.params, dict), isinstance(self.parts, tuple), isinstance(self.sizes, list), x * 2.0",
]
CHANGES = [
    "self.state[0] = tf.tanh(x + self.state[0]); self.state[1] = self.state[0] * 0.5 + self.state[-1]; return self.state[1]",
    "self.cache['k'] = tf.concat([self.cache['k'], x], 0) if 'k' in self.cache else x; return self.cache['k'][-2:] * 2.0",
    "self.conf['n'] = self.conf.get('n', 0) + 1; return x * self.conf['n']",
]
UNSEEN = [
    "self.conf['n'] = tf.reduce_sum(x); return [v for k, v in self.conf.items() if k == 'n'], self.conf.get('n') + x",
    "self.cache.setdefault('k', x); return self.cache['k'] * x",
    "return str(self.conf['b']), x * 2.0",
]


IN_BRANCHES = [
    "if tf.reduce_sum(x) > 0.6: self.conf['n'] = x\nreturn x * 2.0",
    "if tf.reduce_sum(x) > 0.6: self.state[0] = x\nreturn x * 2.0",
]


def program(base: str, bodies: list[str]) -> str:
    """The model with a function for each of the bodies."""
    names = [f"step_{number}" for number in range(len(bodies))]
    model = textwrap.dedent(MODEL).replace("BASE", base)
    functions = [
        f"def {name}(self, x):\n" + textwrap.indent(body, "    ") for name, body in zip(names, bodies, strict=True)
    ]
    return "\n".join([*functions, f"steps = [{', '.join(names)}]", model])


@pytest.mark.parametrize("base", ["tf.Module", "tf.keras.layers.Layer"])
@pytest.mark.parametrize(
    ("bodies", "state"), [(READS, "graph"), (CHANGES, "graph"), (UNSEEN, "eager"), (IN_BRANCHES, "eager")]
)
def test_tracked_containers_are_what_they_are_to_python(base: str, bodies: list[str], state: str) -> None:
    same(program(base, bodies), **{f"step_{number}": state for number in range(len(bodies))})


# Methods that TensorFlow has written in Python: they change the list itself, also where a trace calls them.
METHODS = [
    "self.sizes.insert(0, 0.5); return x * 2.0",
    "self.sizes.append(4.0); return x * 2.0, self.sizes.pop(0)",
    "self.sizes.extend([5.0, 6.0]); return x * 2.0",
    "self.sizes.remove(self.sizes[0]); self.sizes.append(3.0); return x * 2.0",
    "self.sizes.reverse(); return x * 2.0",
    "self.conf['b'].clear(); return x * 2.0",
    "self.cache.clear(); return x * 2.0",
    "self.conf.pop('n', None); return x * 2.0",
    "tf.nest.map_structure(self.sizes.append, [1.5, 2.5]); return x * 2.0",
]


@pytest.mark.parametrize("base", ["tf.Module", "tf.keras.layers.Layer"])
def test_methods_that_change_tracked_containers_are_not_called_by_a_trace(base: str) -> None:
    source = program(base, METHODS).replace("show(step(model,", "show(list(model.sizes), step(model,")
    same(source, **{f"step_{number}": "eager" for number in range(len(METHODS))})


# `x` is changed after it has been stored: a module has the same dict or list, a layer a copy.
STORED = [
    "acts = {'a': x * 2.0, 'n': 3}; self.last = acts; acts['b'] = x; return x + 1.0",
    "acts = [x, x * 2.0]; self.last = acts; acts.append(x * 3.0); return acts[1]",
    "self.last = {}; self.last = {'a': tf.tanh(x), 'text': 'two'}; return x - 1.0",
    "self.last = [float(i) for i in range(3)]; self.count = len(self.sizes); return x * 2.0",
]
READ_BACK = [
    "self.last = {'a': x * 2.0}; return self.last['a'], type(self.last).__name__",
    "self.last = [x]; self.last.append(x); return x * 2.0",
    "self.last = {'a': [x], 'b': x}; return x * 2.0",
    "if tf.reduce_sum(x) > 0.6: self.last = {'b': x}\nreturn x * 2.0",
    "self.last = [1.0, 2.0]; self.last = x; return x * 2.0",
    "self.last = {'a': 1.0}; self.last = None; return x * 2.0",
]


@pytest.mark.parametrize("base", ["tf.Module", "tf.keras.layers.Layer"])
@pytest.mark.parametrize(("bodies", "state"), [(STORED, "graph"), (READ_BACK, "eager")])
def test_what_is_stored_becomes_what_it_does_in_python(base: str, bodies: list[str], state: str) -> None:
    source = program(base, bodies).replace(
        "show(step(model,",
        "show(getattr(model, 'last', None), type(getattr(model, 'last', None)).__name__, step(model,",
    )
    same(source, **{f"step_{number}": state for number in range(len(bodies))})
