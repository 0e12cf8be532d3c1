"""An engine for speed runs on random weights: replies of forced length, a real reply in place.

Everything is as in the engine ``vllm`` but three things. The server is told to ignore end tokens
and given a length for each page, drawn as `moonpress.bench.load` does. What it writes is noise and
is thrown away; a written reply of real layout HTML is parsed in its place, so that parsing, crops
and outputs cost what they cost. There are no guards, which would rightly abort the noise. Never
used to say anything of quality. Registered under the name ``forced`` by who runs such a benchmark.
"""

from __future__ import annotations

import os
from contextlib import aclosing
from itertools import cycle
from pathlib import Path

import anyio
import anyio.to_thread

from moonpress.bench.load import Load, lengths, request_body
from moonpress.document import (
    EncodedPicture,
    LayoutReply,
    PageImage,
    PageReading,
    PageStatus,
    Usage,
)
from moonpress.engines.chandra.address import Address, base_of
from moonpress.engines.chandra.client import ChatClient, Patience
from moonpress.engines.chandra.facts import PREFERRED_DPI
from moonpress.engines.chandra.picture import ImageFormat, encode, encoder
from moonpress.engines.chandra.prompt import layout_prompt
from moonpress.engines.registry import EngineOptions

_DIFFERENT_LENGTHS = 4096


class ForcedEngine:
    """Reads pages with replies of forced length through servers that are used in turn.

    Args:
        urls: The servers.
        capacity: Pages in flight over all of them.
        mean_tokens: Mean length of replies.
        logprobs: Ask for probabilities.
        reply: Layout HTML that stands for every reply.
    """

    name = "forced"
    preferred_dpi = PREFERRED_DPI
    picture_encoder = encoder(ImageFormat.JPEG)

    def __init__(
        self, urls: tuple[str, ...], *, capacity: int, mean_tokens: int, logprobs: bool, reply: str
    ) -> None:
        self.capacity = capacity
        self._reply = reply
        clients = [
            ChatClient(Address(base_of(url)), Patience(), connections=capacity + 1) for url in urls
        ]
        self._clients = clients
        self._turn = cycle(clients)
        self._load = Load(
            pages=_DIFFERENT_LENGTHS,
            clients=capacity,
            model="chandra",
            prompt=layout_prompt("vllm"),
            mean_tokens=mean_tokens,
            logprobs=logprobs,
        )
        self._lengths = cycle(list(lengths(self._load)))

    async def read(self, image: PageImage) -> PageReading:
        """Read one page."""
        body = await anyio.to_thread.run_sync(self._body, image, next(self._lengths))
        usage = (0, 0)
        async with aclosing(next(self._turn).chat(body)) as events:
            async for event in events:
                usage = event.usage or usage
        return PageReading(
            layout=LayoutReply(self._reply, 1000.0, (), ()),
            status=PageStatus.OK,
            usage=Usage(self.name, prompt_tokens=usage[0], output_tokens=usage[1]),
        )

    def _body(self, image: PageImage, length: int) -> bytes:
        picture = image.picture
        if not isinstance(picture, EncodedPicture):
            picture = encode(picture, ImageFormat.JPEG, 1.0)
        return request_body(self._load, picture, length)

    async def aclose(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.aclose()


def create(options: EngineOptions) -> ForcedEngine:
    """Make the engine; ``FORCED_MEAN_TOKENS`` and ``FORCED_REPLY`` (a file) say how it replies."""
    return ForcedEngine(
        options.server.urls,
        capacity=options.workers or 256,
        mean_tokens=int(os.environ.get("FORCED_MEAN_TOKENS", "1150")),
        logprobs=options.server.confidence,
        reply=Path(os.environ["FORCED_REPLY"]).read_text(encoding="utf-8"),
    )
