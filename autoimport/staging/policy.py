"""When a site is worth a trace, and when it has had enough.

In: what happened at the site so far, in counts only (never the clock, so that two runs of a program stage at the same
call and print the same digits). Out: yes or no.
"""

from __future__ import annotations

import collections

from autoimport import config

# An operation costs 5 to 8 times as much in a trace as eagerly (training steps of the examples; ski rental).
TRACE_COST = 8
# A loop in the body runs many operations a call for each one that is traced.
TRACE_COST_WITH_LOOP = 6
MANY_OPERATIONS = 1000
# A launch costs what some eight eager operations cost.
LEAST_OPERATIONS = 9
# A graph of so many operations is always worth a try, and one of so many never.
ANY_OPERATIONS = 600
MOST_OPERATIONS = 20_000
# What a call of a region is taken to run, whose operations cannot be counted.
UNKNOWN_OPERATIONS = 1_500
# Constants and the like make up to three nodes of each operation.
NODES = 3
# A trace that failed is made once more when eager calls have cost ten times as much.
CAUTION = 10
# Calls without a graph are rare where so many launches lie between two of them.
RARE = 4
MOST_SPECIALISATIONS = 8
# A graph that has been launched so often has been worth its trace, whatever comes after it: models made anew in a loop.
PAID_OFF = 2 * TRACE_COST
# So many graphs of a site are held, those that were launched last.
MOST_HELD = 32
MOST_FAILURES = 2
MOST_BAILS = 5


class Policy:
    """The counts of one site.

    Attributes:
      has_rare: there has been a graph for calls that are rare, in this run or an earlier one.
    """

    def __init__(self, has_loop: bool, is_known: bool = False, has_rare: bool = False) -> None:
        """`is_known`: an earlier run found that a graph pays; `has_rare`: and one for calls that are rare."""
        fixed = config.current().stage_after
        self._fixed = fixed
        self._has_loop = has_loop
        self._usual_wait = fixed if fixed is not None else TRACE_COST_WITH_LOOP if has_loop else TRACE_COST
        # The first call always runs eagerly: it builds layers and slots.
        self._wait = 1 if is_known else self._usual_wait
        self._is_known = is_known
        self._waited = 0
        self._rare_wait = 1 if has_rare else self._usual_wait
        self._rare: collections.Counter[str] = collections.Counter()
        self._asks_for_rare, self.has_rare = False, has_rare
        self._specialisations = 0
        self.failures = 0
        self.bails = 0
        self._operations = 0

    @property
    def has_paid(self) -> bool:
        """Whether there has been a graph."""
        return self._specialisations > 0

    @property
    def waits(self) -> bool:
        """Whether calls run eagerly until there is a graph, or one more graph, for them."""
        return self._waited > 0

    def wants_trace(self, launches: int = 0, *, is_rare: bool = False, lacks: str = "") -> bool:
        """Whether this call, for which there is no graph, is to be traced.

        Rare calls are not soon worth one, and are counted by what they lack, since one graph serves those only.

        Args:
          launches: how many calls since the last one without a graph have had one.
          is_rare: the call is a rare one, whatever came before it.
          lacks: why there is no graph for it.
        """
        self._waited += 1
        waited, wait = self._waited, self._wait
        if self._fixed is None and (is_rare or launches >= RARE):
            self._rare[lacks] += 1
            waited, wait = self._rare[lacks], max(wait, self._rare_wait)
            self._asks_for_rare = waited > wait
        return waited > wait and self.failures < MOST_FAILURES

    def hurry(self) -> None:
        """The next call is worth a trace, unless there has been one: what it would hold is known to be possible."""
        if self._fixed is None and not self._specialisations and not self.failures:
            self._wait = min(self._wait, self._waited)

    def patience(self, callers_calls: int, in_long_loop: bool) -> int:
        """How many calls within one call of a caller to leave eager for the caller's sake.

        Not for long in a loop that stays Python: a caller that is called once never becomes a graph.
        """
        if in_long_loop:
            return 0 if callers_calls <= 1 else self._usual_wait
        return 10 * self._usual_wait

    def is_worthwhile(self, operations: int, walks: bool = False) -> bool:
        """Note what one eager call runs, and whether it walks a tensor; whether a trace is worth a thought at all."""
        self._operations = operations
        if self._fixed is not None:
            return True
        if (self._has_loop or walks) and operations >= MANY_OPERATIONS:
            self._wait = 2
        return operations >= LEAST_OPERATIONS

    def largest_graph(self) -> int:
        """How many operations a trace may make: it shall not cost more than what has been spent eagerly.

        A Python loop that is unrolled would otherwise be traced for longer than the program runs.
        """
        if self._fixed is not None or self._specialisations or self._is_known:
            return MOST_OPERATIONS
        operations = self._operations or UNKNOWN_OPERATIONS
        return min(MOST_OPERATIONS, max(ANY_OPERATIONS, NODES * self._waited * operations // TRACE_COST))

    def may_wait_longer(self) -> bool:
        """After a trace that was too large: whether a larger one may be tried later, when more has been spent."""
        if self.largest_graph() == MOST_OPERATIONS:
            return False
        self._wait = max(2 * self._waited, TRACE_COST)
        return True

    def pays(self, operations: int) -> bool:
        """Whether a graph of so many operations is faster than eager."""
        return self._fixed is not None or operations >= LEAST_OPERATIONS

    def another_specialisation(self, launches: int = 0) -> bool:
        """Whether the site may have one graph more; the last one has had so many launches."""
        has_paid_off = self._specialisations > 0 and launches >= PAID_OFF
        self._specialisations += not has_paid_off
        self.has_rare = self.has_rare or self._asks_for_rare
        self._asks_for_rare = False
        if self._fixed is None:
            # It is known to pay now, but each graph more makes it likelier that there will be no end of them.
            self._waited, self._wait = 0, 2 ** (self._specialisations - 1)
        return self._specialisations <= MOST_SPECIALISATIONS

    def another_failure(self, work: int = 0) -> bool:
        """Note a trace that failed after so many operations; whether that is enough.

        What fails for one input may go for the next, but most of the time it does not.
        """
        self.failures += 1
        if self._fixed is None:
            self._waited = 0
            if not self._specialisations:
                calls = CAUTION * TRACE_COST * work // (NODES * (self._operations or UNKNOWN_OPERATIONS))
                self._wait, self._is_known = max(self._usual_wait, calls), False
        return self.failures >= MOST_FAILURES

    def another_bail(self) -> bool:
        """Note a launch that sent its call back to eager; whether that is enough."""
        self.bails += 1
        return self.bails >= MOST_BAILS
