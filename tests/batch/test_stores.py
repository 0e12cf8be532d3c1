"""``chandra-batch`` from and to object stores: servers that speak S3 and Google Cloud Storage."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.batch.command import Batch, make_inputs, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stores")]
_BIN = Path(sys.executable).parent
_BUCKET = "papers"
# In a process of its own, since what fsspec has opened stays open.
_COPY = """
import fsspec, sys
(address, folder), put = sys.argv[2:], sys.argv[1] == "put"
store, path = fsspec.core.url_to_fs(address)
if sys.argv[1] == "make":
    store.mkdir(path)
elif put:
    store.put(folder + "/", path, recursive=True)
else:
    store.get(path, folder, recursive=True)
"""


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def _serving(command: list[str | Path], port: int) -> Iterator[None]:
    def answers() -> bool:
        assert process.poll() is None, "the store did not start"
        with closing(socket.socket()) as knocking:
            return knocking.connect_ex(("127.0.0.1", port)) == 0

    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(answers)
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def _s3() -> Iterator[dict[str, str]]:
    port = _free_port()
    with _serving([_BIN / "moto_server", "-H", "127.0.0.1", "-p", str(port)], port):
        yield {
            "FSSPEC_S3_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


@contextmanager
def _gs() -> Iterator[dict[str, str]]:
    port = _free_port()
    command: list[str | Path] = [
        _BIN / "gcp-storage-emulator",
        "start",
        "--host=127.0.0.1",
        f"--port={port}",
    ]
    with _serving([*command, "--in-memory"], port):
        yield {
            "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}",
            "FSSPEC_GS_TOKEN": "anon",
            "FSSPEC_GS_PROJECT": "test",
            # Asks over gRPC, which the emulator does not speak, what kind of bucket it is.
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
        }


@pytest.fixture(params=["s3", "gs"])
def store(request: pytest.FixtureRequest, batch: Batch) -> Iterator[str]:
    """The address of a bucket whose server the command's environment names."""
    with {"s3": _s3, "gs": _gs}[request.param]() as environment:
        batch.env |= environment | {"XDG_STATE_HOME": str(batch.folder / "state")}
        address = f"{request.param}://{_BUCKET}"
        _copy(batch, "make", address, batch.folder)
        yield address


def _copy(batch: Batch, what: str, address: str, folder: Path) -> None:
    command: list[str | Path] = [sys.executable, "-c", _COPY, what, address, folder]
    subprocess.run(command, env=batch.env, check=True, timeout=60)


def test_documents_come_from_a_store_and_go_to_one(batch: Batch, store: str) -> None:
    texts = make_inputs(batch.inputs, {"one.pdf": 2, "more/two.pdf": 1, "more/odd name+ü.pdf": 1})
    _copy(batch, "put", f"{store}/in", batch.inputs)

    first = batch(f"{store}/in", "-o", f"{store}/read")
    assert first.code == 0, first.err
    assert batch.reads().took == texts
    _copy(batch, "get", f"{store}/read", batch.out)
    assert batch.texts() == texts

    again = batch(f"{store}/in", "-o", f"{store}/read")
    assert again.code == 0, again.err
    assert batch.reads().took == texts


def test_a_dataset_goes_to_a_store(batch: Batch, store: str) -> None:
    texts = make_inputs(batch.inputs, {f"{number}.pdf": 1 for number in range(5)})

    result = batch("in", "-o", f"{store}/data", "--sink", "jsonl")

    assert result.code == 0, result.err
    _copy(batch, "get", f"{store}/data", batch.out)
    rows = batch.rows()
    assert sorted(row["id"] for row in rows) == sorted(f"{number}.pdf" for number in range(5))
    assert sum(len(row["json"]["pages"]) for row in rows) == texts.total()


def test_a_bucket_that_is_not_there_is_one_line(batch: Batch, store: str) -> None:
    result = batch(f"{store}-gone/in", "-o", "out")
    assert result.code == 4
    assert len(result.err.splitlines()) == 1, result.err
    assert "gone" in result.err
