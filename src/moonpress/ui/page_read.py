"""The first page: documents in, pages beside their readings.

Owns the boxes for files, the choice of engine and paper. What is read is shown by a component of
ours; see `static/reader.js`.
"""

from __future__ import annotations

import streamlit as st

from moonpress.ui.app import Office
from moonpress.ui.assets import inbox, reader
from moonpress.ui.desk import Paper
from moonpress.ui.mine import Mine, mine
from moonpress.ui.plain import plain

KINDS = ["pdf", "png", "jpg", "jpeg", "webp", "tif", "tiff", "gif", "bmp", "heic", "heif", "avif"]
ENGINE_KEY = "moonpress_engine"
_ENGINES = {
    "auto": "The best that is there",
    "embedded": "Built in, on this CPU",
    "vllm": "Chandra on a server",
    "hf": "Chandra on this machine",
    "chandra-serve": "The service at --url",
}
_WELCOME = """
## See a page and its reading side by side

Headings, tables, formulas and figures keep their structure, and every block its place on the page.
Nothing leaves this machine, unless you choose an engine on a server.
"""
_WELCOME_STYLE = """<style>
.stMain [data-testid="stFileUploaderDropzone"] { min-height: 12rem; flex-direction: column;
  justify-content: center; align-items: center; gap: .8rem; border: 2px dashed #8886;
  border-radius: 14px; }
.stMain [data-testid="stFileUploaderDropzone"] > * { flex: 0 0 auto; }
</style>"""


def read_page(office: Office) -> None:
    """One pass of the page."""
    my = mine()
    papers = my.papers(office)
    with st.sidebar:
        engine = choose_engine(office, "Read with", ENGINE_KEY)
        if papers:
            choose_paper(my, office, papers)
    if papers:
        with st.sidebar:
            _boxes(my, office)
        _tell(my)
        _ask_password(my, office)
        reader()(key="reader", data={"paper": my.current, "engine": engine})
        return
    st.html(_WELCOME_STYLE)
    _left, middle, _right = st.columns([1, 3, 1])
    with middle:
        st.markdown(_WELCOME)
        _tell(my)
        _ask_password(my, office)
        _boxes(my, office)


def choose_engine(office: Office, label: str, key: str, *, at: int = 0) -> str:
    """A choice among all engines; the one at place ``at`` unless the person chooses another."""
    names = office.open_desk().readers.names()
    chosen = st.selectbox(
        label,
        names,
        index=min(at, len(names) - 1),
        key=key,
        format_func=lambda name: f"{_ENGINES[name]} ({name})" if name in _ENGINES else name,
    )
    return chosen or names[0]


def choose_paper(my: Mine, office: Office, papers: list[Paper]) -> None:
    """A choice among the open papers, and a way to close the one that is looked at."""
    names = {paper.id: plain(paper.name) for paper in papers}
    ids = list(names)
    chosen = st.radio(
        "Document",
        ids,
        index=ids.index(my.current) if my.current in ids else 0,
        format_func=lambda key: names.get(key, ""),
        key=f"paper-{my.round}-{len(ids)}-{ids[-1]}",
    )
    my.current = chosen or ids[0]
    close = "Close this document"
    st.button(close, type="tertiary", on_click=my.put_away, args=(office, my.current))


def _boxes(my: Mine, office: Office) -> None:
    key = f"files-{my.round}"

    def take_files() -> None:
        for file in st.session_state.get(key) or ():
            my.take(office, file.name, file.getvalue())
        my.round += 1

    st.file_uploader(
        "PDFs or pictures of pages",
        KINDS,
        accept_multiple_files=True,
        key=key,
        on_change=take_files,
    )
    _inbox(my)
    camera = f"camera-{my.round}"

    def take_photo() -> None:
        photo = st.session_state.get(camera)
        if photo is not None:
            my.take(office, "photo.jpg", photo.getvalue())
            my.round += 1

    if st.toggle("Use the camera", key=f"camera-on-{my.round}"):
        st.camera_input("Photograph a page", key=camera, on_change=take_photo)


def _inbox(my: Mine) -> None:
    def opened() -> None:
        key = st.session_state["inbox"].opened
        if key:
            my.add(key)
            my.round += 1

    def refused() -> None:
        line = st.session_state["inbox"].refused
        if line:
            my.refused.append(line)

    inbox()(key="inbox", on_opened_change=opened, on_refused_change=refused)


def _tell(my: Mine) -> None:
    for line in my.refused:
        st.error(plain(line))
    if my.refused:
        st.button("Understood", on_click=my.refused.clear)


def _ask_password(my: Mine, office: Office) -> None:
    locked = my.locked
    if locked is None:
        return
    with st.form("password", clear_on_submit=True):
        given = st.text_input(f"Password of {plain(locked.name)}", type="password")
        opened, dropped = st.columns(2)
        if opened.form_submit_button("Open", type="primary") and given:
            my.refused.clear()
            my.take(office, locked.name, locked.data, given)
            st.rerun()
        if dropped.form_submit_button("Leave it"):
            my.locked = None
            st.rerun()
