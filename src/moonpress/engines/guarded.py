"""Guards around a layout model: what it must not see, what it must not do, what it must agree with.

Owns the blank check before, the watch for loops during, further tries with other sampling, the
choice of the best try, and the comparison with the text layer after. Never talks to servers itself.

The best try is the one with the highest score, compared in this order: it goes on from what was
told to who follows the page (`moonpress.engines.following`); it ended by itself without a loop; its
agreement with the text layer, in tenths, where there is one that can be trusted; its length.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from moonpress.document import (
    Agreement,
    EncodedPicture,
    LayoutReply,
    PageImage,
    PageReading,
    PageStatus,
    Problem,
    ProblemCode,
    Usage,
)
from moonpress.engines.agreement import compare
from moonpress.engines.blank import is_blank
from moonpress.engines.following import Following, WrittenTry, followed
from moonpress.engines.layout_model import Ending, LayoutModel, Sampling, Written
from moonpress.engines.loops import Loop, LoopWatch
from moonpress.engines.text_trust import Trust, judge
from moonpress.errors import BadOutput, EngineRejected
from moonpress.telemetry import event

_LEAST_FOUND = 0.7
_LEAST_BACKED = 0.5
# Replies that hit the token limit, and failures of a server that is well, before giving up.
_ENOUGH = 2
_MARKUP = re.compile(r"<[^<>]*>?")


@dataclass(frozen=True, slots=True)
class Guards:
    """How pages are guarded.

    Attributes:
        tries: How each try is made, in this order, until one is clean.
        page_timeout: Seconds that all tries at a page may take together.
    """

    tries: tuple[Sampling, ...]
    page_timeout: float


@dataclass(slots=True)
class _Try:
    """One try at a page, as far as it has come."""

    sampling: Sampling
    pieces: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    length: int = 0
    tokens: int = 0
    loop: Loop | None = None
    ending: Ending | None = None
    failure: str | None = None
    agreement: Agreement | None = None
    # Where somebody follows the page.
    followed: WrittenTry | None = None

    def follow(self, page: Following, scale: float) -> None:
        self.followed = WrittenTry(page, scale, self.ends, self.logprobs)

    def add(self, written: Written) -> None:
        self.ends += [self.length + end for end in written.ends]
        self.logprobs += written.logprobs
        self.pieces.append(written.text)
        self.length += len(written.text)
        self.tokens += written.tokens
        if self.followed is not None:
            self.followed.feed(written.text, written.tokens)

    @property
    def text(self) -> str:
        """What this try wrote, as far as it can be used."""
        text = "".join(self.pieces)
        if self.loop is None:
            return text
        told = self.followed.told if self.followed is not None else 0
        return text[: max(self.loop.clean_end, told)]

    @property
    def html(self) -> str:
        """What the page would be with this try."""
        return self.text if self.followed is None else self.followed.reply(0.0, self.text).html

    @property
    def follows(self) -> bool:
        return self.followed is None or self.followed.follows

    @property
    def says_something(self) -> bool:
        html = self.html
        return "<div" in html or bool(_MARKUP.sub("", html).strip())

    @property
    def clean(self) -> bool:
        complete = self.ending is not None and self.ending.complete
        return complete and self.loop is None and self.says_something and self.follows

    @property
    def score(self) -> tuple[bool, bool, float, int]:
        known = self.agreement
        agreement = 0.0 if known is None else round((known.found + known.backed) / 2, 1)
        return self.follows, self.clean, agreement, len(self.html)

    def reply(self, scale: float) -> LayoutReply:
        if self.followed is not None:
            return self.followed.reply(scale, self.text)
        html = self.text
        count = bisect_right(self.ends, len(html))
        return LayoutReply(html, scale, tuple(self.ends[:count]), tuple(self.logprobs[:count]))

    def problems(self, page_timeout: float) -> Iterable[Problem]:
        if not self.follows:
            message = "a second reading differs from what was told of the first; the end is missing"
            yield Problem(ProblemCode.OUTPUT_CUT, message)
        elif self.loop is not None:
            message = (
                f"the model repeated itself ({self.loop.what!r}); what it wrote before is kept,"
                " the end of the page may be missing"
            )
            yield Problem(ProblemCode.REPETITION, message)
        elif self.failure is not None:
            yield Problem(ProblemCode.ENGINE_FAILED, f"{self.failure}; its beginning is kept")
        elif self.ending is None:
            message = f"reading took longer than {page_timeout:g} s; its beginning is kept"
            yield Problem(ProblemCode.PAGE_TIMEOUT, message)
        elif not self.ending.complete:
            message = (
                f"the reply was cut after {self.ending.output_tokens or self.tokens} tokens;"
                " the end of the page may be missing"
            )
            yield Problem(ProblemCode.OUTPUT_CUT, message)
        known = self.agreement
        if known is not None and min(known.found / _LEAST_FOUND, known.backed / _LEAST_BACKED) < 1:
            message = (
                f"the reading has {known.found:.0%} of the words of the PDF's own text, which has"
                f" {known.backed:.0%} of the reading's"
            )
            yield Problem(ProblemCode.TEXT_LAYER_DISAGREES, message)


class Guarded:
    """An engine around a layout model.

    Args:
        model: Who writes; it is closed with this.
        guards: The bounds.
        preferred_dpi: At which PDF pages should be drawn.
        threads: Bounds how many pages are looked at at once; anyio's own bound when left out.
    """

    def __init__(
        self,
        model: LayoutModel,
        guards: Guards,
        *,
        preferred_dpi: float,
        threads: anyio.CapacityLimiter | None = None,
    ) -> None:
        self.name = model.name
        self.preferred_dpi = preferred_dpi
        self._model = model
        self._guards = guards
        self._threads = threads

    @property
    def capacity(self) -> int:
        """How many pages the model wants in flight; some know it once they are prepared."""
        return self._model.capacity

    async def prepare(self) -> None:
        """See whether the model can be used; raises as `LayoutModel.prepare` does."""
        await self._model.prepare()

    async def read(self, image: PageImage) -> PageReading:
        """Read one page.

        Raises:
            EngineUnavailable: the model went away.
            EngineRejected: the page is refused, or took too long and nothing came.
            BadOutput: the model failed on the page, or wrote nothing.
        """
        began = time.perf_counter()
        blank, layer = await anyio.to_thread.run_sync(_look_at, image, limiter=self._threads)
        if blank:
            usage = Usage(self.name, time.perf_counter() - began, attempts=0)
            return PageReading(status=PageStatus.BLANK, usage=usage)
        tries: list[_Try] = []
        with anyio.move_on_after(self._guards.page_timeout):
            await self._try(image, layer, tries)
        best = max(tries, key=lambda one: one.score, default=None)
        if best is None or not best.says_something:
            raise self._nothing(tries, image.number)
        return self._reading(best, tries, time.perf_counter() - began)

    async def _try(self, image: PageImage, layer: str | None, tries: list[_Try]) -> None:
        """Try until a try is clean, or there is no sense in another."""
        failures = 0
        for sampling in self._guards.tries:
            one = _Try(sampling)
            page = followed()
            if page is not None:
                one.follow(page, self._model.scale)
            tries.append(one)
            try:
                await self._write(image, one)
            except (BadOutput, EngineRejected) as error:
                failures += 1
                one.failure = error.message
                if any(other.says_something for other in tries):
                    return
                if isinstance(error, EngineRejected) or failures == _ENOUGH:
                    raise
                continue
            if layer is not None:
                one.agreement = compare(one.html, layer)
            if one.clean:
                return
            self._tell(one, image.number)
            if sum(other.ending is not None and not other.clean for other in tries) == _ENOUGH:
                return

    async def _write(self, image: PageImage, one: _Try) -> None:
        watch = LoopWatch()
        async with aclosing(self._model.write(image, one.sampling)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Ending):
                    one.ending = piece
                    return
                one.add(piece)
                one.loop = watch.feed(piece.text, piece.tokens)
                if one.loop is not None:
                    return

    def _tell(self, one: _Try, page: int) -> None:
        event(
            "page_try_unclean",
            page=page,
            temperature=one.sampling.temperature,
            zoom=one.sampling.zoom,
            # Not what repeats: no text of a document is in any event.
            loop=one.loop is not None,
            tokens=one.tokens,
        )

    def _nothing(self, tries: list[_Try], page: int) -> EngineRejected | BadOutput:
        if tries and tries[-1].ending is None and tries[-1].loop is None:
            return EngineRejected(
                f"reading took longer than {self._guards.page_timeout:g} s",
                page=page,
                hint="Raise --page-timeout, lower --workers, or leave the page out with --pages",
            )
        return BadOutput(f"the model wrote nothing in {len(tries)} tries", page=page)

    def _reading(self, best: _Try, tries: list[_Try], seconds: float) -> PageReading:
        endings = [one.ending for one in tries if one.ending is not None]
        sent = [end.sending_seconds for end in endings if end.sending_seconds is not None]
        prompts = [end.prompt_tokens for end in endings if end.prompt_tokens is not None]
        return PageReading(
            layout=best.reply(self._model.scale),
            status=PageStatus.OK if best.clean else PageStatus.PARTIAL,
            problems=tuple(best.problems(self._guards.page_timeout)),
            usage=Usage(
                engine=self.name,
                seconds=seconds,
                prompt_tokens=sum(prompts) if prompts else None,
                output_tokens=sum(one.tokens for one in tries),
                attempts=len(tries),
                sending_seconds=sum(sent) if sent else None,
            ),
            agreement=best.agreement,
        )

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


def _look_at(image: PageImage) -> tuple[bool, str | None]:
    """Whether the page is blank, and its text layer if that can be trusted."""
    known = image.picture.blank if isinstance(image.picture, EncodedPicture) else None
    if is_blank(image.pixels) if known is None else known:
        return True, None
    layer = image.text_layer
    if layer is None or not layer.text.strip():
        return False, None
    share = max((picture.area for picture in image.pictures), default=0.0)
    return False, layer.text if judge(layer, share).trust is Trust.GOOD else None
