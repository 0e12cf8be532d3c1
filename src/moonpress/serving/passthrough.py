"""Chat requests that are passed on to a model server as they are, and its answer likewise.

Owns the way of one such request: a place, the replica with least to do, another one until the first
byte is on its way to the client, the end when the client goes. Never parses a request and never
changes a byte of an answer.

Beside the framework, not in it: reading half a megabyte into objects and back takes several times
as long as passing it on.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Final

import aiohttp
import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moonpress.engines.base import Engine
from moonpress.engines.chandra import complaints
from moonpress.engines.chandra.client import OUTPUT_HEADER, ChatClient
from moonpress.engines.chandra.replica import ChandraReplica
from moonpress.engines.pool import ReplicaPool
from moonpress.errors import BadOutput, EngineError, EngineRejected, EngineUnavailable, UsageError
from moonpress.serving.raw_body import without_raw_field
from moonpress.serving.service import Service
from moonpress.telemetry import event, outgoing_headers, span

PATH: Final = "/v1/chat/completions"
_RAW: Final = b"raw"
_HEADER: Final = OUTPUT_HEADER.lower().encode()
_STREAM: Final = "text/event-stream"
# Between two pieces of an answer; without streaming the only one takes as long as the page.
_SILENCE: Final = 900.0
_CONNECT: Final = 4.0
_NETWORK: Final = (aiohttp.ClientError, OSError, TimeoutError)
# They belong to one connection, or are ours to say.
_NOT_PASSED: Final = frozenset(
    {"connection", "content-length", "date", "keep-alive", "proxy-authenticate", "server"}
    | {"te", "trailer", "transfer-encoding", "upgrade", "x-request-id"}
)
_TOKENS: Final = re.compile(rb'"(prompt|completion)_tokens":\s*(\d+)')
_TAIL: Final = 4096


def pool_of(engine: Engine) -> ReplicaPool | None:
    """The model servers behind an engine, where requests can be passed to them."""
    pool = getattr(engine, "pool", None)
    if not isinstance(pool, ReplicaPool):
        return None
    return pool if all(isinstance(one, ChandraReplica) for one in pool.engines) else None


class RawChats:
    """In front of the application: takes chat requests that want the model's own answer.

    Args:
        app: Gets all others.
        service: Whose engine, places and counters these are.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or leave it to the application."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        body = await _received(receive)
        if body is None:
            return
        wanted = headers.get(_HEADER)
        shorter = body if wanted == _RAW else None if wanted else without_raw_field(body)
        if shorter is None:
            await self._app(scope, _again(body, receive), send)
            return
        scope["route"] = SimpleNamespace(path=PATH)
        passing = _Passing(self._service, shorter, _about(headers), send)
        await _until_gone(receive, passing)


def _about(headers: Mapping[bytes, bytes]) -> dict[str, str]:
    """The headers that belong to the body."""
    kind = headers.get(b"content-type", b"application/json").decode("latin-1")
    coding = headers.get(b"content-encoding", b"").decode("latin-1")
    return {"Content-Type": kind, **({"Content-Encoding": coding} if coding else {})}


async def _received(receive: Receive) -> bytes | None:
    """The body; ``None`` when the client goes before its end."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _again(body: bytes, receive: Receive) -> Receive:
    """Lets the application receive a body that was received already."""
    given = False

    async def received() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received


async def _until_gone(receive: Receive, passing: _Passing) -> None:
    """Run to the end, or until the client goes: that closes the connection to the replica."""
    scope = anyio.CancelScope()
    gone = asyncio.ensure_future(receive())
    gone.add_done_callback(lambda _: scope.cancel())
    try:
        with scope:
            await passing.run()
    finally:
        gone.cancel()
    if scope.cancelled_caught:
        event("client_gone", path=PATH)


class _Again(Exception):
    """A replica's answer that another replica may better; it is passed on when none does."""

    def __init__(self, error: EngineError, answer: _Answer) -> None:
        super().__init__(str(error))
        self.error = error
        self.answer = answer


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a replica said, as a whole."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


