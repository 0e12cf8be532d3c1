"""The JSON output: everything that is known of a document, and the way back from it.

Owns the text form: keys sorted, two spaces, the same document always the same bytes. Never defines
the schema: see `json_models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import ValidationError

from moonpress.document import Document, RenderOptions
from moonpress.errors import InputCorrupt
from moonpress.outputs.json_models import DocumentModel, from_document, to_document

_FORM: Final = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True)
class JsonOutput:
    """Renders documents as JSON."""

    name: str = "json"
    suffix: str = ".json"

    def render(self, document: Document, options: RenderOptions) -> str:
        """The whole document, page headers and footers included."""
        model = from_document(document, options.figures)
        return orjson.dumps(model.model_dump(mode="json"), option=_FORM).decode()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the output."""
    schema = DocumentModel.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def parse(text: str | bytes) -> Document:
    """The document that the JSON output was made from.

    Raises:
        InputCorrupt: ``text`` is not JSON of schema version 1.
    """
    try:
        return to_document(DocumentModel.model_validate_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "document"
        raise InputCorrupt(
            f"not a Moonpress document in JSON: {where}: {first['msg']}",
            hint="Give the .json file that Moonpress wrote",
        ) from error


OUTPUT = JsonOutput()
