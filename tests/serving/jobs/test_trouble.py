"""Jobs while things fail around them: the engine goes away, the disk is full."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.batch.command import wait_for
from tests.serving.jobs.office import Client, Office, texts_of


def test_a_job_goes_on_when_its_engine_is_back(office: Office) -> None:
    with Client(office.open()) as client:
        office.hold.write_text("away page")
        name = client.add("away", 8)
        wait_for(lambda: office.took().total() == 2)
        # What it reads is finished, what comes next is refused, before anybody has looked at it.
        office.down.touch()
        office.hold.unlink()
        wait_for(lambda: client.get(f"/{name}")["pages"]["read"] == 2)
        wait_for(lambda: httpx.get(f"{client.served.url}/ready").status_code == 503)
        assert client.get(f"/{name}")["state"] == "running"
        office.down.unlink()
        assert client.until(name, "done")["pages"] == {"selected": 8, "read": 8, "failed": 0}
    assert office.took() == Counter(texts_of("away", 8))


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 4 MiB at ``folder``; skips where only root may make one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def test_a_full_disk_is_waited_for_and_no_page_read_twice(office: Office) -> None:
    with _small_disk(office.folder / "jobs") as disk, Client(office.open("--json-logs")) as client:
        log: list[str] = []
        threading.Thread(target=log.extend, args=(client.served.process.stderr,)).start()
        office.hold.write_text("full page")
        name = client.add("full", 40)
        wait_for(lambda: office.took().total() == 2)
        _fill(disk / "block")
        refused = client.post("more", 1)
        assert refused.status_code == 507
        assert refused.json()["error"]["code"] == "no-space"
        office.hold.unlink()
        # The log of the database had some room left; what does not fit waits in its place.
        wait_for(lambda: any("job_waits" in line for line in log))
        assert client.get(f"/{name}")["state"] == "running"
        (disk / "block").unlink()

        assert client.until(name, "done")["pages"] == {"selected": 40, "read": 40, "failed": 0}
        assert client.get(f"/{name}/result")["status"] == "ok"
        client.until(client.add("next", 1), "done")
        client.served.stop()
    assert not any("full page" in line for line in log)
    assert office.took() == Counter([*texts_of("full", 40), *texts_of("next", 1)])


def test_a_long_document_is_put_together_apart(office: Office) -> None:
    with Client(office.open()) as client:
        name = client.add("long", 60)
        client.until(name, "done")
        # It is there before the end was told.
        folder = office.folder / "jobs" / name
        assert [path.name for path in folder.iterdir()] == ["result-markdown.json"]
        whole = client.get(f"/{name}/result")
        assert [text for text in texts_of("long", 60) if text in whole["content"]] == texts_of(
            "long", 60
        )
        again = client.get(f"/{name}/result", output_format="json")
        assert [page["number"] for page in again["content"]["pages"]] == list(range(1, 61))
