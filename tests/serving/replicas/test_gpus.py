"""Tests of `moonpress.serving.replicas.gpus`."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from moonpress.serving.replicas.gpus import look
from tests.serving.replicas.fake_nvml import GB, Card, FakeNvml, h200s


def test_gpus_are_told_with_what_matters() -> None:
    nvml = FakeNvml(h200s(2, used=3 * GB))
    box = look(nvml)
    assert [gpu.device for gpu in box.gpus] == ["0", "1"]
    assert box.gpus[1].uuid == "GPU-0001-aaaa"
    assert box.gpus[0].used == 3 * GB
    assert box.gpus[0].capability == (9, 0)
    assert (box.driver, box.cuda, box.reason) == ("580.95.05", (13, 0), "")
    assert nvml.open == 0


def test_without_a_driver_there_are_no_gpus() -> None:
    box = look(FakeNvml([], absent=True))
    assert box.gpus == ()
    assert box.driver is None
    assert "Library Not Found" in box.reason


def test_this_machine_can_be_asked() -> None:
    box = look()
    assert bool(box.gpus) is not bool(box.reason)


def test_without_the_package_there_are_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "pynvml":
            raise ModuleNotFoundError(name=name)
        return real(name, *args)

    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    assert "nvidia-ml-py" in look().reason


def test_a_gpu_that_is_lost_leaves_the_others_their_numbers() -> None:
    cards = h200s(4)
    cards[1].lost = True
    assert [gpu.device for gpu in look(FakeNvml(cards)).gpus] == ["0", "2", "3"]


def test_a_gpu_without_memory_of_its_own_is_a_gpu() -> None:
    box = look(FakeNvml([Card("NVIDIA GB10", 0, capability=None)]))
    assert box.gpus[0].memory == 0
    assert box.gpus[0].capability is None


def test_instances_stand_for_a_gpu_that_is_cut() -> None:
    cut = Card("NVIDIA H100 80GB HBM3", 85 * GB, instances=("MIG-a", "MIG-b"))
    whole = Card("NVIDIA GeForce RTX 4090", 25 * GB)
    assert [gpu.device for gpu in look(FakeNvml([cut, whole])).gpus] == ["MIG-a", "MIG-b", "1"]


def test_pairs_without_a_link_are_told() -> None:
    assert look(FakeNvml(h200s(3), apart={(0, 2)})).apart == (("0", "2"),)
