"""Which vLLM servers run on which GPUs.

Owns the plan of a fleet. Never starts anything and never asks a GPU: what there is comes from
`moonpress.serving.replicas.gpus`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from moonpress.errors import EngineUnavailable, UsageError
from moonpress.serving.replicas import presets
from moonpress.serving.replicas.flags import Flag, words_of
from moonpress.serving.replicas.gpus import Gpu
from moonpress.serving.replicas.room import UTILISATION, fitted, least_devices
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec, Role
from moonpress.serving.replicas.visible import VARIABLE, visible

_TENSOR, _PIPELINE = "--tensor-parallel-size", "--pipeline-parallel-size"
_SERVERS = "--api-server-count"
_CORES_PER_SERVER = 4
# Other sizes do not divide the model's 16 attention heads.
_HEADS = 16
# With them the sizes of files say nothing about the memory that weights take.
_OTHER_SIZES = {"--quantization", "--load-format", "--cpu-offload-gb"}
_QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


@dataclass(frozen=True, slots=True)
class FleetChoices:
    """What a user decides about the fleet.

    Attributes:
        command: The vllm program.
        model: Name or folder of the weights.
        tensor: GPUs that share each layer of a replica.
        pipeline: Groups of those that share the layers of a replica.
        replicas: ``None`` for as many as the GPUs hold.
        encoders: GPUs that only encode pictures; empty where every replica does all.
        decoders: GPUs of the replicas beside them; empty for all others.
        preset: One of `moonpress.serving.replicas.presets.names`.
        flags: Of vLLM; they win over the preset.
    """

    command: tuple[str, ...]
    model: str
    tensor: int = 1
    pipeline: int = 1
    replicas: int | None = None
    encoders: tuple[str, ...] = ()
    decoders: tuple[str, ...] = ()
    preset: str = presets.AUTO
    flags: tuple[Flag, ...] = ()

    @property
    def group(self) -> int:
        """GPUs of one replica."""
        return self.tensor * self.pipeline


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the plan is made for.

    Attributes:
        environment: Variables of the service.
        cores: Of the processor, for all replicas.
        weights: Bytes of the model's; ``None`` when unknown.
        shared_folder: Where encoders leave what decoders read; only they use it.
    """

    environment: Mapping[str, str]
    cores: int
    weights: int | None = None
    shared_folder: str = ""


