"""Running the installed ``chandra-pdf`` as a user does, with an engine that follows a script.

Owns the subprocess and the plug-in package of the scripted engine. Never looks into the process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Seconds; a run takes one or two where nothing else runs.
PATIENCE = 60.0
COMMAND = Path(sys.executable).parent / "chandra-pdf"

_PLUGIN = """
import os
from moonpress.document import BBox, Block, BlockKind, PageReading
from moonpress.engines.fake import FakeEngine
from moonpress.errors import BadOutput, EngineUnavailable

def long_page(image):
    html = f"<p>{'word ' * 50_000}</p>"
    block = Block(f"p{image.number}-b1", BlockKind.TEXT, BBox(0, 0, 1, 1), html)
    return PageReading(blocks=(block,))

def create(options):
    if os.environ.get("SCRIPTED_ABSENT"):
        raise EngineUnavailable("the server does not answer", hint="Start it")
    failures = {}
    for kind, name in ((BadOutput, "SCRIPTED_BAD"), (EngineUnavailable, "SCRIPTED_GONE"),
                       (ZeroDivisionError, "SCRIPTED_BUG")):
        for number in os.environ.get(name, "").split():
            failures[int(number)] = kind("as the script says")
    delay = float(os.environ.get("SCRIPTED_DELAY", "0"))
    actions = {int(number): long_page for number in os.environ.get("SCRIPTED_LONG", "").split()}
    return FakeEngine(options.workers or 1, delay, failures, actions)
"""
_DIST_INFO = {
    "METADATA": "Metadata-Version: 2.1\nName: scripted-engine\nVersion: 1\n",
    "entry_points.txt": "[moonpress.engines]\nscripted = scripted_engine:create\n",
}


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended."""

    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        """The one line on standard error; fails when there is another number of lines."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


@dataclass(frozen=True, slots=True)
class Chandra:
    """The command in a folder of its own."""

    folder: Path
    env: dict[str, str]

    def __call__(
        self, *arguments: str | Path, stdin: bytes = b"", timeout: float = PATIENCE, **env: str
    ) -> Result:
        """Run to the end; what takes longer than ``timeout`` seconds fails the test."""
        return self._run(arguments, stdin, timeout, env)

    def scripted(self, *arguments: str | Path, stdin: bytes = b"", **env: str) -> Result:
        """Run with the scripted engine."""
        return self._run(arguments, stdin, PATIENCE, {"MOONPRESS_ENGINE": "scripted", **env})

    def _run(
        self,
        arguments: Sequence[str | Path],
        stdin: bytes,
        timeout: float,
        env: Mapping[str, str],
    ) -> Result:
        done = subprocess.run(
            [COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.folder,
            env={**self.env, **env},
            timeout=timeout,
            check=False,
        )
        err = done.stderr.decode(errors="replace")
        assert not re.search(r"^Traceback", err, re.MULTILINE), err
        return Result(done.returncode, done.stdout, err)

    def files(self) -> set[str]:
        """Every file and folder there is in the folder now."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


def install_scripted_engine(folder: Path) -> None:
    """Put the plug-in where ``PYTHONPATH`` can name it, as any third party's package."""
    info = folder / "scripted_engine-1.dist-info"
    info.mkdir(parents=True)
    for name, text in _DIST_INFO.items():
        (info / name).write_text(text)
    (folder / "scripted_engine.py").write_text(_PLUGIN)


def clean_environment(plugins: Path) -> dict[str, str]:
    """Our environment without settings of the person who runs the tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MOONPRESS_", "SCRIPTED_"))}
    path = os.pathsep.join(filter(None, (str(plugins), os.environ.get("PYTHONPATH"))))
    return {**kept, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
