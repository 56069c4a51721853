"""What graph forms call: one module a construct, flat names."""

from __future__ import annotations

from builtins import slice

from autoimport.operators.access import (
    attr,
    augment,
    caught,
    context,
    del_attr,
    del_global,
    del_item,
    forbid,
    free,
    global_,
    handlers,
    item,
    iterate,
    mapping,
    set_attr,
    set_free,
    set_global,
    set_item,
)
from autoimport.operators.arithmetic import binary
from autoimport.operators.asserts import assert_, raise_
from autoimport.operators.calls import call
from autoimport.operators.comparisons import chain, eq, in_, is_, is_not, ne, not_in
from autoimport.operators.comprehensions import each, kept, listed, one, when
from autoimport.operators.conditionals import if_, if_exp
from autoimport.operators.formatting import format_, fstring, mod
from autoimport.operators.list_methods import spliced, spread
from autoimport.operators.lists import set_element_type, stack
from autoimport.operators.logic import and_, not_, or_, truth
from autoimport.operators.loops import for_, while_
from autoimport.operators.matching import Entries, Fields, Items, Whole, subject, take_apart
from autoimport.operators.ranges import part
from autoimport.operators.undefined import Undefined, defined
from autoimport.operators.unpacking import unpack

__all__ = [
    "Entries",
    "Fields",
    "Items",
    "Undefined",
    "Whole",
    "and_",
    "assert_",
    "attr",
    "augment",
    "binary",
    "call",
    "caught",
    "chain",
    "context",
    "defined",
    "del_attr",
    "del_global",
    "del_item",
    "each",
    "eq",
    "for_",
    "forbid",
    "format_",
    "free",
    "fstring",
    "global_",
    "handlers",
    "if_",
    "if_exp",
    "in_",
    "is_",
    "is_not",
    "item",
    "iterate",
    "kept",
    "listed",
    "mapping",
    "mod",
    "ne",
    "not_",
    "not_in",
    "one",
    "or_",
    "part",
    "raise_",
    "set_attr",
    "set_element_type",
    "set_free",
    "set_global",
    "set_item",
    "slice",
    "spliced",
    "spread",
    "stack",
    "subject",
    "take_apart",
    "truth",
    "unpack",
    "when",
    "while_",
]
