"""Why a model cannot be loaded, in words for people.

Owns the wording. Never loads anything. The libraries raise `OSError` for nearly everything, so the
chain of causes is looked at by the names of its classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from moonpress.errors import EngineError, EngineUnavailable, UnknownName

LICENCE = (
    "its weights are under a modified OpenRAIL-M: free for research, personal use and small"
    " companies"
)
_GATED = {"GatedRepoError"}
_UNKNOWN = {"RepositoryNotFoundError", "HFValidationError"}
_OFFLINE = {
    "LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout",
    "ConnectionError",
}  # fmt: skip
_MEMORY = {"OutOfMemoryError", "MemoryError"}


def cannot_load(model: str, error: BaseException) -> EngineError | UnknownName:
    """The error that says why ``model`` could not be loaded."""
    if isinstance(error, EngineError):
        return error
    names = {type(one).__name__ for one in _chain(error)}
    if names & _MEMORY:
        message = f"there is too little memory for the model {model}"
        return EngineUnavailable(message, hint="Chandra-OCR-2 takes 11 GB; free some first")
    if Path(model).is_dir():
        message = f"the folder {model} holds no model that can be loaded: {_words(error)}"
        return EngineUnavailable(
            message, hint="Name one that transformers has saved, or a hub name"
        )
    return _not_had(model, names, error)


def _not_had(model: str, names: set[str], error: BaseException) -> EngineError | UnknownName:
    """The hub does not give the model."""
    if names & _GATED:
        return EngineUnavailable(
            f"the model {model} is given only to those who accept its licence",
            hint=f"Accept it at https://huggingface.co/{model}, then run: hf auth login",
        )
    if names & _UNKNOWN:
        message = f"the Hugging Face hub has no model {model!r}, or does not show it to you"
        return UnknownName(message, hint="Check --model; for private ones run: hf auth login")
    if names & _OFFLINE:
        message = f"the model {model} is not on this machine and the Hugging Face hub not reached"
        hint = f"Go online once, or copy it and name its folder with --model ({LICENCE})"
        return EngineUnavailable(message, hint=hint)
    return EngineUnavailable(f"the model {model} cannot be loaded: {_words(error)}")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _words(error: BaseException) -> str:
    """The first sentence; these libraries write whole paragraphs."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text.partition(". ")[0].rstrip(".")[:300]
