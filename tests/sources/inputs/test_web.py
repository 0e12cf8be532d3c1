"""Files, folders and archives of the web: a real server on this machine that behaves as told."""

from __future__ import annotations

import base64
import gzip
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from moonpress.errors import (
    InputEmpty,
    InputMissing,
    InputTooLarge,
    InputUnreadable,
    NoSpace,
)
from moonpress.sources.inputs.find import FindOptions
from moonpress.sources.inputs.item import InputItem
from moonpress.sources.inputs.opening import Opener
from moonpress.sources.inputs.web import download
from tests.sources.inputs.helpers import (
    QUICK,
    found,
    ids,
    make_zip,
    options,
    say,
    tar_bytes,
    web_server,
)

PDF = b"%PDF-1.7 " + bytes(range(256)) * 1000


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
        assert path.exists()
        data = path.read_bytes()
    assert not path.exists()
    return data


def item(uri: str) -> InputItem:
    return InputItem("x", uri, "shown name")


def pdf(request: BaseHTTPRequestHandler) -> None:
    say(request, 200, PDF, Content_Type="application/pdf")


def test_a_file_of_the_web(using: FindOptions, opener: Opener) -> None:
    with web_server({"/a/b.pdf": pdf}) as url:
        (found_item,), problems = found([f"{url}/a/b.pdf?X-Amz-Signature=secret"], using)
        assert not problems
        assert found_item.id == "b.pdf"
        assert found_item.name == f"{url}/a/b.pdf?..."
        assert read(opener, found_item) == PDF


def test_redirects_are_followed_and_end(opener: Opener) -> None:
    answers = {
        "/a.pdf": lambda request: say(request, 302, Location="/b%20c.pdf"),
        "/b%20c.pdf": pdf,
        "/loop": lambda request: say(request, 302, Location="/loop"),
        "/out": lambda request: say(request, 302, Location="file:///etc/passwd"),
    }
    with web_server(answers) as url:
        assert read(opener, item(f"{url}/a.pdf")) == PDF
        assert read(opener, item(f"{url}/b c.pdf")) == PDF
        for path in ("/loop", "/out"):
            with pytest.raises(InputUnreadable):
                read(opener, item(url + path))


def test_what_statuses_mean(opener: Opener) -> None:
    expected = {404: InputMissing, 410: InputMissing, 401: InputUnreadable, 403: InputUnreadable}

    def answer(request: BaseHTTPRequestHandler) -> None:
        say(request, int(request.path[1:4]))

    answers = dict.fromkeys((f"/{status}" for status in expected), answer)
    with web_server(answers) as url:
        for status, kind in expected.items():
            with pytest.raises(kind) as caught:
                read(opener, item(f"{url}/{status}?token=secret"))
            assert caught.value.file == "shown name"
            assert "secret" not in str(caught.value)
            assert str(status) in str(caught.value)


def test_logins_are_sent_to_their_server_only(opener: Opener) -> None:
    seen: list[str | None] = []

    def login(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers["Authorization"])
        say(request, 302, Location="/b.pdf")

    def second(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers["Authorization"])
        say(request, 403)

    with web_server({"/a.pdf": login, "/b.pdf": second}) as url:
        address = url.replace("://", "://me:p%40ss@") + "/a.pdf"
        with pytest.raises(InputUnreadable) as caught:
            read(opener, item(address))
    assert seen == ["Basic " + base64.b64encode(b"me:p@ss").decode(), None]
    assert "p%40" not in str(caught.value)
    assert "p@" not in str(caught.value)


def test_what_fails_for_the_moment_is_tried_again(opener: Opener) -> None:
    tries = []

    def flaky(request: BaseHTTPRequestHandler) -> None:
        tries.append(time.monotonic())
        match len(tries):
            case 1:
                say(request, 503, Retry_After="1")
            case 2:  # cut in the middle
                request.send_response(200)
                request.send_header("Content-Length", str(len(PDF)))
                request.end_headers()
                request.wfile.write(PDF[:1000])
                request.close_connection = True
            case 3:  # cut before the answer
                request.connection.close()
            case _:
                pdf(request)

    with web_server({"/a.pdf": flaky}) as url:
        assert read(opener, item(f"{url}/a.pdf")) == PDF
    assert len(tries) == 4
    assert tries[1] - tries[0] >= 1


def test_tries_end(opener: Opener) -> None:
    tries = []

    def busy(request: BaseHTTPRequestHandler) -> None:
        tries.append(1)
        say(request, 500)

    with web_server({"/a.pdf": busy}) as url, pytest.raises(InputUnreadable, match="4 times"):
        read(opener, item(f"{url}/a.pdf"))
    assert len(tries) == 4


def test_a_server_that_asks_for_an_hour_is_not_waited_for(opener: Opener) -> None:
    answers = {"/a.pdf": lambda request: say(request, 429, Retry_After="3600")}
    with web_server(answers) as url, pytest.raises(InputUnreadable, match="429"):
        read(opener, item(f"{url}/a.pdf"))


