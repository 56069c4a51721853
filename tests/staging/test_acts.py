"""Logging, warnings and standard output in functions that become graphs: at every call, in order, from the same line."""

from __future__ import annotations

import textwrap

import pytest

from autoimport.staging import registry
from tests.staging import programs

_PROGRAM = """
import io
import logging
import sys
import warnings
PARTS = "%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(module)s %(message)s"
log = logging.getLogger("autoimport_test")
log.handlers.clear(); log.filters.clear(); log.__class__ = logging.Logger
log.setLevel(logging.INFO); log.propagate = False
shown = io.StringIO()
handler = logging.StreamHandler(shown); handler.setFormatter(logging.Formatter(PARTS))
log.addHandler(handler)
AROUND
def step(x, k):
    y = tf.reduce_sum(x * x + 2.0) - 1.0
BODY
    return tf.sqrt(y)
def main():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for k in range(5):
            attempt(step, tf.constant([1.0, 2.0]) * k, k)
            BETWEEN
        print(shown.getvalue())
        print([(str(w.message), w.category, w.filename, w.lineno, str(w.source)) for w in caught])
        print(sorted(map(str, globals().get("__warningregistry__", ()))))
"""


def step_of(body: str, around: str = "", between: str = "pass") -> registry.Site:
    """The site of `step(x, k)` with this body, which finds `y` (3, 8, 23, 48, 83), after a run that tells what plain
    Python tells."""
    source = _PROGRAM.replace("BODY", textwrap.indent(textwrap.dedent(body), "    "))
    return programs.same(source.replace("AROUND", textwrap.dedent(around)).replace("BETWEEN", between)).sites["step"]


GRAPHS = {
    "messages with arguments": "log.info('loss %f at %s, %d', y, x, k)\nlog.warning('%s %s', [y], {'k': k})",
    "a dict of arguments": "log.info('%(y).2f %(k)d', {'y': y, 'k': k})",
    "a text": "log.error(f'{y:.3f}')\nlog.critical(y)",
    "several lines": "log.info(\n    'loss %f',\n    y,\n)\n(log\n .info(\n    'b'))\nwarnings.warn(\n    'c'\n)",
    "levels": "log.debug('not shown %d', k)\nlog.log(logging.WARNING, 'shown')\nlog.log(5, 'not shown')",
    "asked for": "if log.isEnabledFor(logging.DEBUG):\n    log.debug('no')\nelse:\n    log.info('yes')",
    "by name": "logging.getLogger('autoimport_test').info('a')\nlogging.getLogger('autoimport_test.sub').info('b')",
    "extra fields": "log.info('a', extra={'k': k})",
    "under a condition": """
        if y > 20.0:
            log.info('large %.1f', y)
            warnings.warn('large')
            if y > 40.0:
                log.info('very large')
        else:
            log.info('small')
        log.info('after')
        """,
    "in a comprehension": "[log.info('%d', i) for i in range(2)]",
    "in nested functions": """
        def inner(z):
            log.info('inner %s', z)
            if z > 20.0:
                log.info('inner, large')
            return z
        inner(y)
        (lambda v: log.info('lambda %s', v))(y)
        """,
    "as an operand": "k > 1 and log.info('a')\ny > 20.0 and log.info('b')",
    "in order with prints": "print('a', y)\nlog.info('b')\nsys.stdout.write('c\\n')\nprint('d')",
    "numpy and numbers": "log.info('%f %s %r', y.numpy(), x.numpy(), float(y))",
    "warned once a place": "warnings.warn('always the same')\nwarnings.warn('and here')",
    "warned for each text": "warnings.warn(f'warned {k}', DeprecationWarning)\nwarnings.warn(f'y {y:.0f}', stacklevel=1)",
    "written": "n = sys.stdout.write('one\\n')\nm = sys.stdout.write(f'{y}\\n')\nprint(n, m)\nsys.stdout.flush()",
    "printed to": "print(y, file=sys.stdout, flush=True)\nprint(k, file=sys.stderr)\nsys.stderr.write(str(y))",
    "with changes": "global total\ntotal = total + 1\nlog.info('total %d', total)",
}
EAGER = {
    "the exception that is handled": "try:\n    raise ValueError(1)\nexcept ValueError:\n    log.exception('a')",
    "the line of a caller": "log.info('a', stacklevel=2)",
    "a warning of a caller's line": "warnings.warn('a', stacklevel=2)",
    "a warning object": "warnings.warn(UserWarning('a'))",
    "a level changed": "log.setLevel(logging.INFO)",
    "in a loop over tensors": "for i in tf.range(tf.cast(y, tf.int32)):\n    log.info('a')",
}
_AROUND = "total = 0"


