"""Write the reference pages that are made from code: command line, errors and JSON schema.

Owns all of ``docs/reference``. Never touches other pages. With ``--check`` nothing is written, and
the exit code is 1 when a page is not what the code says. The text depends on the code alone: not on
the Python version, a terminal's width or colours.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from moonpress.cli import batch, bench, pdf, serve, ui
from moonpress.cli.help import group_of
from moonpress.errors import MoonpressError
from moonpress.outputs.json import json_schema
from moonpress.serving.replicas import presets

_FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
_NOTICE = "<!-- Made by scripts/generate_docs.py; change the code and run it again. -->"
_COMMANDS = {
    pdf.PROGRAM: pdf.app,
    batch.PROGRAM: batch.batch_app,
    f"{batch.PROGRAM} status": batch.status_app,
    f"{batch.PROGRAM} retry": batch.retry_app,
    serve.PROGRAM: serve.serve_app,
    f"{serve.PROGRAM} doctor": serve.doctor_app,
    ui.PROGRAM: ui.app,
    f"{bench.PROGRAM} accuracy": bench.accuracy_app,
    f"{bench.PROGRAM} load": bench.load_app,
    f"{bench.PROGRAM} plan": bench.plan_app,
}
# Typer's own options, which every command has.
_OF_TYPER = {"install_completion", "show_completion", "help"}


def pages() -> dict[str, str]:
    """The generated pages by file name."""
    schema = json_schema()
    return {
        "cli.md": _cli_page(),
        "errors.md": _errors_page(),
        "document.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        "json-schema.md": _schema_page(schema),
        "presets.md": _presets_page(),
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or compare them; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--folder", type=Path, default=_FOLDER)
    chosen = parser.parse_args(arguments)
    stale = [
        (chosen.folder / name, text)
        for name, text in pages().items()
        if not _holds(chosen.folder / name, text)
    ]
    for path, text in stale:
        if chosen.check:
            sys.stderr.write(f"{path} is not what the code says: run scripts/generate_docs.py\n")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if chosen.check and stale else 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _presets_page() -> str:
    lines = [
        *("# Presets of chandra-serve", "", _NOTICE, ""),
        "What `--preset` gives the vLLM servers that `chandra-serve` starts. `auto` takes the one",
        "of the GPU's kind, else that of the largest kind with no more memory. Flags of yours win.",
        "None trades accuracy: weights and caches of eight bits are for those who ask for them.",
        "What is measured was measured on one H200, with random weights.",
        "",
    ]
    tables = [("All", presets.COMMON), *((one.name, one.advice) for one in presets.PRESETS)]
    for name, advice in tables:
        lines += [f"## {name}", "", "| Flag | Why | From |", "| --- | --- | --- |"]
        for one in advice:
            flag = one.flag if one.value is None else f"{one.flag} {one.value}"
            lines.append(f"| `{flag}` | {one.reason} | {one.basis.value} |")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def _cli_page() -> str:
    lines = ["# Command line", "", _NOTICE, ""]
    for program, app in _COMMANDS.items():
        lines += _command_section(program, typer.main.get_command(app))
    lines += ["A flag wins over its environment variable, and that over the default."]
    return "\n".join(lines) + "\n"


def _command_section(program: str, command: Any) -> list[str]:
    lines = [f"## `{program}`", "", command.help or "", ""]
    groups: dict[str, list[Any]] = {}
    for parameter in command.params:
        group = group_of(parameter)
        if parameter.name not in _OF_TYPER and not getattr(parameter, "hidden", False):
            groups.setdefault(group, []).append(parameter)
    for title, parameters in groups.items():
        lines += [f"### {title}", "", "| Option | Meaning |", "| --- | --- |"]
        lines += [f"| {_usage(parameter)} | {_meaning(parameter)} |" for parameter in parameters]
        lines.append("")
    lines += ["`--help` shows all this, `--install-completion` teaches your shell the options.", ""]
    for paragraph in (command.epilog or "").strip().split("\n\n"):
        example = paragraph.startswith(program) or f"| {program}" in paragraph
        lines += [f"    {paragraph}" if example else paragraph, ""]
    return lines


def _usage(parameter: Any) -> str:
    names = (
        [parameter.metavar]
        if parameter.param_type_name == "argument"
        else sorted(parameter.opts, key=lambda name: not name.startswith("--"))
    )
    value = parameter.metavar if parameter.param_type_name == "option" else None
    return ", ".join(_code(f"{name} {value}" if value else name) for name in names)


def _meaning(parameter: Any) -> str:
    parts = [_cell(parameter.help or "")]
    if parameter.param_type_name == "option" and isinstance(parameter.default, str):
        parts.append(f"Default: {_code(parameter.default)}.")
    if parameter.envvar:
        parts.append(f"Environment: {_code(str(parameter.envvar))}.")
    return " ".join(parts)


def _errors_page() -> str:
    lines = [
        "# Errors",
        "",
        _NOTICE,
        "",
        "Every error is a class of `moonpress.errors` and has a code that stays: in the line that "
        "a command prints, in JSON logs, and as the `code` of the exception. Classes stand below "
        "the one that they are a kind of.",
        "",
        "| Code | Class | Exit code | Meaning | What to do |",
        "| --- | --- | --- | --- | --- |",
    ]
    for depth, error in _tree(MoonpressError, 0):
        meaning = (error.__doc__ or "").strip().split("\n", 1)[0]
        indent = "&emsp;" * depth
        cells = (_code(error.code), indent + _code(error.__name__), str(error.exit_code))
        lines.append(f"| {' | '.join(cells)} | {_cell(meaning)} | {_cell(error.default_hint)} |")
    return "\n".join(lines) + "\n"


def _tree(error: type[MoonpressError], depth: int) -> Iterator[tuple[int, type[MoonpressError]]]:
    yield depth, error
    for kind in error.__subclasses__():
        # Plug-ins may have kinds of their own.
        if kind.__module__ == MoonpressError.__module__:
            yield from _tree(kind, depth + 1)


def _schema_page(schema: Mapping[str, Any]) -> str:
    lines = [
        "# JSON output",
        "",
        _NOTICE,
        "",
        "The machine-readable form is [document.schema.json](document.schema.json).",
        "",
    ]
    definitions = {schema.get("title", "Document"): schema, **schema.get("$defs", {})}
    for name, definition in definitions.items():
        lines += [f"## {name}", "", _cell(definition.get("description", "")), ""]
        lines += [*_definition_lines(definition), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _definition_lines(definition: Mapping[str, Any]) -> Iterator[str]:
    if "enum" in definition:
        yield "One of " + ", ".join(_code(str(value)) for value in definition["enum"]) + "."
    properties = definition.get("properties")
    if properties:
        required = set(definition.get("required", ()))
        yield "| Field | Type | Required | Meaning |"
        yield "| --- | --- | --- | --- |"
        for name, field in properties.items():
            needed = "yes" if name in required else "no"
            meaning = _cell(field.get("description", ""))
            yield f"| {_code(name)} | {_type(field)} | {needed} | {meaning} |"


def _type(field: Mapping[str, Any]) -> str:
    """A short name of a schema's type, linked where it has a section here."""
    if "$ref" in field:
        name = str(field["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return _code(json.dumps(field["const"]))
    if "enum" in field:
        return ", ".join(_code(json.dumps(value)) for value in field["enum"])
    for union in ("anyOf", "oneOf"):
        if union in field:
            return " or ".join(_type(option) for option in field[union])
    if field.get("type") == "array":
        return _list_type(field)
    kind = field.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _list_type(field: Mapping[str, Any]) -> str:
    if "prefixItems" in field:
        return f"list of {len(field['prefixItems'])}: {_type(field['prefixItems'][0])}"
    items = field.get("items")
    return f"list of {_type(items)}" if items else "list"


def _code(text: str) -> str:
    """As code; readers of Markdown disagree about a backslash before a bar in a table."""
    return f"<code>{_cell(text)}</code>" if "|" in text else f"`{text}`"


def _cell(text: str) -> str:
    """Text that stays in one table cell and is not taken for HTML, emphasis or a formula."""
    folded = " ".join(text.split())
    return folded.translate({ord(letter): f"&#{ord(letter)};" for letter in "\\|<*$"})


if __name__ == "__main__":
    sys.exit(main())
