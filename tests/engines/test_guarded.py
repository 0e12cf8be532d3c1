from __future__ import annotations

import anyio
import pytest

from moonpress.document import PageImage, PageReading, PageStatus, ProblemCode
from moonpress.engines.guarded import Guarded, Guards
from moonpress.engines.layout_model import Ending, Sampling
from moonpress.errors import BadOutput, EngineRejected, EngineUnavailable
from moonpress.pipeline.layout_reply import with_blocks
from tests.engines.scripted import CLEAN, LOOPING, ScriptedModel, page

TRIES = (Sampling(0.0), Sampling(0.4), Sampling(0.8), Sampling(0.4, zoom=0.8))
CUT = Ending(False, 100, 12384)
SAID = (
    "The keeper of the lighthouse had not seen a ship for forty days when the storm came up from"
    " the south and with it the first sail of that year, torn and grey."
)


def read(
    model: ScriptedModel, image: PageImage | None = None, *, timeout: float = 60.0
) -> PageReading:
    engine = Guarded(model, Guards(TRIES, timeout), preferred_dpi=192.0)

    async def go() -> PageReading:
        return await engine.read(image or page())

    return anyio.run(go)


def block(text: str) -> str:
    return f'<div data-bbox="1 2 3 4" data-label="Text"><p>{text}</p></div>'


def test_a_clean_page_takes_one_greedy_try() -> None:
    model = ScriptedModel([CLEAN])
    reading = read(model)
    assert reading.status is PageStatus.OK
    assert reading.problems == ()
    assert [one.temperature for one in model.samplings] == [0.0]
    assert reading.layout is not None
    assert reading.layout.html == CLEAN
    assert reading.usage.attempts == 1
    assert reading.usage.prompt_tokens == 100


def test_the_capacity_is_the_models_also_when_it_is_known_late() -> None:
    class Late(ScriptedModel):
        async def prepare(self) -> None:
            self.capacity = 8

    engine = Guarded(Late([]), Guards(TRIES, 60.0), preferred_dpi=192.0)
    assert engine.capacity == 2
    anyio.run(engine.prepare)
    assert engine.capacity == 8


def test_a_blank_page_never_reaches_the_model() -> None:
    model = ScriptedModel([])
    reading = read(model, page(blank=True))
    assert reading.status is PageStatus.BLANK
    assert model.samplings == []
    assert reading.usage.attempts == 0


def test_a_loop_is_stopped_and_the_page_read_again_warmer() -> None:
    model = ScriptedModel([LOOPING, CLEAN])
    reading = read(model)
    assert reading.status is PageStatus.OK
    assert [one.temperature for one in model.samplings] == [0.0, 0.4]
    assert model.stopped == 1
    assert model.written < len(LOOPING) / 4 / 2
    assert reading.usage.attempts == 2


def test_a_page_that_always_loops_is_partial_and_keeps_its_beginning() -> None:
    model = ScriptedModel([LOOPING] * 4)
    reading = with_blocks(read(model), 1)
    assert reading.status is PageStatus.PARTIAL
    assert [one.zoom for one in model.samplings] == [1.0, 1.0, 1.0, 0.8]
    assert reading.problems[0].code == ProblemCode.REPETITION
    assert "The page says this and that." in reading.blocks[0].html
    assert reading.blocks[1].html.count("and so on") <= 3


def test_the_best_try_wins_not_the_last() -> None:
    good = block(SAID) + LOOPING
    model = ScriptedModel([good, LOOPING, LOOPING, LOOPING])
    reading = read(model, page(text=SAID))
    assert reading.layout is not None
    assert "lighthouse" in reading.layout.html
    assert reading.agreement is not None
    assert reading.agreement.found > 0.9


def test_a_cut_reply_is_a_problem_and_tried_once_more() -> None:
    model = ScriptedModel([(CLEAN, CUT), (CLEAN, CUT)])
    reading = read(model)
    assert reading.status is PageStatus.PARTIAL
    assert [p.code for p in reading.problems] == [ProblemCode.OUTPUT_CUT]
    assert "12384 tokens" in reading.problems[0].message
    assert len(model.samplings) == 2


def test_agreement_with_the_text_layer_is_kept() -> None:
    reading = read(ScriptedModel([block(SAID)]), page(text=SAID))
    assert reading.agreement is not None
    assert reading.agreement.found == 1.0
    assert reading.agreement.backed == 1.0
    assert reading.problems == ()


def test_an_invented_text_is_a_problem() -> None:
    invented = block("A quarterly report on the sales of garden furniture in four regions. " * 2)
    reading = read(ScriptedModel([invented]), page(text=SAID))
    assert reading.agreement is not None
    assert reading.agreement.found < 0.3
    assert [p.code for p in reading.problems] == [ProblemCode.TEXT_LAYER_DISAGREES]
    assert reading.status is PageStatus.OK


def test_a_text_layer_without_meaning_is_not_compared() -> None:
    reading = read(ScriptedModel([block(SAID)]), page(text="\ufffd\ue001\ue002 " * 60))
    assert reading.agreement is None


def test_silence_is_no_page() -> None:
    with pytest.raises(BadOutput, match="wrote nothing in 2 tries"):
        read(ScriptedModel(["", " \n", "", ""]))


def test_a_model_that_never_ends_is_given_up() -> None:
    with pytest.raises(EngineRejected, match=r"longer than 0\.2 s"):
        read(ScriptedModel([("", None)]), timeout=0.2)


def test_what_came_in_time_is_kept() -> None:
    reading = read(ScriptedModel([(CLEAN, None)]), timeout=0.5)
    assert reading.status is PageStatus.PARTIAL
    assert [p.code for p in reading.problems] == [ProblemCode.PAGE_TIMEOUT]


def test_a_server_that_goes_away_is_not_hidden() -> None:
    with pytest.raises(EngineUnavailable):
        read(ScriptedModel([LOOPING, EngineUnavailable("gone")]))


def test_a_failure_after_a_loop_keeps_the_beginning() -> None:
    reading = read(ScriptedModel([LOOPING, BadOutput("oops")]))
    assert reading.status is PageStatus.PARTIAL
    assert [p.code for p in reading.problems] == [ProblemCode.REPETITION]


def test_a_refused_page_is_not_tried_again() -> None:
    model = ScriptedModel([EngineRejected("too large")])
    with pytest.raises(EngineRejected, match="too large"):
        read(model)
    assert len(model.samplings) == 1


def test_a_failing_server_gets_the_page_once_more_only() -> None:
    model = ScriptedModel([BadOutput("oops"), BadOutput("oops again")])
    with pytest.raises(BadOutput, match="again"):
        read(model)
    assert len(model.samplings) == 2


def test_blocks_get_the_probability_of_their_tokens() -> None:
    reading = with_blocks(read(ScriptedModel([CLEAN])), 1)
    assert reading.blocks[0].confidence == pytest.approx(0.905, abs=0.001)
