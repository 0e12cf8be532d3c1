"""Finding the documents that a run is to read.

Owns turning what the user named into items, one after the other, in a fixed order, and the names
they get. Holds no list of what it found: memory does not grow with the number of documents, but for
the names in the folder that is being listed. Blocks; callers run it in a thread. Never opens a
document.

Ids are made of where a document is, and of nothing that was found before:

- one root: its path below the root, ``sub/report.pdf``; a file by itself has its name;
- several roots: the root's name before that, with a digest of its place when two have one name;
- a line of a list or manifest: its path below the folder of the list, else its whole address,
  ``@file/data/report.pdf``, ``@https/example.org/a.pdf``, or the id that the manifest gives;
- members of an archive: the archive's id, then their path in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from moonpress.errors import (
    InputEmpty,
    InputError,
    InputMissing,
    InputNotAFile,
    MoonpressError,
)
from moonpress.sources.inputs.address import (
    WEB,
    MemberAddress,
    archive_name,
    is_remote,
    scheme_of,
    shown,
    uri_of,
)
from moonpress.sources.inputs.archives import BadMember, members
from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.ids import join_id, safe_parts
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.inputs.kinds import archive_kind, is_document
from moonpress.sources.inputs.lists import Line, lines, list_entry, manifest_record
from moonpress.sources.inputs.remote import StoreTree, remote_tree
from moonpress.sources.inputs.roots import Naming, name_roots
from moonpress.sources.inputs.targets import Target, exact_target, parse_target
from moonpress.sources.inputs.tree import Entry, Identity, LocalTree, local_identity
from moonpress.sources.inputs.walk import Walk, walk

ARXIV = "https://arxiv.org/pdf/{id}"

Finding = InputItem | InputProblem


def _unheard(name: str) -> None:
    """Nobody counts."""


@dataclass(frozen=True, slots=True)
class FindOptions:
    """How to look.

    Attributes:
        copies: Where remote archives and lists are copied to.
        leave_out: Local folders that are not entered, such as those that the run writes to.
        arxiv: Address of an arXiv paper, with ``{id}`` in it.
        skipped: Told the name of each file in a folder or an archive that is passed over because
            its suffix is none of a document; hidden files are not told.
    """

    copies: LocalCopies
    leave_out: tuple[Path, ...] = ()
    arxiv: str = ARXIV
    skipped: Callable[[str], None] = _unheard


def find_items(inputs: Sequence[str], options: FindOptions) -> Iterator[Finding]:
    """All documents among the inputs, and what cannot be read; never raises for an input.

    The order is that of the inputs, within folders by name, within archives and lists theirs.
    An id comes twice only when one document is named twice (a list with the same line again, a
    folder and a file in it), when a manifest gives it twice, or when an archive holds a name twice.

    Args:
        inputs: Files, folders, patterns, ``@list.txt``, ``manifest.jsonl``, addresses that fsspec
            reads, archives, and ``arxiv:`` ids.
        options: How to look.

    Raises:
        OutputError: a remote archive or list cannot be copied to the scratch folder.
    """
    base = os.getcwd()  # noqa: PTH109 - paths here are strings
    search = _Search(options, _identities(options.leave_out))
    targets: list[Target] = []
    for text in inputs:
        try:
            targets.append(parse_target(text, base, options.arxiv, in_list=False))
        except InputError as error:
            yield _problem(text, error)
    for target, naming in name_roots(targets):
        yield from search.look(_Job(target, naming, target.text))


@dataclass(frozen=True, slots=True)
class _Job:
    """A target with what is told of it.

    Attributes:
        name: What the user calls it.
        pages: As `InputItem.pages`, for all documents in it.
        password: As `InputItem.password`, for all documents in it.
        listed: From a list, which may be long: nothing is asked of a server for it.
    """

    target: Target
    naming: Naming
    name: str
    pages: str | None = None
    password: str | None = None
    listed: bool = False

    def item(self, parts: Sequence[str], uri: str, name: str, entry: Entry | None) -> InputItem:
        """The item of a document in this target."""
        size, version = (entry.size, entry.version) if entry else (None, None)
        return InputItem(join_id(parts), uri, shown(name), size, version, self.pages, self.password)


@dataclass(frozen=True, slots=True)
class _Search:
    """A search under way; keeps nothing of what it found."""

    options: FindOptions
    leave_out: frozenset[Identity]

    def look(self, job: _Job) -> Iterator[Finding]:
        """All documents of one target."""
        target = job.target
        try:
            match target.what:
                case "list" | "manifest":
                    yield from self._lines(job)
                case "fetch" | "member":
                    yield job.item(job.naming.itself, target.address, job.name, None)
                case "glob":
                    yield from self._folder(job)
                case "place" if is_remote(target.address):
                    yield from self._remote(job)
                case "place":
                    yield from self._local(job)
        except InputError as error:
            yield _problem(job.name, error)

    def _local(self, job: _Job) -> Iterator[Finding]:
        address = job.target.address
        entry = LocalTree().known(address, Entry(Path(address).name, "file"))
        if entry.kind == "other":
            raise InputNotAFile("this is not a regular file")
        if entry.kind == "folder":
            yield from self._folder(job)
        else:
            yield from self._file(job, job.naming, address, job.name, entry)

    def _remote(self, job: _Job) -> Iterator[Finding]:
        address = job.target.address
        name = archive_name(address)
        entry: Entry | None = None
        if scheme_of(address) in WEB:
            folder = address.partition("?")[0].endswith("/")
        elif job.listed and (is_document(name) or archive_kind(name)):
            folder = False
        else:
            entry = StoreTree(self.options.copies.limits).look(address)
            folder = entry.kind == "folder"
        if folder:
            yield from self._folder(job)
        else:
            yield from self._file(job, job.naming, address, job.name, entry)

    def _folder(self, job: _Job) -> Iterator[Finding]:
        """A folder, or the matches of a pattern."""
        target = job.target
        remote = is_remote(target.address)
        tree = remote_tree(target.address, self.options.copies.limits) if remote else LocalTree()
        name = job.name.rstrip("/")
        if target.pattern:
            fixed = name.split("/")[: -len(target.pattern.parts)]
            name = "/".join(fixed) if fixed else "."
        todo = Walk(
            tree,
            target.address,
            name,
            wanted=lambda name: is_document(name) or archive_kind(name) is not None,
            skipped=self.options.skipped,
            pattern=target.pattern,
            leave_out=self.leave_out,
        )
        empty = True
        for found in walk(todo):
            empty = False
            if isinstance(found, InputProblem):
                yield found
                continue
            naming = job.naming.below(safe_parts(found.parts))
            name = "/".join((todo.name, *found.parts))
            yield from self._file(job, naming, found.address, name, found.entry)
        if empty and target.pattern:
            raise InputMissing("nothing matches the pattern", hint="Check the pattern")
        if empty:
            raise InputEmpty(
                "the folder holds no documents",
                hint="Files with unknown suffixes are read when they are named themselves",
            )

    def _file(
        self, job: _Job, naming: Naming, address: str, name: str, entry: Entry | None
    ) -> Iterator[Finding]:
        """A document, or the documents of an archive.

        An archive without any that was found in a folder is of another kind, such as sources.
        """
        kind = archive_kind(archive_name(address))
        if kind is None:
            uri = address if is_remote(address) else uri_of(address)
            yield job.item(naming.itself, uri, name, entry)
            return
        copies = self.options.copies
        container = address if is_remote(address) else uri_of(address)
        form = "zip" if kind == "zip" else "tar"
        empty = True
        try:
            with copies.local(address) as path:
                for member in members(path, kind, copies.limits, self._skipped_in(name)):
                    empty = False
                    if isinstance(member, BadMember):
                        yield _problem("/".join(filter(None, (name, member.name))), member.error)
                        continue
                    uri = str(MemberAddress(form, member.name, container, member.at))
                    mark = member.mark or (entry.version if entry else None)
                    known = Entry(member.name, "file", size=member.size, version=mark)
                    parts = naming.below(safe_parts(member.parts)).itself
                    yield job.item(parts, uri, f"{name}/{member.name}", known)
        except InputError as error:
            yield _problem(name, error)
            return
        if empty and name == job.name:
            yield _problem(name, InputEmpty("the archive holds no documents"))

    def _skipped_in(self, archive: str) -> Callable[[str], None]:
        return lambda name: self.options.skipped(shown(f"{archive}/{name}"))

    def _lines(self, job: _Job) -> Iterator[Finding]:
        """What the lines of a list or manifest name; relative paths begin at the list's folder."""
        target = job.target
        address = target.address
        whole = address.partition("?")[0] if scheme_of(address) in WEB else address
        base = whole.rpartition("/")[0] or "/"
        empty = True
        with self.options.copies.local(address) as path:
            for line in lines(path):
                empty = False
                try:
                    made = (
                        self._listed(job, line, base)
                        if target.what == "list"
                        else self._recorded(job, line, base)
                    )
                except InputError as error:
                    yield _problem(f"{job.name}, line {line.number}", error)
                    continue
                if made is not None:
                    yield from self.look(made)
        if empty:
            raise InputEmpty("the list is empty", hint="Name one input a line")

    def _listed(self, job: _Job, line: Line, base: str) -> _Job | None:
        text = list_entry(line)
        if text is None:
            return None
        target = parse_target(text, base, self.options.arxiv, in_list=True)
        parts = (*job.naming.inside, *target.where)
        return _Job(target, Naming(parts, parts), text, listed=True)

    def _recorded(self, job: _Job, line: Line, base: str) -> _Job:
        record = manifest_record(line)
        parsed = parse_target(record.target, base, self.options.arxiv, in_list=True)
        # A manifest is exact: what looks like a pattern is the name of a file.
        target = exact_target(record.target, base) if parsed.what == "glob" else parsed
        where = safe_parts(record.id.split("/")) if record.id else target.where
        parts = (*job.naming.inside, *where)
        return _Job(
            target,
            Naming(parts, parts),
            record.target,
            pages=record.pages,
            password=record.password,
            listed=True,
        )


def _identities(folders: Sequence[Path]) -> frozenset[Identity]:
    """Folders that exist already; others hold nothing to leave out."""
    known = set()
    for folder in folders:
        with suppress(InputError):
            known.add(local_identity(folder))
    return frozenset(known)


def _problem(name: str, error: MoonpressError) -> InputProblem:
    name = shown(name)
    kind = type(error)
    return InputProblem(name, kind(shown(error.message), file=name, hint=shown(error.hint)))
