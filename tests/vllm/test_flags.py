"""A real vLLM reads the flags that presets give and people write; it starts nothing for that."""

from __future__ import annotations

import os

import pytest

from moonpress.errors import UsageError
from moonpress.serving.replicas import presets
from moonpress.serving.replicas.flags import check_with_vllm, read_flags, words_of
from tests.vllm.server import OFFLINE, environment_folder

pytestmark = [pytest.mark.vllm, pytest.mark.slow]


def _check(words: list[str]) -> None:
    folder = environment_folder()
    environment = {**os.environ, **OFFLINE}
    flags = words_of(read_flags(words))
    check_with_vllm((str(folder / "bin/vllm"),), str(folder / "tiny-model"), flags, environment)


def test_it_takes_what_presets_give_and_what_is_translated() -> None:
    advice = {one.flag: one for preset in presets.PRESETS for one in preset.advice}
    words = [word for one in presets.COMMON for word in (one.flag, one.value) if word is not None]
    words += [word for one in advice.values() for word in (one.flag, one.value) if word is not None]
    words += ["--kv_cache_dtype", "fp16", "--dtype", "bf16", "--enable-chunked-prefill=false"]
    _check([*words, "-asc", "4", "--enforce-eager", "true"])


def test_it_refuses_in_its_own_words() -> None:
    with pytest.raises(UsageError, match="unrecognized arguments: --frobnicate 3"):
        _check(["--enforce-eager", "--frobnicate", "3"])
