"""The page's frame: title, navigation, style.

Owns what all its pages share. Never reads anything: that is the desk's.
"""

from __future__ import annotations

import streamlit as st

from moonpress.ui.app import office_here
from moonpress.ui.page_compare import compare_page
from moonpress.ui.page_read import read_page
from moonpress.ui.page_runs import runs_page

_STYLE = """<style>
.stMainBlockContainer { padding: 4.4rem 1.2rem .6rem; max-width: none; }
.stAppHeader { background: var(--background-color, transparent); }
.stMain .stVerticalBlock { gap: .6rem; }
@media (max-width: 800px) { .stMainBlockContainer { padding: 4.2rem .7rem 1rem; } }
</style>"""


def show() -> None:
    """Run one pass of the page that the address names."""
    office = office_here()
    st.set_page_config("Moonpress", page_icon="🌙", layout="wide")
    chosen = st.navigation(
        [
            st.Page(lambda: read_page(office), title="Read", url_path="read", default=True),
            st.Page(lambda: compare_page(office), title="Compare", url_path="compare"),
            st.Page(lambda: runs_page(office), title="Runs", url_path="runs"),
        ],
        position="top",
    )
    st.html(_STYLE)
    chosen.run()