@pytest.mark.parametrize("body", GRAPHS.values(), ids=GRAPHS)
def test_what_a_graph_tells_is_told_after_each_launch(body: str) -> None:
    site = step_of(body, _AROUND)
    assert ("graph", None) == (site.state, site.reason)


@pytest.mark.parametrize("body", EAGER.values(), ids=EAGER)
def test_what_cannot_be_told_in_the_same_way_stays_eager(body: str) -> None:
    site = step_of(body, _AROUND)
    assert "eager" == site.state


HANDLERS = {
    "a handler": "class H(logging.Handler):\n    def emit(self, record): seen.append(record.getMessage())\nlog.addHandler(H())",
    "a filter": "class F:\n    def filter(self, r): seen.append(r.lineno); return True\nlog.addFilter(F())",
    "a function": "log.addFilter(lambda record: seen.append(record.lineno) or True)",
    "a logger": "class L(logging.Logger):\n    def handle(self, r): seen.append(1)\nlog.__class__ = L",
}


@pytest.mark.parametrize("around", HANDLERS.values(), ids=HANDLERS)
def test_code_of_the_program_that_sees_messages_runs_at_its_place(around: str) -> None:
    site = step_of("log.info('a %d', k)\nprint(len(seen))", "seen = []\n" + around)
    assert "eager" == site.state


def test_a_handler_added_later_is_seen() -> None:
    around = "seen = []\nclass H(logging.Handler):\n    def emit(self, record): seen.append(record.getMessage())\n"
    step_of("log.info('a %d', k)\nprint(len(seen))", around, "k == 2 and log.addHandler(H())")


def test_levels_and_filters_are_asked_at_each_call() -> None:
    body = "if log.isEnabledFor(logging.DEBUG):\n    print('debugging')\nlog.debug('a %s', y)\nlog.info('b')"
    between = "k == 2 and log.setLevel(logging.DEBUG); k == 3 and logging.disable()"
    step_of(body, "logging.disable(logging.NOTSET)", between + "; k == 4 and logging.disable(logging.NOTSET)")


def test_a_warning_that_is_an_error_is_raised_at_its_place() -> None:
    body = "global total\ntotal += 1\nwarnings.warn('a')\ntotal += 10"
    site = step_of(body, _AROUND, "print(total); k == 2 and warnings.simplefilter('error')")
    assert "graph" == site.state


def test_nothing_is_told_by_a_call_that_goes_back_to_eager() -> None:
    body = "log.info('a %s', y)\nwarnings.warn(f'{k}')\nsys.stdout.write('w')\nif y == 23.0:\n    raise ValueError(k)"
    site = step_of(body)
    assert "graph" == site.state, site.reason


def test_functions_of_the_module_set_the_root_logger_up_as_they_do() -> None:
    body = "logging.warning('root %s', y)\nlogging.info('no')"
    around = "root = logging.getLogger(); before = root.handlers[:]; root.handlers[:] = [handler]"
    site = step_of(body, around, "k == 4 and root.handlers.__setitem__(slice(None), before)")
    assert ("graph", None) == (site.state, site.reason)


def test_what_tensorflow_logs_the_first_times_is_logged_by_eager_code() -> None:
    # It counts the calls of each line of the program, and says once or five times what it has to say.
    ran = programs.same(
        """
        import logging
        class Shown(logging.Handler):
            def emit(self, record): print(record.levelname, record.getMessage())
        shown = Shown()
        def nested(x):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                slope = tape.gradient(tf.reduce_sum(x * x * x), x)
            return tape.gradient(slope, x)
        def integers(x):
            n = tf.cast(x, tf.int32)
            with tf.GradientTape() as tape:
                tape.watch([x, n])
                y = tf.reduce_sum(x * x)
            return tape.gradient(y, x)
        def now_and_then(x):
            if x[0] > 2.0:
                return nested_as_well(x)
            return x * 3.0
        def nested_as_well(x):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                slope = tape.gradient(tf.reduce_sum(x * x * x), x)
            return tape.gradient(slope, x)
        def main():
            logger = tf.get_logger()
            handlers, logger.handlers, logger.propagate = logger.handlers, [shown], False
            try:
                for f in (nested, integers, now_and_then):
                    for t in range(16): attempt(f, tf.constant([1.0, 2.0]) * t)
            finally:
                logger.handlers, logger.propagate = handlers, True
        """,
        stage_after=6,
    )
    assert sum(line.startswith("WARNING ") for line in ran.lines) == 7
    assert {ran.sites[name].state for name in ("nested", "integers", "now_and_then")} == {"graph"}
