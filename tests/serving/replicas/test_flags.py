"""Tests of `moonpress.serving.replicas.flags`; vLLM itself is asked in ``tests/vllm``."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.errors import UsageError
from moonpress.serving.replicas.flags import (
    check_with_vllm,
    last_value,
    read_flags,
    refusal,
    words_of,
)


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("--kv-cache-dtype fp16", "--kv-cache-dtype float16"),
        ("--kv-cache-dtype=half", "--kv-cache-dtype float16"),
        ("--kv_cache_dtype BF16", "--kv-cache-dtype bfloat16"),
        ("--kv-cache-dtype fp8-e4m3", "--kv-cache-dtype fp8_e4m3"),
        ("--kv-cache-dtype float8_e4m3fn", "--kv-cache-dtype fp8_e4m3"),
        ("--kv-cache-dtype auto", "--kv-cache-dtype auto"),
        ("--dtype fp32", "--dtype float32"),
        ("--gpu-memory-utilization 92%", "--gpu-memory-utilization 0.92"),
        ("--gpu-memory-utilization 92", "--gpu-memory-utilization 0.92"),
        ("--gpu-memory-utilization 0,9", "--gpu-memory-utilization 0.9"),
        ("--gpu-memory-utilization 1", "--gpu-memory-utilization 1"),
        ("--gpu-memory-utilization much", "--gpu-memory-utilization much"),
        ("--enable-chunked-prefill true", "--enable-chunked-prefill"),
        ("--enable-chunked-prefill=False", "--no-enable-chunked-prefill"),
        ("--no-enable-prefix-caching false", "--enable-prefix-caching"),
        ("-q awq -asc 2", "--quantization awq --api-server-count 2"),
        ("--seed -1 --served-model-name a b", "--seed -1 --served-model-name a b"),
        ("--compilation-config.cache_dir /a", "--compilation-config.cache_dir /a"),
    ],
)
def test_what_people_write_becomes_what_vllm_takes(written: str, taken: str) -> None:
    assert " ".join(words_of(read_flags(written.split()))) == taken


@pytest.mark.parametrize("words", ["stray", "--port 1", "--host=x", "-tp 2", "--ssl-keyfile a"])
def test_what_is_not_for_a_replica_is_refused(words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_flags(words.split())
    assert caught.value.hint


def test_a_flag_its_opposite_and_its_parts_are_about_the_same() -> None:
    flags = read_flags(["--no-async-scheduling", "--limit-mm-per-prompt.video", "0"])
    assert [flag.about for flag in flags] == ["--async-scheduling", "--limit-mm-per-prompt"]


def test_the_last_value_counts() -> None:
    flags = read_flags(["--seed", "1", "--enforce-eager", "--seed", "2"])
    assert last_value(flags, "--seed") == "2"
    assert last_value(flags, "--enforce-eager") is None


def test_a_refusal_is_found_in_what_vllm_says() -> None:
    said = ["usage: vllm serve [model_tag] [options]", "vllm serve: error: argument --a: bad one."]
    assert refusal(said) == "argument --a: bad one"
    assert refusal(["INFO error: nothing"]) is None


def _program(folder: Path, body: str) -> tuple[str, ...]:
    program = folder / "vllm"
    program.write_text(f"#!{folder}/fakepython\n")
    python = folder / "fakepython"
    python.write_text(f"#!/bin/sh\n{body}\n")
    python.chmod(0o755)
    return (str(program),)


def test_vllm_is_asked_with_its_own_python(tmp_path: Path) -> None:
    body = 'echo "vllm: error: unrecognized arguments: $5" >&2; exit 2'
    command = _program(tmp_path, body)
    with pytest.raises(UsageError, match="unrecognized arguments: --frob"):
        check_with_vllm(command, "model", ["--frob"], {"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize("body", ["exit 0", "echo Traceback >&2; exit 1", "kill $$"])
def test_a_vllm_that_cannot_be_asked_refuses_nothing(tmp_path: Path, body: str) -> None:
    check_with_vllm(_program(tmp_path, body), "model", ["--frob"], {"PATH": "/usr/bin:/bin"})
    check_with_vllm((str(tmp_path / "nothing"),), "model", ["--frob"], {})
