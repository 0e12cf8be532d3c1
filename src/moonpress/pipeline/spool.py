"""Pages as bytes, while they wait somewhere for the rest of their document.

Owns the encoding. Never stores anything: see `moonpress.batch.ledger` and
`moonpress.serving.jobs.store`.
"""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter

from moonpress.document import Page

# Not pickle: whoever may write into a run's folder could run code here.
_PAGE: Final = TypeAdapter(Page)


def encode_page(page: Page) -> bytes:
    """A page as JSON; strings that are no Unicode lose the offending half characters."""
    return _PAGE.dump_json(page)


def decode_page(body: bytes) -> Page:
    """A page from its JSON.

    Raises:
        ValueError: it is not what `encode_page` writes.
    """
    return _PAGE.validate_json(body)
