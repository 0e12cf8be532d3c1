from __future__ import annotations

import json
import os
from pathlib import Path

import anyio

from moonpress.serving.replicas.encoders import Encoders, clear, folder_of, pictures_of
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec


def picture(url: str) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": url}}


def test_an_encoder_gets_the_pictures_and_nothing_else() -> None:
    content = [{"type": "text", "text": "Read"}, picture("data:1"), picture("data:2")]
    messages = [{"role": "system", "content": "You read"}, {"role": "user", "content": content}]
    body = {"model": "chandra", "messages": messages, "max_tokens": 900, "stream": True}
    found = pictures_of(json.dumps(body).encode())
    assert found is not None
    assert json.loads(found) == {
        "model": "chandra",
        "messages": [{"role": "user", "content": [picture("data:1"), picture("data:2")]}],
        "max_tokens": 1,
        "stream": False,
    }


def test_what_is_no_chat_with_pictures_is_not_sent() -> None:
    for body in (b"", b"[]", b"{}", b'{"messages": 3}', b'{"messages": [{"content": ["x"]}]}'):
        assert pictures_of(body) is None
    assert pictures_of(b'{"messages": [{"role": "user", "content": "no picture"}]}') is None


def test_the_folder_is_named_in_the_flags(tmp_path: Path) -> None:
    config = json.dumps({"ec_connector_extra_config": {"shared_storage_path": str(tmp_path)}})

    def found(*arguments: str) -> Path | None:
        return folder_of(Fleet(("vllm",), "m", (ReplicaSpec("one", (), arguments),), ""))

    assert found("--seed", "1", "--ec-transfer-config", config) == tmp_path
    assert found(f"--ec-transfer-config={config}") == tmp_path
    assert found() is None
    assert found("--ec-transfer-config") is None
    assert found("--ec-transfer-config", "{") is None


def test_only_what_is_old_and_an_encoders_is_cleared(tmp_path: Path) -> None:
    for name, age in (("old", 100), ("new", 900), ("somebody's", 100)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "encoder_cache.safetensors").write_bytes(b"x")
        if name == "somebody's":
            (tmp_path / name / "file").write_bytes(b"x")
        os.utime(tmp_path / name, (age, age))
    (tmp_path / "empty").mkdir()
    os.utime(tmp_path / "empty", (100, 100))
    clear(tmp_path, 500.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "somebody's"]
    clear(tmp_path / "not there", 500.0)


def test_without_an_encoder_a_request_goes_on(tmp_path: Path) -> None:
    async def work() -> bool:
        async with Encoders(tmp_path).encoded(b'{"messages": []}'):
            return True

    assert anyio.run(work)