def plan_fleet(choices: FleetChoices, gpus: Sequence[Gpu], around: Surroundings) -> Fleet:
    """Lay replicas out on GPUs; on the processor where there are none and replicas are asked for.

    Args:
        choices: The user's.
        gpus: All of the machine; ``CUDA_VISIBLE_DEVICES`` is heeded here.
        around: What else matters.

    Raises:
        UsageError: the choices contradict each other, ``CUDA_VISIBLE_DEVICES`` or the GPUs.
        EngineUnavailable: there is no GPU, or too little memory on one.
    """
    if choices.tensor > 1 and _HEADS % choices.tensor:
        message = f"{_TENSOR} {choices.tensor} does not divide the model's {_HEADS} attention heads"
        raise UsageError(message, hint="Sizes are 1, 2, 4, 8 and 16")
    seen = visible(gpus, around.environment)
    if choices.encoders or choices.decoders:
        return _apart(choices, gpus, seen, around)
    if not seen:
        return _on_processor(choices, gpus, around)
    groups = _groups(seen, choices, gpus)
    each = replace(around, cores=around.cores // len(groups))
    specs = tuple(_spec(group, choices, each, Role.WHOLE) for group in groups)
    used = choices.group * len(specs)
    line = [_count(used, "GPU") if used == len(seen) else f"{used} of {_count(len(seen), 'GPU')}"]
    line += _sizes(choices)
    line.append(_count(len(specs), "replica"))
    return Fleet(choices.command, choices.model, specs, ", ".join(line))


def _groups(
    seen: Sequence[Gpu], choices: FleetChoices, gpus: Sequence[Gpu]
) -> list[tuple[Gpu, ...]]:
    """Neighbours share a replica: they are most often those with the fastest links."""
    size = choices.group
    count = len(seen) // size if choices.replicas is None else choices.replicas
    if not count or count * size > len(seen):
        raise _too_few(max(count, 1), size, len(seen), len(gpus))
    if choices.replicas is None and len(seen) % size:
        rest = len(seen) % size
        fewer = ",".join(gpu.device for gpu in seen[: len(seen) - rest])
        raise UsageError(
            f"{_count(len(seen), 'GPU')} cannot be divided into groups of {size}",
            hint=f"Leave {rest} out with --replicas {count}, or with {VARIABLE}={fewer}",
        )
    return [tuple(seen[at * size : (at + 1) * size]) for at in range(count)]


def _too_few(count: int, size: int, seen: int, there: int) -> UsageError:
    wanted = count * size
    what = f"{_count(count, 'replica')} of {_count(size, 'GPU')} cannot run: "
    if seen == there:
        hint = f"Lower --replicas, {_TENSOR} or {_PIPELINE}"
        return UsageError(f"{what}there {'is' if seen == 1 else 'are'} {seen}", hint=hint)
    message = f"{what}{VARIABLE} shows {seen} of the {there} that there are"
    first = ",".join(str(number) for number in range(wanted))
    hint = f"Unset it, or set {VARIABLE}={first}" if wanted <= there else "Ask for fewer"
    return UsageError(message, hint=hint)


def _on_processor(choices: FleetChoices, gpus: Sequence[Gpu], around: Surroundings) -> Fleet:
    if choices.replicas is None or choices.group > 1:
        hidden = " that CUDA_VISIBLE_DEVICES shows" if gpus else ""
        raise EngineUnavailable(
            f"there is no GPU{hidden}",
            hint="--replicas 1 starts a vLLM on the processor, --url names servers elsewhere, "
            "--engine embedded reads without a GPU",
        )
    count = choices.replicas
    environment = dict(_QUIET)
    if count > 1:
        # Each would bind its threads to the same cores.
        environment["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
        environment["OMP_NUM_THREADS"] = str(max(around.cores // count, 1))
    kept = {k: v for k, v in environment.items() if k not in around.environment}
    arguments = words_of((*_advised(presets.COMMON, choices.flags), *choices.flags))
    specs = tuple(ReplicaSpec(f"cpu{n}", (), arguments, kept) for n in range(count))
    line = f"no GPU, {_count(count, 'replica')} on the processor"
    return Fleet(choices.command, choices.model, specs, line)


def _apart(
    choices: FleetChoices, gpus: Sequence[Gpu], seen: Sequence[Gpu], around: Surroundings
) -> Fleet:
    """Encoders on GPUs of their own."""
    if not choices.encoders:
        raise UsageError("--decoder-gpus stands beside --encoder-gpus", hint="Give both, or none")
    if choices.replicas is not None:
        raise UsageError(
            "--replicas does not go with --encoder-gpus", hint="--decoder-gpus says how many"
        )
    rest = tuple(gpu.device for gpu in seen if gpu.device not in choices.encoders)
    encoding = _named(choices.encoders, "--encoder-gpus", gpus, seen)
    decoding = _named(choices.decoders or rest, "--decoder-gpus", gpus, seen)
    both = [gpu.device for gpu in encoding if gpu in decoding]
    if both:
        message = f"GPU {', '.join(both)} cannot both encode and decode"
        raise UsageError(message, hint="Name it in one of --encoder-gpus and --decoder-gpus")
    if not decoding or len(decoding) % choices.group:
        message = f"{_count(len(decoding), 'GPU')} to decode are no groups of {choices.group}"
        raise UsageError(message, hint="Change --decoder-gpus or the sizes")
    single = replace(choices, tensor=1, pipeline=1)
    groups = _groups(decoding, choices, gpus)
    specs = (
        *(_spec((gpu,), single, around, Role.ENCODER) for gpu in encoding),
        *(_spec(group, choices, around, Role.DECODER) for group in groups),
    )
    line = [f"{_count(len(encoding), 'encoder')} on GPU {_devices(encoding)}"]
    line.append(f"{_count(len(groups), 'decoder')} on GPU {_devices(decoding)}")
    return Fleet(choices.command, choices.model, specs, ", ".join([*line, *_sizes(choices)]))


def _named(
    devices: Sequence[str], option: str, gpus: Sequence[Gpu], seen: Sequence[Gpu]
) -> tuple[Gpu, ...]:
    known = {gpu.device: gpu for gpu in seen}
    there = {gpu.device for gpu in gpus}
    for device in devices:
        if device in known:
            continue
        if device in there:
            shown = ",".join(gpu.device for gpu in seen)
            raise UsageError(
                f"{option} names GPU {device}, and CUDA_VISIBLE_DEVICES shows {shown or 'none'}",
                hint="Unset CUDA_VISIBLE_DEVICES, or add the GPU to it",
            )
        listed = ", ".join(sorted(there)) or "none"
        raise UsageError(f"{option} names GPU {device}", hint=f"There are: {listed}")
    if len(set(devices)) < len(devices):
        raise UsageError(f"{option} names a GPU twice", hint="Name each once")
    return tuple(known[device] for device in devices)


def _spec(
    group: Sequence[Gpu], choices: FleetChoices, around: Surroundings, role: Role
) -> ReplicaSpec:
    """One replica."""
    devices = tuple(gpu.device for gpu in group)
    flags = [*_preset_flags(group, choices, around, role), *choices.flags]
    other = _OTHER_SIZES & {flag.name for flag in choices.flags}
    weights = 0 if around.weights is None or other else around.weights
    flags = fitted(group, flags, weights, firm=_gives(choices, UTILISATION))
    least = least_devices(group, flags, weights)
    sizes = ((_TENSOR, choices.tensor), (_PIPELINE, choices.pipeline))
    flags += [Flag(name, (str(size),)) for name, size in sizes if size > 1]
    name = f"gpu{'-'.join(_short(device) for device in devices)}"
    if role is not Role.WHOLE:
        name = f"{role.value}-{name}"
        flags += _transfer_flags(name, choices, around, role)
    environment = _QUIET | {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    kept = {k: v for k, v in environment.items() if k not in around.environment}
    kept["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    return ReplicaSpec(name, devices, words_of(flags), kept, role, least)


def _preset_flags(
    group: Sequence[Gpu], choices: FleetChoices, around: Surroundings, role: Role
) -> list[Flag]:
    if choices.preset == presets.AUTO:
        # All shares of a model are alike, so the smallest GPU decides.
        weakest = min(group, key=lambda gpu: gpu.memory)
        preset = presets.for_gpu(weakest.name, weakest.memory)
    else:
        preset = presets.by_name(choices.preset)
        if preset is None:
            return []
    advice = presets.COMMON if preset is None else (*presets.COMMON, *preset.advice)
    flags = _advised(advice, choices.flags)
    if preset is not None and role is Role.WHOLE and not _gives(choices, _SERVERS):
        servers = min(preset.servers, around.cores // _CORES_PER_SERVER)
        if servers > 1:
            flags.append(Flag(_SERVERS, (str(servers),)))
    return flags


def _gives(choices: FleetChoices, about: str) -> bool:
    return any(flag.about == about for flag in choices.flags)


def _advised(advice: Sequence[presets.Advice], flags: Sequence[Flag]) -> list[Flag]:
    """A preset's flags, without those about which the user decides."""
    given = {flag.about for flag in flags}
    made = (Flag(one.flag, () if one.value is None else (one.value,)) for one in advice)
    return [flag for flag in made if flag.about not in given]


def _transfer_flags(
    name: str, choices: FleetChoices, around: Surroundings, role: Role
) -> list[Flag]:
    """How vLLM's example connector hands pictures from encoders to decoders: through a folder."""
    encoder = role is Role.ENCODER
    config = {
        "ec_connector": "ECExampleConnector",
        "ec_role": "ec_producer" if encoder else "ec_consumer",
        "engine_id": name,
        "ec_connector_extra_config": {"shared_storage_path": around.shared_folder},
    }
    flags = [Flag("--ec-transfer-config", (json.dumps(config),))]
    if encoder:
        flags.append(Flag("--mm-encoder-only"))
        if choices.preset == presets.NONE and not _gives(choices, "--enable-prefix-caching"):
            # Encoders have no cache for it.
            flags.append(Flag("--no-enable-prefix-caching"))
    return flags


def _sizes(choices: FleetChoices) -> list[str]:
    named = (("tensor parallel", choices.tensor), ("pipeline parallel", choices.pipeline))
    return [f"{name} {size}" for name, size in named if size > 1]


def _short(device: str) -> str:
    """A number as it is; the beginning of a UUID."""
    return device if device.isdigit() else device.removeprefix("MIG-")[:8]


def _devices(gpus: Sequence[Gpu]) -> str:
    return ", ".join(gpu.device for gpu in gpus)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
