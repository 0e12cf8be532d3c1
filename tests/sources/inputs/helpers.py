"""What tests of inputs share: finding, a web server that behaves as told, hand-made archives."""

from __future__ import annotations

import io
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.find import FindOptions, find_items
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.inputs.limits import Limits

QUICK = Limits(timeout=0.5, first_wait=0.01, longest_wait=2.0)


def unheard(name: str) -> None:
    """For tests that do not look at what was passed over."""


Handler = Callable[[BaseHTTPRequestHandler], None]


def options(
    scratch: Path,
    *,
    limits: Limits = QUICK,
    leave_out: tuple[Path, ...] = (),
    skipped: Callable[[str], None] = unheard,
    arxiv: str = "https://arxiv.org/pdf/{id}",
) -> FindOptions:
    scratch.mkdir(exist_ok=True)
    return FindOptions(LocalCopies(scratch, limits), leave_out, arxiv, skipped)


def found(
    inputs: Sequence[str | Path], using: FindOptions
) -> tuple[list[InputItem], list[InputProblem]]:
    """Items and problems apart."""
    items, problems = [], []
    for one in find_items([str(text) for text in inputs], using):
        if isinstance(one, InputItem):
            items.append(one)
        else:
            problems.append(one)
    return items, problems


def ids(items: Sequence[InputItem]) -> list[str]:
    return [item.id for item in items]


def fill(folder: Path, *names: str) -> Path:
    """Files whose content is their own name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return folder


def make_zip(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tar_bytes(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def say(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes = b"",
    **headers: str,
) -> None:
    request.send_response(status)
    request.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def web_server(answers: Mapping[str, Handler]) -> Iterator[str]:
    """A server whose paths answer by functions; any other path is 404."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            answer = answers.get(path)
            if answer is None:
                say(self, 404)
            else:
                answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that go away are part of the tests."""

    server = Server(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
