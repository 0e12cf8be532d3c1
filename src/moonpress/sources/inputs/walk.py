"""Walking a tree of folders in a fixed order, with what cannot be read told by the way.

Owns the order (by name, folder for folder), what is passed over (hidden names, folders to leave
out, files that nobody would want read), and the detection of links that lead in circles. Holds the
names of the folders between the root and where it is, and nothing else. Never opens a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from moonpress.errors import InputError, InputNotAFile, InputUnreadable
from moonpress.sources.inputs.address import shown
from moonpress.sources.inputs.globs import GlobPattern, State
from moonpress.sources.inputs.item import InputProblem
from moonpress.sources.inputs.tree import Entry, Identity, Tree, identities_above

# Folders that link to each other in all ways make a number of paths that no one wants to wait for.
_LINKS_WITHIN_LINKS = 4
# On a web server a folder that holds itself has a new address each time.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was found.

    Attributes:
        parts: Its path below the root, part by part.
        address: Where it is.
        entry: What is known of it.
    """

    parts: tuple[str, ...]
    address: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Walk:
    """What to walk.

    Attributes:
        tree: Where the folders are.
        root: Address of the folder to begin at.
        name: What the user calls it.
        wanted: Tells by its name whether a file is taken that no pattern asked for.
        skipped: Told the name of each file that is not.
        pattern: Only what matches it is taken; folders that match are walked whole.
        leave_out: Folders that are not entered.
    """

    tree: Tree
    root: str
    name: str
    wanted: Callable[[str], bool]
    skipped: Callable[[str], None]
    pattern: GlobPattern | None = None
    leave_out: frozenset[Identity] = frozenset()


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that is being walked.

    Attributes:
        above: Itself and all folders around it.
        links: How many links were followed to come here.
        state: Where the pattern stands; ``None`` when everything is taken.
    """

    parts: tuple[str, ...]
    address: str
    above: frozenset[Identity]
    links: int
    state: State | None


def walk(job: Walk) -> Iterator[Found | InputProblem]:
    """All files below the root, sorted by name within each folder, and what cannot be read."""
    state = job.pattern.start() if job.pattern else None
    try:
        above = identities_above(job.tree, job.root)
        stack = [(root := _Folder((), job.root, above, 0, state), _listing(job, root))]
    except InputError as error:
        yield _problem(job, (), error)
        return
    while stack:
        folder, entries = stack[-1]
        try:
            entry = next(entries, None)
        except InputError as error:
            entry = None
            yield _problem(job, folder.parts, error)
        if entry is None:
            stack.pop()
            continue
        try:
            met = _meet(job, folder, entry)
            if isinstance(met, _Folder):
                stack.append((met, _listing(job, met)))
            elif met is not None:
                yield met
        except InputError as error:
            yield _problem(job, (*folder.parts, entry.name), error)


def _listing(job: Walk, folder: _Folder) -> Iterator[Entry]:
    return iter(job.tree.entries(folder.address))


def _meet(job: Walk, folder: _Folder, entry: Entry) -> _Folder | Found | None:
    """What to do with one entry: enter it, take it, or pass it over."""
    state = folder.state
    matches, asked_for = True, False
    if job.pattern is not None and state is not None:
        state = job.pattern.step(state, entry.name)
        matches = job.pattern.is_match(state)
        asked_for = matches and job.pattern.names_kind
        if not state:
            return None
    elif entry.name.startswith("."):
        return None
    if entry.kind == "folder":
        return _enter(job, folder, entry, None if matches else state)
    dangling = entry.kind == "other" and entry.is_link
    if not matches:
        return None
    if not (asked_for or dangling or job.wanted(entry.name)):
        job.skipped(shown("/".join((job.name, *folder.parts, entry.name))))
        return None
    address = job.tree.child(folder.address, entry.name, entry.kind)
    known = job.tree.known(address, entry)
    if known.kind != "file":
        raise InputNotAFile("this is not a regular file")
    return Found((*folder.parts, entry.name), address, known)


def _enter(job: Walk, folder: _Folder, entry: Entry, state: State | None) -> _Folder | None:
    address = job.tree.child(folder.address, entry.name, entry.kind)
    identity = job.tree.identity(address)
    if identity in job.leave_out:
        return None
    if identity in folder.above:
        raise InputUnreadable("the link leads in a circle", hint="Remove the link")
    if len(folder.parts) >= _DEEPEST:
        raise InputUnreadable(
            f"folders are nested more than {_DEEPEST} deep", hint="Name the folder itself"
        )
    links = folder.links + entry.is_link
    if links > _LINKS_WITHIN_LINKS:
        raise InputUnreadable(
            f"more than {_LINKS_WITHIN_LINKS} links to folders were followed to come here",
            hint="Name the folder itself",
        )
    return _Folder((*folder.parts, entry.name), address, folder.above | {identity}, links, state)


def _problem(job: Walk, parts: tuple[str, ...], error: InputError) -> InputProblem:
    name = shown("/".join((job.name, *parts)))
    kind = type(error)
    return InputProblem(name, kind(shown(error.message), file=name, hint=shown(error.hint)))
