from __future__ import annotations

import anyio
import pytest

from moonpress.engines import auto
from moonpress.engines.auto import AutoEngine
from moonpress.engines.registry import EngineOptions, ServerOptions, create_engine
from moonpress.errors import EngineUnavailable
from tests.engines.scripted import ScriptedServer, refusing, running


def chosen(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer | None, *, urls: bool = False
) -> tuple[str, list[str]]:
    """The engine that is chosen with ``server`` on this machine, and what is said of it."""
    said: list[str] = []

    async def go() -> str:
        if server is None:
            return await choose()
        async with running(server):
            port = int(server.url.rsplit(":", 1)[1].split("/")[0])
            monkeypatch.setattr(auto, "_LOCAL_PORT", port)
            monkeypatch.setattr("moonpress.engines.chandra.engine.LOCAL_URL", server.url)
            monkeypatch.setattr("moonpress.engines.chandra.local.LOCAL_URL", server.url)
            return await choose((server.url,) if urls else ())

    async def choose(given: tuple[str, ...] = ()) -> str:
        options = EngineOptions(server=ServerOptions(urls=given), announce=said.append)
        engine = create_engine("auto", options)
        assert isinstance(engine, AutoEngine)
        await engine.prepare()
        await engine.prepare()
        assert engine.capacity >= 1
        await engine.aclose()
        return engine.name

    monkeypatch.setattr(auto, "_LOCAL_PORT", 9)
    return anyio.run(go), said


def test_nothing_there_means_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    name, said = chosen(monkeypatch, None)
    assert name == "embedded"
    assert len(said) == 1
    assert "nothing answers on localhost:9" in said[0]


def test_a_chandra_server_on_this_machine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    name, said = chosen(monkeypatch, ScriptedServer())
    assert name == "vllm"
    assert said == [said[0]]
    assert said[0].startswith("Reading with vllm: a Chandra server answers on localhost:")


@pytest.mark.parametrize(
    "models",
    [
        refusing(200, {"data": [{"id": "llama"}]}),
        refusing(200, "<html>another program</html>"),
        refusing(401, {"error": "Unauthorized"}),
    ],
)
def test_another_program_on_this_machine_is_not(
    monkeypatch: pytest.MonkeyPatch, models: object
) -> None:
    name, said = chosen(monkeypatch, ScriptedServer(models=models))  # type: ignore[arg-type]
    assert name == "embedded"
    assert "no Chandra server" in said[0]


def test_a_configured_server_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    name, _ = chosen(monkeypatch, ScriptedServer(), urls=True)
    assert name == "vllm"


def test_a_configured_server_that_is_away_is_not_replaced_silently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def go() -> None:
        options = EngineOptions(server=ServerOptions(urls=("127.0.0.1:9",)))
        engine = create_engine("auto", options)
        assert isinstance(engine, AutoEngine)
        with pytest.raises(EngineUnavailable, match="connection refused"):
            await engine.prepare()
        await engine.aclose()

    anyio.run(go)
