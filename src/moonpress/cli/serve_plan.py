"""Who reads for ``chandra-serve``: servers elsewhere, vLLM servers that it starts, or this CPU.

Owns that choice and the options about starting servers. Never starts any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.options import split_names
from moonpress.errors import EngineUnavailable, UsageError
from moonpress.serving.replicas import presets
from moonpress.serving.replicas.flags import (
    check_with_vllm,
    last_value,
    read_flags,
    split_flags,
    words_of,
)
from moonpress.serving.replicas.gpus import Box
from moonpress.serving.replicas.plan import FleetChoices, Surroundings, plan_fleet
from moonpress.serving.replicas.program import vllm_command
from moonpress.serving.replicas.spec import Fleet
from moonpress.serving.replicas.visible import visible
from moonpress.serving.replicas.weights import DEFAULT_MODEL, LICENCE, size_here, size_of

_AUTO, _VLLM, _EMBEDDED = "auto", "vllm", "embedded"
_VALUES = (
    "gpu_memory_utilization", "max_model_len", "kv_cache_dtype", "block_size",
    "max_num_batched_tokens", "max_num_seqs",
)  # fmt: skip
_SWITCHES = ("enforce_eager", "enable_chunked_prefill")


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """What a user says about servers to start; the fields are options of ``chandra-serve``.

    Attributes:
        words: Flags of vLLM: those that ``chandra-serve`` documents, then ``extra``.
        extra: All that ``chandra-serve`` does not know.
    """

    replicas: int | None
    tensor: int | None
    pipeline: int | None
    encoder_gpus: tuple[str, ...]
    decoder_gpus: tuple[str, ...]
    preset: str
    vllm: str | None
    words: tuple[str, ...]
    extra: tuple[str, ...]

    @classmethod
    def from_options(cls, given: Mapping[str, Any], extra: Sequence[str]) -> FleetOptions:
        """From the values of the command's options, by the names of its parameters.

        Raises:
            UsageError: two options contradict each other.
        """
        replicas, data = given["replicas"], given["data_parallel_size"]
        if None not in {replicas, data} and replicas != data:
            message = f"--replicas {replicas} and --data-parallel-size {data} say the same thing"
            raise UsageError(message, hint="Give one of them")
        words: list[str] = []
        for name in _VALUES:
            if given[name] is not None:
                words += [_option(name), given[name]]
        for name in _SWITCHES:
            if given[name] is not None:
                words.append(_option(name) if given[name] else f"--no-{_option(name)[2:]}")
        return cls(
            replicas=replicas if replicas is not None else data,
            tensor=given["tensor_parallel_size"],
            pipeline=given["pipeline_parallel_size"],
            encoder_gpus=split_names(given["encoder_gpus"]),
            decoder_gpus=split_names(given["decoder_gpus"]),
            preset=given["preset"],
            vllm=given["vllm"],
            words=(*words, *extra),
            extra=tuple(extra),
        )

    @property
    def named(self) -> tuple[str, ...]:
        """The options that make sense for servers that are started only, as the user gave them."""
        parts = {
            "--replicas": self.replicas,
            "--tensor-parallel-size": self.tensor,
            "--pipeline-parallel-size": self.pipeline,
            "--encoder-gpus": self.encoder_gpus,
            "--decoder-gpus": self.decoder_gpus,
        }
        return (*(name for name, value in parts.items() if value), *self.words)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who reads.

    Attributes:
        reading: For the engine's factory; its engine is never ``auto``.
        fleet: Servers to start; ``None`` where none is.
        line: What was chosen, for people.
    """

    reading: EngineChoice
    fleet: Fleet | None
    line: str


