"""Tests of ``chandra-bench accuracy``: real documents, the real embedded engine, known truths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from moonpress.bench.accuracy import Pair, Reading, find_pairs, score
from moonpress.errors import InputUnreadable, UsageError
from tests.batch.command import labelled_pdf

_COMMAND = Path(sys.executable).with_name("chandra-bench")
_TABLE = "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>"


def _bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_COMMAND, "accuracy", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def _reading(markdown: str) -> Reading:
    return Reading(markdown, 1, 0, 0.1, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One document that is read as its truth says, and one whose truth says something else."""
    made = tmp_path / "truths"
    (made / "sub").mkdir(parents=True)
    (made / "right.pdf").write_bytes(labelled_pdf("The quick brown fox", 1))
    (made / "right.md").write_text("The quick brown fox page 1\n")
    (made / "sub" / "wrong.pdf").write_bytes(labelled_pdf("The quick brown fox", 1))
    (made / "sub" / "wrong.txt").write_text("The quick brown cat page 1\n")
    (made / "alone.pdf").write_bytes(labelled_pdf("nobody knows", 1))
    return made


def test_readings_are_scored_against_what_is_beside_them(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = _bench(folder, "--engine", "embedded", "--json", "-o", kept, "--quiet")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads((kept / "accuracy.json").read_text())
    right, wrong = report["documents"]
    assert right["cer"] == right["wer"] == 0
    # Three letters of 26, one word of six.
    assert wrong["cer"] == pytest.approx(3 / 26)
    assert wrong["wer"] == pytest.approx(1 / 6)
    assert report["summary"]["documents"] == 2
    assert "quick brown fox" in (kept / "sub" / "wrong.pdf.md").read_text()


def test_a_document_that_cannot_be_read_counts_as_nothing_read(folder: Path) -> None:
    (folder / "right.pdf").write_bytes(b"%PDF-1.7 and no more")
    done = _bench(folder, "--engine", "embedded")
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:]}
    assert rows[str(folder / "right.pdf")][0] == "1.0000"
    assert done.stdout.splitlines()[-1].endswith("1 documents and 0 pages failed")


def test_tables_and_order_are_scored(tmp_path: Path) -> None:
    truth = tmp_path / "x.html"
    truth.write_text(f"First of all, a sentence\n\n{_TABLE}\n\nLast of all, another one")
    pair = Pair(tmp_path / "x.pdf", truth)
    same = score(pair, _reading(truth.read_text()))
    assert (same.cer, same.wer, same.order, same.teds, same.cells) == (0, 0, 1, 1, 1)
    changed = truth.read_text().replace("<td>2", "<td>3")
    worse = score(pair, _reading(changed))
    assert worse.cells == 0.75
    assert worse.teds is not None
    assert 0.8 < worse.teds < 1
    first, table, last = truth.read_text().split("\n\n")
    turned = score(pair, _reading("\n\n".join((last, table, first))))
    assert turned.order == 0
    assert turned.found == 1


def test_chinese_has_no_words_to_count(tmp_path: Path) -> None:
    truth = tmp_path / "x.txt"
    truth.write_text("天地玄黄 宇宙洪荒")
    scored = score(Pair(tmp_path / "x.png", truth), _reading("天地玄黄宇宙洪"))
    assert scored.wer is None
    assert scored.cer == pytest.approx(1 / 8)


def test_what_cannot_be_compared_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="no folder"):
        find_pairs(tmp_path / "gone")
    (tmp_path / "alone.pdf").write_bytes(labelled_pdf("x", 1))
    with pytest.raises(UsageError, match="has a truth beside it"):
        find_pairs(tmp_path)
    (tmp_path / "alone.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InputUnreadable):
        score(find_pairs(tmp_path)[0], _reading("x"))
    done = _bench(tmp_path / "gone")
    assert done.returncode in {2, 4}
    assert len(done.stderr.splitlines()) == 1
