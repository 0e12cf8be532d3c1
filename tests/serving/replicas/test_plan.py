"""Tests of `moonpress.serving.replicas.plan` and its parts ``room``, ``shrink``, ``visible``."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from moonpress.errors import EngineUnavailable, MoonpressError, UsageError
from moonpress.serving.replicas.flags import read_flags
from moonpress.serving.replicas.gpus import Gpu, look
from moonpress.serving.replicas.plan import FleetChoices, Surroundings, plan_fleet
from moonpress.serving.replicas.shrink import shrink
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec, Role
from tests.serving.replicas.fake_nvml import GB, Card, FakeNvml, h200s

_CHOICES = FleetChoices(("vllm",), "datalab-to/chandra-ocr-2")
_AROUND = Surroundings({}, cores=64, weights=10_600_000_000)


def _gpus(cards: list[Card]) -> tuple[Gpu, ...]:
    return look(FakeNvml(cards)).gpus


def _plan(count: int, flags: str = "", env: dict[str, str] | None = None, **more: Any) -> Fleet:
    choices = replace(_CHOICES, flags=read_flags(flags.split()), **more)
    return plan_fleet(choices, _gpus(h200s(count)), replace(_AROUND, environment=env or {}))


def _value(spec: ReplicaSpec, flag: str) -> str | None:
    return next((after for word, after in pairwise(spec.arguments) if word == flag), None)


@pytest.mark.parametrize(
    ("count", "more", "devices", "line"),
    [
        (1, {}, ["0"], "1 GPU, 1 replica"),
        (8, {}, list("01234567"), "8 GPUs, 8 replicas"),
        (2, {"tensor": 2}, ["01"], "2 GPUs, tensor parallel 2, 1 replica"),
        (8, {"tensor": 4}, ["0123", "4567"], "8 GPUs, tensor parallel 4, 2 replicas"),
        (4, {"tensor": 2, "pipeline": 2}, ["0123"],
         "4 GPUs, tensor parallel 2, pipeline parallel 2, 1 replica"),
        (8, {"replicas": 3}, ["0", "1", "2"], "3 of 8 GPUs, 3 replicas"),
    ],
)  # fmt: skip
def test_replicas_are_laid_out(
    count: int, more: dict[str, Any], devices: list[str], line: str
) -> None:
    fleet = _plan(count, **more)
    assert ["".join(spec.devices) for spec in fleet.replicas] == devices
    assert fleet.line == line
    assert len({spec.name for spec in fleet.replicas}) == len(fleet.replicas)


def test_the_preset_is_that_of_the_gpu_and_the_user_wins() -> None:
    spec = _plan(1).replicas[0]
    assert _value(spec, "--max-num-seqs") == "256"
    assert _value(spec, "--api-server-count") == "4"
    assert "--no-enable-prefix-caching" in spec.arguments
    mine = "--max-num-seqs 64 --enable-prefix-caching --api-server-count 1 --seed 7"
    spec = _plan(1, mine).replicas[0]
    assert _value(spec, "--max-num-seqs") == "64"
    assert _value(spec, "--seed") == "7"
    assert _value(spec, "--api-server-count") == "1"
    assert "--no-enable-prefix-caching" not in spec.arguments
    assert spec.arguments.count("--max-num-seqs") == 1


def test_few_cores_get_few_processes_that_take_requests() -> None:
    gpus = _gpus(h200s(8))
    spec = plan_fleet(_CHOICES, gpus, replace(_AROUND, cores=64)).replicas[0]
    assert _value(spec, "--api-server-count") == "2"
    spec = plan_fleet(_CHOICES, gpus, replace(_AROUND, cores=16)).replicas[0]
    assert _value(spec, "--api-server-count") is None


def test_a_preset_may_be_named_or_left_out() -> None:
    assert _value(_plan(1, preset="l40s").replicas[0], "--max-num-seqs") == "128"
    assert _plan(1, preset="none").replicas[0].arguments == ()


def test_the_weakest_gpu_of_a_group_decides() -> None:
    cards = [*h200s(1), Card("NVIDIA L40S", 48 * GB)]
    spec = plan_fleet(replace(_CHOICES, tensor=2), _gpus(cards), _AROUND).replicas[0]
    assert _value(spec, "--max-num-seqs") == "128"


def test_numbers_mean_the_same_gpu_everywhere() -> None:
    spec = _plan(2, env={"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}).replicas[0]
    assert spec.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


@pytest.mark.parametrize(
    ("shown", "devices"),
    [("2,0", ["2", "0"]), ("GPU-0003", ["3"]), ("1,-1,2", ["1"]), (" 1 , 2 ", ["1", "2"])],
)
def test_what_cuda_is_shown_is_used(shown: str, devices: list[str]) -> None:
    fleet = _plan(4, env={"CUDA_VISIBLE_DEVICES": shown})
    assert [spec.devices[0] for spec in fleet.replicas] == devices


@pytest.mark.parametrize(
    ("shown", "more", "error", "said", "fix"),
    [
        ("0,9", {}, UsageError, "names 9", "CUDA_VISIBLE_DEVICES=0,1,2,3"),
        ("0,0", {}, UsageError, "twice", "once"),
        ("0,1", {"tensor": 4}, UsageError, "shows 2 of the 4", "CUDA_VISIBLE_DEVICES=0,1,2,3"),
        ("0", {"replicas": 3}, UsageError, "shows 1 of the 4", "CUDA_VISIBLE_DEVICES=0,1,2"),
        ("0,1", {"encoders": ("0",), "decoders": ("2",)}, UsageError, "shows 0,1", "Unset"),
        ("0", {"tensor": 8}, UsageError, "shows 1 of the 4", "fewer"),
        ("", {}, EngineUnavailable, "CUDA_VISIBLE_DEVICES shows", "--replicas 1"),
    ],
)
def test_what_contradicts_what_cuda_is_shown_is_refused_with_the_fix(
    shown: str, more: dict[str, Any], error: type[MoonpressError], said: str, fix: str
) -> None:
    with pytest.raises(error) as caught:
        _plan(4, env={"CUDA_VISIBLE_DEVICES": shown}, **more)
    assert said in caught.value.message
    assert fix in caught.value.hint


@pytest.mark.parametrize(
    ("count", "more", "said"),
    [
        (3, {"tensor": 2}, "cannot be divided into groups of 2"),
        (2, {"tensor": 4}, "there are 2"),
        (1, {"replicas": 2}, "there is 1"),
        (4, {"tensor": 3}, "16 attention heads"),
        (4, {"decoders": ("1",)}, "--encoder-gpus"),
        (4, {"encoders": ("0",), "decoders": ("0", "1")}, "both encode and decode"),
        (4, {"encoders": ("7",)}, "names GPU 7"),
        (4, {"encoders": ("0", "0")}, "twice"),
        (4, {"encoders": ("0",), "tensor": 2}, "no groups of 2"),
        (4, {"encoders": ("0",), "replicas": 2}, "--replicas"),
        (1, {"encoders": ("0",)}, "to decode"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(count: int, more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        _plan(count, **more)
    assert said in caught.value.message
    assert caught.value.hint


def test_encoders_hand_over_through_the_folder_that_is_given() -> None:
    choices = replace(_CHOICES, encoders=("0",), tensor=2)
    around = replace(_AROUND, shared_folder="/private")
    fleet = plan_fleet(choices, _gpus(h200s(5)), around)
    assert fleet.line == "1 encoder on GPU 0, 2 decoders on GPU 1, 2, 3, 4, tensor parallel 2"
    assert [spec.role for spec in fleet.replicas] == [Role.ENCODER, Role.DECODER, Role.DECODER]
    configs = [json.loads(_value(spec, "--ec-transfer-config") or "") for spec in fleet.replicas]
    assert [one["ec_role"] for one in configs] == ["ec_producer", "ec_consumer", "ec_consumer"]
    folders = {one["ec_connector_extra_config"]["shared_storage_path"] for one in configs}
    assert folders == {"/private"}
    encoder, decoder, _ = fleet.replicas
    assert "--mm-encoder-only" in encoder.arguments
    assert "--no-enable-prefix-caching" in encoder.arguments
    assert "--mm-encoder-only" not in decoder.arguments
    assert _value(encoder, "--tensor-parallel-size") is None
    assert _value(decoder, "--tensor-parallel-size") == "2"


def test_on_the_processor_only_when_asked() -> None:
    with pytest.raises(EngineUnavailable, match="no GPU"):
        _plan(0)
    fleet = _plan(0, "--max-model-len 4096", replicas=2)
    assert [spec.name for spec in fleet.replicas] == ["cpu0", "cpu1"]
    assert all(spec.devices == () for spec in fleet.replicas)
    assert _value(fleet.replicas[0], "--max-model-len") == "4096"
    assert fleet.replicas[0].environment["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"
    assert fleet.replicas[0].environment["OMP_NUM_THREADS"] == "32"
    assert fleet.line == "no GPU, 2 replicas on the processor"
    bound = _plan(0, env={"OMP_NUM_THREADS": "3"}, replicas=2)
    assert "OMP_NUM_THREADS" not in bound.replicas[0].environment


def test_a_gpu_too_small_for_the_model_is_refused_with_the_size_that_does() -> None:
    small = [Card("NVIDIA RTX 3060", 12_884_901_888) for _ in range(2)]
    with pytest.raises(EngineUnavailable, match=r"12\.9 GB") as caught:
        plan_fleet(_CHOICES, _gpus(small), _AROUND)
    assert "--tensor-parallel-size 2" in caught.value.hint
    assert plan_fleet(replace(_CHOICES, tensor=2), _gpus(small), _AROUND).line.startswith("2 GPUs")
    asked = replace(_CHOICES, flags=read_flags(["--quantization", "fp8"]))
    assert len(plan_fleet(asked, _gpus(small), _AROUND).replicas) == 2


def test_a_screen_lowers_the_share_and_another_program_is_refused() -> None:
    def share(used: int, flags: str = "") -> str | None:
        card = Card("NVIDIA GeForce RTX 4090", 25_757_220_864, used)
        choices = replace(_CHOICES, flags=read_flags(flags.split()))
        return _value(
            plan_fleet(choices, _gpus([card]), _AROUND).replicas[0], "--gpu-memory-utilization"
        )

    assert share(300_000_000) == "0.90"
    assert share(3 * GB) == "0.86"
    with pytest.raises(EngineUnavailable, match=r"in use") as caught:
        share(9 * GB)
    assert "nvidia-smi" in caught.value.hint
    assert share(9 * GB, "--gpu-memory-utilization 0.6") == "0.6"


def test_a_replica_goes_on_with_the_largest_group_that_is_left() -> None:
    spec = _plan(8, tensor=8).replicas[0]
    assert shrink(spec, set("01234567")) is spec
    smaller = shrink(spec, set("0134567"))
    assert smaller is not None
    assert smaller.devices == tuple("0134")
    assert _value(smaller, "--tensor-parallel-size") == "4"
    assert smaller.name == spec.name
    single = shrink(smaller, {"4"})
    assert single is not None
    assert single.devices == ("4",)
    assert _value(single, "--tensor-parallel-size") is None
    assert "--max-num-seqs" in single.arguments
    assert shrink(single, set()) is None


def test_stages_go_before_shares() -> None:
    spec = _plan(4, tensor=2, pipeline=2).replicas[0]
    smaller = shrink(spec, {"0", "2", "3"})
    assert smaller is not None
    assert _value(smaller, "--tensor-parallel-size") == "2"
    assert _value(smaller, "--pipeline-parallel-size") is None


def test_a_group_that_no_longer_holds_the_model_is_no_group() -> None:
    small = [Card("NVIDIA RTX 3060", 12_884_901_888) for _ in range(2)]
    spec = plan_fleet(replace(_CHOICES, tensor=2), _gpus(small), _AROUND).replicas[0]
    assert spec.least_devices == 2
    assert shrink(spec, {"1"}) is None
