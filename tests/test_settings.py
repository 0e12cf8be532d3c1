from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.errors import UsageError
from moonpress.settings import config_file, server_options

FILE = """\
url = ["http://gpu1:8000/v1", "http://gpu2:8000/v1"]
api_key = "from-file"
header = "X-Team: papers"
confidence = false
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    return {"MOONPRESS_CONFIG": str(path)}


def test_the_file_is_read(environment: dict[str, str]) -> None:
    options = server_options(environment=environment)
    assert options.urls == ("http://gpu1:8000/v1", "http://gpu2:8000/v1")
    assert options.api_key == "from-file"
    assert options.headers == ("X-Team: papers",)
    assert options.confidence is False
    assert options.model is None


def test_variables_win_over_the_file_and_arguments_over_both(environment: dict[str, str]) -> None:
    environment |= {"MOONPRESS_URL": "a:1, b:2", "MOONPRESS_API_KEY": "from-variable"}
    options = server_options(environment=environment)
    assert options.urls == ("a:1", "b:2")
    assert options.api_key == "from-variable"
    options = server_options(urls=["c:3"], api_key="given", environment=environment)
    assert options.urls == ("c:3",)
    assert options.api_key == "given"


def test_no_file_is_no_error(tmp_path: Path) -> None:
    options = server_options(environment={"XDG_CONFIG_HOME": str(tmp_path)})
    assert options.urls == ()
    assert config_file({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "moonpress/config.toml"


@pytest.mark.parametrize("text", ["url = 7", "url = [7]", "model = 7", "url =", "\xff"])
def test_a_file_that_makes_no_sense_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"config\.toml"):
        server_options(environment={"MOONPRESS_CONFIG": str(path)})
