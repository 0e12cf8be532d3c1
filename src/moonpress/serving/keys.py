"""API keys: who may ask, and how much at once.

Owns the hashes and the bounds of each key. Never keeps or logs a key itself.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from moonpress.errors import EngineBusy, KeyRefused, UsageError

_HASH = "sha256:"


@dataclass(slots=True)
class _Key:
    """A key's hash, and what it has used."""

    name: str
    digest: str
    at_once: int
    per_minute: int
    allowance: float
    seen_at: float
    working: int = 0

    def take(self, now: float) -> None:
        gained = (now - self.seen_at) * self.per_minute / 60
        self.allowance = min(self.allowance + gained, float(self.per_minute))
        self.seen_at = now
        if self.allowance < 1:
            wait = (1 - self.allowance) * 60 / self.per_minute
            raise EngineBusy(
                f"the key may ask {self.per_minute} times a minute", retry_after=wait, hint=""
            )
        if self.working >= self.at_once:
            message = f"the key may have {self.at_once} requests at once"
            raise EngineBusy(message, retry_after=1.0, hint="")
        self.allowance -= 1


class Keys:
    """The keys of a service; with none, everybody may ask.

    Args:
        lines: One for each key: the key, or ``sha256:`` and its hash, then optionally a name,
            requests at once and requests a minute, with spaces between. What follows ``#`` is
            ignored.
        clock: Seconds that never go back.

    Raises:
        UsageError: a line cannot be read.
    """

    def __init__(
        self, lines: Iterable[str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._keys = [
            _key(number, line.partition("#")[0].split(), clock())
            for number, line in enumerate(lines, start=1)
            if line.partition("#")[0].strip()
        ]

    @contextmanager
    def admitted(self, authorization: str | None) -> Iterator[str]:
        """Hold a place of the key in an ``Authorization`` header; its name is yielded.

        Raises:
            KeyRefused: it is not known.
            EngineBusy: it has used up what it may.
        """
        if not self._keys:
            yield ""
            return
        key = self._find(authorization)
        key.take(self._clock())
        key.working += 1
        try:
            yield key.name
        finally:
            key.working -= 1

    def _find(self, authorization: str | None) -> _Key:
        kind, _, secret = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise KeyRefused("this service wants a key")
        digest = _digest(secret.strip())
        # All are compared, so that time tells nothing.
        found = [key for key in self._keys if hmac.compare_digest(key.digest, digest)]
        if not found:
            raise KeyRefused("the key is not known")
        return found[0]


def keys_from(path: Path) -> list[str]:
    """The lines of a file of keys.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the keys cannot be read: {error}", file=str(path)) from error


def _key(number: int, parts: list[str], now: float) -> _Key:
    secret, name, at_once, per_minute = [*parts, *("", "", "")[len(parts) - 1 :]][:4]
    digest = secret.removeprefix(_HASH) if secret.startswith(_HASH) else _digest(secret)
    try:
        minute = int(per_minute or 6000)
        most = int(at_once or 256)
    except ValueError:
        raise UsageError(
            f"line {number} of the keys is not KEY NAME AT_ONCE PER_MINUTE", hint="Correct it"
        ) from None
    return _Key(name or f"key {number}", digest.lower(), most, minute, float(minute), now)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
