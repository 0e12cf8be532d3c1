"""The options that only ``chandra-serve`` has.

Owns wording and validation of single values, as `moonpress.cli.options` does for what is shared.
"""

from __future__ import annotations

from typing import Annotated

import typer

SERVICE = "Service"
BOUNDS = "Bounds"
REPLICAS = "vLLM servers that this starts"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        envvar="MOONPRESS_HOST",
        help="Listen there; 0.0.0.0 for all networks.",
        rich_help_panel=SERVICE,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="NUMBER",
        min=0,
        max=65535,
        envvar="MOONPRESS_PORT",
        help="Listen there.",
        rich_help_panel=SERVICE,
    ),
]
KeysFile = Annotated[
    str | None,
    typer.Option(
        "--keys-file",
        metavar="PATH",
        help="API keys, one a line: KEY or sha256:HASH, then NAME, requests at once, requests a "
        "minute. The variable MOONPRESS_SERVE_KEYS holds keys with commas between. With none, "
        "everybody may ask.",
        rich_help_panel=SERVICE,
    ),
]
Certificate = Annotated[
    str | None,
    typer.Option("--tls-certificate", metavar="PATH", help="PEM file.", rich_help_panel=SERVICE),
]
CertificateKey = Annotated[
    str | None,
    typer.Option("--tls-key", metavar="PATH", help="PEM file.", rich_help_panel=SERVICE),
]
JobsDir = Annotated[
    str | None,
    typer.Option(
        "--jobs-dir",
        metavar="FOLDER",
        envvar="MOONPRESS_JOBS_DIR",
        help="Where jobs are kept, over restarts too; one service a folder. "
        "$XDG_STATE_HOME/moonpress/jobs-PORT by default.",
        rich_help_panel=SERVICE,
    ),
]
KeepJobs = Annotated[
    float,
    typer.Option(
        "--keep-jobs",
        metavar="HOURS",
        min=0,
        help="Forget a job so long after its end.",
        rich_help_panel=BOUNDS,
    ),
]
MaxJobs = Annotated[
    int,
    typer.Option(
        "--max-jobs",
        metavar="COUNT",
        min=1,
        help="Jobs that may wait; more get 429.",
        rich_help_panel=BOUNDS,
    ),
]
WebhookHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--webhook-host",
        metavar="NAME",
        help="Host that a webhook may name, such as *.example.org, also at a private address. "
        "Any public one over https by default. The variable MOONPRESS_WEBHOOK_SECRET holds the key "
        "that webhooks are signed with. Can be repeated.",
        rich_help_panel=BOUNDS,
    ),
]
UploadTimeout = Annotated[
    float,
    typer.Option(
        "--upload-timeout",
        metavar="SECONDS",
        min=0.1,
        help="That may pass between two pieces of a request's body.",
        rich_help_panel=BOUNDS,
    ),
]
CorsOrigins = Annotated[
    list[str] | None,
    typer.Option(
        "--cors-origin",
        metavar="ORIGIN",
        help="Pages of this origin, such as https://app.example.org, may ask from a browser. None "
        "may by default. Can be repeated.",
        rich_help_panel=BOUNDS,
    ),
]
MaxBody = Annotated[
    int,
    typer.Option("--max-body", metavar="MIB", min=1, help="Of a request.", rich_help_panel=BOUNDS),
]
MaxPages = Annotated[
    int,
    typer.Option(
        "--max-pages", metavar="COUNT", min=1, help="Of one document.", rich_help_panel=BOUNDS
    ),
]
MaxQueue = Annotated[
    int,
    typer.Option(
        "--max-queue",
        metavar="COUNT",
        min=0,
        help="Requests that may wait; more get 429 with Retry-After.",
        rich_help_panel=BOUNDS,
    ),
]
FetchHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--fetch-host",
        metavar="NAME",
        help="Host that an image_url may lead to, such as *.example.org. Any public one by "
        "default; private addresses never. Can be repeated.",
        rich_help_panel=BOUNDS,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        envvar="MOONPRESS_MODEL",
        help="Weights: a name of the Hugging Face hub or a folder. By default "
        "datalab-to/chandra-ocr-2. With servers that run elsewhere, what they call the model.",
        rich_help_panel=REPLICAS,
    ),
]
Replicas = Annotated[
    int | None,
    typer.Option(
        "--replicas",
        metavar="COUNT",
        min=1,
        max=1024,
        help="As many as the GPUs hold by default, so one for each GPU. On a machine without GPUs "
        "they run on the processor.",
        rich_help_panel=REPLICAS,
    ),
]
TensorParallel = Annotated[
    int | None,
    typer.Option(
        "--tensor-parallel-size",
        "-tp",
        metavar="COUNT",
        min=1,
        help="GPUs that share each layer of a replica: for cards that are too small for the model.",
        rich_help_panel=REPLICAS,
    ),
]
PipelineParallel = Annotated[
    int | None,
    typer.Option(
        "--pipeline-parallel-size",
        "-pp",
        metavar="COUNT",
        min=1,
        help="Groups of GPUs that share the layers of a replica.",
        rich_help_panel=REPLICAS,
    ),
]
DataParallel = Annotated[
    int | None,
    typer.Option(
        "--data-parallel-size",
        "-dp",
        metavar="COUNT",
        min=1,
        help="Another name of --replicas: each is a server of its own, so that one that fails "
        "takes no other with it.",
        rich_help_panel=REPLICAS,
    ),
]
EncoderGpus = Annotated[
    list[str] | None,
    typer.Option(
        "--encoder-gpus",
        metavar="NUMBERS",
        help="GPUs that only look at pictures, such as 0 or 0,1; they hand over to the decoders.",
        rich_help_panel=REPLICAS,
    ),
]
DecoderGpus = Annotated[
    list[str] | None,
    typer.Option(
        "--decoder-gpus",
        metavar="NUMBERS",
        help="GPUs that write, beside --encoder-gpus. By default all others.",
        rich_help_panel=REPLICAS,
    ),
]
PresetName = Annotated[
    str,
    typer.Option(
        "--preset",
        metavar="NAME",
        envvar="MOONPRESS_PRESET",
        help="Flags for a kind of GPU: auto, b200, h200, h100, a100, a100-40, l40s, 5090, 4090, "
        "l4, 16gb or none. Flags that you give win.",
        show_default=True,
        rich_help_panel=REPLICAS,
    ),
]
Vllm = Annotated[
    str | None,
    typer.Option(
        "--vllm",
        metavar="PATH",
        envvar="MOONPRESS_VLLM",
        help="The program vllm, or an environment that has it. By default the one beside this "
        "Python, else on the PATH.",
        rich_help_panel=REPLICAS,
    ),
]
ReplicaMemory = Annotated[
    float | None,
    typer.Option(
        "--replica-memory-limit",
        metavar="GIB",
        min=0.1,
        help="Of this machine's memory that the processes of a replica may hold together; one that "
        "holds more is restarted after its pages. Linux only.",
        rich_help_panel=REPLICAS,
    ),
]
GpuMemory = Annotated[
    str | None,
    typer.Option(
        "--gpu-memory-utilization",
        metavar="SHARE",
        help="Of each GPU's memory that a replica may take, such as 0.92.",
        rich_help_panel=REPLICAS,
    ),
]
MaxModelLen = Annotated[
    str | None,
    typer.Option(
        "--max-model-len",
        metavar="TOKENS",
        help="Picture, prompt and reply of a page together.",
        rich_help_panel=REPLICAS,
    ),
]
KvCacheDtype = Annotated[
    str | None,
    typer.Option(
        "--kv-cache-dtype",
        metavar="TYPE",
        help="auto, fp16, bf16, fp8 ...; eight bits cost accuracy.",
        rich_help_panel=REPLICAS,
    ),
]
BlockSize = Annotated[
    str | None,
    typer.Option(
        "--block-size",
        metavar="TOKENS",
        help="Of a block of the KV cache.",
        rich_help_panel=REPLICAS,
    ),
]
MaxBatchedTokens = Annotated[
    str | None,
    typer.Option(
        "--max-num-batched-tokens",
        metavar="TOKENS",
        help="Of one step of the model.",
        rich_help_panel=REPLICAS,
    ),
]
MaxSequences = Annotated[
    str | None,
    typer.Option(
        "--max-num-seqs",
        metavar="COUNT",
        help="Pages that a replica writes at once.",
        rich_help_panel=REPLICAS,
    ),
]
Eager = Annotated[
    bool | None,
    typer.Option(
        "--enforce-eager/--no-enforce-eager",
        help="No CUDA graphs: starts sooner, reads more slowly.",
        rich_help_panel=REPLICAS,
    ),
]
ChunkedPrefill = Annotated[
    bool | None,
    typer.Option(
        "--enable-chunked-prefill/--no-enable-chunked-prefill",
        help="Split prompts over steps.",
        rich_help_panel=REPLICAS,
    ),
]
