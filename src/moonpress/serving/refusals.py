"""How requests are refused, for the documentation of the API.

Owns the models and the statuses of answers that are no success. Never answers: see
`moonpress.serving.answers`.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pydantic import BaseModel

Responses: TypeAlias = dict[int | str, dict[str, Any]]


class ErrorBody(BaseModel):
    """What went wrong."""

    message: str
    type: str
    code: str
    param: str | None = None
    hint: str | None = None
    page: int | None = None


class ErrorAnswer(BaseModel):
    """The answer to a request that failed."""

    error: ErrorBody


def _told(**meanings: str) -> Responses:
    return {
        int(status.removeprefix("s")): {"model": ErrorAnswer, "description": meaning}
        for status, meaning in meanings.items()
    }


REFUSED: Final = _told(
    s400="The request makes no sense",
    s401="The key is missing or not known",
    s429="The key, or the service, has too much to do: see Retry-After",
    s503="The engine is not there, or the service shuts down",
)
SENT: Final = REFUSED | _told(
    s408="The body comes too slowly",
    s413="The body, or the document, is too large",
    s415="The file is of a kind that is not read",
    s422="The file cannot be read, or nothing in it could",
    s507="The disk is full",
)
READ: Final = SENT | _told(
    s500="Writing failed, or a bug",
    s502="The engine answers with nonsense, or refuses the page",
)
STREAMED: Final[Responses] = {
    200: {"content": {"application/json": {}, "text/event-stream": {}}},
    # The document and why none of its pages could be read, or an error.
    422: {"description": "The file cannot be read, or no page of it"},
}
MISSING: Final = REFUSED | _told(s404="There is no such job for this key")
UNFINISHED: Final = MISSING | _told(s409="The job is not where it must be for that")
MADE: Final = UNFINISHED | _told(
    s500="The document could not be put together, or a bug",
    s507="The disk is full",
)
