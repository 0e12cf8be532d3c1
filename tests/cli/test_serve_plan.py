"""Tests of `moonpress.cli.serve_plan`: who reads, and what is said when nobody can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.serve_plan import Chosen, FleetOptions, choose, fetching
from moonpress.errors import EngineUnavailable, MoonpressError, UsageError
from moonpress.serving.replicas.gpus import look
from moonpress.serving.replicas.plan import Surroundings
from tests.cli.command import Chandra
from tests.serving.replicas.fake_nvml import FakeNvml, h200s

_READING = EngineChoice(
    engine="auto",
    fast=False,
    ocr="auto",
    languages=(),
    workers=None,
    batch_size=None,
    page_timeout=None,
    urls=(),
    api_key=None,
    model=None,
    ca_file=None,
    headers=(),
    image_format=None,
    confidence=True,
)
_GIVEN = (
    "replicas", "data_parallel_size", "tensor_parallel_size", "pipeline_parallel_size",
    "encoder_gpus", "decoder_gpus", "vllm", "gpu_memory_utilization", "max_model_len",
    "kv_cache_dtype", "block_size", "max_num_batched_tokens", "max_num_seqs", "enforce_eager",
    "enable_chunked_prefill",
)  # fmt: skip


def _options(*extra: str, **given: Any) -> FleetOptions:
    values: dict[str, Any] = dict.fromkeys(_GIVEN) | {"preset": "auto"} | given
    return FleetOptions.from_options(values, extra)


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A vllm that takes all flags."""
    path = tmp_path / "bin" / "vllm"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    return str(tmp_path)


def _choose(gpus: int, options: FleetOptions, **reading: Any) -> Chosen:
    from dataclasses import replace

    nvml = FakeNvml(h200s(gpus), absent=not gpus)
    around = Surroundings({"PATH": "/nowhere"}, cores=16, weights=None)
    return choose(replace(_READING, **reading), options, lambda: look(nvml), around)


def test_gpus_get_servers(program: str) -> None:
    chosen = _choose(2, _options(vllm=program, tensor_parallel_size=2, kv_cache_dtype="fp16"))
    assert chosen.line == "2 GPUs, tensor parallel 2, 1 replica"
    assert chosen.fleet is not None
    assert chosen.fleet.command == (f"{program}/bin/vllm",)
    assert chosen.fleet.model == "datalab-to/chandra-ocr-2"
    words = chosen.fleet.replicas[0].arguments
    assert words[words.index("--kv-cache-dtype") + 1] == "float16"
    assert chosen.reading.engine == "vllm"
    assert chosen.reading.model is None
    assert chosen.reading.workers == 256


def test_servers_elsewhere_are_used_besides(program: str) -> None:
    urls = ("http://gpu9:8000/v1",)
    chosen = _choose(1, _options(vllm=program), engine="vllm", urls=urls)
    assert chosen.line == "1 GPU, 1 replica, and the servers http://gpu9:8000/v1"
    assert chosen.reading.urls == urls
    chosen = _choose(1, _options(vllm=program), urls=urls)
    assert chosen.fleet is None
    assert chosen.reading.engine == "vllm"


def test_without_gpus_this_processor_reads_and_says_why() -> None:
    chosen = _choose(0, _options())
    assert (chosen.reading.engine, chosen.fleet) == ("embedded", None)
    assert "no --url is given and there is no GPU here" in chosen.line
    assert "\n" not in chosen.line


def test_without_vllm_too() -> None:
    chosen = _choose(2, _options())
    assert chosen.reading.engine == "embedded"
    assert "pip install" in chosen.line


def test_servers_on_the_processor_are_started_when_asked_for(program: str) -> None:
    chosen = _choose(0, _options(vllm=program, replicas=2), model="/models/tiny")
    assert chosen.fleet is not None
    assert chosen.fleet.model == "/models/tiny"
    assert [spec.devices for spec in chosen.fleet.replicas] == [(), ()]


def test_switches_become_flags(program: str) -> None:
    options = _options(
        "--seed", "7", enforce_eager=True, enable_chunked_prefill=False, max_num_seqs="12"
    )
    expected = "--max-num-seqs 12 --enforce-eager --no-enable-chunked-prefill --seed 7"
    assert " ".join(options.words) == expected
    assert _options(data_parallel_size=3).replicas == 3


@pytest.mark.parametrize(
    ("gpus", "options", "reading", "error", "said"),
    [
        (0, {}, {"engine": "vllm"}, EngineUnavailable, "no server can be started"),
        (1, {}, {"engine": "vllm"}, EngineUnavailable, "vllm is not installed"),
        (1, {"tensor_parallel_size": 1}, {}, EngineUnavailable, "vllm is not installed"),
        (0, {"tensor_parallel_size": 2}, {}, UsageError, "--tensor-parallel-size"),
        (0, {"max_num_seqs": "4"}, {"urls": ("http://a/v1",)}, UsageError, "--max-num-seqs 4"),
        (2, {"enforce_eager": True}, {"engine": "embedded"}, UsageError, "--enforce-eager"),
        (2, {"encoder_gpus": ["0"]}, {"engine": "hf"}, UsageError, "--encoder-gpus"),
    ],
)
def test_what_makes_no_sense_is_refused(
    gpus: int,
    options: dict[str, Any],
    reading: dict[str, Any],
    error: type[MoonpressError],
    said: str,
) -> None:
    with pytest.raises(error) as caught:
        _choose(gpus, _options(**options), **reading)
    assert said in caught.value.message


def test_two_names_of_one_thing_must_agree() -> None:
    with pytest.raises(UsageError, match="the same thing"):
        _options(replicas=2, data_parallel_size=3)
    assert _options(replicas=2, data_parallel_size=2).replicas == 2


def test_weights_that_will_be_fetched_are_told_with_their_licence(
    program: str, tmp_path: Path
) -> None:
    fleet = _choose(1, _options(vllm=program)).fleet
    assert fleet is not None
    line = fetching(fleet, {"HF_HOME": str(tmp_path)})
    assert line is not None
    assert "10.6 GB" in line
    assert "OpenRAIL" in line


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--frobnicate", "3"), 2, "--frobnicate 3"),
        (("stray",), 2, "stray"),
        (("--tensor_parallel_size", "2"), 2, "--tensor-parallel-size"),
        (("-tp", "x"), 2, "-tp"),
        (("--engine", "embedded", "--", "--port", "3"), 2, "--port 3"),
        (("--engine", "vllm"), 5, "no server can be started"),
        (("--preset", "fast", "--replicas", "1", "--vllm", "three.pdf"), 2, "fast"),
    ],
)
def test_the_command_says_it_in_one_line(
    chandra: Chandra, words: tuple[str, ...], code: int, said: str
) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [Path(sys.executable).with_name("chandra-serve"), *words],
        env={**chandra.env, "CUDA_VISIBLE_DEVICES": ""},
        cwd=chandra.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
