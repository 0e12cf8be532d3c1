"""Load on one server: pages sent by so many clients at once, and when what came back.

Owns sending and timing. Never judges the figures: see `moonpress.bench.figures`.
"""

from __future__ import annotations

import base64
import math
import random
import time
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
import orjson

from moonpress.bench.pictures import Pictures
from moonpress.document import EncodedPicture
from moonpress.engines.chandra.client import ChatClient
from moonpress.engines.chandra.facts import STOP
from moonpress.errors import EngineError

# Log-normal, as lengths of pages are: a third of the pages take more than the mean.
_SPREAD = 0.6
_SHORTEST, _LONGEST = 64, 6000


@dataclass(frozen=True, slots=True)
class Load:
    """What is sent.

    Attributes:
        pages: How many.
        clients: Pages in flight.
        model: As the server calls it.
        prompt: That goes with each page.
        mean_tokens: Forced mean length of replies, for servers with random weights; ``None`` lets
            the model end by itself.
        logprobs: Ask for the probability of each token.
        most_tokens: Cap of a reply.
        prepared: Pictures encoded before the clock starts; the others are encoded meanwhile.
    """

    pages: int
    clients: int
    model: str
    prompt: str
    mean_tokens: int | None = None
    logprobs: bool = True
    most_tokens: int = 12_384
    prepared: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One page.

    Attributes:
        sent: Seconds since the load began.
        first: When the first piece of the reply came; ``None`` when none did.
        ended: When the last one came.
        prompt_tokens: Of picture and prompt.
        output_tokens: Of the reply.
        error: What went wrong, if something did.
    """

    sent: float
    first: float | None
    ended: float
    prompt_tokens: int = 0
    output_tokens: int = 0
    error: str | None = None


@dataclass(slots=True)
class Run:
    """A load under way.

    Attributes:
        load: What is sent.
        samples: Pages that ended, in the order in which they did.
        began: Of the clock of `time.perf_counter`.
    """

    load: Load
    samples: list[Sample] = field(default_factory=list)
    began: float = 0.0

    async def send_all(self, client: ChatClient, pictures: Pictures, first_number: int) -> None:
        """Send all pages, as many at once as there are clients.

        Args:
            client: Of the server.
            pictures: Where pages come from.
            first_number: Of the first picture; another run must not use the same.
        """
        asked = list(lengths(self.load))
        ready = await self._prepare(pictures, first_number)
        self.began = time.perf_counter()
        turns = iter(range(self.load.pages))

        async def client_task() -> None:
            for turn in turns:
                picture = ready.pop(turn, None)
                if picture is None:
                    picture = await anyio.to_thread.run_sync(pictures.numbered, first_number + turn)
                body = await anyio.to_thread.run_sync(request_body, self.load, picture, asked[turn])
                self.samples.append(await self._send(client, body))

        async with anyio.create_task_group() as tasks:
            for _ in range(min(self.load.clients, self.load.pages)):
                tasks.start_soon(client_task)

    async def _prepare(self, pictures: Pictures, first: int) -> dict[int, EncodedPicture]:
        ready: dict[int, EncodedPicture] = {}
        turns = iter(range(min(self.load.prepared, self.load.pages)))

        async def encode() -> None:
            for turn in turns:
                ready[turn] = await anyio.to_thread.run_sync(pictures.numbered, first + turn)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(encode)
        return ready

    async def _send(self, client: ChatClient, body: bytes) -> Sample:
        sent = time.perf_counter() - self.began
        first: float | None = None
        usage = (0, 0)
        error: str | None = None
        try:
            async with aclosing(client.chat(body)) as events:
                async for event in events:
                    if event.written is not None and first is None:
                        first = time.perf_counter() - self.began
                    usage = event.usage or usage
        except (EngineError, KeyError) as raised:
            error = str(raised)
        return Sample(sent, first, time.perf_counter() - self.began, *usage, error)


def request_body(load: Load, picture: EncodedPicture, length: int) -> bytes:
    """One request, as JSON.

    Args:
        load: What is sent.
        picture: The page.
        length: Tokens of the reply, forced where ``load.mean_tokens`` says so.
    """
    data = base64.b64encode(picture.data).decode("ascii")
    content = [
        {"type": "image_url", "image_url": {"url": f"data:{picture.media_type};base64,{data}"}},
        {"type": "text", "text": load.prompt},
    ]
    request: dict[str, object] = {
        "model": load.model,
        "messages": [{"role": "user", "content": content}],
        "max_tokens": length,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if load.mean_tokens is not None:
        request["ignore_eos"] = True
    else:
        request |= {"stop": STOP, "skip_special_tokens": False}
    if load.logprobs:
        request["logprobs"] = True
    return orjson.dumps(request)


def lengths(load: Load) -> Iterator[int]:
    """Tokens asked for, page by page: the same for every server."""
    draw = random.Random(7)  # noqa: S311 - lengths, no secrets
    for _ in range(load.pages):
        if load.mean_tokens is None:
            yield load.most_tokens
            continue
        middle = math.log(load.mean_tokens) - _SPREAD**2 / 2
        yield max(_SHORTEST, min(_LONGEST, round(draw.lognormvariate(middle, _SPREAD))))
