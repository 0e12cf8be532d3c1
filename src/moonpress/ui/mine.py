"""The papers of one person: ids in the session of a browser tab.

Owns taking files in and the lines about those that could not be. The papers themselves are at the
desk.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from moonpress.errors import MoonpressError, PasswordNeeded
from moonpress.ui.app import Office
from moonpress.ui.desk import Paper

_KEY = "moonpress_mine"
_ADDRESS = "paper"
_MOST = 100


@dataclass(frozen=True, slots=True)
class Locked:
    """A file that waits for its password."""

    name: str
    data: bytes


@dataclass(slots=True)
class Mine:
    """What one tab has open.

    The ids stand in the tab's address too, so that loading it again shows the same papers.

    Attributes:
        ids: Of papers, in the order in which they came.
        current: Of the paper that is looked at.
        refused: Lines about files that could not be opened.
        locked: The file that waits for a password.
        round: Counts files that were taken in: boxes for files get a new key, and are empty again.
    """

    ids: list[str] = field(default_factory=list)
    current: str | None = None
    refused: list[str] = field(default_factory=list)
    locked: Locked | None = None
    round: int = 0

    def take(self, office: Office, name: str, data: bytes, password: str | None = None) -> None:
        """Open a file, or keep the line that says why not."""
        desk = office.open_desk()
        try:
            paper = desk.call(desk.open, data, name, password)
        except PasswordNeeded as error:
            self.locked = Locked(name, data)
            if password is not None:
                self.refused.append(str(error))
        except MoonpressError as error:
            error.file = error.file or name
            self.refused.append(str(error))
        else:
            self.locked = None
            self.add(paper.id)

    def add(self, paper_id: str) -> None:
        """A paper is open: it is looked at."""
        self.ids.append(paper_id)
        self.current = paper_id

    def papers(self, office: Office) -> list[Paper]:
        """Those that are still at the desk; others are forgotten."""
        desk = office.open_desk()
        found: list[Paper] = []
        for key in list(self.ids):
            try:
                found.append(desk.call(desk.paper, key))
            except MoonpressError:
                self.ids.remove(key)
        if self.current not in self.ids:
            self.current = self.ids[-1] if self.ids else None
        if st.query_params.get_all(_ADDRESS) != self.ids:
            st.query_params[_ADDRESS] = self.ids
        return found

    def put_away(self, office: Office, paper_id: str) -> None:
        """Close a paper for good."""
        desk = office.open_desk()
        desk.call(desk.close, paper_id)
        self.papers(office)


def mine() -> Mine:
    """Of the tab whose script runs."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = Mine(ids=st.query_params.get_all(_ADDRESS)[:_MOST])
    found: Mine = st.session_state[_KEY]
    return found
