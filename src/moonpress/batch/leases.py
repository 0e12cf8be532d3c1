"""Who may read which shard: leases in the output place, for machines that share nothing else.

Owns the files ``SHARD.GENERATION`` (made exclusively; the generation is the fencing token) and
``holder-NAME``, which a holder writes anew again and again for as long as it lives. Never reads
clocks of other machines: a holder is gone when its file has not changed for a while as seen from
here, or when it was a process of this machine that does not exist any more.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import orjson

from moonpress.batch.sinks.store import Store
from moonpress.errors import OutputError
from moonpress.telemetry import event

# Shared file systems may show files up to a minute late.
_PATIENCE_SECONDS: Final = 90.0
_BEAT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to read a shard, until a later generation of it exists."""

    key: str
    generation: int

    @property
    def token(self) -> str:
        """Its file's name."""
        return f"{self.key}.{self.generation}"


class Leases:
    """The leases in one place, as one holder sees them; calls block.

    Args:
        store: Where their files are.
        patience: Seconds after which a holder that shows no sign of life is gone.
    """

    def __init__(self, store: Store, *, patience: float = _PATIENCE_SECONDS) -> None:
        self._store = store
        self._patience = patience
        self._name = secrets.token_hex(8)
        self._beats = 0
        # By holder: its last sign of life, and when it was first seen here.
        self._seen: dict[str, tuple[bytes, float]] = {}
        self.beat()

    def take(self, key: str) -> Lease | None:
        """Lease a shard; ``None`` while another holder has it.

        A lease that this holder has already is superseded: its worker is known to be gone.
        """
        generation = 0
        holder = None
        while (text := self._read(f"{key}.{generation + 1}")) is not None:
            generation += 1
            holder = text
        if holder is not None and not self._is_gone(holder):
            return None
        lease = Lease(key, generation + 1)
        return lease if self._store.claim(lease.token, self._identity()) else None

    def release(self, lease: Lease) -> None:
        """Take the files of a shard away."""
        # A later generation without the one before it would bar all others.
        for generation in range(lease.generation, 0, -1):
            self._store.remove(f"{lease.key}.{generation}")

    def beat(self) -> None:
        """Show that this holder lives."""
        self._beats += 1
        self._store.write(self._file(self._name), str(self._beats).encode())

    async def keep_beating(self) -> None:
        """Show it again and again, until cancelled."""
        while True:
            await anyio.sleep(_BEAT_SECONDS)
            try:
                await anyio.to_thread.run_sync(self.beat)
            except OutputError as error:
                # It may work the next time, and a lease that is lost costs time only.
                event("no_heartbeat", level=logging.WARNING, error=error)

    def close(self) -> None:
        """This holder ends."""
        self._store.remove(self._file(self._name))
        self._store.scratch.close()

    def _is_gone(self, holder: bytes) -> bool:
        try:
            facts = orjson.loads(holder)
            name, host = str(facts["name"]), str(facts["host"])
            process = (int(facts["pid"]), str(facts["start"]))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            # Cut short by a crash: it is judged by its age here.
            return self._is_silent(f"?{holder!r}", b"")
        if name == self._name:
            return True
        if host == socket.gethostname() and process[1] and _start_of(process[0]) != process[1]:
            return True
        sign = self._read(self._file(name))
        return sign is None or self._is_silent(name, sign)

    def _is_silent(self, name: str, sign: bytes) -> bool:
        now = time.monotonic()
        before = self._seen.get(name)
        if before is None or before[0] != sign:
            self._seen[name] = (sign, now)
            return False
        return now - before[1] > self._patience

    def _identity(self) -> bytes:
        return orjson.dumps(
            {
                "name": self._name,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "start": _start_of(os.getpid()),
            }
        )

    def _read(self, name: str) -> bytes | None:
        return self._store.read([name]).get(name)

    @staticmethod
    def _file(name: str) -> str:
        return f"holder-{name}"


def is_current(store: Store, lease: Lease) -> bool:
    """Whether no later generation of a lease exists; for workers that a holder sent."""
    later = f"{lease.key}.{lease.generation + 1}"
    return later not in store.read([later])


def _start_of(pid: int) -> str:
    """When a process of this machine started; empty when there is none, or no way to tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
