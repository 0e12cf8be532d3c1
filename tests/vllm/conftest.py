from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vllm.server import Server, environment_folder, installed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process gets all of these tests, so that one server starts; none where none can."""
    for item in items:
        if item.get_closest_marker("vllm") is None:
            continue
        item.add_marker(pytest.mark.xdist_group("vllm"))
        if not installed():
            reason = (
                f"no vLLM at {environment_folder()} (tests/vllm/install.sh makes one;"
                " MOONPRESS_VLLM_VENV names another place)"
            )
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def vllm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that runs as long as the tests."""
    server = Server(tmp_path_factory.mktemp("vllm") / "server.log")
    server.start()
    try:
        server.wait()
        yield server
    finally:
        server.kill()
