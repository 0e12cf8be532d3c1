"""Jobs of a real service: read in their own time, kept over its death, cancelled."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.batch.command import labelled_pdf, wait_for
from tests.serving.jobs.office import Client, Office, texts_of


def test_a_document_is_read_in_its_own_time(office: Office) -> None:
    with Client(office.open()) as client:
        name = client.add("paper", 5, output_format="markdown", pages="1-4")
        done = client.until(name, "done")
        assert done["pages"] == {"selected": 4, "read": 4, "failed": 0}
        assert done["name"] == "paper.pdf"
        assert done["error"] is None
        assert done["created"] <= done["started"] <= done["ended"]
        whole = client.get(f"/{name}/result")
        assert whole["status"] == "ok"
        assert [text for text in texts_of("paper", 4) if text in whole["content"]] == texts_of(
            "paper", 4
        )
        as_json = client.get(f"/{name}/result", output_format="json")["content"]
        assert [page["number"] for page in as_json["pages"]] == [1, 2, 3, 4]
        rows = client.get(f"/{name}/pages")
        assert sorted(row["number"] for row in rows["data"]) == [1, 2, 3, 4]
        assert rows["next"] == 4
        assert client.get(f"/{name}/pages", after=4)["data"] == []
        assert [one["id"] for one in client.get("")["data"]] == [name]
    assert office.took() == Counter(texts_of("paper", 4))


def test_pages_come_while_it_runs_and_events_tell(office: Office) -> None:
    with Client(office.open()) as client:
        office.hold.write_text("slow page 3")
        name = client.add("slow", 4)
        wait_for(lambda: client.get(f"/{name}")["pages"]["read"] == 3)
        assert client.get(f"/{name}")["state"] == "running"
        assert client.status("GET", f"/{name}/result") == 409
        assert sorted(r["number"] for r in client.get(f"/{name}/pages")["data"]) == [1, 2, 4]

        found: list[tuple[str, dict[str, Any]]] = []
        following = threading.Thread(target=lambda: found.extend(client.events(name)))
        following.start()
        office.hold.unlink()
        following.join(60)

        kinds = [kind for kind, _ in found]
        assert kinds == ["job", "page", "page", "page", "page", "job"]
        assert found[0][1]["state"] == "running"
        assert found[-1][1]["state"] == "done"
        assert sorted(body["number"] for kind, body in found if kind == "page") == [1, 2, 3, 4]
        # A stream that is taken up again leaves out what was told.
        assert [kind for kind, _ in client.events(name, "3")] == ["job", "page", "job"]


def test_a_cancelled_job_frees_the_engine_at_once(office: Office) -> None:
    with Client(office.open()) as client:
        office.hold.write_text("long page")
        name = client.add("long", 40)
        wait_for(lambda: len(office.took()) == 2)
        assert client.status("DELETE", f"/{name}") == 200
        began = time.monotonic()
        other = client.add("other", 1)
        client.until(other, "done")
        # A second for the engine to be free, and some for a busy machine.
        assert time.monotonic() - began < 15
        assert client.get(f"/{name}")["state"] == "cancelled"
        assert office.took().total() <= 3
        assert client.status("DELETE", f"/{name}") == 200
        assert client.status("GET", f"/{name}") == 404
        assert not (office.folder / "jobs" / name).exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_a_job_outlives_its_service(office: Office, number: int) -> None:
    office.hold.write_text("page 7")
    with Client(office.open()) as client:
        first, second = client.add("first", 8), client.add("second", 2)
        wait_for(lambda: client.get(f"/{first}")["pages"]["read"] == 7)
    assert office.served is not None
    if number == signal.SIGTERM:
        # What is in flight is finished, as long as that does not take for ever.
        threading.Timer(0.5, office.hold.unlink).start()
        assert office.served.stop(number) == 0
    else:
        office.served.stop(number)
        office.hold.unlink()

    with Client(office.open()) as client:
        assert client.until(first, "done")["pages"] == {"selected": 8, "read": 8, "failed": 0}
        content = client.get(f"/{first}/result", output_format="text")["content"]
        assert [text for text in texts_of("first", 8) if text in content] == texts_of("first", 8)
        client.until(second, "done")
    took = office.took()
    wanted = Counter(texts_of("first", 8) + texts_of("second", 2))
    assert set(took) == set(wanted)
    # Not more than what was in flight: two pages each of the two jobs at work.
    assert took.total() - wanted.total() <= (4 if number == signal.SIGKILL else 0)


def test_a_job_waits_for_an_engine_that_is_away(office: Office) -> None:
    with Client(office.open()) as client:
        office.down.touch()
        wait_for(lambda: httpx.get(f"{client.served.url}/ready").status_code == 503)
        name = client.add("patient", 2)
        time.sleep(0.5)
        assert client.get(f"/{name}")["state"] == "queued"
        office.down.unlink()
        assert client.until(name, "done")["pages"]["failed"] == 0


def test_what_cannot_be_read_has_failed_with_its_reason(office: Office) -> None:
    with Client(office.open()) as client:
        files = {"file": ("broken.pdf", b"%PDF-1.7 and no more", "application/pdf")}
        name = httpx.post(f"{client.served.url}/v1/jobs", files=files).json()["id"]
        failed = client.until(name, "failed")
        assert failed["error"]["code"] == "input-corrupt"
        assert "broken.pdf" in failed["error"]["message"]
        assert client.status("GET", f"/{name}/result") == 409
        name = client.add("few", 2, pages="7")
        assert client.until(name, "failed")["error"]["code"] == "page-range"


def test_jobs_belong_to_the_key_that_brought_them(office: Office, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("one-secret one\ntwo-secret two\n")
    served = office.open("--keys-file", str(keys))
    with Client(served, "one-secret") as one, Client(served, "two-secret") as two:
        name = one.add("mine", 1)
        one.until(name, "done")
        paths = ("", "/pages", "/result", "/events")
        assert [two.status("GET", f"/{name}{path}") for path in paths] == [404] * 4
        assert two.status("DELETE", f"/{name}") == 404
        assert two.get("")["data"] == []
        assert httpx.get(f"{served.url}/v1/jobs").status_code == 401


def test_too_many_jobs_are_sent_away_until_some_are_read(office: Office) -> None:
    with Client(office.open("--max-jobs", "2")) as client:
        office.hold.write_text("page 1")
        names = [client.add(f"job{number}", 1) for number in range(2)]
        wait_for(lambda: len(office.took()) == 2)
        names += [client.add(f"more{number}", 1) for number in range(2)]
        refused = client.post("late", 1)
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0
        office.hold.unlink()
        for name in names:
            client.until(name, "done")
        client.add("late", 1)


def test_jobs_expire(office: Office) -> None:
    with Client(office.open("--keep-jobs", "0.0003")) as client:
        name = client.add("short", 1)
        wait_for(lambda: client.status("GET", f"/{name}") == 404)
    assert not (office.folder / "jobs" / name).exists()


def test_a_second_service_on_the_same_jobs_is_refused(office: Office) -> None:
    office.open()
    with pytest.raises(pytest.fail.Exception, match="another service writes to it"):
        office.start("--jobs-dir", str(office.folder / "jobs"))


def test_a_request_is_answered_while_a_long_job_runs(office: Office) -> None:
    with Client(office.open("--workers", "4")) as client:
        office.hold.write_text("endless page")
        client.add("endless", 30)
        wait_for(lambda: len(office.took()) == 3)
        files = {"file": ("quick.pdf", labelled_pdf("quick", 1), "application/pdf")}
        answer = httpx.post(f"{client.served.url}/v1/ocr", files=files, timeout=60)
        assert answer.status_code == 200
        assert "quick page 1" in answer.json()["content"]
        # Of four places jobs leave one.
        assert len([text for text in office.took() if "endless" in text]) == 3
