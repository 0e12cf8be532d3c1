"""Bounds that protect this machine and others while inputs are fetched and unpacked.

Owns the settings. Never enforces them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for fetching and unpacking; the defaults are meant for real documents.

    Attributes:
        document_bytes: Of one document that is fetched or unpacked.
        archive_bytes: Of one remote archive, which is copied to the scratch folder.
        expansion: Times its packed size that an archive may unpack to, beyond
            ``free_expansion_bytes``.
        free_expansion_bytes: What any archive may unpack to.
        kept_bytes: Of members of a compressed tar that are unpacked ahead of being asked for.
        index_bytes: Of a web server's page about a folder.
        timeout: Seconds to wait for a server's next bytes.
        slowest: Bytes a second that a server has to send on average, after ``timeout``.
        attempts: Tries of what may work the next time.
        first_wait: Seconds before the second try; each further wait is twice as long.
        longest_wait: Seconds that a server may ask us to wait.
    """

    document_bytes: int = 4 << 30
    archive_bytes: int = 256 << 30
    expansion: int = 500
    free_expansion_bytes: int = 1 << 30
    kept_bytes: int = 256 << 20
    index_bytes: int = 64 << 20
    timeout: float = 30.0
    slowest: float = 1000.0
    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0
