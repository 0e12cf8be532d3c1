"""The length ratchet: what it counts, what it refuses, and that its list only shrinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.ratchet import complaints, measure, read_exceptions, update

LONG = 60


def _function(lines: int, *, docstring: bool = False) -> str:
    body = ['    """One.\n\n    Two.\n    """\n'] if docstring else []
    return "def f():\n" + "".join(body) + "    x = 1\n" * (lines - 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("src", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "a.py").write_text(_function(LONG))
    return tmp_path


def test_a_docstring_does_not_count(project: Path) -> None:
    (project / "src" / "a.py").write_text(_function(45, docstring=True))
    assert measure(project).functions == {"src/a.py::f": 45}


def test_methods_and_inner_functions_are_counted_by_their_full_name(project: Path) -> None:
    source = "class A:\n    def m(self):\n        def inner():\n            pass\n        inner()\n"
    (project / "src" / "a.py").write_text(source)
    assert measure(project).functions == {"src/a.py::A.m": 4, "src/a.py::A.m.inner": 2}


@pytest.mark.parametrize(
    ("lines", "allowed", "complains"),
    [
        (45, {}, False),
        (46, {}, True),
        (LONG, {"src/a.py::f": LONG}, False),
        (LONG + 1, {"src/a.py::f": LONG}, True),
        (LONG - 1, {"src/a.py::f": LONG}, True),
        (40, {"src/a.py::f": LONG}, True),
        (81, {"src/a.py::f": 81}, True),
    ],
)
def test_function_bounds(
    project: Path, lines: int, allowed: dict[str, int], complains: bool
) -> None:
    (project / "src" / "a.py").write_text(_function(lines))
    assert bool(list(complaints(measure(project), allowed))) is complains


def test_functions_of_tests_may_be_long_but_their_files_may_not(project: Path) -> None:
    (project / "src" / "a.py").write_text("")
    (project / "tests" / "test_a.py").write_text(_function(400))
    assert list(complaints(measure(project), {})) == []
    (project / "tests" / "test_a.py").write_text(_function(401))
    assert [line.split(":")[0] for line in complaints(measure(project), {})] == ["tests/test_a.py"]


def test_update_lowers_and_removes_but_never_adds(project: Path) -> None:
    (project / "src" / "b.py").write_text(_function(50))
    listed = project / "ratchet.txt"
    listed.write_text("src/a.py::f 70\nsrc/gone.py::g 50\n")
    update(listed, read_exceptions(listed), measure(project))
    assert read_exceptions(listed) == {"src/a.py::f": LONG}


def test_update_never_raises_a_bound(project: Path) -> None:
    listed = project / "ratchet.txt"
    listed.write_text("src/a.py::f 50\n")
    update(listed, read_exceptions(listed), measure(project))
    assert read_exceptions(listed) == {"src/a.py::f": 50}