@dataclass(slots=True)
class _Passing:
    """One request on its way.

    Attributes:
        service: Whose it is.
        body: As the replica gets it.
        about: Headers that say what it is.
        send: To the client.
        began: When the request was there.
        started: Whether the client has got something, after which nobody else can answer.
        tail: The last bytes that were passed back: they tell the usage.
    """

    service: Service
    body: bytes
    about: Mapping[str, str]
    send: Send
    began: float = field(default_factory=time.perf_counter)
    started: bool = False
    tail: bytes = b""

    async def run(self) -> None:
        """Pass the request on and its answer back.

        Raises:
            UsageError: there is no model server here.
            EngineUnavailable: none can be used, or too many requests wait.
        """
        pool = pool_of(self.service.engine)
        if pool is None:
            hint = "Ask for output_format layout, which is HTML as models write it"
            raise UsageError("no model server stands behind this service", hint=hint)
        if not self.service.ready:
            raise EngineUnavailable("the engine is not there yet", hint="Try again later")
        async with self.service.place():
            with span("engine"):
                await self._somewhere(pool)

    async def _somewhere(self, pool: ReplicaPool) -> None:
        tried: list[Engine] = []
        last: _Again | None = None
        failures = 0
        while True:
            known = len(tried)
            try:
                async with pool.lend(len(self.body), tried) as replica:
                    tried.append(replica)
                    await self._at(replica)
            except (EngineUnavailable, BadOutput) as error:
                if self.started:
                    # The connection ends in the middle, which is what the client has to know.
                    event("answer_broken_off", reason=error.message)
                    return
                cause = error.__cause__
                last = cause if isinstance(cause, _Again) else last
                failures += isinstance(error, BadOutput)
                if len(tried) == known or failures > 1:
                    if last is None:
                        raise
                    await self._give(last.answer)
                    return
            else:
                self._count()
                return

    async def _at(self, replica: Engine) -> None:
        if not isinstance(replica, ChandraReplica):
            raise EngineUnavailable("this replica takes no requests of others")
        client = replica.client
        try:
            async with client.prepared(self.body), self._asked(client) as answer:
                client.hear()
                if answer.status == 200 and answer.content_type == _STREAM:
                    await self._stream(client, answer)
                else:
                    await self._whole(client, answer)
        except _Again as again:
            raise again.error from again
        except _NETWORK as error:
            raise complaints.broken_off(client.address.base, error) from error

    @asynccontextmanager
    async def _asked(self, client: ChatClient) -> AsyncIterator[aiohttp.ClientResponse]:
        headers = {
            **self.about,
            # What is passed on byte for byte must come as it is. The id of the request is not
            # passed on: vLLM takes it for its own, and two of a client's may be the same.
            "Accept-Encoding": "identity",
            **outgoing_headers(),
        }
        try:
            asked = await client.session().post(
                f"{client.address.base}/chat/completions",
                data=self.body,
                headers=headers,
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=_CONNECT, sock_read=_SILENCE
                ),
                allow_redirects=False,
            )
        except _NETWORK as error:
            raise complaints.unreachable(client.address.base, error) from error
        async with asked:
            yield asked

    async def _stream(self, client: ChatClient, answer: aiohttp.ClientResponse) -> None:
        # Until the first byte is there another replica can answer in place of this one.
        piece = await answer.content.readany()
        if not piece:
            raise aiohttp.ServerDisconnectedError
        self.service.metrics.first_piece(time.perf_counter() - self.began)
        await self._start(200, _passed(answer))
        while piece:
            client.hear()
            self.tail = piece[-_TAIL:] if len(piece) > _TAIL else (self.tail + piece)[-_TAIL:]
            await self.send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await answer.content.readany()
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _whole(self, client: ChatClient, answer: aiohttp.ClientResponse) -> None:
        body = await answer.read()
        whole = _Answer(answer.status, _passed(answer), body)
        error = await _fault(client, answer, body)
        if error is not None:
            raise _Again(error, whole)
        await self._give(whole)

    async def _give(self, answer: _Answer) -> None:
        self.tail = answer.body[-_TAIL:] if answer.status == 200 else b""
        length = (b"content-length", str(len(answer.body)).encode())
        await self._start(answer.status, [*answer.headers, length])
        await self.send({"type": "http.response.body", "body": answer.body, "more_body": False})

    async def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.started = True
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    def _count(self) -> None:
        if not self.tail:
            return
        tokens = {name: int(count) for name, count in _TOKENS.findall(self.tail)}
        seconds = time.perf_counter() - self.began
        self.service.metrics.raw_done(
            seconds, tokens.get(b"prompt", 0), tokens.get(b"completion", 0)
        )


async def _fault(
    client: ChatClient, answer: aiohttp.ClientResponse, body: bytes
) -> EngineError | None:
    """What another replica may better: not what is wrong with the request itself."""
    status, base = answer.status, client.address.base
    if status == 500 and not await client.healthy():
        return EngineUnavailable(f"{base} has failed: {complaints.words_of(body)}", hint="")
    json = answer.content_type == "application/json"
    if status < 400 or (status < 500 and json and status not in {401, 403, 429}):
        return None
    wait = answer.headers.get("Retry-After")
    error = complaints.refusal(base, status, answer.content_type, body, wait)
    return None if isinstance(error, EngineRejected) else error


def _passed(answer: aiohttp.ClientResponse) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower(), value)
        for name, value in answer.raw_headers
        if name.decode("latin-1").lower() not in _NOT_PASSED
    ]
