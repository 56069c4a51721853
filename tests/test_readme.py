"""What the README shows is what there is: its settings, its public names, its programs and their output."""

from __future__ import annotations

import re
from pathlib import Path

import autoimport
from autoimport import config

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_setting_has_its_row() -> None:
    expected = [f"| `{setting.name}` | `{setting.variable}` | `{setting.flag}` |" for setting in config.SETTINGS]
    assert [row for row in expected if row not in README] == []


def test_every_public_name_is_shown() -> None:
    assert [name for name in autoimport.__all__ if f"autoimport.{name}" not in README] == []


def test_every_linked_file_exists() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_example_it_runs_exists() -> None:
    programs = re.findall(r"examples/\w+\.py", README)
    assert programs
    assert [program for program in programs if not (ROOT / program).exists()] == []
