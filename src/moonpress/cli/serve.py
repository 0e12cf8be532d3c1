"""``chandra-serve``: an HTTP service, and the vLLM servers that read for it.

Owns the command lines of it and of ``chandra-serve doctor``, and nothing else. What serving needs
is imported after parsing, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys

import typer

from moonpress.cli import batch_options as b
from moonpress.cli import options as o
from moonpress.cli import serve_options as s
from moonpress.cli.entry import run_app
from moonpress.cli.errors import run_at_edge
from moonpress.cli.help import GroupedCommand
from moonpress.cli.voice import Voice

PROGRAM = "chandra-serve"
_EPILOG = """\
Examples:

chandra-serve --host 0.0.0.0

chandra-serve --tensor-parallel-size 2 --kv-cache-dtype fp8 --seed 7

chandra-serve --engine embedded

chandra-serve --url http://gpu1:8000/v1 --url http://gpu2:8000/v1

curl -F file=@paper.pdf http://localhost:8000/v1/ocr

Any other flag of vLLM is passed on to the servers that are started. chandra-serve doctor tells \
whether this machine is fit for them.

SIGTERM and Ctrl-C finish the requests under way and end with code 0.
"""

# vLLM takes underscores in the names of flags, so people write them.
_NAMES = {"token_normalize_func": lambda name: name.replace("_", "-")}
_PASSING = {"ignore_unknown_options": True, "allow_extra_args": True, **_NAMES}

serve_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
doctor_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@serve_app.command(cls=GroupedCommand, epilog=_EPILOG, context_settings=_PASSING)
def chandra_serve(
    ctx: typer.Context,
    *,
    host: s.Host = "127.0.0.1",
    port: s.Port = 8000,
    keys_file: s.KeysFile = None,
    tls_certificate: s.Certificate = None,
    tls_key: s.CertificateKey = None,
    jobs_dir: s.JobsDir = None,
    keep_jobs: s.KeepJobs = 24,
    max_jobs: s.MaxJobs = 1000,
    webhook_host: s.WebhookHosts = None,
    cors_origin: s.CorsOrigins = None,
    upload_timeout: s.UploadTimeout = 30,
    max_body: s.MaxBody = 256,
    max_pages: s.MaxPages = 2000,
    max_queue: s.MaxQueue = 256,
    fetch_host: s.FetchHosts = None,
    model: s.Model = None,
    replicas: s.Replicas = None,
    tensor_parallel_size: s.TensorParallel = None,
    pipeline_parallel_size: s.PipelineParallel = None,
    data_parallel_size: s.DataParallel = None,
    encoder_gpus: s.EncoderGpus = None,
    decoder_gpus: s.DecoderGpus = None,
    preset: s.PresetName = "auto",
    vllm: s.Vllm = None,
    replica_memory_limit: s.ReplicaMemory = None,
    gpu_memory_utilization: s.GpuMemory = None,
    max_model_len: s.MaxModelLen = None,
    kv_cache_dtype: s.KvCacheDtype = None,
    block_size: s.BlockSize = None,
    max_num_batched_tokens: s.MaxBatchedTokens = None,
    max_num_seqs: s.MaxSequences = None,
    enforce_eager: s.Eager = None,
    enable_chunked_prefill: s.ChunkedPrefill = None,
    engine: o.EngineName = "auto",
    fast: o.Fast = False,
    ocr: o.Ocr = "auto",
    languages: o.Languages = None,
    workers: o.Workers = None,
    batch_size: o.BatchSize = None,
    page_timeout: o.PageTimeout = None,
    url: o.Urls = None,
    api_key: o.ApiKey = None,
    ca_file: o.CaFile = None,
    header: o.Headers = None,
    image_format: o.ImageFormat = None,
    no_confidence: o.NoConfidence = False,
    quiet: o.QuietFlag = False,
    verbose: o.VerboseFlag = False,
    json_logs: o.JsonLogs = False,
    _version: o.Version = False,
) -> None:
    """Serve documents over HTTP: POST /v1/ocr, and an API that OpenAI's clients know."""
    given = dict(locals())
    voice = Voice(quiet=quiet, verbose=verbose, json_logs=json_logs)

    def work() -> int:
        from moonpress.cli import serve_run
        from moonpress.cli.engine_choice import EngineChoice
        from moonpress.cli.serve_plan import FleetOptions

        command = serve_run.ServeCommand(
            host=host,
            port=port,
            keys_file=keys_file,
            certificate=tls_certificate,
            key=tls_key,
            jobs=serve_run.JobOptions.from_options(given),
            bounds=serve_run.Bounds.from_options(given),
            reading=EngineChoice.from_options(given),
            starting=FleetOptions.from_options(given, ctx.args),
            replica_memory=replica_memory_limit,
        )
        return serve_run.run_service(command, voice)

    raise typer.Exit(run_at_edge(work, subject=PROGRAM, voice=voice))


@doctor_app.command(cls=GroupedCommand, context_settings=_NAMES)
def doctor(
    *,
    model: s.Model = None,
    host: s.Host = "127.0.0.1",
    port: s.Port = 8000,
    vllm: s.Vllm = None,
    tensor_parallel_size: s.TensorParallel = None,
    as_json: b.AsJson = False,
) -> None:
    """Tell whether this machine can serve: one line for each thing, with what to do about it."""
    voice = Voice()

    def work() -> int:
        from moonpress.cli.serve_doctor import DoctorCommand, run_doctor

        command = DoctorCommand(
            model=model,
            host=host,
            port=port,
            vllm=vllm,
            devices=tensor_parallel_size or 1,
            as_json=as_json,
        )
        return run_doctor(command)

    raise typer.Exit(run_at_edge(work, subject=f"{PROGRAM} doctor", voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    if sys.argv[1:2] == ["doctor"]:
        return run_app(doctor_app, f"{PROGRAM} doctor", sys.argv[2:])
    return run_app(serve_app, PROGRAM)
