"""``chandra-serve doctor``: is this machine fit to serve?

Owns what is printed and the exit code. The questions are those of
`moonpress.serving.replicas.doctor`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from moonpress.cli.errors import ENGINE_UNAVAILABLE
from moonpress.cli.voice import printable
from moonpress.serving.replicas.doctor import Finding, Level, Machine, examine
from moonpress.serving.replicas.gpus import look
from moonpress.serving.replicas.hub import ask_hub
from moonpress.serving.replicas.installed import ask_installed
from moonpress.serving.replicas.program import vllm_command
from moonpress.serving.replicas.weights import DEFAULT_MODEL


@dataclass(frozen=True, slots=True)
class DoctorCommand:
    """One call of ``chandra-serve doctor``; the fields are its options."""

    model: str | None
    host: str
    port: int
    vllm: str | None
    devices: int
    as_json: bool


def run_doctor(command: DoctorCommand) -> int:
    """Print what is found.

    Returns:
        0 when vLLM servers can run here, 5 otherwise.
    """
    machine = Machine(
        environment=os.environ,
        box=look(),
        installed=lambda: ask_installed(vllm_command(command.vllm, os.environ), os.environ),
        hub=ask_hub,
        shm=Path("/dev/shm"),  # noqa: S108 - looked at only
        kernel=Path("/proc/version"),
    )
    findings = examine(
        machine,
        model=command.model or DEFAULT_MODEL,
        host=command.host,
        port=command.port,
        devices=command.devices,
    )
    found = list(findings) if command.as_json else list(_printed(findings))
    if command.as_json:
        facts = {"findings": [asdict(finding) for finding in found], "fit": _fit(found)}
        sys.stdout.write(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode() + "\n")
    return 0 if _fit(found) else ENGINE_UNAVAILABLE


def _fit(found: Sequence[Finding]) -> bool:
    return all(finding.level is not Level.PROBLEM for finding in found)


def _printed(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Each as soon as it is known: some take seconds."""
    for finding in findings:
        hint = f". {finding.hint}" if finding.hint else ""
        line = f"{finding.level.value:<8} {finding.about}: {finding.text}{hint}"
        sys.stdout.write(f"{printable(line)}\n")
        sys.stdout.flush()
        yield finding
