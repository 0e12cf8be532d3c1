"""Where commands keep what outlives them and belongs to no output.

Owns the place. Never makes it.
"""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """The user's folder for the state of programs, as the XDG specification has it."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path("~/.local/state").expanduser()) / "moonpress"
