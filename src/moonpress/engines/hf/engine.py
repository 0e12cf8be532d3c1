"""The engine ``hf``: Chandra models on this machine.

Owns how the parts are put together and their bounds. The parts do the work: `model` has pages
written by a process that holds the model, `moonpress.engines.guarded` watches it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from moonpress.document import PageImage, PageReading
from moonpress.engines.chandra.facts import PREFERRED_DPI, TRIES
from moonpress.engines.guarded import Guarded, Guards
from moonpress.engines.hf.model import LocalModel
from moonpress.engines.registry import EngineOptions
from moonpress.errors import EngineUnavailable, UnknownName, UsageError

HUB_NAME = "datalab-to/chandra-ocr-2"
_PACKAGES = ("torch", "torchvision", "transformers", "chandra")
# A page waits for the batch before it and is tried four times at most; loops are cut long before.
_PAGE_SECONDS = 3600.0


def _say_nothing(_line: str) -> None:
    return


class ChandraHFEngine:
    """Reads pages with Chandra-OCR through transformers, in a process of this machine.

    The model is loaded when the engine is prepared, or with the first page; it stays loaded until
    the engine is closed. It runs on the first GPU that CUDA shows, else on the CPU, where the real
    model takes many minutes for a page.

    Args:
        model: Name on the Hugging Face hub, or a folder.
        batch_size: Pages that are written together; 8 on a GPU and 1 on a CPU when left out.
        confidence: Ask for the probability of each token, from which blocks get their confidence.
        page_timeout: Seconds that all tries at one page may take together, waiting included.
        announce: Told in one line that the model is being loaded.

    Raises:
        UsageError: a choice makes no sense.
        EngineUnavailable: the packages that this needs are not installed.

    Example:
        >>> from moonpress import ChandraHFEngine, convert
        >>> engine = ChandraHFEngine(batch_size=4)  # doctest: +SKIP
        >>> document = convert("paper.pdf", engine=engine)  # doctest: +SKIP
    """

    name = "hf"
    preferred_dpi = PREFERRED_DPI

    def __init__(
        self,
        model: str = HUB_NAME,
        *,
        batch_size: int | None = None,
        confidence: bool = True,
        page_timeout: float = _PAGE_SECONDS,
        announce: Callable[[str], None] = _say_nothing,
    ) -> None:
        for package in _PACKAGES:
            if find_spec(package) is None:
                message = f"the engine hf needs the package {package}, which is not installed"
                raise EngineUnavailable(message, hint="Run pip install 'moonpress[hf]'")
        if batch_size is not None and batch_size < 1:
            raise UsageError(f"there is no batch of {batch_size} pages", hint="Give 1 or more")
        local = LocalModel(
            _folder_or_name(model),
            batch_size=batch_size,
            confidence=confidence,
            announce=announce,
        )
        guards = Guards(TRIES, page_timeout)
        self._reader = Guarded(local, guards, preferred_dpi=PREFERRED_DPI)

    @property
    def capacity(self) -> int:
        """Pages that are written together."""
        return self._reader.capacity

    async def prepare(self) -> None:
        """Load the model.

        Raises:
            EngineUnavailable: it cannot be had, or does not fit.
            UnknownName: there is no such model.
        """
        await self._reader.prepare()

    async def read(self, image: PageImage) -> PageReading:
        """Read one page.

        Raises:
            EngineUnavailable: the model cannot be had.
            EngineRejected: the page is too large for it.
            BadOutput: the model fails on it.
        """
        return await self._reader.read(image)

    async def aclose(self) -> None:
        """End the model's process."""
        await self._reader.aclose()


def _folder_or_name(model: str) -> str:
    """A folder as an absolute path; a name on the hub, such as ``owner/name``, as it is."""
    path = Path(model).expanduser()
    if path.is_dir():
        return str(path.absolute())
    if model.startswith((".", "~", "/")) or model.count("/") != 1:
        hint = f"Name a folder that holds a model, or one on the hub such as {HUB_NAME}"
        raise UnknownName(f"there is no folder {model}", hint=hint)
    return model


def create(options: EngineOptions) -> ChandraHFEngine:
    """Make the engine from a user's options (the entry point's target)."""
    return ChandraHFEngine(
        options.server.model or HUB_NAME,
        batch_size=options.batch_size,
        confidence=options.server.confidence,
        page_timeout=options.page_timeout or _PAGE_SECONDS,
        announce=options.announce,
    )
