"""A stand-in for a model server that answers at once, in a process of its own.

``python -m benchmarks.serving.upstream`` prints its port and serves until it is killed. It parses
no JSON, so that what is measured is what stands in front of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import cast

import uvloop

_MODELS = json.dumps(
    {
        "object": "list",
        "data": [
            {
                "id": "chandra",
                "object": "model",
                "created": 1,
                "owned_by": "vllm",
                "root": "datalab-to/chandra-ocr-2",
                "max_model_len": 24576,
            }
        ],
    }
).encode()
_HTML = '<div data-bbox="100 100 900 900" data-label="Text"><p>' + "word " * 600 + "</p></div>"
_CHAT = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "chandra",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": _HTML},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 4000, "completion_tokens": 620, "total_tokens": 4620},
    }
).encode()


class Upstream(asyncio.Protocol):
    """HTTP/1.1 with Content-Length or chunks, and nothing more."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes.
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        lines = bytes(self._buffer[:head]).lower().split(b"\r\n")
        lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
        if any(line.startswith(b"transfer-encoding:") for line in lines):
            if not self._buffer.endswith(b"\r\n0\r\n\r\n"):
                return
            end = len(self._buffer)
        else:
            end = head + 4 + (lengths[0] if lengths else 0)
        if len(self._buffer) < end:
            return
        del self._buffer[:end]
        path = lines[0].split()[1]
        body = _CHAT if path.endswith(b"/chat/completions") else _MODELS
        assert self._transport is not None
        head_of_answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        self._transport.write(head_of_answer + str(len(body)).encode() + b"\r\n\r\n" + body)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
