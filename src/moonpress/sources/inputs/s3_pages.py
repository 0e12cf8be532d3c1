"""Listing S3 folders page by page.

Owns reading one page through s3fs, which by itself hands out whole folders: about a kilobyte for
each object. Never tries again and never translates failures.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from moonpress.sources.inputs.tree import Entry


def is_paged(files: Any, path: str) -> bool:
    """Whether this is a folder of an S3 bucket, and not the list of buckets."""
    return hasattr(files, "call_s3") and bool(path.strip("/"))


def page_after(files: Any, path: str, token: str | None) -> tuple[list[Entry], str | None]:
    """One page of a folder, in the store's order, and the token for the next page.

    Args:
        files: An `s3fs.S3FileSystem`.
        path: Bucket and folder.
        token: From the page before; ``None`` for the first page.
    """
    bucket, _, folder = path.strip("/").partition("/")
    prefix = f"{folder}/" if folder else ""
    more = {} if token is None else {"ContinuationToken": token}
    # req_kw holds what every request needs, such as who pays.
    page = files.call_s3(
        "list_objects_v2", files.req_kw, Bucket=bucket, Prefix=prefix, Delimiter="/", **more
    )
    found = [(item["Prefix"], _folder(item, prefix)) for item in page.get("CommonPrefixes", ())]
    found += [
        (item["Key"], _file(item, prefix))
        for item in page.get("Contents", ())
        # An empty object of the folder's own name marks a folder made by hand.
        if item["Key"] != prefix
    ]
    return [entry for _, entry in sorted(found, key=itemgetter(0))], page.get(
        "NextContinuationToken"
    )


def _folder(item: dict[str, Any], prefix: str) -> Entry:
    return Entry(item["Prefix"].removeprefix(prefix).removesuffix("/"), "folder")


def _file(item: dict[str, Any], prefix: str) -> Entry:
    size, mark = int(item["Size"]), item.get("ETag") or item.get("LastModified")
    name = item["Key"].removeprefix(prefix)
    return Entry(name, "file", size=size, version=f"{size}-{mark}")
