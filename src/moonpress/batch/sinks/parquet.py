"""Rows as Parquet.

Owns the schema and the size of row groups. Pictures stand in the row as bytes. Never decides what
is in a row: see `rows`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from moonpress.batch.sinks.rows import Row
from moonpress.outputs.disk import sync

# Held in memory until they are a row group.
_GROUP_BYTES: Final = 32 << 20
_FIGURE: Final = pa.struct(
    [
        ("name", pa.string()),
        ("block", pa.string()),
        ("media_type", pa.string()),
        ("data", pa.binary()),
    ]
)


class ParquetCodec:
    """``.parquet``: Zstandard inside, a text column for each format.

    Args:
        formats: Names of the formats of each row.
    """

    suffix = ".parquet"

    def __init__(self, formats: Sequence[str]) -> None:
        self._schema = pa.schema(
            [
                pa.field("id", pa.string(), nullable=False),
                pa.field("source", pa.string(), nullable=False),
                pa.field("sha256", pa.string(), nullable=False),
                pa.field("status", pa.string(), nullable=False),
                pa.field("page_count", pa.int32(), nullable=False),
                pa.field("pages", pa.int32(), nullable=False),
                pa.field("failed_pages", pa.list_(pa.int32()), nullable=False),
                pa.field("title", pa.string()),
                pa.field("author", pa.string()),
                pa.field("media_type", pa.string(), nullable=False),
                pa.field("engine", pa.string(), nullable=False),
                pa.field("moonpress_version", pa.string(), nullable=False),
                pa.field("figures", pa.list_(_FIGURE), nullable=False),
                *(pa.field(name, pa.large_string(), nullable=False) for name in formats),
            ]
        )

    def create(self, path: Path) -> _Writer:
        """As `Codec.create`."""
        return _Writer(path, self._schema)

    def ids(self, path: Path) -> list[str]:
        """As `Codec.ids`."""
        with _arrow_errors(), pq.ParquetFile(path) as file:
            ids: list[str] = file.read(columns=["id"])["id"].to_pylist()
        return ids

    def copy_without(self, source: Path, target: Path, ids: AbstractSet[str]) -> list[str]:
        """As `Codec.copy_without`."""
        left: list[str] = []
        with (
            _arrow_errors(),
            pq.ParquetFile(source) as file,
            _writer(target, file.schema_arrow) as writer,
        ):
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                kept = [row_id not in ids for row_id in table["id"].to_pylist()]
                table = table.filter(pa.array(kept, pa.bool_()))
                left += table["id"].to_pylist()
                writer.write_table(table)
        sync(target)
        return left


class _Writer:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._schema = schema
        self._writer = _writer(path, schema)
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def write(self, row: Row) -> None:
        fields = asdict(row)
        self._rows.append({**fields, **fields.pop("texts")})
        self._bytes += row.size
        if self._bytes >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        with _arrow_errors():
            self._writer.close()
        sync(self._path)

    def abandon(self) -> None:
        try:
            self._writer.close()
        except (OSError, pa.ArrowException):
            # A full disk refuses the footer as well.
            return

    def _write_group(self) -> None:
        with _arrow_errors():
            self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows, self._bytes = [], 0


@contextmanager
def _arrow_errors() -> Iterator[None]:
    try:
        yield
    except pa.ArrowException as error:
        raise OSError(" ".join(str(error).split())) from error


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(path, schema, compression="zstd")
