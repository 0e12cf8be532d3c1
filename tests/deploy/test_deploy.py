"""The deployment files: well-formed, in step with the command, started where that needs no GPU.

Images are not built here. What their recipes name is checked: files, options, ports, paths.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml

from moonpress.cli import serve
from tests.batch.command import labelled_pdf, wait_for
from tests.cli.command import clean_environment
from tests.serving.conftest import free_port

_BIN = Path(sys.executable).parent
_IMAGES = ("Dockerfile", "Dockerfile.cpu")


@pytest.fixture(scope="module")
def deploy(checkout: Path) -> Path:
    return checkout / "deploy"


@pytest.fixture(scope="module")
def compose(deploy: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((deploy / "compose.yaml").read_text())
    return found


@pytest.fixture(scope="module")
def manifests(deploy: Path) -> dict[str, dict[str, Any]]:
    documents = yaml.safe_load_all((deploy / "kubernetes" / "moonpress.yaml").read_text())
    return {one["kind"]: one for one in documents}


def _instructions(path: Path) -> list[tuple[str, str]]:
    """Instructions of a Dockerfile with their arguments, continued lines joined."""
    text = path.read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    parts = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in parts]


def _entrypoint(path: Path) -> list[str]:
    (found,) = (rest for word, rest in _instructions(path) if word == "ENTRYPOINT")
    words: list[str] = json.loads(found)
    return words


def _parsed(arguments: list[str]) -> dict[str, Any]:
    """The options of a command line of ours; flags that would be passed on to vLLM are refused."""
    assert arguments[0] == serve.PROGRAM
    command = typer.main.get_command(serve.serve_app)
    strict: dict[str, Any] = {"ignore_unknown_options": False, "allow_extra_args": False}
    context = command.make_context(serve.PROGRAM, arguments[1:], **strict)
    return dict(context.params)


@pytest.mark.parametrize("name", _IMAGES)
def test_an_image_has_what_it_needs_and_runs_as_nobody_special(deploy: Path, name: str) -> None:
    steps = _instructions(deploy / name)
    words = [word for word, _ in steps]
    for rest in (rest for word, rest in steps if word == "COPY"):
        for source in shlex.split(rest)[:-1]:
            assert (deploy.parent / source).exists(), source
    assert "USER" in words[: words.index("ENTRYPOINT")]
    assert dict(steps)["USER"] == "moonpress"
    (health,) = (rest for word, rest in steps if word == "HEALTHCHECK")
    program = json.loads(health[health.index("[") :])
    compile(program[-1], name, "exec")
    assert "127.0.0.1:8000/ready" in program[-1]
    assert dict(steps)["EXPOSE"] == "8000"


@pytest.mark.parametrize("name", _IMAGES)
def test_the_entry_of_an_image_is_understood(deploy: Path, name: str) -> None:
    options = _parsed(_entrypoint(deploy / name))
    assert (options["host"], options["port"]) == ("0.0.0.0", 8000)
    with pytest.raises(typer.TyperException):
        _parsed([*_entrypoint(deploy / name), "--no-such-option"])


def test_what_an_image_copies_is_a_package(deploy: Path, tmp_path: Path) -> None:
    sources = [
        source
        for word, rest in _instructions(deploy / "Dockerfile.cpu")
        if word == "COPY"
        for source in shlex.split(rest)[:-1]
    ]
    for source in sources:
        path = deploy.parent / source
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, tmp_path / path.name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "wheels", "."]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300)
    assert len(list((tmp_path / "wheels").glob("moonpress-*.whl"))) == 1


def test_compose_is_as_its_specification_says(deploy: Path) -> None:
    command: list[str | Path] = [_BIN / "check-jsonschema", "--builtin-schema"]
    command += ["vendor.compose-spec"]
    subprocess.run([*command, deploy / "compose.yaml"], check=True, timeout=60)


def test_compose_names_files_that_are_there(deploy: Path, compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (deploy / source).exists(), source
            else:
                assert source in compose["volumes"]
        if "build" in service:
            context = deploy / service["build"]["context"]
            assert (context / service["build"]["dockerfile"]).is_file()


def test_prometheus_asks_where_the_service_answers(deploy: Path, compose: dict[str, Any]) -> None:
    config = yaml.safe_load((deploy / "prometheus.yml").read_text())
    (target,) = config["scrape_configs"][0]["static_configs"][0]["targets"]
    host, port = target.split(":")
    for name in ("gpu", "cpu"):
        service = compose["services"][name]
        assert host in service["networks"]["default"]["aliases"]
        assert service["ports"] == [f"{port}:{port}"]
        entry = _entrypoint(deploy / Path(service["build"]["dockerfile"]).name)
        assert entry[entry.index("--port") + 1] == port
    data = yaml.safe_load((deploy / "grafana/provisioning/datasources/prometheus.yaml").read_text())
    assert data["datasources"][0]["url"] == "http://prometheus:9090"


def test_kubernetes_objects_fit_each_other(manifests: dict[str, dict[str, Any]]) -> None:
    stateful = manifests["StatefulSet"]["spec"]
    pod = stateful["template"]
    (container,) = pod["spec"]["containers"]
    labels = pod["metadata"]["labels"]
    assert stateful["selector"]["matchLabels"] == labels
    assert manifests["Service"]["spec"]["selector"] == labels
    assert manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert stateful["serviceName"] == manifests["Service"]["metadata"]["name"]
    (port,) = container["ports"]
    assert manifests["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    assert [probe["path"] for probe in probes] == ["/ready", "/ready", "/health"]
    volumes = {one["name"] for one in pod["spec"]["volumes"]}
    claims = {one["metadata"]["name"] for one in stateful["volumeClaimTemplates"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes | claims


def test_kubernetes_options_are_understood(
    deploy: Path, manifests: dict[str, dict[str, Any]]
) -> None:
    (container,) = manifests["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    options = _parsed([*_entrypoint(deploy / "Dockerfile"), *container["args"]])
    assert options["port"] == container["ports"][0]["containerPort"]


def test_nginx_understands_its_file(deploy: Path) -> None:
    command: list[str | Path] = [_BIN / "crossplane", "parse", "--strict", deploy / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    parsed = json.loads(done.stdout)
    assert (parsed["status"], parsed["errors"]) == ("ok", [])


@pytest.fixture(scope="module")
def running(
    deploy: Path, compose: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The service as compose starts it where there is no GPU, on a port of this machine."""
    folder = tmp_path_factory.mktemp("compose")
    port = str(free_port())
    entry = _entrypoint(deploy / "Dockerfile.cpu")
    entry[entry.index("--port") + 1] = port
    environment = clean_environment(folder) | {"XDG_STATE_HOME": str(folder / "state")}
    environment |= dict.fromkeys(compose["services"]["cpu"]["environment"], "")
    process = subprocess.Popen(
        [_BIN / entry[0], *entry[1:], *compose["services"]["cpu"]["command"]],
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        assert process.poll() is None
        try:
            return httpx.get(f"{url}/ready").status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_for(ready, seconds=120)
        yield url
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def test_the_service_of_compose_reads_and_tells_prometheus(running: str, deploy: Path) -> None:
    files = {"file": ("paper.pdf", labelled_pdf("paper", 1), "application/pdf")}
    answer = httpx.post(f"{running}/v1/ocr", files=files, timeout=120)
    assert answer.status_code == 200
    config = yaml.safe_load((deploy / "prometheus.yml").read_text())
    told = httpx.get(running + config["scrape_configs"][0]["metrics_path"]).text
    assert re.search(r'^moonpress_pages_total\{status="ok"\} 1\.0$', told, re.MULTILINE)


def test_a_page_is_read_through_nginx(running: str, deploy: Path, tmp_path: Path) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    text = (deploy / "nginx.conf").read_text()
    # One host stands for the service that runs here, the other for one that is down.
    text = text.replace("gpu1.internal:8000", running.removeprefix("http://"))
    text = text.replace("gpu2.internal:8000", f"127.0.0.1:{free_port()}")
    text = text.replace("listen 8443;", f"listen 127.0.0.1:{port};")
    config = tmp_path / "nginx.conf"
    config.write_text(f"daemon off;\npid {tmp_path}/pid;\n{text}")
    process = subprocess.Popen([nginx, "-e", "stderr", "-c", config], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: _answers(url))
        for _ in range(4):
            files = {"file": ("paper.pdf", labelled_pdf("paper", 1), "application/pdf")}
            answer = httpx.post(f"{url}/v1/ocr", files=files, timeout=120)
            assert answer.status_code == 200
            assert "paper page 1" in answer.json()["content"]
        assert httpx.get(f"{url}/metrics").status_code == 403
    finally:
        process.terminate()
        process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5).status_code == 200
    except httpx.TransportError:
        return False
