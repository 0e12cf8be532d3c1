"""One server's OpenAI chat API: what it serves, and streamed replies.

Owns the connections. Never knows of pages, prompts or guards, and never retries.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace

import aiohttp
import orjson

from moonpress.engines.chandra import complaints
from moonpress.engines.chandra.address import Address
from moonpress.engines.chandra.events import Event, EventSplitter, parse_event
from moonpress.engines.chandra.wire import Wire
from moonpress.errors import EngineError, EngineUnavailable, UsageError
from moonpress.telemetry import outgoing_headers

_NETWORK = (aiohttp.ClientError, OSError, TimeoutError)
_HEALTH_SECONDS = 3.0
# Asks a gateway of Moonpress for a format of its answer.
OUTPUT_HEADER = "X-Moonpress-Output"
# A server that has sent something within so many seconds is there, however long it takes to answer.
_LATELY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what.

    Attributes:
        connect: Seconds for a connection.
        answer: Seconds for questions that cost a server nothing.
        alive: Instead of both, where a server was heard lately: it is there and has much to do.
        silence: Seconds between two pieces of a reply; before the first the server may be busy with
            other pages.
    """

    connect: float = 4.0
    answer: float = 4.5
    alive: float = 30.0
    silence: float = 300.0


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server has.

    Attributes:
        name: As requests must call it.
        root: Where its weights come from, as far as the server says.
        context: Tokens that prompt and reply may have together; ``None`` where it does not say.
        output: What to ask a gateway of Moonpress for, so that it hands a model's reply on as it
            is, or writes as a model does; ``None`` for other servers.
    """

    name: str
    root: str
    context: int | None
    output: str | None = None


class ChatClient:
    """Talks to one server; connections are made on first use and belong to one event loop.

    Args:
        address: The server.
        patience: How long to wait.
        connections: At once at most.
        prepared: See the method of this name.
    """

    def __init__(
        self,
        address: Address,
        patience: Patience,
        *,
        connections: int,
        prepared: Callable[[bytes], AbstractAsyncContextManager[None]] | None = None,
    ) -> None:
        self.address = address
        self._patience = patience
        self._connections = connections
        self._prepared = prepared
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heard_at: float | None = None
        self._wire = Wire()

    @property
    def heard_at(self) -> float | None:
        """When the last piece of a reply came, by `time.monotonic`; ``None`` before the first."""
        return self._heard_at

    def hear(self) -> None:
        """Note that a piece of a reply came now; for those who use the session themselves."""
        self._heard_at = time.monotonic()

    def session(self) -> aiohttp.ClientSession:
        """The connections, with key and headers, for requests that are passed on as they are."""
        return self._open()

    def prepared(self, body: bytes) -> AbstractAsyncContextManager[None]:
        """Around every chat request: what has to be done for it elsewhere before it is sent.

        Args:
            body: The request as JSON. Nothing is raised for what cannot be done.
        """
        return nullcontext() if self._prepared is None else self._prepared(body)

    async def models(self) -> tuple[ServedModel, ...]:
        """What the server has.

        Raises:
            EngineUnavailable: nobody answers, or not as an OpenAI API does, or the key is wrong.
        """
        base = self.address.base
        timeout = aiohttp.ClientTimeout(
            total=self._at_least(self._patience.answer),
            sock_connect=self._at_least(self._patience.connect),
        )
        try:
            async with self._open().get(
                f"{base}/models", timeout=timeout, allow_redirects=False
            ) as answer:
                body = await answer.read()
        except _NETWORK as error:
            raise complaints.unreachable(base, error) from error
        if answer.status != 200:
            raise complaints.no_api(base, answer.status, answer.content_type, body)
        try:
            return tuple(_model(entry) for entry in orjson.loads(body)["data"])
        except (ValueError, KeyError, TypeError) as error:
            raise complaints.no_api(base, 200, answer.content_type, body) from error

    async def healthy(self) -> bool:
        """Whether the server says that it is well."""
        timeout = aiohttp.ClientTimeout(total=self._at_least(_HEALTH_SECONDS))
        try:
            async with self._open().get(f"{self.address.root}/health", timeout=timeout) as answer:
                return answer.status in {200, 404}
        except _NETWORK:
            return False

    async def chat(self, body: bytes, output: str | None = None) -> AsyncGenerator[Event, None]:
        """The events of one streamed reply; closing the generator drops the connection.

        Args:
            body: The request as JSON, with ``stream`` on.
            output: `ServedModel.output` of the model that it names.

        Raises:
            EngineUnavailable: the server is gone, busy or broke off.
            EngineRejected: it refuses the request.
            BadOutput: it failed on the request and is well.
            KeyError: it has no model of the name that the request gives.
        """
        async with self.prepared(body), self._post(body, output) as answer:
            connection = answer.connection
            sending = self._wire.spent(None if connection is None else connection.transport)
            splitter = EventSplitter()
            ended = False
            while not ended:
                piece = await self._next(answer)
                if not piece:
                    break
                for data in splitter.feed(piece):
                    event = self._parse(data)
                    if event.error is not None:
                        raise await self._failure(event.error, event.error_status)
                    yield event if sending is None else replace(event, sending_seconds=sending)
                    sending = None
                    ended = ended or event.last

    @asynccontextmanager
    async def _post(self, body: bytes, output: str | None) -> AsyncIterator[aiohttp.ClientResponse]:
        base = self.address.base
        headers = {**outgoing_headers(), **({} if output is None else {OUTPUT_HEADER: output})}
        timeout = aiohttp.ClientTimeout(
            total=None,
            sock_connect=self._at_least(self._patience.connect),
            sock_read=self._patience.silence,
        )
        try:
            answer = await self._open().post(
                f"{base}/chat/completions",
                data=body,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
            )
        except _NETWORK as error:
            raise complaints.unreachable(base, error) from error
        async with answer:
            if answer.status != 200 or answer.content_type != "text/event-stream":
                raise await self._refusal(answer)
            yield answer

    async def _next(self, answer: aiohttp.ClientResponse) -> bytes:
        try:
            piece = await answer.content.readany()
        except _NETWORK as error:
            raise complaints.broken_off(self.address.base, error) from error
        self.hear()
        return piece

    def _at_least(self, seconds: float) -> float:
        """How long to wait for what should take ``seconds`` at most."""
        if self._heard_at is None or time.monotonic() - self._heard_at > _LATELY_SECONDS:
            return seconds
        return max(seconds, self._patience.alive)

    def _parse(self, data: bytes) -> Event:
        try:
            return parse_event(data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            message = f"{self.address.base} sends what no chat API sends"
            raise EngineUnavailable(message, hint="") from error

    async def _refusal(self, answer: aiohttp.ClientResponse) -> EngineError | KeyError:
        try:
            body = await answer.read()
        except _NETWORK as error:
            return complaints.broken_off(self.address.base, error)
        if answer.status == 404 and "json" in answer.content_type:
            return KeyError(complaints.words_of(body))
        if answer.status == 500:
            return await self._failure(complaints.words_of(body), 500)
        if answer.status == 200:
            return complaints.no_api(self.address.base, 200, answer.content_type, body)
        wait = answer.headers.get("Retry-After")
        kind = answer.content_type
        return complaints.refusal(self.address.base, answer.status, kind, body, wait)

    async def _failure(self, words: str, status: int | None) -> EngineError:
        """A server also answers 500 for what is wrong with a picture: its health decides."""
        if status is not None and 400 <= status < 500:
            return complaints.rejected(words)
        if await self.healthy():
            return complaints.failed(words)
        return EngineUnavailable(f"{self.address.base} has failed: {words}", hint="")

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop or self._session.closed:
            self._session = self._connect()
            self._loop = loop
        return self._session

    def _connect(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json", **dict(self.address.headers)}
        if self.address.api_key:
            headers["Authorization"] = f"Bearer {self.address.api_key}"
        trust: ssl.SSLContext | bool = True
        if self.address.ca_file is not None:
            trust = _trust(self.address.ca_file)
        connector = aiohttp.TCPConnector(limit=self._connections, ssl=trust)
        # Environment variables of proxies are honoured, as other clients do; but no proxy finds its
        # way to a server on this machine.
        proxies = not self.address.local
        return aiohttp.ClientSession(connector=connector, headers=headers, trust_env=proxies)

    async def aclose(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()


def _trust(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        cause = getattr(error, "strerror", None) or "it holds no certificate"
        raise UsageError(f"the certificates in {ca_file} cannot be read: {cause}") from error


def _model(entry: dict[str, object]) -> ServedModel:
    context = entry.get("max_model_len")
    # A gateway writes Markdown unless it is asked for more.
    output = entry.get("moonpress_output") if entry.get("owned_by") == "moonpress" else None
    return ServedModel(
        name=str(entry["id"]),
        root=str(entry.get("root") or ""),
        context=context if isinstance(context, int) else None,
        output=str(output) if output is not None else None,
    )
