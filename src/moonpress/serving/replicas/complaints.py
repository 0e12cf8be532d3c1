"""What the last lines of a vLLM server's log mean, and what to do about it.

Owns the list of known failures, in the words of vLLM, torch, CUDA, NCCL and the Hugging Face hub.
Never watches a process and never reads a log itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moonpress.serving.replicas.flags import refusal


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """Why a server ended.

    Attributes:
        message: The cause, in one clause.
        hint: The remedy.
        final: Whether another start would end alike, all else being equal.
    """

    message: str
    hint: str
    final: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    """One known failure.

    Attributes:
        pattern: Found in a line of the log.
        message: May name groups of the pattern.
        hint: The same.
        final: See `KnownFailure`.
    """

    pattern: str
    message: str
    hint: str
    final: bool = False


_UPDATE = "Update NVIDIA's driver, or install a vLLM that was built for an older CUDA"
_LOGIN = "Accept its licence on its page at https://huggingface.co, then run: hf auth login"
_FEWER = "Lower --max-num-seqs, --max-num-batched-tokens or --gpu-memory-utilization"
_HARDWARE = "See dmesg for Xid; if it comes again, leave the GPU out with CUDA_VISIBLE_DEVICES"

# The first that is found anywhere counts, so causes stand before what follows from them.
_RULES = (
    # Weights.
    _Rule(
        r"GatedRepoError|Cannot access gated repo|You are trying to access a gated repo|"
        r"Access to model .+ is restricted",
        "the weights are given only to those who accept their licence",
        _LOGIN,
        final=True,
    ),
    _Rule(
        r"401 Client Error|Invalid credentials in Authorization header|Invalid user token",
        "the Hugging Face hub refuses the token, or wants one",
        "Run hf auth login, or set HF_TOKEN",
        final=True,
    ),
    _Rule(
        r"outgoing traffic has been disabled|Cannot find an appropriate cached snapshot|"
        r"couldn't connect to '?https?://|OfflineModeIsEnabled|LocalEntryNotFoundError",
        "the weights are not on this machine and the Hugging Face hub is not reached",
        "Go online once, or copy the weights and name their folder with --model",
        final=True,
    ),
    _Rule(
        r"RepositoryNotFoundError|Repo id must be in the form|"
        r"is not a local folder and is not a valid model identifier",
        "there is no such model, neither as a folder nor on the Hugging Face hub",
        "Check --model; for private ones run: hf auth login",
        final=True,
    ),
    _Rule(
        r"Cannot find any model weights with",
        "the model's folder holds no weights",
        "Fetch the model again, or name another folder with --model",
        final=True,
    ),
    _Rule(
        r"SafetensorError|Error while deserializing header|MetadataIncompleteBuffer",
        "the weights are damaged or were fetched in part",
        "Remove them and fetch them again",
        final=True,
    ),
    _Rule(
        r"Model architectures (?P<what>\[[^\]]*\]) are not supported for now",
        "this vLLM does not know models of the kind {what}",
        "Chandra-OCR-2 needs vLLM 0.17 or newer: pip install -U vllm",
        final=True,
    ),
    _Rule(
        r"checkpoint you are trying to load has model type [`'\"]?(?P<what>\w+)",
        "the transformers beside this vLLM do not know models of the type {what}",
        "Chandra-OCR-2 needs vLLM 0.17 or newer: pip install -U vllm",
        final=True,
    ),
    # Disk and shared memory. NCCL's own words end with the same as a full disk.
    _Rule(
        r"(?:creating|attaching to|extend|allocat\w+) shared memory segment|"
        r"unable to (?:mmap|open|write to) .*(?:torch|shm)|No space left on device.*/dev/shm|"
        r"/dev/shm.*No space left on device|[Bb]us error|SIGBUS",
        "shared memory (/dev/shm) is too small",
        "In containers: docker run --ipc=host, or --shm-size 8g",
    ),
    _Rule(
        r"No space left on device|Disk quota exceeded",
        "a disk is full",
        "Free some, or name another disk: HF_HOME for weights, VLLM_CACHE_ROOT for compiled code",
    ),
    # The machine's hardware and drivers.
    _Rule(
        r"uncorrectable ECC error|fallen off the bus|GPU is lost|Unable to determine the device "
        r"handle|GPU requires reset",
        "a GPU is broken",
        _HARDWARE,
    ),
    _Rule(
        r"driver on your system is too old|driver version is insufficient",
        "NVIDIA's driver is too old for the CUDA that vLLM was built for",
        _UPDATE,
        final=True,
    ),
    _Rule(
        r"forward compatibility was attempted|unsupported display driver / cuda driver combination|"
        r"Driver/library version mismatch|provided PTX was compiled with an unsupported toolchain",
        "NVIDIA's driver and its libraries do not fit each other",
        "Restart the machine after an update of the driver; in containers take the libraries of "
        "the host's driver, not those of the image",
        final=True,
    ),
    _Rule(
        r"Error 802|system not yet initialized",
        "the GPUs' switch is not ready",
        "Start nvidia-fabricmanager",
    ),
    _Rule(
        r"no kernel image is available",
        "vLLM was not built for this kind of GPU",
        "Install a newer vLLM, or use a GPU of 2020 or later",
        final=True,
    ),
    _Rule(
        r"Bfloat16 is only supported on GPUs with compute capability",
        "the GPU computes no bfloat16, in which the model is published",
        "Use a GPU of 2020 or later; --dtype half may lose accuracy",
        final=True,
    ),
    _Rule(
        r"Failed to infer device type|No CUDA GPUs are available|no CUDA-capable device|"
        r"Found no NVIDIA driver|invalid device ordinal",
        "vLLM sees no GPU",
        "Run chandra-serve doctor; in containers give GPUs with --gpus all",
        final=True,
    ),
    # Memory of the GPU.
    _Rule(
        r"Free memory on device \S+ \((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup",
        "{free} of {total} GiB of the GPU are free, less than a replica may take",
        "End what uses the GPU (nvidia-smi shows it), or lower --gpu-memory-utilization",
    ),
    _Rule(
        r"No available memory for the cache blocks",
        "beside the weights there is no GPU memory left for pages",
        "Raise --gpu-memory-utilization, or share the model with --tensor-parallel-size",
        final=True,
    ),
    _Rule(
        r"max seq len \((?P<length>\d+)\).*?(?P<need>[\d.]+) GiB KV cache is needed.*?"
        r"\((?P<have>[\d.]+) GiB\)(?:.*?maximum model length is (?P<fits>\d+))?",
        "a page of {length} tokens needs {need} GiB of KV cache and {have} GiB are there",
        "Lower --max-model-len, raise --gpu-memory-utilization, or share the model with "
        "--tensor-parallel-size",
        final=True,
    ),
    _Rule(
        r"out of memory occurred when warming up sampler with (?P<count>\d+)",
        "the GPU's memory ran out at the start, with {count} pages at once",
        _FEWER,
        final=True,
    ),
    _Rule(
        r"CUDA out of memory|CUDA error: out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED",
        "the GPU's memory ran out",
        _FEWER,
    ),
    _Rule(
        r"DefaultCPUAllocator: can't allocate memory|\bMemoryError\b|Cannot allocate memory|"
        r"not enough memory: you tried to allocate",
        "the machine's memory ran out",
        "Lower --replicas or --api-server-count, or give the machine or container more",
    ),
    # Several GPUs.
    _Rule(
        r"World size \((?P<wanted>\d+)\) is larger than the number of available GPUs "
        r"\((?P<seen>\d+)\)",
        "{wanted} GPUs are to share the model and the replica sees {seen}",
        "Lower --tensor-parallel-size or --pipeline-parallel-size",
        final=True,
    ),
    _Rule(
        r"\((?P<heads>\d+)\) must be divisible by tensor parallel size \((?P<size>\d+)\)",
        "{size} GPUs cannot share a model of {heads} attention heads",
        "Choose a --tensor-parallel-size that divides them",
        final=True,
    ),
    _Rule(
        r"Watchdog caught collective operation timeout",
        "GPUs that share the model lost each other: NCCL waited in vain",
        "Set NCCL_P2P_DISABLE=1 if it comes again; dmesg may tell of a broken link",
    ),
    _Rule(
        r"NCCL error|ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidUsage|"
        r"NCCL WARN Cuda failure",
        "NCCL, through which GPUs share the model, failed",
        "Run chandra-serve doctor; NCCL_P2P_DISABLE=1 avoids broken links, NCCL_DEBUG=INFO tells "
        "more, and a --tensor-parallel-size of 1 needs none of it",
    ),
    _Rule(
        r"Expected all tensors to be on the same device",
        "parts of the model are on different devices, which is a fault of this vLLM",
        "Give no flags that move parts to the processor, such as --cpu-offload-gb, or take another "
        "version of vLLM",
        final=True,
    ),
    _Rule(
        r"illegal memory access|unspecified launch failure|device-side assert triggered|"
        r"CUBLAS_STATUS_EXECUTION_FAILED|misaligned address",
        "a computation on the GPU failed",
        f"A restart mends it most often. {_HARDWARE}",
    ),
    # The server.
    _Rule(
        r"[Aa]ddress already in use|EADDRINUSE",
        "the replica's port was taken in the meantime",
        "It is started again on another",
    ),
    _Rule(
        r"User-specified max_model_len \((?P<asked>\d+)\) is greater than the derived "
        r"max_model_len \(\w+=(?P<most>[\d.]+)",
        "--max-model-len {asked} is more than the model's own {most}",
        "Lower --max-model-len",
        final=True,
    ),
    _Rule(
        r"Failed to find C compiler|Python\.h: No such file",
        "there is no C compiler, or Python's headers are missing, which Triton's kernels need",
        "apt-get install gcc python3-dev",
        final=True,
    ),
    _Rule(
        r"ImportError.*(?:undefined symbol|cannot open shared object file)|"
        r"ModuleNotFoundError: No module named '(?:vllm|torch)",
        "the installed vLLM and torch do not fit each other",
        "Install vLLM again in an environment of its own",
        final=True,
    ),
)


def known_failure(lines: Sequence[str]) -> KnownFailure | None:
    """The cause that a log tells, if it is a known one.

    Args:
        lines: The last ones of the log, in their order.
    """
    refused = refusal(lines)
    if refused is not None:
        hint = "vllm serve --help=all lists its flags; for those of a preset: --preset none"
        return KnownFailure(f"vLLM refuses: {refused}", hint, final=True)
    # vLLM breaks none of its lines, but those who log for it may.
    text = "\n".join(lines)
    for rule in _RULES:
        found = re.search(rule.pattern, text)
        if found is not None:
            return KnownFailure(rule.message.format(**found.groupdict()), rule.hint, rule.final)
    return None
