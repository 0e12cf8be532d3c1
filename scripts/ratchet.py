"""Keep functions and files short, and let exceptions only shrink.

Owns the bounds and the check; the exceptions stand in ``scripts/ratchet.txt``, one a line:
``path::function lines``. A function over the preferred length must be listed there with its length,
so making it longer fails, and making it shorter asks for the list to be brought up to date
(``--update`` does that; it never adds a line and never raises a number). Nothing may exceed the
hard bound. Never judges anything but length: style is ruff's.

A function's length is counted from its ``def`` to its last line without its docstring: documenting
arguments must not cost anything.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PREFERRED_FUNCTION = 45
LONGEST_FUNCTION = 80
LONGEST_FILE = 400
CODE = ("src", "benchmarks", "scripts")
TESTS = ("tests",)
ROOT = Path(__file__).resolve().parents[1]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found.

    Attributes:
        files: Lines of each file, by path relative to the root.
        functions: Lines of each function of code, by ``path::Class.method``.
    """

    files: dict[str, int]
    functions: dict[str, int]


def measure(root: Path) -> Measured:
    """Count the lines of all Python files under ``root`` and of the functions in its code."""
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    for folder in (*CODE, *TESTS):
        for path in sorted((root / folder).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            files[name] = len(text.splitlines())
            if folder in CODE:
                functions.update(
                    (f"{name}::{function}", lines) for function, lines in _lengths(ast.parse(text))
                )
    return Measured(files, functions)


def _lengths(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, _length(node)
        name = getattr(node, "name", None) if isinstance(node, (Function, ast.ClassDef)) else None
        yield from _lengths(node, f"{prefix}{name}." if name else prefix)


def _length(function: Function) -> int:
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def read_exceptions(path: Path) -> dict[str, int]:
    """The allowed length of each listed function."""
    pairs = (line.rsplit(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: int(lines) for name, lines in pairs}


def complaints(found: Measured, allowed: dict[str, int]) -> Iterator[str]:
    """One line for each thing that is too long, or listed without need."""
    for name, lines in found.files.items():
        if lines > LONGEST_FILE:
            yield f"{name}: {lines} lines, at most {LONGEST_FILE}: split it by idea"
    for name, lines in found.functions.items():
        if lines > LONGEST_FUNCTION:
            yield f"{name}: {lines} lines, at most {LONGEST_FUNCTION}"
        elif lines > allowed.get(name, PREFERRED_FUNCTION):
            bound = allowed.get(name, PREFERRED_FUNCTION)
            yield f"{name}: {lines} lines, at most {bound}: take it apart"
    for name, bound in allowed.items():
        if shrunk(name, bound, found) != bound:
            yield f"{name}: listed with {bound} lines without need: run scripts/ratchet.py --update"


def shrunk(name: str, bound: int, found: Measured) -> int | None:
    """The entry that ``name`` should have: lower or the same, ``None`` when it needs none."""
    lines = found.functions.get(name, 0)
    return min(lines, bound) if lines > PREFERRED_FUNCTION else None


def update(path: Path, allowed: dict[str, int], found: Measured) -> None:
    """Lower and remove exceptions; never add one."""
    entries = {name: shrunk(name, bound, found) for name, bound in allowed.items()}
    lines = [f"{name} {bound}\n" for name, bound in sorted(entries.items()) if bound is not None]
    path.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    """Check, or bring the list up to date; the exit status says whether all is well."""
    parser = argparse.ArgumentParser(description="Keep functions and files short.")
    parser.add_argument("--update", action="store_true", help="lower and remove exceptions")
    options = parser.parse_args()
    listed = ROOT / "scripts" / "ratchet.txt"
    found, allowed = measure(ROOT), read_exceptions(listed)
    if options.update:
        update(listed, allowed, found)
        allowed = read_exceptions(listed)
    problems = list(complaints(found, allowed))
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
