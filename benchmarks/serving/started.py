"""Programs that a benchmark starts on one core, and ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from benchmarks.serving.load import Target

CHECKOUT = Path(__file__).resolve().parents[2]
RAW = (("X-Moonpress-Output", "raw"),)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def started(command: Sequence[str], core: int) -> Iterator[subprocess.Popen[str]]:
    """A program on one core."""
    process = subprocess.Popen(
        list(command),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=CHECKOUT,
    )
    # At once, so that the threads that it starts inherit it.
    os.sched_setaffinity(process.pid, {core})
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def wait_for(port: int, path: str, process: subprocess.Popen[str]) -> None:
    opener = build_opener(ProxyHandler({}))
    for _ in range(600):
        assert process.poll() is None, f"the program on {port} ended with {process.returncode}"
        try:
            with opener.open(f"http://127.0.0.1:{port}{path}", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise TimeoutError(f"nothing answers on {port}")


@contextmanager
def printing_its_port(module: str, *arguments: str, core: int) -> Iterator[int]:
    """One of our own stand-ins."""
    with started([sys.executable, "-m", module, *arguments], core) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


@contextmanager
def gateway(upstream: int, core: int, *options: str) -> Iterator[Target]:
    """Our own service, passing raw chats on."""
    port = free_port()
    program = str(Path(sys.executable).with_name("chandra-serve"))
    command = [
        program,
        *("--engine", "vllm", "--url", f"http://127.0.0.1:{upstream}/v1"),
        *("--port", str(port), "--quiet", *options),
    ]
    with started(command, core) as process:
        wait_for(port, "/ready", process)
        yield Target("chandra-serve", port, RAW, process.pid)


@contextmanager
def nginx(upstream: int, core: int) -> Iterator[Target | None]:
    """nginx as people put it in front of vLLM; ``None`` where it is not installed."""
    program = shutil.which("nginx")
    if program is None:
        yield None
        return
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="moonpress-nginx-") as folder:
        paths = "".join(
            f"{kind}_temp_path {folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        text = (
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;\n"
            "events { worker_connections 2048; }\n"
            f"http {{ access_log off; client_max_body_size 64m; {paths}"
            # Bodies in memory, connections to the server kept: the best that it can do.
            "client_body_buffer_size 2m;\n"
            f"upstream models {{ server 127.0.0.1:{upstream}; keepalive 64; }}\n"
            f"server {{ listen 127.0.0.1:{port}; location / {{\n"
            'proxy_pass http://models; proxy_http_version 1.1; proxy_set_header Connection "";\n'
            "proxy_buffering off; } } }\n"
        )
        file = Path(folder) / "nginx.conf"
        file.write_text(text)
        with started([program, "-p", folder, "-c", str(file)], core) as process:
            wait_for(port, "/health", process)
            yield Target("nginx", port, pid=process.pid)


@contextmanager
def vllm_router(program: str | None, upstream: int, core: int) -> Iterator[Target | None]:
    """vllm-router in front of one server; ``None`` where no program is named."""
    if program is None:
        yield None
        return
    port, metrics = free_port(), free_port()
    command = [
        program,
        *("--worker-urls", f"http://127.0.0.1:{upstream}", "--policy", "round_robin"),
        *("--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(metrics)),
    ]
    with started(command, core) as process:
        wait_for(port, "/health", process)
        yield Target("vllm-router", port, pid=process.pid)