def choose(
    reading: EngineChoice,
    options: FleetOptions,
    look: Callable[[], Box],
    around: Surroundings,
) -> Chosen:
    """Decide who reads.

    Args:
        reading: The options that all commands share.
        options: About servers to start.
        look: Tells what GPUs there are.
        around: What a plan is made for; the size of the weights is found here.

    Raises:
        UsageError: options contradict each other or the machine, or vLLM refuses a flag.
        EngineUnavailable: servers are to be started and cannot.
    """
    if reading.engine not in {_AUTO, _VLLM}:
        _refuse(options, f"the engine {reading.engine} starts none")
        return Chosen(reading, None, f"engine {reading.engine}")
    # What makes no sense anywhere is refused before anybody looks what there is.
    read_flags(options.words)
    elsewhere = ", ".join(reading.urls)
    if reading.engine == _AUTO and reading.urls and not options.named:
        return Chosen(replace(reading, engine=_VLLM), None, f"servers {elsewhere}")
    box = look()
    seen = visible(box.gpus, around.environment)
    if not seen and options.replicas is None:
        return _without_gpus(reading, options, _no_gpu(box))
    try:
        command = vllm_command(options.vllm, around.environment)
    except EngineUnavailable as error:
        if reading.engine == _VLLM or options.named or options.vllm:
            raise
        line = f"engine {_EMBEDDED}: there are GPUs, but {error.message}. {error.hint}"
        return Chosen(replace(reading, engine=_EMBEDDED), None, line)
    fleet = _planned(command, reading, options, box, around)
    line = f"{fleet.line}, and the servers {elsewhere}" if elsewhere else fleet.line
    return Chosen(_for_fleet(reading, fleet), fleet, line)


def _without_gpus(reading: EngineChoice, options: FleetOptions, why: str) -> Chosen:
    """Nothing is started here."""
    if reading.urls:
        _refuse(options, why)
        line = f"servers {', '.join(reading.urls)}"
        return Chosen(replace(reading, engine=_VLLM), None, line)
    if reading.engine == _VLLM:
        hint = "Name servers with --url, or have --replicas 1 start one on the processor"
        raise EngineUnavailable(f"no server can be started: {why}", hint=hint)
    _refuse(options, why)
    line = f"engine {_EMBEDDED}: no --url is given and {why}"
    return Chosen(replace(reading, engine=_EMBEDDED), None, line)


def _planned(
    command: tuple[str, ...],
    reading: EngineChoice,
    options: FleetOptions,
    box: Box,
    around: Surroundings,
) -> Fleet:
    choices = FleetChoices(
        command=command,
        model=reading.model or DEFAULT_MODEL,
        tensor=options.tensor or 1,
        pipeline=options.pipeline or 1,
        replicas=options.replicas,
        encoders=options.encoder_gpus,
        decoders=options.decoder_gpus,
        preset=options.preset,
        flags=read_flags(options.words),
    )
    if options.preset != presets.AUTO:
        presets.by_name(options.preset)
    weights = size_of(choices.model, around.environment)
    fleet = plan_fleet(choices, box.gpus, replace(around, weights=weights))
    # Ten seconds that are worth it where there may be a slip of the pen.
    if options.extra:
        check_with_vllm(command, choices.model, words_of(choices.flags), around.environment)
    return fleet


def _for_fleet(reading: EngineChoice, fleet: Fleet) -> EngineChoice:
    """How the service asks its own servers: by whatever name, with as many pages as they take."""
    pages = last_value(split_flags(fleet.replicas[-1].arguments), "--max-num-seqs")
    workers = reading.workers
    if workers is None and pages is not None and pages.isdigit():
        workers = int(pages)
    return replace(reading, engine=_VLLM, model=None, workers=workers)


def fetching(fleet: Fleet, environment: Mapping[str, str]) -> str | None:
    """What a person should know before weights are fetched; ``None`` when they are here."""
    if size_here(fleet.model, environment):
        return None
    size = size_of(fleet.model, environment)
    amount = f" ({size / 1e9:.1f} GB)" if size else ""
    return f"vLLM fetches the weights of {fleet.model}{amount}; {LICENCE}"


def _refuse(options: FleetOptions, why: str) -> None:
    if options.named:
        words = " ".join(options.named)
        message = f"{words} is for servers that are started here, and {why}"
        raise UsageError(message, hint="See chandra-serve --help")


def _no_gpu(box: Box) -> str:
    if box.gpus:
        return "CUDA_VISIBLE_DEVICES shows no GPU"
    return f"there is no GPU here: {box.reason}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
