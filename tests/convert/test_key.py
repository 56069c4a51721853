"""The content key names what a conversion depends on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autoimport.convert.key import content_key, key_parts


def test_the_same_source_has_the_same_key_as_text_and_as_bytes() -> None:
    assert content_key("x = 1\n") == content_key(b"x = 1\n")


def test_another_source_has_another_key() -> None:
    assert content_key("x = 1\n") != content_key("x = 2\n")


def test_the_parts_of_a_key_have_names() -> None:
    assert ["source", "main", "converter", "gast", "python", "optimize", "debug_ranges"] == list(key_parts(""))


def test_a_source_with_surrogates_has_a_key() -> None:
    assert content_key("'\udc80'")


def test_the_key_is_a_hex_string_that_every_process_agrees_on() -> None:
    program = """
import sys
from autoimport.convert.key import content_key
print(content_key("x"), "gast" in sys.modules)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert [content_key("x"), "False"] == out
    assert int(out[0], 16)


@pytest.mark.parametrize("options", [["-O"], ["-X", "no_debug_ranges"]], ids=" ".join)
def test_a_python_that_compiles_otherwise_has_keys_of_its_own(options: list[str]) -> None:
    program = "from autoimport.convert.key import content_key; print(content_key('x'))"
    run = subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, check=True)
    assert content_key("x") != run.stdout.strip()
