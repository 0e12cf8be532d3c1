"""What the service says of itself: models, health, metrics, and a page for people.

Owns these routes. Never reads documents.
"""

from __future__ import annotations

import time
from html import escape
from importlib.metadata import version
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from moonpress.engines.chandra.replica import ChandraReplica
from moonpress.serving.passthrough import pool_of
from moonpress.serving.replicas.report import ReplicaReport
from moonpress.serving.service import Service

router = APIRouter()
_HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@router.get("/v1/models", summary="Which models there are")
async def models(request: Request) -> dict[str, Any]:
    """The models of the servers behind the engine, or the engine, as OpenAI's clients ask for it.

    ``moonpress_output`` is what to ask for in the header ``X-Moonpress-Output`` to get HTML as
    models write it: ``raw`` for a model's own answer, ``layout`` where there is no model server.
    """
    service: Service = request.app.state.service
    pool = pool_of(service.engine)
    if pool is None:
        return {"object": "list", "data": [_model(service.engine.name, "layout")]}
    served = [one.served for one in pool.engines if isinstance(one, ChandraReplica)]
    known = {one.name: one for one in served if one is not None}
    data = [
        {**_model(one.name, "raw"), "root": one.root, "max_model_len": one.context}
        for one in known.values()
    ]
    return {"object": "list", "data": data}


def _model(name: str, output: str) -> dict[str, Any]:
    about = {"id": name, "object": "model", "created": 0, "owned_by": "moonpress"}
    return {**about, "moonpress_output": output}


@router.get("/health", summary="Whether the service runs")
async def health(request: Request) -> dict[str, Any]:
    """200 as long as the service runs; ``degraded`` while not all of it can read."""
    service: Service = request.app.state.service
    return {
        "status": "degraded" if service.degraded else "ok",
        "engine": service.engine.name,
        "replicas": [_facts(one) for one in service.replicas()],
    }


def _facts(replica: ReplicaReport) -> dict[str, Any]:
    return {
        "name": replica.name,
        "state": replica.state.value,
        "role": replica.role.value,
        "devices": replica.devices,
        "in_flight": replica.in_flight,
        "restarts": replica.restarts,
        "reason": replica.reason or None,
        "hint": replica.hint or None,
    }


@router.get("/ready", summary="Whether a page can be read now")
async def ready(request: Request) -> JSONResponse:
    """200 once a page can be read, 503 before, and while the service shuts down."""
    service: Service = request.app.state.service
    can = service.ready and not service.draining
    return JSONResponse({"ready": can}, 200 if can else 503)


@router.get("/metrics", summary="Counters for Prometheus", response_class=PlainTextResponse)
async def metrics(request: Request) -> PlainTextResponse:
    """Counters in Prometheus' text format."""
    service: Service = request.app.state.service
    service.metrics.working.set(service.places.working)
    service.metrics.waiting.set(service.places.waiting)
    # The driver of a GPU takes milliseconds to answer.
    text = await anyio.to_thread.run_sync(generate_latest, service.metrics.registry)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_LATEST)


@router.get("/", include_in_schema=False, response_class=HTMLResponse)
async def home(request: Request) -> HTMLResponse:
    """What runs here."""
    service: Service = request.app.state.service
    state = "ready" if service.ready else "waiting for its engine"
    rows = {
        "Engine": service.engine.name,
        "State": "shutting down" if service.draining else state,
        "Pages at once": str(service.engine.capacity),
        "Requests at work": str(service.places.working),
        "Requests waiting": str(service.places.waiting),
        "Time": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
    }
    for one in service.replicas():
        where = f" on GPU {', '.join(one.devices)}" if one.devices else ""
        why = f" ({one.reason})" if one.reason else ""
        rows[f"Replica {one.name}"] = f"{one.state}{where}, {one.in_flight} pages{why}"
    body = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows.items())
    return HTMLResponse(
        f"<!doctype html><meta charset=utf-8><title>Moonpress</title>"
        f"<h1>Moonpress {version('moonpress')}</h1><table>{body}</table>"
        '<p><a href="/docs">API</a> · <a href="/metrics">metrics</a></p>',
        headers=_HARMLESS,
    )
