"""The error tree of Moonpress: every failure a user can meet, with what to do about it.

Owns the exception classes and the facts that edges need to translate them (exit code, HTTP
status, retryability). Never formats for a particular edge, never logs, never imports anything else
of the package.

    MoonpressError
    ├── UsageError                 the caller asked for something that makes no sense      exit 2
    │   ├── PageRangeError         --pages that cannot be read, or page 99 of 3
    │   ├── UnknownName            no such engine, format or option value
    │   ├── KeyRefused             the service wants a key, and not this one
    │   ├── JobMissing             the service has no such job, or not for this key
    │   ├── JobUnfinished          what is asked of a job comes at its end
    │   └── OutputUnwritable       the place to write to cannot be written
    ├── InputError                 the file itself                                        exit 4
    │   ├── InputMissing           no such file
    │   ├── InputNotAFile          a folder, a socket
    │   ├── InputUnreadable        permissions, I/O errors
    │   ├── InputEmpty             zero bytes
    │   ├── UnsupportedInput       not a kind of file that Moonpress reads
    │   ├── InputCorrupt           right kind, damaged beyond reading
    │   ├── PasswordNeeded         encrypted, no password or a wrong one
    │   ├── InputTooLarge          over a stated bound
    │   └── UploadTooSlow          a client sends its file too slowly, or stopped
    ├── PageError                  one page; the document goes on                          exit 3
    │   ├── PageUnrenderable       the renderer refused or crashed on it
    │   ├── PageTimeout            took longer than its hard limit
    │   └── PageTooLarge           needs more memory or pixels than allowed
    ├── EngineError                who reads pages
    │   ├── EngineUnavailable      not there now; another replica may do it                exit 5
    │   │   └── EngineBusy         there, and has too much to do                          exit 5
    │   ├── EngineRejected         this page will never be accepted                        exit 3
    │   └── BadOutput              nonsense came back; other sampling may help             exit 3
    └── OutputError                writing failed half way                                 exit 4
        └── NoSpace                the disk is full
"""

from __future__ import annotations

from typing import ClassVar


class MoonpressError(Exception):
    """Root of the tree.

    Args:
        message: What is wrong, in one line, without the file's name.
        file: The file concerned, as the user named it.
        page: 1-based page number concerned.
        hint: What the user can do; defaults to the class's own hint.
    """

    code: ClassVar[str] = "moonpress-error"
    default_hint: ClassVar[str] = ""
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 4
    http_status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        page: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.page = page
        self.hint = self.default_hint if hint is None else hint

    def __str__(self) -> str:
        """One line: file, page, cause, remedy and the stable code."""
        where = self.file or ""
        if self.page is not None:
            where = f"{where}, page {self.page}" if where else f"page {self.page}"
        text = f"{where}: {self.message}" if where else self.message
        if self.hint:
            text = f"{text}. {self.hint}"
        return " ".join(f"{text} [{self.code}]".split())

    def __reduce__(self) -> tuple[object, ...]:
        """Keep file, page and hint when the error crosses a process boundary."""
        return (_rebuild, (type(self), self.message, self.file, self.page, self.hint))


def _rebuild(
    kind: type[MoonpressError],
    message: str,
    file: str | None,
    page: int | None,
    hint: str | None,
) -> MoonpressError:
    return kind(message, file=file, page=page, hint=hint)


def root_cause(error: BaseException) -> BaseException:
    """The error that says most, when task groups have wrapped several into one."""
    while isinstance(error, BaseExceptionGroup):
        known = error.subgroup(MoonpressError)
        error = (known or error).exceptions[0]
    return error


class UsageError(MoonpressError):
    """The request makes no sense."""

    code = "usage"
    exit_code = 2
    http_status = 400


class PageRangeError(UsageError):
    """A page selection that cannot be read, or that names pages the document lacks."""

    code = "page-range"
    default_hint = "Pages are counted from 1: --pages 1-3,7,-1 (-1 is the last page)"


class UnknownName(UsageError):
    """No engine, output format or option value has this name."""

    code = "unknown-name"


class KeyRefused(UsageError):
    """The service wants a key, and there is none or one that it does not know."""

    code = "key-refused"
    default_hint = "Send Authorization: Bearer KEY"
    http_status = 401


