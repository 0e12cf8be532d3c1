"""A Chandra model behind one server.

Owns what a request holds, which of the server's models is meant, and how many tokens are left for
the reply. Never judges replies: see `moonpress.engines.guarded`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import anyio
import anyio.to_thread
import orjson

from moonpress.document import EncodedPicture, PageImage
from moonpress.engines.chandra.client import ChatClient, ServedModel
from moonpress.engines.chandra.facts import LEAST_OUTPUT, MOST_OUTPUT, SCALES, STOP
from moonpress.engines.chandra.picture import ImageFormat, encode, media_type, tokens_of
from moonpress.engines.chandra.prompt import layout_prompt
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.errors import EngineRejected, EngineUnavailable, UnknownName
from moonpress.telemetry import span

# Until a reply tells. The real tokeniser makes 620 tokens of 2,700 characters.
_CHARACTERS_PER_TOKEN = 4.4
# Servers call either version "chandra"; so this looks for where the weights of version 1 come from.
_FIRST_VERSION = re.compile(
    r"(^|/)datalab-to/chandra/?$|models--datalab-to--chandra/|chandra(-ocr)?-?v?[01](\.\d+)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RequestChoices:
    """What a user decides about requests.

    Attributes:
        model: Name of the model; ``None`` for the one that the server has.
        version: 1 or 2; ``None`` to tell by the model's name.
        image_format: How pictures travel.
        confidence: Ask for the probability of each token.
    """

    model: str | None
    version: int | None
    image_format: ImageFormat
    confidence: bool


class ChandraModel:
    """Writes layout HTML for pages through one server.

    Args:
        client: Of the server; it is closed with this.
        choices: The user's.
        capacity: Pages in flight.
        encoders: Bounds how many pictures are encoded at once, over all servers.
    """

    name = "vllm"

    def __init__(
        self,
        client: ChatClient,
        choices: RequestChoices,
        *,
        capacity: int,
        encoders: anyio.CapacityLimiter,
    ) -> None:
        self.capacity = capacity
        self._client = client
        self._choices = choices
        self._encoders = encoders
        self._prompt = layout_prompt("vllm")
        self._prompt_tokens = round(len(self._prompt) / _CHARACTERS_PER_TOKEN)
        self._served: ServedModel | None = None

    @property
    def scale(self) -> float:
        """1000, or 1024 for version 1."""
        return SCALES[self._choices.version or _version(self._served)]

    @property
    def served(self) -> ServedModel | None:
        """The server's model that is meant; ``None`` before it was asked."""
        return self._served

    @property
    def url(self) -> str:
        """The server's address."""
        return self._client.address.base

    async def prepare(self) -> None:
        """Ask the server what it has.

        Raises:
            EngineUnavailable: nobody answers, or not as an OpenAI API does.
            UnknownName: it lacks the model that was asked for.
        """
        self._served = choose_model(self.url, await self._client.models(), self._choices.model)

    async def write(
        self, image: PageImage, sampling: Sampling
    ) -> AsyncGenerator[Written | Ending, None]:
        """Write the page; closing the generator drops the request."""
        if self._served is None:
            await self.prepare()
        served = self._served
        if served is None:
            raise EngineUnavailable(f"{self.url} says nothing of its models")
        with span("encode", page=image.number):
            picture, body = await anyio.to_thread.run_sync(
                self._request,
                image,
                sampling,
                served,
                limiter=self._encoders,
                abandon_on_cancel=True,
            )
        finish: str | None = None
        usage: tuple[int, int] | None = None
        sending: float | None = None
        try:
            async with aclosing(self._client.chat(body, served.output)) as events:
                async for event in events:
                    if event.written is not None:
                        yield _without_end(event.written)
                    finish = event.finish_reason or finish
                    usage = event.usage or usage
                    if event.sending_seconds is not None:
                        sending = event.sending_seconds
        except KeyError as error:
            raise await self._without_model(served, error) from error
        if finish is None:
            message = f"{self.url} ended its reply in the middle"
            raise EngineUnavailable(message, hint="")
        if usage is not None:
            self._prompt_tokens = max(usage[0] - tokens_of(picture), 0)
        prompt, tokens = usage or (None, None)
        yield Ending(finish == "stop", prompt, tokens, sending)

    async def _without_model(self, served: ServedModel, error: KeyError) -> Exception:
        """The server had the model and says that it has it no more."""
        names = ", ".join(model.name for model in await self._client.models())
        message = f"{self.url} has no model {served.name!r} any more: it has {names}"
        return EngineUnavailable(message, hint=str(error.args[0]))

    def _request(
        self, image: PageImage, sampling: Sampling, served: ServedModel
    ) -> tuple[EncodedPicture, bytes]:
        picture = self._picture(image, sampling.zoom)
        most = self._output_tokens(picture, served, image.number)
        data = base64.b64encode(picture.data).decode("ascii")
        content = [
            {"type": "image_url", "image_url": {"url": f"data:{picture.media_type};base64,{data}"}},
            {"type": "text", "text": self._prompt},
        ]
        request = {
            "model": served.name,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": most,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop": STOP,
            # So that the end tokens are seen, and nothing is held back to look for them.
            "skip_special_tokens": False,
            "include_stop_str_in_output": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self._choices.confidence:
            request["logprobs"] = True
        return picture, orjson.dumps(request)

    def _picture(self, image: PageImage, zoom: float) -> EncodedPicture:
        """The page as it is sent; where it was drawn it may have been encoded for the first try."""
        form, picture = self._choices.image_format, image.picture
        ready = isinstance(picture, EncodedPicture) and picture.media_type == media_type(form)
        if isinstance(picture, EncodedPicture) and ready and zoom == 1.0:
            return picture
        return encode(image.pixels, form, zoom)

    def _output_tokens(self, picture: EncodedPicture, served: ServedModel, page: int) -> int:
        """What the server's context leaves for the reply.

        Raises:
            EngineRejected: nothing worth asking for.
        """
        if served.context is None:
            return MOST_OUTPUT
        tokens = tokens_of(picture)
        left = served.context - tokens - self._prompt_tokens
        if left < LEAST_OUTPUT:
            raise EngineRejected(
                f"the picture of {picture.width} x {picture.height} pixels takes {tokens}"
                f" tokens and the prompt {self._prompt_tokens}, and {self.url} has a context of"
                f" {served.context}",
                page=page,
                hint="Serve with --max-model-len 24576, or lower --dpi",
            )
        return min(left, MOST_OUTPUT)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _without_end(written: Written) -> Written:
    if "<|" not in written.text:
        return written
    text = written.text
    for token in STOP:
        text = text.replace(token, "")
    ends = tuple(min(end, len(text)) for end in written.ends)
    return Written(text, written.tokens, ends, written.logprobs)


def choose_model(base: str, models: tuple[ServedModel, ...], wanted: str | None) -> ServedModel:
    """The model of a server that is meant: the one that is wanted, else its Chandra, else its only.

    Raises:
        EngineUnavailable: it has none.
        UnknownName: it lacks the one that is wanted, or several could be meant.
    """
    if not models:
        raise EngineUnavailable(f"{base} serves no model")
    named = {model.name: model for model in models}
    names = ", ".join(named)
    if wanted is not None:
        if wanted not in named:
            message = f"{base} has no model {wanted!r}: it has {names}"
            raise UnknownName(message, hint="Choose one with --model")
        return named[wanted]
    ours = [model for model in models if is_chandra(model)]
    if len(ours) == 1 or len(models) == 1:
        return (ours or list(models))[0]
    message = f"{base} has several models: {names}"
    raise UnknownName(message, hint="Choose one with --model")


def is_chandra(model: ServedModel) -> bool:
    """Whether a model is called as Chandra models are."""
    return "chandra" in f"{model.name} {model.root}".lower()


def _version(model: ServedModel | None) -> int:
    first = model is not None and _FIRST_VERSION.search(model.root or model.name)
    return 1 if first else 2
