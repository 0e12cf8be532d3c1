"""A stand-in for a model server that writes when its blocks were closed into them.

``python -m benchmarks.serving.writing_upstream BLOCKS SECONDS`` prints its port and serves until it
is killed. Each block holds the system's monotonic clock at the moment at which its last token is
handed to the network; SECONDS lie between two blocks.
"""

from __future__ import annotations

import asyncio
import sys
import time

from aiohttp import web

from benchmarks.client.server import event


def application(blocks: int, pause: float) -> web.Application:
    async def chat(request: web.Request) -> web.StreamResponse:
        scores = bool((await request.json()).get("logprobs"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number in range(blocks):
            start = f'<div data-bbox="1 {number} 900 {number + 1}" data-label="Text"><p>block'
            await response.write(event([start], scores=scores))
            for word in range(20):
                await response.write(event([f" word{chr(97 + number)}{word}"], scores=scores))
            await asyncio.sleep(pause)
            last = f" closed at {time.monotonic():.6f} s</p></div>"
            await response.write(event([last], scores=scores))
        await response.write(event([""], "stop", scores=scores))
        await response.write(
            b'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 99}}\n\n'
            b"data: [DONE]\n\n"
        )
        return response

    async def models(_request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "chandra", "max_model_len": 24576}]})

    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    return app


async def main() -> None:
    runner = web.AppRunner(application(int(sys.argv[1]), float(sys.argv[2])))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