class JobMissing(UsageError):
    """The service has no such job, or another key brought it."""

    code = "job-missing"
    http_status = 404


class JobUnfinished(UsageError):
    """A job is not where it must be for what was asked: its result comes at its end."""

    code = "job-unfinished"
    default_hint = "Ask for its pages, follow its events, or wait"
    http_status = 409


class OutputUnwritable(UsageError):
    """The place to write to does not exist, is not a folder, or refuses writing."""

    code = "output-unwritable"
    default_hint = "Choose another place with --output"


class InputError(MoonpressError):
    """Something about the input file makes reading it impossible."""

    code = "input"
    exit_code = 4
    http_status = 422


class InputMissing(InputError):
    """There is no such file."""

    code = "input-missing"
    default_hint = "Check the path"
    http_status = 404


class InputNotAFile(InputError):
    """The path is a folder or a device."""

    code = "input-not-a-file"
    default_hint = "Name one file"


class InputUnreadable(InputError):
    """The operating system refuses to hand over the bytes."""

    code = "input-unreadable"
    default_hint = "Check the permissions of the file"


class InputEmpty(InputError):
    """The file has no bytes, or no pages."""

    code = "input-empty"
    default_hint = "Fetch or export the file again"


class UnsupportedInput(InputError):
    """The bytes are none of the formats that Moonpress reads."""

    code = "input-unsupported"
    default_hint = "Moonpress reads PDF, PNG, JPEG, WebP, TIFF, GIF, BMP, HEIC and AVIF"
    http_status = 415


class InputCorrupt(InputError):
    """The format is right and the content is damaged beyond reading."""

    code = "input-corrupt"
    default_hint = "Fetch or export the file again"


class PasswordNeeded(InputError):
    """The PDF is encrypted and the password is missing or wrong."""

    code = "password-needed"
    default_hint = "Give the right one with --password"


class InputTooLarge(InputError):
    """The input is over a bound that protects this machine."""

    code = "input-too-large"
    http_status = 413


class UploadTooSlow(InputError):
    """A client of the service sends its request too slowly, or stopped in the middle."""

    code = "upload-too-slow"
    default_hint = "Send it again over a better connection"
    http_status = 408


class PageError(MoonpressError):
    """One page failed; the rest of the document goes on."""

    code = "page"
    exit_code = 3
    http_status = 422


class PageUnrenderable(PageError):
    """The renderer refused the page or crashed on it."""

    code = "page-unrenderable"
    default_hint = "Open the file in a PDF viewer and export it again"


class PageTimeout(PageError):
    """The page took longer than its hard time limit."""

    code = "page-timeout"
    default_hint = "Raise --page-timeout, or leave the page out with --pages"


class PageTooLarge(PageError):
    """The page needs more memory or pixels than one page may have."""

    code = "page-too-large"
    default_hint = "Lower --dpi or --max-image-width"


class EngineError(MoonpressError):
    """The engine that reads pages failed."""

    code = "engine"
    exit_code = 5
    http_status = 502


class EngineUnavailable(EngineError):
    """The engine is not there now; another replica, or a later try, may do it."""

    code = "engine-unavailable"
    retryable = True
    http_status = 503


class EngineBusy(EngineUnavailable):
    """The engine is there and has too much to do; try again later.

    Args:
        message: As for all errors.
        retry_after: Seconds after which trying again makes sense.
        hint: As for all errors.
    """

    code = "engine-busy"
    default_hint = "Lower --workers, or give more servers"

    def __init__(
        self,
        message: str,
        *,
        retry_after: float = 1.0,
        file: str | None = None,
        page: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, file=file, page=page, hint=hint)
        self.retry_after = retry_after


class EngineRejected(EngineError):
    """The engine will never accept this page."""

    code = "engine-rejected"
    exit_code = 3
    http_status = 422


class BadOutput(EngineError):
    """The engine answered nonsense; other sampling may help."""

    code = "bad-output"
    retryable = True
    exit_code = 3


class OutputError(MoonpressError):
    """Writing failed after reading had begun."""

    code = "output"
    exit_code = 4


class NoSpace(OutputError):
    """The disk or the quota is full."""

    code = "no-space"
    default_hint = "Free some space or choose another place with --output"
    http_status = 507
