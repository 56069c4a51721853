"""A module's source -> its graph forms, each made when it is first asked for.

Most functions of a program never become a graph, and an import need not wait for what nobody asks for. Forms are made
of the text that was imported, whatever has become of its file since; what has been made once is kept in the cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType
from typing import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autoimport.convert.module import Workshop


class Forms:
    """The graph forms of a module in site order, None where there is none.

    Attributes:
      source, path, is_main: as for `convert_module`.
      stored: names of the attributes, globals and items that its functions store, counters most of them.
      made: what has been made so far, by site.
      reasons: why a form has turned out to be impossible, and on which line, by site.
      keep: called at `close` with the forms, if more have been made; it may put them in a cache.
      tell: hears of faults of ours, which cost one form each; None to raise them.
    """

    def __init__(
        self,
        source: bytes | str,
        path: str,
        count: int,
        *,
        is_main: bool = False,
        stored: tuple[str, ...] = (),
        made: dict[int, CodeType | None] | None = None,
        tell: Callable[[Exception], None] | None = None,
    ) -> None:
        self.source, self.path, self.is_main, self.stored = source, path, is_main, stored
        self.made: dict[int, CodeType | None] = {} if made is None else made
        self.reasons: dict[int, tuple[str, int | None]] = {}
        self.keep: Callable[[Forms], object] | None = None
        self.tell = tell
        self._count = count
        self._workshop: Workshop | None = None
        self._is_new = False

    def __getitem__(self, index: int) -> CodeType | None:
        if index not in self.made and index not in self.reasons:
            self._make(range(self._count)[index])
        return self.made.get(index)

    def __iter__(self) -> Iterator[CodeType | None]:
        return map(self.__getitem__, range(self._count))

    def __len__(self) -> int:
        return self._count

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be made."""
        return len(self.made) == self._count

    def close(self) -> None:
        """For now no more forms are asked for: keep what has been made, and forget what they are made of."""
        self._workshop = None
        if self._is_new and self.keep is not None:
            self.keep(self)
        self._is_new = False

    def _make(self, index: int) -> None:
        found: CodeType | tuple[str, int | None]
        try:
            try:
                found = self._built(index)
            except RecursionError:
                found = _on_an_empty_stack(partial(self._built, index))
        except RecursionError:
            found = "code nested too deeply", None
        except Exception as fault:
            if self.tell is None:
                raise
            found = f"internal: {type(fault).__name__}: {fault}", None
            self.tell(fault)
        if isinstance(found, tuple):
            self.reasons[index] = found
        else:
            self.made[index] = found
            self._is_new = True

    def _built(self, index: int) -> CodeType | tuple[str, int | None]:
        # Not at the top: this loads gast, which a warm start does without.
        from autoimport.convert.graph_form import Unconvertible
        from autoimport.convert.module import Workshop
        from autoimport.convert.parse import quietly

        try:
            with quietly():
                if self._workshop is None:
                    self._workshop = Workshop(self.source, self.path, self.is_main)
                return self._workshop.form(index)
        except Unconvertible as why:
            if isinstance(why, RecursionError):
                raise
            return why.reason, why.line


Built = TypeVar("Built")


def _on_an_empty_stack(build: Callable[[], Built]) -> Built:
    """The same in a thread of its own: the program may have been deep in a recursion."""
    results: list[Built] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(build())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for error in errors:
        raise error
    return results[0]
