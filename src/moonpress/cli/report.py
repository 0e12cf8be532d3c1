"""What a command says after the last page, and its exit code.

Owns the wording of failed and doubtful pages and the closing line. Never writes results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from moonpress.cli.errors import ENGINE_UNAVAILABLE, NOTHING_READ, SOME_PAGES_FAILED
from moonpress.cli.voice import Voice, printable
from moonpress.document import Document, Page, PageStatus, Problem, ProblemCode
from moonpress.telemetry import event

_ERROR = "error"
_WARNING = "warning"
_NOTE = "note"
_MOST_NOTES = 5
# Something that the user wants is missing in the result, though the page counts as read.
_LOSSES = {ProblemCode.LANGUAGE_PACK_MISSING, ProblemCode.PICTURE_TRUNCATED}
_BY_STATUS = {PageStatus.FAILED: _ERROR, PageStatus.PARTIAL: _WARNING}


def exit_code(document: Document) -> int:
    """0 when every page was read (blank ones are), 3 when some failed, 4 or 5 when all did."""
    statuses = [page.status for page in document.pages]
    if all(status is PageStatus.FAILED for status in statuses):
        reasons = {_reason(page).code for page in document.pages}
        unavailable = reasons == {ProblemCode.ENGINE_UNAVAILABLE}
        return ENGINE_UNAVAILABLE if unavailable else NOTHING_READ
    if any(status in _BY_STATUS for status in statuses):
        return SOME_PAGES_FAILED
    return 0


def tell_pages(document: Document, voice: Voice) -> None:
    """One line for each thing that is wrong with a page; pages with the same reason share it.

    Doubts about pages that were read are told only where a person looks on, and a few of them:
    JSON has them all.
    """
    pages_by_reason: dict[tuple[str, str, str], list[int]] = {}
    for page in document.pages:
        for kind, problem in _told(page):
            reason = (kind, problem.message, problem.code)
            pages_by_reason.setdefault(reason, []).append(page.number)
    notes: list[str] = []
    source = printable(document.source)
    for (kind, message, code), numbers in pages_by_reason.items():
        line = f"{kind}: {source}, {page_list(numbers)}: {message} [{code}]"
        if kind == _NOTE:
            notes.append(line)
        else:
            voice.say(line)
    if voice.chatty:
        for line in notes[:_MOST_NOTES]:
            voice.say(line)
        if len(notes) > _MOST_NOTES:
            voice.say(f"note: {source}: {len(notes) - _MOST_NOTES} more notes; JSON has them all")


def tell_written(document: Document, paths: Sequence[Path], seconds: float, voice: Voice) -> None:
    """The closing line: what was written, how many pages, how long it took."""
    failed = len(document.failed_pages)
    event(
        "written",
        document=document.source,
        files=[str(path) for path in paths],
        pages=len(document.pages),
        failed=failed,
        seconds=round(seconds, 3),
    )
    if voice.chatty and paths:
        count = len(document.pages)
        pages = f"{count} page{'s' if count != 1 else ''}"
        failures = f", {failed} failed" if failed else ""
        voice.say(f"Wrote {_path_list(paths)} ({pages}{failures}) in {seconds:.1f} s")


def _path_list(paths: Sequence[Path]) -> str:
    """``report.md``, ``out/: report.html, report.md``: the folder once, for files in one folder."""
    if len(paths) == 1:
        return str(paths[0])
    folder = paths[0].parent
    names = ", ".join(path.name for path in paths)
    return names if folder == Path() else f"{folder}/: {names}"


def page_list(numbers: Iterable[int]) -> str:
    """``page 3``, ``pages 1-3, 7``: as short as it goes."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    if len(runs) == 1 and runs[0][0] == runs[0][1]:
        return f"page {runs[0][0]}"
    parts = (str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"pages {', '.join(parts)}"


def _told(page: Page) -> Iterator[tuple[str, Problem]]:
    """The problems of a page that are told, each with its weight."""
    if page.status is PageStatus.FAILED:
        yield _ERROR, _reason(page)
        return
    weight = _BY_STATUS.get(page.status, _NOTE)
    # Doubts about single blocks stand beside the blocks, in JSON.
    of_page = [problem for problem in page.problems if problem.block_id is None]
    for problem in of_page:
        yield (_WARNING if problem.code in _LOSSES else weight), problem
    if page.status is PageStatus.PARTIAL and not of_page:
        yield _WARNING, Problem(code="partial", message="the page was read in part")


def _reason(page: Page) -> Problem:
    """Why a failed page failed: what the pipeline added last."""
    if page.problems:
        return page.problems[-1]
    return Problem(code="unknown", message="the page failed without a reason")
