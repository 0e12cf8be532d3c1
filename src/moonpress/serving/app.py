"""The application: routes, keys, bounds and request ids around a service.

Owns what happens to every request. Never reads documents.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

import anyio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from moonpress.errors import EngineUnavailable, InputTooLarge, MoonpressError, UploadTooSlow
from moonpress.serving import routes_chat, routes_info, routes_jobs, routes_ocr
from moonpress.serving.answers import error_answer
from moonpress.serving.jobs.runner import JobRunner
from moonpress.serving.passthrough import RawChats
from moonpress.serving.replicas.supervisor import Supervisor
from moonpress.serving.service import Service
from moonpress.telemetry import bound, event, watching_spans

_ID_HEADER = b"x-request-id"
_ID_LENGTH = 64
# Bytes a second.
_SLOWEST = 1000
# Later versions of FastAPI open spans of their own around ours, which tell the same.
_OWN_SPANS: dict[str, Any] = {"telemetry": {"tracing": False, "metrics": False, "logs": False}}


def create_app(service: Service, jobs: JobRunner | None = None) -> FastAPI:
    """The application around a service and its jobs, which it closes at its end."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(service.look_after())]
        supervisor = service.supervisor
        if supervisor is not None:
            tasks.append(asyncio.create_task(supervisor.run()))
            tasks[-1].add_done_callback(partial(_supervised, supervisor))
        if jobs is not None:
            tasks.append(asyncio.create_task(jobs.run()))
            tasks[-1].add_done_callback(_ran)
        try:
            yield
        finally:
            if jobs is not None:
                await jobs.finish()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if jobs is not None:
                await jobs.aclose()
            await service.aclose()

    app = FastAPI(title="Moonpress", version=version("moonpress"), lifespan=lifespan, **_OWN_SPANS)
    app.state.service = service
    app.state.jobs = jobs
    for module in (routes_ocr, routes_chat, routes_jobs, routes_info):
        app.include_router(module.router)
    app.add_exception_handler(MoonpressError, error_answer)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(RawChats, service=service)
    # The one that is added last is the first that sees a request.
    app.add_middleware(Guard, service=service)
    if service.limits.origins:
        # Before the guard: a browser asks first without a key.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=service.limits.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-Moonpress-Output", "Last-Event-ID"],
            expose_headers=["X-Request-Id", "Location", "Retry-After"],
        )
    return app


def _supervised(supervisor: Supervisor, task: asyncio.Task[None]) -> None:
    """A service whose supervisor ended for a bug would look well until its replicas die."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        event("bug", level=logging.ERROR, error=error)
        supervisor.hopeless.set()


def _ran(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        event("bug", level=logging.ERROR, error=error)


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    """What the framework refuses, such as a path that is none, in the shape of all errors."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    said = error.detail if isinstance(error, HTTPException) else "the request makes no sense"
    body = {"message": said, "type": "usage", "code": "usage", "param": None}
    headers = error.headers if isinstance(error, HTTPException) else None
    return JSONResponse({"error": body}, status, headers)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """A body that is not as documented, in the shape of all errors; it repeats nothing of it."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    first = found[0] if found else {"loc": ("body",), "msg": "is not as documented"}
    place = ".".join(str(part) for part in first["loc"])
    body = {"message": f"{place}: {first['msg']}", "type": "usage", "code": "usage", "param": place}
    return JSONResponse({"error": body}, 400)


class Guard:
    """Around every request: its id, its key, the size of its body, how it ended.

    Args:
        app: What is guarded.
        service: Whose keys and bounds hold.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Guard one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(_ID_HEADER, b"").decode("latin-1")
        fit = given.isascii() and given.isprintable() and 0 < len(given) <= _ID_LENGTH
        identity = given if fit else secrets.token_hex(8)
        status = 500

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (_ID_HEADER, identity.encode())]
            await send(message)

        try:
            with (
                bound(request=identity),
                watching_spans(self._service.tracing),
                self._service.tracing.request(headers, scope["method"], identity),
            ):
                await self._admit(scope, receive, told, headers)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "other")
            self._service.metrics.requests.labels(route, str(status)).inc()
            self._service.metrics.request_seconds.labels(route).observe(seconds)
            event(
                "request",
                request=identity,
                method=scope["method"],
                route=route,
                status=status,
                seconds=round(seconds, 4),
            )

    async def _admit(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        service = self._service
        if not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        try:
            if service.draining:
                raise EngineUnavailable("the service shuts down", hint="Ask another one")
            authorization = headers.get(b"authorization", b"").decode("latin-1")
            with service.keys.admitted(authorization) as owner:
                scope.setdefault("state", {})["owner"] = owner
                await self._app(scope, self._bounded(receive, headers), send)
        except MoonpressError as error:
            # What routes raise is answered by the application; this is what comes before them.
            answer = await error_answer(Request(scope), error)
            await answer(scope, receive, send)

    def _bounded(self, receive: Receive, headers: dict[bytes, bytes]) -> Receive:
        limits = self._service.limits
        most = limits.body_bytes
        too_large = InputTooLarge(f"the body is over {most >> 20} MiB", hint="")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > most:
            raise too_large
        size, more = 0, True
        began = time.monotonic()

        async def bounded() -> Message:
            nonlocal size, more
            if not more:
                # What still comes is that the client is gone, whenever that may be.
                return await receive()
            with anyio.move_on_after(limits.upload_seconds) as patience:
                message = await receive()
            late = time.monotonic() - began - limits.upload_seconds
            if patience.cancelled_caught or late * _SLOWEST > size:
                raise UploadTooSlow("the body comes too slowly")
            more = bool(message.get("more_body"))
            size += len(message.get("body", b""))
            if size > most:
                raise too_large
            return message

        return bounded
