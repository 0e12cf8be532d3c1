from __future__ import annotations

import math

import pytest

from moonpress.serving.replicas.questions import progress_in
from moonpress.serving.replicas.settings import SupervisorSettings
from moonpress.serving.replicas.watch import Progress, Signs, Verdict, judge, too_heavy

SETTINGS = SupervisorSettings(suspect=1.5, hang=15.0, stall=60.0, memory_limit=1 << 30)


@pytest.mark.parametrize(
    ("signs", "verdict", "reason"),
    [
        (Signs(), Verdict.WELL, ""),
        (Signs(asked_at=99.0), Verdict.WELL, ""),
        (Signs(asked_at=98.0), Verdict.SUSPECT, "no sign of life for 2.0 s"),
        # It sends replies, and has no time for questions.
        (Signs(asked_at=50.0, heard_at=99.5), Verdict.WELL, ""),
        (Signs(asked_at=50.0, heard_at=90.0), Verdict.SUSPECT, "for 10.0 s"),
        (Signs(asked_at=84.0, heard_at=10.0), Verdict.HUNG, "no sign of life for 16 s"),
        (Signs(bad_answers=1, bad_answer="status 503"), Verdict.SUSPECT, "status 503"),
        (Signs(bad_answers=2, bad_answer="status 503"), Verdict.DEAD, "status 503"),
        (Signs(moved_at=39.0), Verdict.HUNG, "have not moved for 61 s"),
        (Signs(moved_at=41.0), Verdict.WELL, ""),
        (Signs(failing="it failed"), Verdict.FAILING, "it failed"),
        (Signs(failing="it failed", asked_at=98.0), Verdict.FAILING, "it failed"),
    ],
)
def test_what_signs_mean(signs: Signs, verdict: Verdict, reason: str) -> None:
    found, why = judge(signs, SETTINGS, 100.0)
    assert found is verdict
    assert reason in why


def test_an_answer_takes_doubt_away() -> None:
    signs = Signs(asked_at=1.0)
    signs.answered("connection refused")
    assert (signs.asked_at, signs.bad_answers) == (None, 1)
    signs.answered(None)
    assert judge(signs, SETTINGS, 100.0) == (Verdict.WELL, "")


def test_counters_that_stand_still_count_only_while_there_is_work() -> None:
    signs = Signs()
    assert math.isinf(signs.moved_at)
    for now, progress in ((1.0, Progress(2, 50)), (2.0, Progress(2, 50)), (3.0, Progress(2, 50))):
        signs.counted(progress, now)
    assert signs.moved_at == 1.0
    signs.counted(Progress(2, 51), 4.0)
    assert signs.moved_at == 4.0
    signs.counted(Progress(0, 51), 5.0)
    signs.counted(Progress(0, 51), 6.0)
    assert signs.moved_at == 6.0
    signs.counted(None, 7.0)
    assert signs.moved_at == 7.0


def test_memory_over_the_limit() -> None:
    assert not too_heavy(Signs(), SETTINGS)
    assert not too_heavy(Signs(bytes_held=1 << 30), SETTINGS)
    assert too_heavy(Signs(bytes_held=3 << 30), SETTINGS) == (
        "it holds 3072 MiB of memory and may hold 1024"
    )
    assert not too_heavy(Signs(bytes_held=3 << 30), SupervisorSettings())


def test_counters_of_all_engines_of_a_server_are_added() -> None:
    text = """
# HELP vllm:num_requests_running Number of requests in model execution batches.
vllm:num_requests_running{engine="0",model_name="chandra"} 3.0
vllm:num_requests_running{engine="1",model_name="chandra"} 2.0
vllm:num_requests_running_by_reason{engine="0"} 9.0
vllm:generation_tokens_total{engine="0",model_name="chandra"} 1.5e3
vllm:generation_tokens_created{engine="0",model_name="chandra"} 1.7e9
vllm:prompt_tokens_total{engine="0",model_name="chandra"} 20.0
"""
    assert progress_in(text) == Progress(5, 1520)
    assert progress_in("nothing of this") is None
