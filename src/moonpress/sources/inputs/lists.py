"""Lists of inputs: text files with one input a line, and JSONL manifests.

Owns reading them line by line, however long they are. Never looks at what the lines name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from moonpress.errors import InputCorrupt
from moonpress.sources.input_check import input_error

_LONGEST_LINE = 1 << 20
_COMMENT = "#"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty.

    Attributes:
        number: Counted from 1.
        data: Without its end; ``None`` when it is too long to be any input.
    """

    number: int
    data: bytes | None

    def broken(self, message: str, hint: str = "Correct the line") -> InputCorrupt:
        """The error for a line that cannot be used."""
        return InputCorrupt(message, hint=hint)


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a manifest.

    Attributes:
        target: Path or address.
        id: The document's id, where the manifest gives one.
        pages: As `InputItem.pages`.
        password: As `InputItem.password`.
    """

    target: str
    id: str | None = None
    pages: str | None = None
    password: str | None = None


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(_LONGEST_LINE):
                number += 1
                too_long = len(data) == _LONGEST_LINE and not data.endswith(b"\n")
                rest = data if too_long else b""
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(_LONGEST_LINE)
                if number == 1:
                    data = data.removeprefix(_BYTE_ORDER_MARK)
                if too_long:
                    yield Line(number, None)
                elif data.strip():
                    yield Line(number, data.rstrip(b"\r\n"))
    except OSError as error:
        raise input_error(error, "") from None


def list_entry(line: Line) -> str | None:
    """The input that a line of a list names; ``None`` for a comment.

    Raises:
        InputCorrupt: the line names nothing.
    """
    if line.data is None:
        raise line.broken("the line is too long")
    # Bytes that are no UTF-8 stay what they are: names of files may hold such.
    text = line.data.decode("utf-8", "surrogateescape")
    return None if text.startswith(_COMMENT) else text


def manifest_record(line: Line) -> Record:
    """What a line of a manifest says; fields that are not known are passed over.

    Raises:
        InputCorrupt: the line is no such object.
    """
    if line.data is None:
        raise line.broken("the line is too long")
    try:
        fields = orjson.loads(line.data)
    except orjson.JSONDecodeError as error:
        raise line.broken(f"the line is no JSON: {error.msg} (column {error.colno})") from None
    if not isinstance(fields, dict):
        raise line.broken("the line is no JSON object")
    named = [fields[key] for key in ("path", "url") if fields.get(key) is not None]
    if len(named) != 1 or not isinstance(named[0], str) or not named[0]:
        raise line.broken("the line needs either 'path' or 'url', a text")
    for key in ("id", "pages", "password"):
        value = fields.get(key)
        # Selecting one page is easily written as a number.
        if key == "pages" and type(value) is int:
            fields[key] = str(value)
        elif value is not None and (not isinstance(value, str) or not value):
            raise line.broken(f"'{key}' has to be a text")
    return Record(named[0], fields.get("id"), fields.get("pages"), fields.get("password"))
