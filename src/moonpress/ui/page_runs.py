"""The page that shows batch runs while they go on.

Owns how a run is shown. What is known of it comes from `moonpress.ui.runs`.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from moonpress.batch.entry import State
from moonpress.errors import MoonpressError
from moonpress.ui.app import Office
from moonpress.ui.plain import plain
from moonpress.ui.runs import Run, RunView

_EVERY = "2s"
_QUIET_SECONDS = 30
_TABLE_STYLE = """<style>
[data-testid="stMetricValue"] { font-size: 1.5rem; }
.runs { overflow-x: auto; }
.runs table { border-collapse: collapse; width: 100%; font-size: .92rem; }
.runs th, .runs td { text-align: start; padding: .4rem .7rem; border-bottom: 1px solid #8884;
  vertical-align: top; overflow-wrap: anywhere; }
.runs th { font-weight: 600; }
.runs a { margin-inline-end: .7rem; color: inherit; }
</style>"""


def runs_page(office: Office) -> None:
    """One pass of the page."""
    runs = office.runs.now()
    if not office.settings.runs:
        st.info("Start chandra-ui with --runs and the output folder of a chandra-batch run.")
        return
    if not runs:
        st.info("No run has begun in the folders given with --runs.")
        return
    by_id = {run.id: run for run in runs}
    chosen = st.selectbox("Run", list(by_id), format_func=lambda key: by_id[key].name)
    run = by_id.get(chosen or "", runs[0])
    st.html(_TABLE_STYLE)
    st.fragment(_live, run_every=_EVERY)(office, run)


def _live(office: Office, run: Run) -> None:
    try:
        view = run.look()
    except MoonpressError as error:
        st.error(plain(str(error)))
        return
    _figures(view)
    st.subheader("What failed", anchor=False)
    rows = [
        [escape(one.id), "" if one.page is None else str(one.page), escape(one.reason)]
        for one in view.failures
    ]
    _table(["Document", "Page", "Reason"], rows, "Nothing failed.")
    st.subheader("Outputs", anchor=False)
    rows = [
        [escape(one.id), _pages(one.pages, one.failed), _links(office, run, one.files)]
        for one in view.outputs
    ]
    _table(["Document", "Pages", "Files"], rows, "Nothing is stored yet.")


def _figures(view: RunView) -> None:
    done, total = view.documents.get(State.DONE, 0), sum(view.documents.values())
    about = "about " if view.guessed else ""
    share = view.pages / view.expected if view.expected else 0.0
    words = f"{view.pages:,} of {about}{view.expected:,} pages"
    st.progress(min(share, 1.0), text=f"Run {view.number}, {_stage(view)}: {words}")
    known = {
        "Documents stored": f"{done:,} of {total:,}",
        "Documents failed": f"{view.documents.get(State.FAILED, 0):,}",
        "Pages failed": f"{view.failed_pages:,}",
        "Pages a second": "–" if view.rate is None or view.over else f"{view.rate:.2f}",
        "Engine": view.engine or "–",
    }
    for column, (label, value) in zip(st.columns(len(known)), known.items(), strict=True):
        column.metric(label, value, border=True)


def _stage(view: RunView) -> str:
    if view.over:
        return "over"
    if view.still_seconds > _QUIET_SECONDS:
        return f"nothing new for {view.still_seconds:.0f} s"
    return "going on"


def _pages(pages: int, failed: int) -> str:
    return f"{pages:,}" + (f", {failed:,} failed" if failed else "")


def _links(office: Office, run: Run, files: tuple[str, ...]) -> str:
    return "".join(
        f'<a href="{escape(office.files.address(run, name))}" target="_blank" rel="noopener">'
        f"{escape(name.rpartition('/')[2])}</a>"
        for name in files
    )


def _table(heads: list[str], rows: list[list[str]], nothing: str) -> None:
    if not rows:
        st.caption(nothing)
        return
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    st.html(f'<div class="runs">{table}</div>')
