"""What all tests share: our own plugin, and the option that rewrites golden files."""

from __future__ import annotations

import pytest

pytest_plugins = ["autoimport", "pytester"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files with what the code says now"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
