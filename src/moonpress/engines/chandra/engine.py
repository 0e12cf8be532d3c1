"""The engine ``vllm``: Chandra models behind one server or several.

Owns how the parts are put together and their bounds. The parts do the work: `replica` reads through
one server, `moonpress.engines.pool` and `retrying` deal with servers that go away.
"""

from __future__ import annotations

from collections.abc import Sequence

from moonpress.document import PageImage, PageReading
from moonpress.engines.chandra.address import base_of, header_of
from moonpress.engines.chandra.facts import PREFERRED_DPI
from moonpress.engines.chandra.model import RequestChoices
from moonpress.engines.chandra.picture import ImageFormat, encoder
from moonpress.engines.chandra.replica import ChandraReplica, Prepared, ReplicaChoices
from moonpress.engines.pool import ReplicaPool
from moonpress.engines.registry import EngineOptions
from moonpress.engines.retrying import Retrying, Waiting
from moonpress.errors import UnknownName, UsageError

LOCAL_URL = "http://localhost:8000/v1"
# A server with all its places taken answers a page in minutes.
_PAGE_SECONDS = 900.0
_PAGES_PER_SERVER = 32
_WAITING = Waiting(outage=30.0, busy=600.0)
# Servers that the service starts itself take minutes to come back, and they do come back.
_WAITING_FOR_OWN = Waiting(outage=1200.0, busy=600.0)


class ChandraVLLMEngine:
    """Reads pages through servers that offer Chandra-OCR over the OpenAI chat API, such as vLLM.

    Args:
        url: Address or addresses, such as ``http://host:8000/v1``.
        api_key: Sent as a bearer token.
        model: Name of the model; the one that the server has when left out.
        version: 1 or 2, which differ in the scale of boxes; told by the model's name when left out.
        ca_file: PEM file of the authority that signed the servers' certificates.
        headers: ``Name: value``, sent with every request.
        image_format: ``"png"``, ``"jpeg"`` or ``"webp"``.
        confidence: Ask for the probability of each token, from which blocks get their confidence.
        pages_per_server: Pages in flight at each server.
        page_timeout: Seconds that all tries at one page may take together.
        more_come: Servers are added while the engine is in use (`pool`, `replica`); none has to be
            named, and pages wait longer for one.

    Raises:
        UsageError: an address, a header or another choice makes no sense.
        EngineUnavailable: the packages that this needs are not installed.

    Example:
        >>> from moonpress import ChandraVLLMEngine
        >>> engine = ChandraVLLMEngine("gpu1:8000", confidence=False)
        >>> engine.capacity
        32
    """

    name = "vllm"
    preferred_dpi = PREFERRED_DPI

    def __init__(
        self,
        url: str | Sequence[str] = LOCAL_URL,
        *,
        api_key: str | None = None,
        model: str | None = None,
        version: int | None = None,
        ca_file: str | None = None,
        headers: Sequence[str] = (),
        image_format: str = ImageFormat.JPEG.value,
        confidence: bool = True,
        pages_per_server: int = _PAGES_PER_SERVER,
        page_timeout: float = _PAGE_SECONDS,
        more_come: bool = False,
    ) -> None:
        if version not in {None, 1, 2}:
            raise UsageError(f"there is no version {version} of the model", hint="Choose 1 or 2")
        urls = (url,) if isinstance(url, str) else tuple(url)
        if not urls and not more_come:
            raise UsageError("no server is named", hint="Give one with --url")
        form = _image_format(image_format)
        self.picture_encoder = encoder(form)
        self._choices = ReplicaChoices(
            requests=RequestChoices(model, version, form, confidence),
            pages=pages_per_server,
            page_timeout=page_timeout,
            api_key=api_key,
            ca_file=ca_file,
            headers=tuple(header_of(header) for header in headers),
        )
        self._pool = ReplicaPool([], name=self.name)
        for base in dict.fromkeys(base_of(one) for one in urls):
            replica = self._choices.replica(base)
            self._pool.add(replica, replica.client.address.base)
        self._reader = Retrying(self._pool, _WAITING_FOR_OWN if more_come else _WAITING)

    @property
    def pool(self) -> ReplicaPool:
        """The servers, each a `ChandraReplica`: to add some, and to lend one for other use."""
        return self._pool

    def replica(
        self, url: str, prepared: Prepared | None = None, api_key: str | None = None
    ) -> ChandraReplica:
        """A server more, to be added to the pool; see `ReplicaChoices.replica`."""
        return self._choices.replica(url, prepared, api_key)

    def give_up(self) -> None:
        """Fail pages that wait for a server: none will come any more."""
        self._reader.give_up()

    @property
    def capacity(self) -> int:
        """Pages in flight over all servers."""
        return self._reader.capacity

    async def prepare(self) -> None:
        """Ask the servers what they have.

        Raises:
            EngineUnavailable: no server can be used, in one line for each.
            UnknownName: they lack the model that was asked for.
        """
        await self._reader.prepare()

    async def read(self, image: PageImage) -> PageReading:
        """Read one page.

        Raises:
            EngineUnavailable: no server is left.
            EngineRejected: the page is refused.
            BadOutput: the servers fail on it.
        """
        return await self._reader.read(image)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._reader.aclose()


def create(options: EngineOptions, *, more_come: bool = False) -> ChandraVLLMEngine:
    """Make the engine from a user's options (the entry point's target)."""
    server = options.server
    return ChandraVLLMEngine(
        server.urls or (() if more_come else LOCAL_URL),
        api_key=server.api_key,
        model=server.model,
        ca_file=server.ca_file,
        headers=server.headers,
        image_format=server.image_format or ImageFormat.JPEG.value,
        confidence=server.confidence,
        pages_per_server=options.workers or _PAGES_PER_SERVER,
        page_timeout=options.page_timeout or _PAGE_SECONDS,
        more_come=more_come,
    )


def _image_format(name: str) -> ImageFormat:
    try:
        return ImageFormat(name)
    except ValueError:
        names = ", ".join(form.value for form in ImageFormat)
        message = f"no picture format is called {name!r}"
        raise UnknownName(message, hint=f"Choose among {names}") from None
