"""The options that commands share: names, help and bounds, one definition each.

Owns wording and validation of single values. Never acts on them. The enumerations of the document
model and the engines are repeated here as literals, because importing them would cost ``--help``
half a second; a test holds them equal.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from moonpress.errors import UsageError

OcrChoice: TypeAlias = Literal["auto", "always", "never"]
DelimiterChoice: TypeAlias = Literal["dollar", "bracket"]
ImageFormatChoice: TypeAlias = Literal["png", "jpeg", "webp"]

INPUT = "Input"
OUTPUT = "Output"
READING = "Reading"
SERVER = "Server"
MESSAGES = "Messages"


def _names(group: str, incomplete: str) -> list[str]:
    from importlib.metadata import entry_points

    names = {entry.name for entry in entry_points(group=group)}
    return sorted(name for name in names if name.startswith(incomplete))


def _complete_engine(incomplete: str) -> list[str]:
    return _names("moonpress.engines", incomplete)


def _complete_format(incomplete: str) -> list[str]:
    return _names("moonpress.outputs", incomplete)


def _show_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{ctx.info_name} (Moonpress) {version('moonpress')}")
        raise typer.Exit


def split_names(values: list[str] | None) -> tuple[str, ...]:
    """Flatten an option that may be repeated, or hold several names with commas between."""
    parts = (part.strip() for value in values or () for part in value.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def one_of_two_names(pages: str | None, page_range: str | None) -> str | None:
    """The value of ``--pages``, or of its other name."""
    if pages is not None and page_range is not None:
        raise UsageError("--page-range is another name of --pages", hint="Give one of them")
    return page_range if pages is None else pages


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="PDF, PNG, JPEG, WebP, TIFF, GIF, BMP, HEIC or AVIF; - reads standard input.",
        show_default=False,
    ),
]
Pages = Annotated[
    str | None,
    typer.Option(
        "--pages",
        metavar="RANGES",
        help="Pages to read, counted from 1: 1-3,7,-1 (-1 is the last). All by default.",
        rich_help_panel=INPUT,
    ),
]
PageRange = Annotated[str | None, typer.Option("--page-range", metavar="RANGES", hidden=True)]
Password = Annotated[
    str | None,
    typer.Option(
        "--password",
        metavar="TEXT",
        envvar="MOONPRESS_PASSWORD",
        help="Password of an encrypted PDF. Other users of this machine can see a command line; "
        "the environment variable they cannot.",
        rich_help_panel=INPUT,
    ),
]
Dpi = Annotated[
    float | None,
    typer.Option(
        "--dpi",
        metavar="NUMBER",
        min=18,
        max=1200,
        envvar="MOONPRESS_DPI",
        help="Resolution at which PDF pages are drawn. The engine's own by default.",
        rich_help_panel=INPUT,
    ),
]
MaxImageWidth = Annotated[
    int | None,
    typer.Option(
        "--max-image-width",
        metavar="PIXELS",
        min=16,
        envvar="MOONPRESS_MAX_IMAGE_WIDTH",
        help="Scale wider page pictures down to this width.",
        rich_help_panel=INPUT,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="A file (.md, .html, .json, .txt), a folder for all formats, or - for standard "
        "output. By default FILE's name with .md, here; standard output when FILE is -.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Format = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="markdown, html, json, text or chunks. Can be repeated.",
        autocompletion=_complete_format,
        rich_help_panel=OUTPUT,
    ),
]
HeadersFooters = Annotated[
    bool,
    typer.Option(
        "--headers-footers",
        help="Keep page headers, footers and page numbers in the text. JSON always has them.",
        rich_help_panel=OUTPUT,
    ),
]
PageAnchors = Annotated[
    bool,
    typer.Option(
        "--page-anchors",
        help="Mark where each page begins.",
        rich_help_panel=OUTPUT,
    ),
]
DelimiterStyle = Annotated[
    DelimiterChoice,
    typer.Option(
        "--delimiters",
        metavar="dollar|bracket",
        help=r"How formulas stand in Markdown: $x$ and $$x$$, or \(x\) and \[x\].",
        show_default=True,
        rich_help_panel=OUTPUT,
    ),
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        envvar="MOONPRESS_ENGINE",
        help="Who reads the pages: embedded on this CPU, vllm through a server, hf with a model on "
        "this machine's GPU, or auto for the best that is there.",
        show_default=True,
        autocompletion=_complete_engine,
        rich_help_panel=READING,
    ),
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        envvar="MOONPRESS_FAST",
        help="A smaller recogniser: scans about three times faster, less exact.",
        rich_help_panel=READING,
    ),
]
Ocr = Annotated[
    OcrChoice,
    typer.Option(
        "--ocr",
        metavar="auto|always|never",
        envvar="MOONPRESS_OCR",
        help="auto uses a PDF's own text where it can be trusted, always ignores it, never uses "
        "nothing else.",
        show_default=True,
        rich_help_panel=READING,
    ),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--languages",
        metavar="CODE",
        envvar="MOONPRESS_LANGUAGES",
        help="Installed tesseract packs, such as ara,hin, for scripts that the built-in "
        "recogniser lacks.",
        rich_help_panel=READING,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "--concurrency",
        metavar="COUNT",
        min=1,
        max=1024,
        envvar="MOONPRESS_WORKERS",
        help="Pages read at once. By default by the number of cores, or 32 for each server.",
        rich_help_panel=READING,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size",
        metavar="COUNT",
        min=1,
        max=1024,
        envvar="MOONPRESS_BATCH_SIZE",
        help="Pages that the engine hf writes together. By default 8 on a GPU and 1 on a CPU.",
        rich_help_panel=READING,
    ),
]
PageTimeout = Annotated[
    float | None,
    typer.Option(
        "--page-timeout",
        metavar="SECONDS",
        min=0.1,
        max=86400,
        envvar="MOONPRESS_PAGE_TIMEOUT",
        help="Give a page up after this long; the others go on. By default 20 s to draw it and "
        "120 s to read it, 900 s with a server, an hour with hf.",
        rich_help_panel=READING,
    ),
]
Urls = Annotated[
    list[str] | None,
    typer.Option(
        "--url",
        metavar="URL",
        envvar="MOONPRESS_URL",
        help="Server that offers a Chandra model over the OpenAI API, such as "
        "http://gpu1:8000/v1. Can be repeated: pages go to the one with least to do.",
        rich_help_panel=SERVER,
    ),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        metavar="TEXT",
        envvar="MOONPRESS_API_KEY",
        help="Key of the server. Other users of this machine can see a command line; the "
        "environment variable they cannot.",
        rich_help_panel=SERVER,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        envvar="MOONPRESS_MODEL",
        help="Name of the model. By default the one that the server has; for hf "
        "datalab-to/chandra-ocr-2 from the Hugging Face hub. For hf a folder will do too.",
        rich_help_panel=SERVER,
    ),
]
CaFile = Annotated[
    str | None,
    typer.Option(
        "--ca-file",
        metavar="PATH",
        envvar="MOONPRESS_CA_FILE",
        help="PEM file of the authority that signed the server's certificate, where this machine "
        "does not trust it.",
        rich_help_panel=SERVER,
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="'NAME: VALUE'",
        help="Sent with every request. Can be repeated.",
        rich_help_panel=SERVER,
    ),
]
ImageFormat = Annotated[
    ImageFormatChoice | None,
    typer.Option(
        "--image-format",
        metavar="png|jpeg|webp",
        envvar="MOONPRESS_IMAGE_FORMAT",
        help="How page pictures travel to the server: jpeg by default; png loses nothing and takes "
        "four times the CPU or more.",
        rich_help_panel=SERVER,
    ),
]
NoConfidence = Annotated[
    bool,
    typer.Option(
        "--no-confidence",
        envvar="MOONPRESS_NO_CONFIDENCE",
        help="Do not ask the model for probabilities; blocks then have no confidence.",
        rich_help_panel=SERVER,
    ),
]
QuietFlag = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Say nothing but what went wrong.", rich_help_panel=MESSAGES
    ),
]
VerboseFlag = Annotated[
    bool,
    typer.Option(
        "--verbose",
        help="One line for every event, and the traceback of a bug.",
        rich_help_panel=MESSAGES,
    ),
]
JsonLogs = Annotated[
    bool,
    typer.Option(
        "--json-logs",
        help="Events as JSON lines on standard error, and no other line there.",
        rich_help_panel=MESSAGES,
    ),
]
Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=_show_version,
        is_eager=True,
        help="Show the version and exit.",
        rich_help_panel=MESSAGES,
    ),
]
