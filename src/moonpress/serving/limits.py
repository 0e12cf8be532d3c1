"""Bounds of the service: what one request may cost, and how many may wait.

Owns the numbers. Never enforces them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Bounds that protect the machine and the other users of a service.

    Attributes:
        body_bytes: Of a request.
        fetched_bytes: Of what an ``image_url`` leads to.
        pages: Of one document.
        waiting: Requests that may wait while the engine is full; more are told to come back.
        fetch_seconds: That fetching may take.
        hosts: Hosts that an ``image_url`` may lead to; empty for any public one.
        upload_seconds: That may pass between two pieces of a body; after as many, it must have
            come at a thousand bytes a second on average.
        origins: Of pages of others in browsers that may ask, such as ``https://app.example.org``.
        plain_http: Whether an ``image_url`` may be without TLS.
    """

    body_bytes: int = 256 << 20
    fetched_bytes: int = 64 << 20
    pages: int = 2000
    waiting: int = 256
    fetch_seconds: float = 30.0
    hosts: tuple[str, ...] = ()
    upload_seconds: float = 30.0
    origins: tuple[str, ...] = ()
    plain_http: bool = False
