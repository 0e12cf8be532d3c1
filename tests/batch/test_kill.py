"""SIGKILL anywhere: killed runs and their successors leave what an undisturbed run leaves."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.batch.command import Batch, alive_after, batch_in, family, make_inputs

# More of them on a machine that is idle: MOONPRESS_KILLS=200.
_KILLS = int(os.environ.get("MOONPRESS_KILLS", "8"))
_SEED = int(os.environ.get("MOONPRESS_KILL_SEED", "20260101"))
_PAGES = {"a.pdf": 1, "b/x.pdf": 7, "b/y.pdf": 25, "c/x.pdf": 3, "d.pdf": 40, "e.pdf": 2}
_CAPACITY = 4
# Pages gather for a quarter of a second before they are noted together; a busy disk adds to that.
_NOTED_AFTER = 2.0
_WORKERS = ("--workers", str(_CAPACITY))
_OPTIONS = (
    ("--sink", "folder", "-f", "markdown", "-f", "json", "-f", "html", *_WORKERS),
    ("--sink", "jsonl", *_WORKERS),
)
_SCRIPT = {"SCRIPT_DELAY": "0.04", "SCRIPT_FIGURES": "1"}


def _undisturbed(folder: Path, plugins: Path, options: tuple[str, ...]) -> dict[str, Any]:
    """What a run that nothing disturbs leaves."""
    batch = batch_in(folder, plugins)
    make_inputs(batch.inputs, _PAGES)
    assert batch.read(*options, **_SCRIPT).code == 0
    return _results(batch)


def _results(batch: Batch) -> dict[str, Any]:
    """Every result by its path: its bytes, without what clocks wrote into it.

    Of a dataset its rows by id: how they are spread over files is a matter of when runs ended.
    """
    found: dict[str, Any] = {}
    for row in batch.rows():
        assert row["id"] not in found, f"{row['id']} is there twice"
        found[row["id"]] = _without_seconds(row | {"json": _document_of(row)})
    if found:
        return found
    for path in batch.out.rglob("*"):
        name = str(path.relative_to(batch.out))
        if path.is_file() and not name.startswith((".moonpress/", "report.")):
            found[name] = _timeless(path)
    return found


def _document_of(row: dict[str, Any]) -> Any:
    return json.loads(row["json"]) if isinstance(row["json"], str) else row["json"]


def _timeless(path: Path) -> object:
    data = path.read_bytes()
    if path.suffix == ".json":
        return _without_seconds(json.loads(data))
    if path.name == "manifest.jsonl":
        rows = [json.loads(line) for line in data.splitlines()]
        return [{k: v for k, v in r.items() if k not in {"engine_seconds", "uri"}} for r in rows]
    return data


def _without_seconds(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_seconds(one) for key, one in value.items() if key != "seconds"}
    if isinstance(value, list):
        return [_without_seconds(one) for one in value]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("options", _OPTIONS, ids=lambda options: options[1])
def test_sigkill_anywhere(tmp_path: Path, plugins: Path, options: tuple[str, ...]) -> None:
    """Kills come at random moments; each series goes on over the same folder until all is read."""
    undisturbed = _undisturbed(tmp_path / "undisturbed", plugins, options)
    moments = random.Random(_SEED)
    kills = series = 0
    while kills < _KILLS:
        batch = batch_in(tmp_path / str(series), plugins)
        killed = _one_series(batch, options, moments, _KILLS - kills)
        assert _results(batch) == undisturbed, f"series {series} of seed {_SEED}"
        kills += killed
        series += 1


def _one_series(batch: Batch, options: tuple[str, ...], moments: random.Random, most: int) -> int:
    """Kill and start again until a run gets through; how often it was killed."""
    texts = make_inputs(batch.inputs, _PAGES)
    killed_at: list[float] = []
    try:
        while len(killed_at) < most:
            process = batch.start(*options, **_SCRIPT)
            time.sleep(moments.uniform(0.3, 5.0))
            if process.poll() is not None:
                break
            processes = family(process)
            killed_at.append(time.time())
            process.send_signal(signal.SIGKILL)
            process.wait()
            # Nobody asked them to end, so they must see for themselves that their parent is gone.
            assert alive_after(processes, 10) == []
        if batch.running[-1].returncode != 0:
            assert batch.read(*options, **_SCRIPT).code == 0
    finally:
        batch.close()
    assert batch.strays() == []
    _check_reads(batch, texts.keys(), killed_at)
    return max(len(killed_at), 1)


def _check_reads(batch: Batch, texts: Iterable[str], killed_at: list[float]) -> None:
    """None is missing, and only what was in flight or just read when a kill came is read twice."""
    reads = batch.reads()
    assert set(reads.gave) == set(texts)
    for text, moments in reads.gave.items():
        for moment in moments[:-1]:
            excused = any(0 <= kill - moment < _NOTED_AFTER for kill in killed_at)
            assert excused, f"{text} was read again, long after it had been read"
    lost = sum(count - len(reads.gave[text]) for text, count in reads.took.items())
    assert lost <= _CAPACITY * len(killed_at)
