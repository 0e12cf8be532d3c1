"""Tests of `moonpress.engines.following`: what was told stays true, whatever comes after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpress.document import LayoutReply, PageReading, PageStatus, ProblemCode
from moonpress.engines.following import Following, following
from moonpress.engines.guarded import Guarded, Guards
from moonpress.engines.layout_model import Ending, Sampling
from moonpress.engines.pool import ReplicaPool
from moonpress.errors import BadOutput, EngineUnavailable
from tests.engines.scripted import ScriptedModel, page

TRIES = (Sampling(0.0), Sampling(0.4), Sampling(0.8))
Reply = str | tuple[str, Ending | None] | Exception


@dataclass
class Heard:
    """A follower that remembers everything."""

    replies: list[LayoutReply] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def __call__(self, reply: LayoutReply, tokens: int) -> None:
        if self.replies:
            assert reply.html.startswith(self.replies[-1].html)
            assert len(reply.html) > len(self.replies[-1].html)
        self.replies.append(reply)
        self.tokens.append(tokens)

    @property
    def html(self) -> str:
        return self.replies[-1].html if self.replies else ""


class BreaksOff(ScriptedModel):
    """A server that goes away after so many characters."""

    after: int = 0

    async def write(self, image, sampling):  # type: ignore[no-untyped-def]
        count = 0
        async for piece in super().write(image, sampling):
            yield piece
            count += len(getattr(piece, "text", ""))
            if count >= self.after:
                raise EngineUnavailable("it broke off")


def block(text: str, box: str = "10 20 300 400", label: str = "Text") -> str:
    return f'<div data-bbox="{box}" data-label="{label}"><p>{text}</p></div>\n'


ONE = block("The keeper of the lighthouse had not seen a ship for forty days.")
TWO = block("Then the storm came up from the south, and with it the first sail of that year.")
THREE = block("It was torn and grey, and nobody stood at the wheel of the ship.")
LOOP = '<div data-bbox="1 2 3 4" data-label="Text"><p>' + "and so on, " * 400


def read(replies: Sequence[Reply]) -> tuple[PageReading, Heard]:
    heard = Heard()
    engine = Guarded(ScriptedModel(replies), Guards(TRIES, 60.0), preferred_dpi=192.0)

    async def go() -> PageReading:
        with following(Following(heard)):
            return await engine.read(page())

    reading = anyio.run(go)
    assert reading.layout is not None
    assert reading.layout.html.startswith(heard.html)
    ends = reading.layout.token_ends
    assert list(ends) == sorted(ends)
    assert not ends or ends[-1] <= len(reading.layout.html)
    assert len(reading.layout.token_logprobs) == len(ends)
    return reading, heard


def test_each_block_is_told_as_it_closes() -> None:
    reading, heard = read([ONE + TWO + THREE])
    assert [len(reply.html) for reply in heard.replies] == [
        len(ONE) - 1,
        len(ONE + TWO) - 1,
        len(ONE + TWO + THREE) - 1,
    ]
    assert heard.tokens == sorted(heard.tokens)
    assert reading.status is PageStatus.OK
    assert reading.layout is not None
    assert reading.layout.html == ONE + TWO + THREE
    assert heard.replies[0].token_logprobs
    assert heard.replies[0].token_ends[-1] <= len(ONE)


def test_nobody_follows_unless_asked() -> None:
    engine = Guarded(ScriptedModel([ONE]), Guards(TRIES, 60.0), preferred_dpi=192.0)
    reading = anyio.run(engine.read, page())
    assert reading.layout == read([ONE])[0].layout


def test_copies_wait_until_something_new_comes() -> None:
    same = block("Name of the ship", "5 6 7 8")
    reading, heard = read([ONE + same + same + same + TWO])
    told = [reply.html for reply in heard.replies]
    assert told[1] == (ONE + same)[:-1]
    assert told[2] == (ONE + same * 3 + TWO)[:-1]
    assert len(told) == 3
    assert reading.status is PageStatus.OK


def test_blocks_of_a_loop_are_never_told() -> None:
    """The boxes move down the page, the words stay: a loop of blocks, cut after the first copy."""
    copies = "".join(block("and so on and on", f"1 {n} 3 {n + 9}") for n in range(0, 900, 10))
    reading, heard = read([(ONE + copies, None)] * 3)
    assert reading.status is PageStatus.PARTIAL
    assert [one.code for one in reading.problems] == [ProblemCode.REPETITION]
    assert heard.html.count("and so on and on") <= 1
    assert reading.layout is not None
    assert reading.layout.html.count("and so on and on") <= 1


def test_a_further_try_goes_on_behind_what_was_told() -> None:
    """The second try has other boxes and one other word before, and ends well."""
    words = " ".join(f"word{n}" for n in range(60))
    first, again = block(words), block(words.replace("word7 ", "word8 "), "11 21 301 401")
    moved = TWO.replace("10 20", "12 22")
    reading, heard = read([first + TWO + LOOP, again + moved + THREE])
    assert reading.status is PageStatus.OK
    assert reading.layout is not None
    assert reading.layout.html == (first + TWO)[:-1] + "\n" + THREE
    assert heard.html == (first + TWO + THREE)[:-1]
    assert reading.usage.attempts == 2


def test_a_try_that_reads_otherwise_is_left_and_the_page_is_partial() -> None:
    other = block("Quite another page, on which no lighthouse and no keeper is ever named.")
    reading, heard = read([ONE + TWO + LOOP, other + THREE, other + TWO + THREE])
    assert heard.html == (ONE + TWO)[:-1]
    assert reading.status is PageStatus.PARTIAL
    assert [one.code for one in reading.problems] == [ProblemCode.REPETITION]
    assert reading.layout is not None
    assert "Quite another" not in reading.layout.html
    assert reading.layout.html.startswith(ONE + TWO)


def test_a_try_before_anything_was_told_counts_for_nothing() -> None:
    reading, heard = read([LOOP, ONE + TWO])
    assert reading.status is PageStatus.OK
    assert heard.html == (ONE + TWO)[:-1]


def _read_by_two(first: BreaksOff, second: ScriptedModel) -> tuple[PageReading, Heard]:
    heard = Heard()
    guards = Guards(TRIES, 60.0)
    pool = ReplicaPool([Guarded(one, guards, preferred_dpi=192.0) for one in (first, second)])

    async def go() -> PageReading:
        with following(Following(heard)):
            return await pool.read(page())

    return anyio.run(go), heard


def test_another_replica_goes_on_where_one_broke_off() -> None:
    first = BreaksOff([ONE + TWO + THREE])
    first.after = len(ONE + TWO) + 10
    reading, heard = _read_by_two(first, ScriptedModel([ONE + TWO + THREE]))
    assert reading.status is PageStatus.OK
    assert reading.layout is not None
    assert reading.layout.html == ONE + TWO + THREE
    assert len(heard.replies) == 3


def test_another_replica_that_reads_otherwise_cannot_go_on() -> None:
    first = BreaksOff([ONE + TWO + THREE])
    first.after = len(ONE + TWO) + 10
    other = [block("Quite another page, with other words in it.")] * 3
    reading, heard = _read_by_two(first, ScriptedModel(other))
    assert reading.status is PageStatus.PARTIAL
    assert [one.code for one in reading.problems] == [ProblemCode.OUTPUT_CUT]
    assert reading.layout is not None
    assert reading.layout.html == heard.html == (ONE + TWO)[:-1]


_TEXTS = st.lists(
    st.sampled_from([ONE, TWO, THREE, LOOP, block("Same"), "loose text", "<div>", "</div>"]),
    min_size=1,
    max_size=12,
).map("".join)
_REPLIES = st.tuples(_TEXTS, st.sampled_from([True, False])).map(
    lambda pair: (pair[0], Ending(pair[1], 100, 50))
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_REPLIES, min_size=3, max_size=3))
def test_what_was_told_begins_the_page_whatever_the_model_does(replies: list[Reply]) -> None:
    """`read` checks it; a page of which nothing comes fails, and then nothing was told."""
    read([(ONE, Ending(False, 1, 1)), *replies[1:]])
    with suppress(BadOutput):
        read(replies)
