"""A stand-in for ``vllm serve`` that fails when it is told to.

Owns the few routes that the service asks, and the faults. A script (JSON) says what it does; it is
read anew for each start and each request, so that a test changes it while the server runs. Each
start is noted beside the script.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PAGE = '<div data-bbox="100 100 900 200" data-label="Text"><p>A page of {name}</p></div>'
_HELD: list[bytearray] = []


class Script:
    """What to do, by the name of the replica; ``*`` is for all."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name

    def __call__(self) -> dict[str, Any]:
        said = json.loads(self.path.read_text())
        return {**said.get("*", {}), **said.get(self.name, {})}

    def note(self, kind: str, **facts: Any) -> None:
        line = json.dumps({"kind": kind, "name": self.name, **facts})
        with self.path.with_suffix(".notes").open("a") as notes:
            notes.write(f"{line}\n")


class Server(ThreadingHTTPServer):
    """Answers each request in a thread."""

    daemon_threads = True
    request_queue_size = 200

    def __init__(self, place: tuple[str, int], script: Script, model: str) -> None:
        super().__init__(place, Handler)
        self.script, self.model = script, model
        self.running, self.tokens = 0, 0
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        said = self.server.script()
        if self.path == "/health":
            time.sleep(said.get("health_seconds", 0))
            self._answer(said.get("health", 200), b"")
        elif self.path == "/v1/models":
            entry = {"id": self.server.model, "root": self.server.model, "max_model_len": 20000}
            self._answer(200, json.dumps({"data": [entry]}).encode())
        elif self.path == "/metrics":
            lines = [
                f'vllm:num_requests_running{{engine="0"}} {self.server.running}.0',
                f'vllm:generation_tokens_total{{engine="0"}} {self.server.tokens}.0',
                'vllm:prompt_tokens_total{engine="0"} 7.0',
            ]
            self._answer(200, "\n".join(lines).encode())
        else:
            self._answer(404, b"{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.server.script()
        self.server.script.note("request", key=self.headers.get("Authorization"))
        with self.server.lock:
            self.server.running += 1
        try:
            if said.get("status", 200) != 200:
                self._answer(said["status"], b'{"error": {"message": "as the script says"}}')
            elif said.get("stall"):
                time.sleep(600)
            elif body.get("stream"):
                self._page(said)
            else:
                self._answer(200, b"{}")
        finally:
            with self.server.lock:
                self.server.running -= 1
            if said.get("hold"):
                _HELD.append(bytearray(b"x" * said["hold"]))

    def _page(self, said: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        text = PAGE.format(name=self.server.script.name)
        half = len(text) // 2
        self._event({"delta": {"content": text[:half]}, "finish_reason": None})
        time.sleep(said.get("page_seconds", 0))
        self.server.tokens += 20
        self._event({"delta": {"content": text[half:]}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, choice: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.flush()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> int:
    """``fake_vllm.py serve MODEL --host H --port P --script PATH --name NAME``.

    Without the last two, ``FAKE_VLLM_SCRIPT`` names the script, and the port is the name.
    """
    words = sys.argv[2:]
    given = {word: words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("--")}
    path = given.get("--script") or os.environ["FAKE_VLLM_SCRIPT"]
    script = Script(Path(path), given.get("--name", given["--port"]))
    said = script()
    devices = os.environ.get("CUDA_VISIBLE_DEVICES")
    secrets = [name for name in os.environ if name.startswith("MOONPRESS_")]
    script.note("start", pid=os.getpid(), devices=devices, secrets=secrets)
    if said.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if said.get("child"):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        script.note("child", pid=child.pid)
    for line in said.get("say", ()):
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
    if "exit" in said:
        return int(said["exit"])
    if said.get("never_ready"):
        time.sleep(600)
    with Server((given["--host"], int(given["--port"])), script, words[0]) as server:
        server.serve_forever()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
