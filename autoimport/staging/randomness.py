"""Stateful random operations of a trace -> stateless ones, their seeds drawn before each launch as eager draws them.

In: a trace in which TensorFlow asks for seeds and makes random operations. Out: operations that give the same numbers
to the bit, over inputs of the graph, and before each launch a value for these inputs. So the stream of operation seeds
is after a launch where eager would have left it, and a trace takes nothing from it.

A stateful kernel starts a Philox generator with the key `seed` and the counter `(0, seed2)`; eager gives each operation
another `seed2`. Some stateless operations take key and counter as they are; the others take a seed, which they scramble
by Philox first. That is a bijection, so they get the seed that comes out as key and counter. Where no global seed is
set, nobody can tell one stream from another, and the stateful operations stay.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autoimport.operators import observer
from autoimport.operators.errors import Unstageable
from autoimport.staging import tf_internals
from autoimport.staging.sources import GuardBuilder, Source

# From key and counter of a draw to the input that an operation takes.
Maker = Callable[[int, int], Any]
Signature = tuple[int, int]
# Does an operation of the trace once more, eagerly, with these seeds, for what it leaves in its kernel.
Replay = Callable[[int, int], object]

_PHILOX = 1  # the number of the algorithm, as operations know it
_WORD = 0xFFFFFFFF
_LARGEST = 2**31 - 1
# Two generators that give so many equal seeds are in the same state.
_ALIKE = 8
_MOST_DRAWN = 10**6
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_INVERSES = tuple(pow(multiplier, -1, 2**32) for multiplier in _MULTIPLIERS)
_STEPS = 0x9E3779B9, 0xBB67AE85
# The key by which stateless operations scramble their seed.
_SCRAMBLER = 0x3EC8F720, 0x02461E29
_ROUNDS = [tuple((key + i * step) & _WORD for key, step in zip(_SCRAMBLER, _STEPS, strict=True)) for i in range(10)]


def unscramble(key: int, counter: int) -> Signature:
    """The seed of a stateless operation whose generator starts with a key and the counter `(0, counter)`.

    Ten rounds of Philox backwards.
    """
    a, b, c, d = key & _WORD, key >> 32, counter & _WORD, counter >> 32
    for first, second in reversed(_ROUNDS):
        x, y = (d * _INVERSES[0]) & _WORD, (b * _INVERSES[1]) & _WORD
        a, b, c, d = x, a ^ first ^ (_MULTIPLIERS[1] * y >> 32), y, c ^ second ^ (_MULTIPLIERS[0] * x >> 32)
    return a | b << 32, c | d << 32


@functools.lru_cache(maxsize=1)
def _same_key(key: int) -> Any:
    return tf_internals.eager_tensor([key], tf.uint64)


def _key(key: int, counter: int) -> Any:
    return _same_key(key)


def _counter(key: int, counter: int) -> Any:
    return tf_internals.eager_tensor([0, counter], tf.uint64)


def _seed(key: int, counter: int) -> Any:
    return tf_internals.eager_tensor([each - (each >> 63 << 64) for each in unscramble(key, counter)], tf.int64)


def _permutation(size: int) -> Maker:
    """The order that a shuffle of so many rows draws, as places.

    A kernel goes on where it was when it is asked for the same seeds again, for a launch that did not count; so what
    it has given is kept, and it is one of a type that nobody shuffles.
    """

    def make(key: int, counter: int) -> Any:
        kept = stream().permutations
        if (counter, size) not in kept:
            numbers = tf_internals.eager_tensor(np.arange(size, dtype=np.uint64), tf.uint64)
            kept[counter, size] = tf.cast(tf.raw_ops.RandomShuffle(value=numbers, seed=key, seed2=counter), tf.int32)
        return kept[counter, size]

    return make


class Draw(int):
    """What an operation of the trace gets for its seed. It stands for the two seeds of one launch."""

    draws: Draws
    replay: Replay | None
    used: bool

    def take(self, make: Maker, dtype: Any, shape: list[int]) -> Any:
        """An input of the graph, made by `make` of this draw before each launch."""
        self.used = True
        return self.draws.input(int(self) - 1, make, dtype, shape)

    def generator(self) -> dict[str, Any]:
        """The arguments of an operation that takes key and counter."""
        return {"key": self.draws.key(), "counter": self.take(_counter, tf.uint64, [2]), "alg": _PHILOX}

    def seed(self) -> Any:
        """The argument of an operation that scrambles its seed."""
        return self.take(_seed, tf.int64, [2])


def _normal(draw: Draw, shape: Any, dtype: Any, name: Any = None) -> Any:
    return tf.raw_ops.StatelessRandomNormalV2(shape=shape, dtype=dtype, **draw.generator())


def _uniform(draw: Draw, shape: Any, dtype: Any, name: Any = None) -> Any:
    return tf.raw_ops.StatelessRandomUniformV2(shape=shape, dtype=dtype, **draw.generator())


def _truncated_normal(draw: Draw, shape: Any, dtype: Any, name: Any = None) -> Any:
    return tf.raw_ops.StatelessTruncatedNormalV2(shape=shape, dtype=dtype, **draw.generator())


def _uniform_int(draw: Draw, shape: Any, minval: Any, maxval: Any, name: Any = None) -> Any:
    return tf.raw_ops.StatelessRandomUniformIntV2(shape=shape, minval=minval, maxval=maxval, **draw.generator())


def _multinomial(draw: Draw, logits: Any, num_samples: Any, output_dtype: Any = tf.int64, name: Any = None) -> Any:
    return tf.raw_ops.StatelessMultinomial(
        logits=logits, num_samples=num_samples, seed=draw.seed(), output_dtype=output_dtype
    )


def _each(shape: Any, parameter: Any) -> Any:
    """The shape of draws for each item of a parameter."""
    return tf.concat([shape, tf.shape(parameter, shape.dtype)], 0)


def _gamma(draw: Draw, shape: Any, alpha: Any, name: Any = None) -> Any:
    return tf.raw_ops.StatelessRandomGammaV2(shape=_each(shape, alpha), seed=draw.seed(), alpha=alpha)


def _poisson(draw: Draw, shape: Any, rate: Any, dtype: Any = tf.int64, name: Any = None) -> Any:
    return tf.raw_ops.StatelessRandomPoisson(shape=_each(shape, rate), seed=draw.seed(), lam=rate, dtype=dtype)


def _shuffle(draw: Draw, value: Any, name: Any = None) -> Any:
    """There is no stateless operation for it: the permutation is made before the launch."""
    value = tf.convert_to_tensor(value)
    if value.shape.rank in (None, 0) or value.shape[0] is None:
        raise Unstageable("shuffles a tensor of unknown length")
    places = draw.take(_permutation(value.shape[0]), tf.int32, [value.shape[0]])
    return tf.gather(tf.stop_gradient(value), places)  # the operation has no gradient: eager code gets None


# By the names of what makes the stateful operations.
_STATELESS: dict[str, Callable[..., Any]] = {
    "random_standard_normal": _normal,
    "random_uniform": _uniform,
    "truncated_normal": _truncated_normal,
    "random_uniform_int": _uniform_int,
    "multinomial": _multinomial,
    "random_gamma": _gamma,
    "random_poisson_v2": _poisson,
    "random_shuffle": _shuffle,
}


class Draws:
    """The draws of one trace, in the order in which eager makes them.

    Attributes:
      inputs: the placeholders of the graph that are filled by `draw`.
    """

    def __init__(self, builder: GuardBuilder, graph: Callable[[], Any]) -> None:
        self.inputs: list[Any] = []
        self._made: list[Draw] = []
        self._makers: list[tuple[int, Maker]] = []
        self._key: Any = None
        self._builder = builder
        self._graph = graph
        self._is_seeded = tf_internals.global_seed() is not None

    def watch(self, trace: observer.Observer) -> contextlib.AbstractContextManager[None]:
        """Be asked for the seeds of random operations that `trace` makes."""

        def get_seed(original: Callable[..., Any], op_seed: Any) -> Any:
            return self._next(original, op_seed) if observer.current() is trace else original(op_seed)

        return tf_internals.random_operations(
            get_seed, {name: _unless_drawn(stateless) for name, stateless in _STATELESS.items()}
        )

    def _next(self, original: Callable[..., Any], op_seed: Any) -> Any:
        if op_seed is not None:
            raise Unstageable(
                f"draws random numbers with a seed of their own ({op_seed}), of which eager keeps count",
                "leave the seed to tf.random.set_seed, or draw from a tf.random.Generator",
            )
        seed = Source(f"{self._builder.constant(tf_internals.global_seed)}()", "the seed of tf.random.set_seed")
        if not self._is_seeded:
            self._builder.require(seed, "{v} is None", "was not set")
            return original(None)
        self._builder.require(seed, "{v} is not None", "was set")
        if not tf_internals.is_called_once(self._graph()):
            raise Unstageable(
                "draws seeded random numbers in a branch or loop of the graph",
                "draw in front of it, or from a tf.random.Generator",
            )
        draw = Draw(len(self._made) + 1)
        draw.draws, draw.replay, draw.used = self, None, False
        self._made.append(draw)
        return draw, draw

    def input(self, index: int, make: Maker, dtype: Any, shape: list[int]) -> Any:
        """A new input of the graph, made by `make` of the draw at `index`."""
        placeholder = tf_internals.placeholder(self._graph(), dtype, shape)
        self.inputs.append(placeholder)
        self._makers.append((index, make))
        return placeholder

    def key(self) -> Any:
        """The input that is the same for all draws of a launch."""
        if self._key is None:
            self._key = self.input(0, _key, tf.uint64, [1])
        return self._key

    def finish(self) -> Launcher | None:
        """What to do before each launch, if there is anything to draw."""
        if not all(draw.used for draw in self._made):
            raise Unstageable("draws a random seed for what has no stateless counterpart")
        return Launcher([draw.replay for draw in self._made], self._makers) if self._made else None


def _replay(
    original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], shuffles: bool
) -> Replay | None:
    """What does an operation again whose size is known; how much it draws does not depend on values."""
    values = (*args, *kwargs.values())
    examples = [_example(value, shuffles) if tf.is_tensor(value) else value for value in values]
    if any(example is None and value is not None for example, value in zip(examples, values, strict=True)):
        return None

    def replay(seed: int, seed2: int) -> None:
        fill = tf.zeros if shuffles else tf.ones
        made = [fill(each.shape, each.dtype) if isinstance(each, tf.TensorSpec) else each for each in examples]
        original(*made[: len(args)], **dict(zip(kwargs, made[len(args) :], strict=True)), seed=seed, seed2=seed2)

    return replay


def _example(tensor: Any, of_any_type: bool) -> Any:
    """What has an operation draw as much as this tensor, or of what type and shape it is; None: nobody knows.

    Integers may be sizes and bounds, unless they are what is shuffled.
    """
    known = tf.get_static_value(tensor)
    if known is not None:
        with tf.init_scope():
            return tf.constant(known, tensor.dtype)
    if (tensor.dtype.is_floating or of_any_type) and tensor.shape.is_fully_defined():
        return tf.TensorSpec(tensor.shape, tensor.dtype)
    return None


def _unless_drawn(stateless: Callable[..., Any]) -> Callable[..., Any]:
    def choose(original: Callable[..., Any], *args: Any, seed: Any = 0, seed2: Any = 0, **kwargs: Any) -> Any:
        if type(seed) is Draw:
            seed.replay = _replay(original, args, kwargs, stateless is _shuffle)
            if seed.replay is None:
                raise Unstageable("draws seeded random numbers of which the graph does not know how many")
            return stateless(seed, *args, **kwargs)
        return original(*args, seed=seed, seed2=seed2, **kwargs)

    return choose


class Stream:
    """Stands for the eager context's generator of operation seeds, and knows what has been drawn since `set_seed`.

    Seeds have 31 bits, so that one comes twice now and then; eager then goes on with the kernel of the first time. A
    launch has made no kernel: before an eager operation gets the seed again, the first operation is done once more.
    """

    def __init__(self, generator: Any, seed: Any) -> None:
        self._generator = generator
        self._again: list[int] = []
        self._drawn: dict[int, Replay | None] = dict.fromkeys(_drawn_before(generator, seed))
        self.permutations: dict[tuple[int, int], Any] = {}  # by second seed and size: of launches that did not count

    def _next(self) -> int:
        return self._again.pop() if self._again else self._generator.randint(0, _LARGEST)

    def randint(self, low: int, high: int) -> int:
        """The next seed of an eager operation."""
        seed = self._next()
        replay = self._drawn.get(seed)
        self._drawn[seed] = None
        if replay is not None:
            replay(*signature(seed))
        return seed

    def draw(self, replays: list[Replay | None]) -> list[int] | None:
        """The seeds for a launch; None, and nothing is drawn, where one of them has been drawn before."""
        if not self._again:
            self.permutations.clear()
        seeds = [self._next() for _ in replays]
        if len(set(seeds)) < len(seeds) or not self._drawn.keys().isdisjoint(seeds):
            self._again.extend(reversed(seeds))
            return None
        self._drawn.update(zip(seeds, replays, strict=True))
        return seeds

    def put_back(self, seeds: list[int]) -> None:
        """Give the seeds of a launch again: it did not count."""
        self._again.extend(reversed(seeds))
        for seed in seeds:
            self._drawn.pop(seed, None)


def stream() -> Stream:
    """The stream of operation seeds, which takes the place of the context's own generator."""
    generator = tf_internals.seed_generator()
    if type(generator) is not Stream:
        generator = Stream(generator, tf_internals.global_seed())
        tf_internals.set_seed_generator(generator)
    return generator


