"""What all tests share: our own plugin, and the option that rewrites golden files."""

from __future__ import annotations

import itertools

import pytest

pytest_plugins = ["autoimport", "pytester"]
_numbers = itertools.count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files with what the code says now"
    )


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test starts learns nothing from other tests, and leaves nothing in the cache of whoever runs them."""
    monkeypatch.setenv("AUTOIMPORT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / f"cache-{next(_numbers)}"))


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
