"""Whether this machine is fit to run vLLM servers.

Owns the questions and what to do about bad answers. Never changes or starts anything, and fetches
no weights.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from moonpress.errors import EngineUnavailable, UsageError
from moonpress.serving.replicas.gpus import Box, Gpu
from moonpress.serving.replicas.hub import Access, Answer
from moonpress.serving.replicas.installed import Installed
from moonpress.serving.replicas.visible import VARIABLE, visible
from moonpress.serving.replicas.weights import LICENCE, hub_folder, needed, size_here, size_of

# What the driver must run for the CUDA of vLLM's wheels from 0.17 on.
_LEAST_CUDA = (12, 8)
_LEAST_VLLM = (0, 17)
# From there on GPUs compute in bfloat16, which the model is published in.
_LEAST_CAPABILITY = (8, 0)
_SHARE = 0.92
_LEAST_SHM = 1 << 30
_SOME_ROOM = 2 * 10**9


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer.

    Attributes:
        about: What was looked at.
        level: A problem keeps replicas from running; a warning does not.
        text: What was found.
        hint: What to do about it; empty when it is well.
    """

    about: str
    level: Level
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """What is looked at; tests give their own.

    Attributes:
        environment: Variables.
        box: GPUs.
        installed: Finds vLLM and what it stands on.
        hub: Asks the Hugging Face hub about a model.
        shm: Where shared memory is mounted.
        kernel: File that names the kernel.
    """

    environment: Mapping[str, str]
    box: Box
    installed: Callable[[], Installed]
    hub: Callable[[str, Mapping[str, str]], Answer]
    shm: Path
    kernel: Path


def examine(
    machine: Machine, *, model: str, host: str, port: int, devices: int
) -> Iterator[Finding]:
    """Look at everything.

    Args:
        machine: What is there.
        model: Name or folder of the weights.
        host: Address that the service would listen on.
        port: And port.
        devices: GPUs that share a model.
    """
    yield from _driver(machine.box)
    yield from _gpus(machine, model, devices)
    try:
        yield from _programs(machine.installed(), machine.box)
    except EngineUnavailable as error:
        yield Finding("vLLM", Level.PROBLEM, error.message, error.hint)
    yield from _compiler(machine)
    yield _shared_memory(machine, devices)
    yield _port(host, port)
    yield from _weights(machine, model)
    yield from _windows(machine)


def _driver(box: Box) -> Iterator[Finding]:
    if box.driver is None:
        hint = "Install NVIDIA's driver; --engine embedded reads without a GPU"
        if "nvidia-ml-py" in box.reason:
            hint = 'Run pip install "moonpress[serve]"'
        yield Finding("driver", Level.PROBLEM, box.reason, hint)
        return
    yield Finding("driver", Level.OK, f"NVIDIA {box.driver}")
    if box.cuda is not None:
        good = box.cuda >= _LEAST_CUDA
        hint = f"vLLM's wheels need {_version(_LEAST_CUDA)} or newer: update the driver"
        level = Level.OK if good else Level.PROBLEM
        text = f"the driver runs CUDA up to {_version(box.cuda)}"
        yield Finding("CUDA", level, text, "" if good else hint)


def _gpus(machine: Machine, model: str, devices: int) -> Iterator[Finding]:
    box = machine.box
    if not box.gpus:
        if box.driver is not None:
            yield Finding("GPU", Level.PROBLEM, box.reason, "See nvidia-smi and dmesg")
        return
    try:
        seen = visible(box.gpus, machine.environment)
    except UsageError as error:
        yield Finding(VARIABLE, Level.PROBLEM, error.message, error.hint)
        return
    if not seen:
        text = f"{VARIABLE} shows none of the {len(box.gpus)} GPUs"
        yield Finding("GPU", Level.PROBLEM, text, f"Unset {VARIABLE}")
    weights = size_of(model, machine.environment)
    for gpu in seen:
        yield _gpu(gpu, weights, devices)
    if devices > len(seen):
        text = f"{devices} GPUs are to share the model and {len(seen)} may be used"
        yield Finding("GPU", Level.PROBLEM, text, "Lower --tensor-parallel-size")
    if len(seen) > 1:
        yield _links(seen, box, devices)


