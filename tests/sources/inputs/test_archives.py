"""Archives: members found and opened, hostile and damaged archives told."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from moonpress.errors import (
    InputCorrupt,
    InputEmpty,
    InputError,
    InputTooLarge,
    InputUnreadable,
    PasswordNeeded,
    UnsupportedInput,
)
from moonpress.sources.inputs.archives import Member, members
from moonpress.sources.inputs.find import FindOptions
from moonpress.sources.inputs.item import InputItem
from moonpress.sources.inputs.kinds import Archive
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.opening import Opener
from tests.sources.inputs.helpers import (
    QUICK,
    fill,
    found,
    ids,
    make_zip,
    options,
    tar_bytes,
    unheard,
)

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
    ".tar.zst": zstandard.compress,
}
NOISE = random.Random(5)
FILES = {
    f"papers/{number:02}.pdf": NOISE.randbytes(NOISE.randrange(1, 3000)) for number in range(40)
}


@pytest.fixture
def using(tmp_path: Path) -> Iterator[FindOptions]:
    made = options(tmp_path / "scratch")
    yield made
    made.copies.close()
    assert not list((tmp_path / "scratch").iterdir())


@pytest.fixture
def opener(using: FindOptions) -> Iterator[Opener]:
    with Opener(using.copies) as made:
        yield made


def read(opener: Opener, item: InputItem) -> bytes:
    with opener.opened(item) as path:
        return path.read_bytes()


def pack(folder: Path, suffix: str, files: dict[str, bytes]) -> Path:
    path = folder / f"pack{suffix}"
    if suffix == ".zip":
        return make_zip(path, files)
    path.write_bytes(PACKERS[suffix](tar_bytes(files)))
    return path


@pytest.mark.parametrize("suffix", [*PACKERS, ".zip"])
def test_members_are_found_and_read(
    tmp_path: Path, using: FindOptions, opener: Opener, suffix: str
) -> None:
    path = pack(tmp_path, suffix, {"README.md": b"", ".x/a.pdf": b"", "in.zip": b"", **FILES})
    items, problems = found([path], using)
    assert not problems
    assert ids(items) == list(FILES)
    assert [item.size for item in items] == [len(data) for data in FILES.values()]
    assert items[0].name == f"{path}/papers/00.pdf"
    for item in items:
        assert read(opener, item) == FILES[item.id]


@pytest.mark.parametrize("suffix", [*PACKERS, ".zip"])
def test_members_are_read_in_any_order(
    tmp_path: Path, using: FindOptions, opener: Opener, suffix: str
) -> None:
    items, _ = found([pack(tmp_path, suffix, FILES)], using)
    random.Random(3).shuffle(items)
    for item in items:
        assert read(opener, item) == FILES[item.id]


def test_a_compressed_tar_is_unpacked_once_for_members_about_in_order(
    tmp_path: Path, using: FindOptions, opener: Opener
) -> None:
    items, _ = found([pack(tmp_path, ".tar.gz", FILES)], using)
    order = [1, 0, 3, 2, 9, 5, 4, 7, 6, 8, *range(10, 40)]
    for at in order:
        assert read(opener, items[at]) == FILES[items[at].id]
    (cursor,) = opener._cursors.values()
    assert cursor.passes == 1


def test_what_is_unpacked_ahead_is_bounded(tmp_path: Path) -> None:
    using = options(tmp_path / "scratch", limits=replace(QUICK, kept_bytes=5000))
    items, _ = found([pack(tmp_path, ".tar.gz", FILES)], using)
    with Opener(using.copies) as opener:
        read(opener, items[39])
        waiting = list((tmp_path / "scratch").iterdir())
        assert len(waiting) >= 1
        assert sum(path.stat().st_size for path in waiting) <= 5000
        assert read(opener, items[0]) == FILES[items[0].id]
    assert not list((tmp_path / "scratch").iterdir())


def test_archives_in_folders_are_entered(tmp_path: Path, using: FindOptions) -> None:
    fill(tmp_path, "data/b.pdf")
    pack(tmp_path / "data", ".tgz", {"a.pdf": b"a"})
    make_zip(tmp_path / "data/sources.zip", {"main.tex": b""})
    items, problems = found([tmp_path / "data"], using)
    assert ids(items) == ["b.pdf", "pack.tgz/a.pdf"]
    assert not problems


def test_an_archive_without_documents_is_told_when_it_was_named(
    tmp_path: Path, using: FindOptions
) -> None:
    _, problems = found([make_zip(tmp_path / "s.zip", {"main.tex": b""})], using)
    assert isinstance(problems[0].error, InputEmpty)


@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_names_that_lead_out_are_told(tmp_path: Path, using: FindOptions, suffix: str) -> None:
    bad = ["../a.pdf", "/etc/b.pdf", "x/../../c.pdf", "C:\\d.pdf", "..\\e.pdf"]
    path = pack(tmp_path, suffix, dict.fromkeys([*bad, "ok.pdf"], b"x"))
    items, problems = found([path], using)
    assert ids(items) == ["ok.pdf"]
    assert len(problems) == len(bad)
    assert {problem.error.message for problem in problems} == {"its name leads out of the archive"}


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip"])
def test_odd_names_in_archives(
    tmp_path: Path, using: FindOptions, opener: Opener, suffix: str
) -> None:
    names = ["new\nline.pdf", "a?at=3::b.pdf", "日本語/" + "x" * 300 + ".pdf", "%41.pdf"]
    if suffix != ".zip":
        names.append("bad-\udcff.pdf")
    files = {name: name.encode("utf-8", "surrogateescape") for name in names}
    items, problems = found([pack(tmp_path, suffix, files)], using)
    assert not problems
    assert len(set(ids(items))) == len(names)
    for item, data in zip(items, files.values(), strict=True):
        item.uri.encode()
        assert item.name.isprintable()
        assert read(opener, item) == data


def test_links_and_devices_in_a_tar_are_told(tmp_path: Path, using: FindOptions) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in (("s.pdf", tarfile.SYMTYPE), ("f.pdf", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    items, problems = found([path], using)
    assert not items
    assert [type(problem.error) for problem in problems] == [InputUnreadable, InputUnreadable]


def test_encrypted_and_unknown_zip_members_are_told(tmp_path: Path, using: FindOptions) -> None:
    path = make_zip(tmp_path / "x.zip", {"a.pdf": b"a", "b.pdf": b"b", "c.pdf": b"c"})
    data = bytearray(path.read_bytes())
    first = data.index(b"PK\x01\x02")
    data[first + 8] |= 1
    second = data.index(b"PK\x01\x02", first + 1)
    data[second + 10] = 99
    path.write_bytes(data)
    items, problems = found([path], using)
    assert ids(items) == ["c.pdf"]
    assert [type(problem.error) for problem in problems] == [PasswordNeeded, UnsupportedInput]


def test_a_member_that_claims_too_much_is_told(tmp_path: Path) -> None:
    using = options(tmp_path / "scratch", limits=replace(QUICK, document_bytes=1000))
    files = {"big.pdf": bytes(1001), "ok.pdf": b"x"}
    for suffix in (".zip", ".tar.gz"):
        items, problems = found([pack(tmp_path, suffix, files)], using)
        assert ids(items) == ["ok.pdf"]
        assert isinstance(problems[0].error, InputTooLarge)


def test_a_member_that_lies_about_its_size_gives_no_more_than_it_claims(
    tmp_path: Path, using: FindOptions, opener: Opener
) -> None:
    path = make_zip(tmp_path / "x.zip", {"a.pdf": bytes(1 << 20)})
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    (item,), _ = found([path], using)
    assert item.size == 100
    with pytest.raises(InputCorrupt):
        read(opener, item)


def test_a_tar_that_unpacks_to_far_more_than_it_is_ends(tmp_path: Path) -> None:
    limits = replace(QUICK, free_expansion_bytes=1 << 20, expansion=100)
    using = options(tmp_path / "scratch", limits=limits)
    files = {"a.pdf": b"a", "zeros.bin": bytes(8 << 20), "b.pdf": b"b"}
    for suffix in (".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2"):
        items, problems = found([pack(tmp_path, suffix, files)], using)
        assert ids(items) == ["a.pdf"]
        assert isinstance(problems[0].error, InputTooLarge)


def test_a_header_that_claims_gigabytes_takes_no_memory(tmp_path: Path, using: FindOptions) -> None:
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 1 << 30
    packed = io.BytesIO()
    with gzip.open(packed, "wb", compresslevel=1) as file:
        file.write(info.tobuf())
        for _ in range(32):
            file.write(bytes(1 << 20))
    (tmp_path / "x.tar.gz").write_bytes(packed.getvalue())
    tracemalloc.start()
    items, problems = found([tmp_path / "x.tar.gz"], using)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not items
    assert isinstance(problems[0].error, InputCorrupt)
    assert peak < 8 << 20


@pytest.mark.parametrize("suffix", [*PACKERS, ".zip"])
def test_damaged_archives_are_told_after_what_could_be_found(
    tmp_path: Path, using: FindOptions, suffix: str
) -> None:
    path = pack(tmp_path, suffix, FILES)
    whole = path.read_bytes()
    noise = random.Random(7)
    for trial in range(60):
        data = bytearray(whole)
        if trial % 2:
            del data[noise.randrange(len(data)) :]
        else:
            for _ in range(20):
                data[noise.randrange(len(data))] = noise.randrange(256)
        path.write_bytes(data)
        items, problems = found([path], using)
        for item in items:
            # Whatever is wrong, it is one of ours.
            with Opener(using.copies) as opener, suppress(InputError):
                read(opener, item)
        assert all(isinstance(problem.error, InputError) for problem in problems)


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
@pytest.mark.parametrize("cut", [3, 700, 5000, -1500])
def test_a_cut_tar_never_looks_complete(
    tmp_path: Path, using: FindOptions, suffix: str, cut: int
) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(PACKERS[suffix](tar_bytes(FILES).rstrip(b"\0")[:cut]))
    _, problems = found([path], using)
    assert [type(problem.error) for problem in problems] == [InputCorrupt]


def test_a_damaged_header_in_a_tar_is_not_its_end(tmp_path: Path, using: FindOptions) -> None:
    data = bytearray(tar_bytes({"a.pdf": b"a", "b.pdf": b"b", "c.pdf": b"c"}))
    data[1024 + 150] ^= 1
    (tmp_path / "x.tar").write_bytes(data)
    items, problems = found([tmp_path / "x.tar"], using)
    assert ids(items) == ["a.pdf"]
    assert isinstance(problems[0].error, InputCorrupt)


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
@pytest.mark.parametrize("data", [b"", b"nothing of the kind" * 100])
def test_what_is_no_archive_is_told(
    tmp_path: Path, using: FindOptions, suffix: str, data: bytes
) -> None:
    (tmp_path / f"x{suffix}").write_bytes(data)
    items, problems = found([tmp_path / f"x{suffix}"], using)
    assert not items
    assert len(problems) == 1


def test_an_archive_that_changed_is_told(
    tmp_path: Path, using: FindOptions, opener: Opener
) -> None:
    for suffix in (".zip", ".tar", ".tar.gz"):
        items, _ = found([pack(tmp_path, suffix, FILES)], using)
        pack(tmp_path, suffix, {"other/" + name: data for name, data in FILES.items()})
        with pytest.raises(InputCorrupt, match="archive"):
            read(opener, items[7])


def test_versions_of_zip_members_do_not_change_with_the_archive(
    tmp_path: Path, using: FindOptions
) -> None:
    path = make_zip(tmp_path / "x.zip", {"a.pdf": b"a"})
    (before,), _ = found([path], using)
    make_zip(path, {"a.pdf": b"a", "b.pdf": b"b"})
    (same, _), _ = found([path], using)
    assert same.version == before.version
    make_zip(path, {"a.pdf": b"A"})
    (other,), _ = found([path], using)
    assert other.version != before.version


def test_zips_behind_a_program_and_with_a_comment(
    tmp_path: Path, using: FindOptions, opener: Opener
) -> None:
    path = make_zip(tmp_path / "x.zip", {"a.pdf": b"a" * 1000, "b.pdf": b"b"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"hello" * 1000
    path.write_bytes(b"MZ" + bytes(5000) + path.read_bytes())
    items, problems = found([path], using)
    assert not problems
    assert [read(opener, item) for item in items] == [b"a" * 1000, b"b"]


def test_zip64_fields_are_read(tmp_path: Path, using: FindOptions, opener: Opener) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(66_000):
            info = zipfile.ZipInfo(f"{number}.{'pdf' if number > 65_990 else 'x'}")
            with archive.open(info, "w", force_zip64=True) as file:
                file.write(b"%d" % number)
    items, problems = found([path], using)
    assert not problems
    assert [read(opener, item) for item in items] == [b"%d" % n for n in range(65_991, 66_000)]


def test_members_can_be_named_by_hand(tmp_path: Path, using: FindOptions, opener: Opener) -> None:
    make_zip(tmp_path / "x.zip", FILES)
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(tar_bytes(FILES)))
    (tmp_path / "list.txt").write_text(
        "zip://papers/07.pdf::x.zip\ntar://papers/09.pdf::x.tar.gz\n"
    )
    items, problems = found([f"@{tmp_path}/list.txt"], using)
    assert not problems
    assert ids(items) == ["x.zip/papers/07.pdf", "x.tar.gz/papers/09.pdf"]
    assert read(opener, items[0]) == FILES["papers/07.pdf"]
    assert read(opener, items[1]) == FILES["papers/09.pdf"]


@pytest.mark.parametrize("kind", ["zip", "tar", "gz"])
def test_listing_takes_the_same_memory_for_any_number_of_members(
    tmp_path: Path, kind: Archive
) -> None:
    peaks = []
    for count in (500, 5000):
        files = {f"{number:06}.pdf": b"x" for number in range(count)}
        path = tmp_path / f"{count}"
        if kind == "zip":
            make_zip(path, files)
        else:
            path.write_bytes(PACKERS[".tar" if kind == "tar" else ".tar.gz"](tar_bytes(files)))
        tracemalloc.start()
        listed = sum(isinstance(m, Member) for m in members(path, kind, Limits(), unheard))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert listed == count
    assert peaks[1] < peaks[0] + 100_000
