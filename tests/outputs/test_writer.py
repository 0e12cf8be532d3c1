from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from moonpress.document import PageImage, RenderOptions
from moonpress.errors import NoSpace, OutputError
from moonpress.outputs import writer
from moonpress.outputs.figures import FigureCrops
from moonpress.outputs.targets import Targets, resolve_targets
from moonpress.outputs.writer import link, write_document
from tests.outputs.sample import SIZE, make_document


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def crops(tmp_path: Path) -> FigureCrops:
    (tmp_path / "crops").mkdir()
    kept = FigureCrops(tmp_path / "crops")
    for page in make_document().pages[:2]:
        pixels = np.full((SIZE.height_px, SIZE.width_px, 3), 255, dtype=np.uint8)
        kept.keep(PageImage(page.number, pixels, SIZE), page.blocks)
    return kept


def write(targets: Targets, crops: FigureCrops | None = None) -> list[Path]:
    return write_document(make_document(), targets, crops, RenderOptions())


def listing() -> set[str]:
    return {str(p) for p in Path().rglob("*") if p.is_file()}


CROPS = {f"{block}.png" for block in ("p1-b12", "p2-b1", "p2-b3", "p2-b4", "p2-b5", "p2-b6")}


def test_one_file_and_its_figures(crops: FigureCrops) -> None:
    written = write(resolve_targets("x.pdf", "my report.md", []), crops)
    assert written == [Path("my report.md"), Path("my report_files")]
    assert listing() == {"my report.md"} | {f"my report_files/{name}" for name in CROPS}
    assert "](my%20report_files/p2-b1.png)" in Path("my report.md").read_text()
    assert set(crops.paths) == {name.removesuffix(".png") for name in CROPS}
    assert all(path.exists() for path in crops.paths.values())


def test_folder_is_made_and_gets_all_formats(crops: FigureCrops) -> None:
    write(resolve_targets("x.pdf", "a/b/", []), crops)
    texts = {"a/b/x.html", "a/b/x.json", "a/b/x.md", "a/b/x.txt"}
    assert listing() == texts | {f"a/b/x_files/{name}" for name in CROPS}


def test_without_crops_there_is_no_folder() -> None:
    assert write(resolve_targets("x.pdf", None, [])) == [Path("x.md")]
    assert listing() == {"x.md"}


def test_older_results_are_replaced(crops: FigureCrops) -> None:
    Path("x_files").mkdir()
    Path("x_files/p9-b9.png").write_text("old")
    Path("x.md").write_text("old")
    Path("x.md").chmod(0o640)
    write(resolve_targets("x.pdf", "x.md", []), crops)
    assert listing() == {"x.md"} | {f"x_files/{name}" for name in CROPS}
    assert stat.S_IMODE(Path("x.md").stat().st_mode) == 0o640


def test_new_files_have_ordinary_permissions() -> None:
    old = os.umask(0o022)
    try:
        write(resolve_targets("x.pdf", "x.md", []))
    finally:
        os.umask(old)
    assert stat.S_IMODE(Path("x.md").stat().st_mode) == 0o644


def test_file_behind_a_link_is_replaced_not_the_link() -> None:
    Path("real").mkdir()
    Path("x.md").symlink_to("real/y.md")
    write(resolve_targets("x.pdf", "x.md", []))
    assert Path("x.md").is_symlink()
    assert listing() == {"x.md", "real/y.md"}


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes], crops: FigureCrops) -> None:
    assert write(resolve_targets("x.pdf", "-", ["text"]), crops) == []
    assert capfdbinary.readouterr().out.decode() == make_document().to_text()
    assert listing() == set()


def test_device_is_written_into() -> None:
    write(resolve_targets("x.pdf", "/dev/null", ["text"]))
    assert Path("/dev/null").is_char_device()
    with pytest.raises(NoSpace):
        write(resolve_targets("x.pdf", "/dev/full", ["text"]))


@pytest.fixture
def _small_disk() -> Iterator[None]:
    """The system refuses to let any file of this process grow over 3,000 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)


def before_and_after(action: str) -> None:
    assert Path("x.md").read_text() == "old", action
    assert listing() == {"x.md", "x_files/p9-b9.png"}, action


@pytest.fixture
def _old_results() -> None:
    Path("x.md").write_text("old")
    Path("x_files").mkdir()
    Path("x_files/p9-b9.png").write_text("old")


@pytest.mark.usefixtures("_old_results")
def test_refused_growth_leaves_nothing_and_the_old(
    crops: FigureCrops, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("_small_disk")
    with pytest.raises(OutputError) as caught:
        write(resolve_targets("x.pdf", "./", []), crops)
    assert "x." in str(caught.value)
    before_and_after("file size limit")


@pytest.mark.usefixtures("_old_results")
@pytest.mark.parametrize("step", ["sync", "_link_or_copy", "_swap_folder"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_at_any_step_leaves_nothing_and_the_old(
    step: str, failure: BaseException, crops: FigureCrops, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise failure

    monkeypatch.setattr(writer, step, fail)
    expected = NoSpace if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write(resolve_targets("x.pdf", "x.md", []), crops)
    before_and_after(step)


@pytest.mark.usefixtures("_old_results")
def test_old_figures_come_back_when_the_new_cannot_take_their_place(
    crops: FigureCrops, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename
    calls: list[Path] = []

    def second_fails(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(OutputError, match="Input/output error"):
        write(resolve_targets("x.pdf", "x.md", []), crops)
    before_and_after("rename")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_full_disk(tiny_disk: Path, crops: FigureCrops) -> None:
    (tiny_disk / "x.md").write_text("old")
    (tiny_disk / "ballast").write_bytes(b"x" * 50_000)
    with pytest.raises(NoSpace) as caught:
        write(resolve_targets("x.pdf", f"{tiny_disk}/", []), crops)
    assert "[no-space]" in str(caught.value)
    assert sorted(p.name for p in tiny_disk.iterdir()) == ["ballast", "x.md"]
    assert (tiny_disk / "x.md").read_text() == "old"


def test_crops_on_another_disk_are_copied(tiny_disk: Path, tmp_path: Path) -> None:
    kept = FigureCrops(tiny_disk)
    pixels = np.full((SIZE.height_px, SIZE.width_px, 3), 255, dtype=np.uint8)
    kept.keep(PageImage(2, pixels, SIZE), make_document().pages[1].blocks[:1])
    write(resolve_targets("x.pdf", "x.md", []), kept)
    assert listing() == {"x.md", "x_files/p2-b1.png"}


def test_links_survive_any_file_name() -> None:
    assert link("a b_files", "p1.png") == "a%20b_files/p1.png"
    assert link("论文 (1)#2?100%_files", "p1.png") == "论文%20%281%29%232%3F100%25_files/p1.png"
    assert link("c:x\n_files", "p") == "c%3Ax%0A_files/p"
