"""The page's frame: title, navigation, style.

Owns what all its pages share. Never reads anything: that is the desk's.
"""

from __future__ import annotations

import streamlit as st

from moonpress.ui.app import office_here
from moonpress.ui.page_compare import compare_page
from moonpress.ui.page_read import read_page
from moonpress.ui.page_runs import runs_page

# The drawing is ours: a moon that is a page.
_MOON = (
    '<path fill="#6d64f0" d="M21 3a13 13 0 1 0 0 26A15 15 0 0 1 21 3z"/>'
    '<path stroke="#6d64f0" stroke-width="2.4" stroke-linecap="round" '
    'd="M19 11h9M20 16h8M19 21h9"/>'
)
_MARK = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{_MOON}</svg>'
_NAME = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 170 32">{_MOON}'
    '<text x="38" y="23" font-family="system-ui, sans-serif" font-size="21" font-weight="700" '
    'fill="#6d64f0">Moonpress</text></svg>'
)
_STYLE = """<style>
.stMainBlockContainer { padding: 4.4rem 1.2rem .6rem; max-width: none; }
.stMain .stVerticalBlock { gap: .6rem; }
@media (max-width: 800px) { .stMainBlockContainer { padding: 4.2rem .7rem 1rem; } }
</style>"""


def show() -> None:
    """Run one pass of the page that the address names."""
    office = office_here()
    st.set_page_config("Moonpress", page_icon=_MARK, layout="wide")
    st.logo(_NAME, icon_image=_MARK)
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
