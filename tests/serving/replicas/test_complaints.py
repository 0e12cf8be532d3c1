"""Tests of `moonpress.serving.replicas.complaints`.

The lines are as programs write them: those under ``logs`` were written by a real vLLM (0.32, on a
processor) that was started with what makes it fail; the others are taken from the sources and issue
trackers of vLLM, torch, NCCL and the hub.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.serving.replicas.complaints import known_failure

_LOGS = Path(__file__).parent / "logs"
_OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 50.00 MiB. GPU 0 has a total "
    "capacity of 23.56 GiB of which 21.75 MiB is free."
)
_LINES = [
    (_OOM, "memory ran out", False),
    ("RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests.",
     "with 256 pages", True),
    ("ValueError: Free memory on device cuda:0 (5.12/79.19 GiB) on startup is less than desired "
     "GPU memory utilization (0.92, 72.85 GiB). Decrease GPU memory", "5.12 of 79.19", False),
    ("ValueError: No available memory for the cache blocks. Try increasing", "no GPU memory", True),
    ("ValueError: To serve at least one request with the model's max seq len (24576), (0.75 GiB KV "
     "cache is needed, which is larger than the available KV cache memory (0.5 GiB). Based on the "
     "available memory, the estimated maximum model length is 16384.",
     "24576 tokens needs 0.75 GiB", True),
    ("RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
     "NCCL", False),
    ("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/x.cpp:317, unhandled system "
     "error, NCCL version 2.21.5", "NCCL", False),
    ("[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)", "lost", False),
    ("box:1:1 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-EoOvZr (size "
     "7340384), error: No space left on device (28)", "shared memory", False),
    ("Bus error (core dumped)", "shared memory", False),
    ("RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
     "cuda:0 and cpu!", "different devices", True),
    ("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
     "too old", True),
    ("CUDA driver version is insufficient for CUDA runtime version", "too old", True),
    ("Error 803: system has unsupported display driver / cuda driver combination", "fit", True),
    ("Error 804: forward compatibility was attempted on non supported HW", "fit", True),
    ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet "
     "initialized", "switch", False),
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device",
     "kind of GPU", True),
    ("ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your "
     "Tesla T4 GPU has compute capability 7.5.", "bfloat16", True),
    ("RuntimeError: Failed to infer device type, please set the environment variable", "no GPU",
     True),
    ("RuntimeError: No CUDA GPUs are available", "no GPU", True),
    ("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", "broken", False),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "computation", False),
    ("CUDA error: unspecified launch failure", "computation", False),
    ("huggingface_hub.errors.GatedRepoError: 403 Client Error. Cannot access gated repo for url",
     "licence", True),
    ("requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co",
     "token", True),
    ("OSError: We couldn't connect to 'https://huggingface.co' to load the files", "not reached",
     True),
    ("OSError: nobody/nothing is not a local folder and is not a valid model identifier listed on",
     "no such model", True),
    ("OSError: [Errno 28] No space left on device", "a disk is full", False),
    ("OSError: [Errno 122] Disk quota exceeded", "a disk is full", False),
    ("OSError: [Errno 98] Address already in use", "port", False),
    ("ValueError: World size (4) is larger than the number of available GPUs (2) in this node.",
     "4 GPUs", True),
    ("ValueError: Total number of attention heads (16) must be divisible by tensor parallel size "
     "(3).", "3 GPUs cannot", True),
    ("RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't "
     "allocate memory: you tried to allocate 8589934592 bytes", "machine's memory", False),
    ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable",
     "C compiler", True),
    ("ImportError: /x/vllm/_C.abi3.so: undefined symbol: cuTensorMapEncodeTiled", "fit", True),
    ("vllm: error: unrecognized arguments: --frobnicate 3", "unrecognized arguments", True),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said", "final"), _LINES)
def test_what_programs_write_is_known(line: str, said: str, *, final: bool) -> None:
    noise = "(EngineCore pid=104) ERROR 05-01 14:39:06 [core.py:1131] "
    before = ["(APIServer pid=1) INFO 05-01 14:38:00 [api_server.py:1] vLLM API server", noise]
    after = ["RuntimeError: Engine core initialization failed. See root cause above."]
    prefixed = line if line.startswith("vllm") else f"{noise}{line}"
    found = known_failure([*before, prefixed, *after])
    assert found is not None
    assert said in found.message
    assert found.hint
    assert "{" not in found.message
    assert found.final is final


_WRITTEN = {
    "kv": "a page of 6144 tokens needs",
    "derived": "--max-model-len 99999999 is more than the model's own",
    "nowhere": "no such model",
    "hub": "the Hugging Face hub is not reached",
    "arch": "does not know models of the kind",
    "type": "do not know models of the type moon9",
    "noweights": "holds no weights",
    "cut": "damaged",
    "port": "port was taken",
}


@pytest.mark.parametrize(("name", "said"), _WRITTEN.items())
def test_what_a_real_vllm_wrote_is_known(name: str, said: str) -> None:
    found = known_failure((_LOGS / f"{name}.txt").read_text().splitlines())
    assert found is not None
    assert said in found.message


def test_what_is_unknown_stays_so() -> None:
    assert known_failure([]) is None
    said = ["INFO 05-01 [loggers.py:1] Engine 000: Avg prompt throughput: 3.0 tokens/s", "Killed"]
    assert known_failure(said) is None
    plugin = "NCCL INFO NET/Plugin: libnccl-net.so: cannot open shared object file: No such file"
    assert known_failure([plugin]) is None
