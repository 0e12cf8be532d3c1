"""Tests of `moonpress.serving.replicas.presets`."""

from __future__ import annotations

import pytest

from moonpress.errors import UnknownName
from moonpress.serving.replicas import presets
from tests.serving.replicas.fake_nvml import GB

# What drivers call GPUs, and the bytes that they tell.
_SEEN = [
    ("NVIDIA B200", 191_500_000_000, "b200"),
    ("NVIDIA H200", 150_754_820_096, "h200"),
    ("NVIDIA GH200 480GB", 102_000_000_000, "h100"),
    ("NVIDIA H100 80GB HBM3", 85_520_809_984, "h100"),
    ("NVIDIA H100 PCIe", 85_520_809_984, "h100"),
    ("NVIDIA A100-SXM4-80GB", 85_899_345_920, "a100"),
    ("NVIDIA A100-SXM4-40GB", 42_949_672_960, "a100-40"),
    ("NVIDIA L40S", 48_305_799_168, "l40s"),
    ("NVIDIA RTX 6000 Ada Generation", 51_527_024_640, "l40s"),
    ("NVIDIA GeForce RTX 5090", 34_190_917_632, "5090"),
    ("NVIDIA GeForce RTX 4090", 25_757_220_864, "4090"),
    ("NVIDIA GeForce RTX 3090", 25_769_803_776, "4090"),
    ("NVIDIA L4", 24_152_899_584, "l4"),
    ("NVIDIA A10G", 24_146_608_128, "l4"),
    ("NVIDIA GeForce RTX 4080", 17_171_480_576, "16gb"),
    # Unknown kinds get what is made for no more memory than theirs.
    ("NVIDIA Z9000", 60 * GB, "l40s"),
    ("NVIDIA Z9000", 300 * GB, "b200"),
    ("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 42 * GB, "l40s"),
]


@pytest.mark.parametrize(("name", "memory", "expected"), _SEEN)
def test_kinds_are_told_by_name_and_memory(name: str, memory: int, expected: str) -> None:
    preset = presets.for_gpu(name, memory)
    assert preset is not None
    assert preset.name == expected


@pytest.mark.parametrize(("name", "memory"), [("NVIDIA T1000", 4 * GB), ("NVIDIA Z9000", 0)])
def test_there_may_be_none(name: str, memory: int) -> None:
    assert presets.for_gpu(name, memory) is None


def test_a_name_that_is_unknown_is_answered_with_those_that_are() -> None:
    with pytest.raises(UnknownName, match="l40s"):
        presets.by_name("rtx2")
    assert presets.by_name("none") is None
    assert presets.by_name("H100") is presets.for_gpu("NVIDIA H100 PCIe", 85 * GB)


def test_every_flag_has_its_reason_and_none_costs_accuracy() -> None:
    for preset in presets.PRESETS:
        advice = (*presets.COMMON, *preset.advice)
        assert all(one.reason and one.basis for one in advice)
        words = " ".join(f"{one.flag} {one.value}" for one in advice)
        assert "fp8" not in words
        assert "quantization" not in words
        assert len({one.flag for one in advice}) == len(advice)


@pytest.mark.parametrize(("name", "memory", "_expected"), _SEEN[:15])
def test_pages_at_once_fit_into_the_memory(name: str, memory: int, _expected: str) -> None:
    preset = presets.for_gpu(name, memory)
    assert preset is not None
    values = {one.flag: one.value for one in preset.advice}
    room = memory * float(values["--gpu-memory-utilization"] or 0) - 10.6e9 - 3e9
    assert int(values["--max-num-seqs"] or 0) * 0.22e9 <= room