@pytest.mark.parametrize("pause", [0.2, 5.0])
def test_silent_and_trickling_servers_cost_a_bounded_time(tmp_path: Path, pause: float) -> None:
    def slow(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(30):
            request.wfile.write(b"x")
            time.sleep(pause)

    using = options(tmp_path / "scratch", limits=replace(QUICK, attempts=2))
    began = time.monotonic()
    with web_server({"/a.pdf": slow}) as url, Opener(using.copies) as opener:
        with pytest.raises(InputUnreadable, match=r"in time|too slowly"):
            read(opener, item(f"{url}/a.pdf"))
        assert time.monotonic() - began < 4


@pytest.mark.parametrize("tells", [True, False])
def test_files_over_the_bound_are_not_fetched(tmp_path: Path, tells: bool) -> None:
    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        if tells:
            request.send_header("Content-Length", str(10**15))
        request.end_headers()
        while True:
            request.wfile.write(bytes(1 << 16))

    using = options(tmp_path / "scratch", limits=replace(QUICK, document_bytes=1 << 20))
    with (
        web_server({"/a.pdf": endless}) as url,
        Opener(using.copies) as opener,
        pytest.raises(InputTooLarge),
    ):
        read(opener, item(f"{url}/a.pdf"))
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(
    "address",
    [
        "http://no-such-host.invalid/a.pdf",
        "http://127.0.0.1:1/a.pdf",
        "http://[/a.pdf",
        "http://127.0.0.1:99999/a.pdf",
        "http:///a.pdf",
        "https://\udcff.example/a.pdf",
    ],
)
def test_servers_that_are_not_there(opener: Opener, address: str) -> None:
    with pytest.raises(InputUnreadable):
        read(opener, item(address))


def test_a_full_disk_is_no_matter_of_the_server() -> None:
    with (
        web_server({"/a.pdf": pdf}) as url,
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(NoSpace),
    ):
        download(f"{url}/a.pdf", cast("BinaryIO", full), 1 << 30, QUICK)


def test_folders_of_a_web_server(using: FindOptions, opener: Opener) -> None:
    index = b"""<a href="?C=N;O=D">Name</a><a href="/">up</a><a href="../">up</a>
      <a href="a%20b.pdf">a</a><a href='sub/'>s</a><a href="README.txt">r</a>
      <a href="https://other.example/x.pdf">o</a><a href="a%20b.pdf#2">again</a><a name=x>"""
    answers = {
        "/p/": lambda request: say(request, 200, index, Content_Type="text/html"),
        "/p/sub/": lambda request: say(
            request, 200, b'<a href="/p/sub/c.png">c</a>', Content_Type="text/html"
        ),
        "/p/a%20b.pdf": pdf,
        "/empty/": lambda request: say(request, 200, b"", Content_Type="text/html"),
        "/json/": lambda request: say(request, 200, b"{}", Content_Type="application/json"),
    }
    with web_server(answers) as url:
        items, problems = found([f"{url}/p/"], using)
        assert not problems
        assert ids(items) == ["a b.pdf", "sub/c.png"]
        assert read(opener, items[0]) == PDF
        items, _ = found([f"{url}/p/**/*.png"], using)
        assert ids(items) == ["sub/c.png"]
        _, problems = found([f"{url}/no/", f"{url}/empty/", f"{url}/json/"], using)
        assert [type(problem.error) for problem in problems] == [
            InputMissing,
            InputEmpty,
            InputUnreadable,
        ]


def test_a_web_folder_that_holds_itself_ends(using: FindOptions) -> None:
    def endless(request: BaseHTTPRequestHandler) -> None:
        index = b'<a href="a.pdf">a</a><a href="again/">x</a>'
        say(request, 200, index, Content_Type="text/html")

    answers = {"/" + "again/" * depth: endless for depth in range(200)}
    with web_server(answers) as url:
        items, problems = found([f"{url}/"], using)
    assert len(items) == 101
    assert "nested" in problems[0].error.message


def test_arxiv_ids_go_through_the_template(tmp_path: Path) -> None:
    with web_server({"/mirror/2401.01234v2.pdf": pdf}) as url:
        using = options(tmp_path / "scratch", arxiv=url + "/mirror/{id}.pdf")
        items, problems = found(["arxiv:2401.01234v2", "arxiv:24.1"], using)
        assert ids(items) == ["2401.01234v2"]
        assert problems[0].name == "arxiv:24.1"
        with Opener(using.copies) as opener:
            assert read(opener, items[0]) == PDF


def test_archives_of_the_web_are_fetched_once_while_in_use(
    tmp_path: Path, using: FindOptions, opener: Opener
) -> None:
    asked = []
    files = {f"{n}.pdf": b"%d" % n for n in range(5)}
    zipped = make_zip(tmp_path / "x.zip", files).read_bytes()
    packed = gzip.compress(tar_bytes(files))

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path)
        say(request, 200, zipped if "zip" in request.path else packed)

    with web_server({"/x.zip": answer, "/x.tar.gz": answer}) as url:
        items, problems = found([f"{url}/x.zip", f"{url}/x.tar.gz"], using)
        assert not problems
        assert ids(items)[0] == "x.zip/0.pdf"
        assert len(items) == 10
        for each in items:
            assert read(opener, each) == files[each.id.rpartition("/")[2]]
    assert sorted(asked) == ["/x.tar.gz", "/x.zip"]


def test_nothing_is_logged_with_secrets(opener: Opener, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with web_server({}) as url, pytest.raises(InputMissing):
        read(opener, item(f"{url}/a.pdf?token=secret"))
    assert "secret" not in caplog.text
