"""What environment variables and the configuration file say about servers.

Owns their names and the order in which they count: what the caller gives, then the environment,
then the file. Never acts on them. Read by entry points only.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from moonpress.engines.registry import ServerOptions
from moonpress.errors import UsageError

_PREFIX = "MOONPRESS_"
_FILE_VARIABLE = "MOONPRESS_CONFIG"
_HINT = "docs/chandra.md shows an example"


def server_options(
    *,
    urls: Sequence[str] = (),
    api_key: str | None = None,
    model: str | None = None,
    ca_file: str | None = None,
    headers: Sequence[str] = (),
    image_format: str | None = None,
    confidence: bool = True,
    environment: Mapping[str, str] | None = None,
) -> ServerOptions:
    """Choices about servers from all places.

    Args:
        urls: As for `ServerOptions`, like all the others; empty ones are looked up elsewhere.
        api_key: See there.
        model: See there.
        ca_file: See there.
        headers: See there.
        image_format: See there.
        confidence: See there.
        environment: The environment variables; this process's own when left out.

    Raises:
        UsageError: the configuration file cannot be read, or holds what makes no sense.
    """
    variables = os.environ if environment is None else environment
    path = config_file(variables)
    file = _read(path)

    def text(name: str, given: str | None) -> str | None:
        value = given or variables.get(f"{_PREFIX}{name.upper()}") or file.get(name)
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name} in {path} is no text", hint=_HINT)
        return value or None

    def texts(name: str, given: Sequence[str], variable: str) -> tuple[str, ...]:
        if given:
            return tuple(given)
        if variables.get(variable):
            return tuple(part for part in variables[variable].replace(",", " ").split() if part)
        value = file.get(name, [])
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise UsageError(f"{name} in {path} is neither text nor a list of texts", hint=_HINT)
        return tuple(values)

    return ServerOptions(
        urls=texts("url", urls, "MOONPRESS_URL"),
        api_key=text("api_key", api_key),
        model=text("model", model),
        ca_file=text("ca_file", ca_file),
        # Headers hold spaces and commas, so no variable can hold several.
        headers=texts("header", headers, ""),
        image_format=text("image_format", image_format),
        confidence=confidence and file.get("confidence", True) is not False,
    )


def config_file(environment: Mapping[str, str]) -> Path:
    """Where the configuration file is: ``MOONPRESS_CONFIG``, else in the user's own folder."""
    if environment.get(_FILE_VARIABLE):
        return Path(environment[_FILE_VARIABLE])
    home = environment.get("XDG_CONFIG_HOME")
    folder = Path(home) if home else Path("~/.config").expanduser()
    return folder / "moonpress" / "config.toml"


def _read(path: Path) -> dict[str, Any]:
    """The file's table; an absent file is an empty one."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=_HINT) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}", hint=_HINT) from error