def _gpu(gpu: Gpu, weights: int | None, devices: int) -> Finding:
    about = f"GPU {gpu.device}"
    if gpu.capability is not None and gpu.capability < _LEAST_CAPABILITY:
        text = f"{gpu.name} computes no bfloat16 (compute capability {_version(gpu.capability)})"
        return Finding(about, Level.PROBLEM, text, "Use a GPU of 2020 or later (8.0 and up)")
    if not gpu.memory:
        return Finding(about, Level.OK, f"{gpu.name}, which shares the machine's memory")
    return _memory(gpu, weights, devices)


def _memory(gpu: Gpu, weights: int | None, devices: int) -> Finding:
    about = f"GPU {gpu.device}"
    text = f"{gpu.name}, {_gb(gpu.memory)}"
    if weights is None:
        return Finding(about, Level.OK, f"{text}; how much the model takes is not known")
    need = needed(weights, devices)
    text = f"{text}; the model takes {_gb(need)}"
    if gpu.memory * _SHARE < need:
        return Finding(about, Level.PROBLEM, text, "Share it: a larger --tensor-parallel-size")
    free = gpu.memory - gpu.used
    if free < need:
        text = f"{text}, and {_gb(gpu.used)} are in use"
        return Finding(about, Level.PROBLEM, text, "End what uses it: nvidia-smi shows it")
    if free < gpu.memory * _SHARE:
        text = f"{text}, and {_gb(gpu.used)} are in use"
        return Finding(about, Level.WARNING, text, "Fewer pages fit at once")
    return Finding(about, Level.OK, text)


def _links(seen: tuple[Gpu, ...], box: Box, devices: int) -> Finding:
    names = {gpu.device for gpu in seen}
    apart = [pair for pair in box.apart if set(pair) <= names]
    if not apart:
        return Finding("P2P", Level.OK, "all GPUs read each other's memory")
    pairs = ", ".join(f"{one} and {other}" for one, other in apart)
    text = f"GPUs {pairs} cannot read each other's memory"
    if devices == 1:
        return Finding("P2P", Level.OK, f"{text}, which one replica for each GPU does not need")
    hint = "Sharing a model is slower then; should NCCL hang, set NCCL_P2P_DISABLE=1"
    return Finding("P2P", Level.WARNING, text, hint)


def _programs(installed: Installed, box: Box) -> Iterator[Finding]:
    if installed.vllm is None:
        hint = "Run the program by hand to see why"
        yield Finding("vLLM", Level.PROBLEM, f"{installed.program} cannot be asked", hint)
        return
    old = installed.vllm_version < _LEAST_VLLM
    hint = f"Chandra-OCR-2 needs {_version(_LEAST_VLLM)}: pip install -U vllm" if old else ""
    level = Level.PROBLEM if old else Level.OK
    yield Finding("vLLM", level, f"{installed.vllm} at {installed.program}", hint)
    if installed.torch is None:
        hint = "Install vLLM again in an environment of its own"
        yield Finding("torch", Level.PROBLEM, "it cannot be imported beside vLLM", hint)
        return
    if installed.cuda is None:
        level = Level.PROBLEM if box.gpus else Level.OK
        hint = "Install vLLM's wheels for CUDA" if box.gpus else ""
        yield Finding("torch", level, f"{installed.torch}, made for the processor", hint)
        return
    text = f"{installed.torch}, made for CUDA {_version(installed.cuda)}"
    # Within a major version newer libraries run on older drivers.
    newer = box.cuda is not None and installed.cuda[0] > box.cuda[0]
    hint = "Update the driver, or install the wheels for its CUDA" if newer else ""
    yield Finding("torch", Level.PROBLEM if newer else Level.OK, text, hint)
    if installed.nccl is not None:
        yield Finding("NCCL", Level.OK, installed.nccl)
    elif len(box.gpus) > 1:
        hint = "Sharing a model over GPUs needs it: install torch's wheels for CUDA again"
        yield Finding("NCCL", Level.WARNING, "torch has none", hint)


