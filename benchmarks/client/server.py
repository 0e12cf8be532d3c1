"""A stand-in for a model server that answers every page alike, in a process of its own.

``python -m benchmarks.client.server TOKENS RATE [GROUP]`` prints its port and serves until it is
killed. TOKENS are sent GROUP by GROUP (1 by 1) with probabilities, RATE a second to each page; a
rate of 0 is no pause. Who does not ask for a stream gets all after the same time.
"""

from __future__ import annotations

import asyncio
import json
import random
import string
import sys

from aiohttp import web

START = '<div data-bbox="100 100 900 900" data-label="Text"><p>'
END = "</p></div>"


def event(tokens: list[str], finish: str | None = None, *, scores: bool) -> bytes:
    choice: dict[str, object] = {
        "index": 0,
        "delta": {"content": "".join(tokens)},
        "finish_reason": finish,
    }
    if scores:
        scored = [
            {"token": one, "logprob": -0.0123, "bytes": list(one.encode()), "top_logprobs": []}
            for one in tokens
        ]
        choice["logprobs"] = {"content": scored}
    message = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "chandra",
        "choices": [choice],
    }
    return b"data: " + json.dumps(message).encode() + b"\n\n"


def application(tokens: int, rate: float, group: int) -> web.Application:
    # Words that do not repeat, or they would be taken for a loop.
    draw = random.Random(5)
    words = [" " + "".join(draw.choices(string.ascii_lowercase, k=4)) for _ in range(tokens)]
    usage = {"prompt_tokens": 4000, "completion_tokens": tokens}

    async def chat(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if not body.get("stream"):
            await asyncio.sleep(tokens / rate if rate else 0)
            text = START + "".join(words) + END
            message = {"role": "assistant", "content": text}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            answer = {"id": "x", "object": "chat.completion", "created": 1, "model": "chandra"}
            return web.json_response({**answer, "choices": choices, "usage": usage})
        scores = bool(body.get("logprobs"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(event([START], scores=scores))
        loop = asyncio.get_running_loop()
        due = loop.time()
        for first in range(0, tokens, group):
            await response.write(event(words[first : first + group], scores=scores))
            due += group / rate if rate else 0
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
        await response.write(event([END], "stop", scores=scores))
        last = json.dumps({"choices": [], "usage": usage})
        await response.write(f"data: {last}\n\ndata: [DONE]\n\n".encode())
        return response

    async def models(_request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "chandra", "max_model_len": 24576}]})

    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    return app


async def main() -> None:
    tokens, rate, *group = sys.argv[1:]
    runner = web.AppRunner(application(int(tokens), float(rate), int(group[0]) if group else 1))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
