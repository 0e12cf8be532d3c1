"""Tests of `moonpress.batch.run`: what goes in comes out once, and only what is missing is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from moonpress.batch import ledger_view
from moonpress.batch.entry import Entry, State
from moonpress.batch.meter import Meter
from moonpress.batch.stop import Stop
from moonpress.document import PageImage, PageReading, PageStatus, RenderOptions
from moonpress.engines.fake import FakeEngine
from moonpress.errors import EngineRejected, EngineUnavailable
from moonpress.sources.inputs.item import InputItem
from tests.batch.runs import counted, item_of, make_documents, request_for, run

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _entries(out: Path) -> dict[str, Entry]:
    ledger = ledger_view.find_ledger(out)
    return {entry.item.id: entry for entry in ledger_view.entries(ledger)}


def _pages(out: Path, item_id: str) -> list[dict[str, object]]:
    document = json.loads((out / item_id / f"{Path(item_id).stem}.json").read_text())
    pages: list[dict[str, object]] = document["pages"]
    return pages


async def test_every_page_of_every_document_comes_out_once(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 3, 2, 7, 1])
    out, meter, engine = tmp_path / "out", Meter(), FakeEngine(capacity=3, delay=0.01)
    await run(request_for(out), items, engine, meter=meter)
    numbers = {i.id: [page["number"] for page in _pages(out, i.id)] for i in items}
    assert numbers == {
        "00.pdf": [1],
        "01.pdf": [1, 2, 3],
        "02.pdf": [1, 2],
        "03.pdf": [1, 2, 3, 4, 5, 6, 7],
        "04.pdf": [1],
    }
    assert "Page 7" in (out / "03.pdf" / "03.md").read_text()
    assert engine.most_in_flight == 3
    assert meter.pages == 14
    assert meter.done == 5
    assert {entry.state for entry in _entries(out).values()} == {State.DONE}


async def test_a_second_run_reads_nothing(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [2, 2])
    out, meter = tmp_path / "out", Meter()
    await run(request_for(out), items)
    before = (out / "00.pdf" / "00.md").stat()
    await run(request_for(out), items, FakeEngine(failures=_all_fail()), meter=meter)
    assert meter.pages == 0
    assert meter.kept == 2
    assert (out / "00.pdf" / "00.md").stat() == before


def _all_fail() -> dict[int, Exception]:
    return {number: AssertionError("a page was read again") for number in range(1, 100)}


async def test_a_changed_file_is_read_again_and_the_others_are_not(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 1])
    out, meter = tmp_path / "out", Meter()
    await run(request_for(out), items)
    changed = make_documents(tmp_path / "in", [2])
    await run(request_for(out), [*changed, items[1]], meter=meter)
    assert meter.pages == 2
    assert len(_pages(out, "00.pdf")) == 2


async def test_changed_options_read_all_that_they_concern(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [2, 2])
    items[1] = replace(items[1], pages="2")
    out, meter = tmp_path / "out", Meter()
    await run(request_for(out), items)
    await run(request_for(out, options=RenderOptions(page_anchors=True)), items, meter=meter)
    assert meter.pages == 3
    assert [page["number"] for page in _pages(out, "01.pdf")] == [2]


async def test_a_page_that_fails_is_told_and_the_document_goes_on(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [3])
    out = tmp_path / "out"
    engine = FakeEngine(failures={2: EngineRejected("too hard to read")})
    await run(request_for(out), items, engine)
    statuses = [page["status"] for page in _pages(out, "00.pdf")]
    assert statuses == [PageStatus.OK, PageStatus.FAILED, PageStatus.OK]
    entry = _entries(out)["00.pdf"]
    assert (entry.state, entry.selected, entry.failed) == (State.DONE, 3, 1)


async def test_an_engine_with_a_bug_costs_its_page(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [2])
    out = tmp_path / "out"
    await run(request_for(out), items, FakeEngine(failures={1: ZeroDivisionError("oops")}))
    assert [p["status"] for p in _pages(out, "00.pdf")] == [PageStatus.FAILED, PageStatus.OK]


async def test_a_document_that_cannot_be_opened_fails_alone(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 1])
    (tmp_path / "in" / "00.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    items[0] = item_of(tmp_path / "in" / "00.pdf")
    gone = replace(items[1], id="gone.pdf", uri=str(tmp_path / "in" / "gone.pdf"))
    out, meter = tmp_path / "out", Meter()
    await run(request_for(out), [*items, gone], meter=meter)
    entries = _entries(out)
    assert (entries["00.pdf"].state, entries["00.pdf"].code) == (State.FAILED, "input-corrupt")
    assert (entries["gone.pdf"].state, entries["gone.pdf"].code) == (State.FAILED, "input-missing")
    assert entries["01.pdf"].state is State.DONE
    assert meter.failed == 2


async def test_a_selection_leaves_out_pages_that_a_document_lacks(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 4])
    out = tmp_path / "out"
    await run(request_for(out, pages="1-2,-1"), items)
    assert [page["number"] for page in _pages(out, "00.pdf")] == [1]
    assert [page["number"] for page in _pages(out, "01.pdf")] == [1, 2, 4]


async def test_a_selection_that_names_no_page_of_a_document_fails_it(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 4])
    out = tmp_path / "out"
    await run(request_for(out, pages="3"), items)
    entries = _entries(out)
    assert (entries["00.pdf"].state, entries["00.pdf"].code) == (State.FAILED, "page-range")
    assert entries["01.pdf"].state is State.DONE


async def test_a_limit_takes_the_first_documents_and_asks_for_no_more(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1] * 5)
    out, seen = tmp_path / "out", list[str]()
    await run(request_for(out, limit=2), counted(items, seen))
    assert sorted(_entries(out)) == seen == ["00.pdf", "01.pdf"]


async def test_a_stop_finishes_what_is_in_flight_and_the_next_run_reads_the_rest(
    tmp_path: Path,
) -> None:
    items = make_documents(tmp_path / "in", [3] * 6)
    out, stop, first, second = tmp_path / "out", Stop(), Meter(), Meter()
    reads = 0

    def stop_after_seven() -> None:
        nonlocal reads
        reads += 1
        if reads == 7:
            stop.request()

    engine = FakeEngine(capacity=2, delay=0.01, on_read=stop_after_seven)
    await run(request_for(out), items, engine, meter=first, stop=stop)
    assert 7 <= first.pages < 18
    await run(request_for(out), items, meter=second)
    assert first.pages + second.pages == 18
    assert all(len(_pages(out, item.id)) == 3 for item in items)


class _Outage(FakeEngine):
    """Refuses all pages for a while, then comes back."""

    refusals: int = 0
    down_until: float = 0.0

    async def prepare(self) -> None:
        if anyio.current_time() < self.down_until:
            raise EngineUnavailable("nobody answers")

    async def read(self, image: PageImage) -> PageReading:
        if self.refusals == 0:
            self.down_until = anyio.current_time() + 1.2
        if anyio.current_time() < self.down_until:
            self.refusals += 1
            raise EngineUnavailable("nobody answers")
        return await super().read(image)


async def test_all_replicas_die_and_come_back(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [2, 2])
    out, engine = tmp_path / "out", _Outage(capacity=2)
    await run(request_for(out), items, engine)
    assert engine.refusals >= 1
    assert all(page["status"] == "ok" for item in items for page in _pages(out, item.id))


async def test_an_engine_that_stays_away_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [2, 2])
    out, meter = tmp_path / "out", Meter()

    class _DiesAfterThree(FakeEngine):
        read_pages = 0

        async def prepare(self) -> None:
            if self.read_pages >= 3:
                raise EngineUnavailable("nobody answers")

        async def read(self, image: PageImage) -> PageReading:
            if self.read_pages >= 3:
                raise EngineUnavailable("nobody answers")
            self.read_pages += 1
            return await super().read(image)

    with pytest.raises(EngineUnavailable, match=r"waited 0\.6 s"):
        await run(request_for(out, patience=0.6), items, _DiesAfterThree(capacity=1))
    await run(request_for(out), items, meter=meter)
    assert meter.pages == 1
    assert all(page["status"] == "ok" for item in items for page in _pages(out, item.id))


async def test_a_page_that_the_engine_never_takes_fails_and_is_tried_in_the_next_run(
    tmp_path: Path,
) -> None:
    items = make_documents(tmp_path / "in", [2])
    out, meter = tmp_path / "out", Meter()
    engine = FakeEngine(failures={1: EngineUnavailable("it dies of this page")})
    await run(request_for(out), items, engine)
    assert [page["status"] for page in _pages(out, "00.pdf")] == ["failed", "ok"]
    await run(request_for(out), items, meter=meter)
    assert meter.pages == 1
    assert [page["status"] for page in _pages(out, "00.pdf")] == ["ok", "ok"]


async def test_figures_that_a_killed_run_left_are_removed(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 2])
    out = tmp_path / "out"
    engine = FakeEngine(failures={2: EngineRejected("too hard to read")})
    await run(request_for(out), items, engine)
    keys = {item_id: entry.key for item_id, entry in _entries(out).items()}
    stored, kept = (out / ".moonpress" / "crops" / str(keys[i.id]) for i in items)
    stored.mkdir()
    (stored / "p1-b1.png").touch()
    assert kept.is_dir()
    await run(request_for(out), items)
    assert not stored.exists()
    assert kept.is_dir()


async def test_same_names_in_different_places_do_not_collide(tmp_path: Path) -> None:
    first = make_documents(tmp_path / "a", [1])[0]
    second = make_documents(tmp_path / "b", [2])[0]
    out = tmp_path / "out"
    items: list[InputItem] = [replace(first, id="a/00.pdf"), replace(second, id="b/00.pdf")]
    await run(request_for(out), items)
    assert len(_pages(out, "a/00.pdf")) == 1
    assert len(_pages(out, "b/00.pdf")) == 2
