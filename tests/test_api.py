"""The public names of the package."""

from __future__ import annotations

import sys
import types

import autoimport


def test_the_function_convert_is_not_hidden_by_the_subpackage_of_that_name() -> None:
    import autoimport.convert.parse

    assert isinstance(autoimport.convert, types.FunctionType)
    assert autoimport.convert is autoimport.convert
    assert isinstance(sys.modules["autoimport.convert"], types.ModuleType)


def test_every_public_name_is_there() -> None:
    assert set(autoimport.__all__) <= set(dir(autoimport))
    for name in autoimport.__all__:
        assert callable(getattr(autoimport, name))
