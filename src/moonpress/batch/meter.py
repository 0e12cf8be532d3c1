"""What a run does and how long it takes: counters for progress, shares for the report.

Owns counting. Never prints and never decides. All memory is bounded, whatever the number of pages.
"""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from moonpress.batch.entry import Entry
from moonpress.batch.machine import CoreTime, core_time
from moonpress.document import Page, PageStatus
from moonpress.telemetry import event

_SLOWEST = 20
_POINTS = 600
_REPLACED_KEPT = 1000


@dataclass(slots=True)
class Busy:
    """How long tasks of one kind were at work, added up over all of them.

    Attributes:
        tasks: How many there are.
        seconds: Of work.
        times: How often.
    """

    tasks: int = 1
    seconds: float = 0.0
    times: int = 0

    def add(self, seconds: float) -> None:
        """Count a piece of work."""
        self.seconds += seconds
        self.times += 1

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the time of a ``with`` block."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(time.perf_counter() - began)


@dataclass(slots=True)
class Meter:
    """Counters of one run.

    Attributes:
        documents: Met so far, done earlier or not.
        kept: Of these, done or failed in an earlier run, and not tried again.
        kept_failed: Of these, failed.
        done: Stored by this run.
        failed: Failed as a whole in this run.
        problems: Among the inputs, that could not even become a document.
        replaced: Names by id of other documents that had these ids in earlier runs; a thousand.
        selected: Pages of the documents opened so far.
        to_read: Of these, not kept from an earlier run.
        pages: Came out in this run.
        by_status: Of these, by how they ended.
        output_tokens: Of these.
        prompt_tokens: Of these.
        opening: Fetching and opening documents.
        drawing: Drawing pages, and encoding them where the engine wants that.
        encoding: Of that, encoding.
        offering: Waiting with a drawn page until a reader takes it.
        reading: In the engine.
        sending: Of that, on the way to a server.
        fetching: Of opening, for documents that are not files of this machine.
        writing: Assembling and storing documents.
        in_flight: Pages in the engine now.
        total: Documents that there are, once they have been counted.
        curve: Seconds since the beginning and pages out by then, at most 600 points.
    """

    began: float = field(default_factory=time.perf_counter)
    cores_at_start: CoreTime | None = field(default_factory=core_time)
    documents: int = 0
    kept: int = 0
    kept_failed: int = 0
    done: int = 0
    failed: int = 0
    problems: int = 0
    replaced: dict[str, str] = field(default_factory=dict)
    selected: int = 0
    to_read: int = 0
    pages: int = 0
    by_status: dict[PageStatus, int] = field(default_factory=dict)
    output_tokens: int = 0
    prompt_tokens: int = 0
    opening: Busy = field(default_factory=Busy)
    drawing: Busy = field(default_factory=Busy)
    encoding: Busy = field(default_factory=Busy)
    offering: Busy = field(default_factory=Busy)
    reading: Busy = field(default_factory=Busy)
    sending: Busy = field(default_factory=Busy)
    fetching: Busy = field(default_factory=Busy)
    writing: Busy = field(default_factory=Busy)
    in_flight: int = 0
    total: int | None = None
    curve: list[tuple[float, int]] = field(default_factory=list)
    _step: float = 1.0
    _slowest: list[tuple[float, int, Entry]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Wall seconds since the run began."""
        return time.perf_counter() - self.began

    @property
    def cores_busy(self) -> float | None:
        """How busy the machine's cores have been since the run began, 0 to 1, where it tells."""
        now = core_time()
        if self.cores_at_start is None or now is None:
            return None
        return self.cores_at_start.share_until(now)

    def staff(self, places: int, readers: int) -> None:
        """So many tasks open and draw documents, and so many read pages."""
        for busy in (self.opening, self.fetching, self.drawing, self.encoding, self.offering):
            busy.tasks = places
        self.reading.tasks = self.sending.tasks = readers

    def note_replaced(self, names: Mapping[str, str]) -> None:
        """Documents take the place of others that an earlier run stored under the same ids."""
        for item_id, name in names.items():
            event("document_replaced", level=logging.WARNING, document=item_id, before=name)
            if len(self.replaced) < _REPLACED_KEPT:
                self.replaced[item_id] = name

    def page_out(self, page: Page) -> None:
        """A page came out."""
        self.pages += 1
        self.by_status[page.status] = self.by_status.get(page.status, 0) + 1
        self.output_tokens += page.usage.output_tokens or 0
        self.prompt_tokens += page.usage.prompt_tokens or 0
        if page.usage.sending_seconds is not None:
            self.sending.add(page.usage.sending_seconds)
        self._extend_curve()

    def document_out(self, entry: Entry) -> None:
        """The sink has taken a document."""
        self.done += 1
        item = (entry.seconds, entry.key, entry)
        if len(self._slowest) < _SLOWEST:
            heapq.heappush(self._slowest, item)
        else:
            heapq.heappushpop(self._slowest, item)

    @property
    def slowest(self) -> list[Entry]:
        """The documents that took the engine longest, longest first."""
        return [entry for _, _, entry in sorted(self._slowest, reverse=True)]

    def _extend_curve(self) -> None:
        """Note when so many pages were out; every other point goes when there are too many."""
        now = self.seconds
        if self.curve and now - self.curve[-1][0] < self._step:
            return
        self.curve.append((now, self.pages))
        if len(self.curve) > _POINTS:
            self.curve = self.curve[::2]
            self._step *= 2
