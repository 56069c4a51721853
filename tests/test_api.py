"""The public names of the package."""

from __future__ import annotations

import sys

import autoimport


def scaled(x: float) -> float:
    return x * 2 if x > 0 else x


def test_the_function_convert_can_be_called_once_the_subpackage_of_that_name_is_imported() -> None:
    import autoimport.convert.parse as parse

    assert sys.modules["autoimport.convert.parse"] is parse
    assert autoimport.convert(scaled)(2.0) == 4.0
    assert autoimport.convert()(scaled)(-2.0) == -2.0


def test_every_public_name_is_there() -> None:
    assert set(autoimport.__all__) <= set(dir(autoimport))
    for name in autoimport.__all__:
        assert callable(getattr(autoimport, name))
