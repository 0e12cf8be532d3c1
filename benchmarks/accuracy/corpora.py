"""The corpora as cases: pages made by the project, and the collected documents.

Owns which truth of a document is used for what. The data folder is only read.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path
from typing import Any

from benchmarks.accuracy.cases import Case, Truth
from moonpress.document import BlockKind
from tests.generators import as_scan, tables
from tests.generators.catalogue import Sample, samples

# Truth that was itself made by a program and not proof-read says how alike two programs are.
_TRUSTED = ("exact", "human")
_OTHER_LANGUAGES = {"ar", "he", "fa", "ur", "hi", "bn", "ta", "te", "gu", "pa", "kn", "ml"}
_DATA_PAGE = re.compile(r'<table data-page="(\d+)"')
_TURN = re.compile(r"[-+]\d+$")
_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)


def generated(folder: Path) -> list[Case]:
    """The samples of `tests.generators.catalogue`, written into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for sample in samples():
        path = folder / f"{sample.name}{sample.suffix}"
        path.write_bytes(sample.data)
        script = "cjk" if sample.page.language.startswith("zh") else "latin"
        cases.append(
            Case(path.name, _generated_group(sample), path, (1,), _generated_truth(sample), script)
        )
    return cases


def warm_up(folder: Path) -> list[Path]:
    """A born-digital table and a scan, which between them make an engine load all it has."""
    folder.mkdir(parents=True, exist_ok=True)
    page = tables.table_page(tables.TableSpec(seed=99))
    files = {"digital.pdf": page.pdf, "scan.png": as_scan(page, 150)}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def documents(shared: Path) -> list[Case]:
    """The documents of ``shared/data/corpus`` that have truth made or checked by people."""
    folder = shared / "data" / "corpus"
    entries = json.loads((shared / "data" / "manifest.json").read_text(encoding="utf-8"))
    cases: list[Case] = []
    for entry in entries:
        trusted = entry["gt_quality"] and entry["gt_quality"].startswith(_TRUSTED)
        if trusted or entry["id"].startswith("tabula_"):
            cases += _document_cases(entry, folder)
    return cases


def _generated_group(sample: Sample) -> str:
    page = sample.page
    if page.tables:
        kind = "table, simple"
        if page.tables[0].has_spans:
            kind = "table, spans"
        elif page.name.endswith("long"):
            kind = "table, long cells"
    elif page.of_kind(BlockKind.FORMULA) or page.name == "inline-formulas":
        kind = "formulas"
    elif page.of_kind(BlockKind.FORM):
        kind = "form"
    else:
        kind = {"en": "English", "zh": "Chinese", "zh+en": "Chinese with Latin"}[page.language]
    return f"{kind}, {_TURN.sub('', sample.group)}"


def _generated_truth(sample: Sample) -> Truth:
    page = sample.page
    unlike_text = (BlockKind.TABLE, BlockKind.FORMULA)
    blocks = tuple(b.text for b in page.body if b.text and b.kind not in unlike_text)
    has_text = not page.tables and not any(b.latex for b in page.blocks)
    return Truth(
        text=page.text if has_text else None,
        blocks=blocks,
        tables=tuple(table.to_html() for table in page.tables),
    )


def _document_cases(entry: dict[str, Any], folder: Path) -> list[Case]:
    path = folder / entry["file"]
    found = {name[len(entry["id"]) + 1 :]: folder / name for name in entry["gt"]}
    pages = tuple(range(1, (entry["pages"] or 1) + 1))
    script = _script(entry)
    cases = []
    if "gt.txt" in found:
        text = _without_notes(found["gt.txt"].read_text(encoding="utf-8"))
        truth = Truth(text=_whole_words(text))
        cases.append(Case(entry["id"], entry["kind"], path, pages, truth, script))
    elif "gt.html" in found:
        text = re.sub(r"<[^>]+>", " ", found["gt.html"].read_text(encoding="utf-8"))
        truth = Truth(text=html.unescape(text))
        cases.append(Case(entry["id"], entry["kind"], path, pages, truth, script))
    if "gt.tables.html" in found:
        markup = found["gt.tables.html"].read_text(encoding="utf-8")
        cases += _table_cases(entry, path, markup)
    if "gt.csv" in found:
        markup = _csv_as_html(found["gt.csv"].read_text(encoding="utf-8"))
        truth = Truth(tables=(markup,))
        cases.append(Case(entry["id"], "table (program's truth)", path, (1,), truth, script))
    return cases


def _table_cases(entry: dict[str, Any], path: Path, markup: str) -> list[Case]:
    """One case a page that has tables."""
    by_page: dict[int, list[str]] = {}
    for table in _TABLE.findall(markup):
        number = _DATA_PAGE.match(table)
        by_page.setdefault(int(number.group(1)) if number else 1, []).append(table)
    return [
        Case(f"{entry['id']}-p{page}", entry["kind"], path, (page,), Truth(tables=tuple(tables)))
        for page, tables in sorted(by_page.items())
    ]


def _script(entry: dict[str, Any]) -> str:
    languages = set(str(entry["lang"]).split(","))
    if languages & {"zh", "ja"}:
        return "cjk"
    return "other" if languages & _OTHER_LANGUAGES else "latin"


def _without_notes(text: str) -> str:
    """Remove the transcribers' own remarks, ``[*in pencil*]``, and tags such as ``$pag:``."""
    return re.sub(r"\[\*.*?\*\]|\$\w+:?", " ", text, flags=re.DOTALL)


def _whole_words(text: str) -> str:
    """Undo hyphens at line ends: transcripts keep the printed lines, and readings should not."""
    return re.sub(r"(?<=[^\W\d_])[-¬]\s*\n\s*(?=[^\W\d_])", "", text)


def _csv_as_html(text: str) -> str:
    rows = [
        "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        for row in csv.reader(io.StringIO(text))
    ]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
