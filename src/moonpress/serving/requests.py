"""What clients send.

Owns the models of request bodies. Never reads documents.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from moonpress.serving.answers import OutputFormat


class DocumentRequest(BaseModel):
    """What every request for a document may say; the file comes as an address or in the body."""

    model_config = ConfigDict(extra="forbid")

    image_url: str | None = Field(default=None, description="https: or data: address of a file")
    file: str | None = Field(default=None, description="The file's bytes in base64")
    name: str = Field(default="document", max_length=255, description="What to call the file")
    output_format: OutputFormat = "markdown"
    pages: str | None = Field(default=None, max_length=1000, description="Such as 1-3,7,-1")
    password: str | None = Field(default=None, max_length=1000, description="Of an encrypted PDF")
    dpi: float | None = Field(default=None, ge=18, le=1200)
    figures: bool = Field(default=False, description="Return pictures of figures in base64")

    @classmethod
    def flags(cls) -> set[str]:
        """Fields that are true or false; a form sends them as words."""
        return {name for name, field in cls.model_fields.items() if field.annotation is bool}


class OcrRequest(DocumentRequest):
    """``POST /v1/ocr``."""

    stream: bool = Field(default=False, description="Events for blocks and pages as they are read")


class JobRequest(DocumentRequest):
    """``POST /v1/jobs``."""

    webhook: str | None = Field(
        default=None,
        max_length=2000,
        description="Address that is told when the job is done or has failed",
    )


class ImageUrl(BaseModel):
    """Where a picture is."""

    url: str


class Part(BaseModel):
    """A part of a message: text, which is ignored, or a page."""

    type: Literal["text", "image_url"]
    text: str | None = None
    image_url: ImageUrl | None = None


class Message(BaseModel):
    """A message of a chat."""

    role: str
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    """As the OpenAI API has them."""

    include_usage: bool = False
    continuous_usage_stats: bool = Field(
        default=False, description="Usage with every piece, as vLLM has it"
    )


class ChatRequest(BaseModel):
    """``POST /v1/chat/completions``: what does not concern reading a page is ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = ""
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    output_format: OutputFormat = "markdown"

    def image_urls(self) -> list[str]:
        """The pages of all messages."""
        parts: list[Any] = [
            part
            for message in self.messages
            if isinstance(message.content, list)
            for part in message.content
        ]
        return [part.image_url.url for part in parts if part.image_url is not None]
