"""A small batch run for tests of the page that shows runs.

Owns its inputs. Never looks at the page.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.batch.command import COMMAND, PATIENCE, labelled_pdf
from tests.batch.scripted_engine import install
from tests.cli.command import clean_environment
from tests.conftest import CHECKOUT


def scripted_environment(folder: Path) -> dict[str, str]:
    """Variables with which commands find the engine ``scripted-batch``."""
    plugins = folder if folder.is_dir() and any(folder.iterdir()) else install(folder)
    environment = clean_environment(plugins)
    environment["PYTHONPATH"] = f"{environment['PYTHONPATH']}:{CHECKOUT}"
    return environment


def finished_run(folder: Path, **script: str) -> Path:
    """``folder/first`` has a run's output: page 2 of beta failed, broken.pdf as a whole."""
    inputs = folder.parent / f"{folder.name}-inputs"
    inputs.mkdir()
    (inputs / "alpha.pdf").write_bytes(labelled_pdf("alpha", 3))
    (inputs / "beta.pdf").write_bytes(labelled_pdf("beta", 2))
    (inputs / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    environment = scripted_environment(folder.parent / f"{folder.name}-plugins")
    done = subprocess.run(
        [COMMAND, inputs, "-o", folder / "first", "--engine", "scripted-batch", "--workers", "1"],
        env={**environment, "SCRIPT_REFUSE": "beta page 2", **script},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    return folder
