"""A Chandra model on this machine.

Owns how much a page may take of the model's context, and the stream of one page. Never judges
replies: see `moonpress.engines.guarded`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from moonpress.document import PageImage
from moonpress.engines.chandra.facts import LEAST_OUTPUT, MOST_OUTPUT, SCALES
from moonpress.engines.chandra.picture import CELL, fit
from moonpress.engines.hf.batches import Batches, Job
from moonpress.engines.hf.complaints import LICENCE
from moonpress.engines.hf.messages import ModelFacts, PageOrder
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.errors import EngineError, EngineRejected
from moonpress.processes import WorkerProcess

_WRITER = "moonpress.engines.hf.writer:PageWriter"
# Neither reports of use nor progress bars that nobody sees.
_ENVIRONMENT = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
# Version 1 was another architecture.
_FIRST_VERSION = "qwen3_vl"
_PAGES_ON_A_GPU = 8
_MAKERS = "datalab-to/"


class LocalModel:
    """Writes layout HTML for pages with a model in a process of this machine.

    Args:
        model: Name on the Hugging Face hub, or a folder.
        batch_size: Pages that are written together; ``None`` for 8 on a GPU and 1 on a CPU.
        confidence: Tell the probability of each token.
        announce: Told in one line that the model is being loaded, which takes a while.
    """

    name = "hf"

    def __init__(
        self,
        model: str,
        *,
        batch_size: int | None,
        confidence: bool,
        announce: Callable[[str], None],
    ) -> None:
        self.capacity = batch_size or 1
        self._model = model
        self._batch_size = batch_size
        self._announce = announce
        self._facts: ModelFacts | None = None
        options = {"model": model, "confidence": confidence}
        self._batches = Batches(lambda: WorkerProcess(_WRITER, options, env=_ENVIRONMENT))

    @property
    def scale(self) -> float:
        """1000, or 1024 for version 1."""
        first = self._facts is not None and self._facts.kind == _FIRST_VERSION
        return SCALES[1 if first else 2]

    async def prepare(self) -> None:
        """Load the model, unless it is there.

        Raises:
            EngineUnavailable: it cannot be had, or does not fit.
            UnknownName: there is no such model.
        """
        if self._facts is None:
            self._announce(f"Loading {self._model}{_what_else(self._model)}")
        self._facts = await self._batches.start()
        self.capacity = self._batch_size or (_PAGES_ON_A_GPU if self._facts.device != "cpu" else 1)
        self._batches.allow(self.capacity)

    async def write(
        self, image: PageImage, sampling: Sampling
    ) -> AsyncGenerator[Written | Ending, None]:
        """Write the page, together with others; closing the generator stops it alone."""
        if self._facts is None:
            await self.prepare()
        job = Job(self._order(image, sampling), sampling)
        self._batches.add(job)
        try:
            while True:
                piece = await job.news.get()
                if isinstance(piece, EngineError):
                    raise piece
                yield piece
                if isinstance(piece, Ending):
                    return
        finally:
            job.given_up = True

    def _order(self, image: PageImage, sampling: Sampling) -> PageOrder:
        """The page with what the context leaves for its reply.

        Raises:
            EngineRejected: nothing worth asking for.
        """
        facts = self._facts
        if facts is None:
            raise RuntimeError("the model is not loaded")
        pixels = image.pixels
        height, width = pixels.shape[:2]
        width, height = fit(width, height, sampling.zoom)
        picture = width * height // (CELL * CELL)
        left = facts.context - picture - facts.prompt_tokens
        if left < LEAST_OUTPUT:
            raise EngineRejected(
                f"the picture of {width} x {height} pixels takes {picture} tokens and the prompt"
                f" {facts.prompt_tokens}, and {self._model} has a context of {facts.context}",
                page=image.number,
                hint="Lower --dpi",
            )
        return PageOrder(pixels, sampling.zoom, min(left, MOST_OUTPUT))

    async def aclose(self) -> None:
        """End the model's process."""
        await self._batches.aclose()


def _what_else(model: str) -> str:
    """What should be known before a model is downloaded."""
    if Path(model).is_dir():
        return ""
    licence = f"; {LICENCE}" if model.startswith(_MAKERS) else ""
    return f", which is downloaded the first time{licence}"
