"""Looking into batch runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.batch.entry import State
from moonpress.errors import InputMissing
from moonpress.ui.runs import Runs
from tests.ui.batch import finished_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run in it, of which a page and a document failed."""
    return finished_run(tmp_path_factory.mktemp("runs"))


def test_a_run_is_found_by_its_folder_and_by_the_one_above(folder: Path) -> None:
    above = Runs([folder])
    assert [run.name for run in above.now()] == ["first"]
    assert above.now()[0] is above.now()[0], "or nobody could tell how fast it is"
    assert [run.name for run in Runs([folder / "first"]).now()] == ["first"]
    assert Runs([folder / "first" / "alpha"]).now() == []


def test_a_view_counts_what_is_done_and_says_what_failed(folder: Path) -> None:
    view = Runs([folder]).now()[0].look()
    assert view.documents[State.DONE] == 2
    assert view.documents[State.FAILED] == 1
    assert (view.pages, view.expected, view.guessed, view.failed_pages) == (5, 5, False, 1)
    assert view.over
    assert view.engine == "scripted-batch"
    assert {(one.id, one.page) for one in view.failures} == {("broken.pdf", None), ("beta.pdf", 2)}
    assert all(one.reason.endswith("]") for one in view.failures)
    assert {one.id: one.pages for one in view.outputs} == {"alpha.pdf": 3, "beta.pdf": 2}
    assert any(name.endswith("alpha.md") for one in view.outputs for name in one.files)


def test_the_rate_is_that_between_two_looks(folder: Path) -> None:
    run = Runs([folder]).now()[0]
    assert run.look().rate is None


def test_only_files_of_the_output_can_be_had(folder: Path) -> None:
    run = Runs([folder]).now()[0]
    good = next(name for one in run.look().outputs for name in one.files)
    assert run.file(good).is_file()
    secret = folder / "secret.txt"
    secret.write_text("no")
    (folder / "first" / "link.txt").symlink_to(secret)
    for bad in (
        "../secret.txt",
        str(secret),
        ".moonpress/ledger.sqlite",
        "link.txt",
        "alpha",
        "\0",
    ):
        with pytest.raises(InputMissing):
            run.file(bad)
