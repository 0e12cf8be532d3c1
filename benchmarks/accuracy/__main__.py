"""Command line of the accuracy harness: ``python -m benchmarks.accuracy --help``.

Owns the flow: choose engines, read the pages of a corpus, score, report.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.accuracy import corpora, olmocr_bench, report
from benchmarks.accuracy.cases import Case, Reading
from benchmarks.accuracy.engine_process import EngineProcess
from benchmarks.accuracy.runners import runners
from benchmarks.accuracy.scoring import by_group, score

_CORPORA = ("generated", "corpus", "olmocr_sample", "olmocr_bench_lite")


def main() -> None:
    """Measure the engines asked for, one after the other."""
    options = _parser().parse_args()
    known = runners()
    target = options.out / f"{options.corpus}.json"
    for name in options.engine:
        runner = known[name]
        if not runner.python:
            sys.exit(f"{name}: name its Python with MOONPRESS_{runner.module.upper()}")
        cache, warm_up = options.out / "cache", corpora.warm_up(options.out / "warm-up")
        with EngineProcess(runner, cache, options.page_timeout, warm_up) as engine:
            measured = _measure(options, engine)
        entry = {"version": engine.version, "licence": runner.licence, "date": report.today()}
        # Read only now: another run may have written its engine meanwhile.
        results = report.load(target)
        results["engines"][name] = {**entry, **measured}
        report.save(target, options.corpus, results)
    sys.stdout.write(target.with_suffix(".md").read_text(encoding="utf-8"))


def _measure(options: argparse.Namespace, engine: EngineProcess) -> dict[str, Any]:
    if options.corpus.startswith("olmocr"):
        return _run_olmocr(options, engine)
    if options.corpus == "generated":
        cases = corpora.generated(options.out / "generated")
    else:
        cases = corpora.documents(options.shared)
    cases = [c for c in cases if options.only in f"{c.group} {c.name}"]
    scores = [score(case, _readings(engine, case)) for case in cases]
    return {"groups": by_group(scores), "cases": [asdict(item) for item in scores]}


def _readings(engine: EngineProcess, case: Case) -> list[Reading]:
    _say(f"{engine.runner.name}: {case.name}")
    return [engine.read(case.path, page) for page in case.pages]


def _run_olmocr(options: argparse.Namespace, engine: EngineProcess) -> dict[str, Any]:
    folder = options.out / options.corpus
    pages = olmocr_bench.lay_out(options.shared / "bench" / options.corpus, folder)
    candidate = folder / engine.runner.name
    shutil.rmtree(candidate, ignore_errors=True)
    readings = []
    for page in pages:
        _say(f"{engine.runner.name}: {page.name} p{page.page}")
        readings.append(engine.read(page.path, page.page))
        olmocr_bench.write_candidate(candidate, page, readings[-1])
    _say(f"{engine.runner.name}: judging")
    records = olmocr_bench.judge(
        options.olmocr_python, folder, engine.runner.name, options.chromium
    )
    return {
        "scores": olmocr_bench.summary(records),
        "seconds": fmean(r.seconds for r in readings),
        "cpu_seconds": fmean(r.cpu_seconds for r in readings),
        "peak_mb": max(r.peak_mb for r in readings),
        "errors": {p.name: r.error for p, r in zip(pages, readings, strict=True) if r.error},
        "tests": records,
    }


def _say(text: str) -> None:
    if sys.stderr.isatty() or os.environ.get("MOONPRESS_BENCH_DEBUG"):
        sys.stderr.write(f"{text}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--corpus", choices=_CORPORA, required=True)
    parser.add_argument("--engine", action="append", choices=sorted(runners()), required=True)
    parser.add_argument("--shared", type=Path, default=Path("../shared"), help="data folder")
    parser.add_argument("--out", type=Path, default=Path("results"), help="results and cache")
    parser.add_argument("--only", default="", help="cases whose group or name has this text")
    parser.add_argument("--page-timeout", type=float, default=180.0, help="seconds")
    parser.add_argument(
        "--olmocr-python",
        default=os.environ.get("MOONPRESS_OLMOCR", sys.executable),
        help="Python of an environment with olmocr[bench]",
    )
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="for its formula tests")
    return parser


if __name__ == "__main__":
    main()