def _compiler(machine: Machine) -> Iterator[Finding]:
    if not machine.box.gpus:
        return
    path = machine.environment.get("PATH")
    named = machine.environment.get("CC")
    if any(shutil.which(name, path=path) for name in (named, "gcc", "clang") if name):
        yield Finding("compiler", Level.OK, "there is a C compiler, which Triton uses")
        return
    hint = "apt-get install gcc (vLLM's Triton kernels are compiled at the first start)"
    yield Finding("compiler", Level.PROBLEM, "there is no C compiler", hint)


def _shared_memory(machine: Machine, devices: int) -> Finding:
    about = "shared memory"
    try:
        room = shutil.disk_usage(machine.shm)
    except OSError:
        level = Level.OK if devices == 1 else Level.WARNING
        return Finding(about, level, f"there is no {machine.shm}")
    text = f"{_gb(room.free)} of {_gb(room.total)} free in {machine.shm}"
    if room.free >= _LEAST_SHM:
        return Finding(about, Level.OK, text)
    hint = "In containers: docker run --ipc=host, or --shm-size 8g; NCCL needs it"
    return Finding(about, Level.PROBLEM if devices > 1 else Level.WARNING, text, hint)


def _port(host: str, port: int) -> Finding:
    about = "port"
    try:
        with socket.create_server((host, port)):
            return Finding(about, Level.OK, f"{host}:{port} is free")
    except OSError as error:
        text = f"{host}:{port} cannot be listened on ({error.strerror or error})"
        return Finding(about, Level.PROBLEM, text, "Choose another --port")


def _weights(machine: Machine, model: str) -> Iterator[Finding]:
    here = size_here(model, machine.environment)
    if here:
        yield Finding("model", Level.OK, f"{model} is on this machine, {_gb(here)}")
        return
    if Path(model).is_absolute() or model.startswith("."):
        hint = "Name a folder with weights, or a model of the Hugging Face hub"
        yield Finding("model", Level.PROBLEM, f"there are no weights in {model}", hint)
        return
    yield _access(machine.hub(model, machine.environment), model)
    yield _disk(machine, size_of(model, machine.environment))


def _access(answer: Answer, model: str) -> Finding:
    token = " (with your token)" if answer.token else ""
    if answer.access is Access.OPEN:
        text = f"{model} is not here yet; the hub gives it{token}"
        return Finding("model", Level.OK, f"{text}. {LICENCE}")
    if answer.access is Access.GATED:
        hint = f"Accept its licence at https://huggingface.co/{model}, then run: hf auth login"
        return Finding("model", Level.PROBLEM, f"the hub does not give {model}{token}", hint)
    if answer.access is Access.UNKNOWN:
        hint = "Check --model; for private ones run: hf auth login"
        return Finding("model", Level.PROBLEM, f"the hub has no {model}{token}", hint)
    hint = "Go online once, or copy the weights and name their folder with --model"
    text = f"{model} is not here and the hub is not reached ({answer.words})"
    return Finding("model", Level.PROBLEM, text, hint)


def _disk(machine: Machine, size: int | None) -> Finding:
    folder = hub_folder(machine.environment)
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    need = (size or 0) + _SOME_ROOM
    text = f"{_gb(free)} free for weights in {folder}"
    if free >= need:
        return Finding("disk", Level.OK, text)
    hint = f"{_gb(need)} are needed: free some, or name another disk with HF_HOME"
    return Finding("disk", Level.PROBLEM, text, hint)


def _windows(machine: Machine) -> Iterator[Finding]:
    try:
        kernel = machine.kernel.read_text(errors="replace").lower()
    except OSError:
        return
    if "microsoft" not in kernel:
        return
    text = "this is Linux under Windows, where GPU memory is not pinned and disks under /mnt crawl"
    hint = "Keep weights in the Linux part; raise memory= in .wslconfig to 24 GB or more"
    yield Finding("WSL2", Level.WARNING, text, hint)


def _version(parts: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in parts)


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 10**8 else f"{size / 1e6:.1f} MB"