def snapshot() -> Any:
    """The generator of operation seeds as it is now; None without a global seed, when all draws are free."""
    return None if tf_internals.global_seed() is None else copy.deepcopy(tf_internals.seed_generator())


def restore(taken: Any) -> None:
    """Go on from a snapshot."""
    if taken is not None:
        tf_internals.set_seed_generator(copy.deepcopy(taken))


def ahead(taken: Any) -> list[int]:
    """What a snapshot would give next."""
    if taken is None:
        return []
    generator = copy.deepcopy(taken)
    return [generator._next() if type(generator) is Stream else generator.randint(0, _LARGEST) for _ in range(_ALIKE)]


def _drawn_before(generator: random.Random, seed: Any) -> list[int]:
    """What a generator that was made with a seed has given so far, by doing it again until both go on alike."""
    now, again = random.Random(), random.Random(int(seed))
    now.setstate(generator.getstate())
    ahead = [now.randint(0, _LARGEST) for _ in range(_ALIKE)]
    drawn = [again.randint(0, _LARGEST) for _ in range(_ALIKE)]
    while drawn[-_ALIKE:] != ahead and len(drawn) < _MOST_DRAWN:
        drawn.append(again.randint(0, _LARGEST))
    return drawn[:-_ALIKE]


def signature(seed: int) -> Signature:
    """The two seeds of an operation, as `get_seed` has them: two zeros would be no seed at all."""
    key, counter = int(tf_internals.global_seed() % _LARGEST), seed % _LARGEST
    return key, counter or (0 if key else _LARGEST)


@dataclass(frozen=True)
class Launcher:
    """Draws for the launches of one graph: a seed for each of `replays`, and inputs that are made of them."""

    replays: list[Replay | None]
    makers: list[tuple[int, Maker]]

    def draw(self) -> tuple[list[Any], list[int]] | None:
        """The inputs for one launch, and what was drawn, to put back if it does not count; None: eager has to do it."""
        seeds = stream().draw(self.replays)
        if seeds is None:
            return None
        signatures = [signature(seed) for seed in seeds]
        return [make(*signatures[index]) for index, make in self.makers], seeds
