"""``chandra-batch`` as a user meets it: what it reads, writes, says, and its exit codes."""

from __future__ import annotations

import json
import threading
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from tests.batch.command import Batch, labelled_pdf, make_inputs


def _picture(path: Path, size: tuple[int, int] = (120, 80)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "white").save(path)


def test_a_folder_of_pdfs_and_pictures_is_read(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"one.pdf": 3, "sub/two.pdf": 2})
    _picture(batch.inputs / "photo.png")
    _picture(batch.inputs / "sub" / "scan.jpg")

    result = batch.read()

    assert result.code == 0, result.err
    assert result.out == b""
    assert {row["status"] for row in batch.manifest().values()} == {"ok"}
    assert set(batch.manifest()) == {"one.pdf", "sub/two.pdf", "photo.png", "sub/scan.jpg"}
    for item_id in batch.manifest():
        suffixes = {path.suffix for path in (batch.out / item_id).iterdir()}
        assert suffixes == {".md", ".html", ".json", ".txt"}
    assert batch.texts() >= texts
    assert "one.pdf page 3" in (batch.out / "one.pdf" / "one.md").read_text()
    last = result.err.splitlines()[-1]
    assert last == "Wrote out; report: out/report.html"
    assert batch.strays() == []


def test_same_names_in_two_folders_do_not_collide(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"a/x.pdf": 1, "b/x.pdf": 2, "x.pdf": 3})
    (batch.folder / "more" / "in").mkdir(parents=True)
    texts += make_inputs(batch.folder / "more" / "in", {"y.pdf": 2})
    assert batch("in", "more/in", "-o", "out").code == 0
    assert batch.texts() == texts
    assert len(batch.manifest()) == 4


def test_report_and_manifest_tell_the_truth(batch: Batch) -> None:
    make_inputs(batch.inputs, {"good.pdf": 3, "refused.pdf": 2})
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")

    result = batch.read("--price-per-hour", "2.5", SCRIPT_REFUSE="refused.pdf page 2")

    assert result.code == 3, result.err
    report, manifest = batch.report(), batch.manifest()
    documents = report["documents"]
    assert documents["met"] == documents["done"] + documents["failed"] == 3
    assert documents["failed"] == 1
    assert report["pages"]["read_now"] == report["pages"]["selected"] == 5
    assert report["pages"]["by_status"] == {"ok": 4, "failed": 1}
    assert report["ended"] == "complete"
    assert report["engine"] == "scripted-batch"
    assert report["cost"]["per_1000_pages"] > 0
    assert report["curve"][-1][1] == 5
    assert [one["id"] for one in report["failed_documents"]] == ["broken.pdf"]
    assert [(one["id"], one["page"]) for one in report["failed_pages"]] == [("refused.pdf", 2)]
    statuses = {item_id: row["status"] for item_id, row in manifest.items()}
    assert statuses == {"broken.pdf": "failed", "good.pdf": "ok", "refused.pdf": "partial"}
    assert manifest["broken.pdf"]["error"]["code"] == "input-corrupt"
    assert manifest["refused.pdf"]["pages_failed"] == 1
    assert all((batch.out / r["output"]).is_dir() for r in manifest.values() if r["output"])
    page = (batch.out / "report.html").read_text()
    assert "broken.pdf" in page
    assert "refused.pdf" in page
    lines = result.err.splitlines()
    assert lines[0].startswith("error: broken.pdf: the PDF is damaged")
    assert lines[0].endswith("[input-corrupt]")
    assert lines[1].startswith("error: refused.pdf, page 2: as the script says")
    assert not any(line.startswith("error") for line in lines[2:])


def test_nothing_readable_is_exit_code_4(batch: Batch) -> None:
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    result = batch.read()
    assert result.code == 4
    assert batch.manifest()["broken.pdf"]["status"] == "failed"
    assert result.err.splitlines()[-1] == "Report: out/report.html"


def test_names_of_nothing_leave_nothing_behind(batch: Batch) -> None:
    result = batch("gone.pdf", "nowhere", "*.tiff", "-o", "out")
    assert result.code == 4
    lines = result.err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("error: ") and line.endswith("]") for line in lines)
    assert not batch.out.exists()


