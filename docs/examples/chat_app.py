"""A FastAPI application with a language model: requests choose a mode, and decoding has another than the prompt."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

import htppower
from htppower.hosts.web import AsgiVotes, ModePolicy

POLICY = ModePolicy(
    "burst",
    allowed=("burst", "balanced", "power_saver"),
    others={"decode": "balanced"},
    routes={"POST /v1/chat/completions": None, "POST /v1/embeddings": "balanced"},
    owner="chat",
)

app = FastAPI()
app.add_middleware(AsgiVotes, controller=htppower.VoteController, policy=POLICY)


async def generate(tokens: int) -> AsyncIterator[str]:
    """Stand for a model: the prompt takes 0.2 s, and each token 0.05 s."""
    await asyncio.sleep(0.2)
    for number in range(tokens):
        yield f"data: {number}\n\n"
        await asyncio.sleep(0.05)


@app.post("/v1/chat/completions")
async def chat(request: Request) -> StreamingResponse:
    """Stream an answer; its votes are up until its last token, or until the client leaves."""
    inference = request.scope["htppower"]
    asked = await request.json()

    async def answer() -> AsyncIterator[str]:
        async for token in generate(asked.get("max_tokens", 5)):
            yield token
            await inference.ause("decode")  # from the second token on this changes nothing

    return StreamingResponse(answer(), media_type="text/event-stream")


@app.post("/v1/embeddings")
def embed() -> str:
    """Run one graph; FastAPI calls a plain function on a thread of a pool."""
    return "done"


@app.get("/health")
def health() -> str:
    """Answer without votes: no route has this path."""
    return "ok"
