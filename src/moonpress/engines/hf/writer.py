"""The model, in a process of its own: loading it and writing batches of pages.

Owns all use of torch and transformers. Never decides which pages are written together and never
judges what comes out. Imported by the worker process only, because its imports take seconds.

A batch is written in a thread, and `PageWriter.advance` tells what has come so far, so that the
other side can end single pages while the rest goes on.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from moonpress.engines.chandra.facts import STOP
from moonpress.engines.chandra.picture import fitted
from moonpress.engines.chandra.prompt import layout_prompt
from moonpress.engines.hf.complaints import cannot_load
from moonpress.engines.hf.messages import ModelFacts, PageOrder, Progress
from moonpress.engines.hf.rows import Row
from moonpress.engines.layout_model import Ending, Written

# Of transformers: all tokens may be drawn, as a server does it.
_ANY_TOKEN = 0
Piece = tuple[int, Written | Ending]


class PageWriter:
    """Writes batches of pages, one batch at a time.

    Args:
        model: Name on the Hugging Face hub, or a folder.
        confidence: Tell the probability of each token.

    Raises:
        EngineUnavailable: the model cannot be had or does not fit.
        UnknownName: there is no model of this name.
    """

    def __init__(self, *, model: str, confidence: bool) -> None:
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            # Half the memory of float32, and what the weights are published in.
            loaded = AutoModelForImageTextToText.from_pretrained(model, dtype=torch.bfloat16)
            self._model: Any = loaded.to(self._device).eval()
            self._processor: Any = AutoProcessor.from_pretrained(model)
        # Whatever its folder holds makes these libraries fail in many ways.
        except Exception as error:
            raise cannot_load(model, error) from error
        # Replies then begin at the same column for all rows.
        self._processor.tokenizer.padding_side = "left"
        self._confidence = confidence
        self._prompt = self._chat(layout_prompt("hf"))
        self._ends = self._end_tokens()
        self._news: queue.SimpleQueue[Piece | BaseException | None] = queue.SimpleQueue()
        self._stopped: set[int] = set()

    def _chat(self, prompt: str) -> str:
        content = [{"type": "image"}, {"type": "text", "text": prompt}]
        messages = [{"role": "user", "content": content}]
        text: str = self._processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )
        return text

    def _end_tokens(self) -> frozenset[int]:
        known = self._model.generation_config.eos_token_id
        ids = set(known if isinstance(known, list) else [known])
        ids |= {self._processor.tokenizer.convert_tokens_to_ids(token) for token in STOP}
        return frozenset(token for token in ids if token is not None)

    def facts(self) -> ModelFacts:
        """What is known of the model."""
        config = self._model.config
        text = getattr(config, "text_config", config)
        return ModelFacts(
            device=self._device,
            kind=str(config.model_type),
            context=int(text.max_position_embeddings),
            prompt_tokens=len(self._processor.tokenizer(self._prompt)["input_ids"]),
        )

    def begin(self, orders: Sequence[PageOrder], temperature: float, top_p: float) -> None:
        """Start a batch; the one before is over."""
        self._stopped = set()
        arguments = (orders, temperature, top_p, self._stopped)
        threading.Thread(target=self._work, args=arguments, daemon=True).start()

    def advance(self, stop: Sequence[int]) -> Progress:
        """Wait until there is something new, and tell it.

        Args:
            stop: Rows that nobody wants any more.

        Raises:
            Exception: whatever broke the batch.
        """
        self._stopped |= set(stop)
        pieces: list[Piece] = []
        news = self._news.get()
        while True:
            if news is None:
                return Progress(tuple(pieces), over=True)
            if isinstance(news, torch.OutOfMemoryError):
                return Progress(tuple(pieces), over=True, out_of_memory=True)
            if isinstance(news, BaseException):
                raise news
            pieces.append(news)
            try:
                news = self._news.get_nowait()
            except queue.Empty:
                return Progress(tuple(pieces))

    def _work(
        self, orders: Sequence[PageOrder], temperature: float, top_p: float, stopped: set[int]
    ) -> None:
        """The thread of one batch; what breaks it is told where somebody listens."""
        try:
            self._write(orders, temperature, top_p, stopped)
        except BaseException as error:  # noqa: BLE001 - handed to the other thread
            self._news.put(error)
        else:
            self._news.put(None)
        finally:
            if self._device == "cuda":
                torch.cuda.empty_cache()

    def _write(
        self, orders: Sequence[PageOrder], temperature: float, top_p: float, stopped: set[int]
    ) -> None:
        pictures = [fitted(order.pixels, order.zoom) for order in orders]
        inputs = self._processor(
            text=[self._prompt] * len(orders),
            images=pictures,
            # They have their size already.
            images_kwargs={"do_resize": False},
            padding=True,
            return_tensors="pt",
        ).to(self._device)
        prompts = inputs["attention_mask"].sum(dim=1).tolist()
        rows = [
            Row(self._processor.tokenizer, prompt, order.most_tokens)
            for prompt, order in zip(prompts, orders, strict=True)
        ]
        watch = _Watch(rows, self._ends, stopped, self._news, confidence=self._confidence)
        warm = {"do_sample": True, "temperature": temperature, "top_p": top_p, "top_k": _ANY_TOKEN}
        cold = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        with torch.inference_mode():
            self._model.generate(
                **inputs,
                **(warm if temperature > 0 else cold),
                max_new_tokens=max(order.most_tokens for order in orders),
                eos_token_id=sorted(self._ends),
                logits_processor=[watch.see_logits] if self._confidence else [],
                stopping_criteria=[watch.step],
            )


class _Watch:
    """Sees each step of a batch: hands the new tokens on and says which rows are done."""

    def __init__(
        self,
        rows: Sequence[Row],
        ends: frozenset[int],
        stopped: set[int],
        news: queue.SimpleQueue[Piece | BaseException | None],
        *,
        confidence: bool,
    ) -> None:
        self._rows = rows
        self._ends = ends
        self._stopped = stopped
        self._news = news
        self._confidence = confidence
        self._logits: Any = None

    def see_logits(self, _tokens: Any, logits: Any) -> Any:
        """Keep what the model says of the next token, before it is made warmer or cut."""
        self._logits = logits
        return logits

    def step(self, tokens: Any, _scores: Any, **_more: Any) -> Any:
        """Take the tokens of one step; returns for each row whether it is done."""
        newest = tokens[:, -1]
        logprobs: list[float | None] = [None] * len(self._rows)
        if self._confidence:
            chosen = self._logits.gather(1, newest[:, None])[:, 0]
            logprobs = (chosen - self._logits.logsumexp(dim=1)).tolist()
        for index, (row, token) in enumerate(zip(self._rows, newest.tolist(), strict=True)):
            if row.done:
                continue
            if index in self._stopped:
                row.done = True
                continue
            for piece in row.take(token, logprobs[index], is_end=token in self._ends):
                self._news.put((index, piece))
        return torch.tensor([row.done for row in self._rows], device=tokens.device)