def test_one_name_among_others_that_is_nothing_is_told(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    result = batch("in", "gone.pdf", "-o", "out")
    assert result.code == 3
    assert "error: gone.pdf: no such file" in result.err
    assert set(batch.manifest()) == {"in/one.pdf"}


def test_an_engine_that_is_not_there_is_exit_code_5(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    result = batch.read(SCRIPT_ABSENT="1")
    assert result.code == 5
    assert result.line == "error: in: nobody answers. Start it [engine-unavailable]"


_USAGE = {
    "no such shard": (("in", "-o", "out", "--shard", "3/2"), 2, "--shard '3/2' is no part"),
    "no shard": (("in", "-o", "out", "--shard", "half"), 2, "--shard 'half' is no part"),
    "unknown format": (("in", "-o", "out", "-f", "docx"), 2, "docx"),
    "unknown sink": (("in", "-o", "out", "--sink", "tape"), 2, "tape"),
    "unknown engine": (("in", "-o", "out", "--engine", "tesla"), 2, "tesla"),
    "bad selection": (("in", "-o", "out", "--pages", "x-y"), 2, "x-y"),
    "two selections": (("in", "-o", "out", "--pages", "1", "--page-range", "1"), 2, "--page-range"),
    "no limit": (("in", "-o", "out", "--limit", "0"), 2, "--limit"),
    "no input": ((), 2, "INPUT"),
    "unknown option": (("in", "--colour"), 2, "--colour"),
    "missing input": (("nowhere", "-o", "out"), 4, "nowhere: "),
    "empty folder": (("in", "-o", "out"), 4, "in: the folder holds no documents"),
    "pattern": (("in/*.pdf", "-o", "out"), 4, "nothing matches the pattern"),
    "empty archive": (("none.zip", "-o", "out"), 4, "none.zip: "),
    "output is a file": (("in", "-o", "note.txt"), 2, "note.txt"),
    "no run": (("status", "in"), 4, "in: there is no ledger of a run here"),
    "nothing to retry": (("retry", "in"), 4, "in: there is no ledger of a run here"),
    "status without run": (("status",), 2, "RUN"),
}


@pytest.mark.parametrize("case", _USAGE)
def test_bad_input_is_one_line(batch: Batch, case: str) -> None:
    arguments, code, said = _USAGE[case]
    (batch.folder / "note.txt").write_text("a note\n")
    (batch.folder / "none.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    result = batch(*arguments)
    assert result.code == code, result.err
    assert said in result.line
    assert result.line.startswith("error: ")


def test_an_output_folder_inside_the_input_is_not_read(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"one.pdf": 1})
    for _ in range(2):
        assert batch("in", "-o", "in/read", "-f", "markdown", "-f", "json").code == 0
        _picture(batch.inputs / "read" / "picture.png")
    rows = (batch.inputs / "read" / "manifest.jsonl").read_text().splitlines()
    assert [json.loads(row)["id"] for row in rows] == ["one.pdf"]
    assert batch.reads().took == texts


def test_the_default_output_is_told(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    result = batch("in")
    assert result.code == 0
    assert result.err.splitlines()[-1] == "Wrote in-read; report: in-read/report.html"
    assert (batch.folder / "in-read" / "one.pdf" / "one.md").is_file()


def test_another_file_under_the_same_id_is_told(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a/x.pdf": 1, "b/x.pdf": 2})
    assert batch("in/a/x.pdf", "-o", "out").code == 0
    result = batch("in/b/x.pdf", "-o", "out")
    assert result.code == 0
    line = result.err.splitlines()[0]
    assert line.startswith("warning: 1 document took the place of others that had the same ids")
    assert line.endswith("such as x.pdf, before in/a/x.pdf")
    assert batch.report()["replaced"] == [{"id": "x.pdf", "before": "in/a/x.pdf"}]
    (batch.inputs / "b" / "x.pdf").write_bytes(labelled_pdf("changed", 1))
    assert "warning" not in batch("in/b/x.pdf", "-o", "out").err


def test_limit_takes_the_first_documents(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a.pdf": 1, "b.pdf": 1, "c.pdf": 1})
    assert batch.read("--limit", "2").code == 0
    assert set(batch.manifest()) == {"a.pdf", "b.pdf"}
    assert batch.read().code == 0
    assert set(batch.manifest()) == {"a.pdf", "b.pdf", "c.pdf"}
    assert max(batch.reads().took.values()) == 1


@pytest.mark.parametrize("option", ["--pages", "--page-range"])
def test_pages_are_selected_in_each_document(batch: Batch, option: str) -> None:
    make_inputs(batch.inputs, {"long.pdf": 9, "short.pdf": 2})
    assert batch.read(option, "2,8-").code == 0
    assert [page["number"] for page in batch.pages("long.pdf")] == [2, 8, 9]
    assert [page["number"] for page in batch.pages("short.pdf")] == [2]


def test_shards_cover_every_document_once(batch: Batch) -> None:
    names = {f"{folder}/{index}.pdf": 1 for folder in "ab" for index in range(8)}
    texts = make_inputs(batch.inputs, names)
    for part in ("1/2", "2/2"):
        assert batch.read("--shard", part).code == 0
    assert batch.reads().took == texts
    assert batch.texts() == texts
    parts = [
        {json.loads(row)["id"] for row in path.read_text().splitlines()}
        for path in batch.out.rglob("manifest.jsonl")
    ]
    assert len(parts) == 2
    assert all(parts)
    assert Counter(item for part in parts for item in part) == Counter(names.keys())


def test_a_dry_run_counts_and_writes_nothing(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 3, "two.pdf": 20})
    before = sorted(batch.folder.rglob("*"))
    result = batch.read("--dry-run", "--pages", "1-5", "--price-per-hour", "3", "--workers", "2")
    assert result.code == 0
    assert result.err == ""
    lines = result.out.decode().splitlines()
    assert lines[0] == "2 documents, 8 pages"
    assert lines[1].startswith("About 4 s at ")
    assert lines[2].startswith("About 0.00 at 3 an hour")
    assert sorted(batch.folder.rglob("*")) == before
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    assert batch.read("--dry-run").code == 3


def test_status_of_a_run(batch: Batch) -> None:
    make_inputs(batch.inputs, {"good.pdf": 3, "refused.pdf": 2})
    assert batch.read().code == 0
    result = batch("status", "out")
    assert (result.code, result.err) == (0, "")
    assert result.out.decode().splitlines()[0] == "Run 1: 2 documents: 2 done"
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (batch.inputs / "refused.pdf").write_bytes(labelled_pdf("refused again", 3))
    assert batch.read(SCRIPT_REFUSE="refused again page 1").code == 3

    facts = batch.status()
    assert facts["run"] == 2
    assert facts["documents"]["done"] == 2
    assert facts["documents"]["failed"] == 1
    assert facts["pages"] == {"selected": 6, "failed": 1, "partial": 0}
    result = batch("status", "out", "--failed")
    assert result.code == 3
    lines = result.out.decode().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("broken.pdf: ")
    assert lines[1].startswith("refused.pdf: ")


def test_retry_reads_what_failed_and_nothing_else(batch: Batch) -> None:
    make_inputs(batch.inputs, {"good.pdf": 2, "half.pdf": 3})
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    assert batch.read(SCRIPT_REFUSE="half.pdf page 2").code == 3
    assert [page["status"] for page in batch.pages("half.pdf")] == ["ok", "failed", "ok"]
    # Without being asked, nothing that failed for good is tried again.
    assert batch.read().code == 3
    assert batch.reads().took["half.pdf page 2"] == 1

    result = batch("retry", "out")
    assert result.code == 0
    assert result.line.startswith("2 documents will be tried again")
    assert batch.read().code == 3
    assert [page["status"] for page in batch.pages("half.pdf")] == ["ok", "ok", "ok"]
    took = batch.reads().took
    assert took["half.pdf page 2"] == 2
    assert took["half.pdf page 1"] == took["good.pdf page 1"] == 1
    assert batch.manifest()["half.pdf"]["status"] == "ok"


def test_a_second_run_without_naming_the_engine_goes_on_with_the_first(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    assert batch.read().code == 0
    make_inputs(batch.inputs, {"two.pdf": 1})
    assert batch.read(MOONPRESS_ENGINE="auto").code == 0
    assert batch.reads().took == Counter({"one.pdf page 1": 1, "two.pdf page 1": 1})


def test_quiet_says_only_what_went_wrong(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 2})
    assert batch.read("--quiet").err == ""
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    result = batch.read("--quiet")
    assert result.code == 3
    assert result.line.startswith("error: broken.pdf: ")


def test_json_logs_are_json_and_count_pages(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 2})
    (batch.inputs / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    result = batch.read("--json-logs")
    events = [json.loads(line) for line in result.err.splitlines()]
    names = Counter(event["event"] for event in events)
    assert names["page_done"] == 2
    assert names["document_failed"] == 1
    assert names["run_ended"] == 1


def test_odd_names_are_read_and_shown_on_one_line(batch: Batch) -> None:
    names = ["new\nline.pdf", "ünï cødé.pdf", " blank .pdf", "-dash.pdf", "\x1b[2J.pdf"]
    make_inputs(batch.inputs, {})
    for name in names:
        (batch.inputs / name).write_bytes(labelled_pdf("odd", 1))
    (batch.inputs / "bro\nken.pdf").write_bytes(b"%PDF-1.7 and no more")
    result = batch.read()
    assert result.code == 3
    assert "\x1b" not in result.err
    assert sum(line.startswith("error: bro") for line in result.err.splitlines()) == 1
    assert batch.report()["documents"]["done"] == len(names)


def test_files_that_are_no_documents_are_passed_over_and_counted(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    (batch.inputs / "README.txt").write_text("no document")
    (batch.inputs / "data.csv").write_text("1,2")
    result = batch.read()
    assert result.code == 0, result.err
    assert "Passed over 2 files" in result.err
    assert batch.report()["documents"]["passed_over"] == 2


def test_arxiv_papers_come_from_a_template_address(batch: Batch) -> None:
    site = batch.folder / "mirror"
    site.mkdir()
    (site / "2401.01234v2.pdf").write_bytes(labelled_pdf("paper", 2))
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{{id}}.pdf"
        result = batch("arxiv:2401.01234v2", "-o", "out", "--arxiv-url", address)
        server.shutdown()
    assert result.code == 0, result.err
    (row,) = batch.manifest().values()
    assert (row["status"], row["pages"]) == ("ok", 2)


def test_an_arxiv_address_without_a_place_for_the_id_is_refused(batch: Batch) -> None:
    result = batch("arxiv:2401.01234", "-o", "out", "--arxiv-url", "http://example.org/")
    assert result.code == 2
    assert "{id}" in result.line
