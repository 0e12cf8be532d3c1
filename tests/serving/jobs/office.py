"""Services with jobs, one after the other over the same folder, and a client of them.

Owns starting and asking. Never checks what a test is about.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx

from tests.batch.command import labelled_pdf, wait_for
from tests.conftest import CHECKOUT
from tests.serving.conftest import Served, Start


@dataclass(slots=True)
class Office:
    """Services one after the other over one folder of jobs, and what their engine was asked for."""

    start: Start
    folder: Path
    plugins: Path
    served: Served | None = None

    @property
    def hold(self) -> Path:
        """While it holds words, pages with them are read for ever."""
        return self.folder / "hold"

    @property
    def down(self) -> Path:
        """While it exists, no engine answers."""
        return self.folder / "down"

    def open(self, *options: str, **env: str) -> Served:
        script = {
            "PYTHONPATH": os.pathsep.join((str(self.plugins), str(CHECKOUT))),
            "SCRIPT_LOG": str(self.folder / "log"),
            "SCRIPT_HOLD": str(self.hold),
            "SCRIPT_DOWN": str(self.down),
        }
        folder = str(self.folder / "jobs")
        more = ("--engine", "scripted-batch", "--workers", "2", "--jobs-dir", folder)
        self.served = self.start(*more, *options, **script, **env)
        return self.served

    def took(self) -> Counter[str]:
        """Pages by how often the engine was asked for them."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return Counter(line.split(" ", 2)[2] for line in lines if line.startswith("took"))


@dataclass(slots=True)
class Client:
    """A client of the API; everything is checked but what a test asks for."""

    served: Served
    key: str = ""
    _http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._http = httpx.Client(base_url=self.served.url, headers=headers, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def post(self, label: str, count: int, **fields: str) -> httpx.Response:
        files = {"file": (f"{label}.pdf", labelled_pdf(label, count), "application/pdf")}
        return self._http.post("/v1/jobs", files=files, data=fields)

    def add(self, label: str, count: int, **fields: str) -> str:
        answer = self.post(label, count, **fields)
        assert answer.status_code == 202, answer.text
        name: str = answer.json()["id"]
        assert answer.headers["Location"] == f"/v1/jobs/{name}"
        return name

    def get(self, path: str, **query: Any) -> Any:
        answer = self._http.get(f"/v1/jobs{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def status(self, method: str, path: str) -> int:
        return self._http.request(method, f"/v1/jobs{path}").status_code

    def until(self, name: str, state: str) -> Any:
        wait_for(lambda: self.get(f"/{name}")["state"] == state)
        return self.get(f"/{name}")

    def events(self, name: str, last: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """All events until the stream ends."""
        headers = {} if last is None else {"Last-Event-ID": last}
        found, kind = [], ""
        with self._http.stream("GET", f"/v1/jobs/{name}/events", headers=headers) as answer:
            assert answer.status_code == 200
            for line in answer.iter_lines():
                if line.startswith("event:"):
                    kind = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    found.append((kind, json.loads(line.removeprefix("data:"))))
        return found


def texts_of(label: str, pages: int) -> list[str]:
    return [f"{label} page {number}" for number in range(1, pages + 1)]
