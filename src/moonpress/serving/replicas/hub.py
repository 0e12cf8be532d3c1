"""Whether the Hugging Face hub gives a model to this user.

Owns one question to the hub, about the headers of one small file. Never fetches weights.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_HUB = "https://huggingface.co"
_SECONDS = 10.0


class Access(StrEnum):
    """What the hub says."""

    OPEN = "open"
    GATED = "gated"
    UNKNOWN = "unknown"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking.

    Attributes:
        access: Whether the model can be had.
        token: Whether the user was named by a token.
        words: Why the hub could not be asked; empty otherwise.
    """

    access: Access
    token: bool
    words: str = ""


def ask_hub(model: str, environment: Mapping[str, str]) -> Answer:
    """Ask whether ``config.json`` of a model can be had."""
    token = _token(environment)
    known = token is not None
    if environment.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        return Answer(Access.AWAY, known, "HF_HUB_OFFLINE is set")
    base = environment.get("HF_ENDPOINT") or _HUB
    if urllib.parse.urlsplit(base).scheme not in {"http", "https"}:
        return Answer(Access.AWAY, known, f"HF_ENDPOINT is no web address: {base}")
    url = f"{base.rstrip('/')}/{urllib.parse.quote(model)}/resolve/main/config.json"
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, method="HEAD", headers=headers)  # noqa: S310 - checked
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310 - checked above
            return Answer(Access.OPEN, known)
    except urllib.error.HTTPError as error:
        reason = error.headers.get("X-Error-Code", "")
        return _refused(error.code, reason, known=known)
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)
        return Answer(Access.AWAY, known, str(cause) or type(error).__name__)


def _refused(status: int, reason: str, *, known: bool) -> Answer:
    # Without a token the hub answers 401 for what does not exist, too.
    if reason == "RepoNotFound" or status == 404:
        return Answer(Access.UNKNOWN, known)
    if status in {401, 403}:
        return Answer(Access.GATED, known)
    return Answer(Access.AWAY, known, f"status {status}")


def _token(environment: Mapping[str, str]) -> str | None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if environment.get(name):
            return environment[name].strip()
    home = Path(environment.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    path = Path(environment.get("HF_TOKEN_PATH") or home / "token")
    try:
        return path.read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None
