"""Telling clients that their jobs have ended.

Owns when and how often, and the signature. Never decides which hosts may be reached: see
`moonpress.serving.outbound`.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import Counter
from typing import Any, Final

import aiohttp
import anyio
import anyio.to_thread
import orjson

from moonpress.errors import UsageError
from moonpress.serving.jobs.changes import Changes
from moonpress.serving.jobs.job import Job, JobState, WebhookState
from moonpress.serving.jobs.store import JobStore
from moonpress.serving.outbound import AddressRules, PublicOnly
from moonpress.telemetry import event

_SECONDS: Final = 10.0
# Ten tries over some 17 hours.
_TRIES: Final = 10
_FIRST_PAUSE: Final = 5.0
_GROWTH: Final = 3.0
_LONGEST_PAUSE: Final = 6 * 3600.0
_IDLE_SECONDS: Final = 30.0
_AT_ONCE: Final = 16
_OF_ONE_KEY: Final = 4


class Webhooks:
    """Posts to the addresses that jobs name.

    Args:
        store: Of the jobs.
        hosts: Patterns of hosts that may be told, also at private addresses; with none, any public
            host over https.
        secret: Key of the signature; ``None`` for none.
        first_pause: Seconds before the second try.
    """

    def __init__(
        self,
        store: JobStore,
        *,
        hosts: tuple[str, ...],
        secret: str | None,
        first_pause: float = _FIRST_PAUSE,
    ) -> None:
        self._store = store
        self._secret = secret
        self._first_pause = first_pause
        self._open = bool(hosts)
        self._changes = Changes()
        # Owners by numbers of jobs.
        self._under_way: dict[int, str] = {}
        self.rules = AddressRules(
            what="webhook",
            hosts=hosts,
            schemes=("https", "http") if hosts else ("https",),
            private=bool(hosts),
            hint="Give an https: address",
        )

    def look(self) -> None:
        """A job has ended."""
        self._changes.tell("")

    async def keep_telling(self) -> None:
        """Tell clients until cancelled."""
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        resolver = None if self._open else PublicOnly()
        connector = aiohttp.TCPConnector(resolver=resolver, force_close=True)
        self._under_way.clear()
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
            anyio.create_task_group() as tasks,
        ):
            while True:
                came = self._changes.of("")
                job = await self._next()
                wait = _IDLE_SECONDS if job is None else job.webhook_at - time.time()
                if job is None or wait > 0:
                    with anyio.move_on_after(min(wait, _IDLE_SECONDS)):
                        await came.wait()
                    continue
                self._under_way[job.number] = job.owner
                tasks.start_soon(self._tell, session, job)

    async def _next(self) -> Job | None:
        """Whose client is told next; a receiver that hangs holds up those of its key at most."""
        if len(self._under_way) >= _AT_ONCE:
            return None
        owners = Counter(self._under_way.values())
        busy = [owner for owner, count in owners.items() if count >= _OF_ONE_KEY]
        return await anyio.to_thread.run_sync(
            self._store.next_webhook, tuple(self._under_way), tuple(busy)
        )

    async def _tell(self, session: aiohttp.ClientSession, job: Job) -> None:
        try:
            await self._tell_once(session, job)
        finally:
            del self._under_way[job.number]
            self.look()

    async def _tell_once(self, session: aiohttp.ClientSession, job: Job) -> None:
        problem = await self._post(session, job)
        tries = job.webhook_tries + 1
        state, again = WebhookState.DELIVERED, 0.0
        if problem is not None:
            pause = min(self._first_pause * _GROWTH ** (tries - 1), _LONGEST_PAUSE)
            state = WebhookState.DUE if tries < _TRIES else WebhookState.FAILED
            again = time.time() + pause
        event("webhook", job=job.id, state=state.value, tries=tries, reason=problem)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: self._store.told(job, state, again_at=again))

    async def _post(self, session: aiohttp.ClientSession, job: Job) -> str | None:
        """Tell one client; what went wrong, if something did."""
        url = job.request.webhook or ""
        body = orjson.dumps(_message(job))
        try:
            self.rules.check(url)
            async with session.post(
                url, data=body, headers=self._headers(body), allow_redirects=False
            ) as answer:
                return None if 200 <= answer.status < 300 else f"it answers {answer.status}"
        except UsageError as error:
            return error.message
        except Exception as error:  # noqa: BLE001 - what addresses of clients do to libraries
            return type(error).__name__

    def _headers(self, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "moonpress"}
        if self._secret is not None:
            at = str(int(time.time()))
            signed = hmac.new(self._secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
            headers["X-Moonpress-Timestamp"] = at
            headers["X-Moonpress-Signature"] = f"sha256={signed.hexdigest()}"
        return headers


def _message(job: Job) -> dict[str, Any]:
    """What a client is told: how the job ended, and nothing of the document's text."""
    return {
        "object": "job",
        "id": job.id,
        "state": job.state.value,
        "pages": {"selected": job.selected, "read": job.read, "failed": job.failed},
        "error": None if job.code is None else {"code": job.code, "message": job.message},
        "url": f"/v1/jobs/{job.id}",
        "result_url": f"/v1/jobs/{job.id}/result" if job.state is JobState.DONE else None,
    }
