"""Groups of documents for the machines of a cluster.

Owns where one group ends and the next begins, and their names. Both follow from the documents and
the choices alone, so that whoever looks at the same inputs finds the same groups, and a document
that comes in between changes its own group only. Never knows what is done already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from moonpress.sources.inputs.item import InputItem, InputProblem

# Few documents shall be spread over all machines, of many a group shall outweigh its start.
_FIRST: Final = 8
_LAST: Final = 128
_GROWTH: Final = 8
_BYTES: Final = 2 << 30


@dataclass(frozen=True, slots=True)
class Shard:
    """Documents that one worker reads, and that are done together.

    Attributes:
        key: Name that follows from the documents, and a number that counts from 1 how often some of
            them were to be read.
        items: What is to be read; the name may stand for more.
    """

    key: str
    items: tuple[InputItem, ...]


@dataclass(slots=True)
class Portion:
    """What was found up to the end of a group.

    Attributes:
        items: The group; empty when only problems were found.
        problems: Found on the way.
    """

    items: list[InputItem] = field(default_factory=list)
    problems: list[InputProblem] = field(default_factory=list)


def portions(
    found: Iterator[InputItem | InputProblem], limit: int | None = None
) -> Iterator[Portion]:
    """Group what is found, as it is found.

    A group ends at a document whose id's digest says so, on average after 128 documents and at
    the latest after 256 or 2 GiB; the first groups are smaller.

    Args:
        found: In an order that is the same every time.
        limit: Documents at most.
    """
    count = 0
    portion, size = Portion(), 0
    for one in found:
        if isinstance(one, InputProblem):
            portion.problems.append(one)
            continue
        if limit is not None and count >= limit:
            break
        portion.items.append(one)
        size += one.size or 0
        if size >= _BYTES or _ends(one.id, len(portion.items), count):
            yield portion
            portion, size = Portion(), 0
        count += 1
    if portion.items or portion.problems:
        yield portion


def name_of(items: list[InputItem], choices: str) -> str:
    """The name of a group, without the number of the attempt."""
    digest = blake2b(choices.encode(), digest_size=10)
    for item in items:
        for part in (item.id, item.version or item.uri, item.pages or ""):
            digest.update(part.encode(errors="surrogatepass") + b"\0")
    return digest.hexdigest()


def _ends(item_id: str, length: int, before: int) -> bool:
    usual = min(max(before // _GROWTH, _FIRST), _LAST)
    if length < usual // 2:
        return False
    digest = blake2b(item_id.encode(errors="surrogatepass"), digest_size=4).digest()
    return length >= 2 * usual or int.from_bytes(digest, "big") % usual == 0
