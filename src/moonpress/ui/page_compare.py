"""The page that sets two engines' readings of one page side by side.

Owns the choices. What differs is found by `moonpress.ui.differences` and shown by a component of
ours; see `static/compare.js`.
"""

from __future__ import annotations

import streamlit as st

from moonpress.ui.app import Office
from moonpress.ui.assets import comparison
from moonpress.ui.mine import mine
from moonpress.ui.page_read import choose_engine

_STARTED = "moonpress_compared"


def compare_page(office: Office) -> None:
    """One pass of the page."""
    my = mine()
    papers = my.papers(office)
    if not papers:
        st.info(
            "Open a document on the page Read first; then compare two engines on one page of it."
        )
        return
    names = {paper.id: paper.name for paper in papers}
    ids = list(names)
    document, number, first, second, act = st.columns([3, 1, 2, 2, 1], vertical_alignment="bottom")
    with document:
        at = ids.index(my.current) if my.current in ids else 0
        key = st.selectbox("Document", ids, index=at, format_func=lambda one: names.get(one, ""))
    paper = next(one for one in papers if one.id == (key or ids[0]))
    with number:
        page = st.number_input("Page", 1, paper.info.page_count, 1)
    with first:
        left = choose_engine(office, "First engine", "left_engine")
    with second:
        right = choose_engine(office, "Second engine", "right_engine", at=1)
    with act:
        pressed = st.button("Compare", type="primary", width="stretch")
    started: int = st.session_state.get(_STARTED, 0) + pressed
    st.session_state[_STARTED] = started
    if started:
        data = {"paper": paper.id, "page": page, "left": left, "right": right, "start": started}
        comparison()(key="comparison", data=data)
