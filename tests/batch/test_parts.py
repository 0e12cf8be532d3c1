"""``--shard K/N``: the parts together are all documents, and status tells of them together."""

from __future__ import annotations

from moonpress.cli.batch_places import Part
from tests.batch.command import Batch, make_inputs


def test_parts_together_read_everything_once(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {f"{i:02}.pdf": 2 for i in range(12)})
    processes = [batch.start("--shard", f"{number}/3", SCRIPT_DELAY="0.1") for number in (1, 2)]
    assert [process.wait(90) for process in processes] == [0, 0]
    early = batch("status", "out")
    assert early.code == 3
    assert early.out.decode().splitlines()[0] == "2 of 3 parts have begun"

    assert batch.read("--shard", "3/3").code == 0

    assert batch.texts() == texts == batch.reads().took
    late = batch("status", "out")
    assert late.code == 0, late.out
    assert "12 documents: 12 done" in late.out.decode()
    facts = batch.status()
    assert facts["documents"]["done"] == 12
    assert facts["pages"]["selected"] == 24
    assert facts["parts"] == {"of": 3, "begun": 3}


def test_a_retry_concerns_all_parts(batch: Batch) -> None:
    make_inputs(batch.inputs, {f"{i:02}.pdf": 1 for i in range(8)})
    for number in (1, 2):
        batch.read("--shard", f"{number}/2", SCRIPT_REFUSE="page 1")
    assert batch.status()["pages"]["failed"] == 8
    assert "8 documents will be tried again" in batch("retry", "out").err
    assert [batch.read("--shard", f"{number}/2").code for number in (1, 2)] == [0, 0]
    assert batch("status", "out").code == 0


def test_the_way_of_dividing_that_was_used_last_counts(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a.pdf": 1, "b.pdf": 1})
    batch.read("--shard", "1/2")
    batch.read()
    assert "parts" not in batch.status()
    assert batch.status()["documents"]["done"] == 2


def test_parts_are_disjoint_and_of_about_one_size() -> None:
    names = [f"{i:05}.pdf" for i in range(4000)]
    sizes = []
    for number in range(1, 5):
        part = Part(number, 4)
        sizes.append(sum(part.has(name) for name in names))
    assert sum(sizes) == 4000
    assert max(sizes) - min(sizes) < 200
