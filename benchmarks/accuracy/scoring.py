"""From readings to scores: per case, per group.

Owns which metric applies to which truth. Files are left to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from benchmarks.accuracy.cases import Case, Reading
from moonpress.bench import metrics
from moonpress.bench.markdown import html_table, tables


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of one case; ``None`` where the truth says nothing, or TEDS took too long.

    Attributes:
        case: Its name.
        group: Its group.
        cer: Character error rate.
        wer: Word error rate.
        order: Kendall's tau of the blocks, 0 to 1.
        found: Share of the blocks found.
        teds: Mean over its tables.
        cells: Share of exact cells, mean over its tables.
        seconds: Wall seconds a page.
        cpu_seconds: CPU seconds a page.
        peak_mb: Largest resident memory of the engine until then.
        errors: What went wrong.
    """

    case: str
    group: str
    cer: float | None
    wer: float | None
    order: float | None
    found: float | None
    teds: float | None
    cells: float | None
    seconds: float
    cpu_seconds: float
    peak_mb: float
    errors: tuple[str, ...] = ()


MEANS = ("cer", "wer", "order", "found", "teds", "cells", "seconds", "cpu_seconds")


def score(case: Case, readings: Sequence[Reading]) -> Score:
    """Score the readings of a case's pages together."""
    markdown = "\n\n".join(r.markdown for r in readings)
    truth = case.truth
    order, found = None, None
    if len(truth.blocks) > 1:
        order, found = metrics.order_score(truth.blocks, markdown)
    cer = wer = None
    if truth.text is not None:
        cer = metrics.character_error(truth.text, markdown, script=case.script)
        wer = None if case.script == "cjk" else metrics.word_error(truth.text, markdown)
    teds, cells = _tables(truth.tables, markdown) if truth.tables else (None, None)
    return Score(
        case=case.name,
        group=case.group,
        cer=cer,
        wer=wer,
        order=order,
        found=found,
        teds=teds,
        cells=cells,
        seconds=fmean(r.seconds for r in readings),
        cpu_seconds=fmean(r.cpu_seconds for r in readings),
        peak_mb=max(r.peak_mb for r in readings),
        errors=tuple(r.error for r in readings if r.error),
    )


def by_group(scores: Iterable[Score]) -> dict[str, dict[str, float | int | None]]:
    """Means of each group, with the number of cases and failures, and the largest peak."""
    groups: dict[str, list[Score]] = {}
    for item in scores:
        groups.setdefault(item.group, []).append(item)
    return {name: _summary(items) for name, items in sorted(groups.items())}


def _summary(items: Sequence[Score]) -> dict[str, float | int | None]:
    rows = [asdict(item) for item in items]
    means: dict[str, float | int | None] = {}
    for key in MEANS:
        values = [row[key] for row in rows if row[key] is not None]
        means[key] = fmean(values) if values else None
    return {
        "cases": len(items),
        "failed": sum(bool(item.errors) for item in items),
        **means,
        "peak_mb": max(item.peak_mb for item in items),
    }


def _tables(markups: Sequence[str], markdown: str) -> tuple[float | None, float]:
    truth = [html_table(markup) for markup in markups]
    pairs = metrics.pair_tables(truth, tables(markdown))
    similar = [
        value
        for one, two in zip(truth, pairs, strict=True)
        if (value := metrics.teds(one, two)) is not None
    ]
    cells = [metrics.exact_cells(one, two) for one, two in zip(truth, pairs, strict=True)]
    return (fmean(similar) if similar else None), fmean(cells)
