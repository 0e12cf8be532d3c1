"""One server as an engine: a member of a pool.

Owns how the parts around one server are put together. Never knows of other servers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio

from moonpress.engines.chandra.address import Address, base_of, without_login
from moonpress.engines.chandra.client import ChatClient, Patience, ServedModel
from moonpress.engines.chandra.facts import PREFERRED_DPI, TRIES
from moonpress.engines.chandra.model import ChandraModel, RequestChoices
from moonpress.engines.guarded import Guarded, Guards

Prepared: TypeAlias = Callable[[bytes], AbstractAsyncContextManager[None]]

_ENCODERS_AT_MOST = 4


def _encoders() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(min(os.cpu_count() or 1, _ENCODERS_AT_MOST))


class ChandraReplica(Guarded):
    """Reads pages through one server.

    Attributes:
        client: Its address and connections, for requests that are passed on as they are.
    """

    def __init__(self, client: ChatClient, choices: ReplicaChoices) -> None:
        model = ChandraModel(
            client, choices.requests, capacity=choices.pages, encoders=choices.encoders
        )
        guards = Guards(TRIES, choices.page_timeout)
        super().__init__(model, guards, preferred_dpi=PREFERRED_DPI, threads=choices.encoders)
        self.client = client
        self._chandra = model

    @property
    def served(self) -> ServedModel | None:
        """The model of the server; ``None`` before it was asked."""
        return self._chandra.served


@dataclass(frozen=True, slots=True)
class ReplicaChoices:
    """What all servers of an engine have in common.

    Attributes:
        requests: What the user decides about requests.
        pages: In flight at each server.
        page_timeout: Seconds that all tries at one page may take together.
        api_key: Sent as a bearer token.
        ca_file: PEM file of the authority that signed the servers' certificates.
        headers: Sent with every request.
        encoders: Bounds how many pictures are encoded at once, over all servers.
    """

    requests: RequestChoices
    pages: int
    page_timeout: float
    api_key: str | None = None
    ca_file: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    encoders: anyio.CapacityLimiter = field(default_factory=_encoders)

    def replica(
        self, url: str, prepared: Prepared | None = None, api_key: str | None = None
    ) -> ChandraReplica:
        """The engine for one server.

        Args:
            url: Its address.
            prepared: Around each of its requests; see `ChatClient.prepared`.
            api_key: Its own, where that is not the one of all.

        Raises:
            UsageError: this is no address.
        """
        base, login = without_login(base_of(url))
        key = api_key or self.api_key
        address = Address(base, key, self.ca_file, (*login, *self.headers))
        # One more, for questions about the server's health.
        client = ChatClient(address, Patience(), connections=self.pages + 1, prepared=prepared)
        return ChandraReplica(client, self)
