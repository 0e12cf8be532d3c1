"""What tests share: the folder of test documents that does not travel with the project.

Owns the `shared` fixture, the skipping of tests that need it, and the option to write golden files.
Never makes test data: see `tests.generators`.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


def shared_folder() -> Path:
    """Where the shared test data is expected: ``MOONPRESS_SHARED``, or beside the checkout."""
    return Path(os.environ.get("MOONPRESS_SHARED") or CHECKOUT.parent / "shared")


def pytest_configure() -> None:
    """Let children of tests meet signals, also where a shell made us ignore them (``nohup``)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="write the golden files anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked ``shared``, or using the fixture, where the folder is absent."""
    folder = shared_folder()
    if (folder / "data").is_dir():
        return
    skip = pytest.mark.skip(reason=f"no shared test data at {folder} (set MOONPRESS_SHARED)")
    for item in items:
        needs_fixture = "shared" in getattr(item, "fixturenames", ())
        if needs_fixture or item.get_closest_marker("shared") is not None:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data, with ``data/`` and ``bench/`` in it; read-only."""
    return shared_folder()


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout that is tested."""
    return CHECKOUT
